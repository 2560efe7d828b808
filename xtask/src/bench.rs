//! `cargo xtask bench`: eager Paddle, Paddle's own SOT and sot side by side.
//!
//! Each system runs in a process of its own (both translators replace the interpreter's frame evaluation), started anew
//! for each workload and round. Within a round the three processes are alive together and take turns, in an order that
//! rotates: a slow moment of the machine meets all of them. What is measured:
//!
//! - *cold*: the first call, after the tool has captured one unrelated function (its imports are no part of it);
//! - *hit*: the second to fourth call, when caches are warm but nothing has settled;
//! - *steady*: calls in batches, after warming up;
//! - *graphs* and *breaks* that the cold call added.
//!
//! Medians over rounds, with half the distance between the quartiles as spread.
//!
//! `cargo xtask bench guards` measures guards alone, `cargo xtask bench varying` programs whose arguments are others at each call: see
//! [`mod@guards`] and [`mod@varying`].

mod guards;
mod table;
mod varying;
mod worker;

pub(crate) use guards::run as guards;
pub(crate) use varying::run as varying;

use crate::console::Step;
use crate::environment::{self, Environment, Needs};
use crate::{interpreter, wheel, workspace};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use worker::Worker;

/// What is measured, slowest to fastest expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum System {
    Eager,
    Paddle,
    Sot,
}

impl System {
    const ALL: [Self; 3] = [Self::Eager, Self::Paddle, Self::Sot];

    /// Its name on the worker's command line.
    fn argument(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Paddle => "paddle",
            Self::Sot => "sot",
        }
    }
}

/// A workload of `xtask/py/bench_worker.py`, with the targets of the design.
struct Workload {
    name: &'static str,
    what: &'static str,
    cold_target_ms: Option<f64>,
    steady_target_us: Option<f64>,
    graphs_target: Option<u64>,
    /// What captured code costs is asked, even where plain Python is faster and a clock would choose it.
    captured_only: bool,
}

const fn workload(name: &'static str, what: &'static str) -> Workload {
    Workload { name, what, cold_target_ms: None, steady_target_us: None, graphs_target: None, captured_only: false }
}

const WORKLOADS: &[Workload] = &[
    Workload { steady_target_us: Some(0.5), ..workload("swap", "returns its two tensors: guards and dispatch alone") },
    Workload {
        steady_target_us: Some(3.5),
        captured_only: true,
        ..workload("one break", "the same behind a call that breaks: what a break costs a hit")
    },
    Workload { captured_only: true, ..workload("break in x*2+y", "a break between its two operations: two graphs") },
    Workload {
        cold_target_ms: Some(8.0),
        steady_target_us: Some(8.0),
        graphs_target: Some(1),
        ..workload("x*2+y", "two small operations")
    },
    Workload {
        cold_target_ms: Some(30.0),
        graphs_target: Some(1),
        ..workload("200 ops", "a Python loop of 200 small operations")
    },
    Workload {
        cold_target_ms: Some(60.0),
        graphs_target: Some(1),
        ..workload("resnet18", "inference on 1x3x64x64, no_grad")
    },
    Workload {
        cold_target_ms: Some(130.0),
        graphs_target: Some(1),
        ..workload("resnet50", "inference on 1x3x64x64, no_grad")
    },
    Workload { graphs_target: Some(1), ..workload("LeNet train step", "forward, loss, backward, Adam; batch 8") },
    Workload { graphs_target: Some(1), ..workload("TransformerEncoderLayer", "2x16x64, 4 heads, no_grad") },
    workload("while tensor, 200 rounds", "a loop that the data ends"),
    Workload {
        cold_target_ms: Some(8.0),
        graphs_target: Some(4),
        ..workload("break in for", "a data-dependent branch in each of 10 rounds")
    },
];

#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    batches: usize,
    batch_ms: f64,
}

/// All samples of one system on one workload.
#[derive(Clone, Debug, Default, Serialize)]
struct Samples {
    first_capture_ms: Vec<f64>,
    cold_ms: Vec<f64>,
    hit_us: Vec<f64>,
    steady_us: Vec<f64>,
    graphs: Option<u64>,
    breaks: Option<u64>,
    /// The workload raised, or the process died.
    error: Option<String>,
}

#[derive(Serialize)]
struct Measured {
    workload: &'static str,
    what: &'static str,
    systems: BTreeMap<System, Samples>,
}

#[derive(Serialize)]
struct Results {
    about: BTreeMap<String, String>,
    rounds: usize,
    workloads: Vec<Measured>,
}

/// What is measured in the place of the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    /// What guards cost: by kind, of whole models, and as entries and facts grow in number
    Guards,
    /// Programs whose arguments are others at each call: captures and times
    Varying,
}

pub(crate) struct Options<'a> {
    pub(crate) python: Option<&'a str>,
    pub(crate) quick: bool,
    pub(crate) only: &'a [String],
    pub(crate) json: Option<&'a Path>,
    pub(crate) paddle_defaults: bool,
}

pub(crate) fn run(options: &Options<'_>) -> Result<()> {
    let unknown = options.only.iter().find(|name| !WORKLOADS.iter().any(|w| w.name == **name));
    if let Some(name) = unknown {
        let names: Vec<&str> = WORKLOADS.iter().map(|w| w.name).collect();
        anyhow::bail!("there is no workload `{name}`; there are: {}", names.join("; "));
    }
    if let Some(file) = options.json {
        // Minutes of measuring must not end in a file that cannot be written.
        fs::write(file, "").with_context(|| format!("cannot write {}", file.display()))?;
    }
    let interpreter = interpreter::choose(options.python)?;
    workspace::need_linker()?;
    let env = environment::prepare(&interpreter, Needs::Run)?;
    wheel::ready(&env, wheel::SOT)?;
    let effort = match options.quick {
        true => Effort { rounds: 1, batches: 3, batch_ms: 15.0 },
        false => Effort { rounds: 5, batches: 5, batch_ms: 40.0 },
    };
    let bench = Bench { env: &env, effort, paddle_defaults: options.paddle_defaults };
    let mut results = Results { about: about(&env, options)?, rounds: effort.rounds, workloads: Vec::new() };
    for workload in WORKLOADS.iter().filter(|w| options.only.is_empty() || options.only.iter().any(|n| n == w.name)) {
        let step = Step::start(format!("{}: {}", workload.name, workload.what));
        results.workloads.push(bench.measure(workload));
        step.done();
    }
    print!("{}", table::text(&results));
    if let Some(file) = options.json {
        let json = serde_json::to_string_pretty(&results)?;
        fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
        println!("\nall samples: {}", file.display());
    }
    Ok(())
}

fn about(env: &Environment, options: &Options<'_>) -> Result<BTreeMap<String, String>> {
    let mut about = Worker::start(env, System::Sot, options.paddle_defaults, false)?.about()?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    about.insert("cores".to_owned(), cores.to_string());
    let graphs = if options.paddle_defaults { "as shipped (small graphs run eagerly)" } else { "MIN_GRAPH_SIZE=0" };
    about.insert("paddle sot".to_owned(), graphs.to_owned());
    Ok(about)
}

struct Bench<'a> {
    env: &'a Environment,
    effort: Effort,
    paddle_defaults: bool,
}

impl Bench<'_> {
    fn measure(&self, workload: &Workload) -> Measured {
        let mut systems: BTreeMap<System, Samples> = System::ALL.into_iter().map(|s| (s, Samples::default())).collect();
        for number in 0..self.effort.rounds {
            self.round(workload, number, &mut systems);
        }
        Measured { workload: workload.name, what: workload.what, systems }
    }

    /// One round: three fresh processes, each doing one thing at a time while the others wait.
    fn round(&self, workload: &Workload, number: usize, systems: &mut BTreeMap<System, Samples>) {
        let mut order = System::ALL;
        order.rotate_left(number % System::ALL.len());
        let mut alive: Vec<(System, Worker, u64)> = Vec::new();
        for system in order {
            let samples = systems.entry(system).or_default();
            match self.begin(workload, system, samples) {
                Ok((worker, count)) => alive.push((system, worker, count)),
                Err(error) => samples.error = Some(format!("{error:#}")),
            }
        }
        for _ in 0..self.effort.batches {
            for (system, worker, count) in &mut alive {
                let samples = systems.entry(*system).or_default();
                match worker.calls(*count) {
                    Ok(us) => samples.steady_us.push(us),
                    Err(error) => samples.error = Some(format!("{error:#}")),
                }
            }
            if !alive.is_empty() {
                alive.rotate_left(1);
            }
        }
    }

    /// Everything before the batches: the cold call, the first hits, warming up, and how many calls make a batch.
    fn begin(&self, workload: &Workload, system: System, samples: &mut Samples) -> Result<(Worker, u64)> {
        let mut worker = Worker::start(self.env, system, self.paddle_defaults, workload.captured_only)?;
        samples.first_capture_ms.push(worker.setup(workload.name)?);
        let cold = worker.cold()?;
        samples.cold_ms.push(cold.ms);
        samples.graphs = Some(cold.graphs);
        samples.breaks = Some(cold.breaks);
        for _ in 0..3 {
            samples.hit_us.push(worker.calls(1)?);
        }
        // Long enough for an executor that is chosen by measuring to be chosen.
        let one = worker.calls(1)?;
        let settled = worker.calls(self.calls_in_a_batch(one).min(200))?;
        Ok((worker, self.calls_in_a_batch(settled)))
    }

    fn calls_in_a_batch(&self, us: f64) -> u64 {
        ((self.effort.batch_ms * 1e3 / us) as u64).clamp(1, 20_000)
    }
}

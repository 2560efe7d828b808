//! `cargo xtask bench varying`: programs whose arguments are others at each call.
//!
//! A batch size, a length, a cache that grows, a rate that decays, a counter: each series of calls is run twice by each system, in
//! processes of their own that take turns. The first time tells what capturing costs and how often it is done, the second what is left
//! when nothing is new. The results of the calls are compared with eager's.

use super::table::{aligned, cell, middle, name};
use super::worker::Worker;
use super::{Options, System};
use crate::console::Step;
use crate::environment::{self, Environment, Needs};
use crate::{interpreter, wheel, workspace};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Workloads of `xtask/py/bench_worker.py`, and what varies.
const WORKLOADS: &[(&str, &str)] = &[
    ("batch sizes 1..64", "resnet18 on n x 3x32x32, no_grad"),
    ("lengths 1..128", "an encoder layer on 2 x n x 64, no_grad"),
    ("kv cache, 128 steps", "one token at a time, over the keys and values of all before it"),
    ("learning rates", "100 updates with a rate that decays"),
    ("a counter", "100 calls of a method that counts them and computes with the count"),
];

/// At most so many captures of each (issue: numbers and extents that vary become symbols).
const MOST_CAPTURES: u64 = 3;

/// Relative difference of a result's sum from eager's that is noise of another order of additions.
const NOISE: f64 = 1e-4;

#[derive(Deserialize)]
struct Series {
    ms: f64,
    calls: u64,
    captures: u64,
    sums: Vec<f64>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Samples {
    first_ms: Vec<f64>,
    again_ms: Vec<f64>,
    calls: u64,
    captures: Option<u64>,
    /// Calls whose results are not eager's.
    differ: usize,
    error: Option<String>,
}

type Measured = BTreeMap<System, Samples>;

/// Measures and prints.
pub(crate) fn run(options: &Options<'_>) -> Result<()> {
    let interpreter = interpreter::choose(options.python)?;
    workspace::need_linker()?;
    let env = environment::prepare(&interpreter, Needs::Run)?;
    wheel::ready(&env, wheel::SOT)?;
    let rounds = if options.quick { 1 } else { 3 };
    let mut results = Vec::new();
    for (workload, what) in WORKLOADS {
        let step = Step::start(format!("{workload}: {what}"));
        let mut measured = Measured::new();
        for round in 0..rounds {
            self::round(&env, workload, round, &mut measured);
        }
        results.push((*workload, measured));
        step.done();
    }
    let about = super::about(&env, options)?;
    let about: Vec<String> = about.iter().map(|(what, which)| format!("{what} {which}")).collect();
    println!("\n{}; {rounds} rounds; medians \u{b1} half the interquartile range", about.join(", "));
    print!("{}", text(&results));
    Ok(())
}

/// Three fresh processes; each runs the series twice, the others wait.
fn round(env: &Environment, workload: &str, number: usize, measured: &mut Measured) {
    let mut order = System::ALL;
    order.rotate_left(number % System::ALL.len());
    let mut eager = None;
    let mut others = Vec::new();
    for system in order {
        let samples = measured.entry(system).or_default();
        match series(env, system, workload) {
            Ok([first, again]) => {
                samples.first_ms.push(first.ms);
                samples.again_ms.push(again.ms);
                samples.calls = first.calls;
                samples.captures = Some(first.captures + again.captures);
                let sums = [first.sums, again.sums].concat();
                match system {
                    System::Eager => eager = Some(sums),
                    _ => others.push((system, sums)),
                }
            }
            Err(error) => samples.error = Some(format!("{error:#}")),
        }
    }
    let Some(eager) = eager else { return };
    for (system, sums) in others {
        let near = |a: &f64, b: &f64| (a - b).abs() <= NOISE * (1.0 + a.abs());
        let differ = sums.iter().zip(&eager).filter(|(a, b)| !near(a, b)).count();
        measured.entry(system).or_default().differ += differ + sums.len().abs_diff(eager.len());
    }
}

fn series(env: &Environment, system: System, workload: &str) -> Result<[Series; 2]> {
    let mut worker = Worker::start(env, system, false, false)?;
    worker.setup(workload)?;
    Ok([worker.asked(&json!({"do": "series"}))?, worker.asked(&json!({"do": "series"}))?])
}

fn text(results: &[(&str, Measured)]) -> String {
    let mut out = String::new();
    let mut counts = vec![["workload", "calls", "Paddle SOT", "sot", "target"].map(str::to_owned).to_vec()];
    for (workload, measured) in results {
        let of = |system: System| measured.get(&system);
        let captures = |system: System| of(system).and_then(|samples| samples.captures);
        let count = |system: System| captures(system).map_or_else(|| "failed".to_owned(), |n| n.to_string());
        let met = captures(System::Sot).is_some_and(|n| (1..=MOST_CAPTURES).contains(&n));
        let target = format!("<= {MOST_CAPTURES} {}", if met { "met" } else { "missed" });
        let calls = of(System::Eager).map_or(0, |samples| 2 * samples.calls).to_string();
        counts.push(vec![(*workload).to_owned(), calls, count(System::Paddle), count(System::Sot), target]);
    }
    let _ = write!(out, "\ncaptures\n{}", aligned(&counts));
    for (title, times) in [
        ("the first time, ms for all calls", (|s| &s.first_ms) as fn(&Samples) -> &Vec<f64>),
        ("again, ms for all calls", |s| &s.again_ms),
    ] {
        let head = ["workload", "eager", "Paddle SOT", "sot", "vs eager", "vs Paddle"];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for (workload, measured) in results {
            let all = System::ALL.map(|system| measured.get(&system).and_then(|samples| middle(times(samples))));
            let [eager, paddle, sot] = all;
            let ratio = |other| match (other, sot) {
                (Some(super::table::Middle { median, .. }), Some(sot)) => format!("{:.2}x", median / sot.median),
                _ => "-".to_owned(),
            };
            let mut line = vec![(*workload).to_owned()];
            line.extend(all.map(|m| m.map_or_else(|| "failed".to_owned(), cell)));
            line.extend([ratio(eager), ratio(paddle)]);
            lines.push(line);
        }
        let _ = write!(out, "\n{title}\n{}", aligned(&lines));
    }
    for (workload, measured) in results {
        for (system, samples) in measured {
            if samples.differ > 0 {
                let _ = writeln!(
                    out,
                    "\n{workload} under {}: {} results differ from eager's",
                    name(*system),
                    samples.differ
                );
            }
            if let Some(error) = &samples.error {
                let _ = writeln!(out, "\n{workload} under {}: {error}", name(*system));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_tells_captures_times_and_differences() {
        let samples = |ms: f64, captures: u64| Samples {
            first_ms: vec![ms],
            again_ms: vec![ms / 2.0],
            calls: 64,
            captures: Some(captures),
            ..Samples::default()
        };
        let wrong = Samples { differ: 2, ..samples(900.0, 20) };
        let systems = [(System::Eager, samples(100.0, 0)), (System::Paddle, wrong), (System::Sot, samples(50.0, 2))];
        let text = text(&[("lengths", systems.into())]);
        for part in ["128", "<= 3 met", "2.00x", "18.00x", "lengths under Paddle SOT: 2 results differ"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

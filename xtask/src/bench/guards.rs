//! `cargo xtask bench guards`: what it costs to ask whether a capture still holds.
//!
//! - *by kind*: one more fact of a kind that a function relies on, as the slope of a call's time over 0, 10 and 50 of them, beside
//!   the same lines as plain Python;
//! - *whole*: all guards of a model, and a function that returns its two tensors, above an empty call of plain Python;
//! - *entries*: a call by the number of entries in a cache;
//! - *facts*: a call by the number of facts.
//!
//! `xtask/py/guards_worker.py` measures, and says how; here are the order, the fits, the tables and the targets. What is timed
//! are calls of captured functions that do nothing but check guards; of a model, calls that its guards refuse at the very
//! last one, so that no graph runs. Data and code are warm in the processor's caches, which they are not behind the graph of
//! a model. On a machine that does other things all times grow together: the empty call that is told tells it.
//!
//! All samples go to `target/bench/guards.json`, and a figure of both growths to `target/bench/guards.svg`. matplotlib draws it: it is
//! released several times a year, and only who asks for this command installs it; a crate would be built by everybody
//! who runs any command, and `plotters` has had no release since 2024.

mod text;

use super::worker::Worker;
use crate::console::Step;
use crate::environment::{self, Environment, Needs};
use crate::process;
use crate::{interpreter, wheel, workspace};
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// Nanoseconds of a call, one for each round.
type Times = Vec<f64>;

/// Of functions that read so many facts.
#[derive(Deserialize, Serialize)]
struct ByKind {
    facts: Vec<f64>,
    captured: Vec<Times>,
    eager: Vec<Times>,
    guards: Vec<f64>,
}

/// Of a function that returns its two tensors.
#[derive(Deserialize, Serialize)]
struct Swap {
    captured: Times,
    eager: Times,
    /// An empty function as plain Python.
    empty: Times,
}

/// Of a call that asks the guards of a model, and of the same one that does not.
#[derive(Deserialize, Serialize)]
struct OfModel {
    with: Times,
    without: Times,
    guards: u64,
}

/// Of calls that meet one entry of so many.
#[derive(Deserialize, Serialize)]
struct Entries {
    counts: Vec<f64>,
    series: BTreeMap<String, Vec<Times>>,
}

/// Of functions with so many facts.
#[derive(Deserialize, Serialize)]
struct Facts {
    counts: Vec<f64>,
    captured: Vec<Times>,
    eager: Vec<Times>,
    guards: Vec<u64>,
    capture_ms: Vec<f64>,
}

/// What was found, or why nothing was.
#[derive(Serialize)]
struct Measured<T> {
    name: String,
    #[serde(flatten)]
    found: Option<T>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Results {
    about: BTreeMap<String, String>,
    rounds: u64,
    kinds: Vec<Measured<ByKind>>,
    swap: Measured<Swap>,
    models: Vec<Measured<OfModel>>,
    entries: Measured<Entries>,
    facts: Vec<Measured<Facts>>,
}

/// Measures, prints, and leaves samples and figure.
pub(crate) fn run(python: Option<&str>, quick: bool) -> Result<()> {
    let interpreter = interpreter::choose(python)?;
    workspace::need_linker()?;
    let env = environment::prepare(&interpreter, Needs::Draw)?;
    wheel::ready(&env, wheel::SOT)?;
    let dir = workspace::made().join("bench");
    // Minutes of measuring must not end in a file that cannot be written.
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let (samples, figure) = (dir.join("guards.json"), dir.join("guards.svg"));
    fs::write(&samples, "").with_context(|| format!("cannot write {}", samples.display()))?;
    let bench = match quick {
        true => Bench { env: &env, rounds: 7, batch_ms: 1.0 },
        false => Bench { env: &env, rounds: 40, batch_ms: 4.0 },
    };
    let results = bench.measure()?;
    print!("{}", text::of(&results));
    let json = serde_json::to_string_pretty(&results)?;
    fs::write(&samples, json + "\n").with_context(|| format!("cannot write {}", samples.display()))?;
    let mut draw = env.command();
    let ended = process::quiet(draw.args(["-E", "xtask/py/guards_figure.py"]).args([&samples, &figure]))?;
    if !ended.status.success() {
        bail!("cannot draw {}:\n{}", samples.display(), ended.output);
    }
    println!("\nall samples: {}\nfigure:      {}", samples.display(), figure.display());
    Ok(())
}

struct Bench<'a> {
    env: &'a Environment,
    rounds: u64,
    batch_ms: f64,
}

impl Bench<'_> {
    /// One part after another, each in a process of its own: what one has captured is no burden of the next.
    fn measure(&self) -> Result<Results> {
        let mut about = self.worker()?.about()?;
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        about.insert("cores".to_owned(), cores.to_string());
        Ok(Results {
            about,
            rounds: self.rounds,
            kinds: self.each("guards by kind", "kinds", |name| json!({"do": "kind", "name": name}))?,
            swap: self.one("two tensors", "swap")?,
            models: self.each("guards of whole models", "models", |name| json!({"do": "model", "name": name}))?,
            entries: self.one("growth with entries", "entries")?,
            facts: self.each("growth with facts", "series", |name| json!({"do": "facts", "series": name}))?,
        })
    }

    fn worker(&self) -> Result<Worker> {
        let mut command = self.env.command();
        // Guards are asked at each call, whatever a clock says.
        command.args(["-E", "xtask/py/guards_worker.py"]).env("SOT_MEASURE", "0");
        Worker::of(command, &self.env.target_dir().join("bench-guards.log"))
    }

    /// Measures what the worker has under these names.
    fn each<T: DeserializeOwned>(
        &self,
        what: &str,
        names: &str,
        request: impl Fn(&str) -> Value,
    ) -> Result<Vec<Measured<T>>> {
        #[derive(Deserialize)]
        struct Names {
            names: Vec<String>,
        }
        let step = Step::start(what);
        let mut worker = self.worker()?;
        let Names { names } = worker.asked(&json!({"do": names}))?;
        let measured = names.into_iter().map(|name| self.found(&mut worker, request(&name), name)).collect();
        step.done();
        Ok(measured)
    }

    fn one<T: DeserializeOwned>(&self, what: &str, request: &str) -> Result<Measured<T>> {
        let step = Step::start(what);
        let measured = self.found(&mut self.worker()?, json!({"do": request}), what.to_owned());
        step.done();
        Ok(measured)
    }

    fn found<T: DeserializeOwned>(&self, worker: &mut Worker, mut request: Value, name: String) -> Measured<T> {
        request["rounds"] = self.rounds.into();
        request["batch_ms"] = self.batch_ms.into();
        match worker.asked(&request) {
            Ok(found) => Measured { name, found: Some(found), error: None },
            Err(error) => Measured { name, found: None, error: Some(format!("{error:#}")) },
        }
    }
}

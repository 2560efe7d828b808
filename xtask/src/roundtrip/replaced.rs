//! The standard library's own tests, run as they are and with every function re-encoded.
//!
//! Each in a process of its own. A test that fails replaced and not unreplaced is a failure; so is a module that runs
//! another number of tests, an interpreter that dies, a function of a file that was not replaced, a code object that
//! could not be, and warm code that decodes to something else than `co_code`.

use super::recode::Recoder;
use super::session::{self, End, Script};
use super::suites;
use super::summary::grouped;
use crate::console::{Progress, seconds};
use crate::interpreter::Interpreter;
use crate::refusal::Refusal;
use crate::workspace;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sot_opcodes::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::time::{Duration, Instant};

/// What the two runs came to.
#[derive(Default)]
pub(super) struct Found {
    /// Tests that did replaced what they did unreplaced.
    pub(super) agree: usize,
    pub(super) skipped: usize,
    pub(super) failures: Vec<String>,
    /// Everything else there is to say.
    pub(super) lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Replaced { padded: bool },
}

impl Mode {
    /// For the script, and the name of the log.
    fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Replaced { .. } => "replaced",
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Report {
    NoTests { no_tests: String },
    Missing { missing: String },
    Begin { begin: String },
    Module { module: String, run: usize, skipped: usize, bad: BTreeSet<String> },
    Broken { broken: (String, String) },
    Coverage(Coverage),
    Warm { warm: BTreeMap<String, usize>, wrong: Vec<(String, String)> },
}

/// What was replaced.
#[derive(Default, Deserialize)]
struct Coverage {
    replaced: usize,
    live: usize,
    left: Vec<String>,
}

struct Tests {
    run: usize,
    skipped: usize,
    bad: BTreeSet<String>,
}

/// What the processes of one mode reported.
#[derive(Default)]
struct Run {
    modules: BTreeMap<String, Tests>,
    missing: Vec<String>,
    /// Modules that an interpreter died of, and how.
    died: BTreeMap<String, String>,
    broken: Vec<(String, String)>,
    coverage: Coverage,
    warm: BTreeMap<String, usize>,
    wrong: Vec<(String, String)>,
    took: Duration,
}

/// Runs test modules in both modes. `named`: they were asked for, so each must exist.
pub(super) fn run(
    python: &Interpreter,
    version: Version,
    modules: &[&str],
    named: bool,
    padded: bool,
) -> Result<Found> {
    let plain = all(python, version, modules, Mode::Plain)?;
    if named && let Some(missing) = plain.missing.first() {
        return Err(Refusal::new(
            format!("CPython {} has no test module `{missing}`.", python.version),
            "name modules of its package `test`, as test_json or test_asyncio.test_tasks, or none for the chosen ones",
        )
        .into());
    }
    let replaced = all(python, version, modules, Mode::Replaced { padded })?;
    Ok(compare(&plain, &replaced, padded))
}

/// One mode. When an interpreter dies, the next one goes on behind the module it died of.
fn all(python: &Interpreter, version: Version, modules: &[&str], mode: Mode) -> Result<Run> {
    let start = Instant::now();
    let logs = workspace::made().join("roundtrip");
    fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
    let path = logs.join(format!("{}-{}.log", python.version.short(), mode.word()));
    let log = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut run = Run::default();
    let mut progress = Progress::new("test modules");
    progress.of(modules.len());
    let mut rest = modules;
    loop {
        let (end, begun) = some(python, version, rest, mode, log.try_clone()?, &mut run, &mut progress)?;
        let End::Early(status) = end else { break };
        let Some(at) = begun.and_then(|name| rest.iter().position(|module| *module == name)) else {
            bail!("the interpreter died before or after its tests ({status}); see {}", path.display());
        };
        run.died.insert(rest[at].to_owned(), status.to_string());
        rest = &rest[at + 1..];
    }
    progress.clear();
    run.took = start.elapsed();
    Ok(run)
}

/// One process; how it ended, and the module it was at.
fn some(
    python: &Interpreter,
    version: Version,
    modules: &[&str],
    mode: Mode,
    log: File,
    run: &mut Run,
    progress: &mut Progress,
) -> Result<(End, Option<String>)> {
    let mut begun = None;
    let mut recoder = Recoder::new(version).padded(mode == Mode::Replaced { padded: true });
    let arguments = std::iter::once(mode.word()).chain(modules.iter().copied()).map(OsStr::new).collect();
    let script = Script { python, file: "run_tests.py", arguments, log: Some(log) };
    let end = session::run(script, &mut recoder, |report| {
        match report {
            Report::NoTests { no_tests } => {
                return Err(Refusal::new(
                    format!("{python} comes without its test package: {no_tests}."),
                    "install it (Debian: `apt-get install libpython3-testsuite`), or pick another interpreter with --python",
                )
                .into());
            }
            Report::Missing { missing } => run.missing.push(missing),
            Report::Begin { begin } => begun = Some(begin),
            Report::Module { module, run: count, skipped, bad } => {
                progress.step();
                begun = None;
                run.modules.insert(module, Tests { run: count, skipped, bad });
            }
            Report::Broken { broken } => run.broken.push(broken),
            Report::Coverage(coverage) => run.coverage = coverage,
            Report::Warm { warm, wrong } => (run.warm, run.wrong) = (warm, wrong),
        }
        Ok(())
    });
    Ok((end?, begun))
}

fn compare(plain: &Run, replaced: &Run, padded: bool) -> Found {
    let mut found = Found::default();
    for (name, run) in [("unreplaced", plain), ("replaced", replaced)] {
        found
            .failures
            .extend(run.died.iter().map(|(module, how)| format!("{module}: the interpreter died {name} ({how})")));
    }
    let (mut anyway, mut excused) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for (module, before) in &plain.modules {
        let Some(after) = replaced.modules.get(module) else { continue };
        let mut agree = after.run.saturating_sub(after.skipped);
        for test in &after.bad {
            agree = agree.saturating_sub(1);
            if before.bad.contains(test) {
                anyway.push(test.clone());
            } else if let Some(why) = suites::excuse(test, padded) {
                *excused.entry(why).or_insert(0) += 1;
            } else {
                found.failures.push(test.clone());
            }
        }
        if (before.run, before.skipped) != (after.run, after.skipped) {
            found.failures.push(format!(
                "{module}: {} tests run and {} skipped, unreplaced {} and {}",
                after.run, after.skipped, before.run, before.skipped
            ));
        }
        found.agree += agree;
        found.skipped += after.skipped;
    }
    let told = |list: &[(String, String)]| -> Vec<String> {
        list.iter().map(|(place, detail)| format!("{place}: {detail}")).collect()
    };
    found.failures.extend(told(&replaced.broken));
    found.failures.extend(replaced.coverage.left.iter().map(|function| format!("{function}: was not replaced")));
    found.failures.extend(told(&replaced.wrong));
    let bad = |run: &Run| run.modules.values().map(|tests| tests.bad.len()).sum::<usize>();
    let count = |run: &Run| run.modules.values().map(|tests| tests.run).sum::<usize>();
    for (name, run) in [("unreplaced", plain), ("replaced", replaced)] {
        found.lines.push(format!(
            "{name:<10}  {} modules, {} tests, {} failed, {}",
            run.modules.len(),
            grouped(count(run)),
            bad(run),
            seconds(run.took)
        ));
    }
    found.lines.push(format!(
        "{} code objects made anew; {} functions of files live at the end, {} of them not replaced",
        grouped(replaced.coverage.replaced),
        grouped(replaced.coverage.live),
        replaced.coverage.left.len()
    ));
    if !replaced.warm.is_empty() {
        let of = |word: &str| grouped(replaced.warm.get(word).copied().unwrap_or(0));
        found.lines.push(format!(
            "warm code: {} code objects specialised and decoded to the same, {} unspecialised, {} with hidden instructions (tracing; not compared), {} different",
            of("specialised"),
            of("same"),
            of("instrumented"),
            of("different")
        ));
    }
    found.lines.extend(anyway.iter().map(|test| format!("fails anyway: {test}")));
    found.lines.extend(excused.iter().map(|(why, count)| format!("excused: {count} tests: {why}")));
    found
}

//! `cargo xtask fuzz`: the fuzz targets of sot-opcodes, each for a while, by cargo-fuzz and libFuzzer; and random programs,
//! plain and captured ([`programs`]), interrupted ([`interrupts`]), and in many threads ([`threads`]).
//!
//! Inputs that were found stay in `target/fuzz/corpus/<target>`, so the next run goes on where this one stopped. An
//! input that breaks something is left in `target/fuzz/artifacts/<target>`, ends that target and makes the exit code 1;
//! the other targets still run. No sanitizer is used, as sot-opcodes has no unsafe code: any toolchain will do.

mod interrupts;
mod programs;
mod threads;

use crate::console::{self, Step};
use crate::refusal::Refusal;
use crate::{process, workspace};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROJECT: &str = "sot-opcodes/fuzz";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// Arbitrary bytes and tables, decoded
    Decode,
    /// Arbitrary code, encoded
    Encode,
    /// Arbitrary text, parsed
    Text,
    /// Random programs, plain and captured
    Programs,
    /// Programs that signals interrupt, plain and captured
    Interrupts,
    /// Eight threads that capture, break and collect at once
    Threads,
}

impl Target {
    /// Whether it is one of cargo-fuzz.
    fn is_of_inputs(self) -> bool {
        !matches!(self, Self::Programs | Self::Interrupts | Self::Threads)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Text => "text",
            Self::Programs => "programs",
            Self::Interrupts => "interrupts",
            Self::Threads => "threads",
        }
    }
}

pub(crate) fn run(python: Option<&str>, targets: &[Target], seconds: u64) -> Result<()> {
    let targets = if targets.is_empty() { Target::value_variants() } else { targets };
    let made = workspace::made().join("fuzz");
    let inputs: Vec<Target> = targets.iter().copied().filter(|target| target.is_of_inputs()).collect();
    let mut fine = if inputs.is_empty() { Ok(()) } else { of_inputs(&inputs, seconds, &made) };
    if targets.contains(&Target::Programs) && !programs::run(python, seconds, &made)? {
        fine = fine.and_then(|()| bail!("a program does captured what it does not do plain"));
    }
    if targets.contains(&Target::Interrupts) && !interrupts::run(python, seconds)? {
        fine = fine.and_then(|()| bail!("an interrupted program leaves what it does not leave plain"));
    }
    if targets.contains(&Target::Threads) && !threads::run(python, seconds)? {
        fine = fine.and_then(|()| bail!("threads do captured what they do not do plain"));
    }
    fine
}

fn of_inputs(targets: &[Target], seconds: u64, made: &Path) -> Result<()> {
    prepare()?;
    let step = Step::start("Writing the seeds");
    let mut seeds = workspace::cargo();
    seeds.args(["run", "--quiet", "--no-default-features", "--example", "seeds"]);
    seeds.args(["--manifest-path", &format!("{PROJECT}/Cargo.toml")]);
    process::show_ok(seeds.arg("--").arg(made.join("corpus")), "writing the seeds")?;
    step.done();
    let mut found = Vec::new();
    for target in targets {
        found.push(fuzz(*target, seconds, made)?);
    }
    println!("\n{:8} {:>12} {:>8} {:>14} {:>8}  result", "target", "executions", "exec/s", "coverage", "corpus");
    found.iter().for_each(|found| println!("{found}"));
    let crashes: Vec<String> = found.iter().filter_map(Found::advice).collect();
    if !crashes.is_empty() {
        bail!("an input breaks what must hold:\n{}", crashes.join("\n"));
    }
    Ok(())
}

/// Everything that a run needs from this machine and the network.
fn prepare() -> Result<()> {
    workspace::need_linker()?;
    if env::var_os("CXX").is_none() && workspace::on_path("c++").is_none() {
        return Err(Refusal::new(
            "There is no C++ compiler `c++` on PATH, and libFuzzer is built with one.",
            "install one (Debian: `apt-get install g++`; Fedora: `dnf install gcc-c++`; macOS: `xcode-select --install`) or name it in CXX",
        )
        .into());
    }
    if !workspace::has_subcommand("fuzz") {
        let step = Step::start("Installing cargo-fuzz from crates.io");
        let installed = process::show(workspace::cargo().args(["install", "cargo-fuzz", "--locked"]))?;
        if !installed.success() {
            return Err(Refusal::new(
                "cargo-fuzz is not installed and could not be.",
                "connect to crates.io, or install it by hand: `cargo install cargo-fuzz --locked`",
            )
            .into());
        }
        step.done();
    }
    let step = Step::start("Building the fuzz targets");
    let manifest = format!("{PROJECT}/Cargo.toml");
    let fetched = process::show(workspace::cargo().args(["fetch", "--quiet", "--manifest-path", &manifest]))?;
    if !fetched.success() {
        return Err(Refusal::new(
            "The crates that the fuzz targets depend on could not be fetched.",
            "connect to crates.io and run the same command again",
        )
        .into());
    }
    process::show_ok(&mut cargo_fuzz("build"), "building the fuzz targets")?;
    step.done();
    Ok(())
}

fn cargo_fuzz(command: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.args(["fuzz", command, "--fuzz-dir", PROJECT, "--sanitizer", "none"]);
    cargo
}

/// What a run of one target came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    target: &'static str,
    executions: u64,
    per_second: u64,
    /// Places reached by the corpus before the run, and after it.
    coverage: (u64, u64),
    /// Inputs that were added to the corpus.
    inputs: u64,
    /// The input that broke something, relative to the checkout.
    broken_by: Option<PathBuf>,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, after) = self.coverage;
        let coverage = format!("{after} (+{})", after.saturating_sub(before));
        let inputs = format!("+{}", self.inputs);
        let result = if self.broken_by.is_some() { "broken" } else { "fine" };
        write!(
            f,
            "{:8} {:>12} {:>8} {coverage:>14} {inputs:>8}  {result}",
            self.target, self.executions, self.per_second
        )
    }
}

impl Found {
    /// Takes in a line of libFuzzer's; returns whether it tells of progress.
    fn read(&mut self, line: &str) -> bool {
        let after = |key: &str| {
            let (_, rest) = line.split_once(key)?;
            rest.split_whitespace().next()?.parse::<u64>().ok()
        };
        if let Some(executions) = after("stat::number_of_executed_units:") {
            self.executions = executions;
        } else if let Some(per_second) = after("stat::average_exec_per_sec:") {
            self.per_second = per_second;
        } else if let Some(inputs) = after("stat::new_units_added:") {
            self.inputs = inputs;
        } else if let Some((_, file)) = line.split_once("Test unit written to ") {
            let file = Path::new(file.trim());
            // One that merely took long is written down, too, and is no reason to stop.
            if !file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("slow-unit")) {
                self.broken_by = Some(file.strip_prefix(workspace::root()).unwrap_or(file).to_path_buf());
            }
        } else if let Some(coverage) = line.starts_with('#').then(|| after("cov: ")).flatten() {
            if line.contains("INITED") {
                self.coverage.0 = coverage;
            }
            self.coverage.1 = coverage;
            self.executions = after("#").unwrap_or(self.executions);
            self.per_second = after("exec/s: ").unwrap_or(self.per_second);
            return true;
        }
        false
    }

    /// What to do about an input that breaks something.
    fn advice(&self) -> Option<String> {
        let file = self.broken_by.as_ref()?.display();
        let target = self.target;
        let options = format!("--fuzz-dir {PROJECT} --sanitizer none {target}");
        Some(format!(
            "  {target}: {file}\n    \
               once more:  cargo fuzz run {options} {file}\n    \
               smaller:    cargo fuzz tmin {options} {file}\n    \
               for good:   cp {file} {PROJECT}/regressions/{target}/<what-is-odd-about-it>\n                \
                           cargo nextest run -p sot-opcodes {target}_regressions"
        ))
    }
}

fn fuzz(target: Target, seconds: u64, made: &Path) -> Result<Found> {
    let name = target.name();
    let step = Step::start(format!("Fuzzing {name} for {}", console::seconds(Duration::from_secs(seconds))));
    let (corpus, artifacts) = (made.join("corpus").join(name), made.join("artifacts").join(name));
    fs::create_dir_all(&artifacts).with_context(|| format!("cannot make {}", artifacts.display()))?;
    let mut cargo = cargo_fuzz("run");
    cargo.arg(name).arg(&corpus).arg(workspace::root().join(PROJECT).join("regressions").join(name)).arg("--").args([
        format!("-max_total_time={seconds}"),
        format!("-artifact_prefix={}/", artifacts.display()),
        "-max_len=4096".to_owned(),
        // An input of that length takes a millisecond and a few megabytes.
        "-timeout=10".to_owned(),
        "-rss_limit_mb=2048".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    let mut found = Found { target: name, ..Found::default() };
    let mut child = cargo
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start cargo fuzz")?;
    let mut told = Instant::now();
    let mut output = String::new();
    for line in child.stderr.take().into_iter().flat_map(|stream| BufReader::new(stream).split(b'\n')) {
        let line = String::from_utf8_lossy(&line?).into_owned();
        if found.read(&line) {
            if told.elapsed() >= Duration::from_secs(10) {
                told = Instant::now();
                let Found { executions, per_second, coverage: (_, places), .. } = found;
                console::note(&format!("{executions} executions, {per_second} a second, {places} places reached"));
            }
        } else {
            output.push_str(&line);
            output.push('\n');
        }
    }
    let status = child.wait()?;
    if !status.success() {
        what_broke(&output).for_each(console::note);
        if found.broken_by.is_none() {
            bail!("the fuzz target {name} ended early ({status})");
        }
    }
    step.done();
    Ok(found)
}

/// The part of libFuzzer's output that tells what went wrong, without a backtrace; all if there is no such part.
fn what_broke(output: &str) -> impl Iterator<Item = &str> {
    let begins = |line: &str| line.contains(" panicked at ") || line.contains("ERROR: libFuzzer");
    let skip = output.lines().position(begins).unwrap_or(0);
    let ends = |line: &str| ["stack backtrace", "NOTE: libFuzzer", "SUMMARY"].iter().any(|end| line.starts_with(end));
    output.lines().skip(skip).take_while(move |line| !ends(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_prints_is_read() {
        let mut found = Found { target: "text", ..Found::default() };
        let lines = [
            ("INFO: seed corpus: files: 131 min: 22b max: 2346b total: 32340b rss: 27Mb", false),
            ("#132\tINITED cov: 801 ft: 2291 corp: 131/31Kb exec/s: 0 rss: 33Mb", true),
            ("#4096\tpulse  cov: 850 ft: 2500 corp: 140/32Kb lim: 2346 exec/s: 2048 rss: 40Mb", true),
            ("artifact_prefix='a/'; Test unit written to a/slow-unit-1", false),
            ("stat::number_of_executed_units: 5000", false),
            ("stat::average_exec_per_sec:     2500", false),
            ("stat::new_units_added:          12", false),
        ];
        for (line, progress) in lines {
            assert_eq!(found.read(line), progress, "{line}");
        }
        assert_eq!(found.to_string(), "text             5000     2500      850 (+49)      +12  fine");
        assert_eq!(found.advice(), None);
        found.read("artifact_prefix='a/'; Test unit written to a/crash-2");
        assert_eq!(found.broken_by.as_deref(), Some(Path::new("a/crash-2")));
    }

    #[test]
    fn the_reason_is_cut_out() {
        let output = "INFO: Seed: 1\n\nthread '<unnamed>' panicked at a.rs:1:2:\nx\n==1== ERROR: libFuzzer: deadly signal\nNOTE: libFuzzer\n";
        assert_eq!(what_broke(output).count(), 3);
        assert_eq!(what_broke("thread 'a' panicked at b\nstack backtrace:\n  0: c\n").count(), 1);
        assert_eq!(what_broke("error: no such target\n").count(), 1);
    }
}

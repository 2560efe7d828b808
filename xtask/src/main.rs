//! Maintainer commands: `cargo xtask demo`, `test`, `matrix`, `golden`, `bench`, `codegen`,
//! `roundtrip`, `oracle`, `fuzz`, `tidy`.
//!
//! Every command works in a fresh checkout: it finds an interpreter, makes what it needs under `target/` and says what
//! it does. Exit code 0: done and everything holds. 1: something of this project is broken. 2: this machine lacks
//! something (an interpreter, the network, a linker, a Paddle wheel), told in one sentence with the remedy.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to a person")]

mod bench;
mod codegen;
mod console;
mod demo;
mod environment;
mod fuzz;
mod golden;
mod interpreter;
mod matrix;
mod oracle;
mod process;
mod pytest;
mod refusal;
mod roundtrip;
mod rust_tests;
mod stamp;
mod suite;
mod test;
mod tidy;
mod wheel;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use refusal::Refusal;
use roundtrip::What;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Start with `cargo xtask demo`. Every command that runs Python finds an interpreter by itself (3.11 first,
then 3.12, 3.13, 3.10, 3.9), makes target/venv/<x.y>, installs Paddle from PyPI there and builds the
extension module. What is there already is not made again.

Environment:
  SOT_PYTHON     interpreter to use: a path, a command or a version; --python wins over it
  PIP_INDEX_URL  package index, and every other setting of pip

Exit codes:
  0  all well
  1  something of this project is broken
  2  this machine lacks something, told with the remedy";

const BENCH_HELP: &str = "\
Examples:
  cargo xtask bench --quick                                     one short round of everything
  cargo xtask bench --only resnet18 --json target/bench.json    one workload, with all samples
  cargo xtask bench guards                                      what guards cost; a figure in target/bench";

const ROUNDTRIP_HELP: &str = "\
Examples:
  cargo xtask roundtrip                                  the standard library
  cargo xtask roundtrip --python 3.13 some/folder a.py   other programs
  cargo xtask roundtrip --python 3.12 target/venv/3.12/lib/python3.12/site-packages/numpy
  cargo xtask roundtrip --python 3.9 --test              the chosen tests, re-encoded
  cargo xtask roundtrip --pad --test test_json test_re";

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Maintainer commands of sot, the symbolic opcode translator",
    bin_name = "cargo xtask",
    after_help = HELP
)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run three real programs eagerly and captured, and print them side by side
    Demo {
        #[command(flatten)]
        python: Python,
        /// Time fewer rounds
        #[arg(long)]
        quick: bool,
    },
    /// Run every check and test for one interpreter
    Test {
        #[command(flatten)]
        python: Python,
        /// Run only this suite; may be given several times
        #[arg(long, value_enum, value_name = "SUITE")]
        only: Vec<test::Suite>,
    },
    /// Run what depends on the Python version on every supported interpreter that is installed
    Matrix {
        /// Start no further interpreter once this many minutes are used up
        #[arg(long, default_value_t = 60)]
        minutes: u64,
        /// Leave out this version (as 3.11); may be given several times
        #[arg(long, value_name = "X.Y")]
        except: Vec<String>,
    },
    /// Renew all snapshots and show what changed
    Golden {
        #[command(flatten)]
        python: Python,
    },
    /// Measure eager Paddle, Paddle's own SOT and sot side by side, or guards alone
    #[command(after_help = BENCH_HELP)]
    Bench {
        #[command(flatten)]
        python: Python,
        /// Measure this in the place of the workloads
        #[arg(value_enum, value_name = "WHAT", conflicts_with_all = ["only", "json", "paddle_defaults"])]
        what: Option<bench::What>,
        /// One short round instead of five; of guards, few short rounds
        #[arg(long)]
        quick: bool,
        /// Measure only this workload; may be given several times
        #[arg(long, value_name = "WORKLOAD")]
        only: Vec<String>,
        /// Write all samples to a file as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Leave Paddle's SOT as shipped: it runs graphs of fewer than ten operations eagerly
        #[arg(long)]
        paddle_defaults: bool,
    },
    /// Renew the opcode tables and the corpus of sot-opcodes from the installed interpreters
    Codegen {
        /// Write nothing; fail when a file is not what the interpreters say
        #[arg(long)]
        check: bool,
    },
    /// Decode and encode real programs, and have CPython judge
    ///
    /// Without --test: compiles the files with the interpreter and compares each code object with its re-encoded form:
    /// instructions, jumps, handlers, lines and columns, stack size. With --test: runs the standard library's own tests
    /// as they are and with every function re-encoded.
    #[command(after_help = ROUNDTRIP_HELP)]
    Roundtrip {
        #[command(flatten)]
        python: Python,
        /// Tell how long decode and encode take, of five rounds the quickest; build with --release for it
        #[arg(long)]
        time: bool,
        /// Run these test modules (test_json, test_asyncio.test_tasks); without a name a chosen set of every kind
        #[arg(long, value_name = "MODULE", num_args = 0.., conflicts_with_all = ["time", "paths"])]
        test: Option<Vec<String>>,
        /// Put a NOP before most instructions, so that every jump, handler and table is made anew
        #[arg(long, requires = "test", conflicts_with = "paths")]
        pad: bool,
        /// Python files, or folders of them; without one the interpreter's standard library with its tests
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Run CPython's own tests plain and with every function captured, and compare what becomes of each test
    Oracle {
        #[command(flatten)]
        python: Python,
        /// Test modules (test_json); without a name a chosen set of every kind
        #[arg(value_name = "MODULE")]
        modules: Vec<String>,
    },
    /// Look for inputs that break sot-opcodes, and for programs that do captured what they do not do plain
    Fuzz {
        #[command(flatten)]
        python: Python,
        /// What to fuzz; everything if nothing is named
        #[arg(value_enum, value_name = "TARGET")]
        targets: Vec<fuzz::Target>,
        /// Fuzz each target for this long
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Check the project's own rules
    Tidy,
}

#[derive(clap::Args)]
struct Python {
    /// Interpreter: a version (3.12), a path, or a command on PATH
    #[arg(long, value_name = "WHICH")]
    python: Option<String>,
}

impl Python {
    fn asked(&self) -> Option<&str> {
        self.python.as_deref()
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<Refusal>() { 2 } else { 1 })
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Demo { python, quick } => demo::run(python.asked(), quick),
        Task::Test { python, only } => test::run(python.asked(), &only),
        Task::Matrix { minutes, except } => matrix::run(minutes, &except),
        Task::Golden { python } => golden::run(python.asked()),
        Task::Bench { python, what: Some(bench::What::Guards), quick, .. } => bench::guards(python.asked(), quick),
        Task::Bench { python, what: Some(bench::What::Varying), quick, .. } => bench::varying(&bench::Options {
            python: python.asked(),
            quick,
            only: &[],
            json: None,
            paddle_defaults: false,
        }),
        Task::Bench { python, what: None, quick, only, json, paddle_defaults } => bench::run(&bench::Options {
            python: python.asked(),
            quick,
            only: &only,
            json: json.as_deref(),
            paddle_defaults,
        }),
        Task::Codegen { check } => codegen::run(check).map_err(anyhow::Error::msg),
        Task::Roundtrip { python, time, test, pad, paths } => {
            let what = match &test {
                Some(modules) => What::Tests { modules, padded: pad },
                None => What::Files { paths: &paths, time },
            };
            roundtrip::run(python.asked(), &what)
        }
        Task::Oracle { python, modules } => oracle::run(python.asked(), &modules),
        Task::Fuzz { python, targets, seconds } => fuzz::run(python.asked(), &targets, seconds),
        Task::Tidy => tidy::run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parsed(line: &str) -> Result<Task, clap::Error> {
        Cli::try_parse_from(["cargo xtask"].into_iter().chain(line.split_whitespace())).map(|cli| cli.command)
    }

    #[test]
    fn every_command_has_help() {
        Cli::command().debug_assert();
        for command in Cli::command().get_subcommands() {
            let asked = parsed(&format!("{} --help", command.get_name())).err().map(|error| error.kind());
            assert_eq!(asked, Some(clap::error::ErrorKind::DisplayHelp), "{}", command.get_name());
        }
    }

    #[test]
    fn roundtrip_takes_paths_or_tests() {
        let asked = |line| match parsed(line) {
            Ok(Task::Roundtrip { python, time, test, pad, paths }) => Some((python.python, time, test, pad, paths)),
            _ => None,
        };
        assert_eq!(asked("roundtrip"), Some((None, false, None, false, vec![])));
        let some = asked("roundtrip --python 3.9 --time a b");
        assert_eq!(some, Some((Some("3.9".to_owned()), true, None, false, vec!["a".into(), "b".into()])));
        assert_eq!(asked("roundtrip --pad --test"), Some((None, false, Some(vec![]), true, vec![])));
        let tests = Some(vec!["test_json".to_owned(), "test_re".to_owned()]);
        assert_eq!(asked("roundtrip --test test_json test_re --pad"), Some((None, false, tests, true, vec![])));
        assert_eq!(asked("roundtrip --pad"), None);
        assert_eq!(asked("roundtrip --pad a"), None);
        assert_eq!(asked("roundtrip a --test"), None);
        assert_eq!(asked("roundtrip --time --test"), None);
    }

    #[test]
    fn bench_takes_workloads_or_guards() {
        let asked = |line| match parsed(line) {
            Ok(Task::Bench { what, quick, only, .. }) => Some((what, quick, only)),
            _ => None,
        };
        assert_eq!(asked("bench --only swap"), Some((None, false, vec!["swap".to_owned()])));
        assert_eq!(asked("bench guards --quick"), Some((Some(bench::What::Guards), true, vec![])));
        assert_eq!(asked("bench --quick guards"), asked("bench guards --quick"));
        assert_eq!(asked("bench guards --only swap"), None);
        assert_eq!(asked("bench guards --json a"), None);
        assert_eq!(asked("bench swap"), None);
    }

    #[test]
    fn codegen_takes_check() {
        assert!(matches!(parsed("codegen --check"), Ok(Task::Codegen { check: true })));
        assert!(matches!(parsed("codegen"), Ok(Task::Codegen { check: false })));
        assert!(parsed("codegen check").is_err());
    }
}

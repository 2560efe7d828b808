//! Maintainer commands: `cargo xtask demo`, `test`, `matrix`, `golden`, `bench`, `codegen`,
//! `roundtrip`, `tidy`.
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
mod golden;
mod interpreter;
mod matrix;
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
    /// Measure eager Paddle, Paddle's own SOT and sot side by side
    Bench {
        #[command(flatten)]
        python: Python,
        /// One short round instead of five
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
    /// Renew the opcode tables from the installed interpreters, or --check them
    #[command(disable_help_flag = true)]
    Codegen {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Decode and encode every code object of real programs
    #[command(disable_help_flag = true)]
    Roundtrip {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
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
        Task::Bench { python, quick, only, json, paddle_defaults } => bench::run(&bench::Options {
            python: python.asked(),
            quick,
            only: &only,
            json: json.as_deref(),
            paddle_defaults,
        }),
        Task::Codegen { arguments } => codegen::run(&arguments).map_err(anyhow::Error::msg),
        Task::Roundtrip { arguments } => roundtrip::run(&arguments),
        Task::Tidy => tidy::run(),
    }
}

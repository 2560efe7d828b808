//! Every code object of files and folders, compared with its re-encoded form inside the interpreter.

use super::recode::Recoder;
use super::session::{self, End, Script};
use super::summary::{Compared, Summary};
use crate::console::{Progress, seconds};
use crate::interpreter::Interpreter;
use crate::refusal::Refusal;
use anyhow::{Result, bail};
use serde::Deserialize;
use sot_opcodes::Version;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds of each code object under `--time`.
const ROUNDS: u32 = 5;

/// What the files came to.
pub(super) struct Found {
    pub(super) summary: Summary,
    pub(super) recoder: Recoder,
    pub(super) took: Duration,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Report {
    Total { files: usize },
    Skipped { file: PathBuf, skipped: String, why: String },
    Compared(Compared),
}

/// Compares files and folders, or without one the interpreter's whole standard library.
pub(super) fn run(python: &Interpreter, version: Version, named: &[PathBuf], time: bool) -> Result<Found> {
    let start = Instant::now();
    if let Some(missing) = named.iter().find(|path| !path.exists()) {
        return Err(Refusal::new(
            format!("There is no file or folder `{}`.", missing.display()),
            "name Python files or folders that hold some, or none for the interpreter's standard library",
        )
        .into());
    }
    let arguments = named.iter().map(|path| path.as_os_str()).collect();
    let mut recoder = Recoder::new(version).rounds(if time { ROUNDS } else { 1 });
    let mut summary = Summary::default();
    let mut progress = Progress::new("files");
    let script = Script { python, file: "compare.py", arguments, log: None };
    let end = session::run(script, &mut recoder, |report| {
        match report {
            Report::Total { files: 0 } => return Err(nothing_to_do(named)),
            Report::Total { files } => progress.of(files),
            Report::Skipped { file, skipped, why } => {
                if named.contains(&file) {
                    return Err(no_python(&file, python, &skipped, &why));
                }
                *summary.skipped.entry(skipped).or_default() += 1;
                progress.step();
            }
            Report::Compared(file) => {
                summary.add(file);
                progress.step();
            }
        }
        Ok(())
    });
    progress.clear();
    if let End::Early(status) = end? {
        bail!("the interpreter died after {} files ({status})", summary.files);
    }
    Ok(Found { summary, recoder, took: start.elapsed() })
}

/// The time of an instruction, in words.
pub(super) fn pace(recoder: &Recoder) -> String {
    let each = |time: Duration| time.as_secs_f64() * 1e6 / recoder.instrs.max(1) as f64;
    let (decode, encode) = (each(recoder.decoding), each(recoder.encoding));
    let mut text = format!(
        "    {:.3} us an instruction: decode {decode:.3}, encode {encode:.3}; {} in all (of each code object the quickest of {ROUNDS} rounds)",
        decode + encode,
        seconds(recoder.decoding + recoder.encoding),
    );
    if cfg!(debug_assertions) {
        text.push_str("\n    This is a debug build; measure with `cargo run --release -p xtask -- roundtrip --time`");
    }
    text
}

fn nothing_to_do(named: &[PathBuf]) -> anyhow::Error {
    let places: Vec<String> = named.iter().map(|path| format!("`{}`", path.display())).collect();
    Refusal::new(
        format!("There is no Python file under {}.", places.join(" or ")),
        "name Python files or folders that hold some, or none for the interpreter's standard library",
    )
    .into()
}

fn no_python(file: &Path, python: &Interpreter, class: &str, why: &str) -> anyhow::Error {
    Refusal::new(
        format!("CPython {} does not take `{}` as Python: {class}: {why}.", python.version, file.display()),
        "name a source file of this version (--python picks another), or a .pyc that it made",
    )
    .into()
}

//! Every section of `tests/literate` as a test of its own.
//!
//! Needs `SOT_TEST_PYTHON`, an interpreter that has Paddle and sot; without it the sections are counted as skipped. With
//! `INSTA_UPDATE=always` the blocks of the documents and the snapshots are written anew. A section that is marked
//! `expected-failure` is a test called so, which fails when the section passes.

use libtest_mimic::{Arguments, Failed, Trial};
use sot_tests::document::{Document, Kind, Section};
use sot_tests::driver::{Driver, Run};
use sot_tests::expect::{Checks, failures, snapshot};
use sot_tests::update;
use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

const UNSET: &str = "SOT_TEST_PYTHON is not set: it names an interpreter that has paddle and sot (`cargo xtask test`)";

/// A document and its run, made by the first section that asks.
struct Literate {
    doc: Document,
    run: OnceLock<Result<Run, String>>,
}

impl Literate {
    fn run(&self, driver: &Driver, updating: bool) -> Result<&Run, Failed> {
        let run = self.run.get_or_init(|| {
            let mut written = Ok(());
            let run = driver.run(&self.doc, |run| {
                if updating && run.is_reference() {
                    written = update::write(&self.doc, run);
                }
            });
            written.and(run)
        });
        run.as_ref().map_err(Failed::from)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = match Document::read_all(&home.join("literate")) {
        Ok(documents) => documents,
        Err(mistake) => {
            eprintln!("{mistake}");
            return ExitCode::FAILURE;
        }
    };
    let python = env::var_os("SOT_TEST_PYTHON").filter(|p| !p.is_empty()).map(PathBuf::from);
    if python.is_none() {
        eprintln!("skipped: {UNSET}");
    }
    let skipped = python.is_none();
    let driver = Arc::new(Driver {
        python: python.unwrap_or_default(),
        script: home.join("driver").join("driver.py"),
        scratch: Path::new(env!("CARGO_TARGET_TMPDIR")).join("literate"),
        shared_run: env::var("NEXTEST_RUN_ID").ok(),
    });
    if driver.shared_run.is_none() && !arguments.list {
        let sections = documents.iter().flat_map(|d| d.sections.iter().map(move |s| (d, s)));
        for (doc, section, reason) in sections.filter_map(|(d, s)| Some((d, s, s.expected_failure()?))) {
            eprintln!("expected failure: {}::{}: {reason}", doc.name, section.name);
        }
    }
    let updating = env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    let mut trials = Vec::new();
    for doc in documents {
        let literate = Arc::new(Literate { doc, run: OnceLock::new() });
        for index in 0..literate.doc.sections.len() {
            let section = &literate.doc.sections[index];
            let mark = if section.expected_failure().is_some() { "expected-failure::" } else { "" };
            let name = format!("{mark}{}::{}", literate.doc.name, section.name);
            let (literate, driver) = (literate.clone(), driver.clone());
            let trial = Trial::test(name, move || test(&literate, index, &driver, updating));
            trials.push(trial.with_ignored_flag(skipped));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn test(literate: &Literate, index: usize, driver: &Driver, updating: bool) -> Result<(), Failed> {
    let run = literate.run(driver, updating)?;
    let section = &literate.doc.sections[index];
    let result = check(&literate.doc, section, run, updating);
    match (section.expected_failure(), result) {
        (None, result) => result,
        (Some(_), Err(_)) => Ok(()),
        (Some(reason), Ok(())) => {
            Err(format!("passes, but is marked as an expected failure: remove the mark\n    {reason}").into())
        }
    }
}

fn check(doc: &Document, section: &Section, run: &Run, updating: bool) -> Result<(), Failed> {
    let found = run.sections.get(&section.name).ok_or("the driver did not run this section")?;
    if found.too_old {
        return Ok(());
    }
    let decisions = !updating && section.release().is_none_or(|release| run.is_since(release));
    let failed = failures(section, found, Checks { minor: run.minor(), decisions, bytecode: run.is_reference() });
    if !failed.is_empty() {
        let header = format!("{}.md, {}, Python {}", doc.name, section.name, run.python);
        return Err(format!("{header}\n{}", failed.join("\n")).into());
    }
    if run.is_reference() && section.block(Kind::Snapshot).is_some() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_snapshot_suffix(run.version());
        settings.set_description(format!("literate/{}.md, {}", doc.name, section.name));
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("{}__{}", doc.name, section.name), snapshot(found)));
    }
    Ok(())
}

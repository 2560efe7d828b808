//! The project's own rules, which no compiler checks: `cargo xtask tidy`, and one `#[test]` for each.
//!
//! | rule | what must hold |
//! |---|---|
//! | module-doc | every `.rs` file opens with `//!`: the contract comes before the code |
//! | crate-edges | crates depend on each other as drawn in [`edges`], and the pure ones not on pyo3 |
//! | published | a crate that is published has a licence, a readme and all that a registry shows; the others say so |
//! | framework-names | sot-core's code (identifiers and strings, not comments) names no framework |
//! | version-matches | only sot-opcodes (and the door below) decides by CPython version; elsewhere versions are data |
//! | version-cfgs | `cfg(Py_3_x)` only under `sot-core/src/cpython` |
//! | unsafe-door | `unsafe` only under `sot-core/src/cpython`; every other crate forbids it |
//! | machine-paths | no file carries a path of somebody's machine |
//! | registries | a table that lives as long as the process is one that the engine knows (`sot-core/src/engine.rs`) |
//! | kinds | no `match` outside `variables/` and `executor/kinds/` is a table over the kinds of values |
//! | rooms | the modules of a crate, or of one directory in it, form no circle of uses |
//! | file-length | no source file is longer than 800 lines, generated ones excepted |

mod code;
mod edges;
pub(crate) mod published;
mod rooms;
mod sources;
mod text;

use crate::suite::Outcome;
use crate::workspace;
use anyhow::{Result, bail};
use sources::Sources;
use std::fmt;
use std::time::Instant;

/// A place where a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Violation {
    file: String,
    /// 0: the file as a whole.
    line: usize,
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

struct Rule {
    name: &'static str,
    check: fn(&Sources) -> Result<Vec<Violation>>,
}

const RULES: &[Rule] = &[
    Rule { name: "module-doc", check: text::module_doc },
    Rule { name: "crate-edges", check: edges::as_drawn },
    Rule { name: "published", check: published::as_promised },
    Rule { name: "framework-names", check: code::framework_names },
    Rule { name: "version-matches", check: code::version_matches },
    Rule { name: "version-cfgs", check: code::version_cfgs },
    Rule { name: "unsafe-door", check: code::unsafe_door },
    Rule { name: "machine-paths", check: text::machine_paths },
    Rule { name: "registries", check: code::registries },
    Rule { name: "kinds", check: code::kinds },
    Rule { name: "rooms", check: rooms::no_circles },
    Rule { name: "file-length", check: text::file_length },
];

pub(crate) fn run() -> Result<()> {
    let outcome = outcome()?;
    println!("{} rules hold, {} do not", outcome.passed, outcome.failed);
    if outcome.failed > 0 {
        bail!("the rules are explained at the top of xtask/src/tidy.rs");
    }
    Ok(())
}

/// Checks every rule, printing what does not hold.
pub(crate) fn outcome() -> Result<Outcome> {
    let start = Instant::now();
    let sources = Sources::read(&workspace::root())?;
    let mut outcome = Outcome::new("tidy");
    for rule in RULES {
        let violations = (rule.check)(&sources)?;
        for violation in &violations {
            println!("    {}: {violation}", rule.name);
        }
        match violations.len() {
            0 => outcome.passed += 1,
            n => outcome.fail(format!("{} ({n} places)", rule.name)),
        }
    }
    Ok(outcome.since(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(name: &str) {
        let rule = RULES.iter().find(|rule| rule.name == name).expect("a rule of this name");
        let sources = Sources::read(&workspace::root()).expect("the checkout can be read");
        let found = (rule.check)(&sources).expect("the rule can be checked");
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{name} does not hold:\n{}", lines.join("\n"));
    }

    #[test]
    fn every_file_opens_with_its_contract() {
        holds("module-doc");
    }

    #[test]
    fn crates_depend_on_each_other_as_drawn() {
        holds("crate-edges");
    }

    #[test]
    fn published_crates_have_what_a_registry_shows() {
        holds("published");
    }

    #[test]
    fn the_core_names_no_framework() {
        holds("framework-names");
    }

    #[test]
    fn only_the_opcode_crate_decides_by_version() {
        holds("version-matches");
    }

    #[test]
    fn struct_layouts_are_the_only_code_that_differs_by_version() {
        holds("version-cfgs");
    }

    #[test]
    fn unsafe_is_behind_one_door() {
        holds("unsafe-door");
    }

    #[test]
    fn no_file_carries_a_path_of_a_machine() {
        holds("machine-paths");
    }

    #[test]
    fn rooms_form_no_circle() {
        holds("rooms");
    }

    #[test]
    fn no_file_is_too_long() {
        holds("file-length");
    }
}

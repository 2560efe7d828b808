//! The crates and what each may depend on.
//!
//! ```text
//! sot-opcodes   sot-tracker <- sot-sideeffect   sot-sir      pure data: no pyo3
//!      ^            ^               ^              ^
//!      +------------+-- sot-core ---+--------------+
//!                        ^      ^   ^
//!                   sot-paddle  |   toy-backend              backends; this one, and the example beside it (arrays-example),
//!                        ^      |                             see sot-core alone
//!                        +-- sot-py
//! ```
//!
//! xtask and tests look at whatever they check. Dependencies of tests (`[dev-dependencies]`) are not drawn.

use super::Violation;
use super::sources::Sources;
use crate::workspace;
use anyhow::Result;
use serde::Deserialize;

const DRAWN: &[(&str, &[&str])] = &[
    ("sot-opcodes", &[]),
    ("sot-tracker", &[]),
    ("sot-sir", &[]),
    ("sot-sideeffect", &["sot-tracker"]),
    ("sot-core", &["sot-opcodes", "sot-sideeffect", "sot-sir", "sot-tracker"]),
    ("sot-paddle", &["sot-core"]),
    ("sot-py", &["sot-core", "sot-paddle"]),
    ("toy-backend", &["sot-core"]),
    ("arrays-example", &["sot-core"]),
];

/// Crates that know nothing of Python.
const PURE: [&str; 4] = ["sot-opcodes", "sot-tracker", "sot-sir", "sot-sideeffect"];

/// Crates that no other one may depend on, and that may depend on any.
const LOOKING_ON: [&str; 2] = ["xtask", "sot-tests"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `null`, `dev` or `build`
    kind: Option<String>,
}

pub(super) fn as_drawn(_: &Sources) -> Result<Vec<Violation>> {
    let metadata: Metadata = workspace::metadata()?;
    Ok(compare(&metadata))
}

fn compare(metadata: &Metadata) -> Vec<Violation> {
    let mut found = Vec::new();
    let ours: Vec<&str> = metadata.packages.iter().map(|p| p.name.as_str()).collect();
    for package in &metadata.packages {
        let mut say = |what: String| {
            found.push(Violation { file: format!("Cargo.toml of {}", package.name), line: 0, what });
        };
        if PURE.contains(&package.name.as_str()) && package.dependencies.iter().any(|d| d.name.starts_with("pyo3")) {
            say("a pure crate depends on pyo3".to_owned());
        }
        if LOOKING_ON.contains(&package.name.as_str()) {
            continue;
        }
        let Some((_, drawn)) = DRAWN.iter().find(|(name, _)| *name == package.name) else {
            say("this crate is not in the drawing of xtask/src/tidy/edges.rs".to_owned());
            continue;
        };
        let dependencies = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
        let mut edges: Vec<&str> = dependencies.map(|d| d.name.as_str()).filter(|name| ours.contains(name)).collect();
        edges.sort_unstable();
        edges.dedup();
        if edges != *drawn {
            say(format!("depends on {edges:?}, drawn are {drawn:?}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: kind.map(str::to_owned) })
            .collect();
        Package { name: name.to_owned(), dependencies }
    }

    #[test]
    fn edges_beyond_the_drawing_are_seen() {
        let metadata = Metadata {
            packages: vec![
                package("sot-tracker", &[("sot-sir", None), ("pyo3", None)]),
                package("sot-sir", &[("sot-tracker", Some("dev")), ("hashbrown", None)]),
                package("sot-new", &[]),
            ],
        };
        let found: Vec<String> = compare(&metadata).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "Cargo.toml of sot-tracker: a pure crate depends on pyo3",
                "Cargo.toml of sot-tracker: depends on [\"sot-sir\"], drawn are []",
                "Cargo.toml of sot-new: this crate is not in the drawing of xtask/src/tidy/edges.rs",
            ]
        );
    }
}

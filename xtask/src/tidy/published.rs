//! What a crate on crates.io owes its readers, and what is kept off it.

use super::Violation;
use super::sources::Sources;
use crate::workspace;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Crates that are published. All others say `publish = false`.
pub(crate) const PUBLISHED: [&str; 6] =
    ["sot-opcodes", "sot-tracker", "sot-sideeffect", "sot-sir", "sot-core", "sot-paddle"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    description: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    readme: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    /// Registries; none at all: it may not be published.
    publish: Option<Vec<String>>,
}

pub(super) fn as_promised(_: &Sources) -> Result<Vec<Violation>> {
    let metadata: Metadata = workspace::metadata()?;
    let license = std::fs::read(workspace::root().join("LICENSE")).context("LICENSE")?;
    Ok(check(&metadata, &license))
}

fn check(metadata: &Metadata, license: &[u8]) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in &metadata.packages {
        let mut say = |what: &str| {
            found.push(Violation { file: format!("Cargo.toml of {}", package.name), line: 0, what: what.to_owned() });
        };
        let private = package.publish.as_ref().is_some_and(Vec::is_empty);
        match (PUBLISHED.contains(&package.name.as_str()), private) {
            (false, true) => continue,
            (false, false) => {
                say("not in the list of published crates, and without `publish = false`");
                continue;
            }
            (true, true) => say("a published crate says `publish = false`"),
            (true, false) => {}
        }
        for (part, is_there) in [
            ("description", package.description.is_some()),
            ("license", package.license.is_some()),
            ("repository", package.repository.is_some()),
            ("readme", package.readme.is_some()),
            ("keywords, five at most", (1..=5).contains(&package.keywords.len())),
            ("categories", !package.categories.is_empty()),
        ] {
            if !is_there {
                say(&format!("without {part}"));
            }
        }
        let dir = package.manifest_path.parent().unwrap_or(Path::new(""));
        if package.readme.as_ref().is_some_and(|readme| !dir.join(readme).is_file()) {
            say("its readme is no file");
        }
        if std::fs::read(dir.join("LICENSE")).ok().as_deref() != Some(license) {
            say("its LICENSE is not that of the project");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, publish: Option<Vec<String>>) -> Package {
        Package {
            name: name.to_owned(),
            manifest_path: PathBuf::from("nowhere/Cargo.toml"),
            description: Some("a crate".to_owned()),
            license: Some("Apache-2.0".to_owned()),
            repository: None,
            readme: None,
            keywords: vec!["python".to_owned()],
            categories: vec!["compilers".to_owned()],
            publish,
        }
    }

    #[test]
    fn what_is_missing_is_seen() {
        let packages = vec![package("xtask", Some(Vec::new())), package("sot-sir", None), package("sot-new", None)];
        let found: Vec<String> = check(&Metadata { packages }, b"text").iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "Cargo.toml of sot-sir: without repository",
                "Cargo.toml of sot-sir: without readme",
                "Cargo.toml of sot-sir: its LICENSE is not that of the project",
                "Cargo.toml of sot-new: not in the list of published crates, and without `publish = false`",
            ]
        );
    }
}

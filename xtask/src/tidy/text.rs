//! Rules about files as text.

use super::Violation;
use super::sources::Sources;
use anyhow::Result;

const LONGEST: usize = 800;

pub(super) fn module_doc(sources: &Sources) -> Result<Vec<Violation>> {
    let bare = sources.rust().filter(|file| !file.text.starts_with("//!"));
    Ok(bare.map(|file| violation(&file.path, 0, "does not open with `//!`".to_owned())).collect())
}

/// A path below a directory that only somebody's own machine has.
pub(super) fn machine_paths(sources: &Sources) -> Result<Vec<Violation>> {
    // Put together, so that this file does not break its own rule.
    let needles: Vec<String> = ["root", "work", "farm", "home", "Users"].iter().map(|dir| format!("/{dir}/")).collect();
    let mut found = Vec::new();
    for file in &sources.files {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(needle) = needles.iter().find(|needle| starts_a_path(line, needle)) {
                found.push(violation(&file.path, number + 1, format!("a path under {needle}")));
            }
        }
    }
    Ok(found)
}

/// Whether `needle` stands in `line` as the start of a path, and not in the middle of one.
fn starts_a_path(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_.-}~$*".contains(c))
    })
}

pub(super) fn file_length(sources: &Sources) -> Result<Vec<Violation>> {
    let made = |path: &str| ["/tables/", "/generated/", "/snapshots/"].iter().any(|part| path.contains(part));
    let code = sources.files.iter().filter(|f| (f.path.ends_with(".rs") || f.path.ends_with(".py")) && !made(&f.path));
    let long = code.map(|file| (file, file.text.lines().count())).filter(|(_, lines)| *lines > LONGEST);
    Ok(long
        .map(|(file, lines)| violation(&file.path, 0, format!("{lines} lines, more than {LONGEST}: cut it by concept")))
        .collect())
}

fn violation(file: &str, line: usize, what: String) -> Violation {
    Violation { file: file.to_owned(), line, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_machine_is_seen() {
        let text = format!("ok\nsee /{}/main/x\nsee some/{}/x\n", "work", "work");
        let found = machine_paths(&Sources::of(&[("README.md", &text)])).expect("checked");
        assert_eq!(found.iter().map(|v| v.line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_bare_file_is_seen() {
        let found = module_doc(&Sources::of(&[("a.rs", "fn f() {}"), ("b.rs", "//! b\n"), ("c.py", "x = 1")]));
        assert_eq!(found.expect("checked").len(), 1);
    }

    #[test]
    fn long_files_are_seen_unless_generated() {
        let long = "x\n".repeat(LONGEST + 1);
        let found = file_length(&Sources::of(&[("a/src/b.rs", &long), ("a/src/tables/c.rs", &long)])).expect("checked");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].file, "a/src/b.rs");
    }
}

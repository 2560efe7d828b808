//! What a section expects, against what was found.

use crate::document::{Kind, Section};
use crate::driver::Findings;
use std::fmt::Write;

/// Counters that a new `stats` block names.
pub const COUNTERS: [&str; 5] = ["graphs", "breaks", "fallbacks", "hits", "misses"];

/// What the section's blocks may say.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Of the interpreter.
    pub minor: u32,
    /// Decisions are compared; off with an older release than they are stated for, and while blocks are written anew.
    pub decisions: bool,
    /// So is the bytecode, which is that of one interpreter.
    pub bytecode: bool,
}

/// Everything that is not as expected, one text each.
pub fn failures(section: &Section, found: &Findings, checks: Checks) -> Vec<String> {
    if let Some(error) = &found.error {
        return vec![error.clone()];
    }
    let mut failures = Vec::new();
    match section.block(Kind::Mismatches) {
        None if found.mismatches.is_empty() => {}
        None => {
            failures.push(format!("captured differs from eager (eager / captured):\n{}", indented(&found.mismatches)))
        }
        Some(block) => {
            let missing = block.text.lines().filter(|l| !found.mismatches.iter().any(|m| m.starts_with(l)));
            failures
                .extend(missing.map(|l| format!("not found to differ: {l}\nfound:\n{}", indented(&found.mismatches))));
        }
    }
    if !checks.decisions {
        return failures;
    }
    match section.block_for(Kind::Stats, checks.minor) {
        None => failures.push("no stats block: write one, or have it written by `cargo xtask golden`".to_owned()),
        Some(block) => failures.extend(stats(&block.text, found)),
    }
    let breaks = section.block_for(Kind::Breaks, checks.minor).map_or("", |b| &b.text);
    compare("breaks", breaks, &lines(&found.breaks), &mut failures);
    if let Some(block) = section.block(Kind::Sir) {
        compare("sir", &block.text, &listing(&found.sir), &mut failures);
    }
    if let Some(block) = section.block(Kind::Bytecode).filter(|_| checks.bytecode) {
        compare("bytecode", &block.text, &listing(&found.code), &mut failures);
    }
    if let Some(block) = section.block(Kind::Guards) {
        let missing =
            block.text.lines().map(str::trim).filter(|l| !l.is_empty() && !found.guards.iter().any(|g| g == l));
        failures.extend(missing.map(|l| format!("no such guard: {l}\nguards:\n{}", indented(&found.guards))));
    }
    failures
}

/// Names and values of a `stats` block.
pub fn named_counters(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split([',', '\n']).map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| p.split_once(' ').unwrap_or((p, ""))).collect()
}

fn stats(text: &str, found: &Findings) -> Vec<String> {
    let wrong = named_counters(text)
        .into_iter()
        .filter(|(name, value)| found.stats.get(*name).map(u64::to_string).as_deref() != Some(value.trim()));
    let shown = |name: &str| found.stats.get(name).map_or("no such counter".to_owned(), u64::to_string);
    wrong.map(|(name, value)| format!("{name}: expected {value}, found {}", shown(name))).collect()
}

fn compare(what: &str, expected: &str, found: &str, failures: &mut Vec<String>) {
    if expected.trim() != found.trim() {
        failures.push(format!("{what}: expected\n{}\nfound\n{}", indent(expected), indent(found)));
    }
}

pub fn lines(items: &[String]) -> String {
    items.iter().map(|i| format!("{i}\n")).collect()
}

/// Listings with an empty line in between.
pub fn listing(items: &[String]) -> String {
    items.iter().map(|i| i.trim_end()).collect::<Vec<_>>().join("\n\n") + "\n"
}

fn indented(items: &[String]) -> String {
    indent(&lines(items))
}

fn indent(text: &str) -> String {
    text.trim_end().lines().map(|l| format!("    {l}")).collect::<Vec<_>>().join("\n")
}

/// The text of a section's snapshot.
pub fn snapshot(found: &Findings) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (title, body) in [
        ("graphs", listing(&found.sir)),
        ("breaks", lines(&found.breaks)),
        ("guards", lines(&found.guards)),
        ("bytecode", listing(&found.code)),
    ] {
        let _ = writeln!(text, "== {title}\n{}\n", body.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use std::path::Path;

    fn failures_of(blocks: &str, found: &Findings) -> Vec<String> {
        let doc = Document::parse("a", Path::new("a.md"), &format!("## A\n```py\n```\n{blocks}")).expect("parses");
        failures(&doc.sections[0], found, Checks { minor: 11, decisions: true, bytecode: true })
    }

    fn found() -> Findings {
        let stats = [("graphs".to_owned(), 1), ("breaks".to_owned(), 0)].into();
        Findings { stats, guards: vec!["g".into()], ..Findings::default() }
    }

    #[test]
    fn as_expected() {
        assert!(failures_of("```stats\ngraphs 1, breaks 0\n```\n```guards\ng\n```\n", &found()).is_empty());
    }

    #[test]
    fn each_kind_of_difference() {
        let stats = "```stats\ngraphs 1\n```\n";
        let mut differs = found();
        differs.mismatches = vec!["call 0: result".into()];
        assert!(failures_of(stats, &differs)[0].contains("call 0: result"));
        assert!(failures_of("", &found())[0].contains("no stats block"));
        assert_eq!(failures_of("```stats\ngraphs 2\nhits 1\n```\n", &found()).len(), 2);
        assert!(failures_of(&format!("{stats}```guards\nh\n```\n"), &found())[0].contains("no such guard: h"));
        let mut breaks = found();
        breaks.breaks = vec!["branch-on-tensor 3".into()];
        assert!(failures_of(stats, &breaks)[0].contains("branch-on-tensor 3"));
        assert!(failures_of(&format!("{stats}```breaks\nbranch-on-tensor 3\n```\n"), &breaks).is_empty());
        assert!(
            failures_of(&format!("{stats}```mismatches\ncall 0\n```\n"), &found())[0].contains("not found to differ")
        );
    }
}

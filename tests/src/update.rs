//! Writes the decisions of a run into its document: what `INSTA_UPDATE=always` asks for.
//!
//! `stats` and `breaks` are written for every section (a `stats` block keeps the counters that it names), `sir` and
//! `bytecode` where there is such a block. `guards` are chosen by hand, and what is for one version is written by hand.

use crate::document::{Document, Kind, Section};
use crate::driver::{Findings, Run};
use crate::expect::{COUNTERS, lines, listing, named_counters};
use std::fs;

/// The document's new text; the old one where nothing is known.
pub fn updated(doc: &Document, run: &Run) -> String {
    let mut text = doc.lines.clone();
    for section in doc.sections.iter().rev() {
        if let Some(found) = run.sections.get(&section.name).filter(|f| f.error.is_none()) {
            edit(&mut text, section, found);
        }
    }
    text.iter().map(|l| format!("{l}\n")).collect()
}

/// Update the file, if that changes it.
pub fn write(doc: &Document, run: &Run) -> Result<(), String> {
    let new = updated(doc, run);
    let old: String = doc.lines.iter().map(|l| format!("{l}\n")).collect();
    if new == old {
        return Ok(());
    }
    fs::write(&doc.path, new).map_err(|e| format!("{}: {e}", doc.path.display()))
}

fn wanted(section: &Section, kind: Kind, found: &Findings) -> Option<String> {
    let present = section.block(kind);
    match kind {
        Kind::Stats => {
            let named = present.map(|b| named_counters(&b.text)).unwrap_or_default();
            let names: Vec<&str> =
                if named.is_empty() { COUNTERS.to_vec() } else { named.iter().map(|(name, _)| *name).collect() };
            let values = names.iter().map(|n| format!("{n} {}", found.stats.get(*n).copied().unwrap_or_default()));
            Some(values.collect::<Vec<_>>().join(", ") + "\n")
        }
        Kind::Breaks => (!found.breaks.is_empty()).then(|| lines(&found.breaks)),
        Kind::Sir => present.map(|_| listing(&found.sir)),
        Kind::Bytecode => present.map(|_| listing(&found.code)),
        Kind::Py
        | Kind::Guards
        | Kind::Snapshot
        | Kind::Mismatches
        | Kind::Since
        | Kind::Release
        | Kind::ExpectedFailure => present.map(|b| b.text.clone()),
    }
}

fn edit(text: &mut Vec<String>, section: &Section, found: &Findings) {
    // From the last block to the first, so that the places of the others stay right.
    for block in section.blocks.iter().rev().filter(|block| block.minors.is_none()) {
        let fenced = wanted(section, block.kind, found).map(|body| fence(block.kind, &body)).unwrap_or_default();
        text.splice(block.start..=block.end, fenced);
    }
    // New ones stand right behind the snippet.
    let Some(py) = section.block(Kind::Py) else { return };
    for kind in [Kind::Breaks, Kind::Stats] {
        if section.block(kind).is_none()
            && let Some(body) = wanted(section, kind, found)
        {
            text.splice(py.end + 1..py.end + 1, fence(kind, &body));
        }
    }
}

fn fence(kind: Kind, body: &str) -> Vec<String> {
    let mut fenced = vec![format!("```{}", kind.word())];
    fenced.extend(body.trim_end().lines().map(str::to_owned));
    fenced.push("```".to_owned());
    fenced
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn blocks_are_replaced_added_and_removed() {
        let text = "## A\n```py\nx\n```\n```guards\ng\n```\n\n## B\n```py\n```\n```stats\ngraphs 7\n```\n```breaks\nold 1\n```\n";
        let doc = Document::parse("a", Path::new("a.md"), text).expect("parses");
        let mut run = Run::default();
        let stats = COUNTERS.iter().map(|n| ((*n).to_owned(), 2)).collect();
        let a = Findings { stats, breaks: vec!["branch 1".into()], ..Findings::default() };
        let b = Findings { stats: a.stats.clone(), ..Findings::default() };
        run.sections.extend([("A".to_owned(), a), ("B".to_owned(), b)]);
        let expected = "## A\n```py\nx\n```\n```stats\ngraphs 2, breaks 2, fallbacks 2, hits 2, misses 2\n```\n\
                        ```breaks\nbranch 1\n```\n```guards\ng\n```\n\n## B\n```py\n```\n```stats\ngraphs 2\n```\n";
        let new = updated(&doc, &run);
        assert_eq!(new, expected);
        let doc = Document::parse("a", Path::new("a.md"), &new).expect("parses");
        assert_eq!(updated(&doc, &run), expected);
    }
}

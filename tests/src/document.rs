//! A literate file: its sections, and their blocks with their places.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// What a fenced block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Py,
    Stats,
    Breaks,
    Sir,
    Guards,
    Bytecode,
    Snapshot,
    Mismatches,
    Since,
    Release,
    ExpectedFailure,
}

impl Kind {
    const ALL: [Kind; 11] = [
        Kind::Py,
        Kind::Stats,
        Kind::Breaks,
        Kind::Sir,
        Kind::Guards,
        Kind::Bytecode,
        Kind::Snapshot,
        Kind::Mismatches,
        Kind::Since,
        Kind::Release,
        Kind::ExpectedFailure,
    ];

    /// The word after the fence.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Py => "py",
            Kind::Stats => "stats",
            Kind::Breaks => "breaks",
            Kind::Sir => "sir",
            Kind::Guards => "guards",
            Kind::Bytecode => "bytecode",
            Kind::Snapshot => "snapshot",
            Kind::Mismatches => "mismatches",
            Kind::Since => "since",
            Kind::Release => "release",
            Kind::ExpectedFailure => "expected-failure",
        }
    }
}

/// A fenced block; `start` and `end` are the indices of its fences among the file's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub kind: Kind,
    /// The minor versions of Python 3 that it is for, where that is not all that have none of their own.
    pub minors: Option<RangeInclusive<u32>>,
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// A `##` heading and what is under it.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading, with `-` for what is not a letter or digit.
    pub name: String,
    pub blocks: Vec<Block>,
}

impl Section {
    /// The block for all versions that have none of their own.
    pub fn block(&self, kind: Kind) -> Option<&Block> {
        self.blocks.iter().find(|b| b.kind == kind && b.minors.is_none())
    }

    /// The block for a minor version of Python 3.
    pub fn block_for(&self, kind: Kind, minor: u32) -> Option<&Block> {
        let own = |b: &&Block| b.kind == kind && b.minors.as_ref().is_some_and(|minors| minors.contains(&minor));
        self.blocks.iter().find(own).or_else(|| self.block(kind))
    }

    pub fn source(&self) -> &str {
        self.block(Kind::Py).map_or("", |b| &b.text)
    }

    /// The first version of Python that can run the section, where that is not the oldest.
    pub fn since(&self) -> Option<&str> {
        self.block(Kind::Since).map(|b| b.text.trim())
    }

    /// The first release of Paddle that the decisions are stated for.
    pub fn release(&self) -> Option<&str> {
        self.block(Kind::Release).map(|b| b.text.trim())
    }

    /// Why the section fails today.
    pub fn expected_failure(&self) -> Option<&str> {
        self.block(Kind::ExpectedFailure).map(|b| b.text.trim())
    }
}

/// A literate file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file's name without its ending.
    pub name: String,
    pub path: PathBuf,
    pub lines: Vec<String>,
    pub sections: Vec<Section>,
}

fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-")
}

impl Document {
    /// Reads every `.md` file of a directory, by name.
    pub fn read_all(dir: &Path) -> Result<Vec<Document>, String> {
        let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        paths.retain(|p| p.extension().is_some_and(|e| e == "md"));
        paths.sort();
        paths.iter().map(|p| Document::read(p)).collect()
    }

    pub fn read(path: &Path) -> Result<Document, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Document::parse(&name, path, &text)
    }

    /// Every mistake is named by file and line.
    pub fn parse(name: &str, path: &Path, text: &str) -> Result<Document, String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut sections: Vec<Section> = Vec::new();
        let mut open: Option<(Kind, Option<RangeInclusive<u32>>, usize)> = None;
        let at = |i: usize, what: &str| format!("{name}.md:{}: {what}", i + 1);
        for (i, line) in lines.iter().enumerate() {
            match (open.take(), line.strip_prefix("```")) {
                (Some((kind, minors, start)), Some("")) => {
                    let text = lines[start + 1..i].iter().map(|l| format!("{l}\n")).collect();
                    let section = sections.last_mut().ok_or_else(|| at(start, "a block before the first section"))?;
                    if section.blocks.iter().any(|b| b.kind == kind && overlap(&b.minors, &minors)) {
                        return Err(at(start, "a second block of this kind"));
                    }
                    section.blocks.push(Block { kind, minors, start, end: i, text });
                }
                (opened @ Some(_), _) => open = opened,
                (None, Some(info)) => {
                    let (word, versions) = info.split_once(' ').map_or((info, None), |(w, v)| (w, Some(v)));
                    let kind = Kind::ALL.into_iter().find(|k| k.word() == word);
                    let kind = kind.ok_or_else(|| at(i, "a block of no known kind"))?;
                    let minors = versions.map(|v| {
                        let known = minors(v).filter(|_| matches!(kind, Kind::Stats | Kind::Breaks));
                        known.ok_or_else(|| at(i, "versions are 3.8 or 3.8-3.10, of stats or breaks"))
                    });
                    open = Some((kind, minors.transpose()?, i));
                }
                (None, None) => {
                    if let Some(title) = line.strip_prefix("## ") {
                        let section = Section { name: slug(title), blocks: Vec::new() };
                        if sections.iter().any(|s| s.name == section.name) {
                            return Err(at(i, "a second section of this name"));
                        }
                        sections.push(section);
                    }
                }
            }
        }
        if let Some((.., start)) = open {
            return Err(at(start, "a block without an end"));
        }
        if let Some(section) = sections.iter().find(|s| s.block(Kind::Py).is_none()) {
            return Err(format!("{name}.md: section {} has no py block", section.name));
        }
        Ok(Document { name: name.to_owned(), path: path.to_owned(), lines, sections })
    }
}

/// `3.8` or `3.8-3.10`.
fn minors(text: &str) -> Option<RangeInclusive<u32>> {
    let minor = |version: &str| version.strip_prefix("3.")?.parse().ok();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(minor(first)?..=minor(last)?).filter(|minors| !minors.is_empty())
}

fn overlap(a: &Option<RangeInclusive<u32>>, b: &Option<RangeInclusive<u32>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.start() <= b.end() && b.start() <= a.end(),
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, String> {
        Document::parse("a", Path::new("a.md"), text)
    }

    #[test]
    fn sections_and_blocks() {
        let text =
            "# T\n\n## One, two: it's\nprose\n```py\ndef f(): pass\n```\n```stats\ngraphs 1\n```\n## B\n```py\n\n```\n";
        let doc = parse(text).expect("parses");
        let names: Vec<_> = doc.sections.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["One-two-it-s", "B"]);
        assert_eq!(doc.sections[0].source(), "def f(): pass\n");
        let stats = doc.sections[0].block(Kind::Stats).expect("stats");
        assert_eq!((stats.start, stats.end, stats.text.as_str()), (7, 9, "graphs 1\n"));
    }

    #[test]
    fn blocks_for_versions() {
        let text = "## A\n```py\n```\n```stats\na\n```\n```stats 3.8-3.9\nb\n```\n```stats 3.13\nc\n```\n```breaks 3.8\nd\n```\n";
        let doc = parse(text).expect("parses");
        let text = |kind, minor| doc.sections[0].block_for(kind, minor).map_or("", |b| b.text.trim());
        assert_eq!([8, 9, 10, 12, 13].map(|minor| text(Kind::Stats, minor)), ["b", "b", "a", "a", "c"]);
        assert_eq!([8, 9].map(|minor| text(Kind::Breaks, minor)), ["d", ""]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, what) in [
            ("## A\n```py\n```\n```what\n```\n", "a.md:4: a block of no known kind"),
            ("## A\n```py\n", "a.md:2: a block without an end"),
            ("```py\n```\n", "a.md:1: a block before the first section"),
            ("## A\nprose\n", "section A has no py block"),
            ("## A\n```py\n```\n## A\n", "a.md:4: a second section"),
            ("## A\n```py\n```\n```py\n```\n", "a.md:4: a second block"),
            ("## A\n```py\n```\n```stats 3.8-3.9\n```\n```stats 3.9\n```\n", "a.md:6: a second block"),
            ("## A\n```py\n```\n```stats 3\n```\n", "a.md:4: versions are"),
            ("## A\n```py\n```\n```stats 3.9-3.8\n```\n", "a.md:4: versions are"),
            ("## A\n```py 3.9\n```\n", "a.md:2: versions are"),
        ] {
            let error = parse(text).expect_err(what);
            assert!(error.contains(what), "{error} does not say {what}");
        }
    }
}

//! What a run over files came to, as aligned lines.

use super::recode::Recoder;
use crate::console;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Failures of one kind that are told one by one.
const SHOWN: usize = 5;

/// A report of `compare.py` about one file.
#[derive(Deserialize)]
pub(super) struct Compared {
    verdicts: BTreeMap<String, usize>,
    slack: BTreeMap<String, usize>,
    bad: Vec<(String, String, String)>,
}

/// Kinds that say that CPython's own view of the code changed. Every other kind is a failure to make code at all, or a
/// wrong stack size.
const DIFFERENCES: [&str; 4] = ["attributes", "handlers", "instructions", "locations"];

#[derive(Default)]
pub(super) struct Summary {
    pub(super) files: usize,
    /// Files that CPython does not compile, by the class of its error.
    pub(super) skipped: BTreeMap<String, usize>,
    pub(super) identical: usize,
    pub(super) equivalent: usize,
    /// Code objects by the stack size given to them minus the one that CPython claims.
    slack: BTreeMap<i64, usize>,
    /// By kind: how many, and the first of them.
    bad: BTreeMap<String, (usize, Vec<String>)>,
}

impl Summary {
    pub(super) fn add(&mut self, file: Compared) {
        self.files += 1;
        self.identical += file.verdicts.get("identical").unwrap_or(&0);
        self.equivalent += file.verdicts.get("equivalent").unwrap_or(&0);
        for (deeper, count) in file.slack {
            // The script makes the keys of integers.
            *self.slack.entry(deeper.parse().unwrap_or_default()).or_default() += count;
        }
        for (kind, place, detail) in file.bad {
            let (count, first) = self.bad.entry(kind).or_default();
            *count += 1;
            if first.len() < SHOWN {
                first.push(format!("{place}: {detail}"));
            }
        }
    }

    pub(super) fn bad(&self) -> usize {
        self.bad.values().map(|(count, _)| count).sum()
    }

    /// The first of each kind of difference and failure, a line each.
    pub(super) fn examples(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (kind, (count, first)) in &self.bad {
            lines.extend(first.iter().map(|line| format!("{kind}: {line}")));
            if *count > first.len() {
                lines.push(format!("{kind}: and {} more", count - first.len()));
            }
        }
        lines
    }

    pub(super) fn text(&self, recoder: &Recoder, took: Duration) -> String {
        let mut rows: Vec<(String, usize, String)> = Vec::new();
        let mut row = |what: &str, count, note: String| rows.push((what.to_owned(), count, note));
        row("files", self.files, String::new());
        if !self.skipped.is_empty() {
            row("files that CPython does not compile", self.skipped.values().sum(), listed(self.skipped.iter()));
        }
        row("code objects", recoder.codes, String::new());
        row("instructions", recoder.instrs, String::new());
        row("identical", self.identical, "every byte".to_owned());
        row("equivalent", self.equivalent, "other EXTENDED_ARGs or table bytes, same meaning".to_owned());
        let of = |differences: bool| {
            let kinds = self.bad.iter().filter(move |(kind, _)| DIFFERENCES.contains(&kind.as_str()) == differences);
            kinds.map(|(kind, (count, _))| (kind, count))
        };
        row("differences", of(true).map(|(_, n)| n).sum(), listed(of(true)));
        row("failures", of(false).map(|(_, n)| n).sum(), listed(of(false)));
        for (deeper, count) in &self.slack {
            row(&slack(*deeper), *count, String::new());
        }
        let name = rows.iter().map(|(what, ..)| what.len()).max().unwrap_or(0);
        let number = rows.iter().map(|(_, count, _)| grouped(*count).len()).max().unwrap_or(0);
        let mut out = String::new();
        for (what, count, note) in rows {
            let line = format!("{what:<name$}  {:>number$}  {note}", grouped(count));
            // Writing to a String cannot fail.
            let _ = writeln!(out, "    {}", line.trim_end());
        }
        let _ = writeln!(out, "    took {}", console::seconds(took));
        out
    }
}

/// A row of the histogram in words.
fn slack(deeper: i64) -> String {
    match deeper {
        0 => "stack size as CPython claims".to_owned(),
        1.. => format!("stack size {deeper} above CPython's claim"),
        _ => format!("stack size {} below CPython's claim", -deeper),
    }
}

fn listed<'a>(counts: impl Iterator<Item = (&'a String, &'a usize)>) -> String {
    counts.map(|(kind, count)| format!("{kind} {}", grouped(*count))).collect::<Vec<_>>().join(", ")
}

/// `1,234,567`
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sot_opcodes::Version;

    fn compared(text: &str) -> Compared {
        serde_json::from_str(text).expect("a report")
    }

    #[test]
    fn thousands_are_kept_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn lines_are_aligned_and_tell_all() {
        let mut summary = Summary::default();
        summary.add(compared(
            r#"{"verdicts": {"identical": 1200, "equivalent": 3}, "slack": {"0": 1201, "-2": 3}, "bad": []}"#,
        ));
        let bad = r#"["locations", "a.py:1 f", "x"], ["stack too small", "a.py:1 f", "1, and it needs 2"]"#;
        summary.add(compared(&format!(r#"{{"verdicts": {{}}, "slack": {{"1": 1}}, "bad": [{bad}]}}"#)));
        summary.skipped.insert("SyntaxError".to_owned(), 2);
        let text = summary.text(&Recoder::new(Version::V312), Duration::from_millis(1500));
        let expected = "    files                                    2
    files that CPython does not compile      2  SyntaxError 2
    code objects                             0
    instructions                             0
    identical                            1,200  every byte
    equivalent                               3  other EXTENDED_ARGs or table bytes, same meaning
    differences                              1  locations 1
    failures                                 1  stack too small 1
    stack size 2 below CPython's claim       3
    stack size as CPython claims         1,201
    stack size 1 above CPython's claim       1
    took 1.5 s
";
        assert_eq!(text, expected);
        assert_eq!(summary.bad(), 2);
    }

    #[test]
    fn only_the_first_of_a_kind_are_told() {
        let mut summary = Summary::default();
        for _ in 0..SHOWN + 2 {
            summary
                .add(compared(r#"{"verdicts": {}, "slack": {}, "bad": [["decode", "a.py:1 f", "unknown opcode"]]}"#));
        }
        let examples = summary.examples();
        assert_eq!(examples.len(), SHOWN + 1);
        assert_eq!(examples[0], "decode: a.py:1 f: unknown opcode");
        assert_eq!(examples[SHOWN], "decode: and 2 more");
    }
}

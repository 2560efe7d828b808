//! Locations as words, both ways.
//!
//! | word | lines | columns |
//! |---|---|---|
//! | `12:4-9` | 12 | 4 to 9 |
//! | `12:4-13:9` | 12 to 13 | 4 (of 12) to 9 (of 13) |
//! | `12` | 12 | none |
//! | `12-13` | 12 to 13 | none |
//! | `--` | none | none |
//!
//! Where only one of two is known, `?` stands for the other one: `12:4-?`, `12-?`.

use super::lexer::{Parsed, decimal};
use crate::Location;

/// The word of a location.
pub(super) fn show(loc: Location) -> String {
    let known = |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let Location { line, end_line, col, end_col } = loc;
    let columns = (col, end_col) != (None, None);
    let [first, last, from, to] = [line, end_line, col, end_col].map(known);
    match (line == end_line, columns) {
        (true, false) if line.is_none() => "--".to_owned(),
        (true, false) => first,
        (false, false) => format!("{first}-{last}"),
        (true, true) => format!("{first}:{from}-{to}"),
        (false, true) => format!("{first}:{from}-{last}:{to}"),
    }
}

/// The location of a word.
pub(super) fn read(word: &str) -> Parsed<Location> {
    let what = || format!("`{word}` is no location: write 12:4-9, 12:4-13:9, 12 or 12-13 (? for an unknown), or --");
    fields(word).ok_or_else(what)
}

fn fields(word: &str) -> Option<Location> {
    let known = |text| if text == "?" { Some(None) } else { decimal(text).map(Some) };
    if word == "--" {
        return Some(Location::default());
    }
    let Some((start, end)) = word.split_once('-') else {
        let line = known(word)?;
        return Some(Location { line, end_line: line, col: None, end_col: None });
    };
    let Some((line, col)) = start.split_once(':') else {
        return Some(Location { line: known(start)?, end_line: known(end)?, col: None, end_col: None });
    };
    let (end_line, end_col) = end.split_once(':').unwrap_or((line, end));
    Some(Location { line: known(line)?, end_line: known(end_line)?, col: known(col)?, end_col: known(end_col)? })
}

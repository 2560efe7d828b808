//! The words of a line, both ways.
//!
//! A word that would not be read as it is (spaces, `#3`, an empty one, ..) stands in quotes, escaped like a Rust string.

use std::borrow::Cow;

/// What is wrong with a line.
pub(super) type Parsed<T> = Result<T, String>;

/// One word of a line.
#[derive(Debug)]
pub(super) struct Word<'t> {
    pub(super) text: Cow<'t, str>,
    quoted: bool,
}

impl Word<'_> {
    /// The word, if it is not quoted: only then it can be a keyword, a number, a label or an index.
    pub(super) fn bare(&self) -> Option<&str> {
        (!self.quoted).then_some(&*self.text)
    }
}

/// The words of a line, up to the remark that a word with `(` begins.
pub(super) fn split(line: &str) -> Parsed<Vec<Word<'_>>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('(') {
        let after = if let Some(quote) = rest.strip_prefix('"') {
            let (text, after) = unquote(quote)?;
            if !after.is_empty() && !after.starts_with(char::is_whitespace) {
                return Err(format!("a space is missing behind {text:?}"));
            }
            words.push(Word { text: Cow::Owned(text), quoted: true });
            after
        } else {
            let (text, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
            if text.contains('"') {
                return Err(format!("`{text}` has a quote inside: write {text:?} for a name with a quote"));
            }
            words.push(Word { text: Cow::Borrowed(text), quoted: false });
            after
        };
        rest = after.trim_start();
    }
    Ok(words)
}

/// What `{:?}` wrote of a string, from behind the opening quote, and what follows the closing one.
fn unquote(text: &str) -> Parsed<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok((out, chars.as_str())),
            '\\' => {
                let rest = chars.as_str();
                let (c, after) = escaped(rest).ok_or_else(|| {
                    format!("`\\{}` is no escape: there are \\n \\r \\t \\0 \\\\ \\\" \\' \\u{{hex}}", start(rest))
                })?;
                out.push(c);
                chars = after.chars();
            }
            other => out.push(other),
        }
    }
    Err("a quote is not closed".into())
}

/// The character that an escape stands for, from behind the backslash, and what follows it.
fn escaped(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    let c = match chars.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        c @ ('\\' | '"' | '\'') => c,
        'u' => {
            let (digits, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
            return Some((char::from_u32(hex(digits)?)?, after));
        }
        _ => return None,
    };
    Some((c, chars.as_str()))
}

/// The first character, for messages.
fn start(text: &str) -> &str {
    &text[..text.chars().next().map_or(0, char::len_utf8)]
}

/// A word as it is if it is read back so, else in quotes.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

/// Decimal digits and nothing else.
pub(super) fn decimal(digits: &str) -> Option<u32> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Hexadecimal digits and nothing else.
pub(super) fn hex(digits: &str) -> Option<u32> {
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// A word that has to be a number.
pub(super) fn number(word: &Word<'_>) -> Parsed<u32> {
    let what = || format!("`{}` is no number from 0 to {}", word.text, u32::MAX);
    word.bare().and_then(decimal).ok_or_else(what)
}

//! A position in the text, and the tokens that can stand there.
//!
//! Every method skips white space and comments first. `peek_*` and a failed `eat` leave the position alone.

use super::ParseError;
use crate::print::{is_word_char, is_word_start};

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.at = self.rest().find('\n').map_or(self.text.len(), |end| self.at + end);
        }
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    /// An error at the next token.
    pub(super) fn expected(&mut self, what: impl Into<String>) -> ParseError {
        self.skip_space();
        self.expected_here(what)
    }

    /// An error at this very character.
    pub(super) fn expected_here(&self, what: impl Into<String>) -> ParseError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let found = match self.rest().chars().next() {
            None => "the end of the text".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(c) if is_word_start(c) || c.is_ascii_digit() => {
                let word: String = self.rest().chars().take_while(|c| is_word_char(*c)).take(40).collect();
                format!("`{word}`")
            }
            Some(c) => format!("`{c}`"),
        };
        ParseError {
            line: 1 + before.matches('\n').count() as u32,
            column: 1 + before[line_start..].chars().count() as u32,
            expected: what.into(),
            found,
        }
    }

    /// Take this punctuation if it is next.
    pub(super) fn eat(&mut self, punct: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(punct);
        if found {
            self.at += punct.len();
        }
        found
    }

    /// Take this punctuation, which must be next.
    pub(super) fn punct(&mut self, punct: &str) -> Result<(), ParseError> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(format!("`{punct}`"))) }
    }

    /// The bare word that is next.
    pub(super) fn peek_word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        if !rest.starts_with(is_word_start) {
            return None;
        }
        Some(&rest[..rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())])
    }

    /// Take the bare word that is next.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.at += word.len();
        Some(word)
    }

    /// Take this word, which must be next.
    pub(super) fn keyword(&mut self, keyword: &str) -> Result<(), ParseError> {
        if self.peek_word() == Some(keyword) {
            self.at += keyword.len();
            Ok(())
        } else {
            Err(self.expected(format!("`{keyword}`")))
        }
    }

    /// Take a bare or quoted name.
    pub(super) fn name(&mut self) -> Result<String, ParseError> {
        match self.word() {
            Some(word) => Ok(word.to_owned()),
            None if self.rest().starts_with('"') => self.string(),
            None => Err(self.expected("a name")),
        }
    }

    /// Take a name and the `=` behind it, if both are next.
    pub(super) fn keyword_argument(&mut self) -> Option<String> {
        let start = self.position();
        let name = match self.word() {
            Some(word) => Some(word.to_owned()),
            None if self.rest().starts_with('"') => self.string().ok(),
            None => None,
        };
        let name = name.filter(|_| self.eat("="));
        if name.is_none() {
            self.at = start;
        }
        name
    }

    /// Take a quoted string.
    pub(super) fn string(&mut self) -> Result<String, ParseError> {
        self.punct("\"")?;
        self.quoted('"')
    }

    /// Take text with escapes up to and with `end`, on one line.
    pub(super) fn quoted(&mut self, end: char) -> Result<String, ParseError> {
        let mut out = String::new();
        loop {
            if matches!(self.rest().chars().next(), None | Some('\n')) {
                return Err(self.expected_here(format!("`{end}`")));
            }
            match self.bump() {
                Some(c) if c == end => return Ok(out),
                Some('\\') => out.push(self.escape()?),
                Some(c) => out.push(c),
                None => {}
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let start = self.at;
        let found = match self.bump() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some(c @ ('\\' | '"' | '<' | '>')) => Some(c),
            Some('u') => self.unicode(),
            Some(_) | None => None,
        };
        found.ok_or_else(|| {
            self.at = start;
            self.expected_here("an escape (n, t, r, \\, \", <, > or u{..})")
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let digits = self.rest().strip_prefix('{')?;
        let digits = &digits[..digits.find('}')?];
        self.at += digits.len() + 2;
        if digits.starts_with('+') {
            return None;
        }
        u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Take the number that is next: a sign, then letters, digits, dots, and signs behind an `e`.
    pub(super) fn number(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        let mut before = ' ';
        let end = rest
            .find(|c: char| {
                let part = match c {
                    '-' | '+' => before == ' ' || before == 'e' || before == 'E',
                    c => c.is_ascii_alphanumeric() || c == '.',
                };
                before = c;
                !part
            })
            .unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    /// Go back to an earlier position (for errors).
    pub(super) fn position(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// See [`Cursor::position`].
    pub(super) fn back_to(&mut self, position: usize) {
        self.at = position;
    }
}

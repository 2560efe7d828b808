//! Read the text form back. The grammar is that of [`print`](crate::print).
//!
//! The parser checks form only; [`verify`](crate::verify()) checks meaning. An error names the line and column (both
//! from 1, columns count characters) and what was expected there. Operands nest at most [`MAX_DEPTH`] deep, so that
//! no text can exhaust the stack.
//!
//! ```
//! let error = sot_sir::parse("StatementIR: SIR_0\n  inputs: [var_0, x]\n").unwrap_err();
//! assert_eq!(error.to_string(), "2:19: expected a symbol (var_N), found `x`");
//! ```

mod cursor;
mod operand;
mod statement;

use crate::{Module, Sir, Symbol};
use cursor::Cursor;
use std::str::FromStr;

/// How deep operands may nest in a text.
pub const MAX_DEPTH: usize = 128;

/// Where a text stopped making sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: expected {expected}, found {found}")]
pub struct ParseError {
    pub line: u32,
    pub column: u32,
    pub expected: String,
    pub found: String,
}

/// The same as [`parse_module`].
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse_module(text)
}

/// Read a module: any number of SIRs.
pub fn parse_module(text: &str) -> Result<Module, ParseError> {
    let mut cursor = Cursor::new(text);
    let mut module = Module::default();
    while !cursor.at_end() {
        module.sirs.push(sir(&mut cursor)?);
    }
    Ok(module)
}

/// Read exactly one SIR.
pub fn parse_sir(text: &str) -> Result<Sir, ParseError> {
    let mut cursor = Cursor::new(text);
    let sir = sir(&mut cursor)?;
    if cursor.at_end() { Ok(sir) } else { Err(cursor.expected("a statement or the end of the text")) }
}

fn sir(c: &mut Cursor<'_>) -> Result<Sir, ParseError> {
    c.keyword("StatementIR")?;
    c.punct(":")?;
    let mut sir = Sir::new(c.name()?);
    c.keyword("inputs")?;
    c.punct(":")?;
    sir.inputs = symbols(c)?;
    c.keyword("outputs")?;
    c.punct(":")?;
    sir.outputs = symbols(c)?;
    c.keyword("statements")?;
    c.punct(":")?;
    while let Some(kind) = statement::kind(c) {
        sir.statements.push(statement::statement(c, kind)?);
    }
    if c.at_end() || c.peek_word() == Some("StatementIR") {
        Ok(sir)
    } else {
        Err(c.expected("a statement (api, method, layer, sir) or the next StatementIR"))
    }
}

fn symbols(c: &mut Cursor<'_>) -> Result<Vec<Symbol>, ParseError> {
    c.punct("[")?;
    let mut out = Vec::new();
    while !c.eat("]") {
        match c.peek_word().and_then(|w| numbered(w, "var_")) {
            Some(number) => out.push(Symbol(number)),
            None => return Err(c.expected("a symbol (var_N)")),
        }
        c.word();
        if !c.eat(",") {
            c.punct("]")?;
            break;
        }
    }
    Ok(out)
}

/// The number of a word like `var_3`.
fn numbered(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}

impl FromStr for Module {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Module, ParseError> {
        parse_module(text)
    }
}

impl FromStr for Sir {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Sir, ParseError> {
        parse_sir(text)
    }
}

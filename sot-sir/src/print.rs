//! The text form. Exact: [`parse`](crate::parse()) gives back an equal value.
//!
//! ```text
//! module    := sir*                              a blank line between them
//! sir       := "StatementIR:" name
//!              "inputs:" "[" symbol,* "]"
//!              "outputs:" "[" symbol,* "]"
//!              "statements:" statement*
//! statement := ("api" | "method" | "layer" | "sir") "||" operand "=" name callee? "(" argument,* ")"
//! callee    := "@" "obj_N"                       of a layer: `layer_N` as the first argument instead
//! argument  := operand | name "=" operand
//! operand   := "var_N" | "obj_N" "<" label ">" | literal
//!            | "()" | "(" operand ",)" | "(" operand, operand,+ ")" | "[" operand,* "]"
//!            | "{" (operand ":" operand),* "}" | "slice(" operand "," operand "," operand ")"
//! literal   := "None" | "True" | "False" | "..." | integer | float | string
//! float     := shortest decimal that reads back, always with "." or "e" | "inf" | "-inf" | "nan" | "nan(0xBITS)"
//! string    := in double quotes; `"`, `\` and control characters are escaped (`\n`, `\t`, `\r`, `\u{7}`)
//! label     := as in a string, but `<` and `>` are escaped and `"` is not
//! name      := letters, digits, `_` and `.`, not starting with a digit or `.`; any other name is a string
//! ```
//!
//! One statement is one line. The printer uses four spaces and pads the kind; the parser takes any white space, and
//! `#` starts a comment.

use crate::{Literal, Module, Operand, Sir, Statement, StatementKind};
use std::fmt::{self, Formatter, Write};

/// The bits that print as plain `nan`.
pub(crate) const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// Whether a name needs no quotes.
pub(crate) fn is_bare(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(is_word_start) && chars.all(is_word_char)
}

pub(crate) fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_bare(self.0) { f.write_str(self.0) } else { quoted(f, self.0) }
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    text.chars().try_for_each(|c| escaped(f, c, &['"']))?;
    f.write_char('"')
}

fn escaped(f: &mut Formatter<'_>, c: char, special: &[char]) -> fmt::Result {
    match c {
        '\n' => f.write_str("\\n"),
        '\t' => f.write_str("\\t"),
        '\r' => f.write_str("\\r"),
        '\\' => f.write_str("\\\\"),
        c if special.contains(&c) => write!(f, "\\{c}"),
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => write!(f, "\\u{{{:x}}}", u32::from(c)),
        c => f.write_char(c),
    }
}

/// Items with `, ` between them.
fn listed<T: fmt::Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Int(v) => write!(f, "{v}"),
            Literal::Float(v) if v.to_bits() == NAN_BITS => f.write_str("nan"),
            Literal::Float(v) if v.is_nan() => write!(f, "nan({:#x})", v.to_bits()),
            Literal::Float(v) => write!(f, "{v:?}"),
            Literal::Str(v) => quoted(f, v),
            Literal::Ellipsis => f.write_str("..."),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Symbol(symbol) => write!(f, "{symbol}"),
            Operand::Literal(literal) => write!(f, "{literal}"),
            Operand::Object { object, label } => {
                write!(f, "{object}<")?;
                label.chars().try_for_each(|c| escaped(f, c, &['<', '>']))?;
                f.write_char('>')
            }
            Operand::Tuple(items) => {
                f.write_char('(')?;
                listed(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Operand::List(items) => {
                f.write_char('[')?;
                listed(f, items)?;
                f.write_char(']')
            }
            Operand::Dict(items) => {
                f.write_char('{')?;
                for (index, (key, value)) in items.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if index > 0 { ", " } else { "" })?;
                }
                f.write_char('}')
            }
            Operand::Slice(parts) => {
                f.write_str("slice(")?;
                listed(f, parts.iter())?;
                f.write_char(')')
            }
        }
    }
}

impl fmt::Display for StatementKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:<6} || {} = {}", self.kind, self.result, Name(&self.name))?;
        let mut arguments: Vec<String> = Vec::with_capacity(1 + self.args.len() + self.kwargs.len());
        match (self.kind, self.callee) {
            (_, None) => {}
            (StatementKind::Layer, Some(layer)) => arguments.push(format!("layer_{}", layer.0)),
            (StatementKind::Api | StatementKind::Method | StatementKind::Sir, Some(object)) => write!(f, " @{object}")?,
        }
        arguments.extend(self.args.iter().map(Operand::to_string));
        arguments.extend(self.kwargs.iter().map(|(name, value)| format!("{}={value}", Name(name))));
        write!(f, " ({})", arguments.join(", "))
    }
}

impl fmt::Display for Sir {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "StatementIR: {}", Name(&self.name))?;
        for (what, symbols) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            write!(f, "  {what}: [")?;
            listed(f, symbols)?;
            f.write_str("]\n")?;
        }
        f.write_str("  statements:\n")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "    {statement}"))
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, sir) in self.sirs.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{sir}")?;
        }
        Ok(())
    }
}

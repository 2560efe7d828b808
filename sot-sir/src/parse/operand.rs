//! Operands and literals.

use super::cursor::Cursor;
use super::{MAX_DEPTH, ParseError, numbered};
use crate::print::NAN_BITS;
use crate::{Literal, ObjectRef, Operand, Symbol};

const WHAT: &str = "an operand (var_N, obj_N<label>, literal, tuple, list, dict, slice)";

pub(super) fn operand(c: &mut Cursor<'_>, depth: usize) -> Result<Operand, ParseError> {
    if depth >= MAX_DEPTH {
        return Err(c.expected(format!("operands nested at most {MAX_DEPTH} deep")));
    }
    let start = c.position();
    if c.eat("...") {
        return Ok(Literal::Ellipsis.into());
    }
    if c.eat("(") {
        return tuple(c, depth + 1);
    }
    if c.eat("[") {
        return Ok(Operand::List(items(c, "]", depth + 1)?));
    }
    if c.eat("{") {
        return dict(c, depth + 1);
    }
    if c.rest().starts_with('"') {
        return Ok(Literal::Str(c.string()?).into());
    }
    if c.rest().starts_with(|ch: char| ch.is_ascii_digit() || ch == '-') {
        return number(c, start);
    }
    let word = c.word().unwrap_or_default();
    let literal = match word {
        "None" => Literal::None,
        "True" => Literal::Bool(true),
        "False" => Literal::Bool(false),
        "inf" => Literal::Float(f64::INFINITY),
        "nan" => nan(c)?,
        "slice" => return slice(c, depth + 1),
        _ => {
            if let Some(number) = numbered(word, "var_") {
                return Ok(Symbol(number).into());
            }
            if let Some(number) = numbered(word, "obj_") {
                c.punct("<")?;
                return Ok(Operand::object(ObjectRef(number), c.quoted('>')?));
            }
            c.back_to(start);
            return Err(c.expected(WHAT));
        }
    };
    Ok(literal.into())
}

/// Items up to and with `end`; a comma may stand behind the last.
fn items(c: &mut Cursor<'_>, end: &str, depth: usize) -> Result<Vec<Operand>, ParseError> {
    let mut out = Vec::new();
    while !c.eat(end) {
        out.push(operand(c, depth)?);
        if !c.eat(",") {
            c.punct(end)?;
            break;
        }
    }
    Ok(out)
}

fn tuple(c: &mut Cursor<'_>, depth: usize) -> Result<Operand, ParseError> {
    if c.eat(")") {
        return Ok(Operand::Tuple(Vec::new()));
    }
    let mut out = vec![operand(c, depth)?];
    c.punct(",")?;
    out.extend(items(c, ")", depth)?);
    Ok(Operand::Tuple(out))
}

fn dict(c: &mut Cursor<'_>, depth: usize) -> Result<Operand, ParseError> {
    let mut out = Vec::new();
    while !c.eat("}") {
        let key = operand(c, depth)?;
        c.punct(":")?;
        out.push((key, operand(c, depth)?));
        if !c.eat(",") {
            c.punct("}")?;
            break;
        }
    }
    Ok(Operand::Dict(out))
}

fn slice(c: &mut Cursor<'_>, depth: usize) -> Result<Operand, ParseError> {
    c.punct("(")?;
    let start = operand(c, depth)?;
    c.punct(",")?;
    let stop = operand(c, depth)?;
    c.punct(",")?;
    let step = operand(c, depth)?;
    c.punct(")")?;
    Ok(Operand::slice(start, stop, step))
}

fn number(c: &mut Cursor<'_>, start: usize) -> Result<Operand, ParseError> {
    let text = c.number().unwrap_or_default();
    let literal = if text == "-inf" {
        Some(Literal::Float(f64::NEG_INFINITY))
    } else if text.contains(['.', 'e', 'E']) {
        // "-infinity" and the like also parse as f64, but contain letters that no decimal has.
        text.parse().ok().filter(|v: &f64| v.is_finite()).map(Literal::Float)
    } else {
        text.parse().ok().map(Literal::Int)
    };
    literal.map(Operand::Literal).ok_or_else(|| {
        c.back_to(start);
        c.expected("a 64-bit integer or a float")
    })
}

fn nan(c: &mut Cursor<'_>) -> Result<Literal, ParseError> {
    if !c.eat("(") {
        return Ok(Literal::Float(f64::from_bits(NAN_BITS)));
    }
    let start = c.position();
    let bits = c.number().and_then(|t| u64::from_str_radix(t.strip_prefix("0x")?, 16).ok());
    match bits.map(f64::from_bits).filter(|v| v.is_nan()) {
        Some(value) => {
            c.punct(")")?;
            Ok(Literal::Float(value))
        }
        None => {
            c.back_to(start);
            Err(c.expected("the bits of a NaN (0x..)"))
        }
    }
}

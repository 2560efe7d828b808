//! One statement.

use super::cursor::Cursor;
use super::operand::operand;
use super::{ParseError, numbered};
use crate::{ObjectRef, Statement, StatementKind};

/// Take the word that opens a statement, if it is next.
pub(super) fn kind(c: &mut Cursor<'_>) -> Option<StatementKind> {
    let word = c.peek_word()?;
    let kind = StatementKind::ALL.into_iter().find(|k| k.as_str() == word)?;
    c.word();
    Some(kind)
}

/// Take the rest of a statement.
pub(super) fn statement(c: &mut Cursor<'_>, kind: StatementKind) -> Result<Statement, ParseError> {
    c.punct("||")?;
    let result = operand(c, 0)?;
    c.punct("=")?;
    let mut statement = Statement::new(kind, c.name()?).result(result);
    if c.eat("@") {
        statement.callee = Some(at_callee(c, kind)?);
    }
    c.punct("(")?;
    let mut first = true;
    while !c.eat(")") {
        argument(c, &mut statement, first)?;
        first = false;
        if !c.eat(",") {
            c.punct(")")?;
            break;
        }
    }
    Ok(statement)
}

fn at_callee(c: &mut Cursor<'_>, kind: StatementKind) -> Result<ObjectRef, ParseError> {
    let object = c.peek_word().and_then(|w| numbered(w, "obj_"));
    match (kind, object) {
        (StatementKind::Api | StatementKind::Method | StatementKind::Sir, Some(object)) => {
            c.word();
            Ok(ObjectRef(object))
        }
        (StatementKind::Layer, _) => Err(c.expected("a layer as the first argument (layer_N)")),
        (_, None) => Err(c.expected("a callee (obj_N)")),
    }
}

fn argument(c: &mut Cursor<'_>, statement: &mut Statement, first: bool) -> Result<(), ParseError> {
    let start = c.position();
    if let Some(name) = c.keyword_argument() {
        statement.kwargs.push((name, operand(c, 0)?));
        return Ok(());
    }
    if first
        && statement.kind == StatementKind::Layer
        && let Some(layer) = c.peek_word().and_then(|w| numbered(w, "layer_"))
    {
        c.word();
        statement.callee = Some(ObjectRef(layer));
        return Ok(());
    }
    if !statement.kwargs.is_empty() {
        c.back_to(start);
        return Err(c.expected("a keyword argument (name=operand)"));
    }
    statement.args.push(operand(c, 0)?);
    Ok(())
}

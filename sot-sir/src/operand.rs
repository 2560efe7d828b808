//! What a statement is given and what it gives back: symbols, constants, and containers of them.
//!
//! The same type serves as an *argument* (symbols are uses) and as a *result pattern* (symbols are
//! definitions, everything else says what stands there besides).

use crate::{Literal, ObjectRef, Symbol};

/// A structure of symbols and constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Symbol(Symbol),
    Literal(Literal),
    /// A constant object; the label is for readers (`paddle.float32`) and part of the text.
    Object {
        object: ObjectRef,
        label: String,
    },
    Tuple(Vec<Operand>),
    List(Vec<Operand>),
    /// In insertion order.
    Dict(Vec<(Operand, Operand)>),
    /// start, stop, step.
    Slice(Box<[Operand; 3]>),
}

impl Operand {
    /// The literal `None`.
    pub const NONE: Operand = Operand::Literal(Literal::None);

    /// A constant object with its label.
    pub fn object(object: ObjectRef, label: impl Into<String>) -> Operand {
        Operand::Object { object, label: label.into() }
    }

    /// A slice.
    pub fn slice(start: Operand, stop: Operand, step: Operand) -> Operand {
        Operand::Slice(Box::new([start, stop, step]))
    }

    /// Visit this operand and all that it contains, from left to right, containers before their content.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Operand)) {
        visit(self);
        match self {
            Operand::Symbol(_) | Operand::Literal(_) | Operand::Object { .. } => {}
            Operand::Tuple(items) | Operand::List(items) => items.iter().for_each(|o| o.walk(visit)),
            Operand::Dict(items) => {
                for (key, value) in items {
                    key.walk(visit);
                    value.walk(visit);
                }
            }
            Operand::Slice(parts) => parts.iter().for_each(|o| o.walk(visit)),
        }
    }

    /// Visit all symbols, from left to right, repeated ones as often as they stand there.
    pub fn for_each_symbol(&self, visit: &mut dyn FnMut(Symbol)) {
        self.walk(&mut |o| {
            if let Operand::Symbol(s) = o {
                visit(*s);
            }
        });
    }

    /// All symbols, from left to right.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut out = Vec::new();
        self.for_each_symbol(&mut |s| out.push(s));
        out
    }

    /// Replace each symbol in place.
    pub fn rename_symbols(&mut self, rename: &mut dyn FnMut(Symbol) -> Symbol) {
        match self {
            Operand::Symbol(s) => *s = rename(*s),
            Operand::Literal(_) | Operand::Object { .. } => {}
            Operand::Tuple(items) | Operand::List(items) => {
                items.iter_mut().for_each(|o| o.rename_symbols(rename));
            }
            Operand::Dict(items) => {
                for (key, value) in items {
                    key.rename_symbols(rename);
                    value.rename_symbols(rename);
                }
            }
            Operand::Slice(parts) => parts.iter_mut().for_each(|o| o.rename_symbols(rename)),
        }
    }
}

impl From<Symbol> for Operand {
    fn from(s: Symbol) -> Operand {
        Operand::Symbol(s)
    }
}

impl<T: Into<Literal>> From<T> for Operand {
    fn from(v: T) -> Operand {
        Operand::Literal(v.into())
    }
}

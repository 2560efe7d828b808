//! Constants that have an exact text: `None`, booleans, 64-bit integers, floats, strings, `...`.
//!
//! Equality is that of the text, not Python's: floats compare by bits (`nan` equals itself, `0.0` is not
//! `-0.0`), and `1`, `1.0` and `True` are three literals. What does not fit (a larger integer, a complex
//! number, bytes, a string with lone surrogates) is an [`Operand::Object`](crate::Operand::Object).

use std::hash::{Hash, Hasher};

/// A constant with an exact text.
#[derive(Clone, Debug)]
pub enum Literal {
    None,
    Bool(bool),
    Int(i64),
    /// Compared and hashed by bits.
    Float(f64),
    Str(String),
    Ellipsis,
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::None, Literal::None) | (Literal::Ellipsis, Literal::Ellipsis) => true,
            (Literal::Bool(a), Literal::Bool(b)) => a == b,
            (Literal::Int(a), Literal::Int(b)) => a == b,
            (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits(),
            (Literal::Str(a), Literal::Str(b)) => a == b,
            (
                Literal::None
                | Literal::Bool(..)
                | Literal::Int(..)
                | Literal::Float(..)
                | Literal::Str(..)
                | Literal::Ellipsis,
                _,
            ) => false,
        }
    }
}

impl Eq for Literal {}

impl Hash for Literal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Literal::None | Literal::Ellipsis => {}
            Literal::Bool(v) => v.hash(state),
            Literal::Int(v) => v.hash(state),
            Literal::Float(v) => v.to_bits().hash(state),
            Literal::Str(v) => v.hash(state),
        }
    }
}

impl From<bool> for Literal {
    fn from(v: bool) -> Literal {
        Literal::Bool(v)
    }
}

impl From<i64> for Literal {
    fn from(v: i64) -> Literal {
        Literal::Int(v)
    }
}

impl From<f64> for Literal {
    fn from(v: f64) -> Literal {
        Literal::Float(v)
    }
}

impl From<&str> for Literal {
    fn from(v: &str) -> Literal {
        Literal::Str(v.to_owned())
    }
}

impl From<String> for Literal {
    fn from(v: String) -> Literal {
        Literal::Str(v)
    }
}

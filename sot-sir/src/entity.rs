//! Typed u32 ids: a symbol of a SIR, and an object of the translator's table.
//!
//! Both are `Copy`, ordered by number and stable to print. Symbols know only "same" and "not the same".

use std::fmt;

/// A value inside one SIR. Prints `var_N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// An object in a table that the translator owns (a layer, a function, a constant that is no literal).
///
/// Prints `layer_N` as the callee of a layer statement and `obj_N` everywhere else: one number space, two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef(pub u32);

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "var_{}", self.0)
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "obj_{}", self.0)
    }
}

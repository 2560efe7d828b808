//! Guards over a toy object model: sharing, order, simplification and text.

mod eval;
mod order;
mod properties;
mod simplify;
mod table;
mod text;
mod toy;

//! The journal against a toy heap: lookups, rollback and text.

mod lookup;
mod properties;
mod toy;

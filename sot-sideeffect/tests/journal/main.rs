//! The journal against a toy heap: lookups, rollback, plans and text.

mod lookup;
mod plan;
mod properties;
mod toy;

//! The journal of mutations that a captured function makes: in program order, the order in which they are replayed.
//!
//! During a capture nothing is changed. Each mutation is [recorded](Journal::record) instead, later reads ask the
//! journal first ([`Overlay`]), and speculation is undone by [`Journal::rollback_to`]. Once the graph has run, the entries
//! are what is to be done to the real objects.
//!
//! ```
//! use sot_sideeffect::{Journal, Mutation, Overlay, VarRef};
//!
//! let file = "model.py".into();
//! let (net, one, two) = (VarRef(0), VarRef(1), VarRef(2));
//! let mut journal = Journal::new();
//! journal.record(Mutation::SetAttr { object: net, name: "steps".into(), value: one }, &file, 7);
//!
//! let mark = journal.mark();
//! journal.record(Mutation::SetAttr { object: net, name: "steps".into(), value: two }, &file, 8);
//! assert_eq!(journal.attr(net, "steps"), Overlay::Set(two));
//! journal.rollback_to(mark); // the call on line 8 turned out not to be capturable
//!
//! assert_eq!(journal.attr(net, "steps"), Overlay::Set(one));
//! assert_eq!(journal.to_string(), "v0.steps = v1  # model.py:7\n");
//! ```
//!
//! What may be relied on
//! - Versions and lookups after a rollback are those at the mark.
//! - Nothing depends on hash order.
//!
//! What the caller promises: one object is one [`VarRef`] (two that may alias are guarded to differ, or to be the same
//! and then share a `VarRef`).
//!
//! What is absent: items. Containers are versioned as a whole ([`Slot::Content`]); what `d[k]` finds after `d[j] = v`
//! depends on keys being equal, which only the translator's own model of the container can tell.
#![forbid(unsafe_code)]

pub mod journal;
pub mod mutation;
pub mod overlay;
pub mod slot;

pub use journal::{Entry, Journal, Mark};
pub use mutation::Mutation;
pub use overlay::Overlay;
pub use slot::{Slot, Target, VarRef};

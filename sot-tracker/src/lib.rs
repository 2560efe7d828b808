//! Where a captured value came from, and what must still hold for the capture to be reused.
//!
//! A [`Tracker`] is one step of a path from the frame to a value; a [`TrackerTable`] interns them, so that equal
//! paths have equal [`TrackerId`]s. A [`Guard`] is a [`Check`] at the end of a path, a [`GuardSet`] keeps them in
//! order without repetition and can [`simplify`](GuardSet::simplify) itself, a [`GuardTree`] shares the prefixes
//! of their paths and orders the work: cheapest and most likely to fail first.
//!
//! This crate knows no Python: objects are [`ObjectId`]s of a table that the translator owns, and whoever can
//! follow one [`Access`] and answer one [`Check`] implements [`World`].
//!
//! ```
//! use sot_tracker::{Access, Check, Guard, GuardSet, GuardTree, Names, ObjectId, Tracker, TrackerTable};
//!
//! struct Plain;
//! impl Names for Plain {
//!     fn slot(&self, slot: u32) -> String { format!("locals[\"{}\"]", ["x", "y"][slot as usize]) }
//!     fn object(&self, object: ObjectId) -> String { ["int", "3"][object.0 as usize].to_owned() }
//! }
//!
//! let mut paths = TrackerTable::new();
//! let x = paths.slot(0);
//! let bias = paths.step(x, Access::Attr("bias".to_owned()));
//! let mut guards = GuardSet::new();
//! guards.add(Guard::new(bias, Check::Equals(ObjectId(1))));
//! guards.add(Guard::new(x, Check::TypeIs(ObjectId(0))));
//! assert_eq!(guards.display(&paths, &Plain).to_string(), "\
//! locals[\"x\"].bias == 3
//! type(locals[\"x\"]) is int
//! ");
//! let tree = GuardTree::compile(&guards, &paths).unwrap();
//! assert_eq!(tree.display(&paths, &Plain).to_string(), "\
//! n0 = locals[\"x\"]
//! type(n0) is int
//! n1 = n0.bias
//! n1 == 3
//! ");
//! ```
//!
//! What may be relied on
//! - Text, order of nodes and order of steps depend on the order of insertion alone, never on hashing.
//! - Running a tree's schedule gives the verdict of evaluating every guard by itself.
//! - Before a step goes *into* a value, every check on that value itself has passed ([`tree`]).
//!
//! What is absent: evaluation of user code, types, any notion of time. A guard speaks of the state at a call.
#![forbid(unsafe_code)]

pub mod access;
pub mod arithmetic;
pub mod check;
pub mod cost;
pub mod eval;
pub mod guard;
pub mod id;
pub mod names;
pub mod node;
pub mod schedule;
pub mod set;
pub mod simplify;
pub mod table;
pub mod tracker;
pub mod tree;

pub use access::{Access, FunctionPart};
pub use arithmetic::Arithmetic;
pub use check::Check;
pub use eval::{Accessed, Miss, World};
pub use guard::{Guard, Origin};
pub use id::{NodeId, ObjectId, TrackerId};
pub use names::Names;
pub use node::{Node, NodeCheck};
pub use schedule::Step;
pub use set::GuardSet;
pub use simplify::{Known, NothingKnown};
pub use table::TrackerTable;
pub use tracker::Tracker;
pub use tree::{GuardTree, Unreachable};

//! The PaddlePaddle backend: what Paddle's objects are, and how a PIR program grows while opcodes are simulated.
//!
//! Map (each module's doc is its contract):
//! - what objects are: [`classify`], [`api_table`], [`layers`], [`fold`], [`attr`];
//! - what is guarded: [`meta`], [`tensor_check`], [`ambient`]; what captured code may change of the latter: [`modes`], [`amp`],
//!   [`default_dtype`];
//! - building: [`static_mode`] (enter and leave), [`builder`], [`inspect`], [`alias`],
//!   [`number_parameters`], [`parameters_made`], [`leaves`];
//! - closing a graph: [`prune`], [`exact`], [`not_run`], [`program`];
//! - running it: [`run_program`];
//! - what differs between releases of Paddle: [`releases`];
//! - `probe`: the backend as Python sees it, for tests (with the feature `test-hooks`).
//!
//! **Invariant:** no unsafe code; the raw look at a tensor goes through `sot_core::cpython::cxx_tensor`.
//! **Invariant:** user state is never written: whatever Paddle operation would, is refused with a `BuildError`.
#![forbid(unsafe_code)]

mod acting;
mod alias;
mod ambient;
mod amp;
mod amp_accessors;
mod api_table;
mod arguments;
mod attr;
mod backend;
mod builder;
mod classify;
mod compare;
mod control;
mod default_dtype;
mod effects;
mod exact;
mod executors;
mod extents;
mod flowing;
mod fold;
mod gradients;
mod grown;
mod handles;
mod hooks;
mod inert;
mod inspect;
pub mod install;
mod layers;
mod lazy;
mod leaves;
mod meta;
mod modes;
mod names;
mod not_run;
mod number_parameters;
mod parameters_made;
#[cfg(feature = "test-hooks")]
pub mod probe;
mod program;
mod prune;
mod quiet;
mod recipe;
mod releases;
mod run_program;
mod static_mode;
mod tensor_check;
mod written;

pub use backend::PaddleBackend;
pub use lazy::LazyPaddle;

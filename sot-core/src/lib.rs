//! The symbolic opcode translator, for any tensor framework.
//!
//! The [`guide`] shows how; in short: implement [`backend::Backend`] for the framework, and call [`python::register`] in a `#[pymodule]`: the module
//! then has `to_static`, `explain`, `stats`, `set_eval_frame` and the rest. The parts, in the order in which a call
//! meets them: [`cpython`] (the door to the interpreter), [`serve`] (caches and the driver), [`capture`],
//! [`executor`] over [`variables`], [`captured`] (what it found out), [`rewrite`], [`guards`], [`graph_fn`].
//!
//! Invariants: no framework is named here; no code outside [`cpython`] is unsafe; nothing the translator does raises
//! into the user's program.

/// The pyo3 that this crate speaks: what a backend is given and gives are its types, so it has to be this one. It is the newest release
/// that covers CPython 3.8. A `#[pyclass]` or `#[pymodule]` of a crate that has no pyo3 of its own says `crate = "sot_core::pyo3"`.
pub use pyo3;

pub mod advice;
mod answered;
pub mod awaits;
#[warn(missing_docs)]
pub mod backend;
mod caches;
pub mod called_by_code;
pub mod capture;
pub mod capture_all;
pub mod captured;
mod clocks;
pub mod code_unit;
pub mod control;
#[expect(unsafe_code, reason = "the one door to CPython: all unsafe code of the project is in this module")]
pub mod cpython;
mod draws;
pub mod engine;
pub mod executor;
pub mod frame;
pub mod graph_fn;
mod graph_trial;
mod groups;
pub mod guards;
#[doc = include_str!("guide.md")]
pub mod guide {}
mod heard;
pub mod iterators;
pub mod libraries;
mod locks;
pub mod log;
pub mod marks;
pub mod natives;
mod numbers;
pub mod numpy;
pub mod objects;
mod objects_of_c;
mod occupants;
mod onlookers;
mod per_thread;
mod process;
pub mod python;
pub mod replaced;
mod replay;
pub mod report;
mod report_page;
pub mod rewrite;
pub mod serve;
pub mod settings;
pub mod shapes;
#[doc(hidden)]
#[cfg(feature = "test-hooks")]
pub mod simulated;
pub mod stats;
pub mod stop;
pub mod type_facts;
mod unheard;
pub mod user_frames;
pub mod variables;
mod varying;
mod watch;
mod weak_keys;

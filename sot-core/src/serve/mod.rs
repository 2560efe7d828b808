//! From a call to the code that serves it.
//!
//! Two doors lead here. An *entry* ([`FunctionEntry`], made by `to_static`) passes bound arguments; the *hook*
//! ([`NestedHook`]) passes frames that are called from code that was not captured. Both look into the cache of the code
//! (`lookup`, [`cache`]); a hit runs rewritten code, a miss captures. The `driver` runs what rewritten code asks to go on
//! with ([`continuation`]), in a loop. Whether serving a capture pays is found out by [`trial`]; whether capturing does, by [`policy`].
//!
//! Invariant: nothing the translator does raises into the user's program. A failed capture, a panic or a failing graph means
//! that the original code runs.

#[doc(hidden)]
#[cfg(feature = "test-hooks")]
pub mod blinded;
mod by_code;
pub mod cache;
pub mod continuation;
mod driver;
mod ending;
mod entry;
mod function;
mod go_on;
mod half_done;
mod hook;
mod layer_copies;
mod logged;
mod lookup;
pub mod misses;
mod origin;
mod orphans;
pub mod policy;
pub mod recording;
pub mod registry;
mod resting;
mod resume_point;
mod share;
pub mod trial;
pub mod unwind;
mod verified;
mod warned;
mod watched;
pub mod weight;

pub use ending::prepare as prepare_for_the_end;
pub use entry::{FunctionEntry, MAKER, MAKER_IN_LAYERS, Options};
pub use hook::{Hook, NestedHook, process_hook};
pub use layer_copies::copy_as_layers;
pub use lookup::inside_capture;
pub use origin::call_original;

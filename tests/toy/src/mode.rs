//! The state of the framework that operations depend on without being given it: per thread, as frameworks have it.
//!
//! Whatever is here and changes the meaning of an operation must be in the answer of `Backend::ambient`, or a graph
//! that was captured in one mode would be served in another.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the random stream stands, for the whole process.
static RANDOM: AtomicU64 = AtomicU64::new(1);

/// The next number of the stream, in `0..1`.
pub(crate) fn draw() -> f64 {
    let step = |z: u64| Some(z.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f));
    let drawn = RANDOM.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).unwrap_or_default();
    (drawn >> 11) as f64 / (1_u64 << 53) as f64
}

pub(crate) fn random_state() -> u64 {
    RANDOM.load(Ordering::Relaxed)
}

pub(crate) fn seed(state: u64) {
    RANDOM.store(state, Ordering::Relaxed);
}

thread_local! {
    /// Whether results of operations on tensors that require gradients require them too.
    static GRAD: Cell<bool> = const { Cell::new(true) };
    /// In this mode every operation must run by itself, at once: nothing can be captured.
    static DEBUG: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn grad() -> bool {
    GRAD.get()
}

pub(crate) fn set_grad(on: bool) -> bool {
    GRAD.replace(on)
}

pub(crate) fn debug() -> bool {
    DEBUG.get()
}

pub(crate) fn set_debug(on: bool) -> bool {
    DEBUG.replace(on)
}

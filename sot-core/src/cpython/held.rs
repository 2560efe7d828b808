//! Arguments that are held only until the callee can no longer fail back to the original code.
//!
//! Rewritten code of a continuation gets values that nobody but the driver owns. If its graph fails, the original code
//! needs them again; as soon as the graph has run they belong to the frame alone, which drops them when eager would.
//! So the caller does not own them while the call runs: this thread's table does, and whoever knows that the point of
//! no return is passed says so by [`release`].
//!
//! A call is named by a *mark* (the address of the graph, or of the code that runs). The newest call with the mark is
//! meant: a graph is called at once when its code starts, so that no other call of the same graph lies between.

use super::capi;
use super::slots::OwnedSlots;
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Names one call, until it is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// For those who keep numbers.
    pub fn number(self) -> u64 {
        self.0
    }

    pub fn of_number(number: u64) -> Ticket {
        Ticket(number)
    }
}

/// What is held for one call.
pub struct Held {
    ticket: Ticket,
    mark: usize,
    /// The function to call if the graph fails, where that is not known otherwise.
    pub function: Option<Py<PyAny>>,
    /// What the call was made for, for its end.
    pub owner: Option<Arc<dyn Any + Send + Sync>>,
    /// `None`: released.
    pub values: Option<OwnedSlots>,
}

thread_local! {
    static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

/// Hold values for a call with this mark.
pub fn hold(
    values: OwnedSlots,
    mark: usize,
    function: Option<Py<PyAny>>,
    owner: Option<Arc<dyn Any + Send + Sync>>,
) -> Ticket {
    let ticket = Ticket(NEXT.replace(NEXT.get() + 1));
    HELD.with_borrow_mut(|held| held.push(Held { ticket, mark, function, owner, values: Some(values) }));
    ticket
}

/// The newest call with this mark no longer needs what is held for it.
pub fn release(mark: usize) {
    release_where(|held| held.mark == mark);
}

/// The newest call of all no longer needs what is held for it: said first of all by code that cannot fail.
pub fn release_newest() {
    release_where(|_| true);
}

fn release_where(wanted: impl Fn(&Held) -> bool) {
    let released = HELD.with_borrow_mut(|held| held.iter_mut().rev().find(|h| wanted(h))?.values.take());
    // Finalizers may run, and come back here.
    drop(released);
}

/// The call is over: what is still held for it.
pub fn take_back(ticket: Ticket) -> Held {
    let found = HELD.with_borrow_mut(|held| {
        let at = held.iter().rposition(|h| h.ticket == ticket)?;
        Some(held.remove(at))
    });
    found.unwrap_or(Held { ticket, mark: 0, function: None, owner: None, values: None })
}

/// Call a Python function with the values that are held under a ticket.
pub fn call_held<'py>(py: Python<'py>, function: &Bound<'py, PyAny>, ticket: Ticket) -> PyResult<Bound<'py, PyAny>> {
    let unbound = || PySystemError::new_err("sot: an unbound slot was passed as an argument");
    // SAFETY: a type check reads the object only.
    if unsafe { pyo3::ffi::PyFunction_Check(function.as_ptr()) } == 0 {
        return Err(PySystemError::new_err("sot: only a Python function takes its arguments over"));
    }
    // An array of its own: up to 3.10 making the frame may start the collector, whose finalizers may come back here and let the
    // table of what is held grow, before the arguments are copied.
    let arguments: Option<SmallVec<[*mut pyo3::ffi::PyObject; 8]>> = HELD.with_borrow(|held| {
        let values = held.iter().rev().find(|h| h.ticket == ticket)?.values.as_ref()?;
        values.as_slots().iter(py).map(|value| value.map(|value| value.as_ptr())).collect()
    });
    let arguments = arguments.ok_or_else(unbound)?;
    // SAFETY: what is held under the ticket is let go of by the code of this very call at the earliest, and a Python function has
    // references of its own to its arguments, copied from the array, when that runs.
    unsafe {
        let result = capi::vectorcall(function.as_ptr(), arguments.as_ptr(), arguments.len(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, result)
    }
}

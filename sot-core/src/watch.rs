//! Who looks after a run whose operations act on more than memory ([`Acts`](crate::backend::Acts)).
//!
//! Such an operation changes what the framework keeps, which the capture may have read. Whoever serves a call of such a graph leaves a
//! [`Watch`] for it, which the run asks behind each whether all is as it was. Where it is not, the run ends there. So it does before an operation
//! that would call functions of the program: these may change what they like, and are to find what the program has done by then.

use pyo3::prelude::*;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How far a run came that is not to be repeated.
pub struct Progress {
    /// The number of the statement at which it ended.
    pub at: usize,
    /// The values of symbols, by number.
    pub values: Vec<Option<Py<PyAny>>>,
    pub ended: Ended,
    /// With what the program goes on, if that is known.
    pub(crate) rest: Option<Rest>,
}

/// How a run has ended at a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its operation has raised an error.
    Failed,
    /// It is none of the run's: it would call functions of the program.
    Before,
    /// The one before it has changed what the program had read, or has given something else than the program was told.
    Behind,
}

/// With what a program goes on: known to whoever serves the call.
pub(crate) type Rest = Box<dyn Any>;

/// Looks after one call.
pub(crate) trait Watch {
    /// An operation is about to act: what the capture has read is taken down, if it is not yet.
    fn begins(&self, py: Python<'_>);
    /// Whether it is as it was.
    fn is_as_it_was(&self, py: Python<'_>) -> bool;
    /// With what the program goes on behind an operation, from what is found now. `None`: it cannot.
    fn goes_on(&self, py: Python<'_>, progress: &Progress) -> Option<Rest>;
    /// An operation would call functions of the program: the call is to be captured with breaks.
    fn gives_way(&self);
}

/// A call that is watched.
struct Call {
    number: u64,
    /// Of its graph.
    mark: usize,
    watch: Rc<dyn Watch>,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

/// The next call of the graph with this mark is watched, until its run ends or [`end`] is told the number.
pub(crate) fn begin(mark: usize, watch: Rc<dyn Watch>) -> u64 {
    let number = NEXT.replace(NEXT.get() + 1);
    CALLS.with_borrow_mut(|calls| calls.push(Call { number, mark, watch }));
    number
}

/// The call is over.
pub(crate) fn end(number: u64) {
    end_where(|call| call.number == number);
}

/// The run of the newest call of the graph with this mark is over.
pub(crate) fn end_run(mark: usize) {
    end_where(|call| call.mark == mark);
}

fn end_where(wanted: impl Fn(&Call) -> bool) {
    let ended = CALLS.with_borrow_mut(|calls| {
        let at = calls.iter().rposition(&wanted)?;
        Some(calls.remove(at))
    });
    // What it has held may die here.
    drop(ended);
}

/// Who watches the newest call of the graph with this mark.
pub(crate) fn of(mark: usize) -> Option<Rc<dyn Watch>> {
    CALLS.with_borrow(|calls| calls.iter().rev().find(|call| call.mark == mark).map(|call| call.watch.clone()))
}

//! Who looks after a run whose operations act on more than memory ([`Acts`]).
//!
//! Such an operation may change what the capture has read: the framework changes what it keeps, and a hook of the program changes what it
//! likes. Whoever serves a call of such a graph leaves a [`Watch`] for it. Behind each such operation the run asks it whether all is as
//! it was. Where it is not, the run ends, and the program goes on behind the operation, with what it had read before.
//!
//! What it had read is to be found before it is changed. So while an operation may call functions of the program, frames are looked at:
//! before the first one that is the program's own runs, everything is made with which the program would go on. (A function of C that is
//! a hook is not seen. There the same is made behind it, from what is found then.)

use crate::backend::Acts;
use crate::cpython::{Decision, FrameHook, FrameView, Misfit, Token, active_hook, with_hook};
use crate::libraries;
use crate::replay::Progress;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Looks after one call.
pub(crate) trait Watch {
    /// An operation is about to act: what the capture has read is taken down, if it is not yet.
    fn begins(&self, py: Python<'_>);
    /// Whether it is as it was.
    fn is_as_it_was(&self, py: Python<'_>) -> bool;
    /// The request by which the program goes on behind an operation, from what is found now.
    fn goes_on(&self, py: Python<'_>, progress: Progress) -> Option<Py<PyAny>>;
    /// An operation has called a function of the program.
    fn has_called_out(&self);
}

/// A call that is watched.
struct Call {
    number: u64,
    /// Of its graph.
    mark: usize,
    watch: Rc<dyn Watch>,
}

/// An operation that may call functions of the program.
struct UnderWay {
    watch: Rc<dyn Watch>,
    /// Where the program would go on; `None`: a function of the program has been called.
    progress: Option<Progress>,
    request: Option<Py<PyAny>>,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(1) };
    static UNDER_WAY: RefCell<Vec<UnderWay>> = const { RefCell::new(Vec::new()) };
}

/// The next call of the graph with this mark is watched, until [`end`] is told the number.
pub(crate) fn begin(mark: usize, watch: Rc<dyn Watch>) -> u64 {
    let number = NEXT.replace(NEXT.get() + 1);
    CALLS.with_borrow_mut(|calls| calls.push(Call { number, mark, watch }));
    number
}

/// The call is over.
pub(crate) fn end(number: u64) {
    let ended = CALLS.with_borrow_mut(|calls| {
        let at = calls.iter().rposition(|call| call.number == number)?;
        Some(calls.remove(at))
    });
    drop(ended);
}

/// Who watches the newest call of the graph with this mark.
pub(crate) fn of(mark: usize) -> Option<Rc<dyn Watch>> {
    CALLS.with_borrow(|calls| calls.iter().rev().find(|call| call.mark == mark).map(|call| call.watch.clone()))
}

/// Run an operation that acts like this. `progress`: where the program would go on behind it.
///
/// Given is also by which request it would, if that had to be found out.
pub(crate) fn during<R>(
    py: Python<'_>,
    watch: &Rc<dyn Watch>,
    acts: Acts,
    progress: impl FnOnce() -> Progress,
    run: impl FnOnce() -> R,
) -> (R, Option<Py<PyAny>>) {
    watch.begins(py);
    if acts < Acts::OnAnything {
        return (run(), None);
    }
    let under_way = UnderWay { watch: watch.clone(), progress: Some(progress()), request: None };
    UNDER_WAY.with_borrow_mut(|all| all.push(under_way));
    let observer = Arc::new(Observer { below: active_hook() });
    let mut run = Some(run);
    let mut once = || run.take().map(|run| run());
    let ran = match with_hook(py, observer, &mut once) {
        Ok(ran) => ran,
        // Nothing can be looked at on this interpreter.
        Err(_) => once(),
    };
    let request = UNDER_WAY.with_borrow_mut(Vec::pop).and_then(|over| over.request);
    (ran.expect("it runs once"), request)
}

/// Looks at frames while an operation is under way, for the hook that there was before.
struct Observer {
    below: Option<Arc<dyn FrameHook>>,
}

impl FrameHook for Observer {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &FrameView<'_, 'py>) -> Decision {
        if libraries::of_program(py, &frame.code(), &frame.globals()) {
            let asked = UNDER_WAY.with_borrow_mut(|all| {
                let newest = all.last_mut()?;
                Some((newest.watch.clone(), newest.progress.take()?))
            });
            if let Some((watch, progress)) = asked {
                watch.has_called_out();
                let request = watch.goes_on(py, progress);
                let old = UNDER_WAY.with_borrow_mut(|all| {
                    all.last_mut().and_then(|newest| std::mem::replace(&mut newest.request, request))
                });
                drop(old);
            }
        }
        match &self.below {
            Some(below) => below.on_frame(py, frame),
            None => Decision::Run { keep_hook: true },
        }
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: Token,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.below {
            Some(below) => below.finish(py, token, result),
            None => result,
        }
    }

    fn refused(&self, py: Python<'_>, token: Option<Token>, why: Misfit) {
        if let Some(below) = &self.below {
            below.refused(py, token, why);
        }
    }

    fn python_callback(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.below.as_ref()?.python_callback(py)
    }
}

//! What is to be done when the collector of garbage begins, without an entry in `gc.callbacks`.
//!
//! The collector calls what stands in a list of its own, which `gc.callbacks` is. The program reads that list, and may empty it.
//! So the collector is given another one that nobody else knows: its one member calls what stands in the program's list as the
//! collector would, and then does what is asked here. Where the list is not found, there is an entry in the program's.

use std::any::Any;
use std::ffi::c_int;
use std::ptr;
use std::sync::{Arc, OnceLock};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCFunction, PyList};

use super::Slots;
use super::layout::COLLECTING_OFFSET;
use super::native::{NativeBody, new_native};

/// Part of the collector's state: whether it is at work, and its lists of what it could not collect and of what it calls.
#[repr(C)]
struct Lists {
    collecting: c_int,
    garbage: *mut ffi::PyObject,
    callbacks: *mut ffi::PyObject,
}

/// Where the collector has its lists, unless they are elsewhere than the headers say.
fn lists(py: Python<'_>) -> PyResult<Option<*mut Lists>> {
    let garbage = super::module(py, "gc")?.getattr(intern!(py, "garbage"))?;
    // SAFETY: the state of the interpreter is larger than the offset of one of its fields, and lives as long as the process. That
    // the first of the words is the list that it should be tells that the second one is its neighbour.
    unsafe {
        #[cfg(Py_3_9)]
        let state = (*super::thread::current(py)).interp.cast::<u8>();
        #[cfg(not(Py_3_9))]
        let state = (&raw mut super::capi::_PyRuntime).cast::<u8>();
        let lists = state.add(COLLECTING_OFFSET).cast::<Lists>();
        Ok(((*lists).garbage == garbage.as_ptr()).then_some(lists))
    }
}

/// Whether the collector is at work: what dies now may be part of what it takes apart.
pub fn is_collecting(py: Python<'_>) -> bool {
    // SAFETY: the lists are part of the interpreter's state.
    lists(py).ok().flatten().is_some_and(|lists| unsafe { (*lists).collecting != 0 })
}

/// Call what the program wants to be called, as the collector does.
fn call_all(callbacks: &Bound<'_, PyList>, phase: &Bound<'_, PyAny>, info: &Bound<'_, PyAny>) {
    let mut at = 0;
    // They may change the list. Its length is asked, as an error of our own would be made by a call: where there are as many frames as
    // the interpreter allows, there is room for none.
    while at < callbacks.len() {
        let Ok(callback) = callbacks.get_item(at) else { return };
        at += 1;
        if let Err(error) = callback.call1((phase, info)) {
            error.write_unraisable(callbacks.py(), Some(&callback));
        }
    }
}

/// What the collector calls. It is called without a count of the frames that are open, which a callable of another type has: where
/// there are as many as the interpreter allows, a collection must not raise.
struct Hears {
    /// The list that the collector had before: the program's own, or that of another translator in this process.
    theirs: Arc<OnceLock<Py<PyList>>>,
    run: fn(Python<'_>, u32),
}

impl NativeBody for Hears {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        if let (Some(phase), Some(info)) = (args.get(py, 0), args.get(py, 1)) {
            if let Some(theirs) = self.theirs.get() {
                call_all(theirs.bind(py), &phase, &info);
            }
            heard(&phase, &info, self.run)?;
        }
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "collections"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if let Some(theirs) = self.theirs.get() {
            visit(theirs.as_any());
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn heard(phase: &Bound<'_, PyAny>, info: &Bound<'_, PyAny>, run: fn(Python<'_>, u32)) -> PyResult<()> {
    if phase.extract::<&str>()? == "start" {
        run(phase.py(), info.get_item(intern!(phase.py(), "generation"))?.extract()?);
    }
    Ok(())
}

/// From now on, `run` is called with the generation whenever a collection begins, when the program's own callbacks have been.
/// `false`: not now, as the collector is going through its list.
pub fn at_collections(py: Python<'_>, run: fn(Python<'_>, u32)) -> PyResult<bool> {
    let Some(lists) = lists(py)? else {
        let callback = PyCFunction::new_closure(py, None, None, move |args, _| {
            heard(&args.get_item(0)?, &args.get_item(1)?, run)
        })?;
        let callbacks = super::module(py, "gc")?.getattr(intern!(py, "callbacks"))?;
        return callbacks.call_method1(intern!(py, "append"), (callback,)).map(|_| true);
    };
    // Making these may collect garbage, and so run anything: even another translator that asks the same.
    let theirs = Arc::new(OnceLock::new());
    let callback = new_native(py, Box::new(Hears { theirs: theirs.clone(), run }))?;
    let only = PyList::new(py, [&callback])?;
    // SAFETY: the collector holds a list, or none yet; the reference to it is moved, and one to another list put in its place.
    // From here on no object is made, so that no collection begins and nothing of the program runs.
    unsafe {
        if (*lists).collecting != 0 {
            return Ok(false);
        }
        let Some(before) = Bound::from_borrowed_ptr_or_opt(py, (*lists).callbacks) else { return Ok(false) };
        let Ok(before) = before.cast_into_exact::<PyList>() else { return Ok(false) };
        // Nobody finds them among the collector's objects.
        ffi::PyObject_GC_UnTrack(callback.as_ptr().cast());
        ffi::PyObject_GC_UnTrack(only.as_ptr().cast());
        let _ = theirs.set(before.unbind());
        let old = ptr::replace(&raw mut (*lists).callbacks, only.into_ptr());
        // The callable has it.
        drop(Bound::from_owned_ptr(py, old));
    }
    Ok(true)
}

//! Signal handlers of the user's program, kept out of the middle of a capture.
//!
//! CPython runs a Python-level handler in the main thread, wherever bytecode happens to be executing: while capturing
//! that is the framework's own code, in a state in which nothing of the user's may run or raise. [`deferring`] puts a
//! handler of ours in the place of each for the time of a capture. It only notes the signal; the simulator asks
//! [`interrupted`] between instructions and gives the capture up. Then the handlers are put back and the signals are
//! raised again, so that the interpreter runs the handlers in the next frame that it executes: the user's.
//!
//! Only the main thread of the main interpreter runs handlers; elsewhere `deferring` does nothing. What the C library
//! holds of a handler (its flags and mask) is put back as it was.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyException, PyMemoryError, PyRecursionError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyAnyMethods, PyDict, PyModule};
use std::any::Any;

use super::native::{NativeBody, new_native};
use super::slots::Slots;
use super::thread;

/// Signals are numbered from 1 to here.
const LAST: c_int = 64;

/// Handlers of the main thread are deferred just now.
static DEFERRING: AtomicBool = AtomicBool::new(false);
/// Signals that arrived meanwhile: bit `number - 1`.
static NOTED: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn _PyOS_IsMainThread() -> c_int;
    fn sigaction(number: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    #[cfg(not(Py_3_10))]
    fn raise(number: c_int) -> c_int;
}

/// `struct sigaction`, as a place to keep one: larger than any platform's.
#[repr(C, align(16))]
struct Action([u8; 256]);

/// Notes a signal, in the place of the user's handler.
struct Note;

impl NativeBody for Note {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(number) = args.get(py, 0).and_then(|n| n.extract::<c_int>().ok())
            && (1..=LAST).contains(&number)
        {
            NOTED.fetch_or(1 << (number - 1), Ordering::Relaxed);
        }
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "deferred_signal"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The C functions behind `signal`, without its enums.
fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || crate::cpython::module(py, "_signal").map(Bound::unbind))?;
    Ok(module.bind(py).clone())
}

fn note(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static NOTE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let note = NOTE.get_or_try_init(py, || new_native(py, Box::new(Note)))?;
    Ok(note.bind(py).clone())
}

/// All Python-level handlers, by number.
fn handlers(py: Python<'_>) -> PyResult<Vec<(c_int, Bound<'_, PyAny>)>> {
    let getsignal = module(py)?.getattr("getsignal")?;
    let mut found = Vec::new();
    for number in 1..=LAST {
        match getsignal.call1((number,)) {
            Ok(handler) if handler.is_callable() => found.push((number, handler)),
            // SIG_DFL, SIG_IGN, and handlers that are not Python's.
            Ok(_) => {}
            // A number that this system does not have.
            Err(error) if error.is_instance_of::<PyValueError>(py) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

struct Replaced {
    number: c_int,
    handler: Py<PyAny>,
    action: Action,
}

/// Puts the handlers back, also when unwinding.
struct Deferral<'py> {
    py: Python<'py>,
    replaced: Vec<Replaced>,
    functions: Option<Functions<'py>>,
}

/// What the end needs, which may come when there is no memory.
struct Functions<'py> {
    set: Bound<'py, PyAny>,
    set_wakeup: Bound<'py, PyAny>,
    quietly: Bound<'py, PyDict>,
}

impl<'py> Functions<'py> {
    fn find(py: Python<'py>) -> PyResult<Functions<'py>> {
        let module = module(py)?;
        let quietly = PyDict::new(py);
        quietly.set_item("warn_on_full_buffer", false)?;
        Ok(Functions { set: module.getattr("signal")?, set_wakeup: module.getattr("set_wakeup_fd")?, quietly })
    }
}

impl Deferral<'_> {
    fn begin(&mut self) -> PyResult<()> {
        let py = self.py;
        // What arrived before is handled by the interpreter, after the capture at the latest.
        let set = self.functions.insert(Functions::find(py)?).set.clone();
        let note = note(py)?;
        for (number, handler) in handlers(py)? {
            let mut action = Action([0; 256]);
            // SAFETY: the buffer is larger than the structure.
            let kept = unsafe { sigaction(number, std::ptr::null(), (&raw mut action).cast()) } == 0;
            if !kept {
                continue;
            }
            set.call1((number, &note))?;
            self.replaced.push(Replaced { number, handler: handler.unbind(), action });
        }
        Ok(())
    }

    fn end(&mut self) {
        let py = self.py;
        let Some(Functions { set, .. }) = &self.functions else { return };
        for Replaced { number, handler, action } in self.replaced.drain(..) {
            // Setting a handler runs others that are due: those that are back already may raise.
            for _ in 0..8 {
                match set.call1((number, &handler)) {
                    Ok(_) => break,
                    // What no handler has raised.
                    Err(error) if error.is_instance_of::<PyMemoryError>(py) && !raised_by_handler(py, &error) => {}
                    Err(error) => raise_soon(error),
                }
            }
            // SAFETY: as it was read from there; the C-level handler is the same for all Python-level ones.
            unsafe { sigaction(number, (&raw const action).cast(), std::ptr::null_mut()) };
        }
    }
}

impl Drop for Deferral<'_> {
    fn drop(&mut self) {
        let pending = PyErr::take(self.py);
        self.end();
        DEFERRING.store(false, Ordering::Relaxed);
        let noted = NOTED.swap(0, Ordering::Relaxed);
        if noted != 0 {
            raise_again(self.functions.as_ref(), noted);
        }
        if let Some(pending) = pending {
            pending.restore(self.py);
        }
    }
}

/// Runs `f` without Python-level signal handlers; those of signals that arrive meanwhile run after it, in the next frame
/// that the interpreter executes. `None`: `f` did not run, because a handler that was due raised, and the exception is raised
/// in that frame; or because there was no room for a call.
pub fn deferring<R>(py: Python<'_>, f: impl FnOnce() -> R) -> Option<R> {
    // SAFETY: reads two thread ids.
    if unsafe { _PyOS_IsMainThread() } == 0 || DEFERRING.swap(true, Ordering::Relaxed) {
        return Some(f());
    }
    let mut deferral = Deferral { py, replaced: Vec::new(), functions: None };
    // Handlers that are due run first, so that what is raised afterwards is not theirs.
    if let Err(error) = py.check_signals() {
        raise_soon(error);
        return None;
    }
    match thread::absorbing_recursion(py, || deferral.begin()) {
        Ok(()) => Some(f()),
        // So near to the limit nothing can be captured; the program's own call may still have room, or raises its own.
        Err(error) if error.is_instance_of::<PyRecursionError>(py) => None,
        // In the main thread of a subinterpreter nobody may set handlers, and none runs.
        Err(error) if error.is_instance_of::<PyValueError>(py) && deferral.replaced.is_empty() => Some(f()),
        Err(error) => {
            raise_soon(error);
            None
        }
    }
}

/// Whether a signal arrived since [`deferring`] began. To be asked often; `now`: look for new ones, too.
#[inline]
pub fn interrupted(py: Python<'_>, now: bool) -> bool {
    if now && DEFERRING.load(Ordering::Relaxed) {
        look(py);
    }
    NOTED.load(Ordering::Relaxed) != 0
}

#[cold]
fn look(py: Python<'_>) {
    // Runs our own handlers only, which do not raise.
    if let Err(error) = py.check_signals() {
        raise_soon(error);
    }
}

/// Lets the signals arrive once more, without telling the wakeup descriptor again.
#[cold]
fn raise_again(functions: Option<&Functions<'_>>, noted: u64) {
    let descriptor = functions.and_then(|f| f.set_wakeup.call1((-1,)).ok()).and_then(|d| d.extract::<i64>().ok());
    for number in 1..=LAST {
        if noted & (1 << (number - 1)) != 0 {
            // SAFETY: both may be called at any time; the handler of this signal is Python's.
            #[cfg(Py_3_10)]
            unsafe {
                pyo3::ffi::PyErr_SetInterruptEx(number)
            };
            #[cfg(not(Py_3_10))]
            unsafe {
                raise(number)
            };
        }
    }
    if let (Some(functions), Some(descriptor)) = (functions, descriptor)
        && descriptor != -1
    {
        let _ = functions.set_wakeup.call((descriptor,), Some(&functions.quietly));
    }
}

/// What handlers have raised that no frame has seen yet, oldest first.
static SOON: Mutex<Vec<PyErr>> = Mutex::new(Vec::new());

/// Whether there are any, so that nobody locks for none.
static WAITING: AtomicBool = AtomicBool::new(false);

fn raised_first() -> Option<PyErr> {
    if !WAITING.load(Ordering::Acquire) {
        return None;
    }
    let mut soon = SOON.lock().unwrap_or_else(PoisonError::into_inner);
    let first = (!soon.is_empty()).then(|| soon.remove(0));
    WAITING.store(!soon.is_empty(), Ordering::Release);
    first
}

/// Raises an exception in the frame that the interpreter executes next, or where [`due`] is asked before.
#[cold]
pub fn raise_soon(error: PyErr) {
    extern "C" fn raise_now(_: *mut c_void) -> c_int {
        let Some(error) = raised_first() else { return 0 };
        // SAFETY: the interpreter calls with the thread attached.
        error.restore(unsafe { Python::assume_attached() });
        -1
    }
    let mut soon = SOON.lock().unwrap_or_else(PoisonError::into_inner);
    soon.push(error);
    WAITING.store(true, Ordering::Release);
    drop(soon);
    // SAFETY: the function may be called at any time. If it is refused, 32 others are waiting, that raise this one, too.
    unsafe { pyo3::ffi::Py_AddPendingCall(Some(raise_now), std::ptr::null_mut()) };
}

/// Asks C for something that has no effect and runs no code of the program, where nobody hears of an error: `repr` and arithmetic
/// of long numbers look at signals, so that what a handler raises comes out of them. It is raised in the next frame then.
pub fn asking<T>(py: Python<'_>, ask: impl Fn() -> PyResult<T>) -> Option<T> {
    ask().or_else(|error| ask_again(py, error, &ask).ok_or(())).ok()
}

/// What does not fail again while no handler runs has failed by one.
#[cold]
fn ask_again<T>(py: Python<'_>, error: PyErr, ask: &dyn Fn() -> PyResult<T>) -> Option<T> {
    let again = deferring(py, ask).and_then(Result::ok);
    if again.is_some() || !error.is_instance_of::<PyException>(py) || raised_by_handler(py, &error) {
        raise_soon(error);
    }
    again
}

/// Handlers that are due run, and what they or earlier ones have raised is raised here.
pub fn due(py: Python<'_>) -> PyResult<()> {
    // SAFETY: reads two thread ids.
    if unsafe { _PyOS_IsMainThread() } == 0 {
        return Ok(());
    }
    if let Some(error) = raised_first() {
        return Err(error);
    }
    py.check_signals()
}

/// Whether an exception came out of a Python-level signal handler: one of its frames is that handler's.
#[cold]
pub fn raised_by_handler(py: Python<'_>, error: &PyErr) -> bool {
    let Ok(handlers) = handlers(py) else { return false };
    let code_of = |(_, handler): &(c_int, Bound<'_, PyAny>)| {
        let function = handler.getattr("__func__").unwrap_or_else(|_| handler.clone());
        function.getattr("__code__").ok().map(Bound::unbind)
    };
    let codes: Vec<_> = handlers.iter().filter_map(code_of).collect();
    let mut entry = error.traceback(py).map(Bound::into_any);
    while let Some(traceback) = entry {
        let code = traceback.getattr("tb_frame").and_then(|frame| frame.getattr("f_code"));
        if code.is_ok_and(|code| codes.iter().any(|c| c.is(&code))) {
            return true;
        }
        entry = traceback.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    false
}

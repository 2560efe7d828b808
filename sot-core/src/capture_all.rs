//! Capturing whole programs that others wrote: `python -m sot`, `SOT_CAPTURE_ALL=1`.
//!
//! When it is on, every function that the process calls is captured and rewritten, whether it meets a tensor or not:
//! in all threads that start from then on, in the standard library and in installed packages. What runs as it is:
//! generators and coroutines, the bodies of modules and classes, the framework's own code and that of the package that
//! holds the translator. So each program, each test suite becomes a test of the translator, with plain Python as the
//! judge. It makes nothing faster.
//!
//! One module captures a process, where several are built on this crate. What another one's `to_static` serves is that
//! one's business: it runs as if nobody captured the program around it.
//!
//! Read from the environment when the module is imported: `SOT_CAPTURE_ALL`, on unless empty or `0`. Of several modules
//! that are asked so, the first captures.

use crate::cpython::{FrameHook, copies, set_global};
use crate::engine::registries;
use crate::stop::{Reason, Why};
use hashbrown::HashMap;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

static ON: AtomicBool = AtomicBool::new(false);
/// The extension module's name, and so its package.
static MODULE: OnceLock<String> = OnceLock::new();

/// Gives the hook that captures every frame.
static HOOK: OnceLock<fn() -> Arc<dyn FrameHook>> = OnceLock::new();

fn hook() -> Arc<dyn FrameHook> {
    HOOK.get().expect("registered")()
}

static ENTERED: AtomicU64 = AtomicU64::new(0);
static REWRITTEN: AtomicU64 = AtomicU64::new(0);
static IN_GENERAL: AtomicU64 = AtomicU64::new(0);
static SKIPPED: AtomicU64 = AtomicU64::new(0);
static PLAIN: [AtomicU64; Reason::ALL.len()] = [const { AtomicU64::new(0) }; Reason::ALL.len()];

/// Whether everything is captured.
#[inline]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Whether what C code calls below rewritten code is captured, too. Not below an import: modules that are read are none of the
/// program's functions, and there are many of them.
pub fn follows_calls_of(code: &Bound<'_, PyCode>) -> bool {
    let imports = || {
        let file = code.getattr(pyo3::intern!(code.py(), "co_filename"));
        file.and_then(|file| file.call_method1("startswith", ("<frozen importlib",)))
            .and_then(|f| f.is_truthy())
            .unwrap_or(false)
    };
    on() && !imports()
}

/// Which of the functions are captured, to find the one that makes a difference.
struct Only {
    /// Numbered in the order in which the hook first meets them.
    first: u64,
    end: u64,
    /// What `name (file:line)` contains.
    part: String,
}

static ONLY: Mutex<Only> = Mutex::new(Only { first: 0, end: u64::MAX, part: String::new() });
static MET: AtomicU64 = AtomicU64::new(0);
static LAST_MET: Mutex<String> = Mutex::new(String::new());

/// The hook meets this code for the first time: whether it is one of those to capture.
pub fn wanted(code: &Bound<'_, PyCode>) -> bool {
    if !on() {
        return true;
    }
    let number = MET.fetch_add(1, Ordering::Relaxed);
    let Ok(only) = ONLY.lock() else { return true };
    if only.first == 0 && only.end == u64::MAX && only.part.is_empty() {
        return true;
    }
    let name = name_of(code);
    let wanted = (only.first..only.end).contains(&number) && name.contains(&only.part);
    if wanted && let Ok(mut last) = LAST_MET.lock() {
        *last = name;
    }
    wanted
}

/// What the hook did with a frame, for `_capture_counts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    Rewritten,
    /// Rewritten, by a capture that leaves to run time what varies.
    InGeneral,
    /// Code that is never captured.
    Skipped,
    Plain(Reason),
}

registries! {
    /// Functions that ran as they are, by reason and the address of their code, which the hook holds: name and frames.
    PLAIN_FUNCTIONS: HashMap<(Reason, usize), (String, u64)> = "functions that ran as plain Python";
    /// Defects of the translator that showed, each once: the oracle wants none.
    DEFECTS: Vec<String> = "defects";
}
/// Of these, so many are told.
const TOLD: usize = 12;

/// The hook has decided about a frame of this code.
pub fn note(served: Served, code: &Bound<'_, PyCode>) {
    if !on() {
        return;
    }
    if served != Served::Skipped {
        ENTERED.fetch_add(1, Ordering::Relaxed);
    }
    let counter = match served {
        Served::Rewritten => &REWRITTEN,
        Served::InGeneral => &IN_GENERAL,
        Served::Skipped => &SKIPPED,
        Served::Plain(reason) => &PLAIN[reason as usize],
    };
    counter.fetch_add(1, Ordering::Relaxed);
    if let Served::Plain(reason) = served {
        let key = (reason, code.as_ptr() as usize);
        let name = if PLAIN_FUNCTIONS.lock().contains_key(&key) { String::new() } else { name_of(code) };
        PLAIN_FUNCTIONS.lock().entry(key).or_insert((name, 0)).1 += 1;
    }
}

/// For people: `name (file:line)`.
fn name_of(code: &Bound<'_, PyCode>) -> String {
    let part = |name| code.getattr(name).and_then(|part| Ok(part.str()?.to_string())).unwrap_or_default();
    format!("{} ({}:{})", part("co_name"), part("co_filename"), part("co_firstlineno"))
}

const DEFECTS_KEPT: usize = 50;

/// A capture or an attempt at one has failed.
pub fn failed(why: &Why) {
    if !on() || why.reason != Reason::InternalError {
        return;
    }
    let mut defects = DEFECTS.lock();
    if defects.len() < DEFECTS_KEPT && !defects.contains(&why.detail) {
        defects.push(why.detail.clone());
    }
}

/// Add the functions that `python -m sot` is made of, and do what the environment asks for. `hook`: gives the one that
/// captures every frame.
pub fn register(module: &Bound<'_, PyModule>, hook: fn() -> Arc<dyn FrameHook>) -> PyResult<()> {
    let _ = HOOK.set(hook);
    let _ = MODULE.set(module.name()?.to_string());
    module.add_function(wrap_pyfunction!(_capture_all, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_counts, module)?)?;
    if std::env::var_os("SOT_CAPTURE_ALL").is_some_and(|value| !value.is_empty() && value != "0") {
        // Where another module captures the program, it is captured.
        if copies::begin_program().is_ok() {
            start(module.py())?;
        }
    }
    Ok(())
}

/// _capture_all(on, first=0, end=None, part="")
/// --
///
/// Capture everything from now on, in this thread and in those that it starts; or no longer. Of the functions only
/// those numbered `first` to `end` in the order in which they are first called, and whose `name (file:line)` contains
/// `part`.
#[pyfunction]
#[pyo3(signature = (on, first=0, end=None, part=String::new()))]
fn _capture_all(py: Python<'_>, on: bool, first: u64, end: Option<u64>, part: String) -> PyResult<()> {
    if on {
        begin_program()?;
        if let Ok(mut only) = ONLY.lock() {
            *only = Only { first, end: end.unwrap_or(u64::MAX), part };
        }
        return start(py);
    }
    stop(py)
}

/// Capture nothing by itself any more.
pub fn stop(py: Python<'_>) -> PyResult<()> {
    ON.store(false, Ordering::Relaxed);
    copies::end_program();
    set_global(py, None).map(drop)
}

/// _capture_counts()
/// --
///
/// While everything was captured: frames that were entered, of these rewritten (and of those, by captures that leave to run time what
/// varies) and run as plain Python by reason; frames of
/// code that is never captured, not counted as entered; functions met, and the last one that was captured if not all are;
/// the functions that ran as plain Python most often, each with the reason; what went wrong inside the translator.
#[pyfunction]
fn _capture_counts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let counts = PyDict::new(py);
    counts.set_item("entered", ENTERED.load(Ordering::Relaxed))?;
    let in_general = IN_GENERAL.load(Ordering::Relaxed);
    counts.set_item("rewritten", REWRITTEN.load(Ordering::Relaxed) + in_general)?;
    counts.set_item("in_general", in_general)?;
    counts.set_item("skipped", SKIPPED.load(Ordering::Relaxed))?;
    counts.set_item("functions", MET.load(Ordering::Relaxed))?;
    counts.set_item("last", LAST_MET.lock().map(|last| last.clone()).unwrap_or_default())?;
    counts.set_item("defects", DEFECTS.lock().clone())?;
    let plain = PyDict::new(py);
    for reason in Reason::ALL {
        let count = PLAIN[*reason as usize].load(Ordering::Relaxed);
        if count > 0 {
            plain.set_item(reason.code(), count)?;
        }
    }
    counts.set_item("plain", plain)?;
    let mut functions: Vec<(u64, &str, String)> = PLAIN_FUNCTIONS
        .lock()
        .iter()
        .map(|((reason, _), (name, count))| (*count, reason.code(), name.clone()))
        .collect();
    functions.sort_by(|a, b| b.cmp(a));
    functions.truncate(TOLD);
    counts.set_item("plain_functions", functions)?;
    Ok(counts)
}

/// Be the one that captures the program.
fn begin_program() -> PyResult<()> {
    copies::begin_program().map_err(|other| {
        let this = MODULE.get().map_or("this module", String::as_str);
        PyRuntimeError::new_err(format!(
            "{this} cannot capture the whole program: {other} does so already, and only one module can at a time. What \
             {this} is asked for by to_static is served all the same. To capture the program with {this} instead, call \
             {other}._capture_all(False) first"
        ))
    })
}

/// It is ours to capture.
fn start(py: Python<'_>) -> PyResult<()> {
    static THREADS: OnceLock<()> = OnceLock::new();
    if THREADS.set(()).is_ok() {
        follow_threads(py)?;
    }
    ON.store(true, Ordering::Relaxed);
    set_global(py, Some(hook())).map(drop).inspect_err(|_| {
        ON.store(false, Ordering::Relaxed);
        copies::end_program();
    })
}

/// A thread has no hook when it starts: what `threading` starts a thread with installs ours first.
fn follow_threads(py: Python<'_>) -> PyResult<()> {
    let threading = crate::cpython::module(py, "threading")?;
    // The second is what 3.13 uses. Both take the function first.
    for name in ["_start_new_thread", "_start_joinable_thread"] {
        let Some(starter) = threading.getattr_opt(name)? else { continue };
        let starter = starter.unbind();
        let replaced = PyCFunction::new_closure(py, None, None, move |args, kwargs| -> PyResult<Py<PyAny>> {
            let py = args.py();
            let body = args.get_item(0)?.unbind();
            let hooked = PyCFunction::new_closure(py, None, None, move |args, kwargs| -> PyResult<Py<PyAny>> {
                let py = args.py();
                if on() {
                    set_global(py, Some(hook()))?;
                }
                let result = body.bind(py).call(args, kwargs).map(Bound::unbind);
                set_global(py, None)?;
                result
            })?;
            let rest = args.get_slice(1, args.len());
            let args = PyTuple::new(py, [hooked.into_any()])?.add(rest)?;
            Ok(starter.bind(py).call(args.cast::<PyTuple>()?, kwargs)?.unbind())
        })?;
        threading.setattr(name, replaced)?;
    }
    Ok(())
}

/// The package that the translator is in: its frames stay what they are.
fn own_path(py: Python<'_>) -> Option<String> {
    let name = MODULE.get()?;
    // A module without a package has no Python code of its own.
    let (package, _) = name.rsplit_once('.')?;
    let file: String = crate::cpython::facts::imported(py, package)?.getattr("__file__").ok()?.extract().ok()?;
    file.strip_suffix("__init__.py").map(str::to_owned)
}

/// Paths of code that is not captured when everything else is: the framework's and our own.
pub fn skip_paths(py: Python<'_>, framework: Vec<String>) -> Vec<String> {
    framework.into_iter().chain(own_path(py)).collect()
}

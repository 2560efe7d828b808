//! The dispatcher: from a call to the code that serves it.
//!
//! Two doors lead here. An *entry* ([`FunctionEntry`], made by `to_static`) passes bound arguments; the *hook*
//! ([`NestedHook`]) passes frames that are called from code that was not captured. Both look into the cache of the
//! code; a hit runs rewritten code, a miss captures. `drive` runs what rewritten code asks to go on with, in a
//! loop, so that a program with a hundred thousand breaks needs no deeper Python stack than one with none.
//!
//! Invariants
//! - Nothing the translator does raises into the user's program: a failed capture, a panic or a failing graph means
//!   that the original code runs.
//! - What the cache holds is served for ever; when it is full nothing is added.
//! - One thread captures at a time; the others meanwhile run the original code.

use crate::backend::Backend;
use crate::continuation::{self, Continuation, Pending, Site};
use crate::cpython::entry::EntryBody;
use crate::cpython::facts;
use crate::cpython::signature::Signature;
use crate::cpython::traceback::{add_traceback_entry, drop_traceback_head};
use crate::cpython::{
    Decision, FrameHook, FrameView, Misfit, OwnedSlots, Slots, call_slots, new_function, thread, trampoline, with_hook,
    without_hook,
};
use crate::graph_fn::take_failure;
use crate::guards::NativeGuards;
use crate::report::{self, EntryReport};
use crate::stats::STATS;
use crate::stop::{Reason, Why};
use crate::trial::{Server, Trial, Turn, Unguarded};
use hashbrown::HashMap;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Instant;

/// Entries of one cache.
const LIMIT: usize = 64;

static BACKEND: OnceLock<Arc<dyn Backend>> = OnceLock::new();

/// Set the process's backend. The first one stays.
pub fn set_backend(backend: Arc<dyn Backend>) -> bool {
    BACKEND.set(backend).is_ok()
}

pub fn backend() -> Option<&'static Arc<dyn Backend>> {
    BACKEND.get()
}

/// What a cache entry runs.
pub enum Action {
    /// Rewritten code, as a function of the slots. `frames`: the user's frames that it stands for when its break
    /// instruction runs, outermost first; empty if that is one frame, which its own entry in a traceback shows.
    Run { function: Py<PyAny>, code: Py<PyCode>, calls_out: bool, frames: Vec<Site> },
    /// The original code.
    Original { calls_out: bool },
}

/// Guards and what to run when they hold.
pub struct Entry {
    pub guards: NativeGuards,
    pub action: Action,
    pub report: EntryReport,
    pub hits: AtomicU64,
    /// Whether serving it pays.
    pub trial: Trial,
}

/// The entries of one code object, or of one continuation.
#[derive(Default)]
pub struct CodeCache {
    /// Replaced as a whole: guards are checked without a lock, because a check may let another thread run.
    entries: RwLock<Arc<Vec<Arc<Entry>>>>,
    /// Nothing is captured here any more, and why.
    closed: OnceLock<Why>,
    unguarded: Unguarded,
}

impl CodeCache {
    /// The entry whose guards hold.
    fn lookup(&self, py: Python<'_>, slots: Slots<'_>) -> Option<Arc<Entry>> {
        let entries = self.entries.read().ok()?.clone();
        let found = entries.iter().find(|e| e.guards.check(py, slots))?;
        found.hits.fetch_add(1, Ordering::Relaxed);
        Some(found.clone())
    }

    /// Every capture lost its trial.
    fn original_always_wins(&self) -> bool {
        let lost = |entry: &Arc<Entry>| entry.trial.verdict() == Some(Server::Original);
        self.entries.read().is_ok_and(|entries| entries.iter().all(lost))
    }

    fn add(&self, entry: Arc<Entry>) {
        self.unguarded.revoke();
        if let Ok(mut entries) = self.entries.write() {
            let entries = Arc::make_mut(&mut entries);
            entries.push(entry);
            if entries.len() >= LIMIT {
                let _ = self.closed.set(Why::new(Reason::CacheFull, format!("{LIMIT} entries")));
            }
        }
    }

    /// Visit what the entries hold, each reference once. What somebody else holds too is left out: it is alive anyway.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        let Ok(entries) = self.entries.try_read() else { return };
        for entry in entries.iter().filter(|e| Arc::strong_count(e) == 1) {
            if let Action::Run { function, code, .. } = &entry.action {
                visit(function);
                visit(code.as_any());
            }
            entry.guards.traverse(visit);
        }
    }

    pub fn clear(&self) {
        self.unguarded.revoke();
        let old = self.entries.write().map(|mut e| std::mem::take(&mut *e));
        drop(old);
    }
}

// ----- capture

static CAPTURING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This thread is inside a capture: whatever it calls is the framework's business.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a capture.
pub fn inside_capture() -> bool {
    INSIDE.get()
}

struct CaptureLock;

impl CaptureLock {
    fn take() -> Option<CaptureLock> {
        CAPTURING.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        INSIDE.set(true);
        Some(CaptureLock)
    }
}

impl Drop for CaptureLock {
    fn drop(&mut self) {
        INSIDE.set(false);
        CAPTURING.store(false, Ordering::Release);
    }
}

/// What is captured: a function's frame at its start, or a continuation.
pub enum Subject<'a, 'py> {
    Function { function: &'a Bound<'py, PyAny> },
    Continuation(&'a Arc<Continuation>),
}

/// The entry that serves these slots: from the cache, or captured now. `None`: run the original code.
fn entry_for(py: Python<'_>, cache: &CodeCache, subject: &Subject<'_, '_>, slots: Slots<'_>) -> Option<Arc<Entry>> {
    if let Subject::Function { function } = subject
        && let Some(closure) = facts::func_parts(function).and_then(|parts| parts.closure)
        && let Ok(closure) = closure.cast::<PyTuple>()
    {
        // The cells are slots behind the arguments.
        let mut all = slots.to_owned(py);
        closure.iter().for_each(|cell| all.push(Some(cell.unbind())));
        return entry_for_slots(py, cache, subject, all.as_slots());
    }
    entry_for_slots(py, cache, subject, slots)
}

fn entry_for_slots(
    py: Python<'_>,
    cache: &CodeCache,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Option<Arc<Entry>> {
    if let Some(entry) = cache.lookup(py, slots) {
        STATS.add(&STATS.hits);
        report::note(&entry);
        return Some(entry);
    }
    STATS.add(&STATS.misses);
    if let Some(why) = cache.closed.get() {
        report::note_refusal(why);
        return None;
    }
    let Some(lock) = CaptureLock::take() else {
        STATS.note(Reason::Busy);
        return None;
    };
    let backend = backend()?.clone();
    let captured = without_hook(py, || trampoline(|| crate::capture::capture(py, backend, subject, slots)));
    drop(lock);
    match captured {
        Ok(Some(entry)) => {
            let entry = Arc::new(entry);
            cache.add(entry.clone());
            report::note(&entry);
            Some(entry)
        }
        Ok(None) => None,
        Err(panic) => {
            STATS.add(&STATS.fallbacks);
            STATS.note(Reason::InternalError);
            let why = Why::new(Reason::InternalError, panic.message);
            report::note_refusal(&why);
            let _ = cache.closed.set(why);
            None
        }
    }
}

// ----- running

/// Who must run if the graph fails, or if nothing was captured.
enum Origin<'a, 'py> {
    Function { function: &'a Bound<'py, PyAny>, slots: Slots<'a> },
    Continuation(Pending),
}

impl<'py> Origin<'_, 'py> {
    /// As plain Python; frames below may be captured.
    fn run_original(&self, py: Python<'py>, calls_out: bool) -> PyResult<Bound<'py, PyAny>> {
        let run = || match self {
            Origin::Function { function, slots } => call_original(py, function, *slots),
            Origin::Continuation(pending) => pending.continuation.run_eager(py, pending.values.as_slots()),
        };
        if calls_out { hooked(py, run) } else { run() }
    }
}

fn hooked<'py>(py: Python<'py>, run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    with_hook(py, nested_hook(), run)?
}

fn run_entry<'py>(py: Python<'py>, entry: Option<&Entry>, origin: &Origin<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let Some(entry) = entry else { return origin.run_original(py, true) };
    match &entry.action {
        Action::Original { calls_out } => origin.run_original(py, *calls_out),
        Action::Run { function, calls_out, frames, .. } => {
            let function = function.bind(py);
            let slots = match origin {
                Origin::Function { slots, .. } => *slots,
                Origin::Continuation(pending) => pending.values.as_slots(),
            };
            let result = match calls_out {
                true => hooked(py, || call_slots(py, function, slots)),
                false => call_slots(py, function, slots),
            };
            match result {
                Err(_) if take_failure() => {
                    STATS.add(&STATS.graph_failures);
                    origin.run_original(py, true)
                }
                Err(error) if !frames.is_empty() => {
                    // The one real frame gives way to those that it stands for.
                    if drop_traceback_head(py, &error, 1).is_ok() {
                        add_frames(py, &error, frames.clone());
                    }
                    Err(error)
                }
                other => other,
            }
        }
    }
}

/// Put the user's frames in front of a traceback, outermost first.
pub fn add_frames(py: Python<'_>, error: &PyErr, frames: Vec<Site>) {
    for site in frames.iter().rev() {
        let code = site.unit.object.bind(py);
        // A traceback that lacks an entry is no reason to lose the exception.
        let _ = add_traceback_entry(py, error, code, None, site.line);
    }
}

/// Follow requests to go on until there is a result.
fn drive<'py>(py: Python<'py>, mut result: PyResult<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let sentinel = continuation::sentinel(py);
    loop {
        match result {
            Ok(value) if value.is(sentinel) => {
                let Some(pending) = continuation::take_pending() else { return Ok(value) };
                STATS.add(&STATS.continuations);
                let subject_owner = pending.continuation.clone();
                let subject = Subject::Continuation(&subject_owner);
                let entry = match thread::tracing_active(py) {
                    true => None,
                    false => entry_for(py, &subject_owner.cache, &subject, pending.values.as_slots()),
                };
                result = run_entry(py, entry.as_deref(), &Origin::Continuation(pending));
            }
            other => return other,
        }
    }
}

/// Call a function with its argument slots as its signature wants them.
pub fn call_original<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    slots: Slots<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let code = facts::func_parts(function).map(|parts| parts.code.to_owned());
    let code = code.ok_or_else(|| PyTypeError::new_err("sot: an entry holds something that is no function"))?;
    let Signature { positional: argcount, kwonly, varargs, varkw, .. } =
        Signature::of(&code).ok_or_else(|| PyTypeError::new_err("sot: a function without code"))?;
    if kwonly == 0 && !varargs && !varkw {
        return call_slots(py, function, slots.range(0, argcount));
    }
    let mut positional: Vec<Bound<'py, PyAny>> =
        (0..argcount).filter_map(|i| slots.get(py, i).map(|v| v.to_owned())).collect();
    let mut next = argcount + kwonly;
    if varargs {
        if let Some(extra) = slots.get(py, next) {
            positional.extend(extra.cast::<PyTuple>()?.iter());
        }
        next += 1;
    }
    let names = code.getattr("co_varnames")?;
    let kwargs = PyDict::new(py);
    for i in argcount..argcount + kwonly {
        if let Some(value) = slots.get(py, i) {
            kwargs.set_item(names.get_item(i)?, value)?;
        }
    }
    if varkw && let Some(extra) = slots.get(py, next) {
        kwargs.update(extra.cast::<PyDict>()?.as_mapping())?;
    }
    function.call(PyTuple::new(py, positional)?, Some(&kwargs))
}

/// The body of a `to_static` callable.
pub struct FunctionEntry {
    pub cache: Arc<CodeCache>,
    /// The code that the cache is of: a function that was given other code is served by that, as it is.
    pub code: Py<PyAny>,
    /// A break or fallback is an error for the user (`full_graph=True`).
    pub full_graph: bool,
}

impl EntryBody for FunctionEntry {
    fn enter<'py>(&self, py: Python<'py>, func: &Bound<'py, PyAny>, slots: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let same_code = facts::func_parts(func).is_some_and(|parts| parts.code.is(&self.code));
        if inside_capture() || !same_code {
            return call_original(py, func, slots);
        }
        if thread::tracing_active(py) {
            STATS.note(Reason::Tracing);
            return call_original(py, func, slots);
        }
        if !report::recording() && self.cache.unguarded.take() {
            STATS.add(&STATS.hits);
            STATS.add(&STATS.unguarded);
            return call_original(py, func, slots);
        }
        let entry = entry_for(py, &self.cache, &Subject::Function { function: func }, slots);
        if self.full_graph {
            report::require_full_graph(entry.as_deref())?;
        }
        let origin = Origin::Function { function: func, slots };
        let turn = match &entry {
            Some(entry) if matches!(entry.action, Action::Run { .. }) => entry.trial.turn(),
            _ => Turn { server: Server::Captured, timed: false },
        };
        let start = turn.timed.then(Instant::now);
        let result = match turn.server {
            Server::Captured => {
                let result = run_entry(py, entry.as_deref(), &origin);
                drive(py, result)
            }
            Server::Original => {
                // With `full_graph` each call must say whether its graph breaks.
                if !turn.timed && !self.full_graph && self.cache.original_always_wins() {
                    self.cache.unguarded.grant();
                }
                origin.run_original(py, false)
            }
        };
        if let (Some(start), Some(entry)) = (start, &entry) {
            entry.trial.record(turn.server, start.elapsed().as_nanos() as u64);
        }
        result
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.cache.traverse(visit);
    }

    fn clear(&self) {
        self.cache.clear();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

// ----- the hook

/// What is known of a code object that the hook met.
enum Known {
    /// Never captured: the framework's, rewritten, generated, or marked by the user.
    Skip,
    Caches(Vec<(Py<PyDict>, Arc<CodeCache>)>),
}

/// By address of the code object, which is kept alive so that the address means it. The caches are per globals too:
/// one code with other globals is another function.
type Codes = HashMap<usize, (Py<PyAny>, Known)>;

static CODES: Mutex<Option<Codes>> = Mutex::new(None);
// Python runs while it is made: a thread that waits for it must not hold the GIL.
static SKIP_PATHS: PyOnceLock<Vec<String>> = PyOnceLock::new();

/// The hook never captures frames of this code.
pub fn never_capture(code: &Bound<'_, PyCode>) {
    let mut codes = CODES.lock().expect("code table");
    codes.get_or_insert_default().insert(code.as_ptr() as usize, (code.clone().into_any().unbind(), Known::Skip));
}

fn skip_paths(py: Python<'_>) -> &'static [String] {
    SKIP_PATHS.get_or_init(py, || {
        let mut paths = backend().map(|b| b.skip_paths(py)).unwrap_or_default();
        let sysconfig = py.import("sysconfig").and_then(|m| m.call_method0("get_paths"));
        if let Ok(found) = sysconfig {
            for key in ["stdlib", "platstdlib", "purelib", "platlib"] {
                if let Ok(path) = found.get_item(key).and_then(|p| p.extract::<String>()) {
                    paths.push(path);
                }
            }
        }
        paths.push("<frozen".to_owned());
        paths.push("<string>".to_owned());
        paths
    })
}

fn cache_of(py: Python<'_>, code: &Bound<'_, PyCode>, globals: &Bound<'_, PyDict>) -> Option<Arc<CodeCache>> {
    let address = code.as_ptr() as usize;
    let known = CODES.lock().expect("code table").get_or_insert_default().contains_key(&address);
    if !known {
        let file: String = code.getattr("co_filename").and_then(|f| f.extract()).unwrap_or_default();
        let skip = skip_paths(py).iter().any(|p| file.starts_with(p.as_str()));
        let known = if skip { Known::Skip } else { Known::Caches(Vec::new()) };
        let mut codes = CODES.lock().expect("code table");
        codes.get_or_insert_default().insert(address, (code.clone().into_any().unbind(), known));
    }
    let mut codes = CODES.lock().expect("code table");
    match codes.get_or_insert_default().get_mut(&address) {
        Some((_, Known::Caches(caches))) => {
            if let Some((_, cache)) = caches.iter().find(|(of, _)| of.is(globals)) {
                return Some(cache.clone());
            }
            let cache = Arc::new(CodeCache::default());
            caches.push((globals.clone().unbind(), cache.clone()));
            Some(cache)
        }
        Some((_, Known::Skip)) | None => None,
    }
}

/// Frames that were replaced, and what must run should their graph fail.
type Replaced = HashMap<u64, (Py<PyAny>, OwnedSlots)>;

/// Captures frames that are called from code that was not captured.
pub struct NestedHook {
    replaced: Mutex<Replaced>,
    next: AtomicU64,
}

fn nested_hook() -> Arc<dyn FrameHook> {
    static HOOK: OnceLock<Arc<NestedHook>> = OnceLock::new();
    HOOK.get_or_init(|| Arc::new(NestedHook { replaced: Mutex::default(), next: AtomicU64::new(1) })).clone()
}

impl FrameHook for NestedHook {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &FrameView<'_, 'py>) -> Decision {
        let run = Decision::Run { keep_hook: true };
        if inside_capture() {
            return run;
        }
        let code = frame.code();
        let Some(cache) = cache_of(py, &code, &frame.globals()) else { return run };
        // Up to 3.10 a frame does not know its function: code, globals and cells make an equal one.
        let Some(function) = frame.function().or_else(|| function_of_frame(py, frame)) else { return run };
        if is_disabled(&function) || is_disabled(code.as_any()) {
            return Decision::Run { keep_hook: false };
        }
        let slots = frame.slots();
        let Some(entry) = entry_for(py, &cache, &Subject::Function { function: &function }, slots) else {
            return run;
        };
        match &entry.action {
            Action::Original { .. } => run,
            Action::Run { code, calls_out, .. } => {
                STATS.add(&STATS.frames);
                let token = self.next.fetch_add(1, Ordering::Relaxed);
                if let Ok(mut replaced) = self.replaced.lock() {
                    replaced.insert(token, (function.unbind(), slots.to_owned(py)));
                }
                Decision::Replace { code: code.clone_ref(py), keep_hook: *calls_out, token: Some(token) }
            }
        }
    }

    fn refused(&self, _py: Python<'_>, token: Option<u64>, _why: Misfit) {
        let kept = token.and_then(|token| self.replaced.lock().ok().and_then(|mut r| r.remove(&token)));
        drop(kept);
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: u64,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kept = self.replaced.lock().ok().and_then(|mut r| r.remove(&token));
        let result = match (result, kept) {
            (Err(_), Some((function, slots))) if take_failure() => {
                STATS.add(&STATS.graph_failures);
                call_original(py, function.bind(py), slots.as_slots())
            }
            (other, _) => other,
        };
        drive(py, result)
    }
}

/// A function that a frame could have been called through.
fn function_of_frame<'py>(py: Python<'py>, frame: &FrameView<'_, 'py>) -> Option<Bound<'py, PyAny>> {
    let code = frame.code();
    let free = code.getattr("co_freevars").and_then(|f| f.len()).ok()?;
    let cells: Vec<Bound<'py, PyAny>> = (0..free).map(|i| frame.closure_cell(i)).collect::<Option<_>>()?;
    let closure = (free > 0).then(|| PyTuple::new(py, cells)).transpose().ok()?;
    new_function(py, &code, &frame.globals(), None, closure.as_ref()).ok()
}

// ----- disable

static DISABLED: Mutex<Option<HashMap<usize, Py<PyAny>>>> = Mutex::new(None);

/// Never capture or inline this function.
pub fn disable(function: &Bound<'_, PyAny>) {
    let mut disabled = DISABLED.lock().expect("disabled functions");
    let disabled = disabled.get_or_insert_default();
    disabled.insert(function.as_ptr() as usize, function.clone().unbind());
    // Where only the code is at hand, it answers for the function.
    if let Some(parts) = facts::func_parts(function) {
        disabled.insert(parts.code.as_ptr() as usize, parts.code.to_owned().unbind());
    }
}

pub fn is_disabled(function: &Bound<'_, PyAny>) -> bool {
    DISABLED.lock().is_ok_and(|d| d.as_ref().is_some_and(|d| d.contains_key(&(function.as_ptr() as usize))))
}

/// Forget what the hook knows.
pub fn reset_codes() {
    let old = CODES.lock().expect("code table").take();
    drop(old);
}

/// A function object for rewritten code.
pub fn function_of<'py>(
    py: Python<'py>,
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyAny>,
    closure: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyAny>> {
    never_capture(code);
    new_function(py, code, globals.cast::<PyDict>()?, None, closure)
}

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
use crate::capture_all::{self, Served};
use crate::continuation::{self, Continuation, Pending};
use crate::cpython::entry::EntryBody;
use crate::cpython::facts;
use crate::cpython::signature::Signature;
use crate::cpython::{
    Decision, FrameHook, FrameView, Misfit, OwnedSlots, Slots, call_slots, gc, held, new_function, signals, thread,
    trampoline, with_hook, without_hook,
};
use crate::graph_fn::take_failure;
use crate::guards::NativeGuards;
use crate::registry;
use crate::report::{self, EntryReport};
use crate::stats::STATS;
use crate::stop::{Reason, Why};
use crate::trial::{self, Server, Trial, Turn, Unguarded};
use crate::user_frames::{self, Shown};
use hashbrown::HashMap;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};
use std::time::Instant;

/// Entries of one cache.
const LIMIT: usize = 64;

/// `to_static`, as the module has it.
pub static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

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
    /// Rewritten code, as a function of the slots. `shown`: the user's frames that it stands for in a traceback.
    Run { function: Py<PyAny>, code: Py<PyCode>, calls_out: bool, shown: Shown },
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

impl Entry {
    /// Names the calls of the rewritten code: by its graph, which says when it has run.
    fn mark(&self) -> usize {
        self.report.graph.as_ref().map_or(0, |graph| graph.as_ptr() as usize)
    }
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
            if let Action::Run { function, code, shown, .. } = &entry.action {
                gc::visit_owned_function(function, code, visit);
                shown.traverse(visit);
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
    // Nothing of the user's runs in the middle of a capture.
    let captured = signals::deferring(py, || {
        gc::without_collection(py, || {
            without_hook(py, || trampoline(|| crate::capture::capture(py, backend, subject, slots)))
        })
    });
    drop(lock);
    let Some(captured) = captured else {
        STATS.note(Reason::Interrupted);
        return None;
    };
    match captured {
        Ok(Some(entry)) => {
            entry.guards.verify_accepts(py, slots);
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
            capture_all::failed(&why);
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
    fn run_original(self, py: Python<'py>, hook: &Hook, calls_out: bool) -> PyResult<Bound<'py, PyAny>> {
        let run = || match self {
            Origin::Function { function, slots } => call_original(py, function, slots),
            Origin::Continuation(pending) => pending.continuation.run_eager(py, pending.values),
        };
        if calls_out { hooked(py, hook, run) } else { run() }
    }
}

fn hooked<'py>(
    py: Python<'py>,
    hook: &Hook,
    run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    with_hook(py, hook.clone(), run)?
}

fn run_entry<'py>(
    py: Python<'py>,
    hook: &Hook,
    entry: Option<&Entry>,
    origin: Origin<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(entry) = entry else { return origin.run_original(py, hook, true) };
    match &entry.action {
        Action::Original { calls_out } => origin.run_original(py, hook, *calls_out),
        Action::Run { function, code, calls_out, shown } => {
            let function = function.bind(py);
            let (result, origin) = match origin {
                Origin::Function { slots, .. } => {
                    let result = match calls_out {
                        true => hooked(py, hook, || call_slots(py, function, slots)),
                        false => call_slots(py, function, slots),
                    };
                    (result, Some(origin))
                }
                Origin::Continuation(Pending { continuation, values }) => {
                    // The frame owns the values alone once the graph has run.
                    let ticket = held::hold(values, entry.mark(), None, None);
                    let result = match calls_out {
                        true => hooked(py, hook, || held::call_held(py, function, ticket)),
                        false => held::call_held(py, function, ticket),
                    };
                    let values = held::take_back(ticket).values;
                    (result, values.map(|values| Origin::Continuation(Pending { continuation, values })))
                }
            };
            match (result, origin) {
                (Err(error), Some(origin)) if take_failure(py, &error) => {
                    STATS.add(&STATS.graph_failures);
                    origin.run_original(py, hook, true)
                }
                (Err(error), _) => {
                    user_frames::after_rewritten(py, &error, shown, code, function);
                    Err(error)
                }
                (result, _) => result,
            }
        }
    }
}

/// Follow requests to go on until there is a result.
fn drive<'py>(py: Python<'py>, hook: &Hook, mut result: PyResult<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    loop {
        let value = result?;
        let Some(pending) = continuation::requested(&value) else { return Ok(value) };
        let pending = pending?;
        drop(value);
        STATS.add(&STATS.continuations);
        let continuation = pending.continuation.clone();
        let subject = Subject::Continuation(&continuation);
        let entry = match thread::tracing_active(py) {
            true => None,
            false => entry_for(py, &continuation.cache, &subject, pending.values.as_slots()),
        };
        result = run_entry(py, hook, entry.as_deref(), Origin::Continuation(pending));
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
    /// Captures frames below calls of this entry, and owns what it captured.
    hook: Hook,
}

impl FunctionEntry {
    pub fn new(code: Py<PyAny>, full_graph: bool) -> FunctionEntry {
        let (cache, hook) = (Arc::new(CodeCache::default()), NestedHook::new());
        registry::add_entry(&cache, &hook);
        FunctionEntry { cache, code, full_graph, hook }
    }
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
        let hook = &self.hook;
        let entry = entry_for(py, &self.cache, &Subject::Function { function: func }, slots);
        if self.full_graph {
            report::require_full_graph(entry.as_deref())?;
        }
        let origin = Origin::Function { function: func, slots };
        let turn = match &entry {
            Some(entry) if trial::by_measurement() && matches!(entry.action, Action::Run { .. }) => entry.trial.turn(),
            _ => Turn { server: Server::Captured, timed: false },
        };
        let start = turn.timed.then(Instant::now);
        let result = match turn.server {
            Server::Captured => {
                let result = run_entry(py, hook, entry.as_deref(), origin);
                drive(py, hook, result)
            }
            Server::Original => {
                // With `full_graph` each call must say whether its graph breaks.
                if !turn.timed && !self.full_graph && self.cache.original_always_wins() {
                    self.cache.unguarded.grant();
                }
                origin.run_original(py, hook, false)
            }
        };
        if let (Some(start), Some(entry)) = (start, &entry) {
            entry.trial.record(turn.server, start.elapsed().as_nanos() as u64);
        }
        result
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.code);
        self.cache.traverse(visit);
        // While it is installed somebody else holds it, too.
        if Arc::strong_count(&self.hook) == 1 {
            self.hook.traverse(visit);
        }
    }

    fn clear(&self) {
        self.cache.clear();
        self.hook.clear();
    }

    fn maker<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)> {
        let full_graph = PyBool::new(py, self.full_graph).to_owned().into_any();
        Some((MAKER.get(py)?.bind(py).clone(), vec![full_graph]))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

// ----- the hook

// Python runs while it is made: a thread that waits for it must not hold the GIL.
static SKIP_PATHS: PyOnceLock<Vec<String>> = PyOnceLock::new();

fn skip_paths(py: Python<'_>) -> &'static [String] {
    SKIP_PATHS.get_or_init(py, || {
        let mut paths = backend().map(|b| b.skip_paths(py)).unwrap_or_default();
        if capture_all::on() {
            return capture_all::skip_paths(py, paths);
        }
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

/// Whether a file is of the standard library. Not where the whole program is to be captured: then it is like any other.
pub fn is_standard_library(py: Python<'_>, file: &str) -> bool {
    static PATHS: PyOnceLock<Vec<String>> = PyOnceLock::new();
    let paths = PATHS.get_or_init(py, || {
        let sysconfig = py.import("sysconfig").and_then(|m| m.call_method0("get_paths"));
        let path = |key: &str| sysconfig.as_ref().ok()?.get_item(key).ok()?.extract::<String>().ok();
        ["stdlib", "platstdlib"].into_iter().filter_map(path).collect()
    });
    !capture_all::on() && paths.iter().any(|p| file.starts_with(p.as_str())) && !file.contains("-packages")
}

/// Whether a code object comes from a file that is never captured.
fn is_library(py: Python<'_>, code: &Bound<'_, PyCode>) -> bool {
    let file: String = code.getattr("co_filename").and_then(|f| f.extract()).unwrap_or_default();
    skip_paths(py).iter().any(|p| file.starts_with(p.as_str())) || !capture_all::wanted(code)
}

/// The cache of one code object with one module's globals: with others it is another function.
struct Below {
    code: Py<PyCode>,
    globals: Py<PyDict>,
    cache: Arc<CodeCache>,
}

/// Captures frames that are called from code that was not captured.
pub struct NestedHook {
    me: Weak<NestedHook>,
    /// By the addresses of code and globals.
    below: Mutex<HashMap<(usize, usize), Below>>,
}

/// The hook of an entry, or of the process.
pub type Hook = Arc<NestedHook>;

impl NestedHook {
    pub fn new() -> Hook {
        Arc::new_cyclic(|me| NestedHook { me: me.clone(), below: Mutex::default() })
    }

    fn cache_of(
        &self,
        py: Python<'_>,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
    ) -> Option<Arc<CodeCache>> {
        if !registry::may_capture(code, || is_library(py, code)) {
            return None;
        }
        let key = (code.as_ptr() as usize, globals.as_ptr() as usize);
        let mut below = self.below.lock().ok()?;
        let found = below.entry(key).or_insert_with(|| {
            let cache = Arc::new(CodeCache::default());
            Below { code: code.clone().unbind(), globals: globals.clone().unbind(), cache }
        });
        Some(found.cache.clone())
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        let Ok(below) = self.below.try_lock() else { return };
        for Below { code, globals, cache } in below.values() {
            visit(code.as_any());
            visit(globals.as_any());
            if Arc::strong_count(cache) == 1 {
                cache.traverse(visit);
            }
        }
    }

    pub fn clear(&self) {
        let old = self.below.lock().map(|mut below| std::mem::take(&mut *below));
        drop(old);
    }
}

impl FrameHook for NestedHook {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &FrameView<'_, 'py>) -> Decision {
        let run = Decision::Run { keep_hook: true };
        if inside_capture() {
            return run;
        }
        let code = frame.code();
        // A frame that goes on as plain Python has taken its values over.
        held::release(code.as_ptr() as usize);
        let Some(cache) = self.cache_of(py, &code, &frame.globals()) else {
            capture_all::note(Served::Skipped);
            return run;
        };
        if thread::tracing_active(py) {
            STATS.note(Reason::Tracing);
            capture_all::note(Served::Plain(Reason::Tracing));
            return run;
        }
        // Up to 3.10 a frame does not know its function: code, globals and cells make an equal one.
        let Some(function) = frame.function().or_else(|| function_of_frame(py, frame)) else { return run };
        if registry::is_disabled(&function) || registry::is_disabled(code.as_any()) {
            capture_all::note(Served::Plain(Reason::Disabled));
            return Decision::Run { keep_hook: false };
        }
        let slots = frame.slots();
        let Some(entry) = entry_for(py, &cache, &Subject::Function { function: &function }, slots) else {
            let why = cache.closed.get().map_or(Reason::Busy, |why| why.reason);
            capture_all::note(Served::Plain(why));
            return run;
        };
        match &entry.action {
            Action::Original { .. } => {
                let why = entry.report.breaks.first().map_or(Reason::NoTensor, |at| at.why.reason);
                capture_all::note(Served::Plain(why));
                run
            }
            Action::Run { code, calls_out, .. } => {
                STATS.add(&STATS.frames);
                capture_all::note(Served::Rewritten);
                // What must run should the graph fail; the frame has references of its own.
                let slots = match entry.mark() {
                    0 => OwnedSlots::default(),
                    _ => slots.to_owned(py),
                };
                let ticket = held::hold(slots, entry.mark(), Some(function.unbind()), Some(entry.clone()));
                Decision::Replace { code: code.clone_ref(py), keep_hook: *calls_out, token: Some(ticket.number()) }
            }
        }
    }

    fn refused(&self, _py: Python<'_>, token: Option<u64>, _why: Misfit) {
        drop(token.map(|token| held::take_back(held::Ticket::of_number(token))));
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: u64,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held::Held { values, function, owner, .. } = held::take_back(held::Ticket::of_number(token));
        let result = match (result, values, function) {
            (Err(error), Some(slots), Some(function)) if take_failure(py, &error) => {
                STATS.add(&STATS.graph_failures);
                call_original(py, function.bind(py), slots.as_slots())
            }
            (Err(error), _, Some(function)) => {
                if let Some(Action::Run { code, shown, .. }) =
                    owner.as_ref().and_then(|owner| owner.downcast_ref::<Entry>()).map(|entry| &entry.action)
                {
                    user_frames::after_rewritten(py, &error, shown, code, function.bind(py));
                }
                Err(error)
            }
            (result, _, _) => result,
        };
        match self.me.upgrade() {
            Some(hook) => drive(py, &hook, result),
            None => result,
        }
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

/// The hook of programs that capture every frame. It owns what it captured for as long as the process lives.
pub fn process_hook() -> &'static Hook {
    static HOOK: OnceLock<Hook> = OnceLock::new();
    HOOK.get_or_init(NestedHook::new)
}

/// A function object for rewritten code.
pub fn function_of<'py>(
    py: Python<'py>,
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyAny>,
    closure: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyAny>> {
    registry::never_capture(code);
    new_function(py, code, globals.cast::<PyDict>()?, None, closure)
}

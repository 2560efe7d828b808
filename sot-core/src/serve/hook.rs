//! The second door: frames that are called from code that was not captured.
//!
//! A hook owns the caches of the code that it has met, so that what was captured below a call goes with the entry that
//! made the call. One hook belongs to the process, for programs that capture every frame.

use super::by_code;
use super::cache::{Action, CodeCache, Entry};
use super::driver::{drive, raised_behind_request, run_entry};
use super::half_done;
use super::lookup::{entry_for, entry_met, inside_capture};
use super::origin::{Origin, call_original, is_to_run_plainly};
use super::orphans;
use super::verified;
use super::watched;
use crate::capture::Subject;
use crate::capture_all::{self, Served};
use crate::code_unit::records;
use crate::cpython::{Decision, FrameHook, FrameView, Misfit, OwnedSlots, held, new_function, thread, warn};
use crate::graph_fn::take_failure;
use crate::libraries::is_never_captured;
use crate::replay::Came;
use crate::stats::STATS;
use crate::stop::Reason;
use crate::user_frames;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, Weak};

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
        if !records::may_capture(code, || is_never_captured(py, code)) {
            return None;
        }
        let key = (code.as_ptr() as usize, globals.as_ptr() as usize);
        let mut below = self.below.lock().ok()?;
        let found = below.entry(key).or_insert_with(|| {
            let cache = Arc::new(CodeCache::default());
            orphans::know(&cache);
            Below { code: code.clone().unbind(), globals: globals.clone().unbind(), cache }
        });
        Some(found.cache.clone())
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
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
        if is_to_run_plainly(&code) {
            return run;
        }
        let globals = frame.globals();
        let wrapped = by_code::of_frame(&code, &globals);
        let is_wrapped = wrapped.is_some();
        let Some(cache) = wrapped.unwrap_or_else(|| self.cache_of(py, &code, &globals)) else {
            capture_all::note(Served::Skipped, &code);
            return run;
        };
        if thread::tracing_active(py) {
            STATS.note(Reason::Tracing);
            capture_all::note(Served::Plain(Reason::Tracing), &code);
            return run;
        }
        // Up to 3.10 a frame does not know its function: code, globals and cells make an equal one.
        let Some(function) = frame.function().or_else(|| function_of_frame(py, frame)) else { return run };
        if records::is_disabled(&function) || records::is_disabled(code.as_any()) {
            capture_all::note(Served::Skipped, &code);
            return Decision::Run { keep_hook: false };
        }
        let slots = frame.slots();
        let subject = Subject::Function { function: &function, in_frames: true, spec: None };
        let entry = match if is_wrapped { entry_met(py, &cache, slots) } else { entry_for(py, &cache, &subject, slots) }
        {
            Ok(entry) => entry,
            Err(why) => {
                capture_all::note(Served::Plain(why), &code);
                return run;
            }
        };
        if entry.broken.load(Ordering::Relaxed) {
            cache.note_if_broken(py, &entry);
            return run;
        }
        if let Some(complaint) = &entry.complaint {
            // A frame cannot be made to raise before it runs.
            warn(py, complaint, None);
        }
        match &entry.action {
            Action::Original { .. } => {
                let why = entry.report.breaks.first().map_or(Reason::NoTensor, |at| at.why.reason);
                capture_all::note(Served::Plain(why), &code);
                run
            }
            Action::Run { code: new, calls_out, .. } => {
                STATS.add(&STATS.frames);
                let served = if entry.general { Served::InGeneral } else { Served::Rewritten };
                capture_all::note(served, &code);
                let looked_at = verified::begin_frame(py, &function, &subject, slots, &entry);
                // What must run should the graph fail; the frame has references of its own.
                let slots = match entry.mark() {
                    0 => OwnedSlots::default(),
                    _ => slots.to_owned(py),
                };
                let origin = Origin::Function { function: &function, slots: slots.as_slots() };
                let watching = watched::begin(py, &entry, &origin);
                let ticket = held::hold(slots, entry.mark(), Some(function.unbind()), Some(entry.clone()));
                if let Some(watching) = watching {
                    watching.until(ticket.number());
                }
                if let Some(frame) = looked_at {
                    frame.runs(ticket.number());
                }
                // Where everything is captured, whatever C code calls is, too.
                let keep_hook = *calls_out || capture_all::follows_calls_of(new.bind(py));
                Decision::Replace { code: new.clone_ref(py), keep_hook, token: Some(ticket.number()) }
            }
        }
    }

    fn refused(&self, py: Python<'_>, token: Option<u64>, _why: Misfit) {
        if let Some(token) = token {
            watched::end_of(token);
            verified::end_frame(py, token, None);
        }
        drop(token.map(|token| held::take_back(held::Ticket::of_number(token))));
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: u64,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        watched::end_of(token);
        let held::Held { values, function, owner, .. } = held::take_back(held::Ticket::of_number(token));
        let entry = owner.as_ref().and_then(|owner| owner.downcast_ref::<Entry>());
        if let Some(entry) = entry {
            entry.note_if_it_gives_way();
        }
        let result = match entry {
            Some(entry) => half_done::at_the_end(py, entry, result),
            None => result,
        };
        let came = match (&result, &values, &function) {
            (Err(error), Some(_), Some(_)) => take_failure(py, error),
            _ => None,
        };
        let result = match (result, values, function) {
            (Err(error), Some(slots), Some(function)) if came.is_some() => {
                STATS.add(&STATS.graph_failures);
                if let Some(entry) = entry {
                    entry.note_if_broken();
                }
                let (function, slots) = (function.bind(py), slots.as_slots());
                match (came, entry, self.me.upgrade()) {
                    (Some(Came::Behind(progress)), Some(entry), Some(hook)) => {
                        let origin = Origin::Function { function, slots };
                        half_done::go_on(py, entry, origin, (progress, error), |rest, origin| {
                            run_entry(py, &hook, Some(rest), origin)
                        })
                    }
                    _ => call_original(py, function, slots),
                }
            }
            (Err(error), Some(slots), Some(function)) if entry.is_some_and(|entry| entry.fails_quietly(py, &error)) => {
                call_original(py, function.bind(py), slots.as_slots())
            }
            (Err(error), _, Some(function)) => match entry.map(|entry| &entry.action) {
                Some(Action::Run { code, shown, .. }) => raised_behind_request(py, &error, code).unwrap_or_else(|| {
                    user_frames::after_rewritten(py, &error, shown, code, function.bind(py));
                    Err(error)
                }),
                _ => Err(error),
            },
            (result, _, _) => result,
        };
        let result = match self.me.upgrade() {
            Some(hook) => drive(py, &hook, entry, result),
            None => result,
        };
        verified::end_frame(py, token, Some(&result));
        result
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

//! Continuations: what is left of a program after a graph break.
//!
//! A continuation is a stack of frames, outermost first, each with its code, the offset at which it goes on, and the
//! layout of its stack, locals and cells. It is keyed by that shape and not by who left it, so a loop that breaks each
//! time round reuses one, and so do all callers of a function that breaks. Its values are the slots of its cache's
//! guards, in the order: per frame, outermost first, stack values (other slots left out), live locals, handled exceptions,
//! cells.
//! Frames of generators are among them: of one that runs, above the frame that asks it; of one that waits, behind all others.
//! What refers to such a generator is a slot without a value.
//!
//! Rewritten code ends in `return continuation(values...)`. That call gives a [`Request`], an object that owns the
//! continuation and its values; the driver that called the rewritten code ([`super`]) gets it as the result and
//! goes on without nesting Python frames. No other code ever sees it.

use super::cache::CodeCache;
use super::orphans;
use super::resume_point::ResumePoint;
use super::unwind::Waiting;
use crate::awaits::Awaits;
use crate::called_by_code::{asked, plain_generator};
use crate::cpython::holders;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::signals;
use crate::cpython::traceback::Asker;
use crate::cpython::{OwnedSlots, Slots, held, new_function, set_builtins};
use crate::engine::registries;
use crate::occupants::Shared;
use crate::shapes::{FrameKey, FrameShape, GeneratorAt, Shape};
use crate::user_frames;
use hashbrown::HashMap;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// A point where programs go on after a break.
pub struct Continuation {
    pub point: Arc<ResumePoint>,
    pub cache: Arc<CodeCache>,
    /// A weak reference to the callable that asks for it, which owns it: rewritten code that holds the callable is what
    /// keeps a continuation.
    callable: Mutex<Option<Py<PyWeakrefReference>>>,
    /// Where its outer frames have gone on after an eager run.
    outer: Led,
}

/// The continuations that something has led to and that no rewritten code names, kept as long as it lives itself.
#[derive(Default)]
pub struct Led(Mutex<Vec<Py<PyAny>>>);

impl Led {
    /// Ask to go on there.
    pub fn request<'py>(&self, py: Python<'py>, next: &Shape, values: OwnedSlots) -> PyResult<Bound<'py, PyAny>> {
        let next = of(py, next, &Shared::default());
        let callable = next.callable(py)?;
        if !next.point.shape.is_for_once()
            && let Ok(mut kept) = self.0.lock()
            && !kept.iter().any(|other| other.is(&callable))
        {
            kept.push(callable.unbind());
        }
        request(py, next, values)
    }

    /// Visit each reference held, once.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if let Ok(kept) = self.0.try_lock() {
            kept.iter().for_each(visit);
        }
    }
}

static NEXT: AtomicU32 = AtomicU32::new(0);

registries! {
    /// All that are in use, by shape.
    IN_USE: HashMap<Vec<FrameKey>, Weak<Continuation>> = "continuations";
}

/// The continuation of a shape. `occupants`: those of whoever leads there.
pub fn of(py: Python<'_>, shape: &Shape, occupants: &Shared) -> Arc<Continuation> {
    let key = shape.key();
    let known = IN_USE.lock().get(&key).and_then(Weak::upgrade);
    if let Some(found) = known {
        return found;
    }
    let continuation = Arc::new(Continuation {
        point: Arc::new(ResumePoint::new(NEXT.fetch_add(1, Ordering::Relaxed), shape.duplicate(py))),
        cache: Arc::new(CodeCache::led_to(occupants)),
        callable: Mutex::new(None),
        outer: Led::default(),
    });
    orphans::know(&continuation.cache);
    IN_USE.lock().insert(key, Arc::downgrade(&continuation));
    continuation
}

/// All that are in use.
pub(super) fn all() -> Vec<Arc<Continuation>> {
    IN_USE.lock().values().filter_map(Weak::upgrade).collect()
}

/// The continuation that a callable asks for.
pub fn asked_for(callable: &Bound<'_, PyAny>) -> Option<Arc<Continuation>> {
    body_of(callable)?.as_any().downcast_ref::<Ask>().map(|ask| ask.continuation.clone())
}

impl Drop for Continuation {
    fn drop(&mut self) {
        let key = self.point.shape.key();
        // Another one may have taken its place.
        let mut in_use = IN_USE.lock();
        if in_use.get(&key).is_some_and(|c| c.strong_count() == 0) {
            in_use.remove(&key);
        }
    }
}

/// Forget all shapes.
pub fn forget() {
    IN_USE.lock().clear();
}

/// Number continuations from zero again.
pub fn reset() {
    NEXT.store(0, Ordering::Relaxed);
}

/// What a request asks for: to go on with these values.
pub struct Pending {
    pub continuation: Arc<Continuation>,
    pub values: OwnedSlots,
}

/// What rewritten code returns instead of a result: a request to go on, or to raise what has left the user's frames.
#[pyclass(frozen, freelist = 16, module = "sot._sot", name = "_Request")]
pub struct Request(Mutex<Option<PyResult<Pending>>>);

/// What a returned object asks for, if it is a request.
#[inline]
pub fn requested(value: &Bound<'_, PyAny>) -> Option<PyResult<Pending>> {
    let request = value.cast_exact::<Request>().ok()?;
    let followed = OPEN.with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        open.pop_if(|newest| newest.is(request))
    });
    drop(followed);
    request.get().0.lock().ok()?.take()
}

/// Requests that nobody has followed are kept for as many programs as may be interrupted one inside the other.
const OPEN_REQUESTS: usize = 16;

thread_local! {
    /// The requests of the thread that no driver has followed yet, the newest last.
    static OPEN: RefCell<Vec<Py<Request>>> = const { RefCell::new(Vec::new()) };
}

/// What this rewritten code has asked for without coming to return it: an exception of a signal handler came between. Others may
/// be open as well: of a program below, whose handler runs this code.
pub fn left_behind(py: Python<'_>, code: &Py<PyCode>) -> Option<PyResult<Pending>> {
    let consts = code.bind(py).getattr("co_consts").ok()?.cast_into::<PyTuple>().ok()?;
    let asks: Vec<Arc<Continuation>> = consts.iter().filter_map(|constant| asked_for(&constant)).collect();
    let asked = |request: &Py<Request>| {
        let pending = request.get().0.lock();
        let continuation = pending.as_ref().ok().and_then(|p| p.as_ref()?.as_ref().ok().map(|p| &p.continuation));
        continuation.is_some_and(|continuation| asks.iter().any(|asked| Arc::ptr_eq(asked, continuation)))
    };
    let request = OPEN.with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        let at = open.iter().rposition(asked)?;
        Some(open.remove(at))
    })?;
    request.get().0.lock().ok()?.take()
}

fn request<'py>(py: Python<'py>, continuation: Arc<Continuation>, values: OwnedSlots) -> PyResult<Bound<'py, PyAny>> {
    let request = Bound::new(py, Request(Mutex::new(Some(Ok(Pending { continuation, values })))))?;
    let oldest = OPEN.with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        let oldest = (open.len() >= OPEN_REQUESTS).then(|| open.remove(0));
        open.push(request.clone().unbind());
        oldest
    });
    drop(oldest);
    Ok(request.into_any())
}

/// Ask to raise an exception whose traceback is complete, so that it does not pass the frame of rewritten code.
pub fn request_raise(py: Python<'_>, error: PyErr) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, Request(Mutex::new(Some(Err(error)))))?.into_any())
}

/// The callable that makes requests.
struct Ask {
    continuation: Arc<Continuation>,
    name: String,
}

impl NativeBody for Ask {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        request(py, self.continuation.clone(), args.to_owned(py))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        // Held by the callable alone, except while it runs: only a sole owner may say what it holds.
        if holders::counting() || Arc::strong_count(&self.continuation) == 1 {
            self.continuation.point.traverse(visit);
            self.continuation.outer.traverse(visit);
            self.continuation.cache.traverse(visit);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Lets the innermost frame run.
enum Innermost {
    /// The function of a frame, with the values that are held for it.
    Function { function: Py<PyAny>, ticket: held::Ticket },
    /// A generator that goes on in the frame.
    Generator(Py<PyAny>),
}

impl Innermost {
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Innermost::Function { function, ticket } => held::call_held(py, function.bind(py), *ticket),
            Innermost::Generator(generator) => asked(generator.bind(py)),
        }
    }
}

impl NativeBody for Innermost {
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.run(py)
    }

    fn name(&self) -> &str {
        "innermost"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Innermost::Function { function: held, .. } | Innermost::Generator(held) => visit(held),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Continuation {
    /// The callable that rewritten code ends with.
    pub fn callable<'py>(self: &Arc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let held = |weak: &Option<Py<PyWeakrefReference>>| weak.as_ref().and_then(|weak| weak.bind(py).upgrade());
        if let Some(callable) = self.callable.lock().ok().and_then(|weak| held(&weak)) {
            return Ok(callable);
        }
        let body = Ask { continuation: self.clone(), name: self.point.name() };
        let callable = new_native(py, Box::new(body))?.into_bound(py);
        let weak = PyWeakrefReference::new(&callable)?.unbind();
        let old = self.callable.lock().ok().and_then(|mut known| known.replace(weak));
        drop(old);
        Ok(callable)
    }

    /// Let the innermost frame run below stand-ins for the others, so that it sees whom it would in eager. `values`: those of the others,
    /// who keep them until it has run.
    fn call_below<'py>(&self, py: Python<'py>, innermost: Innermost, values: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let stand_ins = self.point.stand_ins(py)?;
        // The values of the innermost go past the stand-ins, which would keep them.
        let (mut callee, mut arguments) = (new_native(py, Box::new(innermost))?.into_bound(py), PyTuple::empty(py));
        for stand_in in stand_ins.iter().rev() {
            let mut given = vec![callee, arguments.into_any()];
            if let Some(of) = stand_in.of {
                let frames = &self.point.shape.frames;
                let start = frames[..of].iter().map(FrameShape::values).sum::<usize>() + frames[of].stack_values();
                for at in start..start + frames[of].locals.len() {
                    given.push(values.get(py, at).ok_or_else(missing)?.to_owned());
                }
            }
            arguments = PyTuple::new(py, given)?;
            callee = stand_in.function.bind(py).clone();
        }
        callee.call1(arguments)
    }

    /// Signal handlers that are due run before anything does: in the first instruction of new code they would raise where no
    /// `try` of the program is entered again yet.
    pub fn handlers_run(&self, py: Python<'_>, values: Slots<'_>) -> PyResult<()> {
        let frames = &self.point.shape.frames;
        if frames.iter().all(|frame| frame.handled == 0) {
            return signals::due(py);
        }
        match super::unwind::handled_of(frames, values, py) {
            Some(handled) => handled.meanwhile(py, || signals::due(py)),
            None => signals::due(py),
        }
    }

    /// An exception that came before the first instruction: it is raised there, into the handlers of the program.
    pub fn raise_at_start<'py>(
        &self,
        py: Python<'py>,
        values: OwnedSlots,
        error: PyErr,
    ) -> PyResult<Bound<'py, PyAny>> {
        let waiting = Waiting::of(py, &self.point.shape, values.0.into_iter().collect()).generators_become_real()?;
        let (next, values) = waiting.raised(error, Asker::Driver)?;
        self.outer.request(py, &next, values)
    }

    /// Go on as plain Python: run the innermost frame to its end; with frames outside it, ask to go on there.
    pub fn run_eager<'py>(&self, py: Python<'py>, mut values: OwnedSlots) -> PyResult<Bound<'py, PyAny>> {
        if !self.point.shape.waiting.is_empty() {
            // First the generators become objects: nothing may end them unseen.
            let (next, values) =
                Waiting::of(py, &self.point.shape, values.0.into_iter().collect()).generators_become_real()?.go_on();
            return self.outer.request(py, &next, values);
        }
        let (inner, outer) = self.point.shape.frames.split_last().expect("a frame");
        let code = self.point.resume(py)?;
        let start = values.0.len().checked_sub(inner.values()).ok_or_else(missing)?;
        // What belongs to the innermost frame is its own from now on.
        let mut arguments = OwnedSlots(values.0.drain(start..).collect());
        let cells: Vec<Py<PyAny>> = arguments.0.drain(inner.values() - inner.cells..).flatten().collect();
        if inner.first_local_first() {
            // The resume function has it as its first argument.
            let first = arguments.0.remove(inner.stack_values());
            arguments.0.insert(0, first);
        }
        let named = self.point.in_name_of().unwrap_or(inner);
        let globals = named.globals.bind(py).cast::<PyDict>()?;
        let closure = (inner.cells > 0).then(|| PyTuple::new(py, cells)).transpose()?;
        let function = new_function(py, &code, globals, None, closure.as_ref())?;
        set_builtins(&function, named.builtins.bind(py));
        let cells = closure.clone();
        let ticket = held::hold(arguments, code.as_ptr() as usize, None, None);
        let mut generator = None;
        let innermost = if inner.generator {
            // Calling the function makes the generator, which then owns what it was given.
            let made = held::call_held(py, &function, ticket);
            drop(held::take_back(ticket));
            let made = made?;
            if outer.last().is_some_and(|frame| frame.awaits == Some(Awaits::Send)) {
                // Who delegates asks by itself, and knows then whom it delegates to.
                let values = values.0.into_iter().collect();
                let (next, values) = super::unwind::delegates_again(py, outer, values, &made);
                return self.outer.request(py, &next, values);
            }
            generator = Some(made.clone());
            Innermost::Generator(made.unbind())
        } else {
            Innermost::Function { function: function.clone().unbind(), ticket }
        };
        let call = || match outer {
            [] => innermost.run(py),
            _ => self.call_below(py, innermost, values.as_slots()),
        };
        let handled = super::unwind::handled_of(outer, values.as_slots(), py);
        let mut result = match &handled {
            // What an outer frame handles is what `sys.exc_info` shows inside.
            Some(handled) => handled.meanwhile(py, call),
            None => call(),
        };
        drop(held::take_back(ticket));
        if let (Some(_), Err(error)) = (&generator, &result)
            && error.is_instance_of::<PyStopIteration>(py)
        {
            // It has ended; what a body lets out of that class is another exception.
            error.set_traceback(py, None);
        } else if let Err(error) = &mut result {
            let stand_ins = if outer.is_empty() { 0 } else { self.point.stand_ins_made() };
            user_frames::after_resume(py, error, inner, stand_ins, cells.as_ref(), &code);
        }
        drop((function, closure, cells));
        if outer.is_empty() {
            return result;
        }
        let mut waiting = Waiting::new(py, outer, values.0.into_iter().collect());
        if let Some(handled) = handled {
            waiting.keeps(py, &handled);
        }
        if let Some(generator) = generator {
            let generator = plain_generator(&inner.unit, generator)?;
            waiting.becomes_real(GeneratorAt::Frame(outer.len() as u32), &generator);
        }
        let (next, values) = match result {
            Ok(result) => waiting.returned(&result),
            Err(error) => waiting.raised(error, Asker::Driver),
        }?;
        self.outer.request(py, &next, values)
    }
}

fn missing() -> PyErr {
    PyRuntimeError::new_err("sot: a continuation lacks values")
}

//! Continuations: what is left of a program after a graph break.
//!
//! A continuation is a stack of frames, outermost first, each with its code, the offset at which it goes on, and the
//! layout of its stack, locals and cells. It is keyed by that shape and not by who left it, so a loop that breaks each
//! time round reuses one, and so do all callers of a function that breaks. Its values are the slots of its cache's
//! guards, in the order: per frame, outermost first, stack values (NULL slots left out), live locals, cells.
//!
//! Rewritten code ends in `return continuation(values...)`. That call stores the values aside and gives the sentinel; the
//! driver that called the rewritten code ([`crate::dispatch`]) sees the sentinel and goes on without nesting Python
//! frames.

use crate::code_unit::{CodeUnit, assemble};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{OwnedSlots, Slots, call_slots, new_function};
use crate::dispatch::CodeCache;
use crate::iterators::pass_function;
use crate::rewrite::resume_code;
use hashbrown::HashMap;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyDict, PyTuple};
use sot_opcodes::ConstId;
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Layout of one frame.
pub struct FrameShape {
    pub unit: Arc<CodeUnit>,
    pub globals: Py<PyAny>,
    /// Index of the instruction at which the frame goes on. For all but the innermost frame that is behind the
    /// call, with the call's result on the stack.
    pub ip: usize,
    /// Per stack slot, whether it is NULL.
    pub nulls: Vec<bool>,
    /// Locals that are bound and alive.
    pub locals: Vec<u32>,
    pub cells: usize,
}

impl FrameShape {
    fn values(&self) -> usize {
        self.stack_values() + self.locals.len() + self.cells
    }

    /// Where the frame stands while it waits for a call.
    fn waiting(&self) -> Site {
        Site { unit: self.unit.clone(), line: self.unit.line(self.ip.saturating_sub(1)) }
    }

    /// Whether the first local must be the first argument of the resume function: `super()` looks for it there.
    pub fn first_local_first(&self) -> bool {
        self.locals.first() == Some(&0) && uses_super(&self.unit.code)
    }

    /// The frame's resume function and its constants.
    fn resume(&self, py: Python<'_>) -> PyResult<(sot_opcodes::Code, Vec<Py<PyAny>>)> {
        let mut consts: Vec<Py<PyAny>> = self.unit.consts.iter().map(|c| c.clone_ref(py)).collect();
        let code = resume_code(self, ConstId(consts.len() as u32));
        if !sot_opcodes::calls::can_push_null(code.version) {
            consts.push(pass_function(py)?.unbind());
        }
        Ok((code, consts))
    }

    fn stack_values(&self) -> usize {
        self.nulls.iter().filter(|n| !**n).count()
    }

    fn key(&self) -> FrameKey {
        FrameKey {
            code: self.unit.address(),
            globals: self.globals.as_ptr() as usize,
            ip: self.ip,
            nulls: self.nulls.clone(),
            locals: self.locals.clone(),
            cells: self.cells,
        }
    }

    fn duplicate(&self, py: Python<'_>) -> FrameShape {
        FrameShape {
            unit: self.unit.clone(),
            globals: self.globals.clone_ref(py),
            ip: self.ip,
            nulls: self.nulls.clone(),
            locals: self.locals.clone(),
            cells: self.cells,
        }
    }
}

/// Whether a function may call `super()` without arguments, which reads its first local and its cell `__class__`.
pub fn uses_super(code: &sot_opcodes::Code) -> bool {
    code.freevars.iter().any(|name| name == "__class__")
}

/// A line of a function.
#[derive(Clone)]
pub struct Site {
    pub unit: Arc<CodeUnit>,
    pub line: u32,
}

/// A stack of frames, outermost first.
pub struct Shape {
    pub frames: Vec<FrameShape>,
}

#[derive(PartialEq, Eq, Hash)]
struct FrameKey {
    code: usize,
    globals: usize,
    ip: usize,
    nulls: Vec<bool>,
    locals: Vec<u32>,
    cells: usize,
}

/// A place where programs go on after a break.
pub struct Continuation {
    pub number: u32,
    pub shape: Shape,
    pub cache: Arc<CodeCache>,
    callable: OnceLock<Py<PyAny>>,
    /// Code of the innermost frame's resume function, or why there is none.
    resume: PyOnceLock<Result<Py<PyCode>, String>>,
}

static REGISTRY: Mutex<Option<HashMap<Vec<FrameKey>, Arc<Continuation>>>> = Mutex::new(None);
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The continuation of a shape.
pub fn of(py: Python<'_>, shape: &Shape) -> Arc<Continuation> {
    let key: Vec<FrameKey> = shape.frames.iter().map(FrameShape::key).collect();
    let mut registry = REGISTRY.lock().expect("continuation registry");
    let registry = registry.get_or_insert_default();
    if let Some(found) = registry.get(&key) {
        return found.clone();
    }
    let frames = shape.frames.iter().map(|f| f.duplicate(py)).collect();
    let continuation = Arc::new(Continuation {
        number: NEXT.fetch_add(1, Ordering::Relaxed),
        shape: Shape { frames },
        cache: Arc::new(CodeCache::default()),
        callable: OnceLock::new(),
        resume: PyOnceLock::new(),
    });
    registry.insert(key, continuation.clone());
    continuation
}

/// Forget all continuations. Rewritten code that is still held keeps its own.
pub fn reset() {
    let old = REGISTRY.lock().expect("continuation registry").take();
    drop(old);
    NEXT.store(0, Ordering::Relaxed);
}

/// A request to go on: the continuation and its values.
pub struct Pending {
    pub continuation: Arc<Continuation>,
    pub values: OwnedSlots,
}

thread_local! {
    static PENDING: RefCell<Option<Pending>> = const { RefCell::new(None) };
}

/// What rewritten code returns instead of a result.
pub fn sentinel(py: Python<'_>) -> &Py<PyAny> {
    static SENTINEL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    SENTINEL.get_or_init(py, || py.get_type::<PyAny>().call0().expect("object()").unbind())
}

/// Take the request that the rewritten code left.
pub fn take_pending() -> Option<Pending> {
    PENDING.with(|p| p.borrow_mut().take())
}

fn request<'py>(py: Python<'py>, continuation: Arc<Continuation>, values: OwnedSlots) -> Bound<'py, PyAny> {
    let old = PENDING.with(|p| p.borrow_mut().replace(Pending { continuation, values }));
    drop(old);
    sentinel(py).bind(py).clone()
}

struct Request {
    continuation: Arc<Continuation>,
    name: String,
}

impl NativeBody for Request {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        Ok(request(py, self.continuation.clone(), args.to_owned(py)))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Continuation {
    /// `__resume_fn_3`
    pub fn name(&self) -> String {
        format!("__resume_fn_{}", self.number)
    }

    /// The callable that rewritten code ends with.
    pub fn callable<'py>(self: &Arc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(callable) = self.callable.get() {
            return Ok(callable.bind(py).clone());
        }
        let body = Request { continuation: self.clone(), name: self.name() };
        let callable = new_native(py, Box::new(body))?;
        Ok(self.callable.get_or_init(|| callable).bind(py).clone())
    }

    /// Names of the values, for reports and for the rewritten function's arguments.
    pub fn slot_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (depth, frame) in self.shape.frames.iter().enumerate() {
            let prefix = match self.shape.frames.len() - 1 - depth {
                0 => String::new(),
                up => format!("___up{up}_"),
            };
            names.extend((0..frame.stack_values()).map(|i| format!("{prefix}___stack_{i}")));
            let code = &frame.unit.code;
            names.extend(frame.locals.iter().map(|l| format!("{prefix}{}", code.varnames[*l as usize])));
            let cells = code.cellvars.iter().chain(&code.freevars).take(frame.cells);
            names.extend(cells.map(|c| format!("{prefix}___cell_{c}")));
        }
        names
    }

    /// Code of the innermost frame's resume function.
    pub fn resume<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCode>> {
        let frame = self.shape.frames.last().expect("a frame");
        let code = self.resume.get_or_init(py, || {
            let (code, consts) = frame.resume(py).map_err(|e| e.to_string())?;
            let code = assemble(py, &code, &consts)?;
            crate::dispatch::never_capture(&code);
            Ok(code.unbind())
        });
        match code {
            Ok(code) => Ok(code.bind(py).clone()),
            Err(e) => Err(PyRuntimeError::new_err(format!("sot: no resume function: {e}"))),
        }
    }

    /// The innermost frame's resume function as text.
    pub fn resume_listing(&self, py: Python<'_>) -> String {
        let frame = self.shape.frames.last().expect("a frame");
        match frame.resume(py) {
            Ok((code, consts)) => crate::rewrite::listing(py, &code, &consts, Some(&self.name())),
            Err(error) => error.to_string(),
        }
    }

    /// Go on as plain Python: run the innermost frame to its end; with frames outside it, ask to go on there.
    pub fn run_eager<'py>(&self, py: Python<'py>, values: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let (inner, outer) = self.shape.frames.split_last().expect("a frame");
        let code = self.resume(py)?;
        let total: usize = self.shape.frames.iter().map(FrameShape::values).sum();
        let start = total - inner.values();
        let mut arguments: Vec<Bound<'py, PyAny>> =
            (start..total - inner.cells).filter_map(|i| values.get(py, i).map(|v| v.to_owned())).collect();
        if inner.first_local_first() {
            // The resume function has it as its first argument.
            let first = arguments.remove(inner.stack_values());
            arguments.insert(0, first);
        }
        let globals = inner.globals.bind(py).cast::<PyDict>()?;
        let cells: Vec<Bound<'py, PyAny>> =
            (total - inner.cells..total).filter_map(|i| values.get(py, i).map(|v| v.to_owned())).collect();
        let closure = (inner.cells > 0).then(|| PyTuple::new(py, cells)).transpose()?;
        let function = new_function(py, &code, globals, None, closure.as_ref())?;
        let result = match call_slots(py, &function, Slots::from_bound(&arguments)) {
            Ok(result) => result,
            Err(error) => {
                crate::dispatch::add_frames(py, &error, outer.iter().map(FrameShape::waiting).collect());
                return Err(error);
            }
        };
        if outer.is_empty() {
            return Ok(result);
        }
        // The caller has the result on its stack.
        let mut frames: Vec<FrameShape> = outer.iter().map(|f| f.duplicate(py)).collect();
        let caller = frames.last_mut().expect("a caller");
        let at = start - caller.values() + caller.stack_values();
        caller.nulls.push(false);
        let next = of(py, &Shape { frames });
        let mut given = OwnedSlots::default();
        for i in 0..start {
            if i == at {
                given.push(Some(result.clone().unbind()));
            }
            given.push(values.get(py, i).map(|v| v.to_owned().unbind()));
        }
        if at == start {
            given.push(Some(result.unbind()));
        }
        Ok(request(py, next, given))
    }
}

//! Entries, native functions and facts as Python functions, for the tests of this module only.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyList, PyString, PyTuple};

use super::code::{build_code, read_code};
use super::entry::{EntryBody, entry_parts, new_entry};
use super::facts;
use super::native::{NativeBody, body_of, new_native};
use super::slots::Slots;
use super::traceback::{self, Asker, TracebackFrame};
use super::{call, hook, thread};

/// An entry body that hands the slots to a Python callable, or does nothing, or panics.
struct ProbeBody {
    target: Option<Py<PyAny>>,
    panics: bool,
}

impl EntryBody for ProbeBody {
    fn enter<'py>(&self, py: Python<'py>, _func: &Bound<'py, PyAny>, slots: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        assert!(!self.panics, "probe");
        match &self.target {
            Some(target) => call::call_slots(py, target.bind(py), slots),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.target.iter().for_each(visit);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl NativeBody for ProbeBody {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        assert!(!self.panics, "probe");
        match &self.target {
            Some(target) => call::call_slots(py, target.bind(py), args),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn name(&self) -> &str {
        "probe"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.target.iter().for_each(visit);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// An entry of `func` whose body calls `target(*slots)`; without a target the body returns None.
#[pyfunction]
#[pyo3(signature = (func, target=None, self_obj=None, panics=false))]
fn _probe_entry(
    py: Python<'_>,
    func: Bound<'_, PyAny>,
    target: Option<Py<PyAny>>,
    self_obj: Option<Bound<'_, PyAny>>,
    panics: bool,
) -> PyResult<Py<PyAny>> {
    let body = Arc::new(ProbeBody { target, panics });
    new_entry(py, &func, self_obj.as_ref(), None, body)
}

/// A second entry that shares the body of `entry`.
#[pyfunction]
fn _probe_entry_share(entry: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let parts = entry_parts(&entry).ok_or_else(|| PyValueError::new_err("not an entry"))?;
    let py = entry.py();
    let self_obj = parts.self_obj.map(|obj| obj.into_bound(py));
    new_entry(py, parts.func.bind(py), self_obj.as_ref(), None, parts.body)
}

#[pyfunction]
#[pyo3(signature = (target=None, panics=false))]
fn _probe_native(py: Python<'_>, target: Option<Py<PyAny>>, panics: bool) -> PyResult<Py<PyAny>> {
    new_native(py, Box::new(ProbeBody { target, panics }))
}

#[pyfunction]
fn _probe_is_native(obj: Bound<'_, PyAny>) -> bool {
    body_of(&obj).is_some()
}

/// `build_code(read_code(code))`.
#[pyfunction]
fn _probe_rebuild(py: Python<'_>, code: Bound<'_, PyAny>) -> PyResult<Py<PyCode>> {
    let (raw, consts) = read_code(&code)?;
    build_code(py, &raw, &consts)
}

/// One fact by name, as plain Python data.
#[pyfunction]
fn _probe_fact<'py>(py: Python<'py>, fact: &str, obj: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let any = |value: Option<u64>| -> PyResult<Bound<'py, PyAny>> { Ok(value.into_pyobject(py)?.into_any()) };
    match fact {
        "dict_version" => any(facts::dict_version(obj.cast::<PyDict>()?)),
        "settle_dict" => {
            facts::settle_dict(obj.cast::<PyDict>()?)?;
            any(facts::dict_version(obj.cast::<PyDict>()?))
        }
        "type_version" => any(facts::type_version(obj.cast()?).map(u64::from)),
        "instance_dict" => Ok(facts::instance_dict(&obj).into_pyobject(py)?.into_any()),
        "getattr_kind" => {
            let kind = format!("{:?}", facts::getattr_kind(obj.cast()?));
            Ok(PyString::new(py, &kind).into_any())
        }
        "cell_contents" => Ok(facts::cell_contents(&obj).into_pyobject(py)?.into_any()),
        "iterator" => Ok(match facts::iterator_state(&obj) {
            None | Some(facts::IterState::Given(_)) => py.None().into_bound(py),
            Some(facts::IterState::Range(range)) => (range.next, range.step, range.left).into_pyobject(py)?.into_any(),
            Some(facts::IterState::List(state) | facts::IterState::Tuple(state)) => match state {
                None => PyTuple::empty(py).into_any(),
                Some((held, index)) => (held, index).into_pyobject(py)?.into_any(),
            },
        }),
        "tracing" => Ok(thread::tracing_active(py).into_pyobject(py)?.to_owned().into_any()),
        "thread" => any(Some(thread::thread_id(py))),
        _ => Err(PyValueError::new_err("unknown fact")),
    }
}

/// Whether a stamp of `obj` is still fresh after `change()`.
#[pyfunction]
fn _probe_stamp(py: Python<'_>, kind: &str, obj: Bound<'_, PyAny>, change: Bound<'_, PyAny>) -> PyResult<bool> {
    match kind {
        "dict" => {
            let stamp = facts::DictStamp::new(obj.cast()?);
            change.call0()?;
            Ok(stamp.fresh())
        }
        "type" => {
            let stamp = facts::TypeStamp::new(obj.cast()?);
            change.call0()?;
            Ok(stamp.fresh())
        }
        "function" => {
            let stamp = facts::FunctionStamp::new(&obj);
            change.call0()?;
            Ok(stamp.is_some_and(|stamp| stamp.fresh()))
        }
        _ => {
            let _ = py;
            Err(PyValueError::new_err("unknown kind"))
        }
    }
}

/// (code, globals, offset, line, locals, cells)
type ProbeFrame<'py> = (
    Bound<'py, PyCode>,
    Bound<'py, PyDict>,
    Option<u32>,
    u32,
    Vec<(u32, Bound<'py, PyAny>)>,
    Vec<(u32, Bound<'py, PyAny>)>,
);

/// Calls `f()` and raises its error with the frames in front, in the place of so many entries. If `f` returns an
/// exception, that one gets the frames.
#[pyfunction]
fn _probe_traceback<'py>(
    py: Python<'py>,
    f: Bound<'py, PyAny>,
    frames: Vec<ProbeFrame<'py>>,
    instead: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let frames: Vec<_> = frames
        .into_iter()
        .map(|(code, globals, offset, line, locals, cells)| TracebackFrame {
            code,
            globals,
            offset,
            line: Some(line),
            left_at: None,
            made: None,
            locals,
            cells,
        })
        .collect();
    match f.call0() {
        Ok(value) => {
            traceback::with_traceback(value.cast()?, &frames, Asker::Driver)?;
            Ok(value)
        }
        Err(error) => {
            let mut last = traceback::Entry::first(&error, py);
            for _ in 1..instead {
                last = last.and_then(|entry| entry.next());
            }
            match last {
                Some(last) if instead > 0 => traceback::replace_head(py, &error, &last, &frames)?,
                _ => traceback::prepend(py, &error, &frames, Asker::Driver)?,
            }
            Err(error)
        }
    }
}

/// Calls `f()` with this thread's hook muted.
#[pyfunction]
fn _probe_without_hook<'py>(py: Python<'py>, f: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    super::without_hook(py, || f.call0())
}

/// A hook that runs `code` in frames of `target`, with a token; `finish` notes it and adds to `seen`.
struct TokenHook {
    target: Py<PyAny>,
    code: Py<PyCode>,
    seen: Py<PyList>,
    panics: bool,
}

impl hook::FrameHook for TokenHook {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &super::frame::FrameView<'_, 'py>) -> hook::Decision {
        let name = frame.code().getattr("co_name").map(|name| name.to_string());
        let _ = self.seen.bind(py).append(name.unwrap_or_default());
        assert!(!self.panics, "probe");
        if frame.code().as_ptr() != self.target.as_ptr() {
            return hook::Decision::Run { keep_hook: true };
        }
        hook::Decision::Replace { code: self.code.clone_ref(py), keep_hook: true, token: Some(7) }
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: hook::Token,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.seen.bind(py).append(token)?;
        match result {
            Ok(value) => Ok((token, value).into_pyobject(py)?.into_any()),
            Err(error) => Err(error),
        }
    }
}

/// `with_hook(.., f)`: frames of `target` run `code`; names and tokens are added to `seen`.
#[pyfunction]
#[pyo3(signature = (f, target, code, seen, panics=false))]
fn _probe_with_hook<'py>(
    py: Python<'py>,
    f: Bound<'py, PyAny>,
    target: Py<PyAny>,
    code: Py<PyCode>,
    seen: Py<PyList>,
    panics: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let hook = Arc::new(TokenHook { target, code, seen, panics });
    super::with_hook(py, hook, || f.call0())?
}

/// Whether the interpreter's slot holds CPython's default evaluator.
#[pyfunction]
fn _probe_slot_is_default(py: Python<'_>) -> bool {
    super::eval_slot::get(py).is_some_and(|now| super::eval_slot::same(now, super::eval_slot::default_evaluator()))
}

/// Puts CPython's default evaluator into the slot, as a careless tool would.
#[pyfunction]
fn _probe_reset_slot(py: Python<'_>) {
    super::eval_slot::set(py, super::eval_slot::default_evaluator());
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_probe_entry, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_entry_share, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_native, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_is_native, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_rebuild, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_fact, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_stamp, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_traceback, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_without_hook, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_with_hook, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_reset_slot, module)?)?;
    module.add_function(wrap_pyfunction!(_probe_slot_is_default, module)?)
}

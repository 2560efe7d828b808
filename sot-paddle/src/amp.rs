//! Automatic mixed precision: what `paddle.amp.auto_cast` leaves in the tracer of the thread, as four modes.
//!
//! `auto_cast` itself is Paddle's Python and simulated as such; what it ends in are properties and methods of the tracer, which C has
//! made. They are known by identity ([`Accessors`]): those that read are folded, those that write are switches.
//!
//! On a CPU Paddle casts nothing, whatever they say (and `auto_cast` says that it has no effect): operations depend on none of them
//! while the level is O0. Elsewhere operations are built under the same state as the tracer has ([`Casting`]): a program casts by a
//! record of its own (`core._get_amp_attrs()`).

use crate::amp_accessors::{Accessors, DTYPE, LEVEL, LISTS, PROMOTE};
use crate::handles::Handles;
use crate::static_mode::eager_tracer;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyString, PyTuple};
use sot_core::backend::{Mode, Surroundings, Switch};

/// Names of operations end with the first, and the lists with the second.
const END: char = '\n';
const END_OF_LIST: char = '\u{1f}';

/// The answer of one that reads; `None`: it must run eagerly.
pub(crate) fn fold<'py>(
    handles: &Handles,
    callee: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    at: &Surroundings<'_, 'py>,
) -> Option<Bound<'py, PyAny>> {
    let py = callee.py();
    let accessors = handles.amp.as_ref()?;
    let tracer = args.get_item(0).ok()?;
    if args.len() != 1 || !eager_tracer(py, handles).ok()?.is(&tracer) {
        return None;
    }
    if callee.is(&accessors.place) {
        return callee.call1((tracer,)).ok();
    }
    match accessors.read_by(callee)? {
        // Two sets that nobody else has. Paddle's own code hands them on and looks into none; the program might.
        LISTS if !at.of_framework => None,
        LISTS => {
            let frozen = |list: Vec<&str>| Ok(PyFrozenSet::new(py, list)?.into_any());
            lists_of_text(&(at.mode)(LISTS).ok()?, frozen).ok()
        }
        mode => (at.mode)(mode).ok(),
    }
}

/// Whether a function reads or writes these modes.
pub(crate) fn is_one(handles: &Handles, function: &Bound<'_, PyAny>) -> bool {
    handles.amp.as_ref().is_some_and(|accessors| accessors.kind_of(function).is_some())
}

/// What a call of one that writes does; `None`: it must run eagerly.
pub(crate) fn switch<'py>(
    handles: &Handles,
    callee: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> Option<Switch<'py>> {
    let py = callee.py();
    if kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
        return None;
    }
    let accessors = handles.amp.as_ref()?;
    let mode = accessors.written_by(callee)?;
    if !eager_tracer(py, handles).ok()?.is(&args.get_item(0).ok()?) {
        return None;
    }
    let given = args.get_item(1).ok()?;
    let value = match (mode, args.len()) {
        (LEVEL, 2) => accessors.level(&given).ok()?,
        (DTYPE, 2) => {
            let name = given.cast_exact::<PyString>().ok()?.to_str().ok()?;
            ["float16", "float32", "bfloat16"].contains(&name).then(|| PyString::intern(py, name).into_any())?
        }
        (PROMOTE, 2) => given.is_exact_instance_of::<PyBool>().then_some(given)?,
        (LISTS, 3) => lists_as_text(&[given, args.get_item(2).ok()?]).ok()?,
        _ => return None,
    };
    Some(Switch { mode, value, gives: py.None().into_bound(py) })
}

/// The names of both lists in alphabetical order: equal lists are one object.
fn lists_as_text<'py>(lists: &[Bound<'py, PyAny>; 2]) -> PyResult<Bound<'py, PyAny>> {
    let mut text = String::new();
    for list in lists {
        let mut names = Vec::new();
        for name in list.try_iter()? {
            let name: String = name?.extract()?;
            if name.contains([END, END_OF_LIST]) {
                return Err(PyValueError::new_err("an operation with a strange name"));
            }
            names.push(name);
        }
        names.sort_unstable();
        names.iter().for_each(|name| text.extend([name.as_str(), "\n"]));
        text.push(END_OF_LIST);
    }
    Ok(PyString::intern(lists[0].py(), &text).into_any())
}

/// Both lists, each as `make` makes it, as a tuple.
fn lists_of_text<'py>(
    text: &Bound<'py, PyAny>,
    make: impl Fn(Vec<&str>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let names = text.extract::<String>()?;
    let lists = names.split_terminator(END_OF_LIST).map(|list| make(list.split_terminator(END).collect()));
    Ok(PyTuple::new(text.py(), lists.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// What a mode is in this thread.
pub(crate) fn read<'py>(py: Python<'py>, handles: &Handles, mode: Mode) -> PyResult<Bound<'py, PyAny>> {
    let (tracer, accessors) = (eager_tracer(py, handles)?, accessors(handles)?);
    match mode {
        LEVEL => accessors.level(&tracer.getattr(intern!(py, "_amp_level"))?),
        DTYPE => {
            let name = tracer.getattr(intern!(py, "_amp_dtype"))?;
            Ok(PyString::intern(py, name.cast::<PyString>()?.to_str()?).into_any())
        }
        PROMOTE => tracer.getattr(intern!(py, "_use_promote")),
        _ => {
            let (white, black) = tracer.call_method0(intern!(py, "_get_amp_op_list"))?.extract()?;
            lists_as_text(&[white, black])
        }
    }
}

/// Make a mode of this thread what it was, or a switch says.
pub(crate) fn write(handles: &Handles, mode: Mode, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let tracer = eager_tracer(py, handles)?;
    match mode {
        LEVEL => tracer.setattr(intern!(py, "_amp_level"), value),
        DTYPE => tracer.setattr(intern!(py, "_amp_dtype"), value),
        PROMOTE => tracer.setattr(intern!(py, "_use_promote"), value),
        _ => set_lists(&tracer, "_set_amp_op_list", value),
    }
}

fn set_lists(owner: &Bound<'_, PyAny>, setter: &str, text: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = owner.py();
    let lists = lists_of_text(text, |list| Ok(pyo3::types::PySet::new(py, list)?.into_any()))?;
    owner.call_method1(setter, lists.cast::<PyTuple>()?).map(drop)
}

fn accessors(handles: &Handles) -> PyResult<&Accessors> {
    handles.amp.as_ref().ok_or_else(|| PyValueError::new_err("a release of Paddle whose amp is not known"))
}

/// Whether operations depend on a mode while the modes are these.
pub(crate) fn matters<'py>(
    py: Python<'py>,
    handles: &Handles,
    mode: Mode,
    at: &dyn Fn(Mode) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<bool> {
    Ok(mode == LEVEL || is_on(&at(LEVEL)?)? && !is_cpu(py, handles)?)
}

fn is_on(level: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!level.str()?.to_str()?.ends_with("O0"))
}

/// Whether operations run where nothing is cast.
fn is_cpu(py: Python<'_>, handles: &Handles) -> PyResult<bool> {
    let place = eager_tracer(py, handles)?.getattr(intern!(py, "_expected_place"))?;
    place.call_method0(intern!(py, "is_cpu_place"))?.is_truthy()
}

/// The modes at the place of the simulated program, for what is built there.
pub(crate) struct Casting {
    /// By mode, less one.
    modes: Vec<Py<PyAny>>,
}

impl Casting {
    /// When a program is entered.
    pub(crate) fn at_entry(py: Python<'_>, handles: &Handles) -> PyResult<Option<Casting>> {
        if handles.amp.is_none() || is_cpu(py, handles)? {
            return Ok(None);
        }
        let modes = [LEVEL, DTYPE, PROMOTE, LISTS].map(|mode| read(py, handles, mode).map(Bound::unbind));
        Ok(Some(Casting { modes: modes.into_iter().collect::<PyResult<_>>()? }))
    }

    /// The simulated program has changed a mode.
    pub(crate) fn change(&mut self, mode: Mode, value: &Bound<'_, PyAny>) {
        self.modes[mode as usize - 1] = value.clone().unbind();
    }

    /// Build an operation as it is run under these modes.
    pub(crate) fn within<T>(
        &self,
        py: Python<'_>,
        handles: &Handles,
        build: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<T> {
        if !is_on(self.modes[0].bind(py))? {
            return build();
        }
        let core = handles.core.bind(py);
        let attrs = core.call_method0(intern!(py, "_get_amp_attrs"))?;
        let names = ["_amp_level", "_amp_dtype", "_use_promote"];
        let before = names.map(|name| attrs.getattr(name)).into_iter().collect::<PyResult<Vec<_>>>()?;
        let lists = core.call_method0(intern!(py, "_get_amp_op_list"))?;
        let set = |values: &[Py<PyAny>]| -> PyResult<()> {
            names.iter().zip(values).try_for_each(|(name, value)| attrs.setattr(*name, value))
        };
        let result = set(&self.modes[..3])
            .and_then(|()| set_lists(core.as_any(), "_set_amp_op_list", self.modes[3].bind(py)))
            .and_then(|()| build());
        // As it was, whatever came of that.
        let before: Vec<Py<PyAny>> = before.into_iter().map(Bound::unbind).collect();
        set(&before)?;
        core.call_method1(intern!(py, "_set_amp_op_list"), lists.cast::<PyTuple>()?)?;
        result
    }
}

//! What the program says of the extents of its tensors: that one varies, or stays (`mark_dynamic`, `mark_static`), and what a
//! function's arguments look like ([`InputSpec`]).
//!
//! A mark is of one tensor and goes with it. It counts when a call with that tensor is captured; a call that is served never asks.

use crate::backend::{Backend, FreeAxis, Kind, TensorCheck, TensorMeta, function_name, registered};
use crate::cpython::signature::Signature;
use crate::cpython::{Slots, facts};
use crate::engine::registries;
use crate::weak_keys::{Keeper, WeakKeyed};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::fmt::Write;
use std::sync::OnceLock;

/// An extent below this one is special: a tensor of one row is spread over others.
pub(crate) const FIRST_THAT_VARIES: i64 = 2;

#[derive(Clone, Copy)]
enum Mark {
    Varies { least: i64, most: i64 },
    Stays,
}

registries! {
    /// Marks of tensors, by axis.
    MARKS: WeakKeyed<Vec<(usize, Mark)>> = "tensors with marks";
}

static MARKED: Keeper<Vec<(usize, Mark)>> = Keeper::of(&MARKS);

/// What is said of the axes of a tensor.
#[derive(Default)]
pub(crate) struct Marked {
    pub(crate) varying: Vec<FreeAxis>,
    pub(crate) fixed: Vec<usize>,
}

/// What the program has said of a tensor.
pub(crate) fn of_tensor(backend: &dyn Backend, tensor: &Bound<'_, PyAny>) -> Marked {
    let mut marked = Marked::default();
    let most = i64::MAX;
    let of_framework = backend.marked_axes(tensor).into_iter();
    marked.varying.extend(of_framework.map(|axis| FreeAxis { axis, least: FIRST_THAT_VARIES, most }));
    for (axis, mark) in MARKS.lock().get(tensor).into_iter().flatten() {
        marked.varying.retain(|free| free.axis != *axis);
        match *mark {
            Mark::Varies { least, most } => marked.varying.push(FreeAxis { axis: *axis, least, most }),
            Mark::Stays => marked.fixed.push(*axis),
        }
    }
    marked
}

/// The axes that a call of `function` names, of a tensor.
fn axes_of(function: &str, tensor: &Bound<'_, PyAny>, dims: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
    let backend = registered().ok_or_else(crate::backend::none_registered)?;
    if backend.classify(tensor) != Kind::Tensor {
        let class = tensor.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{}: expected a tensor, not {class}", function_name(function))));
    }
    let rank = backend.tensor_meta(tensor)?.shape.len();
    let Some(dims) = dims else { return Ok((0..rank).collect()) };
    let given: Vec<isize> = match dims.extract::<isize>() {
        Ok(one) => vec![one],
        Err(_) => dims.extract().map_err(|_| {
            let here = function_name(function);
            PyTypeError::new_err(format!("{here}: expected an axis, or several, as ints, not {dims}"))
        })?,
    };
    let counted = |axis: isize| {
        let from_start = if axis < 0 { axis + rank as isize } else { axis };
        usize::try_from(from_start).ok().filter(|axis| *axis < rank).ok_or_else(|| {
            let here = function_name(function);
            PyValueError::new_err(format!("{here}: axis {axis} of a tensor with {rank} axes"))
        })
    };
    given.into_iter().map(counted).collect()
}

fn mark(tensor: &Bound<'_, PyAny>, axes: Vec<usize>, mark: Mark) -> PyResult<()> {
    let marked = MARKED.change(tensor, |marks| {
        for axis in axes {
            marks.retain(|(known, _)| *known != axis);
            marks.push((axis, mark));
        }
    });
    marked.ok_or_else(|| PyTypeError::new_err("sot: a tensor of this class takes no weak references, and so no marks"))
}

/// Extents of a tensor along these axes vary from call to call: the first capture with it serves all from `min` (2 unless it is
/// said) to `max`. An extent of 0 or 1 is captured by itself, and what is out of the bounds is captured again; and where the
/// framework needs the extent, a warning says so and each has a capture.
#[pyfunction]
#[pyo3(signature = (tensor, dim, min=None, max=None))]
fn mark_dynamic(tensor: Bound<'_, PyAny>, dim: Bound<'_, PyAny>, min: Option<i64>, max: Option<i64>) -> PyResult<()> {
    let axes = axes_of("mark_dynamic", &tensor, Some(&dim))?;
    let (least, most) = (min.unwrap_or(FIRST_THAT_VARIES).max(FIRST_THAT_VARIES), max.unwrap_or(i64::MAX));
    if min.is_some_and(|min| min < 0) || least > most {
        let text = |bound: Option<i64>| bound.map_or_else(|| "None".to_owned(), |bound| bound.to_string());
        let bounds = format!("min={}, max={}", text(min), text(max));
        let here = function_name("mark_dynamic");
        return Err(PyValueError::new_err(format!("{here}: no extent of two or more is within {bounds}")));
    }
    mark(&tensor, axes, Mark::Varies { least, most })
}

/// Each extent of a tensor along these axes, or any, has a capture of its own, however often it varies.
#[pyfunction]
#[pyo3(signature = (tensor, dim=None))]
fn mark_static(tensor: Bound<'_, PyAny>, dim: Option<Bound<'_, PyAny>>) -> PyResult<()> {
    let axes = axes_of("mark_static", &tensor, dim.as_ref())?;
    mark(&tensor, axes, Mark::Stays)
}

/// What `to_static(input_spec=..)` says of one argument that is a tensor.
struct ArgumentSpec {
    /// Extents; `None` where it varies.
    shape: Vec<Option<i64>>,
    dtype: Option<String>,
    /// The check of the first tensor that was as it says: others like it need no second look.
    fits: OnceLock<Box<dyn TensorCheck>>,
}

/// What `to_static(input_spec=..)` says of the arguments, in their order. Whatever is no description of a tensor says nothing.
pub struct InputSpec {
    arguments: Vec<Option<ArgumentSpec>>,
    /// As it was given, for copies of the function.
    given: Py<PyAny>,
}

impl InputSpec {
    /// An error: it is no list or tuple.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<InputSpec> {
        if !given.is_instance_of::<PyList>() && !given.is_instance_of::<PyTuple>() {
            let class = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{}: input_spec is a list with a description of each argument (its shape and dtype), not {class}",
                function_name("to_static")
            )));
        }
        let arguments = given.try_iter()?.map(|one| ArgumentSpec::of(&one?)).collect::<PyResult<_>>()?;
        Ok(InputSpec { arguments, given: given.clone().unbind() })
    }

    /// For the collector.
    pub(crate) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.given);
    }

    /// As it was given.
    pub fn given<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.given.bind(py).clone()
    }

    /// The axes along which the argument in a slot varies, in a call with `first` slots before the arguments.
    pub(crate) fn varying(&self, slot: u32, first: usize) -> Vec<FreeAxis> {
        let argument = (slot as usize).checked_sub(first).and_then(|at| self.arguments.get(at)?.as_ref());
        argument.map(ArgumentSpec::free_axes).unwrap_or_default()
    }

    /// An error: an argument is not as it says. `first`: slots before the arguments.
    pub(crate) fn check(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        slots: Slots<'_>,
        first: usize,
    ) -> PyResult<()> {
        let positional = facts::func_parts(function).and_then(|parts| Some(Signature::of(&parts.code)?.positional));
        let positional = positional.unwrap_or(0);
        for (at, spec) in self.arguments.iter().enumerate() {
            let (Some(spec), Some(argument)) = (spec, slots.get(py, at + first)) else { continue };
            if at + first >= positional {
                break;
            }
            if !spec.fits.get().is_some_and(|check| check.matches(argument)) {
                spec.check(function, &argument.to_owned(), at + first)?;
            }
        }
        Ok(())
    }
}

impl ArgumentSpec {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Option<ArgumentSpec>> {
        let is_container = given.is_instance_of::<PyList>() || given.is_instance_of::<PyDict>();
        let (Ok(shape), false) = (given.getattr("shape"), is_container) else { return Ok(None) };
        let extent = |extent: PyResult<Bound<'_, PyAny>>| -> PyResult<Option<i64>> {
            let extent: Option<i64> = extent?.extract()?;
            Ok(extent.filter(|extent| *extent >= 0))
        };
        let shape = shape.try_iter()?.map(extent).collect::<PyResult<_>>()?;
        let dtype = given.getattr("dtype").ok().filter(|dtype| !dtype.is_none());
        let dtype = dtype.map(|dtype| dtype.str().map(|text| text.to_string())).transpose()?;
        let dtype = dtype.map(|text| text.rsplit('.').next().unwrap_or_default().to_owned());
        Ok(Some(ArgumentSpec { shape, dtype, fits: OnceLock::new() }))
    }

    fn free_axes(&self) -> Vec<FreeAxis> {
        let free = self.shape.iter().enumerate().filter(|(_, extent)| extent.is_none());
        free.map(|(axis, _)| FreeAxis { axis, least: FIRST_THAT_VARIES, most: i64::MAX }).collect()
    }

    fn agrees(&self, meta: &TensorMeta) -> bool {
        let mut pairs = self.shape.iter().zip(&meta.shape);
        self.shape.len() == meta.shape.len()
            && pairs.all(|(wanted, extent)| wanted.is_none_or(|wanted| wanted == *extent))
            && self.dtype.as_ref().is_none_or(|dtype| **dtype == *meta.dtype)
    }

    fn check(&self, function: &Bound<'_, PyAny>, argument: &Bound<'_, PyAny>, slot: usize) -> PyResult<()> {
        let backend = registered().ok_or_else(crate::backend::none_registered)?;
        // What is no tensor is left to the function: a default, an array.
        if backend.classify(argument) != Kind::Tensor {
            return Ok(());
        }
        let meta = backend.tensor_meta(argument)?;
        if self.agrees(&meta) {
            let free: Vec<_> = self.free_axes().into_iter().map(|free| FreeAxis { least: 0, ..free }).collect();
            if let Some(Ok(check)) = backend.tensor_check_that_varies(argument, &free) {
                let _ = self.fits.set(check);
            }
            return Ok(());
        }
        let found = described(Some(&meta.dtype), meta.shape.iter().map(|extent| Some(*extent)));
        let wanted = described(self.dtype.as_deref(), self.shape.iter().copied());
        let name =
            function.getattr("__name__").and_then(|name| name.extract()).unwrap_or_else(|_| "a function".to_owned());
        let argument = function
            .getattr("__code__")
            .and_then(|code| code.getattr("co_varnames")?.get_item(slot)?.extract::<String>())
            .unwrap_or_else(|_| format!("argument {slot}"));
        Err(PyValueError::new_err(format!(
            "{}: {name}() was given {argument} = {found}, but its input_spec says {wanted}. Pass such a tensor, or \
             give the function another input_spec (None where an extent varies)",
            function_name("to_static")
        )))
    }
}

/// `float32[?, 3]`
fn described(dtype: Option<&str>, shape: impl Iterator<Item = Option<i64>>) -> String {
    let mut text = format!("{}[", dtype.unwrap_or("any dtype"));
    for (at, extent) in shape.enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        match extent {
            Some(extent) => write!(text, "{extent}").ok(),
            None => write!(text, "?").ok(),
        };
    }
    text + "]"
}

/// The Python functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(mark_dynamic, module)?)?;
    module.add_function(wrap_pyfunction!(mark_static, module)?)
}

//! What a call is given: where a program would do something else with it than eager, and what it is given instead.

use crate::grown::Grown;
use crate::names;
use crate::{inspect, meta, number_parameters};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PySlice, PyTuple};
use sot_core::backend::{CallKind, OpCall};
use sot_core::stop::{Reason, Why};

/// Calls whose arguments make a program do something else than eager.
pub(crate) fn differs(grown: &Grown, op: &OpCall<'_, '_>) -> Option<Why> {
    let mut values = Vec::new();
    let name = names::bare(op.name);
    let operator = op.kind == CallKind::Method && (op.callee.is_some() || op.name.starts_with("__"));
    if operator && !of_items(op.name) {
        // Anything but a number beside a symbolic value is read unchecked.
        let fits = |a: &Bound<'_, PyAny>| grown.handles.is_value(a) || is_number(a, op.name);
        if !op.args.iter().all(|a| fits(&a)) {
            return Some(Why::new(Reason::ApiRejected, format!("{} with an operand that is no number", op.name)));
        }
        // Eager gives this one an axis.
        let scalar = |a: &Bound<'_, PyAny>| !grown.handles.is_value(a) || meta::shape(a).is_ok_and(|s| s.is_empty());
        if op.name.contains("floordiv") && op.args.iter().all(|a| scalar(&a)) {
            return Some(Why::new(Reason::ApiRejected, "floordiv of a tensor without axes"));
        }
    }
    let array = |a: &Bound<'_, PyAny>| a.get_type().name().is_ok_and(|n| n.to_str().is_ok_and(|n| n == "ndarray"));
    let named = || op.kwargs.into_iter().flat_map(|kwargs| kwargs.values());
    let arrays: Vec<_> = op.args.iter().chain(named()).filter(array).collect();
    if !arrays.is_empty() && !matches!(name, "to_tensor" | "assign") {
        return Some(Why::new(Reason::ApiRejected, format!("{} of a NumPy array", op.name)));
    }
    // A program holds its items one by one.
    let large =
        |a: &Bound<'_, PyAny>| !a.getattr("size").and_then(|s| s.extract()).is_ok_and(|size: usize| size <= ITEMS);
    if arrays.iter().any(large) {
        return Some(Why::new(Reason::ApiRejected, format!("{} of a large array", op.name)));
    }
    let handles = &grown.handles;
    let is_tensor = |argument: &Bound<'_, PyAny>| {
        let mut values = Vec::new();
        inspect::values_in(handles, argument, &mut values);
        // What stands for an extent is a number.
        values.iter().any(|value| !grown.extents.contains(value))
    };
    let (known, tensor) = (&handles.number_parameters, handles.tensor.bind(op.args.py()));
    if let Some(parameter) = number_parameters::given_a_tensor(known, tensor, is_tensor, op) {
        return Some(Why::new(Reason::ApiRejected, format!("{name} with a tensor as {parameter}")));
    }
    let why = match name {
        "to_tensor" | "tensor" | "as_tensor" | "asarray" => {
            inspect::values_in(&grown.handles, op.args, &mut values);
            if let Some(kwargs) = op.kwargs {
                inspect::values_in(&grown.handles, kwargs, &mut values);
            }
            let complex = op.args.iter().any(|a| holds_complex(&a, DEPTH));
            if values.is_empty() && !complex {
                return None;
            }
            "making a tensor of tensors or complex numbers"
        }
        // Eager insists on a list.
        "concat" | "stack" if op.args.iter().next().is_some_and(|a| grown.handles.is_value(&a)) => {
            "one tensor instead of a list"
        }
        // Paddle reads missing arguments of this one unchecked.
        "index_put" if op.args.len() + op.kwargs.map_or(0, |k| k.len()) < 3 => "index_put without arguments",
        // Their number is an extent: a program of unknown ones ends the process.
        "unbind" | "unstack" => {
            if fixed_axis(op).is_some_and(|(value, axis)| extent(&value, axis).is_some_and(|extent| extent >= 0)) {
                return None;
            }
            inspect::values_in(&grown.handles, op.args, &mut values);
            let varies = |value: &Bound<'_, PyAny>| meta::shape(value).is_ok_and(|shape| shape.iter().any(|d| *d < 0));
            if !values.iter().any(varies) {
                return None;
            }
            "taking a tensor apart along an extent that varies"
        }
        // The indices have another dtype.
        "unique" if op.args.len() > 1 || op.kwargs.is_some_and(|k| !k.is_empty()) => "unique with options",
        _ => return None,
    };
    Some(Why::new(Reason::ApiRejected, why))
}

/// The operands of a sum, a difference or a product, where eager makes a tensor of a bool: one of the shape and the type of the other
/// operand. A program would take it for a number.
pub(crate) fn with_filled_bools<'py>(grown: &Grown, op: &OpCall<'_, 'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = op.args.py();
    let takes = op.kind == CallKind::Method && fills_bools(op.name);
    let tensor = op.args.iter().find(|arg| grown.handles.is_value(arg));
    let Some(tensor) = tensor.filter(|_| takes && op.args.iter().any(|arg| arg.is_exact_instance_of::<PyBool>()))
    else {
        return Ok(None);
    };
    let full = grown.handles.paddle.bind(py).getattr("full_like")?;
    let filled = |arg: Bound<'py, PyAny>| match arg.is_exact_instance_of::<PyBool>() {
        true => full.call1((&tensor, arg)),
        false => Ok(arg),
    };
    PyTuple::new(py, op.args.iter().map(filled).collect::<PyResult<Vec<_>>>()?).map(Some)
}

/// The operands of an operator, where some are numbers that eager takes for Python's own: members of an `IntEnum`, and beside
/// floats scalars of numpy. A program is built of Python's own.
pub(crate) fn with_plain_numbers<'py>(grown: &Grown, op: &OpCall<'_, 'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = op.args.py();
    let operator = op.kind == CallKind::Method && (op.callee.is_some() || op.name.starts_with("__"));
    let others = || op.args.iter().filter(|a| !grown.handles.is_value(a));
    if !operator || of_items(op.name) || others().all(|a| is_number(&a, op.name)) {
        return Ok(None);
    }
    let floating = |value: &Bound<'py, PyAny>| {
        meta::of_value(value, &grown.place, None).is_ok_and(|meta| meta.dtype.contains("float"))
    };
    let beside_floats = op.args.iter().filter(|a| grown.handles.is_value(a)).all(|a| floating(&a));
    let mut args = Vec::with_capacity(op.args.len());
    for arg in op.args.iter() {
        let ty = arg.get_type();
        let name = ty.name()?;
        let of_numpy = ty.module()? == "numpy" && SCALARS.iter().any(|known| name == *known);
        args.push(match () {
            () if is_number(&arg, op.name) || grown.handles.is_value(&arg) => arg,
            () if of_numpy && beside_floats => arg.call_method0("item")?,
            () if arg.is_instance_of::<PyInt>() && !arg.is_instance_of::<PyBool>() => {
                py.get_type::<PyInt>().call_method1("__int__", (arg,))?
            }
            () => arg,
        });
    }
    PyTuple::new(py, args).map(Some)
}

/// Whether an operator is given a filled tensor for a bool ([`with_filled_bools`]).
fn fills_bools(operator: &str) -> bool {
    matches!(operator.trim_matches('_'), "add" | "radd" | "sub" | "rsub" | "mul" | "rmul")
}

/// Whether an operator reads or writes items: its operands may be anything.
fn of_items(name: &str) -> bool {
    matches!(name.trim_matches('_'), "getitem" | "setitem")
}

/// Scalars of numpy that eager takes for numbers.
const SCALARS: &[&str] = &["float16", "float32", "int16", "int32", "int64", "int8", "uint8"];

/// A Python number that an operator treats beside a symbolic value as it does beside a tensor.
fn is_number(obj: &Bound<'_, PyAny>, operator: &str) -> bool {
    let compares = matches!(operator.trim_matches('_'), "eq" | "ne" | "and" | "or" | "xor");
    // numpy's widest float is a float of Python as well, and is taken as one.
    let of_numpy = || obj.is_instance_of::<PyFloat>() && obj.get_type().name().is_ok_and(|name| name == "float64");
    obj.is_exact_instance_of::<PyInt>()
        || obj.is_exact_instance_of::<PyFloat>()
        || of_numpy()
        || (compares || fills_bools(operator)) && obj.is_exact_instance_of::<PyBool>()
}

/// The tensor and the axis of `unbind(tensor, axis=0)`.
fn fixed_axis<'py>(op: &OpCall<'_, 'py>) -> Option<(Bound<'py, PyAny>, isize)> {
    let named = |name: &str| op.kwargs.and_then(|kwargs| kwargs.get_item(name).ok()?);
    let value = op.args.get_item(0).ok().or_else(|| named("input")).or_else(|| named("x"))?;
    let axis = match op.args.get_item(1).ok().or_else(|| named("axis")) {
        Some(axis) => axis.extract().ok()?,
        None => 0,
    };
    Some((value, axis))
}

/// The extent of a symbolic value along an axis, which may be counted from the end; -1 where it varies.
fn extent(value: &Bound<'_, PyAny>, axis: isize) -> Option<i64> {
    let shape = meta::shape(value).ok()?;
    let at = if axis < 0 { axis.checked_add_unsigned(shape.len())? } else { axis };
    shape.get(usize::try_from(at).ok()?).copied()
}

/// Whether a value is a complex number, Python's or of numpy, or a list of such: eager makes another type of it.
fn holds_complex(value: &Bound<'_, PyAny>, depth: u32) -> bool {
    let inside = |item: Bound<'_, PyAny>| depth > 0 && holds_complex(&item, depth - 1);
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().any(inside);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return tuple.iter().any(inside);
    }
    value.is_instance_of::<PyComplex>()
        || value.get_type().name().is_ok_and(|name| name.to_string().starts_with("complex"))
}

/// Items of an array that a program holds.
const ITEMS: usize = 1 << 14;

/// Containers inside each other that are looked through for large ints.
const DEPTH: u32 = 4;

/// The bounds and the step of a slice.
pub(crate) fn parts_of_slice<'py>(slice: &Bound<'py, PySlice>) -> impl Iterator<Item = Bound<'py, PyAny>> {
    ["start", "stop", "step"].into_iter().filter_map(|name| slice.getattr(name).ok())
}

/// Building an operation with an int that no attribute can hold takes the process down where eager raises.
pub(crate) fn holds_large_int(op: &OpCall<'_, '_>) -> Option<Why> {
    fn is_large(value: &Bound<'_, PyAny>, depth: u32) -> bool {
        if value.is_instance_of::<PyInt>() {
            return value.extract::<i64>().is_err();
        }
        if depth == 0 {
            return false;
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            tuple.iter().any(|item| is_large(&item, depth - 1))
        } else if let Ok(list) = value.cast::<PyList>() {
            list.iter().any(|item| is_large(&item, depth - 1))
        } else if let Ok(dict) = value.cast::<PyDict>() {
            dict.iter().any(|(_, item)| is_large(&item, depth - 1))
        } else if let Ok(slice) = value.cast_exact::<PySlice>() {
            parts_of_slice(slice).any(|part| is_large(&part, depth - 1))
        } else {
            false
        }
    }
    let large = is_large(op.args.as_any(), DEPTH) || op.kwargs.is_some_and(|kwargs| is_large(kwargs.as_any(), DEPTH));
    large.then(|| Why::new(Reason::ApiRejected, "an int of more than 64 bits"))
}

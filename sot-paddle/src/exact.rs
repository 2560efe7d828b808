//! Numbers that a program rounds and eager does not.
//!
//! In a program a Python number becomes an attribute or a constant of type float32, whatever the tensors beside it are.
//! For float32 and narrower tensors that is what eager comes to as well. For float64, complex128 and integers it is not:
//! `x * 0.1`, `x + 16777217`. Such graphs are replayed. Inputs of the first calls need not show the difference (zeros do
//! not), so it is decided here, from the program and from the arguments of each call.
//!
//! An attribute does not tell what it was before it was rounded. So a number counts as exact only if it needs few of the
//! bits that float32 has: what had to be rounded fills them all, but for one in thousands, such as `1 - 1e-12`; numbers
//! like that are found in the arguments.
//!
//! Divisions and powers with a number are another matter: there a program has another operation than eager. It is built
//! as in eager where that is possible ([`as_eager`]).

use crate::handles::{Handles, value_id};
use crate::prune::LiveOp;
use hashbrown::HashMap;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyTuple};
use sot_core::backend::{CallKind, OpCall};

/// Element types, as far as rounding goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    /// float32 and what is narrower, complex64, bool, what has no numbers.
    Narrow,
    /// float64, complex128.
    Wide,
    Integer,
}

fn width(value: &Bound<'_, PyAny>) -> Width {
    let name = value.getattr(intern!(value.py(), "dtype")).and_then(|d| d.str());
    match name.as_ref().map(|n| n.to_str().unwrap_or_default()) {
        Ok("paddle.float64" | "paddle.complex128") => Width::Wide,
        Ok(name) if name.starts_with("paddle.int") || name.starts_with("paddle.uint") => Width::Integer,
        _ => Width::Narrow,
    }
}

/// Bits of a float32's fraction that an exact number may use.
const FEW: u32 = 15;

/// Whether a number that is in a program is surely the one that was meant.
fn surely_exact(v: f64) -> bool {
    let rounded = f64::from(v as f32);
    if v.is_infinite() {
        // 1e300 becomes infinite, too.
        return false;
    }
    if v.is_nan() {
        return true;
    }
    let integer = v.fract() == 0.0 && v.abs() < f64::from(1_u32 << 24);
    // 52 bits of fraction in a float64.
    integer || rounded == v && v.to_bits().trailing_zeros() >= 52 - FEW
}

/// Whether float32 holds a number of the user's.
fn representable(v: f64) -> bool {
    !v.is_finite() || f64::from(v as f32) == v
}

fn numbers(obj: &Bound<'_, PyAny>, depth: usize, test: &dyn Fn(f64) -> bool) -> bool {
    if depth == 0 {
        return false;
    }
    if obj.is_exact_instance_of::<PyFloat>() {
        return obj.extract::<f64>().is_ok_and(test);
    }
    if obj.is_exact_instance_of::<PyInt>() {
        // Too large for an i64: certainly not what float32 holds.
        return obj.extract::<i64>().map_or(true, |i| i.unsigned_abs() > 1 << 24 && (i as f32) as i64 != i);
    }
    if let Ok(list) = obj.cast::<PyList>() {
        return list.iter().any(|o| numbers(&o, depth - 1, test));
    }
    if let Ok(tuple) = obj.cast::<PyTuple>() {
        return tuple.iter().any(|o| numbers(&o, depth - 1, test));
    }
    false
}

/// What a program makes of an operator with a number on its right where eager does something else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// Multiplied with the inverse, where eager divides.
    Divide,
    /// The operation for two tensors, where eager has one for numbers.
    Pow,
}

/// The operator, the tensor and the number of such a call.
fn with_number<'py>(
    handles: &Handles,
    op: &OpCall<'_, 'py>,
) -> Option<(Operator, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let operator = match op.name {
        "__truediv__" | "__div__" => Operator::Divide,
        "__pow__" => Operator::Pow,
        _ => return None,
    };
    let (tensor, number) = op.args.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>().ok()?;
    let is_number = number.is_exact_instance_of::<PyFloat>() || number.is_exact_instance_of::<PyInt>();
    (op.kind == CallKind::Method && is_number && handles.is_value(&tensor)).then_some((operator, tensor, number))
}

/// Whether [`as_eager`] knows what eager does to tensors of this type.
fn known(tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
    let dtype = tensor.getattr(intern!(tensor.py(), "dtype"))?.str()?;
    Ok(matches!(dtype.to_str()?, "paddle.float32" | "paddle.float64"))
}

/// Build what eager does where a program would do something else.
pub(crate) fn as_eager<'py>(handles: &Handles, op: &OpCall<'_, 'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((operator, tensor, number)) = with_number(handles, op) else { return Ok(None) };
    if !known(&tensor)? {
        return Ok(None);
    }
    let py = tensor.py();
    let ops = handles.c_ops.bind(py);
    let result = match operator {
        Operator::Pow => ops.getattr(intern!(py, "pow"))?.call1((tensor, number))?,
        Operator::Divide if power_of_two(number.extract()?) => return Ok(None),
        Operator::Divide => {
            let dtype = tensor.getattr(intern!(py, "dtype"))?;
            let number = number.extract::<f64>()?;
            let full = ops.getattr(intern!(py, "full"))?;
            let divisor = full.call1((PyList::empty(py), number, dtype, &handles.any_place))?;
            ops.getattr(intern!(py, "divide"))?.call1((tensor, divisor))?
        }
    };
    Ok(Some(result))
}

/// Whether multiplying with the inverse is dividing.
fn power_of_two(v: f64) -> bool {
    v.is_normal() && v.to_bits().trailing_zeros() >= 52 && (1.0 / v).is_normal()
}

/// Whether the program that a call appended has a number that eager has not: one that float32 does not hold, beside
/// types that do; the inverse of a divisor.
pub(crate) fn rounds(handles: &Handles, op: &OpCall<'_, '_>, result: &Bound<'_, PyAny>) -> bool {
    if let Some((operator, tensor, number)) = with_number(handles, op) {
        let exact = known(&tensor).unwrap_or(false);
        match operator {
            Operator::Divide if exact => return false,
            Operator::Divide => return !number.extract().is_ok_and(power_of_two),
            Operator::Pow if !exact && width(&tensor) != Width::Integer => return true,
            Operator::Pow => {}
        }
    }
    let (args, kwargs) = (op.args, op.kwargs);
    let test = |v: f64| !representable(v);
    let found = numbers(args, 8, &test) || kwargs.is_some_and(|k| k.values().iter().any(|v| numbers(&v, 8, &test)));
    if !found {
        return false;
    }
    let mut values = Vec::new();
    crate::inspect::values_in(handles, args, &mut values);
    crate::inspect::values_in(handles, result, &mut values);
    if let Some(kwargs) = kwargs {
        crate::inspect::values_in(handles, kwargs, &mut values);
    }
    values.iter().any(|v| width(v) != Width::Narrow)
}

/// Operations that make constants, as full as their type allows.
pub(crate) const CONSTANTS: &[&str] = &["pd_op.full", "pd_op.assign_value_", "pd_op.full_int_array"];

/// Attributes that are no numbers of the operation's.
const NO_NUMBERS: &[&str] = &["op_callstack", "stop_gradient", "place", "dtype"];

/// The first number of a program that may have been rounded, in words.
pub(crate) fn rounded(py: Python<'_>, live: &[LiveOp]) -> PyResult<Option<String>> {
    let mut widths: HashMap<i64, Width> = HashMap::new();
    // Narrow constants that may have been rounded.
    let mut suspects: HashMap<i64, ()> = HashMap::new();
    for entry in live {
        let op = entry.op.bind(py);
        let results = op.call_method0(intern!(py, "results"))?.cast_into::<PyList>()?;
        let mut result_widths = Vec::with_capacity(results.len());
        for result in results.iter() {
            let width = width(&result);
            widths.insert(value_id(&result)?, width);
            result_widths.push(width);
        }
        let constant = CONSTANTS.contains(&&*entry.name);
        if constant {
            if result_widths.iter().all(|w| *w == Width::Narrow) && suspicious(op)? {
                suspects.extend(entry.results.iter().map(|r| (*r, ())));
            }
            continue;
        }
        let operands: Vec<(i64, Width)> =
            entry.operands.iter().filter_map(|o| widths.get(o).map(|w| (*o, *w))).collect();
        let own = || operands.iter().filter(|(o, _)| !suspects.contains_key(o));
        let wide = result_widths.contains(&Width::Wide) || operands.iter().any(|(_, w)| *w == Width::Wide);
        let integer = result_widths.contains(&Width::Integer) && own().all(|(_, w)| *w == Width::Integer);
        if !wide && !integer {
            continue;
        }
        if operands.iter().any(|(o, _)| suspects.contains_key(o)) || suspicious(op)? {
            return Ok(Some(format!("a number of {} may be rounded to float32", entry.name)));
        }
    }
    Ok(None)
}

/// Whether an attribute of an operation may have been rounded.
fn suspicious(op: &Bound<'_, PyAny>) -> PyResult<bool> {
    let test = |v: f64| !surely_exact(v);
    let attributes = op.call_method0(intern!(op.py(), "attrs"))?.cast_into::<PyDict>()?;
    for (name, value) in attributes.iter() {
        let name: String = name.extract()?;
        if !NO_NUMBERS.contains(&name.as_str()) && !value.is_instance_of::<PyInt>() && numbers(&value, 2, &test) {
            return Ok(true);
        }
    }
    Ok(false)
}

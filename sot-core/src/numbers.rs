//! Arithmetic on numbers of C: what guards and simulation compute of a number whose value may be another one at each call.
//!
//! Operands are exact ints, floats and bools, so that no code of the program runs.

use crate::cpython::{facts, signals};
use crate::type_facts;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyCFunction, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sot_opcodes::{BinaryOp, CompareOp as Compared, Op, UnaryOp};
use sot_tracker::Arithmetic;

/// Operations that are operators of the language.
const OPERATORS: &[(Arithmetic, BinaryOp)] = &[
    (Arithmetic::Add, BinaryOp::Add),
    (Arithmetic::Subtract, BinaryOp::Subtract),
    (Arithmetic::Multiply, BinaryOp::Multiply),
    (Arithmetic::TrueDivide, BinaryOp::TrueDivide),
    (Arithmetic::FloorDivide, BinaryOp::FloorDivide),
    (Arithmetic::Remainder, BinaryOp::Remainder),
    (Arithmetic::Rshift, BinaryOp::Rshift),
    (Arithmetic::Lshift, BinaryOp::Lshift),
    (Arithmetic::Power, BinaryOp::Power),
    (Arithmetic::And, BinaryOp::And),
    (Arithmetic::Or, BinaryOp::Or),
    (Arithmetic::Xor, BinaryOp::Xor),
    // Of two texts.
    (Arithmetic::Join, BinaryOp::Add),
];

/// The largest exponent of an int, shift and count of digits.
const LARGEST: i64 = 256;

const COMPARISONS: &[(Arithmetic, Compared)] = &[
    (Arithmetic::Lt, Compared::Lt),
    (Arithmetic::Le, Compared::Le),
    (Arithmetic::Eq, Compared::Eq),
    (Arithmetic::Ne, Compared::Ne),
    (Arithmetic::Gt, Compared::Gt),
    (Arithmetic::Ge, Compared::Ge),
];

/// What an operator does with two numbers; `None`: what guards must not do.
pub(crate) fn of_operator(op: BinaryOp) -> Option<Arithmetic> {
    OPERATORS.iter().find(|(_, known)| *known == op).map(|(arithmetic, _)| *arithmetic)
}

/// What a function of module `math` does with one number, or with two.
pub(crate) fn of_math(function: &str, of_two: bool) -> Option<Arithmetic> {
    Arithmetic::ALL.into_iter().find(|op| op.is_of_math() && op.is_binary() == of_two && op.sign() == function)
}

/// A function of module `math`, whatever the program has put in its place.
fn function_of_math(py: Python<'_>, op: Arithmetic) -> PyResult<&Bound<'_, PyAny>> {
    static FUNCTIONS: [PyOnceLock<Py<PyAny>>; Arithmetic::ALL.len()] =
        [const { PyOnceLock::new() }; Arithmetic::ALL.len()];
    let find = || -> PyResult<Py<PyAny>> {
        let found = crate::cpython::module(py, "math")?.getattr(op.sign())?;
        let of_c = found.is_instance_of::<PyCFunction>()
            && found.getattr("__module__")?.eq("math")?
            && found.getattr("__name__")?.eq(op.sign())?;
        of_c.then(|| found.unbind()).ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("another function of math"))
    };
    FUNCTIONS[op as usize].get_or_try_init(py, find).map(|function| function.bind(py))
}

/// Whether a power, a shift or a rounding is small enough to be computed wherever a path leads to it.
fn is_small(op: Arithmetic, left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> bool {
    let is_float = |number: &Bound<'_, PyAny>| number.is_exact_instance_of::<PyFloat>();
    match op {
        Arithmetic::Power if is_float(left) || is_float(right) => true,
        Arithmetic::RoundTo if is_float(left) => right.extract::<i64>().is_ok(),
        _ => left.extract::<i64>().is_ok() && right.extract::<i64>().is_ok_and(|by| by.abs() <= LARGEST),
    }
}

/// How a comparison compares two numbers.
pub(crate) fn of_comparison(op: Compared) -> Option<Arithmetic> {
    COMPARISONS.iter().find(|(_, known)| *known == op).map(|(arithmetic, _)| *arithmetic)
}

/// The instruction that computes this; `None`: it takes a call.
pub(crate) fn instruction(op: Arithmetic) -> Option<Op> {
    match op {
        Arithmetic::Negative => return Some(Op::Unary(UnaryOp::Negative)),
        Arithmetic::Invert => return Some(Op::Unary(UnaryOp::Invert)),
        Arithmetic::Item => return Some(Op::BinarySubscr),
        _ => {}
    }
    let operator = OPERATORS.iter().find(|(known, _)| *known == op);
    let comparison = COMPARISONS.iter().find(|(known, _)| *known == op);
    operator
        .map(|(_, op)| Op::Binary { op: *op, inplace: false })
        .or(comparison.map(|(_, op)| Op::Compare { op: *op, to_bool: false }))
}

/// Whether arithmetic can go on from a value: an exact int, float or bool.
pub(crate) fn is_number(value: &Bound<'_, PyAny>) -> bool {
    varies(value) || value.is_instance_of::<PyBool>()
}

/// Whether a value is a number that is likely to be another one at the next call.
pub(crate) fn varies(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyFloat>()
}

/// Whether a value is a list or a tuple, and of no class of the program.
pub(crate) fn is_sequence(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyList>() || value.is_exact_instance_of::<PyTuple>()
}

/// Whether an item is found without code of the program: of a list or a tuple at an int; of a dict by a number or a text, which is
/// compared with others like it.
fn has_silent_items(container: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> bool {
    if is_sequence(container) {
        return key.is_exact_instance_of::<PyInt>();
    }
    let Ok(dict) = container.cast_exact::<PyDict>() else { return false };
    if facts::holds_names_alone(dict) {
        return is_number(key) || is_text(key);
    }
    let known = (is_number(key) || is_text(key)).then(|| key.hash().ok()).flatten();
    known.is_some_and(|hash| facts::keys_of_hash(dict, key, hash).iter().all(type_facts::is_silent))
}

/// Whether a value is text, and of no class of the program.
pub(crate) fn is_text(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyString>()
}

/// Whether two numbers are the same to whoever looks: of one type, and of one value; a zero has a sign.
pub(crate) fn are_alike(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    match (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        (Ok(a), Ok(b)) => a.value().to_bits() == b.value().to_bits(),
        _ => a.get_type().is(b.get_type()) && a.eq(b).unwrap_or(false),
    }
}

/// What an operation comes to; `None`: it raises, or is not of numbers.
pub(crate) fn computed<'py>(
    op: Arithmetic,
    left: &Bound<'py, PyAny>,
    right: Option<&Bound<'py, PyAny>>,
) -> Option<Bound<'py, PyAny>> {
    let fits = match op {
        Arithmetic::Join => is_text(left) && right.is_some_and(is_text),
        Arithmetic::Format => is_number(left) && right.is_some_and(is_text),
        Arithmetic::Item => right.is_some_and(|key| has_silent_items(left, key)),
        Arithmetic::Has => !is_sequence(left) && right.is_some_and(|key| has_silent_items(left, key)),
        Arithmetic::Extent => return extent(left, right?),
        Arithmetic::Length => is_sequence(left) || left.is_exact_instance_of::<PyDict>() || facts::is_deque(left),
        _ => is_number(left) && right.is_none_or(is_number),
    };
    if !fits {
        return None;
    }
    if let (Arithmetic::Power | Arithmetic::Lshift | Arithmetic::RoundTo, Some(right)) = (op, right)
        && !is_small(op, left, right)
    {
        return None;
    }
    let py = left.py();
    let right = || right.ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("an operand is missing"));
    let compared = |how| left.rich_compare(right()?, how);
    let compute = || match op {
        _ if op.is_of_math() => function_of_math(py, op).and_then(|function| match op.is_binary() {
            true => right().and_then(|right| function.call1((left, right))),
            false => function.call1((left,)),
        }),
        Arithmetic::Item => right().and_then(|right| left.get_item(right)),
        Arithmetic::Has => {
            let has = right().and_then(|right| left.contains(right));
            has.map(|has| PyBool::new(py, has).to_owned().into_any())
        }
        Arithmetic::Length => left.len().and_then(|length| Ok(length.into_pyobject(py)?.into_any())),
        Arithmetic::Add | Arithmetic::Join => right().and_then(|right| left.add(right)),
        Arithmetic::Subtract => right().and_then(|right| left.sub(right)),
        Arithmetic::Multiply => right().and_then(|right| left.mul(right)),
        Arithmetic::TrueDivide => right().and_then(|right| left.div(right)),
        Arithmetic::FloorDivide => right().and_then(|right| left.floor_div(right)),
        Arithmetic::Remainder => right().and_then(|right| left.rem(right)),
        Arithmetic::Rshift => right().and_then(|right| left.rshift(right)),
        Arithmetic::And => right().and_then(|right| left.bitand(right)),
        Arithmetic::Or => right().and_then(|right| left.bitor(right)),
        Arithmetic::Xor => right().and_then(|right| left.bitxor(right)),
        Arithmetic::Lt => compared(CompareOp::Lt),
        Arithmetic::Le => compared(CompareOp::Le),
        Arithmetic::Eq => compared(CompareOp::Eq),
        Arithmetic::Ne => compared(CompareOp::Ne),
        Arithmetic::Gt => compared(CompareOp::Gt),
        Arithmetic::Ge => compared(CompareOp::Ge),
        Arithmetic::Negative => left.neg(),
        Arithmetic::Invert => left.bitnot(),
        Arithmetic::Abs => left.abs(),
        Arithmetic::Bool => left.is_truthy().map(|truth| PyBool::new(py, truth).to_owned().into_any()),
        Arithmetic::Int => py.get_type::<PyInt>().call1((left,)),
        Arithmetic::Float => py.get_type::<PyFloat>().call1((left,)),
        Arithmetic::Str => left.str().map(Bound::into_any),
        Arithmetic::Repr => left.repr().map(Bound::into_any),
        Arithmetic::Lshift => right().and_then(|right| left.lshift(right)),
        // A negative number has complex powers.
        Arithmetic::Power => {
            right().and_then(|right| left.pow(right, py.None())).and_then(|power| match varies(&power) {
                true => Ok(power),
                false => Err(pyo3::exceptions::PyTypeError::new_err("no real number")),
            })
        }
        Arithmetic::Round => left.call_method0("__round__"),
        Arithmetic::RoundTo => right().and_then(|right| left.call_method1("__round__", (right,))),
        Arithmetic::Format => right().and_then(|spec| left.call_method1("__format__", (spec,))),
        _ => Err(pyo3::exceptions::PyTypeError::new_err("no number")),
    };
    match op {
        // What is often not there is not asked for twice.
        Arithmetic::Item | Arithmetic::Has => compute().ok(),
        _ => signals::asking(py, compute),
    }
}

/// The extent of a tensor along an axis, as the framework says.
fn extent<'py>(tensor: &Bound<'py, PyAny>, axis: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let axis = axis.extract::<usize>().ok()?;
    let extent = crate::backend::registered()?.extent(tensor, axis)?;
    Some(extent.into_pyobject(tensor.py()).ok()?.into_any())
}

/// The smallest number of digits that `sys.set_int_max_str_digits` takes for a limit. With fewer there is none to meet.
const FEWEST_DIGITS: u32 = 640;

/// How the error of `int` and `str` begins that have met a limit.
const MET: &str = "Exceeds the limit (";

/// Ask C for something that may be a conversion between an int and its digits: it succeeds if it would under any limit that the program
/// may set, which no guard asks for. Interpreters without a limit are asked as they are.
pub(crate) fn under_any_limit<T>(py: Python<'_>, ask: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    static LIMIT: PyOnceLock<Option<[Py<PyAny>; 2]>> = PyOnceLock::new();
    let functions = LIMIT.get_or_init(py, || {
        let sys = crate::cpython::module(py, "sys").ok()?;
        let [get, set] = ["get_int_max_str_digits", "set_int_max_str_digits"].map(|name| sys.getattr(name).ok());
        Some([get?.unbind(), set?.unbind()])
    });
    let Some([get, set]) = functions else { return ask() };
    let before = get.bind(py).call0()?;
    set.bind(py).call1((FEWEST_DIGITS,))?;
    let told = ask();
    set.bind(py).call1((before,))?;
    told
}

/// Whether an error says that there are too many digits.
pub(crate) fn met_a_limit(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyValueError>(py)
        && error.value(py).str().is_ok_and(|text| text.to_str().is_ok_and(|text| text.starts_with(MET)))
}

//! What is known of numpy: its scalars are values like Python's own numbers, and which of its functions have no effect.
//!
//! That is the minimum for code around tensors (`int(np.prod(shape))`, `np.sqrt(width)`, `np.float32(0.5)`). Arrays are objects
//! that anybody may write to: they are not simulated.

use crate::cpython::facts;
use crate::objects::is_constant_type;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

/// Names of the scalar types. The widest floats are left out: some of their bytes mean nothing.
const SCALARS: &[&str] = &[
    "bool",
    "bool_",
    "complex128",
    "complex64",
    "float16",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "intc",
    "longlong",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintc",
    "ulonglong",
];

/// Functions over numbers, beside those that work item by item (`ufunc`).
const PURE: &[&str] = &[
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "around",
    "array_equal",
    "average",
    "isclose",
    "isscalar",
    "max",
    "mean",
    "median",
    "min",
    "ndim",
    "prod",
    "product",
    "round",
    "shape",
    "size",
    "std",
    "sum",
    "var",
];

/// The file that the code of its dispatchers is said to come from.
pub(crate) const DISPATCHERS: &str = "<__array_function__ internals>";

/// What an array says of itself, made anew at each question or the same for good.
const OF_ARRAYS: &[&str] = &["dtype", "itemsize", "nbytes", "ndim", "shape", "size"];

struct Known {
    names: Py<PyDict>,
    array: Py<PyAny>,
    scalars: Vec<Py<PyAny>>,
    ufunc: Py<PyAny>,
    errstate: Py<PyAny>,
}

/// `None` as long as the program has not imported numpy.
fn known(py: Python<'_>) -> Option<&'static Known> {
    static KNOWN: PyOnceLock<Known> = PyOnceLock::new();
    if let Some(known) = KNOWN.get(py) {
        return Some(known);
    }
    let numpy = facts::imported(py, "numpy")?.cast_into::<PyModule>().ok()?.dict();
    let found = |name: &str| numpy.get_item(name).ok().flatten();
    // It may be half imported.
    let [array, ufunc, errstate] = ["ndarray", "ufunc", "errstate"].map(|name| found(name).map(Bound::unbind));
    let (array, ufunc, errstate) = (array?, ufunc?, errstate?);
    let scalars = SCALARS.iter().filter_map(|name| found(name)).map(Bound::unbind).collect();
    let names = numpy.clone().unbind();
    Some(KNOWN.get_or_init(py, || Known { names, array, scalars, ufunc, errstate }))
}

/// Whether a type may be one of numpy's own. Asked of all that is met, whether or not the program has imported numpy.
fn is_of_numpy(ty: &Bound<'_, PyType>) -> bool {
    !facts::is_heap_type(ty) && facts::is_named_below(ty, "numpy.")
}

/// Whether a type is one of numpy's numbers.
pub(crate) fn is_scalar_type(ty: &Bound<'_, PyType>) -> bool {
    !is_constant_type(ty)
        && is_of_numpy(ty)
        && known(ty.py()).is_some_and(|known| known.scalars.iter().any(|scalar| ty.is(scalar)))
}

/// Whether a value is an array itself, of no class that extends it.
pub(crate) fn is_array(value: &Bound<'_, PyAny>) -> bool {
    let ty = value.get_type();
    is_of_numpy(&ty) && known(value.py()).is_some_and(|known| ty.is(&known.array))
}

/// Whether an attribute of a value is what an array says of itself.
pub(crate) fn is_field_of_array(value: &Bound<'_, PyAny>, name: &str) -> bool {
    OF_ARRAYS.contains(&name) && is_array(value)
}

/// Whether two scalars of one type are the same, bit by bit: a NaN is itself, and 0.0 is not -0.0.
pub(crate) fn same_scalars(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    let (a, b) = (a.call_method0("tobytes"), b.call_method0("tobytes"));
    a.and_then(|a| a.eq(b?)).unwrap_or(false)
}

/// Whether a function is what numpy before 1.25 calls its own functions through, each of which is a C object since.
pub(crate) fn is_dispatcher(function: &Bound<'_, PyAny>) -> bool {
    let code = function.cast::<PyFunction>().ok().and_then(|function| function.getattr("__code__").ok());
    let file = code.and_then(|code| code.getattr("co_filename").ok());
    file.is_some_and(|file| file.cast::<PyString>().is_ok_and(|file| file == DISPATCHERS))
}

/// Whether a callable is a function of numpy that has no effect, and depends on its arguments alone.
pub(crate) fn is_pure(callable: &Bound<'_, PyAny>) -> bool {
    let ty = callable.get_type();
    if callable.cast::<PyType>().is_ok_and(is_scalar_type) {
        return true;
    }
    let function = is_dispatcher(callable);
    if !function && !is_of_numpy(&ty) {
        return false;
    }
    let Some(known) = known(callable.py()) else { return false };
    let dispatched = function || ty.name().is_ok_and(|name| name == "_ArrayFunctionDispatcher");
    if !ty.is(&known.ufunc) && !dispatched {
        return false;
    }
    // The program may make such functions of its own (`np.frompyfunc`).
    let name: String = callable.getattr("__name__").and_then(|name| name.extract()).unwrap_or_default();
    let own = facts::value_of_name(known.names.bind(callable.py()), &name);
    own.is_some_and(|own| own.is(callable)) && (!dispatched || PURE.contains(&name.as_str()))
}

/// The result of such a function. What would warn (a division by zero, an overflow) raises.
pub(crate) fn call<'py>(
    callable: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = callable.py();
    let Some(known) = known(py) else { return callable.call(args, keywords) };
    let all = [("all", "raise")].into_py_dict(py)?;
    let errors = known.errstate.bind(py).call((), Some(&all))?;
    errors.call_method0("__enter__")?;
    let result = callable.call(args, keywords);
    errors.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    result
}

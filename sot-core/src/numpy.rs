//! What is known of numpy: its scalars are values like Python's own numbers, and which of its functions have no effect.
//!
//! That is the minimum for code around tensors (`int(np.prod(shape))`, `np.sqrt(width)`, `np.float32(0.5)`, `np.linspace(0, 1, n)`).
//! Arrays are objects that anybody may write to: those from before the frame are not simulated, and of those that the frame makes
//! none that it has written to.

use crate::cpython::facts;
use crate::objects::is_constant_type;
use pyo3::exceptions::PyWarning;
use pyo3::intern;
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

/// Functions that make arrays of their arguments alone, beside those above. None that a library of linear algebra answers, whose
/// numbers may depend on where an array lies.
const OF_ARRAYS_ONLY: &[&str] = &[
    "append",
    "arange",
    "argsort",
    "array",
    "array_split",
    "asarray",
    "atleast_1d",
    "atleast_2d",
    "bincount",
    "broadcast_arrays",
    "broadcast_to",
    "clip",
    "concatenate",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "diff",
    "expand_dims",
    "eye",
    "flip",
    "full",
    "full_like",
    "hstack",
    "identity",
    "isin",
    "linspace",
    "logspace",
    "moveaxis",
    "nonzero",
    "ones",
    "ones_like",
    "outer",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "searchsorted",
    "sort",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unique",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
];

/// Methods of an array that read it and nothing else.
const READING: &[&str] = &[
    "__abs__",
    "__bool__",
    "__copy__",
    "__float__",
    "__getitem__",
    "__index__",
    "__int__",
    "__len__",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "astype",
    "clip",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "flatten",
    "item",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "tolist",
    "transpose",
    "var",
];

/// Operators that make a new value, by their names in module `operator`.
const OPERATORS: &[&str] = &[
    "abs", "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "inv", "invert", "le", "lshift", "lt", "mod", "mul",
    "ne", "neg", "or_", "pos", "pow", "rshift", "sub", "truediv", "xor",
];

/// Functions that work item by item, which a library of linear algebra answers.
const BY_LIBRARIES: &[&str] = &["matmul", "matvec", "vecdot", "vecmat"];

/// Bytes of an array that is made while a frame is simulated, at most.
const MOST_BYTES: usize = 1 << 20;

/// The file that the code of its dispatchers is said to come from.
pub(crate) const DISPATCHERS: &str = "<__array_function__ internals>";

/// What an array says of itself, made anew at each question or the same for good.
const OF_ARRAYS: &[&str] = &["dtype", "itemsize", "nbytes", "ndim", "shape", "size"];

/// What a type of items says of itself, for good.
const OF_TYPES: &[&str] = &[
    "alignment",
    "byteorder",
    "char",
    "isbuiltin",
    "isnative",
    "itemsize",
    "kind",
    "name",
    "ndim",
    "num",
    "str",
    "type",
];

struct Known {
    names: Py<PyDict>,
    array: Py<PyAny>,
    dtype: Py<PyAny>,
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
    let [array, dtype, ufunc, errstate] =
        ["ndarray", "dtype", "ufunc", "errstate"].map(|name| found(name).map(Bound::unbind));
    let (array, dtype, ufunc, errstate) = (array?, dtype?, ufunc?, errstate?);
    let scalars = SCALARS.iter().filter_map(|name| found(name)).map(Bound::unbind).collect();
    let names = numpy.clone().unbind();
    Some(KNOWN.get_or_init(py, || Known { names, array, dtype, scalars, ufunc, errstate }))
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

/// Whether an array holds numbers that are all that there is to it, and not too many of them.
pub(crate) fn is_plain_array(array: &Bound<'_, PyAny>) -> bool {
    let asked = || -> PyResult<bool> {
        let dtype = array.getattr("dtype")?;
        let (kind, native): (char, bool) = (dtype.getattr("kind")?.extract()?, dtype.getattr("isnative")?.extract()?);
        let scalar = dtype.getattr("type")?;
        let known = scalar.cast::<PyType>().is_ok_and(|scalar| is_scalar_type(scalar));
        Ok("biufc".contains(kind) && native && known && array.getattr("nbytes")?.extract::<usize>()? <= MOST_BYTES)
    };
    asked().unwrap_or(false)
}

/// Keep an array from being written to.
pub(crate) fn protect(array: &Bound<'_, PyAny>) -> PyResult<()> {
    array.call_method("setflags", (), Some(&[("write", false)].into_py_dict(array.py())?)).map(|_| ())
}

/// Whether a value says of which type items are, and has no more to it.
pub(crate) fn is_type_of_items(value: &Bound<'_, PyAny>) -> bool {
    match value.cast::<PyType>() {
        Ok(class) => is_scalar_type(class) || is_constant_type(class),
        Err(_) => is_dtype(value),
    }
}

/// Whether a value is one of the types of items that numpy has one object for, for good.
pub(crate) fn is_dtype(value: &Bound<'_, PyAny>) -> bool {
    let ty = value.get_type();
    let one = || value.getattr("isbuiltin").and_then(|known| known.extract::<i64>()).is_ok_and(|known| known == 1);
    is_of_numpy(&ty)
        && known(value.py()).is_some_and(|known| ty.is(&known.dtype) || is_below(&ty, &known.dtype))
        && one()
}

fn is_below(ty: &Bound<'_, PyType>, class: &Py<PyAny>) -> bool {
    ty.mro().iter().any(|base| base.is(class))
}

/// Whether an attribute of a value is what such a type says of itself.
pub(crate) fn is_field_of_dtype(value: &Bound<'_, PyAny>, name: &str) -> bool {
    OF_TYPES.contains(&name) && is_dtype(value)
}

/// Whether a class is the one whose values say where a type of numbers ends (`np.finfo`): numpy keeps one for each type.
pub(crate) fn is_kept_limits(class: &Bound<'_, PyAny>) -> bool {
    let py = class.py();
    let named = class.cast::<PyType>().is_ok_and(|class| facts::name_in_messages(class) == "finfo");
    // What the program has put there may have any metaclass.
    let Some(known) = (named && class.get_type().is(py.get_type::<PyType>())).then(|| known(py)).flatten() else {
        return false;
    };
    facts::value_of_name(known.names.bind(py), "finfo").is_some_and(|own| own.is(class))
        && class.getattr("__module__").is_ok_and(|module| module.extract::<&str>().is_ok_and(is_its_module))
}

/// Whether a method of arrays of this name reads and does nothing else.
pub(crate) fn reads_array(name: &str) -> bool {
    READING.contains(&name)
}

/// Whether an operator of this name in module `operator` makes a new value.
pub(crate) fn is_operator(name: &str) -> bool {
    OPERATORS.contains(&name)
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

/// Whether a function is one that numpy itself has written in Python, to make an array.
pub(crate) fn is_maker(function: &Bound<'_, PyAny>) -> bool {
    let Some(parts) = facts::func_parts(function) else { return false };
    let py = function.py();
    let name: String = parts.code.getattr("co_name").and_then(|name| name.extract()).unwrap_or_default();
    let Some(known) = OF_ARRAYS_ONLY.contains(&name.as_str()).then(|| known(py)).flatten() else { return false };
    // The program may have put one of its own there.
    let names = known.names.bind(py);
    let own = facts::value_of_name(names, &name).is_some_and(|own| own.is(function));
    own && file_of(&parts.code)
        .zip(names.get_item("__file__").ok().flatten().and_then(|file| file.extract::<String>().ok()))
        .is_some_and(|(file, package)| package.strip_suffix("__init__.py").is_some_and(|of| file.starts_with(of)))
}

fn file_of(code: &Bound<'_, PyAny>) -> Option<String> {
    code.getattr("co_filename").and_then(|file| file.extract()).ok()
}

/// Whether a callable is a function of numpy that has no effect, and depends on its arguments alone.
pub(crate) fn is_pure(callable: &Bound<'_, PyAny>) -> bool {
    let ty = callable.get_type();
    if callable.cast::<PyType>().is_ok_and(is_scalar_type) {
        return true;
    }
    let function = is_dispatcher(callable);
    let of_c = callable.is_exact_instance_of::<PyCFunction>();
    if !function && !of_c && !is_of_numpy(&ty) {
        return is_maker(callable);
    }
    if of_c && !callable.getattr("__module__").is_ok_and(|module| module.extract::<&str>().is_ok_and(is_its_module)) {
        return false;
    }
    let Some(known) = known(callable.py()) else { return false };
    if callable.is(&known.dtype) {
        return true;
    }
    let dispatched = function || ty.name().is_ok_and(|name| name == "_ArrayFunctionDispatcher");
    if !ty.is(&known.ufunc) && !dispatched && !of_c {
        return false;
    }
    // The program may make such functions of its own (`np.frompyfunc`).
    let name: String = callable.getattr("__name__").and_then(|name| name.extract()).unwrap_or_default();
    let own = facts::value_of_name(known.names.bind(callable.py()), &name);
    let any = ty.is(&known.ufunc) || PURE.contains(&name.as_str()) || OF_ARRAYS_ONLY.contains(&name.as_str());
    any && own.is_some_and(|own| own.is(callable)) && !BY_LIBRARIES.contains(&name.as_str())
}

/// Whether functions of C of a module with this name are numpy's.
fn is_its_module(module: &str) -> bool {
    module == "numpy" || module.starts_with("numpy.")
}

/// Whether such a function makes arrays of whatever it is given.
pub(crate) fn makes_arrays(callable: &Bound<'_, PyAny>) -> bool {
    let name = callable.getattr("__name__").and_then(|name| name.extract::<String>());
    name.is_ok_and(|name| OF_ARRAYS_ONLY.contains(&name.as_str()) || name == "dtype")
}

/// The result of such a function. What would warn (a division by zero, an overflow) raises.
pub(crate) fn call<'py>(
    callable: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = callable.py();
    raising(py, &["all"], || without_warnings(py, || callable.call(args, keywords)))
}

/// Do something in which numpy raises `FloatingPointError` where the program would be warned of an error: one that numpy does not
/// ignore by itself.
pub fn raising_warnings<T>(py: Python<'_>, asked: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    raising(py, &["divide", "over", "invalid"], asked)
}

/// Do something in which numpy raises these errors.
fn raising<T>(py: Python<'_>, errors: &[&str], asked: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let Some(known) = known(py) else { return asked() };
    let raise = PyDict::new(py);
    errors.iter().try_for_each(|error| raise.set_item(error, "raise"))?;
    let errors = known.errstate.bind(py).call((), Some(&raise))?;
    errors.call_method0("__enter__")?;
    let result = asked();
    errors.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    result
}

/// What would be warned of is raised. The list of filters is another one meanwhile, of which nobody is told: that filters have changed
/// would have registries forget what was shown. A warning that raises leaves nothing in them.
fn without_warnings<'py>(
    py: Python<'py>,
    ask: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let warnings = crate::cpython::module(py, "warnings")?;
    let name = intern!(py, "filters");
    let filters = warnings.getattr(name)?;
    let raising = ("error", py.None(), py.get_type::<PyWarning>(), py.None(), 0);
    warnings.setattr(name, PyList::new(py, [raising])?)?;
    let answer = ask();
    warnings.setattr(name, filters)?;
    answer
}

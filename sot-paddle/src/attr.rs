//! Attributes of symbolic tensors, as eager tensors have them.

use crate::acting;
use crate::api_table;
use crate::grown::Source;
use crate::handles::Handles;
use crate::meta;
use crate::written;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyType};
use sot_core::backend::Attr;
use sot_core::cpython::module;
use sot_core::stop::{Reason, Why};

/// Methods of tensors that Paddle writes twice, once for eager and once for programs, with the same meaning.
const METHODS: &[&str] = &[
    "__abs__",
    "__add__",
    "__div__",
    "__eq__",
    "__floordiv__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__le__",
    "__lt__",
    "__matmul__",
    "__mod__",
    "__mul__",
    "__ne__",
    "__neg__",
    "__pow__",
    "__radd__",
    "__rdiv__",
    "__rfloordiv__",
    "__rmatmul__",
    "__rmod__",
    "__rmul__",
    "__rpow__",
    "__rsub__",
    "__rtruediv__",
    "__sub__",
    "__truediv__",
    "astype",
    "bfloat16",
    "bool",
    "byte",
    "cdouble",
    "cfloat",
    "char",
    "clone",
    "complex128",
    "complex64",
    "detach",
    "dim",
    "double",
    "element_size",
    "float",
    "float16",
    "float32",
    "float64",
    "half",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "long",
    "ndimension",
    "new_empty",
    "new_full",
    "new_ones",
    "new_zeros",
    "short",
    "type_as",
    "uint8",
];

/// Methods that ask how a tensor is stored. What a program computes with is dense, and whole.
const OF_DENSE: &[(&str, bool)] = &[
    ("is_dense", true),
    ("is_dist", false),
    ("is_selected_rows", false),
    ("is_sparse", false),
    ("is_sparse_coo", false),
    ("is_sparse_csr", false),
];

/// What a method that asks how a tensor is stored gives.
pub(crate) fn of_dense(name: &str) -> Option<bool> {
    OF_DENSE.iter().find(|(known, _)| *known == name).map(|(_, answer)| *answer)
}

/// Methods that read values.
const TO_HOST: &[&str] = &["numpy", "item", "tolist", "__array__", "__dlpack__", "__repr__", "__str__", "__format__"];

/// Methods that turn a tensor into a Python number.
const TO_SCALAR: &[&str] = &["__bool__", "__int__", "__float__", "__complex__", "__index__", "__long__", "__nonzero__"];

/// What eager keeps beside the data of a tensor, and gives without an effect.
const FIELDS: &[&str] = &["is_leaf", "layout", "persistable"];

/// Read `value.name`; `own` is the input that the value is, if it is one.
pub(crate) fn read<'py>(
    handles: &Handles,
    value: &Bound<'py, PyAny>,
    name: &str,
    own: Option<&Source>,
) -> PyResult<Attr<'py>> {
    let py = value.py();
    let truth = |b: bool| Attr::Constant(PyBool::new(py, b).to_owned().into_any());
    let unknown = |detail: &str| Ok(Attr::Break(Why::new(Reason::TensorAttribute, format!("{name}: {detail}"))));
    Ok(match name {
        "shape" => {
            let shape = meta::shape(value)?;
            if shape.iter().any(|d| *d < 0) {
                return unknown("an extent is only known at run time");
            }
            Attr::Fresh(size_class(handles, py)?.call1((shape.to_vec(),))?)
        }
        "ndim" => Attr::Constant(meta::shape(value)?.len().into_pyobject(py)?.into_any()),
        "size" => {
            let shape = meta::shape(value)?;
            if shape.iter().any(|d| *d < 0) {
                return unknown("an extent is only known at run time");
            }
            let count = shape.iter().product::<i64>().into_pyobject(py)?.into_any();
            // Newer releases give an integer that can also be called.
            let class = module(py, "paddle.base.dygraph.math_op_patch")?.getattr(intern!(py, "TensorSize"));
            match class {
                Ok(class) => Attr::Fresh(class.call1((size_class(handles, py)?.call1((shape.to_vec(),))?,))?),
                Err(_) => Attr::Constant(count),
            }
        }
        "dtype" => Attr::Constant(dtype(handles, value)?),
        "itemsize" => Attr::Constant(value.getattr(intern!(py, "itemsize"))?),
        "stop_gradient" => match own {
            Some(source) => truth(!source.meta.requires_grad),
            None => Attr::Constant(value.getattr(intern!(py, "stop_gradient"))?),
        },
        "requires_grad" => match own {
            Some(source) => truth(source.meta.requires_grad),
            None => truth(!value.getattr(intern!(py, "stop_gradient"))?.is_truthy()?),
        },
        "place" => match own {
            Some(source) => Attr::Constant(source.tensor.bind(py).getattr(intern!(py, "place"))?),
            None => Attr::Constant(handles.framework.bind(py).call_method0(intern!(py, "_current_expected_place"))?),
        },
        "T" | "mT" => Attr::Value(value.getattr(name)?),
        "__class__" => return unknown("ask type()"),
        _ if TO_HOST.contains(&name) => Attr::Break(Why::new(Reason::TensorToHost, name)),
        _ if TO_SCALAR.contains(&name) => Attr::Break(Why::new(Reason::TensorToScalar, name)),
        _ if written::is_write(name) && in_class(handles.tensor.bind(py), name).is_some() => Attr::Method,
        _ if acting::is_method(name) && in_class(handles.tensor.bind(py), name).is_some() => Attr::Method,
        _ if api_table::in_place_name(name) => Attr::Break(Why::new(Reason::InplaceTensor, name)),
        // As far as the builder knows what they do.
        "cpu" | "to" => Attr::Method,
        // Eager gives a second tensor over the same memory.
        "contiguous" if own.is_none() => Attr::Method,
        "type" => Attr::Constant(kind_of_dense(handles, py)?),
        _ if METHODS.contains(&name) || of_dense(name).is_some() => Attr::Method,
        _ => return shared_method(handles, value, name, own),
    })
}

/// What a class or a base of it has under a name. Its metaclass is not asked: that answers for names that instances do not have,
/// and may make what it is asked for (`__annotations__`).
fn in_class<'py>(class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
    let own = |class: Bound<'py, PyAny>| class.getattr(intern!(class.py(), "__dict__")).ok()?.get_item(name).ok();
    class.mro().iter().find_map(own)
}

/// What an attribute gives that says whether gradients flow, if it does.
pub(crate) fn flows(name: &str, requires_grad: bool) -> Option<bool> {
    match name {
        "stop_gradient" => Some(!requires_grad),
        "requires_grad" => Some(requires_grad),
        _ => None,
    }
}

/// What an attribute gives that is a fact about parameters.
pub(crate) fn of_parameter(name: &str, requires_grad: bool) -> Option<bool> {
    match name {
        "is_leaf" | "persistable" => Some(true),
        "trainable" => Some(requires_grad),
        _ => flows(name, requires_grad),
    }
}

/// Whether C gives an attribute to tensors of this class.
pub(crate) fn is_of_c(handles: &Handles, class: &Bound<'_, PyType>, name: &str) -> bool {
    let own = in_class(handles.tensor.bind(class.py()), name);
    own.zip(in_class(class, name))
        .is_some_and(|(own, found)| own.is(&found) && found.hasattr("__objclass__").unwrap_or(false))
}

/// A name that both classes hold: a method if it is one and the same function of the tables.
fn shared_method<'py>(
    handles: &Handles,
    value: &Bound<'py, PyAny>,
    name: &str,
    own: Option<&Source>,
) -> PyResult<Attr<'py>> {
    let py = value.py();
    let on = |class: &Py<PyType>| in_class(class.bind(py), name);
    let (eager, built) = (on(&handles.tensor), on(&handles.value));
    if let (Some(eager), Some(built)) = (eager, built)
        && eager.is(&built)
    {
        let text = |n| eager.getattr(n).ok().and_then(|m| m.extract::<String>().ok()).unwrap_or_default();
        let module = text(intern!(py, "__module__"));
        return Ok(match api_table::function(&module, &text(intern!(py, "__name__"))) {
            Some(api_table::Verdict::Api) => Attr::Method,
            Some(api_table::Verdict::Foldable) => Attr::Method,
            Some(api_table::Verdict::Break(why)) => Attr::Break(why),
            Some(api_table::Verdict::Switch | api_table::Verdict::Python) | None => {
                Attr::Break(Why::new(Reason::TensorAttribute, name))
            }
        });
    }
    Ok(of_eager(handles, py, name, own).unwrap_or_else(|| Attr::Break(Why::new(Reason::TensorAttribute, name))))
}

/// What eager tensors have beside their operations.
fn of_eager<'py>(handles: &Handles, py: Python<'py>, name: &str, own: Option<&Source>) -> Option<Attr<'py>> {
    let class = match own {
        Some(source) => source.tensor.bind(py).get_type(),
        None => handles.tensor.bind(py).clone(),
    };
    let Some(found) = in_class(&class, name) else { return own.map(|_| Attr::Default) };
    let property = module(py, "builtins").and_then(|builtins| builtins.getattr(intern!(py, "property")));
    if property.is_ok_and(|property| found.get_type().is(&property)) {
        return Some(Attr::Default);
    }
    // A tensor that nobody has named gets a name when it is asked for it; a parameter has one from the beginning.
    let named = name == "name" && class.is(handles.parameter.bind(py));
    (own.is_some() && (named || FIELDS.contains(&name))).then_some(Attr::Field)
}

/// The dtype of a value: the one object that tensors give and that `paddle.float32` names, where they do. A value of a program
/// gives a new one each time.
pub(crate) fn dtype<'py>(handles: &Handles, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let own = value.getattr(intern!(py, "dtype"))?;
    if !handles.one_dtype {
        return Ok(own);
    }
    let known =
        own.getattr(intern!(py, "name")).and_then(|name| handles.dtype.bind(py).getattr(name.cast::<PyString>()?));
    Ok(match known {
        Ok(known) if known.eq(&own)? => known,
        _ => own,
    })
}

/// What `tensor.type` is of a dense tensor.
fn kind_of_dense<'py>(handles: &Handles, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    let kinds = handles.core.bind(py).getattr(intern!(py, "VarDesc"))?.getattr(intern!(py, "VarType"))?;
    // It had another name up to 3.0.
    kinds.getattr(intern!(py, "DENSE_TENSOR")).or_else(|_| kinds.getattr(intern!(py, "LOD_TENSOR")))
}

/// Whether a text or a place names the CPU.
pub(crate) fn is_cpu(device: &Bound<'_, PyAny>) -> bool {
    let py = device.py();
    if let Ok(text) = device.cast_exact::<PyString>() {
        return text == "cpu";
    }
    let of_core = |name: &str| {
        module(py, "paddle.base.libpaddle")
            .and_then(|core| core.getattr(name))
            .is_ok_and(|class| device.get_type().is(&class))
    };
    let says = || device.call_method0(intern!(py, "is_cpu_place")).and_then(|answer| answer.is_truthy());
    of_core("CPUPlace") || of_core("Place") && says().unwrap_or(false)
}

/// The class of `tensor.shape`.
pub(crate) fn size_class<'py>(handles: &Handles, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    let libpaddle = module(py, "paddle.base.libpaddle")?;
    match libpaddle.getattr(intern!(py, "Size")) {
        Ok(class) => Ok(class),
        // Before Paddle had a class of its own, a shape was a list.
        Err(_) => handles.paddle.bind(py).py().import(intern!(py, "builtins"))?.getattr(intern!(py, "list")),
    }
}

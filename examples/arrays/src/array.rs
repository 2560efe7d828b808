//! The framework as it would be without a translator: arrays, their methods, and the functions of the module.
//!
//! Each operation is a name with arguments of Python, which [`parse`] reads, and [`call`] carries out.

use crate::ops::{Meta, Op};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use std::sync::{Mutex, MutexGuard};

type Any<'py> = PyResult<Bound<'py, PyAny>>;

/// An array of numbers with any number of axes.
#[pyclass(module = "arrays", frozen, weakref)]
pub(crate) struct Array {
    pub(crate) meta: Meta,
    data: Mutex<Vec<f64>>,
}

impl Array {
    pub(crate) fn new(meta: Meta, data: Vec<f64>) -> Array {
        Array { meta, data: Mutex::new(data) }
    }

    pub(crate) fn data(&self) -> MutexGuard<'_, Vec<f64>> {
        self.data.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// What an operation is, and its operands: arrays and numbers, or what stands for them.
pub(crate) fn parse<'py>(name: &str, args: &Bound<'py, PyTuple>) -> PyResult<(Op, Vec<Bound<'py, PyAny>>)> {
    let number = |at: usize| args.get_item(at).and_then(|arg| arg.extract::<i64>());
    let (op, operands) = match name {
        "__add__" | "add" => (Op::Binary("__add__"), 2),
        "__sub__" => (Op::Binary("__sub__"), 2),
        "__mul__" => (Op::Binary("__mul__"), 2),
        "__truediv__" => (Op::Binary("__truediv__"), 2),
        "__lt__" => (Op::Binary("__lt__"), 2),
        "__gt__" => (Op::Binary("__gt__"), 2),
        "maximum" => (Op::Binary("maximum"), 2),
        "__neg__" => (Op::Unary("__neg__"), 1),
        "exp" => (Op::Unary("exp"), 1),
        "sqrt" => (Op::Unary("sqrt"), 1),
        "sum" if args.len() == 1 || args.get_item(1)?.is_none() => (Op::Sum(None), 1),
        "sum" => (Op::Sum(Some(args.get_item(1)?.extract()?)), 1),
        "where" => (Op::Where, 3),
        "least" => (Op::Extreme { largest: false }, 1),
        "largest" => (Op::Extreme { largest: true }, 1),
        "__matmul__" | "matmul" => (Op::Matmul, 2),
        "T" => (Op::Transpose, 1),
        "reshape" => (Op::Reshape(args.get_item(1)?.extract()?), 1),
        "__getitem__" => (Op::Row(number(1)?), 1),
        _ => return Err(PyTypeError::new_err(format!("arrays have no operation {name}"))),
    };
    if args.len() < operands {
        return Err(PyTypeError::new_err(format!("{name} takes {operands} arrays")));
    }
    Ok((op, args.iter().take(operands).collect()))
}

/// A number of Python as an array without axes.
pub(crate) fn scalar(object: &Bound<'_, PyAny>) -> Option<f64> {
    let is = object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>();
    is.then(|| object.extract().ok()).flatten()
}

/// Carry an operation out.
pub(crate) fn call<'py>(py: Python<'py>, name: &str, args: &Bound<'py, PyTuple>) -> Any<'py> {
    let (op, operands) = parse(name, args)?;
    let operands: Vec<(Meta, Vec<f64>)> = operands
        .iter()
        .map(|operand| match (operand.cast_exact::<Array>(), scalar(operand)) {
            (Ok(array), _) => Ok((array.get().meta.clone(), array.get().data().clone())),
            (_, Some(number)) => Ok((Meta::of(Vec::new()), vec![number])),
            _ => Err(PyTypeError::new_err(format!("{name}: {} is no array", operand.get_type().name()?))),
        })
        .collect::<PyResult<_>>()?;
    let metas: Vec<&Meta> = operands.iter().map(|(meta, _)| meta).collect();
    let out = op.infer(&metas).map_err(|why| match op {
        // Where it ends an iteration.
        Op::Row(_) => PyIndexError::new_err(why),
        _ => PyValueError::new_err(why),
    })?;
    let read: Vec<(&Meta, &[f64])> = operands.iter().map(|(meta, data)| (meta, &**data)).collect();
    let data = op.eval(&read, &out).map_err(PyValueError::new_err)?;
    Ok(Bound::new(py, Array::new(out, data))?.into_any())
}

/// An array of what lists of lists of numbers hold.
#[pyfunction]
pub(crate) fn array(data: Bound<'_, PyAny>) -> PyResult<Array> {
    fn read(data: &Bound<'_, PyAny>, axis: usize, shape: &mut Vec<usize>, into: &mut Vec<f64>) -> PyResult<()> {
        let Ok(items) = data.cast::<PyList>() else {
            into.push(data.extract()?);
            return Ok(());
        };
        if axis == shape.len() {
            shape.push(items.len());
        } else if shape[axis] != items.len() {
            return Err(PyValueError::new_err("rows of different lengths"));
        }
        items.iter().try_for_each(|item| read(&item, axis + 1, shape, into))
    }
    let (mut shape, mut numbers) = (Vec::new(), Vec::new());
    read(&data, 0, &mut shape, &mut numbers)?;
    Ok(Array::new(Meta::of(shape), numbers))
}

macro_rules! functions {
    ($($function:ident($($arg:ident),*) = $name:literal;)*) => {
        $(#[pyfunction]
        pub(crate) fn $function<'py>(py: Python<'py>, $($arg: Bound<'py, PyAny>),*) -> Any<'py> {
            call(py, $name, &PyTuple::new(py, [$($arg),*])?)
        })*
    };
}

functions! {
    add(x, y) = "add";
    maximum(x, y) = "maximum";
    matmul(x, y) = "matmul";
    exp(x) = "exp";
    sqrt(x) = "sqrt";
}

/// The least number of an array and the largest, as arrays without axes.
#[pyfunction]
pub(crate) fn extrema<'py>(x: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let args = PyTuple::new(x.py(), [x])?;
    Ok((call(x.py(), "least", &args)?, call(x.py(), "largest", &args)?))
}

/// Items of `x` where `condition` holds, else of `y`.
#[pyfunction(name = "where")]
pub(crate) fn where_<'py>(
    py: Python<'py>,
    condition: Bound<'py, PyAny>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
) -> Any<'py> {
    call(py, "where", &PyTuple::new(py, [condition, x, y])?)
}

/// Write the numbers of an array.
#[pyfunction]
pub(crate) fn show(x: &Bound<'_, Array>) -> PyResult<()> {
    x.py().import("builtins")?.getattr("print")?.call1((format!("{:?}", x.get().data()),))?;
    Ok(())
}

macro_rules! two {
    ($self:ident, $name:literal, $left:expr, $right:expr) => {{
        let py = $self.py();
        call(py, $name, &PyTuple::new(py, [$left.as_any(), $right.as_any()])?)
    }};
}

#[pymethods]
impl Array {
    fn __add__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__add__", this, other)
    }
    fn __radd__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__add__", other, this)
    }
    fn __sub__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__sub__", this, other)
    }
    fn __rsub__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__sub__", other, this)
    }
    fn __mul__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__mul__", this, other)
    }
    fn __rmul__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__mul__", other, this)
    }
    fn __truediv__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__truediv__", this, other)
    }
    fn __matmul__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__matmul__", this, other)
    }
    fn __lt__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__lt__", this, other)
    }
    fn __gt__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__gt__", this, other)
    }
    fn __getitem__<'py>(this: &Bound<'py, Self>, row: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "__getitem__", this, row)
    }
    fn reshape<'py>(this: &Bound<'py, Self>, shape: &Bound<'py, PyAny>) -> Any<'py> {
        two!(this, "reshape", this, shape)
    }
    #[pyo3(signature = (axis=None))]
    fn sum<'py>(this: &Bound<'py, Self>, axis: Option<Bound<'py, PyAny>>) -> Any<'py> {
        let axis = axis.unwrap_or_else(|| this.py().None().into_bound(this.py()));
        two!(this, "sum", this, axis)
    }
    fn __neg__<'py>(this: &Bound<'py, Self>) -> Any<'py> {
        call(this.py(), "__neg__", &PyTuple::new(this.py(), [this])?)
    }
    #[getter(T)]
    fn transposed<'py>(this: &Bound<'py, Self>) -> Any<'py> {
        call(this.py(), "T", &PyTuple::new(this.py(), [this])?)
    }
    #[getter]
    pub(crate) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.meta.shape)
    }
    #[getter]
    fn ndim(&self) -> usize {
        self.meta.shape.len()
    }
    #[getter]
    fn dtype(&self) -> &'static str {
        self.meta.dtype
    }
    fn item(&self) -> PyResult<f64> {
        match **self.data() {
            [number] => Ok(number),
            _ => Err(PyValueError::new_err("an array of one number has an item")),
        }
    }
    fn __bool__(&self) -> PyResult<bool> {
        Ok(self.item()? != 0.0)
    }
    fn __len__(&self) -> PyResult<usize> {
        self.meta.shape.first().copied().ok_or_else(|| PyTypeError::new_err("an array without axes has no length"))
    }
    /// Write one number everywhere.
    fn fill(&self, number: f64) {
        self.data().fill(number);
    }
    /// The numbers, row behind row.
    fn tolist(&self) -> Vec<f64> {
        self.data().clone()
    }
}

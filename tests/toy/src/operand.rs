//! What tensors and symbolic values have in common: operators and methods.
//!
//! [`Operand`] is the base class of both, so `x + y`, `x.sum()` and `relu(x)` are written once and mean "run it" or
//! "append it", as [`apply`] decides.

use crate::graph::{self, Value};
use crate::mode;
use crate::op::{Binary, Element, Meta, Op, Reduce, Unary};
use crate::tensor::{DType, Operand, Tensor, dtype};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyIterator, PyList, PySlice, PyTuple};
use sot_core::backend::Extent;
use std::sync::atomic::{AtomicBool, Ordering};

type Any<'py> = PyResult<Bound<'py, PyAny>>;

/// Run an operation, or append it to the graph under construction.
pub(crate) fn apply<'py>(py: Python<'py>, op: Op, operands: &[Bound<'py, PyAny>]) -> Any<'py> {
    let mut all = Vec::with_capacity(operands.len());
    for operand in operands {
        all.push(match operand.is_instance_of::<Operand>() {
            true => operand.clone(),
            false => from_numbers(operand, false)?,
        });
    }
    if let Some(recorder) = graph::building() {
        return recorder.append(py, op, &all);
    }
    let eager = || PyRuntimeError::new_err("a symbolic value outside of its graph");
    let tensors: Vec<&Tensor> =
        all.iter().map(|o| o.cast::<Tensor>().map(Bound::get)).collect::<Result<_, _>>().map_err(|_| eager())?;
    let metas: Vec<Meta> = tensors.iter().map(|t| t.meta()).collect();
    let meta = op.infer(&metas.iter().collect::<Vec<_>>(), mode::grad()).map_err(PyValueError::new_err)?;
    if let Some(window) = tensors.first().and_then(|t| op.view(&t.meta())) {
        return Tensor::over(py, tensors[0].storage.clone(), tensors[0].offset + window.start, &meta);
    }
    let data: Vec<Vec<f64>> = tensors.iter().map(|t| t.numbers()).collect();
    let of: Vec<(&Meta, &[f64])> = metas.iter().zip(&data).map(|(m, d)| (m, d.as_slice())).collect();
    Tensor::of(py, &meta, op.eval(&of, &meta).map_err(PyValueError::new_err)?)
}

/// A tensor of a number, or of a list of lists of numbers.
pub(crate) fn from_numbers<'py>(numbers: &Bound<'py, PyAny>, requires_grad: bool) -> Any<'py> {
    fn collect(obj: &Bound<'_, PyAny>, depth: usize, shape: &mut Vec<usize>, data: &mut Vec<f64>) -> PyResult<Element> {
        if let Ok(items) = obj.cast::<PyList>() {
            if shape.len() == depth {
                shape.push(items.len());
            }
            if shape[depth] != items.len() {
                return Err(PyValueError::new_err("rows of different lengths"));
            }
            let mut element = Element::Float64;
            for item in items {
                element = collect(&item, depth + 1, shape, data)?;
            }
            return Ok(element);
        }
        let element = match () {
            () if obj.is_instance_of::<PyBool>() => Element::Bool,
            () if obj.is_instance_of::<PyInt>() => Element::Int64,
            () if obj.is_instance_of::<PyFloat>() => Element::Float64,
            () => return Err(PyTypeError::new_err("expected numbers")),
        };
        data.push(obj.extract::<f64>().or_else(|_| obj.is_truthy().map(f64::from))?);
        Ok(element)
    }
    let (mut shape, mut data) = (Vec::new(), Vec::new());
    let element = collect(numbers, 0, &mut shape, &mut data)?;
    constant(numbers.py(), Meta { shape, element, requires_grad }, data)
}

/// A new tensor with these numbers.
pub(crate) fn constant(py: Python<'_>, meta: Meta, data: Vec<f64>) -> Any<'_> {
    if meta.requires_grad && graph::building().is_some() {
        return Err(PyRuntimeError::new_err("a graph cannot make a leaf for gradients"));
    }
    apply(py, Op::Constant(meta, data), &[])
}

pub(crate) fn meta_of(operand: &Bound<'_, PyAny>) -> PyResult<Meta> {
    match operand.cast::<Value>() {
        Ok(value) => Ok(value.get().meta.clone()),
        Err(_) => Ok(operand.cast::<Tensor>()?.get().meta()),
    }
}

/// The shape, where each extent of it is the same at each call of a graph.
fn shape_of(operand: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if let Ok(value) = operand.cast::<Value>()
        && value.get().extents.iter().any(|extent| *extent != Extent::Fixed)
    {
        return Err(PyRuntimeError::new_err("the shape of a value whose extents vary"));
    }
    Ok(meta_of(operand)?.shape)
}

/// A binary operator; `NotImplemented` for what is neither an operand nor a number.
fn binary<'py>(op: Binary, left: &Bound<'py, PyAny>, right: &Bound<'py, PyAny>) -> Any<'py> {
    let py = left.py();
    let fits = |o: &Bound<'py, PyAny>| {
        o.is_instance_of::<Operand>() || o.is_instance_of::<PyInt>() || o.is_instance_of::<PyFloat>()
    };
    if !fits(left) || !fits(right) {
        return Ok(py.NotImplemented().into_bound(py));
    }
    apply(py, Op::Binary(op), &[left.clone(), right.clone()])
}

/// The tensor itself, where only real numbers will do.
fn real<'a, 'py>(operand: &'a Bound<'py, PyAny>, what: &str) -> PyResult<&'a Tensor> {
    match operand.cast::<Tensor>() {
        Ok(tensor) => Ok(tensor.get()),
        Err(_) => Err(PyRuntimeError::new_err(format!("{what} of a symbolic value"))),
    }
}

/// The method's receiver as an object.
type Me<'a, 'py> = &'a Bound<'py, Operand>;

#[pymethods]
impl Operand {
    fn __add__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Add, me, other)
    }
    fn __radd__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Add, other, me)
    }
    fn __sub__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Sub, me, other)
    }
    fn __rsub__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Sub, other, me)
    }
    fn __mul__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Mul, me, other)
    }
    fn __rmul__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Mul, other, me)
    }
    fn __truediv__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Div, me, other)
    }
    fn __rtruediv__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        binary(Binary::Div, other, me)
    }
    fn __pow__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>, _modulo: Option<i64>) -> Any<'py> {
        binary(Binary::Pow, me, other)
    }
    fn __matmul__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        apply(me.py(), Op::Matmul, &[me.clone().into_any(), other.clone()])
    }
    fn __neg__<'py>(me: Me<'_, 'py>) -> Any<'py> {
        one(me, Op::Unary(Unary::Neg))
    }

    fn __richcmp__<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>, op: CompareOp) -> Any<'py> {
        let op = match op {
            CompareOp::Lt => Binary::Lt,
            CompareOp::Le => Binary::Le,
            CompareOp::Eq => Binary::Eq,
            CompareOp::Ne => Binary::Ne,
            CompareOp::Gt => Binary::Gt,
            CompareOp::Ge => Binary::Ge,
        };
        binary(op, me, other)
    }

    fn __hash__(me: Me<'_, '_>) -> usize {
        me.as_ptr() as usize >> 4
    }

    /// In place, as `+=` on arrays is everywhere.
    fn __iadd__(me: Me<'_, '_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        add_in_place(me, other)
    }

    fn __getitem__<'py>(me: Me<'_, 'py>, key: &Bound<'py, PyAny>) -> Any<'py> {
        let rows = *shape_of(me)?.first().ok_or_else(|| PyTypeError::new_err("a scalar has no items"))?;
        one(me, rows_of(key, rows)?)
    }

    fn __setitem__(me: Me<'_, '_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let window = Operand::__getitem__(me, key)?;
        let value = binary(Binary::Add, value, &window.sub(&window)?)?;
        real(&window, "item assignment")?.write(&real(&value, "item assignment")?.numbers());
        Ok(())
    }

    fn __len__(me: Me<'_, '_>) -> PyResult<usize> {
        shape_of(me)?.first().copied().ok_or_else(|| PyTypeError::new_err("len() of a scalar"))
    }

    fn __iter__<'py>(me: Me<'_, 'py>) -> PyResult<Bound<'py, PyIterator>> {
        let rows = (0..Operand::__len__(me)?).map(|i| me.as_any().get_item(i)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(me.py(), rows)?.try_iter()
    }

    fn __bool__(me: Me<'_, '_>) -> PyResult<bool> {
        Ok(Operand::item_number(me)? != 0.0)
    }
    fn __float__(me: Me<'_, '_>) -> PyResult<f64> {
        Operand::item_number(me)
    }
    fn __int__(me: Me<'_, '_>) -> PyResult<i64> {
        Ok(Operand::item_number(me)? as i64)
    }

    fn __repr__(me: Me<'_, '_>) -> PyResult<String> {
        let meta = meta_of(me)?;
        let numbers = real(me, "repr")?.numbers();
        Ok(format!("tensor({numbers:?}, shape={:?}, {})", meta.shape, meta.element.name()))
    }

    #[getter]
    fn shape<'py>(me: Me<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(me.py(), shape_of(me)?)
    }
    /// The shape as a new list.
    #[getter]
    fn extents(me: Me<'_, '_>) -> PyResult<Vec<usize>> {
        shape_of(me)
    }
    #[getter]
    fn ndim(me: Me<'_, '_>) -> PyResult<usize> {
        Ok(meta_of(me)?.shape.len())
    }
    #[getter]
    fn dtype(me: Me<'_, '_>) -> PyResult<Py<DType>> {
        Ok(dtype(me.py(), meta_of(me)?.element)?.clone_ref(me.py()))
    }
    #[getter]
    fn requires_grad(me: Me<'_, '_>) -> PyResult<bool> {
        Ok(meta_of(me)?.requires_grad)
    }
    #[setter]
    fn set_requires_grad(me: Me<'_, '_>, on: bool) -> PyResult<()> {
        real(me, "requires_grad")?.requires_grad.store(on, Ordering::Relaxed);
        Ok(())
    }
    #[getter]
    #[pyo3(name = "T")]
    fn t<'py>(me: Me<'_, 'py>) -> Any<'py> {
        one(me, Op::Transpose)
    }

    #[pyo3(signature = (axis=None))]
    fn sum<'py>(me: Me<'_, 'py>, axis: Option<usize>) -> Any<'py> {
        one(me, Op::Reduce(Reduce::Sum, axis))
    }
    #[pyo3(signature = (axis=None))]
    fn mean<'py>(me: Me<'_, 'py>, axis: Option<usize>) -> Any<'py> {
        one(me, Op::Reduce(Reduce::Mean, axis))
    }
    #[pyo3(signature = (axis=None))]
    fn max<'py>(me: Me<'_, 'py>, axis: Option<usize>) -> Any<'py> {
        one(me, Op::Reduce(Reduce::Max, axis))
    }
    fn exp<'py>(me: Me<'_, 'py>) -> Any<'py> {
        one(me, Op::Unary(Unary::Exp))
    }
    fn relu<'py>(me: Me<'_, 'py>) -> Any<'py> {
        one(me, Op::Unary(Unary::Relu))
    }
    fn clone<'py>(me: Me<'_, 'py>) -> Any<'py> {
        one(me, Op::Unary(Unary::Clone))
    }
    /// A view of the same numbers.
    fn detach<'py>(me: Me<'_, 'py>) -> Any<'py> {
        one(me, Op::Detach)
    }
    fn astype<'py>(me: Me<'_, 'py>, dtype: &DType) -> Any<'py> {
        one(me, Op::Astype(dtype.0))
    }
    /// A view of the same numbers.
    fn reshape<'py>(me: Me<'_, 'py>, shape: Vec<i64>) -> Any<'py> {
        one(me, Op::Reshape(shape))
    }
    /// Views of equal parts along the first axis.
    fn split<'py>(me: Me<'_, 'py>, parts: usize) -> PyResult<Bound<'py, PyTuple>> {
        let rows = Operand::__len__(me)?;
        if parts == 0 || rows % parts != 0 {
            return Err(PyValueError::new_err(format!("{rows} rows in {parts} parts")));
        }
        let size = rows / parts;
        let part = |i| one(me, Op::Rows { start: i * size, stop: (i + 1) * size, single: false });
        PyTuple::new(me.py(), (0..parts).map(part).collect::<PyResult<Vec<_>>>()?)
    }
    fn add_<'py>(me: Me<'_, 'py>, other: &Bound<'py, PyAny>) -> Any<'py> {
        add_in_place(me, other)?;
        Ok(me.clone().into_any())
    }
    fn zero_<'py>(me: Me<'_, 'py>) -> Any<'py> {
        let tensor = real(me, "zero_")?;
        tensor.write(&vec![0.0; tensor.numbers().len()]);
        Ok(me.clone().into_any())
    }
    fn item<'py>(me: Me<'_, 'py>) -> Any<'py> {
        number(me.py(), Operand::item_number(me)?, meta_of(me)?.element)
    }
    fn tolist<'py>(me: Me<'_, 'py>) -> Any<'py> {
        let meta = meta_of(me)?;
        nested(me.py(), &real(me, "tolist")?.numbers(), &meta.shape, meta.element)
    }
}

impl Operand {
    fn item_number(me: Me<'_, '_>) -> PyResult<f64> {
        match real(me, "the number")?.numbers().as_slice() {
            [one] => Ok(*one),
            many => Err(PyValueError::new_err(format!("a tensor of {} numbers is no number", many.len()))),
        }
    }
}

fn one<'py>(me: Me<'_, 'py>, op: Op) -> Any<'py> {
    apply(me.py(), op, &[me.clone().into_any()])
}

fn add_in_place(me: Me<'_, '_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    let tensor = real(me, "add_")?;
    let sum = binary(Binary::Add, me, other)?;
    let sum = sum.cast::<Tensor>().map_err(|_| PyTypeError::new_err("expected a tensor or a number"))?.get();
    if sum.shape != tensor.shape {
        return Err(PyValueError::new_err("add_ cannot change the shape"));
    }
    tensor.write(&sum.numbers());
    Ok(())
}

fn rows_of(key: &Bound<'_, PyAny>, rows: usize) -> PyResult<Op> {
    if let Ok(slice) = key.cast::<PySlice>() {
        let at = slice.indices(rows as isize)?;
        if at.step != 1 {
            return Err(PyValueError::new_err("slices have step 1"));
        }
        return Ok(Op::Rows {
            start: at.start as usize,
            stop: (at.start + at.slicelength as isize) as usize,
            single: false,
        });
    }
    let index: isize = key.extract().map_err(|_| PyTypeError::new_err("an index is a number or a slice"))?;
    match usize::try_from(if index < 0 { index + rows as isize } else { index }) {
        Ok(at) if at < rows => Ok(Op::Rows { start: at, stop: at + 1, single: true }),
        _ => Err(PyIndexError::new_err(format!("index {index} of {rows} rows"))),
    }
}

fn number(py: Python<'_>, value: f64, element: Element) -> Any<'_> {
    Ok(match element {
        Element::Float64 => PyFloat::new(py, value).into_any(),
        Element::Int64 => (value as i64).into_pyobject(py)?.into_any(),
        Element::Bool => PyBool::new(py, value != 0.0).to_owned().into_any(),
    })
}

fn nested<'py>(py: Python<'py>, data: &[f64], shape: &[usize], element: Element) -> Any<'py> {
    let Some((rows, row)) = shape.split_first() else { return number(py, data[0], element) };
    let size: usize = row.iter().product();
    let items = (0..*rows).map(|i| nested(py, &data[i * size..(i + 1) * size], row, element));
    Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

#[pymethods]
impl Tensor {
    #[new]
    fn make(data: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Tensor>> {
        let made = from_numbers(data, false)?;
        let made = real(&made, "Tensor()")?;
        let tensor = Tensor {
            storage: made.storage.clone(),
            offset: 0,
            shape: made.shape.clone(),
            element: made.element,
            requires_grad: AtomicBool::new(false),
        };
        Ok(PyClassInitializer::from(Operand).add_subclass(tensor))
    }
}

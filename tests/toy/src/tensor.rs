//! Tensors: a tensor owns a window of a storage that its views share.

use crate::op::{Element, Meta};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes};
use sot_core::backend::Parts;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

type Any<'py> = PyResult<Bound<'py, PyAny>>;

/// An element type as Python sees it: one object each, compared by identity.
#[pyclass(module = "toy_backend", frozen)]
pub(crate) struct DType(pub(crate) Element);

#[pymethods]
impl DType {
    fn __repr__(&self) -> String {
        format!("toy.{}", self.0.name())
    }
}

pub(crate) fn dtype(py: Python<'_>, element: Element) -> PyResult<&Py<DType>> {
    static OBJECTS: PyOnceLock<[Py<DType>; 3]> = PyOnceLock::new();
    let all = OBJECTS.get_or_try_init(py, || {
        PyResult::Ok([
            Py::new(py, DType(Element::Float64))?,
            Py::new(py, DType(Element::Int64))?,
            Py::new(py, DType(Element::Bool))?,
        ])
    })?;
    Ok(&all[element as usize])
}

/// The base class of tensors and symbolic values. What they have in common is `operand`'s.
#[pyclass(module = "toy_backend", subclass, frozen)]
pub(crate) struct Operand;

/// An n-dimensional array of numbers.
#[pyclass(module = "toy_backend", extends = Operand, subclass, frozen, weakref)]
pub(crate) struct Tensor {
    pub(crate) storage: Arc<Mutex<Vec<f64>>>,
    pub(crate) offset: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
    pub(crate) requires_grad: AtomicBool,
}

impl Tensor {
    pub(crate) fn of<'py>(py: Python<'py>, meta: &Meta, data: Vec<f64>) -> Any<'py> {
        Tensor::over(py, Arc::new(Mutex::new(data)), 0, meta)
    }

    pub(crate) fn over<'py>(py: Python<'py>, storage: Arc<Mutex<Vec<f64>>>, offset: usize, meta: &Meta) -> Any<'py> {
        let requires_grad = AtomicBool::new(meta.requires_grad);
        let tensor = Tensor { storage, offset, shape: meta.shape.clone(), element: meta.element, requires_grad };
        Ok(Bound::new(py, PyClassInitializer::from(Operand).add_subclass(tensor))?.into_any())
    }

    pub(crate) fn meta(&self) -> Meta {
        let requires_grad = self.requires_grad.load(Ordering::Relaxed);
        Meta { shape: self.shape.clone(), element: self.element, requires_grad }
    }

    pub(crate) fn agrees(&self, meta: &Meta) -> bool {
        self.shape == meta.shape
            && self.element == meta.element
            && self.requires_grad.load(Ordering::Relaxed) == meta.requires_grad
    }

    pub(crate) fn numbers(&self) -> Vec<f64> {
        let storage = self.storage.lock().unwrap_or_else(|e| e.into_inner());
        storage[self.offset..self.offset + self.shape.iter().product::<usize>()].to_vec()
    }

    /// What a program can tell of it, by name.
    pub(crate) fn told<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let numbers = self.numbers();
        let bits: Vec<u8> = numbers.iter().flat_map(|number| number.to_bits().to_le_bytes()).collect();
        let flag = self.requires_grad.load(Ordering::Relaxed);
        Ok(vec![
            ("shape", format!("{:?}", self.shape).into_pyobject(py)?.into_any()),
            ("dtype", self.element.name().into_pyobject(py)?.into_any()),
            ("requires_grad", PyBool::new(py, flag).to_owned().into_any()),
            ("numbers", format!("{:?}", &numbers[..numbers.len().min(8)]).into_pyobject(py)?.into_any()),
            ("bits", PyBytes::new(py, &bits).into_any()),
        ])
    }

    pub(crate) fn shares_with(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    pub(crate) fn write(&self, data: &[f64]) {
        let mut storage = self.storage.lock().unwrap_or_else(|e| e.into_inner());
        storage[self.offset..self.offset + data.len()].copy_from_slice(data);
    }
}

//! How rewritten code has the program go on: the callables that it ends with.

use super::continuation::{self, Led};
use super::unwind::raised_by_code;
use crate::called_by_code::error_of;
use crate::cpython::Slots;
use crate::cpython::native::{NativeBody, new_native};
use crate::occupants::Shared;
use crate::rewrite::GoOn;
use crate::shapes::Shape;
use crate::stop::{Reason, Stop};
use crate::user_frames;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::any::Any;

/// Continuations, which a driver of [`super`] follows.
pub(super) struct ByContinuation<'a> {
    /// Of the cache whose captures lead there.
    pub(super) occupants: &'a Shared,
}

impl GoOn for ByContinuation<'_> {
    fn request<'py>(&self, py: Python<'py>, shape: &Shape) -> Result<Bound<'py, PyAny>, Stop> {
        let continuation = continuation::of(py, shape, self.occupants);
        // The eager form must exist before a program depends on it.
        continuation.point.resume(py).map_err(|e| Stop::fallback(Reason::Reconstruct, e.to_string()))?;
        continuation.callable(py).map_err(|e| Stop::internal(&e))
    }

    fn raise_into<'py>(
        &self,
        py: Python<'py>,
        shape: &Shape,
        stand_ins: Vec<Py<PyAny>>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let raise = RaiseInto { shape: shape.duplicate(py), stand_ins, led: Led::default() };
        let raise = new_native(py, Box::new(raise)).map_err(|e| Stop::internal(&e))?;
        Ok(raise.into_bound(py))
    }
}

/// `continuation([values..], exception)`: its break instruction raised. The values are taken out of the list.
struct RaiseInto {
    shape: Shape,
    /// Code of the stand-ins below which the instruction ran.
    stand_ins: Vec<Py<PyAny>>,
    /// The handlers that it has come to.
    led: Led,
}

impl NativeBody for RaiseInto {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let list = args.get(py, 0).expect("the values").cast::<PyList>()?;
        let values: Vec<_> = list.iter().map(|value| Some(value.unbind())).collect();
        list.del_slice(0, list.len())?;
        let exception = args.get(py, 1).expect("the exception").to_owned();
        let error = error_of(exception);
        // The real frames give way to those that they stand for.
        user_frames::drop_real(py, &error, &self.stand_ins)?;
        match raised_by_code(py, &self.shape, values, error)? {
            Ok((next, values)) => self.led.request(py, &next, values),
            Err(error) => continuation::request_raise(py, error),
        }
    }

    fn name(&self) -> &str {
        "raise_into"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.shape.traverse(visit);
        self.led.traverse(visit);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

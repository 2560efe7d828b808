//! A small framework like numpy, and how it gets a translator.
//!
//! [`ops`] and [`mod@array`] are the framework as it would be without one. [`backend`] is all that its team writes; the last lines of
//! the `#[pymodule]` add `to_static`, `explain` and the rest.
#![forbid(unsafe_code)]

mod array;
mod backend;
mod ops;

use pyo3::prelude::*;

#[pymodule(name = "arrays")]
mod arrays_module {
    use super::*;

    #[pymodule_export]
    use super::array::{Array, add, array, exp, extrema, matmul, maximum, show, sqrt, where_};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        sot_core::python::register(module, std::sync::Arc::new(backend::Arrays::new(module)?))
    }
}

//! A made-up tensor framework, and how it gets a translator: a tutorial that compiles.
//!
//! It depends on sot-core alone. If you maintain a framework, this is the order in which to read:
//!
//! 1. The framework, as it would be without us: [`op`] (arithmetic), [`tensor`] (tensors over shared storage, operators,
//!    methods), [`functions`], [`mode`] (per-thread state), [`graph`] (it can trace, as most can), `layers.py`.
//! 2. [`backend`]: one type that says what the framework's objects are. Start with `classify`; everything that you
//!    leave out is a graph break, never a wrong answer.
//! 3. [`builder`]: how a graph grows, one call for each operation. The two duties that are easy to forget are at its
//!    end: refuse what writes in place, and report outputs that share memory in eager execution.
//! 4. [`compiled`]: how a closed graph runs, how it is compared with eager, what it may have to take back.
//! 5. The end of the `#[pymodule]` below: `register` adds `to_static`, `explain`, `stats` and the rest.
//!
//! `tests/python/toy/test_conformance.py` asks a backend every question of the contract; run it on yours.
#![forbid(unsafe_code)]

mod backend;
mod builder;
mod compiled;
mod faults;
mod functions;
mod graph;
mod layers;
mod mode;
mod op;
mod operand;
mod tensor;

use pyo3::prelude::*;

#[pymodule]
mod toy_backend {
    use super::*;

    #[pymodule_export]
    use super::faults::{halves, set_fault, unreliable};
    #[pymodule_export]
    use super::functions::{
        add, concat, extrema, is_grad_enabled, is_tensor, log, matmul, random_state, relu, seed, set_debug_mode,
        set_grad_enabled, shares_memory, show, tensor, uniform, zeros,
    };
    #[pymodule_export]
    use super::graph::Value;
    #[pymodule_export]
    use super::tensor::{DType, Operand, Tensor};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        for (name, element) in
            [("float64", op::Element::Float64), ("int64", op::Element::Int64), ("bool_", op::Element::Bool)]
        {
            module.add(name, crate::tensor::dtype(module.py(), element)?)?;
        }
        let layers = layers::Layers::load(module)?;
        let toy = backend::Toy::new(module, layers)?;
        sot_core::python::register(module, std::sync::Arc::new(toy))?;
        // Yours needs none of these: they are for the tests of sot-core's door to CPython.
        sot_core::simulated::add_test_probes(module)?;
        sot_core::serve::blinded::add_test_probes(module)?;
        sot_core::cpython::add_test_probes(module)
    }
}

//! What the closing of a program found out about running it.

use pyo3::prelude::*;

/// Where an argument of the program comes from.
pub(crate) enum Argument {
    /// The input at this position of a call.
    Input(usize),
    /// A parameter or buffer.
    Tensor(Py<PyAny>),
}

impl Argument {
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Argument {
        match self {
            Argument::Input(i) => Argument::Input(*i),
            Argument::Tensor(t) => Argument::Tensor(t.clone_ref(py)),
        }
    }
}

/// What the closing of a program found out.
pub(crate) struct Recipe {
    pub(crate) arguments: Vec<Argument>,
    /// Paddle's prepared attributes.
    pub(crate) attributes: Py<PyAny>,
    /// Parameters and buffers with the `stop_gradient` that the graph was built for; empty where gradients are off.
    pub(crate) held: Vec<(Py<PyAny>, bool)>,
    pub(crate) operations: usize,
    /// How many outputs are computed.
    pub(crate) outputs: usize,
    /// Whether intermediates are small enough to be freed only after the run.
    pub(crate) keep_intermediates: bool,
}

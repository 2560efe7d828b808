//! A program as it has grown: what the builder adds to and the closing reads.

use crate::handles::{Handles, value_id};
use crate::meta::Meta;
use hashbrown::{HashMap, HashSet};
use pyo3::intern;
use pyo3::prelude::*;
use sot_core::backend::Extent;
use std::cell::Cell;
use std::sync::Arc;

/// A tensor that the program reads: an input of the graph, or a parameter of a leaf layer.
pub(crate) struct Source {
    pub(crate) tensor: Py<PyAny>,
    pub(crate) value: Py<PyAny>,
    pub(crate) meta: Meta,
}

/// A parameter that the program makes.
pub(crate) struct Made {
    pub(crate) value: Py<PyAny>,
    pub(crate) meta: Meta,
}

/// A number of the program.
pub(crate) struct Number {
    /// The input whose extent it is.
    pub(crate) value: Py<PyAny>,
    /// What it is in this call.
    pub(crate) now: i64,
}

/// What stands for extents in the program, by what they are.
#[derive(Default)]
pub(crate) struct Extents(pub(crate) HashMap<Extent, Py<PyAny>>);

impl Extents {
    /// Whether a value stands for an extent.
    pub(crate) fn contains(&self, value: &Bound<'_, PyAny>) -> bool {
        let same =
            |known: &Py<PyAny>| matches!((value_id(known.bind(value.py())), value_id(value)), (Ok(a), Ok(b)) if a == b);
        self.0.values().any(same)
    }
}

/// The program, and the tensors that it reads.
pub(crate) struct Grown {
    pub(crate) handles: Arc<Handles>,
    pub(crate) main: Py<PyAny>,
    pub(crate) inputs: Vec<Source>,
    pub(crate) params: Vec<Source>,
    /// Index into `inputs` by identity of the symbolic value.
    pub(crate) input_of: HashMap<i64, usize>,
    /// Whether eager would record gradients now.
    pub(crate) grad: bool,
    pub(crate) place: Box<str>,
    /// Whether a tensor was told whether it stops gradients, which a program keeps to itself.
    pub(crate) told: bool,
    /// Whether the program writes in place, which only replay does.
    pub(crate) writes: bool,
    /// Whether it changes what Paddle keeps beside tensors, as well.
    pub(crate) acts: bool,
    /// What it reads of what Paddle keeps beside tensors, by identity of the symbolic value.
    pub(crate) kept: HashMap<i64, Meta>,
    /// Parameters that it makes.
    pub(crate) made: HashMap<i64, Made>,
    /// Computed values to which the program lets gradients flow.
    pub(crate) leaves: HashSet<i64>,
    /// Whether a backward pass has given leaves gradients that no optimizer has cleared since.
    pub(crate) is_backward_done: bool,
    /// Values whose gradients the program itself has set since: whether to a tensor.
    pub(crate) gradients_set: HashMap<i64, bool>,
    /// Whether it writes what it draws.
    pub(crate) draws: bool,
    /// Whether it asks for gradients of itself.
    pub(crate) asks: bool,
    /// A call with a number that the program rounds ([`crate::exact`]).
    pub(crate) rounds: Option<String>,
    /// Operations that were looked at to find out about extents.
    pub(crate) looked_at: Cell<usize>,
    /// What stands for extents that vary.
    pub(crate) extents: Extents,
    /// Numbers of the program that are extents: each is that of an input of one axis, which nobody gives.
    pub(crate) numbers: Vec<Number>,
}

impl Grown {
    /// Whether a tensor stops gradients where the program stands: an input as the tensor behind it does, whatever the mode.
    pub(crate) fn stops(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.known_meta(value_id(value)?) {
            Some(meta) => Ok(!meta.requires_grad),
            None => value.getattr(intern!(value.py(), "stop_gradient"))?.is_truthy(),
        }
    }

    /// What a value is like that the program does not compute, as eager knows better.
    pub(crate) fn known_meta(&self, id: i64) -> Option<&Meta> {
        self.input_index(id)
            .map(|input| &self.inputs[input].meta)
            .or_else(|| self.kept.get(&id))
            .or_else(|| self.made.get(&id).map(|made| &made.meta))
    }

    /// The input that a value is, if it is one.
    pub(crate) fn input_index(&self, id: i64) -> Option<usize> {
        self.input_of.get(&id).copied()
    }
}

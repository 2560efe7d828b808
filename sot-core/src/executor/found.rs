//! What a capture is told before it begins: what earlier attempts, and earlier captures of the same code, have found out.

use crate::backend::TensorMeta;
use crate::captured::Written;
use crate::frame::Site;
use crate::marks::InputSpec;
use crate::occupants::Shared;
use crate::stop::Why;
use crate::varying::Varying;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use std::sync::Arc;

/// What earlier attempts of this capture found out.
#[derive(Clone, Default)]
pub struct Found {
    /// Sites that are impossible, and why.
    pub denied: HashMap<Site, Why>,
    /// Sites where what an instruction raises is not to be asked for: nothing came of it.
    pub silent: HashSet<Site>,
    /// Calls that draw a number by whose value something is decided.
    pub relied_on: HashSet<Site>,
    /// Places below constant objects that hold another value after each call.
    pub rewritten: HashSet<Written>,
    /// Classes that are made anew are to be known by their identity, as all others.
    pub by_identity: bool,
    /// New code makes each class that the simulation makes, where its statement stands.
    pub listed_classes: bool,
    /// Class statements are to run as Python.
    pub real_classes: bool,
    /// What the program has said of the arguments, and how many slots are before them.
    pub spec: Option<(Arc<InputSpec>, usize)>,
    /// Extents of tensors are the same at each call, whatever earlier captures have found.
    pub fixed_extents: Option<Why>,
    /// No extent is a number of the program that varies.
    pub fixed_numbers: bool,
    /// Numbers that earlier captures of the same code have found.
    pub numbers: Arc<Varying>,
    /// What they have found in which places.
    pub occupants: Shared,
    /// Of a general capture: after how many answers a fact varies, so that the instruction which asks for it is a break.
    pub general: Option<usize>,
    /// No operation is to change what the graph has not made.
    pub never_acts: bool,
    /// What the capture of this call has found kept beside tensors, read by read: an operation may have changed it since.
    pub kept: Vec<Option<TensorMeta>>,
    /// The operation that has failed in a run of what was captured.
    pub failed: Option<Failed>,
    /// The operation behind so many statements is a break.
    pub breaks_at: Option<usize>,
    /// The capture comes to its end before the instruction behind so many statements: the last has changed what the program had read.
    pub stops_behind: Option<usize>,
}

impl Found {
    /// Whether it is of a call whose run has come to an end within the graph.
    pub(super) fn is_of_half_done(&self) -> bool {
        self.failed.is_some() || self.breaks_at.is_some() || self.stops_behind.is_some()
    }
}

/// An operation that has failed behind one that acts: the capture comes to its end there, and new code raises the error.
#[derive(Clone)]
pub struct Failed {
    /// So many statements have been run.
    pub at: usize,
    pub error: Arc<Py<PyAny>>,
}

//! The modes that captured code may change; here: whether gradients are recorded. The others are those of [`crate::amp`] and
//! [`crate::default_dtype`].
//!
//! Eager asks it for each operation, programs do not know it. A program that is entered while gradients are recorded gives
//! what eager gives if the results of operations called without are said to stop gradients ([`Recording`]). One that is entered
//! without would have to be run with: it is replayed, where a gradient flows to an output.

use crate::grown::Grown;
use crate::handles::Handles;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};
use sot_core::backend::{Mode, Switch};

/// Whether gradients are recorded.
pub(crate) const GRAD: Mode = 0;

/// Names of the modes.
pub(crate) const NAMES: &[&str] =
    &["grad_mode", "amp_level", "amp_dtype", "amp_promote", "amp_op_lists", "default_dtype", "npu_storage_format"];

/// A flag of the process that layers of batch statistics ask for, and no operation.
pub(crate) const NPU_FORMAT: Mode = 6;

/// Its name.
const NPU_FLAG: &str = "FLAGS_npu_storage_format";

/// The object of C that flags are items of.
fn flags<'py>(py: Python<'py>, handles: &Handles) -> PyResult<Bound<'py, PyAny>> {
    handles.framework.bind(py).getattr(intern!(py, "_global_flags_"))
}

/// The mode that an item of an object is.
pub(crate) fn of_item(handles: &Handles, object: &Bound<'_, PyAny>, key: &str) -> Option<Mode> {
    let is_it = key == NPU_FLAG && flags(object.py(), handles).is_ok_and(|flags| flags.is(object));
    is_it.then_some(NPU_FORMAT)
}

/// The flag now.
pub(crate) fn npu_format<'py>(py: Python<'py>, handles: &Handles) -> PyResult<Bound<'py, PyAny>> {
    flags(py, handles)?.get_item(NPU_FLAG)
}

/// The mode of this thread.
pub(crate) fn grad<'py>(py: Python<'py>, handles: &Handles) -> PyResult<Bound<'py, PyAny>> {
    handles.has_grad.bind(py).call0()
}

pub(crate) fn set_grad(handles: &Handles, on: &Bound<'_, PyAny>) -> PyResult<()> {
    handles.set_has_grad.bind(on.py()).call1((on,)).map(drop)
}

/// `_set_grad_enabled(mode)` and what it calls; what is no bool raises, and not here.
pub(crate) fn switch<'py>(args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> Option<Switch<'py>> {
    let value = match (args.len(), kwargs.map_or(0, |k| k.len())) {
        (1, 0) => args.get_item(0).ok()?,
        (0, 1) => kwargs?.get_item("mode").ok()??,
        _ => return None,
    };
    let gives = value.py().None().into_bound(value.py());
    value.is_exact_instance_of::<PyBool>().then_some(Switch { mode: GRAD, value, gives })
}

/// Whether gradients are recorded at the place of the simulated program, and what follows for the program that grows.
#[derive(Clone, Copy)]
pub(crate) struct Recording {
    /// As the simulated program has it.
    pub(crate) on: bool,
    /// Whether the sources stop gradients all alike: entered without, and never recorded yet.
    all_stop: bool,
}

impl Recording {
    /// When a program is entered.
    pub(crate) fn at_entry(on: bool) -> Recording {
        Recording { on, all_stop: !on }
    }

    /// Whether a source stops gradients.
    pub(crate) fn stops(self, requires_grad: bool) -> bool {
        self.all_stop || !requires_grad
    }

    /// The simulated program has changed the mode.
    pub(crate) fn change(&mut self, py: Python<'_>, grown: &Grown, on: bool) -> PyResult<()> {
        self.on = on;
        if on { self.tell_apart(py, grown) } else { Ok(()) }
    }

    /// From now on the sources stop gradients each as eager's tensors do.
    pub(crate) fn tell_apart(&mut self, py: Python<'_>, grown: &Grown) -> PyResult<()> {
        if std::mem::take(&mut self.all_stop) {
            for source in grown.inputs.iter().chain(&grown.params) {
                source.value.bind(py).setattr(intern!(py, "stop_gradient"), !source.meta.requires_grad)?;
            }
            let mut made: Vec<_> = grown.made.iter().collect();
            made.sort_by_key(|(id, _)| **id);
            for (_, made) in made {
                made.value.bind(py).setattr(intern!(py, "stop_gradient"), !made.meta.requires_grad)?;
            }
        }
        Ok(())
    }

    /// Before an operation is called: what [`Recording::settle`] needs to know its operations by. `None`: it has nothing to do.
    pub(crate) fn newest(self, py: Python<'_>, grown: &Grown, count: usize) -> PyResult<Option<i64>> {
        if self.on || self.all_stop {
            return Ok(None);
        }
        if count == 0 {
            return Ok(Some(-1));
        }
        let block = grown.main.bind(py).call_method0(intern!(py, "global_block"))?;
        let newest = block.call_method0(intern!(py, "back"))?;
        newest.call_method0(intern!(py, "id"))?.extract().map(Some)
    }

    /// An operation has given `values`: those that it has computed stop gradients, as eager's results do. Operations are numbered
    /// in the order of their making.
    pub(crate) fn settle(newest: Option<i64>, values: &[Bound<'_, PyAny>]) -> PyResult<()> {
        let Some(newest) = newest else { return Ok(()) };
        for value in values {
            let py = value.py();
            let op = value.call_method0(intern!(py, "get_defining_op"))?;
            if op.call_method0(intern!(py, "id"))?.extract::<i64>()? > newest {
                value.setattr(intern!(py, "stop_gradient"), true)?;
            }
        }
        Ok(())
    }
}

/// While it lives, Paddle's code finds the mode of the simulated program.
pub(crate) struct Set<'a> {
    handles: &'a Handles,
    before: Option<Py<PyAny>>,
}

impl<'a> Set<'a> {
    pub(crate) fn to(py: Python<'_>, handles: &'a Handles, on: bool) -> PyResult<Set<'a>> {
        let before = grad(py, handles)?;
        let change = before.is_truthy()? != on;
        if change {
            set_grad(handles, &PyBool::new(py, on).to_owned().into_any())?;
        }
        Ok(Set { handles, before: change.then(|| before.unbind()) })
    }
}

impl Set<'_> {
    /// The mode is again what it was.
    pub(crate) fn give_back(mut self, py: Python<'_>) -> PyResult<()> {
        self.before.take().map_or(Ok(()), |before| set_grad(self.handles, before.bind(py)))
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            Python::attach(|py| {
                // A panic goes through, which is what is told.
                let _ = set_grad(self.handles, before.bind(py));
            });
        }
    }
}

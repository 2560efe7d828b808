//! Extents of tensors that are others at each call.
//!
//! Where captures of the same code have found tensors of other extents at the same place, the next one leaves them to run time: its
//! guard accepts any extent of at least 2 along these axes, and the graph is built with an input that varies. What the program
//! reads of them are numbers at a path, as other numbers that vary ([`super::varying`]).
//!
//! A framework cannot do everything without extents. Whatever it refuses in such a graph, and whatever else would stop there, is tried
//! once more with fixed extents, by another attempt ([`Captured::needs_fixed_extents`]).

use super::Executor;
use crate::backend::{Extent, TensorCheck, TensorMeta};
use crate::captured::{place, place_of_extent};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};
use sot_tracker::{Arithmetic, Tracker, TrackerId};
use std::rc::Rc;

/// An extent below this one is special: a tensor of one row is spread over others.
const FIRST_THAT_VARIES: i64 = 2;

impl<'py> Executor<'py> {
    /// Whether a tensor of this capture has extents that vary.
    pub(super) fn extents_vary(&self) -> bool {
        !self.captured.free_axes.is_empty()
    }

    /// Another attempt fixes all extents; this one ends here.
    pub(super) fn needs_fixed_extents(&mut self) -> Stop {
        self.captured.needs_fixed_extents = true;
        Stop::fallback(Reason::Varies, "an extent")
    }

    /// The check of a tensor some of whose extents vary, which its meta data is told. `None`: none does.
    pub(super) fn check_that_varies(
        &mut self,
        tracker: TrackerId,
        tensor: &Bound<'py, PyAny>,
        meta: &mut TensorMeta,
    ) -> Result<Option<Box<dyn TensorCheck>>, Stop> {
        if self.found.fixed_extents || self.found.numbers.is_empty() || !self.has_path(tracker) {
            return Ok(None);
        }
        let known_by = place(self.py, &self.captured, tracker);
        let mut axes = Vec::new();
        for (axis, extent) in meta.shape.iter().enumerate().filter(|(_, extent)| **extent >= FIRST_THAT_VARIES) {
            let extent = extent.into_pyobject(self.py).map_err(|e| self.internal(&e.into()))?;
            if self.found.numbers.holds(&place_of_extent(known_by.clone(), axis), extent.as_any()) {
                axes.push(axis);
            }
        }
        if axes.is_empty() {
            return Ok(None);
        }
        let Some(check) = self.backend.tensor_check_that_varies(tensor, &axes) else { return Ok(None) };
        let check = check.map_err(|e| self.internal(&e))?;
        for axis in &axes {
            let place = place_of_extent(known_by.clone(), *axis);
            let extent = self.extent_of(tracker, *axis)?;
            self.captured.varying.insert(extent, place);
            meta.shape[*axis] = -1;
        }
        self.captured.free_axes.insert(tensor.as_ptr() as usize, axes);
        Ok(Some(check))
    }

    /// The path to an extent of a tensor.
    fn extent_of(&mut self, tensor: TrackerId, axis: usize) -> Result<TrackerId, Stop> {
        let axis = PyInt::new(self.py, axis);
        let axis = self.objects.add(axis.as_any());
        let axis = self.constant_tracker(axis);
        Ok(self.trackers.intern(Tracker::Arithmetic { op: Arithmetic::Extent, left: tensor, right: Some(axis) }))
    }

    /// Extents some of which vary: `example` is what they are now, as a tuple or a new list.
    pub(super) fn extents(&mut self, example: &Bound<'py, PyAny>, known_by: &[Extent]) -> Result<VarId, Stop> {
        let mut items = Vec::with_capacity(known_by.len());
        for (extent, now) in known_by.iter().zip(example.try_iter().map_err(|e| self.internal(&e))?) {
            let now = now.map_err(|e| self.internal(&e))?;
            items.push(match *extent {
                Extent::Fixed => self.fold(&now)?,
                Extent::OfInput { input, axis } => {
                    let Some(input) = self.graph.inputs.get(input) else { return Err(self.needs_fixed_extents()) };
                    let tensor = self.var(input.var).tracker;
                    let extent = self.extent_of(tensor, axis)?;
                    self.computed_at(extent, &now)
                }
            });
        }
        if !example.is_instance_of::<PyList>() {
            return Ok(self.virtual_var(TupleVar::new(items)));
        }
        let class = (!example.is_exact_instance_of::<PyList>()).then(|| self.objects.add(example.get_type().as_any()));
        Ok(self.virtual_var(ListVar { items: Rc::new(items), class, object: None }))
    }
}

//! Functions and scalars of numpy over constants: folded, where nothing of it could be seen.

use super::Executor;
use super::calls::name_of;
use super::copies::Copies;
use crate::numpy;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// Methods of scalars that have effects.
const WITH_EFFECT: &[&str] = &["dump", "setflags", "tofile"];

impl<'py> Executor<'py> {
    /// `np.prod(shape)`, `np.sqrt(2)`, `np.float32(3)`. `None`: it is no such function.
    pub(super) fn call_of_numpy(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        if !numpy::is_pure(callee) {
            return Ok(None);
        }
        if numpy::makes_arrays(callee) || self.hold_arrays(args) {
            return self.call_for_array(callee, args).map(Some);
        }
        let opaque = || Stop::brk(Reason::OpaqueCall, name_of(callee));
        let mut copies = Copies::default();
        let keywords = args.keywords.iter().map(|(_, value)| value);
        for arg in args.positional.iter().chain(keywords) {
            if matches!(self.look(*arg)?, VarKind::Tensor(_)) {
                return Err(Stop::brk(Reason::TensorToHost, name_of(callee)));
            }
        }
        let (positional, keywords) = self.convert_arguments(args, |ex, arg| ex.plain_copy(arg, &mut copies))?;
        let result = self.ask_numpy(callee, &positional, keywords.as_ref())?;
        if numpy::is_array(&result) {
            return self.call_for_array(callee, args).map(Some);
        }
        match self.is_number_of_numpy(&result) || crate::objects::is_constant_type(&result.get_type()) {
            true => self.fold(&result).map(Some),
            false => match result.is_exact_instance_of::<PyTuple>() {
                true => self.fold_result(&result, &copies).map(Some),
                false => Err(opaque()),
            },
        }
    }

    /// Whether a pure function is one of a scalar, or is given some.
    pub(super) fn asks_numpy(&self, callee: &Bound<'py, PyAny>, args: &Args) -> bool {
        let keywords = args.keywords.iter().map(|(_, value)| value);
        args.positional.iter().chain(keywords).any(|arg| self.is_scalar_of_numpy(*arg))
            || callee
                .cast::<PyCFunction>()
                .is_ok_and(|method| method.getattr("__self__").is_ok_and(|receiver| self.is_number_of_numpy(&receiver)))
    }

    /// Call a function without effect. Warnings and errors are for the program to see.
    pub(super) fn ask_numpy(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        numpy::call(callee, args, keywords).map_err(|_| Stop::brk(Reason::OpaqueCall, name_of(callee)))
    }

    /// Whether a value is an array that was there before the frame.
    pub(super) fn is_array_of_numpy(&mut self, value: VarId) -> Result<bool, Stop> {
        Ok(match self.look(value)? {
            VarKind::Instance(InstanceVar { object: Some(object), .. }) => {
                numpy::is_array(self.objects.get_ref(self.py, object))
            }
            _ => false,
        })
    }

    pub(super) fn is_number_of_numpy(&self, value: &Bound<'py, PyAny>) -> bool {
        numpy::is_scalar_type(&value.get_type())
    }

    /// Stop at an operator of such a scalar and what is no constant: numpy may make an array of it. Tensors on the left answer
    /// themselves.
    pub(super) fn may_meet_scalar(&self, left: VarId, right: VarId) -> Result<(), Stop> {
        let constant = |var: VarId| matches!(self.var(var).kind, VarKind::Constant(_));
        let answers = |var: VarId| constant(var) || matches!(self.var(var).kind, VarKind::Tensor(_));
        match self.is_scalar_of_numpy(left) && !constant(right) || self.is_scalar_of_numpy(right) && !answers(left) {
            true => Err(Stop::brk(Reason::OpaqueCall, "an operator of numpy")),
            false => Ok(()),
        }
    }

    pub(super) fn is_scalar_of_numpy(&self, var: VarId) -> bool {
        match &self.var(var).kind {
            VarKind::Constant(constant) => self.is_number_of_numpy(&self.objects.get(self.py, constant.object)),
            _ => false,
        }
    }

    /// Stop at what a scalar does for others to see.
    pub(super) fn may_ask_scalar(&self, me: VarId, name: &str) -> Result<(), Stop> {
        match WITH_EFFECT.contains(&name) && self.is_scalar_of_numpy(me) {
            true => Err(Stop::brk(Reason::OpaqueCall, name)),
            false => Ok(()),
        }
    }
}

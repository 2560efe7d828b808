//! `bytearray`, as far as the simulation makes one.
//!
//! What is done with one is done by a real one of the same bytes, which says what comes of it, what becomes of the bytes, and what is
//! raised. No view of one that the simulation made can be alive: who takes one looks at a real one.

use super::Executor;
use super::copies::Copies;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// Bytes that are simulated at most.
const MOST: usize = 1 << 16;

impl<'py> Executor<'py> {
    /// `bytearray(..)`; `None`: it is another class.
    pub(super) fn call_bytearray(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        if !class.is(self.py.get_type::<PyByteArray>()) {
            return Ok(None);
        }
        if let [size, ..] = *args.positional.as_slice()
            && self.look_int(size)?.is_some_and(|size| size > MOST as i64)
        {
            return Err(Stop::brk(Reason::Builtin, "bytearray"));
        }
        self.fold_call_with(class, args, &mut Copies::default()).map(Some)
    }

    fn look_int(&mut self, value: VarId) -> Result<Option<i64>, Stop> {
        self.look(value)?;
        Ok(self.constant_int(value))
    }

    /// One of the simulation's own with the bytes of a real one that nobody else has.
    pub(super) fn bytearray_of(&mut self, real: &Bound<'py, PyByteArray>) -> Result<VarId, Stop> {
        if real.len() > MOST {
            return Err(Stop::brk(Reason::Builtin, "bytearray"));
        }
        Ok(self.virtual_var(ByteArrayVar { bytes: real.to_vec().into() }))
    }

    /// A method of a bytearray, or an operator in its place: `done` of a real one and these arguments.
    fn done_with_bytes(
        &mut self,
        me: VarId,
        args: &Args,
        done: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, bool)>,
    ) -> Result<VarId, Stop> {
        let mut copies = Copies::default();
        let real = self.plain_copy(me, &mut copies)?;
        let (callee, with_me) = done(&real).map_err(|e| self.would_raise(&e))?;
        let result = match with_me {
            true => self.fold_call_with(&callee, &args.with_first(me), &mut copies)?,
            false => self.fold_call_with(&callee, args, &mut copies)?,
        };
        let real = real.cast::<PyByteArray>().map_err(|e| self.internal(&e.into()))?;
        if real.len() > MOST {
            return Err(Stop::brk(Reason::Builtin, "bytearray"));
        }
        let now: Rc<[u8]> = real.to_vec().into();
        if let VarKind::ByteArray(before) = self.look(me)?
            && before.bytes != now
            && let VarKind::ByteArray(array) = &mut self.var_mut(me).kind
        {
            array.bytes = now;
        }
        Ok(result)
    }

    pub(super) fn bytearray_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        if let "__init__" | "__alloc__" | "__sizeof__" | "__reduce__" | "__reduce_ex__" | "__buffer__" | "__iter__"
        | "__setattr__" | "__delattr__" | "__imul__" | "__mul__" | "__rmul__" = name
        {
            return Err(Stop::brk(Reason::Builtin, format!("bytearray.{name}")));
        }
        for arg in &args.positional {
            if self.holds_tensor_or_code(*arg)? {
                return Err(Stop::brk(Reason::Builtin, format!("bytearray.{name}")));
            }
        }
        self.done_with_bytes(me, args, |real| Ok((real.getattr(name)?, false)))
    }

    fn holds_tensor_or_code(&mut self, arg: VarId) -> Result<bool, Stop> {
        Ok(matches!(self.look(arg)?, VarKind::Tensor(_)) || !self.is_plain(arg)?)
    }

    /// `left op= right` of a bytearray, by this function of module operator.
    pub(super) fn bytearray_in_place(
        &mut self,
        operator: Bound<'py, PyAny>,
        left: VarId,
        right: VarId,
    ) -> Result<VarId, Stop> {
        self.fits(left, right)?;
        self.done_with_bytes(left, &Args::positional(vec![right]), move |_| Ok((operator, true)))
    }

    /// `array * count` is no more than is simulated.
    pub(super) fn fits(&mut self, a: VarId, b: VarId) -> Result<(), Stop> {
        for (array, count) in [(a, b), (b, a)] {
            if let VarKind::ByteArray(array) = self.look(array)?
                && let Some(count) = self.look_int(count)?
                && array.bytes.len().saturating_mul(usize::try_from(count).unwrap_or(0)) > MOST
            {
                return Err(Stop::brk(Reason::Builtin, "a huge repetition"));
            }
        }
        Ok(())
    }
}

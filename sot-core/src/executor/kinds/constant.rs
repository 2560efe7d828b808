//! Constants: immutable values that are compared by value (numbers, strings, None, code, ranges, a
//! framework's dtypes). Looking at one guards its type; reading its value guards the value.

use super::*;
use crate::executor::copies::Copies;
use pyo3::types::{PyBytes, PyRange, PySlice, PyString, PyTuple};
use sot_tracker::Check;

impl Operations for ConstantVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get_ref(ex.py, self.object).get_type().into_any())
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        if let Some(truth) = ex.truth_of_varying(me)? {
            return Ok(truth);
        }
        let value = ex.constant_value(me).expect("a constant");
        ex.told_by_c(&[&value], &Copies::default(), || value.is_truthy())
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        let value = ex.constant_value(me).expect("a constant");
        value.len().map_err(|e| ex.would_raise(&e))
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let object = ex.objects.get(ex.py, self.object);
        let ty = object.get_type();
        if crate::objects::is_constant_type(&ty) || object.is_none() {
            // A number, a part of a range or of a code object.
            return match ex.is_field(&ty, name) {
                true => ex.constant_attribute(me, name).map(Some),
                false => ex.attribute_of_builtin(me, name),
            };
        }
        // A constant of the framework, whose attributes are its own affair. What only its metaclass has is none of them.
        if crate::type_facts::raw(&ty, name).is_some() && ty.getattr(name).is_ok_and(|d| d.is_callable()) {
            return Ok(Some(ex.virtual_var(BoundVar::new(me, name))));
        }
        ex.constant_attribute(me, name).map(Some)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        let value = ex.constant_value(me).expect("a constant");
        let key = ex.require_plain(key)?;
        match value.get_item(&key) {
            // All of a string is the string.
            Ok(item) if item.is(&value) => Ok(me),
            Ok(item) => ex.fold(&item),
            Err(e) => Err(ex.would_raise(&e)),
        }
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let value = ex.constant_value(me).expect("a constant");
        if let Ok(range) = value.cast::<PyRange>() {
            let part = |name| range.getattr(name).and_then(|v| v.extract::<i64>());
            if let (Ok(next), Ok(stop), Ok(step)) = (part("start"), part("stop"), part("step")) {
                return Ok(ex.virtual_var(IteratorVar::new(Iteration::Range { next, stop, step, taken: 0 })));
            }
        }
        if value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<pyo3::types::PyBytes>() {
            return Ok(ex.virtual_var(IteratorVar::new(Iteration::Sequence { sequence: me, index: 0 })));
        }
        if let Some(state) = ex.set_state(me)? {
            return ex.iterate_set(me, state);
        }
        Err(Stop::brk(Reason::WouldRaise, "iteration of a constant"))
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        if let Some(extent) = ex.extent_as_argument(me)? {
            return Ok(extent);
        }
        Ok(ex.constant_value(me).expect("a constant"))
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        if !at.given {
            ex.guard_type(at.tracker, self.object);
        }
        Ok(())
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(Some(Vec::new()))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let value = ex.constant_value(me).expect("a constant");
        if let Ok(range) = value.cast_exact::<PyRange>() {
            let backwards = ex.py.get_type::<PySlice>().call1((ex.py.None(), ex.py.None(), -1));
            let reversed = backwards.and_then(|slice| range.get_item(slice));
            let reversed = reversed.map_err(|e| ex.would_raise(&e))?;
            let reversed = ex.fold(&reversed)?;
            return ex.iterate(reversed);
        }
        if value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyBytes>() {
            let index = ex.length(me)?;
            return Ok(ex.virtual_var(IteratorVar::new(Iteration::Reversed { sequence: me, index })));
        }
        Err(Stop::brk(Reason::WouldRaise, "reversed()"))
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.constant_method(me, name, args).map(Called::Value)
    }
}

impl<'py> Executor<'py> {
    fn constant_attribute(&mut self, me: VarId, name: &str) -> Result<VarId, Stop> {
        let value = self.constant_value(me).expect("a constant");
        match value.getattr(name) {
            // `n.real` is `n`.
            Ok(found) if found.is(&value) => Ok(me),
            // A tuple that the value keeps (`code.co_consts`), and not one that is made for whoever asks.
            Ok(found)
                if found.is_exact_instance_of::<PyTuple>()
                    && value.getattr(name).is_ok_and(|again| again.is(&found)) =>
            {
                self.look_identity(me)?;
                Ok(self.pin(&found))
            }
            Ok(found) => self.fold(&found),
            Err(e) => Err(self.would_raise(&e)),
        }
    }

    /// The value of a constant, guarded; `None` for every other kind.
    pub fn constant_value(&mut self, var: VarId) -> Option<Bound<'py, PyAny>> {
        let VarKind::Constant(ConstantVar { object }) = self.var(var).kind else { return None };
        if !self.var(var).valued {
            self.learn(var).valued = true;
            let tracker = self.var(var).tracker;
            if self.has_path(tracker) && !self.trackers.get(tracker).is_constant() {
                let value = self.objects.get(self.py, object);
                let check = if value.is_none() || value.is_instance_of::<pyo3::types::PyBool>() {
                    Check::Is(object)
                } else {
                    Check::Equals(object)
                };
                self.guard(tracker, check);
            }
        }
        Some(self.objects.get(self.py, object))
    }

    /// A constant integer (bool included), guarded.
    pub fn constant_int(&mut self, var: VarId) -> Option<i64> {
        self.constant_value(var).and_then(|v| v.extract::<i64>().ok())
    }

    /// A constant string, guarded. One with half a character is no name that Rust can hold.
    pub fn constant_str(&mut self, var: VarId) -> Option<String> {
        let value = self.constant_value(var)?;
        value.cast::<PyString>().ok()?.to_str().ok().map(str::to_owned)
    }
}

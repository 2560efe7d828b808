//! Sets and frozen sets.

use super::*;
use crate::captured::SetStep;
use pyo3::types::{PyFrozenSet, PySet};

impl Operations for SetVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(match self.frozen {
            true => ex.py.get_type::<PyFrozenSet>().into_any(),
            false => ex.py.get_type::<PySet>().into_any(),
        })
    }

    fn truth(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(ex.length_of_set(self.state)? > 0)
    }

    fn length(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        ex.length_of_set(self.state)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_builtin(me, name)
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_set(me, self.state)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.require_plain(me)
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(object) = self.object {
            ex.is_read_as_it_is(object)?;
            ex.guard_container(at.tracker, object, at.given, at.pinned);
            let state = ex.histories.add(SetStep::Found { object, var: me }, self.frozen);
            if let VarKind::Set(set) = &mut ex.learn(me).kind {
                set.state = state;
            }
        }
        Ok(())
    }

    fn plain_parts(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(ex.ordered(self.state).ok().map(|content| content.vars().collect()))
    }

    fn has_an_id(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        // Up to 3.9 all frozen ones that are empty are one.
        Ok(!self.frozen || ex.py.version_info() >= (3, 10))
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        let protocol = |ex: &mut Executor<'_>| match *args.positional {
            [protocol] => args.keywords.is_empty() && ex.constant_int(protocol).is_some(),
            _ => false,
        };
        if name == "__reduce_ex__" && protocol(ex) {
            let class = ex.class_of(me)?;
            let class = ex.pin(&class);
            return ex.enter("reduced_set", &[me, class]);
        }
        ex.set_method(me, name, args).map(Called::Value)
    }
}

//! Callables of C that are made of what their constructor is given.

use super::*;

impl Operations for NativeVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.class))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        match ex.shown_by(me)? {
            Some(dict) => ex.truth(dict),
            None => Ok(true),
        }
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        match ex.shown_by(me)? {
            Some(dict) => ex.look(dict)?.length(ex, dict),
            None => unanswered(self.kind_name(), "len()"),
        }
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        match ex.shown_by(me)? {
            Some(dict) => ex.look(dict)?.iterate(ex, dict),
            None => unanswered(self.kind_name(), "iteration"),
        }
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_native(me, self, name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        if let Some(dict) = ex.shown_by(me)? {
            return ex.subscript(dict, key);
        }
        ex.method_of_match(me, "__getitem__", &Args::positional(vec![key]))
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call_native(self, args)
    }
}

//! Classes: pinned by identity. Calling one makes a virtual instance, or folds, by kind of class; what else operators ask of
//! one its metaclass answers, as any class does for its instances.

use super::*;

impl Operations for ClassVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.metaclass(self.object))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        if ex.asks_metaclass(self.object) { ex.truth_by_protocol(me) } else { Ok(true) }
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        if ex.asks_metaclass(self.object) { ex.length_by_protocol(me) } else { unanswered(self.kind_name(), "len()") }
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        if ex.asks_metaclass(self.object)
            && let Some(method) = ex.special_method_if_any(me, "__getitem__")?
        {
            return ex.call_tail(method, &Args::positional(vec![key]));
        }
        ex.parametrised(me, self.object, key)
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        if ex.asks_metaclass(self.object) {
            ex.iterate_by_protocol(me)
        } else {
            unanswered(self.kind_name(), "iteration")
        }
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        ex.attribute_of_class(me, &class, name, true)
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        ex.call_class(&class, args)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.note_named(self.object);
        Ok(ex.objects.get(ex.py, self.object))
    }
}

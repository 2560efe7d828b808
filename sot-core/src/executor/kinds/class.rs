//! Classes: pinned by identity. Calling one makes a virtual instance, or folds, by kind of class; what else operators ask of
//! one its metaclass answers, as any class does for its instances.

use super::*;
use crate::cpython::facts;
use crate::cpython::facts::name_in_messages;
use pyo3::exceptions::PyAttributeError;
use pyo3::types::PyType;

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

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if self.anew {
            ex.guard_alike(self.object, me);
        } else {
            ex.look_at_identity(Nature::pinned(self), at, false);
        }
        Ok(())
    }

    fn no_attribute(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Stop, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        let class = class.cast::<PyType>().map_err(|e| ex.internal(&e.into()))?;
        let text = match name {
            // `type` has this one, and its own words.
            "__abstractmethods__" => name.to_owned(),
            _ => format!("type object '{}' has no attribute '{name}'", name_in_messages(class)),
        };
        Ok(ex.raise_error::<PyAttributeError>(&text))
    }

    fn plain_parts(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        let of_c = class.cast::<PyType>().is_ok_and(|class| !facts::is_heap_type(class));
        Ok(of_c.then(Vec::new))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        ex.set_class_attribute(me, self.object, name, new)
    }
}

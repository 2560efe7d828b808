//! Callables of C that are made of what their constructor is given.

use super::*;
use crate::natives::Native;
use pyo3::types::{PyDict, PyString};

impl Operations for NativeVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.class))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        if self.native == Native::Array {
            let array = ex.array_to_ask(me)?;
            // That of an empty array is no longer to be asked for, and warns.
            return match array.len() {
                Ok(0) => unanswered(self.kind_name(), "truth"),
                _ => array.is_truthy().map_err(|e| ex.would_raise(&e)),
            };
        }
        if self.native == Native::Made {
            // A difference of no time is false.
            return ex.object_made(me, self)?.is_truthy().map_err(|e| ex.would_raise(&e));
        }
        match ex.shown_by(me)? {
            Some(dict) => ex.truth(dict),
            None => Ok(true),
        }
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        if self.native == Native::Array {
            let array = ex.array_to_ask(me)?;
            return array.len().map_err(|e| ex.would_raise(&e));
        }
        match ex.shown_by(me)? {
            Some(dict) => ex.look(dict)?.length(ex, dict),
            None => unanswered(self.kind_name(), "len()"),
        }
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        if self.native == Native::Array {
            // Who has no axis has no items.
            self.length(ex, me)?;
            return Ok(ex.virtual_var(IteratorVar::new(Iteration::Sequence { sequence: me, index: 0 })));
        }
        if self.native == Native::Made && ex.gives_lines(self)? {
            ex.may_give_lines(me, self)?;
            return Ok(me);
        }
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
        if self.native == Native::Array {
            return ex.item_of_array(me, key);
        }
        ex.method_of_match(me, "__getitem__", &Args::positional(vec![key]))
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call_native(self, args)
    }

    /// What is made alike: nobody writes to the arrays and records that are made of constants.
    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self.native {
            Native::Array => ex.array_made(me, self),
            Native::Record if self.object.is_none() => ex.record(&self.positional),
            _ => unanswered(self.kind_name(), "use as an argument of a framework call"),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        ex.look_at_object(me, at, at.pinned || Nature::pinned(self).is_some());
        if ex.known_object(me).is_some() && self.native != Native::Partial && !self.pinned {
            ex.guard_parts_of_native(at.tracker, self);
        }
        Ok(())
    }

    fn no_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Stop, Stop> {
        // Any other one that is made alike says the same.
        let class = ex.objects.get(ex.py, self.class);
        let sample = match self.native {
            Native::Id => class.call0().map_err(|e| ex.internal(&e))?,
            Native::Record | Native::Match => ex.record(&self.positional)?,
            Native::Partial => class.call1((&class,)).map_err(|e| ex.internal(&e))?,
            Native::Proxy => class.call1((PyDict::new(ex.py),)).map_err(|e| ex.internal(&e))?,
            Native::Made => ex.object_made(me, self)?,
            Native::Array => ex.array_made(me, self)?,
            Native::Descriptor | Native::Encoder | Native::Reference => return no_words(name),
            Native::ItemGetter | Native::AttrGetter | Native::MethodCaller => {
                class.call1((PyString::intern(ex.py, "name"),)).map_err(|e| ex.internal(&e))?
            }
        };
        ex.words_of(sample.getattr(name), name)
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        if self.native != Native::Partial || self.object.is_some() {
            return Err(Stop::brk(Reason::Mutation, format!("attribute of {}", self.kind_name())));
        }
        // A partial's own way does what that of `object` does.
        ex.set_by_object(me, name, new)
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        match self.native {
            Native::Proxy => ex.method_of_proxy(me, name, args),
            Native::Descriptor => ex.property_changed(me, name, args).map(Called::Value),
            Native::Made | Native::Array => {
                let class = ex.objects.get(ex.py, self.class);
                let method = class.getattr(name).map_err(|e| ex.internal(&e))?;
                let called = ex.method_of_object_of_c(&method, &class, name, me, args)?;
                called.ok_or_else(|| Stop::brk(Reason::Builtin, format!("{name} of an object of C")))
            }
            _ => ex.method_of_match(me, name, args).map(Called::Value),
        }
    }
}

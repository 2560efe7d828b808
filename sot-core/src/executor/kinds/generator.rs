//! Generators: each owns the frame that it will go on in.
//!
//! The frame is the simulation's while the generator is virtual: asking for an item puts it on the machine's stack, a
//! yield takes it off again. Handed out, a generator becomes a real one that goes on where the frame stands.

use super::*;

impl Operations for GeneratorVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        if let Some(class) = self.disguise() {
            return ex.class_in_disguise(class);
        }
        ex.types_attribute(match () {
            () if self.is_coroutine() => "CoroutineType",
            () if self.is_async() => "AsyncGeneratorType",
            () => "GeneratorType",
        })
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if let Some(class) = self.disguise() {
            return ex.attribute_in_disguise(me, class, name);
        }
        match name {
            "__next__" | "__iter__" if !self.is_iterator() => Ok(None),
            "__anext__" | "asend" | "athrow" | "aclose" | "__aiter__" if self.is_async() => {
                Ok(Some(ex.virtual_var(BoundVar::new(me, name))))
            }
            "send" | "throw" | "close" if self.is_async() => Ok(None),
            "send" | "throw" | "close" | "__next__" | "__iter__" => Ok(Some(ex.virtual_var(BoundVar::new(me, name)))),
            _ => match self.class(ex, me)?.cast::<pyo3::types::PyType>().is_ok_and(|c| crate::type_facts::has(c, name))
            {
                true => unanswered(self.kind_name(), &format!("attribute {name}")),
                false => Ok(None),
            },
        }
    }

    fn iterate(&self, _ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        if self.disguise() == Some("_token") {
            return unanswered("a token", "iteration");
        }
        if !self.is_iterator() {
            return Err(Stop::brk(Reason::WouldRaise, "iteration over what is awaited"));
        }
        Ok(me)
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.generator_method(me, name, args)
    }
}

//! Python modules: pinned by identity, attributes guarded in the module's dict.

use super::*;
use crate::cpython::facts;
use crate::type_facts;
use pyo3::types::PyModule;

impl Operations for ModuleVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get_ref(ex.py, self.object).get_type().into_any())
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let object = ex.objects.get(ex.py, self.object);
        ex.require_module_lookup(&object)?;
        let class = object.get_type();
        if name == "__dict__"
            && let (Some(found), Some(dict)) = (ex.class_lookup(class.as_any(), name)?, facts::module_dict(&object))
            && type_facts::raw(&ex.py.get_type::<PyModule>(), name).is_some_and(|own| own.is(&found))
        {
            // The globals of its functions.
            return Ok(Some(ex.pin(dict.as_any())));
        }
        if let Some(found) = ex.class_lookup(class.as_any(), name)?
            && facts::is_heap_type(&class)
            && ex.is_data_descriptor(&found)?
        {
            return Err(Stop::brk(Reason::UserCode, format!("attribute {name} of a class of modules")));
        }
        match ex.instance_dict_item(me, &object, name)? {
            Some(value) => Ok(Some(value)),
            None => ex.missing_of_module(me, &object, name),
        }
    }

    /// A module of a class that can be called.
    fn call(&self, ex: &mut Executor<'_>, me: VarId, args: &Args) -> Result<Called, Stop> {
        let module = ex.objects.get(ex.py, self.object);
        if !facts::is_heap_type(&module.get_type()) {
            return unanswered(self.kind_name(), "call");
        }
        let method = ex.special_method(me, "__call__")?;
        ex.call(method, args)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.object))
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        ex.look_at_identity(Nature::pinned(self), at, true);
        Ok(())
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        let object = ex.objects.get(ex.py, self.object);
        ex.set_in_module(me, &object, name, new)
    }

    fn no_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Stop, Stop> {
        let module = ex.objects.get(ex.py, self.object);
        if let Some(own) = ex.instance_dict_item(me, &module, "__name__")? {
            ex.look(own)?;
            ex.constant_value(own);
        }
        // What it holds is known to lack the name, and nobody else is asked.
        match module.is_exact_instance_of::<PyModule>() {
            true => ex.words_of(module.getattr(name), name),
            false => no_words(name),
        }
    }
}

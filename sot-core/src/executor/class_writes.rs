//! Attributes of given classes that the program writes: `Model.calls += 1`.
//!
//! A write is an entry of the journal, made by the class itself when new code runs. Until then the real class has the old value:
//! who reads an attribute of the class, or of an instance, asks here first, and whatever else looks the name up breaks the graph
//! ([`Executor::class_lookup`]). Only what reading gives as it is may be written: no name of the language's own, no
//! descriptor, nothing in the place of one.

use super::Executor;
use crate::captured::Written;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Overlay};
use sot_tracker::{Access, Check, ObjectId};

impl<'py> Executor<'py> {
    /// `class.name = value`
    pub(super) fn set_class_attribute(
        &mut self,
        var: VarId,
        class: ObjectId,
        name: &str,
        value: VarId,
    ) -> Result<(), Stop> {
        let refused = || Stop::brk(Reason::Mutation, "attribute of a class");
        let object = self.objects.get(self.py, class);
        let ty = object.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let Some(dict) = facts::class_dict(&object).filter(|_| facts::is_written_class(ty)) else {
            return Err(refused());
        };
        if self.is_made_here(ty) {
            return self.write_to_made_class(var, name, Some(value));
        }
        if name.starts_with("__") || self.is_made_anew(class) || !self.is_given_as_it_is(value)? {
            return Err(refused());
        }
        let meta = self.metaclass(class);
        let own = self.class_lookup(&meta, "__setattr__")?;
        let generic = type_facts::raw(&self.py.get_type::<PyType>(), "__setattr__");
        if !own.zip(generic).is_some_and(|(own, generic)| own.is(&generic)) {
            return Err(Stop::brk(Reason::UserCode, "__setattr__"));
        }
        if self.class_lookup(&meta, name)?.is_some() {
            return Err(refused());
        }
        // What is there now is guarded by those who read it.
        if type_facts::raw(ty, name).is_some_and(|old| type_facts::descriptor(&old) != Descriptor::Plain) {
            return Err(refused());
        }
        if let Some(old) = dict.get_item(name).ok().flatten() {
            if self.death_runs_code(&old) {
                return Err(refused());
            }
            self.note_written_to_class(&dict, name, &old);
        }
        let address = object.as_ptr() as usize;
        let var = match self.classes_written.iter().find(|(written, _)| *written == address) {
            Some((_, known)) => *known,
            None => {
                self.classes_written.push((address, var));
                var
            }
        };
        self.journal_record(Mutation::SetAttr {
            object: Self::var_ref(var),
            name: name.into(),
            value: Self::var_ref(value),
        });
        Ok(())
    }

    /// What was read of the class by its identity will be another object at the next call.
    fn note_written_to_class(&mut self, dict: &Bound<'py, PyDict>, name: &str, old: &Bound<'py, PyAny>) {
        self.note_other_in_place(old, |_, _| Some(Written::Name(dict.as_ptr() as usize, name.to_owned())));
    }

    /// Whether an earlier attempt has found that the code writes the attribute that a look-up has found.
    pub(super) fn is_rewritten_in_class(&self, class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> bool {
        if self.found.rewritten.is_empty() {
            return false;
        }
        let name = name.to_string_lossy();
        type_facts::dict_that_has(class, &name).is_some_and(|dict| self.is_rewritten(&dict, &name))
    }

    /// Whether a value in a class is given as it is to who reads it, guarded.
    pub(super) fn is_given_as_it_is(&mut self, value: VarId) -> Result<bool, Stop> {
        match self.look(value)? {
            VarKind::Constant(_)
            | VarKind::Tensor(_)
            | VarKind::Tuple(_)
            | VarKind::List(_)
            | VarKind::Dict(_)
            | VarKind::Set(_)
            | VarKind::Instance(_) => {
                let class = self.class_of(value)?;
                Ok(self.class_lookup(&class, "__get__")?.is_none() && !self.is_data_descriptor_class(&class)?)
            }
            _ => Ok(false),
        }
    }

    fn is_data_descriptor_class(&mut self, class: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let sets = self.class_lookup(class, "__set__")?.is_some();
        Ok(self.class_lookup(class, "__delete__")?.is_some() || sets)
    }

    /// What this capture has written to a class, if looking the name up comes to that. That no class before it in the MRO has the name
    /// is guarded.
    pub(super) fn written_to_class(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<Option<VarId>, Stop> {
        if self.classes_written.is_empty() {
            return Ok(None);
        }
        let Ok(ty) = class.cast::<PyType>() else { return Ok(None) };
        let mut before = Vec::new();
        for base in facts::mro(ty).iter() {
            let address = base.as_ptr() as usize;
            let var = self.classes_written.iter().find(|(written, _)| *written == address).map(|(_, var)| *var);
            if let Some(var) = var
                && let Overlay::Set(value) = self.journal.attr(Self::var_ref(var), name)
            {
                if !before.is_empty() {
                    if self.made_anew(class).is_some() {
                        return Err(Stop::brk(Reason::Mutation, format!("{name} of a class that was written to")));
                    }
                    self.guard_mro(ty);
                    let key = PyString::intern(self.py, name);
                    let key = self.objects.add(key.as_any());
                    for base in before {
                        let id = self.objects.add(&base);
                        let base = self.constant_tracker(id);
                        let dict = self.trackers.step(base, Access::InstanceDict);
                        self.guard(dict, Check::Lacks(key));
                    }
                }
                return Ok(Some(VarId(value.0)));
            }
            if type_facts::own(&base, name).is_some() {
                return Ok(None);
            }
            // Types of C cannot change, and what the simulation makes has what it gives it.
            let made = base.cast::<PyType>().is_ok_and(|base| self.is_made_here(base));
            if facts::class_dict(&base).is_some() && !made {
                before.push(base);
            }
        }
        Ok(None)
    }
}

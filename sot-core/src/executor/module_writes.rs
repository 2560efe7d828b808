//! `module.name = value`: the dict of a module is the globals of its functions, so that this is an entry like that of a `global`
//! statement in one of them.
//!
//! Only modules of Python: what C reads of its own modules (`sys.stdout`, `builtins`) is not asked of the journal. Nor is what code of the
//! framework reads while a graph grows, as it sees the modules themselves: behind a write to a module that it might read, or a change of what is
//! warned of, its operations are breaks, which replay the journal.

use super::Executor;
use crate::cpython::facts;
use crate::libraries;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::ObjectId;

impl<'py> Executor<'py> {
    /// `module.name = value`
    pub(super) fn set_in_module(
        &mut self,
        me: VarId,
        module: &Bound<'py, PyAny>,
        name: &str,
        value: VarId,
    ) -> Result<(), Stop> {
        let refused = || Stop::brk(Reason::Mutation, format!("attribute {name} of a module"));
        if !module.is_exact_instance_of::<PyModule>() {
            return Err(refused());
        }
        let class = self.class_of(me)?;
        if let Some(found) = self.class_lookup(&class, name)?
            && self.is_data_descriptor(&found)?
        {
            return Err(refused());
        }
        let dict = facts::instance_dict(module).filter(|dict| dict.is_exact_instance_of::<PyDict>());
        let dict = dict.ok_or_else(refused)?;
        self.has_names_only(&dict)?;
        let Some(file) = file_of_module(&dict) else { return Err(refused()) };
        let globals: ObjectId = self.objects.add(dict.as_any());
        if self.frames.iter().any(|frame| frame.builtins == globals) {
            return Err(refused());
        }
        self.set_global_in(globals, name, value)?;
        if libraries::comes_with_python(self.py, &file) || libraries::of_framework(self.py, &file) {
            self.modules_written.insert(Target::Globals(globals));
        }
        Ok(())
    }

    /// `_warnings._filters_mutated()`: what C has remembered of the filters counts no more. Whether C would warn is found out whatever
    /// they are.
    pub(super) fn filters_are_changed(&mut self, callee: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        let module = crate::cpython::module(self.py, "_warnings").map_err(|e| self.internal(&e))?;
        let name = "_filters_mutated";
        if !module.getattr(name).is_ok_and(|own| own.is(callee)) {
            return Ok(None);
        }
        let object = self.pin(module.as_any());
        let object = Self::var_ref(object);
        self.modules_written.insert(Target::Object(object));
        self.journal_record(Mutation::Method { object, name: name.to_owned(), args: Vec::new() });
        self.fold_none().map(Some)
    }

    /// A dict is written to: it may be that of a module which code reads that is not simulated.
    pub(super) fn note_module_written(&mut self, container: VarId) {
        let Some(object) = self.known_object(container) else { return };
        let object = self.objects.get(self.py, object);
        let Ok(dict) = object.cast_exact::<PyDict>() else { return };
        if dict.contains("__spec__").unwrap_or(false)
            && file_of_module(dict).is_some_and(|file| {
                libraries::comes_with_python(self.py, &file) || libraries::of_framework(self.py, &file)
            })
        {
            self.modules_written.insert(Target::Object(Self::var_ref(container)));
        }
    }

    /// An operation of the framework runs now, in modules as they are.
    pub(super) fn modules_are_as_they_are(&self) -> Result<(), Stop> {
        let written = |target: &Target| self.journal.changes_of(*target).next().is_some();
        match self.modules_written.iter().any(written) {
            true => Err(Stop::brk(Reason::Mutation, "an operation behind a write to a module")),
            false => Ok(()),
        }
    }
}

/// The file of Python code that a module is made of.
fn file_of_module(dict: &Bound<'_, PyDict>) -> Option<String> {
    let file = dict.get_item("__file__").ok().flatten()?;
    let file = file.cast_exact::<PyString>().ok()?.to_str().ok()?.to_owned();
    (file.ends_with(".py") || file.ends_with(".pyc")).then_some(file)
}

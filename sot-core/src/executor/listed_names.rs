//! `dir(value)`, where the `__dir__` of `object` or `type` answers: the names in the value's dict, and those that its classes have, which are
//! asked for as one text ([`crate::process::names_of_class`]).

use super::Executor;
use crate::process;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::collections::BTreeSet;

impl<'py> Executor<'py> {
    /// The list of names; `None`: somebody else answers.
    pub(super) fn names_listed(&mut self, value: VarId) -> Result<Option<VarId>, Stop> {
        let class = self.class_of(value)?;
        let (lists, of, own) = match self.look(value)? {
            VarKind::Class(found) => (self.py.get_type::<PyType>(), self.objects.get(self.py, found.object), false),
            VarKind::Instance(_) => (self.py.get_type::<PyAny>(), class.clone(), true),
            _ => return Ok(None),
        };
        let of = of.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        if self.own_lookup(value)?.is_some()
            || !self.has_from(&class, "__dir__", &lists)?
            || own && !self.tells_its_class(&class)?
            || !self.show_their_dicts(&of)?
        {
            return Ok(None);
        }
        let mut names = BTreeSet::new();
        if own && !self.add_own_names(value, &class, &mut names)? {
            return Ok(None);
        }
        let question = process::names_of_class(&of).map_err(|e| self.internal(&e))?.into_bound(self.py);
        let Some(answer) = process::answer(&question) else { return Ok(None) };
        let answer = self.answered_by_path(&question, &answer);
        let text = self.constant_str(answer).ok_or(Stop::fallback(Reason::InternalError, "no names"))?;
        names.extend(text.split('\0').map(str::to_owned));
        let list = PyList::new(self.py, names).map_err(|e| self.internal(&e))?;
        self.fold(list.as_any()).map(Some)
    }

    /// Whether a class has what another one has under a name.
    fn has_from(&mut self, class: &Bound<'py, PyAny>, name: &str, other: &Bound<'py, PyType>) -> Result<bool, Stop> {
        let found = self.class_lookup(class, name)?;
        Ok(found.zip(type_facts::raw(other, name)).is_some_and(|(found, own)| found.is(&own)))
    }

    /// Whether a class and its bases are classes from before the frame that are asked for their dicts and bases without code.
    fn show_their_dicts(&mut self, class: &Bound<'py, PyType>) -> Result<bool, Stop> {
        let ty = self.py.get_type::<PyType>();
        for base in crate::cpython::facts::mro(class).iter() {
            if self.made_anew(&base).is_some() {
                return Ok(false);
            }
            let meta = base.get_type();
            for name in ["__dict__", "__bases__", "__getattribute__"] {
                if !meta.is(&ty) && !self.has_from(meta.as_any(), name, &ty)? {
                    return Ok(false);
                }
            }
        }
        self.guard_mro(class);
        Ok(true)
    }

    /// The names in the dict of an instance. `false`: code of the program gives it, or they are none.
    fn add_own_names(
        &mut self,
        value: VarId,
        class: &Bound<'py, PyAny>,
        names: &mut BTreeSet<String>,
    ) -> Result<bool, Stop> {
        if self.class_lookup(class, "__dict__")?.is_none() {
            return Ok(self.class_lookup(class, "__getattr__")?.is_none());
        }
        if !class.cast::<PyType>().is_ok_and(type_facts::reads_own_dict) {
            return Ok(false);
        }
        let Some(dict) = self.find_attribute(value, "__dict__")? else { return Ok(false) };
        let VarKind::Dict(dict) = self.look(dict)? else { return Ok(false) };
        for (key, _) in dict.entries.iter() {
            let Some(name) = self.name_in_dict(*key) else { return Ok(false) };
            names.insert(name);
        }
        Ok(true)
    }
}

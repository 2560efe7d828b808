//! `types.SimpleNamespace` and classes of the program that extend it: attributes and nothing else, made and initialised by C.

use super::Executor;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;

impl<'py> Executor<'py> {
    /// Whether a class has a method from `SimpleNamespace`.
    pub(super) fn is_of_namespaces(&self, name: &str, found: &Bound<'py, PyAny>) -> bool {
        type_facts::raw(&type_facts::namespace(self.py), name).is_some_and(|own| own.is(found))
    }

    /// `SimpleNamespace.__init__(me, **attributes)`, which writes to the dict whatever the class has under these names.
    pub(super) fn init_of_namespace(&mut self, me: VarId, args: &Args) -> Result<(), Stop> {
        if !args.positional.is_empty() {
            return Err(Stop::brk(Reason::OpaqueCall, "a namespace of something else"));
        }
        let class = self.class_of(me)?;
        for (name, _) in &args.keywords {
            if let Some(found) = self.class_lookup(&class, name)?
                && self.is_data_descriptor(&found)?
            {
                return Err(Stop::brk(Reason::UserCode, format!("descriptor {name}")));
            }
        }
        for (name, value) in &args.keywords {
            self.set_by_object(me, name, *value)?;
        }
        Ok(())
    }
}

//! AttributeError: what the interpreter says where a look-up, which ran no code at all, has found nothing.

use super::Executor;
use super::kinds::Operations;
use crate::code_unit::HIDDEN_FILE;
use crate::cpython::VERSION;
use crate::cpython::facts;
use crate::cpython::facts::name_in_messages;
use crate::stop::Stop;
use crate::variables::*;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{CodeBuilder, Local, Location, Op, Signature};

impl Executor<'_> {
    /// AttributeError, as the interpreter words it; a break where a type of the framework words it.
    pub fn missing_attribute(&mut self, var: VarId, name: &str) -> Result<Stop, Stop> {
        self.look(var)?.no_attribute(self, var, name)
    }

    /// The words for most objects.
    pub(super) fn no_attribute_of_object(&mut self, var: VarId, name: &str) -> Result<Stop, Stop> {
        let class = self.class_of(var)?;
        let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let text = format!("'{}' object has no attribute '{name}'", name_in_messages(class));
        Ok(self.raise_error::<PyAttributeError>(&text))
    }

    /// ImportError of `from module import name`, where neither the module nor `sys.modules` has it. `None`: not known.
    pub(super) fn refused_import(&mut self, module: VarId, name: &str) -> Result<Option<Stop>, Stop> {
        let VarKind::Module(of) = self.look(module)? else { return Ok(None) };
        let object = self.objects.get(self.py, of.object);
        if !object.is_exact_instance_of::<PyModule>() || facts::module_dict(&object).is_none() {
            return Ok(None);
        }
        // What it says depends on these.
        for name in ["__name__", "__file__", "__spec__"] {
            if let Some(part) = self.instance_dict_item(module, &object, name)? {
                self.look(part)?;
                self.constant_value(part);
            }
        }
        let mut b = CodeBuilder::empty(VERSION, "import_from", HIDDEN_FILE, 1);
        b.set_args(&Signature { positional: vec!["module".into()], ..Signature::default() });
        b.prelude();
        let (here, name) = (Location::of_line(1), b.name(name));
        let load = Op::LoadFast { local: Local(0), check: false };
        b.emit_all([load, Op::ImportFrom(name), Op::Swap(2), Op::PopTop, Op::ReturnValue], here);
        let import = self.function_of_code(b, &[])?;
        Ok(import.call1((object,)).err().map(|error| self.would_raise(&error)))
    }
}

//! AttributeError: what the interpreter says where a look-up, which ran no code at all, has found nothing.

use super::Executor;
use crate::code_unit::HIDDEN_FILE;
use crate::cpython::VERSION;
use crate::cpython::facts::name_in_messages;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{CodeBuilder, Local, Location, Op, Signature};

impl Executor<'_> {
    /// AttributeError, as the interpreter words it; a break where a class of the framework words it.
    pub fn missing_attribute(&mut self, var: VarId, name: &str) -> Result<Stop, Stop> {
        let text = match self.look(var)? {
            VarKind::Instance(_)
            | VarKind::Exception(_)
            | VarKind::Constant(_)
            | VarKind::Tuple(_)
            | VarKind::List(_)
            | VarKind::Dict(_)
            | VarKind::Function(_)
            | VarKind::Set(_)
            | VarKind::Deque(_)
            | VarKind::ByteArray(_)
            | VarKind::View(_)
            | VarKind::Slice(_)
            | VarKind::Iterator(_)
            | VarKind::Generator(_)
            | VarKind::Bound(_)
            | VarKind::Builtin(_)
            | VarKind::Super(_)
            | VarKind::Traceback(_) => {
                let class = self.class_of(var)?;
                let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
                format!("'{}' object has no attribute '{name}'", name_in_messages(class))
            }
            VarKind::Class(class) => {
                let class = self.objects.get(self.py, class.object);
                let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
                format!("type object '{}' has no attribute '{name}'", name_in_messages(class))
            }
            VarKind::Native(native) => {
                // Any other one that is made alike says the same.
                let class = self.objects.get(self.py, native.class);
                let sample = match native.native {
                    Native::Id => class.call0().map_err(|e| self.internal(&e))?,
                    Native::Record | Native::Match => self.record(&native.positional)?,
                    Native::Partial => class.call1((&class,)).map_err(|e| self.internal(&e))?,
                    Native::Proxy => class.call1((PyDict::new(self.py),)).map_err(|e| self.internal(&e))?,
                    Native::Made => self.object_made(var, &native)?,
                    Native::Descriptor | Native::Encoder => {
                        return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}")));
                    }
                    Native::ItemGetter | Native::AttrGetter | Native::MethodCaller => {
                        class.call1((PyString::intern(self.py, "name"),)).map_err(|e| self.internal(&e))?
                    }
                };
                match sample.getattr(name) {
                    Err(error) if error.is_instance_of::<PyAttributeError>(self.py) => error.value(self.py).to_string(),
                    _ => return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}"))),
                }
            }
            VarKind::Method(method) if matches!(self.look(method.function)?, VarKind::Function(_)) => {
                return self.missing_of_function(method.function, name);
            }
            VarKind::Module(module) => {
                let module = self.objects.get(self.py, module.object);
                if let Some(own) = self.instance_dict_item(var, &module, "__name__")? {
                    self.look(own)?;
                    self.constant_value(own);
                }
                // What it holds is known to lack the name, and nobody else is asked.
                match module.is_exact_instance_of::<PyModule>().then(|| module.getattr(name)) {
                    Some(Err(error)) => error.value(self.py).to_string(),
                    _ => return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}"))),
                }
            }
            _ => return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}"))),
        };
        Ok(self.raise_error::<PyAttributeError>(&text))
    }

    /// The same of a method, which asks its function.
    fn missing_of_function(&mut self, function: VarId, name: &str) -> Result<Stop, Stop> {
        let stop = self.missing_attribute(function, name)?;
        self.tell_name(&stop, name, Some(function))?;
        Ok(stop)
    }

    /// ImportError of `from module import name`, where neither the module nor `sys.modules` has it. `None`: not known.
    pub(super) fn refused_import(&mut self, module: VarId, name: &str) -> Result<Option<Stop>, Stop> {
        let VarKind::Module(of) = self.look(module)? else { return Ok(None) };
        let object = self.objects.get(self.py, of.object);
        if !object.is_exact_instance_of::<PyModule>() {
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

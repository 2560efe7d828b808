//! What the call of a leaf layer depends on besides its state: the code of its class, as far as programs patch it.
//!
//! A leaf runs as one statement, and the simulation sees nothing of what its method calls. The names that the code of
//! the method uses are looked up as it would look them up: in its globals, and one step further in modules (`F.relu`).
//! Those must lead to the same functions, with the same code, at the next call.

use super::Executor;
use crate::backend::Kind;
use crate::cpython::facts;
use crate::stop::Stop;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Check, FunctionPart};

impl<'py> Executor<'py> {
    /// The class of a leaf does what it did.
    pub(super) fn guard_leaf_class(&mut self, class: &Bound<'py, PyAny>) -> Result<(), Stop> {
        let before = self.guards.len();
        let method = self.class_lookup(class, self.backend.clone().layers().method())?;
        if self.guards.len() == before {
            // This class was here already.
            return Ok(());
        }
        self.class_lookup(class, "__call__")?;
        match method {
            Some(method) if facts::is_function(&method) => self.guard_names_of(&method),
            _ => Ok(()),
        }
    }

    /// A layer inside of a leaf.
    pub(super) fn guard_inner_layer(&mut self, layer: &Bound<'py, PyAny>) -> Result<(), Stop> {
        if !matches!(self.backend.classify(layer), Kind::Layer) {
            return Ok(());
        }
        let inner = self.pin(layer);
        self.look(inner)?;
        self.guard_leaf_class(layer.get_type().as_any())
    }

    fn guard_names_of(&mut self, function: &Bound<'py, PyAny>) -> Result<(), Stop> {
        let Some(parts) = facts::func_parts(function) else { return Ok(()) };
        let (code, globals) = (parts.code.to_owned(), parts.globals.to_owned());
        self.guard_code_of(function);
        let names = code.getattr("co_names").and_then(|n| n.extract::<Vec<String>>()).map_err(|e| self.internal(&e))?;
        let dict = globals.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let id = self.objects.add(&globals);
        let at = self.constant_tracker(id);
        let mut modules = Vec::new();
        for name in &names {
            let Some(found) = dict.get_item(name).map_err(|e| self.internal(&e))? else { continue };
            self.guard_item_is(at, name, &found);
            match found.cast::<PyModule>() {
                Ok(module) => modules.push(module.clone()),
                Err(_) => self.guard_code_of(&found),
            }
        }
        for module in modules {
            let id = self.objects.add(module.as_any());
            let base = self.constant_tracker(id);
            let at = self.trackers.step(base, Access::InstanceDict);
            let Some(dict) = facts::module_dict(&module) else { continue };
            for name in &names {
                if let Some(found) = dict.get_item(name).map_err(|e| self.internal(&e))? {
                    self.guard_item_is(at, name, &found);
                    self.guard_code_of(&found);
                }
            }
        }
        Ok(())
    }

    fn guard_item_is(&mut self, dict: sot_tracker::TrackerId, name: &str, value: &Bound<'py, PyAny>) {
        let key = PyString::intern(self.py, name);
        let key = self.objects.add(key.as_any());
        let value = self.objects.add(value);
        let at = self.trackers.step(dict, Access::DictItem(key));
        self.guard(at, Check::Is(value));
    }

    fn guard_code_of(&mut self, function: &Bound<'py, PyAny>) {
        if let Some(parts) = facts::func_parts(function) {
            let code = self.objects.add(&parts.code);
            let id = self.objects.add(function);
            let base = self.constant_tracker(id);
            let at = self.trackers.step(base, Access::FunctionPart(FunctionPart::Code));
            self.guard(at, Check::Is(code));
        }
    }
}

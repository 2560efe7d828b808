//! Mapping proxies: what is asked of one is asked of the dict that it shows ([`Native::Proxy`]), which may change meanwhile.

use super::Executor;
use crate::cpython::facts;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

impl<'py> Executor<'py> {
    /// The dict that a mapping proxy shows; `None`: it is something else.
    pub(super) fn shown_by(&mut self, value: VarId) -> Result<Option<VarId>, Stop> {
        Ok(match self.look(value)? {
            VarKind::Native(NativeVar { native: Native::Proxy, positional, .. }) => match self.look(positional[0])? {
                VarKind::Class(class) if class.made.is_some() => Some(self.dict_of_prototype(&class)?),
                VarKind::Class(class) => Some(self.dict_of_class(&class)?),
                _ => Some(positional[0]),
            },
            _ => None,
        })
    }

    /// `class.__dict__`, `class.__doc__`, `class.__abstractmethods__` of a class that was there before the frame, as `type` reads them.
    /// The second `None`: the class has none.
    pub(super) fn told_by_type(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyType>,
        descriptor: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<Option<VarId>>, Stop> {
        let of_type = type_facts::raw(&self.py.get_type::<PyType>(), name);
        let known = matches!(name, "__dict__" | "__doc__" | "__abstractmethods__")
            && of_type.is_some_and(|own| own.is(descriptor));
        if !known || self.made_anew(class).is_some() {
            return Ok(None);
        }
        if name == "__dict__" {
            return self.proxy_of_prototype(me).map(|proxy| Some(Some(proxy)));
        }
        if !facts::is_heap_type(class) {
            let Ok(text) = class.getattr(name) else { return Ok(Some(None)) };
            return match name == "__doc__" && (text.is_none() || text.is_exact_instance_of::<PyString>()) {
                true => self.fold(&text).map(|text| Some(Some(text))),
                false => Ok(None),
            };
        }
        if let Some(written) = self.written_to_class(class, name)? {
            return Ok(matches!(self.look(written)?, VarKind::Constant(_)).then_some(Some(written)));
        }
        // A class that has none inherits none.
        let own = type_facts::own(class, name);
        let found = self.class_lookup(class.as_any(), name)?;
        match (own, found) {
            (Some(own), Some(found)) if own.is(&found) => {
                let plain = own.is_none() || own.is_exact_instance_of::<PyString>();
                let names = name == "__abstractmethods__" && own.is_exact_instance_of::<PyFrozenSet>();
                Ok((plain || names).then(|| Some(self.plain_attribute(&own))))
            }
            (None, None) => Ok(Some(None)),
            _ => Ok(None),
        }
    }

    /// `class.__dict__` of a class: it shows what the class has whenever it is asked.
    pub(super) fn proxy_of_prototype(&mut self, class: VarId) -> Result<VarId, Stop> {
        let proxy = self.types_attribute("MappingProxyType")?;
        let made = NativeVar {
            native: Native::Proxy,
            class: self.objects.add(&proxy),
            object: None,
            positional: Rc::new([class]),
            keywords: Rc::new([]),
            pinned: false,
        };
        Ok(self.virtual_var(made))
    }

    /// The dict of a class from before the frame: nobody else writes to it.
    fn dict_of_class(&mut self, class: &ClassVar) -> Result<VarId, Stop> {
        let object = self.objects.get(self.py, class.object);
        let Some(own) = facts::class_dict(&object) else {
            // That of a class of C stays as it is.
            let shown = object.getattr("__dict__").and_then(|shown| shown.call_method0("copy"));
            let shown = shown.map_err(|e| self.internal(&e))?.cast_into::<PyDict>();
            let mut entries = Vec::new();
            for (name, value) in shown.map_err(|e| self.internal(&e.into()))?.iter() {
                entries.push((self.fold(&name)?, self.pin(&value)));
            }
            return Ok(self.virtual_var(DictVar::new(entries)));
        };
        let written = |written: usize| written == object.as_ptr() as usize;
        if self.classes_written.iter().any(|(class, _)| written(*class)) {
            return Err(Stop::brk(Reason::Mutation, "__dict__ of a class that was written to"));
        }
        // It has the one dict as long as it lives.
        Ok(self.pin(own.as_any()))
    }

    /// What a prototype has now.
    fn dict_of_prototype(&mut self, class: &ClassVar) -> Result<VarId, Stop> {
        let class = self.objects.get(self.py, class.object);
        let own = facts::class_dict(&class).ok_or(Stop::fallback(Reason::InternalError, "no class"))?;
        let mut entries = Vec::with_capacity(own.len());
        for (name, value) in own.iter() {
            entries.push((self.fold(&name)?, self.plain_attribute(&value)));
        }
        Ok(self.virtual_var(DictVar::new(entries)))
    }

    /// `proxy.name(*args)`
    pub(super) fn method_of_proxy(&mut self, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        let dict = self.shown_by(me)?.filter(|_| args.keywords.is_empty());
        match (dict, name, args.positional.len()) {
            (Some(dict), "keys" | "values" | "items" | "copy", 0)
            | (Some(dict), "get", 1 | 2)
            | (Some(dict), "__contains__", 1) => self.call_bound(dict, name, args),
            _ => Err(Stop::brk(Reason::Builtin, format!("{name} of a mapping proxy"))),
        }
    }

    /// Keys and values of the dict that a mapping proxy shows, for somebody who looks each key up, and hashes it anew.
    pub(super) fn pairs_of_proxy(&mut self, dict: VarId) -> Result<Option<Vec<(VarId, VarId)>>, Stop> {
        let by_code = self.has_hashed_keys(dict)?;
        match self.look(dict)? {
            VarKind::Dict(dict) if !by_code => Ok(Some(dict.entries.to_vec())),
            _ => Ok(None),
        }
    }
}

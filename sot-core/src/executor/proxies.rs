//! Mapping proxies: what is asked of one is asked of the dict that it shows ([`Native::Proxy`]), which may change meanwhile.

use super::Executor;
use crate::cpython::facts;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use std::rc::Rc;

impl Executor<'_> {
    /// The dict that a mapping proxy shows; `None`: it is something else.
    pub(super) fn shown_by(&mut self, value: VarId) -> Result<Option<VarId>, Stop> {
        Ok(match self.look(value)? {
            VarKind::Native(NativeVar { native: Native::Proxy, positional, .. }) => match self.look(positional[0])? {
                VarKind::Class(class) => Some(self.dict_of_prototype(&class)?),
                _ => Some(positional[0]),
            },
            _ => None,
        })
    }

    /// `class.__dict__` of a class that the simulation makes: it shows what the class has whenever it is asked.
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

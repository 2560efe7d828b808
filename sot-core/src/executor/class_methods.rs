//! Class methods of C (`int.from_bytes`, `dict.fromkeys`), which are bound anew at each read.
//!
//! A capture that breaks at a call gives the callee to what goes on behind it, which guards who that is. If each capture bound another
//! one, no capture would be met by what another one gives. So the first that each capture reads of a class is the same object, and so
//! is the second: within one, two reads are two objects, as they are in Python.

use super::Executor;
use crate::engine::registries;
use crate::stop::{Reason, Stop, Why};
use crate::type_facts::{self, Descriptor};
use crate::variables::{BoundVar, VarId};
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::*;

/// The address of a class, a name, and how many were read of them before.
type Read = (usize, String, usize);

registries! {
    /// What captures have bound and something still holds.
    BOUND: HashMap<Read, Py<PyWeakrefReference>> = "class methods";
}
/// Dead ones are looked for when there are so many.
const KEPT: usize = 1024;

/// Class and static methods of C that look at their arguments alone and give a new value.
const PURE: &[(&str, &[&str])] =
    &[("int", &["from_bytes"]), ("float", &["fromhex"]), ("str", &["maketrans"]), ("bytes", &["fromhex", "maketrans"])];

impl<'py> Executor<'py> {
    /// Whether a callable of C is a pure class or static method of a builtin type, bound to that very type.
    pub(super) fn is_pure_class_method(&self, callee: &Bound<'py, PyAny>, name: &str) -> bool {
        if type_facts::descriptor(callee) != Descriptor::BuiltinFunction {
            return false;
        }
        let py = self.py;
        let types = [
            ("int", py.get_type::<PyInt>()),
            ("float", py.get_type::<PyFloat>()),
            ("str", py.get_type::<PyString>()),
            ("bytes", py.get_type::<PyBytes>()),
        ];
        let Ok(bound_to) = callee.getattr("__self__") else { return false };
        types.iter().any(|(known, ty)| {
            let given = bound_to.is(ty) || bound_to.is_none() && ty.getattr(name).is_ok_and(|own| own.is(callee));
            given && PURE.iter().any(|(owner, names)| owner == known && names.contains(&name))
        })
    }

    /// A class method of C, bound to a class.
    pub(super) fn bound_to_class(
        &mut self,
        class: &Bound<'py, PyAny>,
        found: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        if let Some((_, class)) = self.made_anew(class) {
            // The one of this call's class: it is read again where it is needed, and runs as Python.
            let blocked = Some(Why::new(Reason::OpaqueCall, name));
            return Ok(self.virtual_var(BoundVar { blocked, ..BoundVar::new(class, name) }));
        }
        let bound = found.call_method1("__get__", (self.py.None(), class)).map_err(|e| self.would_raise(&e))?;
        let key = (class.as_ptr() as usize, name.to_owned());
        let count = self.class_methods.entry(key.clone()).or_default();
        let read = (key.0, key.1, *count);
        *count += 1;
        let known = BOUND.lock().get(&read).map(|weak| weak.bind(self.py).clone());
        if let Some(known) = known.and_then(|weak| weak.upgrade())
            && known.get_type().is(bound.get_type())
            && known.eq(&bound).unwrap_or(false)
        {
            return Ok(self.pin(&known));
        }
        if let Ok(weak) = PyWeakrefReference::new(&bound) {
            let mut gone = Vec::new();
            {
                let mut all = BOUND.lock();
                if all.len() >= KEPT {
                    let is_dead = |weak: &Py<PyWeakrefReference>| weak.bind(self.py).upgrade().is_none();
                    gone.extend(all.extract_if(|_, weak| is_dead(weak)).map(|(_, weak)| weak));
                }
                gone.extend(all.insert(read, weak.unbind()));
            }
            drop(gone);
        }
        Ok(self.pin(&bound))
    }
}

//! Places that hold another value after each call, since the code itself writes them: `self.cache = f(self.cache)`.
//!
//! What is found below a constant object is taken for what will be there at each call, and guarded by its identity. A place
//! that the code has read and then writes is not like that: the capture starts over, and finds what is there by its path, as it
//! finds arguments.

use super::Executor;
use crate::cpython::facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::PyDict;

impl<'py> Executor<'py> {
    /// Whether an earlier attempt has found that the code writes this item.
    pub(super) fn is_rewritten(&self, dict: &Bound<'py, PyDict>, name: &str) -> bool {
        let places = &self.found.rewritten;
        !places.is_empty() && places.contains(&(dict.as_ptr() as usize, name.to_owned()))
    }

    /// The attribute of an object is about to be written to its own dict.
    pub(super) fn note_own_rewritten(&mut self, object: VarId, name: &str) {
        if let Some(sourced) = self.known_object(object)
            && let Some(dict) = facts::instance_dict(&self.objects.get(self.py, sourced))
        {
            self.note_rewritten(&dict, name);
        }
    }

    /// An item of a dict below a constant object is about to be written.
    pub(super) fn note_rewritten(&mut self, dict: &Bound<'py, PyDict>, name: &str) {
        let Some(old) = dict.get_item(name).ok().flatten() else { return };
        let Some(&var) = self.known.get(&(old.as_ptr() as usize)) else { return };
        let Variable { kind, tracker, looked, .. } = self.var(var);
        let replaceable =
            matches!(kind, VarKind::Tensor(_) | VarKind::List(_) | VarKind::Dict(_) | VarKind::Instance(_));
        let by_identity = *looked && !self.is_constant(*tracker) && self.is_under_constant(*tracker);
        if replaceable && by_identity && !self.is_rewritten(dict, name) {
            self.rewritten.push((dict.as_ptr() as usize, name.to_owned()));
        }
    }

    /// What makes this attempt futile: places that it writes, and has taken for fixed.
    pub fn take_rewritten(&mut self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.rewritten)
    }
}

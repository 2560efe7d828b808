//! Mapping proxies: what is asked of one is asked of the dict that it shows ([`Native::Proxy`]), which may change meanwhile.

use super::Executor;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;

impl Executor<'_> {
    /// The dict that a mapping proxy shows; `None`: it is something else.
    pub(super) fn shown_by(&mut self, value: VarId) -> Result<Option<VarId>, Stop> {
        Ok(match self.look(value)? {
            VarKind::Native(NativeVar { native: Native::Proxy, positional, .. }) => Some(positional[0]),
            _ => None,
        })
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

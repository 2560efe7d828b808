//! Compiled patterns of module `re`: what one says of a text depends on the two alone, and nothing changes it.
//!
//! A match is a value that new code makes as the program did, by the method that found it ([`Native::Match`]).

use super::Executor;
use super::calls::name_of;
use super::copies::Copies;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// Methods of patterns without effect.
const OF_PATTERNS: &[&str] = &["findall", "fullmatch", "match", "search", "split", "sub", "subn"];

/// Methods of matches.
const OF_MATCHES: &[&str] = &["__getitem__", "end", "expand", "group", "groupdict", "groups", "span", "start"];

impl<'py> Executor<'py> {
    fn is_pattern(&self, class: &Bound<'py, PyAny>) -> bool {
        let pattern = crate::cpython::module(self.py, "re").and_then(|module| module.getattr("Pattern"));
        pattern.is_ok_and(|pattern| pattern.is(class))
    }

    /// `pattern.name(*args)`; `None`: it is something else.
    pub(super) fn method_of_pattern(&mut self, me: VarId, name: &str, args: &Args) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { object: Some(object), class, .. }) = self.look(me)? else {
            return Ok(None);
        };
        let class = self.objects.get(self.py, class);
        if !OF_PATTERNS.contains(&name) || !args.keywords.is_empty() || !self.is_pattern(&class) {
            return Ok(None);
        }
        self.look_identity(me)?;
        let pattern = self.objects.get(self.py, object);
        let method = class.getattr(name).map_err(|e| self.internal(&e))?;
        self.found_by_pattern(&method, me, &pattern, args).map(Some)
    }

    /// `match.name(*args)`
    pub(super) fn method_of_match(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        let kind = self.look(me)?;
        let opaque = || Stop::brk(Reason::Builtin, format!("{name} of a match"));
        let VarKind::Native(NativeVar { native: Native::Match, class, positional, .. }) = &kind else {
            return Err(opaque());
        };
        if !OF_MATCHES.contains(&name) || !args.keywords.is_empty() {
            return Err(opaque());
        }
        let found = self.record(positional)?;
        let method = self.objects.get(self.py, *class).getattr(name).map_err(|e| self.internal(&e))?;
        let of = positional[2];
        let result = self.asked_of_pattern(&method, &found, args)?;
        let text = self.require_plain(of)?;
        if result.0.is(&text) {
            return Ok(of);
        }
        self.fold_result(&result.0, &result.1)
    }

    fn asked_of_pattern(
        &mut self,
        method: &Bound<'py, PyAny>,
        of: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<(Bound<'py, PyAny>, Copies<'py>), Stop> {
        for arg in &args.positional {
            if !matches!(self.look(*arg)?, VarKind::Constant(_)) {
                return Err(Stop::brk(Reason::OpaqueCall, name_of(method)));
            }
        }
        let mut copies = Copies::default();
        let (given, _) = self.convert_arguments(args, |ex, arg| ex.plain_copy(arg, &mut copies))?;
        let all = std::iter::once(of.clone()).chain(given.iter());
        let all = PyTuple::new(self.py, all.collect::<Vec<_>>()).map_err(|e| self.internal(&e))?;
        let result = method.call1(all).map_err(|e| self.would_raise(&e))?;
        Ok((result, copies))
    }

    fn found_by_pattern(
        &mut self,
        method: &Bound<'py, PyAny>,
        me: VarId,
        pattern: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        let (result, copies) = self.asked_of_pattern(method, pattern, args)?;
        let class = result.get_type();
        let is_match = crate::cpython::module(self.py, "re").and_then(|module| module.getattr("Match"));
        if !is_match.is_ok_and(|known| known.is(&class)) {
            for arg in &args.positional {
                if !result.is_none() && self.require_plain(*arg)?.is(&result) {
                    return Ok(*arg);
                }
            }
            return self.fold_result(&result, &copies);
        }
        let maker = self.pin(method);
        let positional: Vec<VarId> = [maker, me].into_iter().chain(args.positional.iter().copied()).collect();
        let class = self.objects.add(class.as_any());
        Ok(self.virtual_var(NativeVar {
            native: Native::Match,
            class,
            object: None,
            positional: positional.into(),
            keywords: Rc::new([]),
            pinned: false,
        }))
    }
}

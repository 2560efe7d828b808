//! Numbers that are drawn from streams of C: each is found by its path, as numbers that vary are, and the draw itself is a side
//! effect in program order.
//!
//! Nothing may be decided by the value: it is another one at each call. Where a guard would name it, the attempt starts over, and the
//! call runs as Python.

use super::Executor;
use super::calls::name_of;
use crate::draws::{self, Drawing};
use crate::numbers::varies;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::Access;

/// Draws of one stream in one capture: each asks for all before it.
const DRAWS: usize = 16;

impl<'py> Executor<'py> {
    /// A method of a stream, which is its first argument. `None`: it is something else.
    pub(super) fn draw_by_function(&mut self, method: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        let Some((receiver, rest)) = args.positional.split_first() else { return Ok(None) };
        let Some(stream) = self.stream_of(*receiver)? else { return Ok(None) };
        let rest = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
        let name = name_of(method);
        self.draw(stream, *receiver, Some(method), name.rsplit('.').next().unwrap_or_default(), &rest)
    }

    /// The same, of one that is known by its name.
    pub(super) fn draw_by_name(&mut self, receiver: VarId, name: &str, args: &Args) -> Result<Option<VarId>, Stop> {
        match self.stream_of(receiver)? {
            Some(stream) => self.draw(stream, receiver, None, name, args),
            None => Ok(None),
        }
    }

    fn stream_of(&mut self, receiver: VarId) -> Result<Option<(draws::Stream, Bound<'py, PyAny>)>, Stop> {
        let kind = self.look(receiver)?;
        let VarKind::Instance(InstanceVar { object: Some(object), .. }) = &kind else { return Ok(None) };
        // Where its identity is a guarded fact.
        let tracker = self.var(receiver).tracker;
        if !self.is_under_constant(tracker) {
            return Ok(None);
        }
        let object = self.objects.get(self.py, *object);
        Ok(draws::stream(&object).map(|kind| (kind, object)))
    }

    /// `method`: what is called, if that is known by more than its name.
    fn draw(
        &mut self,
        (kind, stream): (draws::Stream, Bound<'py, PyAny>),
        receiver: VarId,
        method: Option<&Bound<'py, PyAny>>,
        name: &str,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        if !args.keywords.is_empty() || !draws::is_known(kind, name) {
            return Ok(None);
        }
        // Which the replay would call, and what that asks of the stream.
        let asked: &[&str] = if name == draws::BELOW { &[name, draws::BITS] } else { &[name] };
        for (at, name) in asked.iter().enumerate() {
            if self.instance_dict_item(receiver, &stream, name)?.is_some() {
                return Ok(None);
            }
            match self.class_lookup(stream.get_type().as_any(), name)? {
                Some(found) if at == 0 && method.is_some_and(|method| !method.is(&found)) => return Ok(None),
                Some(found) if draws::is_its_own(kind, &found, name) => {}
                _ => return Ok(None),
            }
        }
        let opaque = || Stop::brk(Reason::OpaqueCall, name.to_owned());
        let frame = self.frame();
        let site = (frame.unit.address(), frame.ip);
        if self.found.relied_on.contains(&site) {
            return Err(opaque());
        }
        let mut given = Vec::with_capacity(args.positional.len());
        for arg in &args.positional {
            let VarKind::Constant(_) = self.look(*arg)? else { return Ok(None) };
            if self.is_varying(*arg) {
                return Ok(None);
            }
            match self.constant_value(*arg).filter(varies) {
                Some(number) => given.push(number),
                None => return Ok(None),
            }
        }
        if let Some(bits) = draws::generator_of_bits(kind, &stream) {
            let (bits, stream) = (self.objects.add(&bits), self.objects.add(&stream));
            if self.captured.drawn_from.iter().any(|(other, of)| *other == bits && *of != stream) {
                return Err(opaque());
            }
            self.captured.drawn_from.push((bits, stream));
        }
        let Some(mut calls) = self.drawn_before(receiver) else { return Err(opaque()) };
        if calls.len() >= DRAWS {
            return Err(opaque());
        }
        let given = PyTuple::new(self.py, given).map_err(|e| self.internal(&e))?.unbind();
        calls.push(Drawing { name: PyString::intern(self.py, name).unbind(), args: given });
        let draw = draws::draw(kind, &stream, calls).map_err(|e| self.internal(&e))?.into_bound(self.py);
        // It may refuse what it is given, or give something else.
        let Some(number) = draws::drawn(&draw) else { return Err(opaque()) };
        let draw = self.objects.add(&draw);
        let base = self.constant_tracker(draw);
        let at = self.trackers.step(base, Access::IterSource);
        let object = self.objects.add(&number);
        let var = self.add_var(ConstantVar { object }.into(), at);
        self.learn(var).looked = true;
        self.captured.draws.insert(at, site);
        let args = args.positional.iter().map(|arg| Self::var_ref(*arg)).collect();
        self.journal_record(Mutation::Method { object: Self::var_ref(receiver), name: name.to_owned(), args });
        Ok(Some(var))
    }

    /// What has been drawn from a stream by this capture; `None`: something else was done to it.
    fn drawn_before(&self, receiver: VarId) -> Option<Vec<Drawing>> {
        let target = Target::Object(Self::var_ref(receiver));
        let mut calls = Vec::new();
        for entry in self.journal.changes_of(target) {
            let Mutation::Method { name, args, .. } = &entry.mutation else { return None };
            let values = args.iter().map(|arg| self.plain_value(self.py, VarId(arg.0)));
            let args = PyTuple::new(self.py, values.collect::<Option<Vec<_>>>()?).ok()?.unbind();
            calls.push(Drawing { name: PyString::intern(self.py, name).unbind(), args });
        }
        Some(calls)
    }
}

//! Numbers that are drawn from streams of C: each is found by its path, as numbers that vary are, and the draw itself is a side
//! effect in program order.
//!
//! Little may be decided by the value: it is another one at each call. One that is compared (`random.random() < p`), or one of a few, is
//! guarded as it is about to be drawn, as long as there are few ways to go on ([`crate::captured::Captured::note_if_drawn`]). Where a
//! guard would name any other, the attempt starts over, and the call runs as Python.
//!
//! A list that is shuffled and a sample hold numbers that are drawn at once, each found by its place.

use super::Executor;
use super::calls::name_of;
use super::kinds::Operations;
use crate::captured::Drawn;
use crate::draws::{self, Drawing};
use crate::numbers::varies;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::{Access, TrackerId};

/// Draws of one stream in one capture: each asks for all before it.
const DRAWS: usize = 16;
/// Numbers that one call shuffles or gives.
const ITEMS: usize = 64;

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
        let args = &match args.keywords.as_slice() {
            [] => args.clone(),
            // `sample(population, k=3)`
            [(word, count)] if name == draws::SAMPLE && word == "k" && args.positional.len() == 1 => {
                Args::positional(vec![args.positional[0], *count])
            }
            _ => return Ok(None),
        };
        let several = matches!(name, draws::SHUFFLE | draws::SAMPLE) && kind == draws::Stream::Python;
        if !several && !draws::is_known(kind, name) || several && args.positional.is_empty() {
            return Ok(None);
        }
        // Which the replay would call, and what that asks of the stream.
        for (at, name) in [name].iter().chain(draws::asks(name)).enumerate() {
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
        let mut replayed = args.positional.clone();
        for (at, arg) in args.positional.iter().enumerate() {
            let known = match at {
                0 if several => self.items_to_draw_from(*arg, name)?.map(|(items, again)| {
                    replayed[0] = again;
                    items
                }),
                _ => self.number_to_draw_by(*arg)?,
            };
            match known {
                Some(known) => given.push(known),
                None => return Ok(None),
            }
        }
        let fits = match name {
            draws::SHUFFLE => given.len() == 1,
            draws::SAMPLE => given.len() == 2 && given[1].extract::<usize>().is_ok_and(|count| count <= ITEMS),
            _ => true,
        };
        if !fits {
            return Ok(None);
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
        let given = PyTuple::new(self.py, given).map_err(|e| self.internal(&e))?;
        let outcomes = draws::outcomes(name, &given);
        calls.push(Drawing { name: PyString::intern(self.py, name).unbind(), args: given.clone().unbind() });
        let draw = draws::draw(kind, &stream, calls).map_err(|e| self.internal(&e))?.into_bound(self.py);
        // It may refuse what it is given, or give something else.
        let Some(drawn) = draws::drawn(&draw) else { return Err(opaque()) };
        let draw = self.objects.add(&draw);
        let base = self.constant_tracker(draw);
        let source = self.trackers.step(base, Access::IterSource);
        let result = match drawn.cast_exact::<PyTuple>() {
            Ok(numbers) => {
                let numbers: Vec<_> = numbers.iter().collect();
                let mut items = Vec::with_capacity(numbers.len());
                for (at, number) in numbers.iter().enumerate() {
                    let at = self.trackers.step(source, Access::SeqItem(at as i64));
                    items.push(self.drawn_at(at, number, Drawn { site, outcomes: None }));
                }
                self.virtual_var(ListVar::new(items))
            }
            Err(_) => self.drawn_at(source, &drawn, Drawn { site, outcomes }),
        };
        let result = match name {
            draws::SHUFFLE => {
                let VarKind::List(shuffled) = self.look(result)? else { return Err(opaque()) };
                for (at, item) in shuffled.items.iter().enumerate() {
                    let at = self.fold_int(at as i64)?;
                    let list = args.positional[0];
                    self.look(list)?.set_item(self, list, at, *item)?;
                }
                self.fold_none()?
            }
            _ => result,
        };
        let args = replayed.iter().map(|arg| Self::var_ref(*arg)).collect();
        self.journal_record(Mutation::Method { object: Self::var_ref(receiver), name: name.to_owned(), args });
        Ok(Some(result))
    }

    /// Stop if `gauss` has been drawn from a stream: what that keeps for the next call is not known yet.
    pub(super) fn keeps_of_gauss(&self, stream: VarId) -> Result<(), Stop> {
        let gauss = |mutation: &Mutation| matches!(mutation, Mutation::Method { name, .. } if name == draws::GAUSS);
        match self.journal.changes_of(Target::Object(Self::var_ref(stream))).any(|entry| gauss(&entry.mutation)) {
            true => Err(Stop::brk(Reason::OpaqueValue, "what gauss has kept")),
            false => Ok(()),
        }
    }

    pub(super) fn drawn_at(&mut self, at: TrackerId, number: &Bound<'py, PyAny>, drawn: Drawn) -> VarId {
        let object = self.objects.add(number);
        let var = self.add_var(ConstantVar { object }.into(), at);
        self.learn(var).looked = true;
        self.captured.draws.insert(at, drawn);
        var
    }

    /// A number that is the same at each call.
    fn number_to_draw_by(&mut self, arg: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let VarKind::Constant(_) = self.look(arg)? else { return Ok(None) };
        if self.is_varying(arg) {
            return Ok(None);
        }
        Ok(self.constant_value(arg).filter(varies))
    }

    /// The numbers that are shuffled, or of which a sample is taken: all of one type. And what the replay is given, which shuffles none of
    /// the program's.
    fn items_to_draw_from(&mut self, from: VarId, name: &str) -> Result<Option<(Bound<'py, PyAny>, VarId)>, Stop> {
        // Who shuffles a list from before finds it in another order at each call.
        if name == draws::SHUFFLE && self.found_outside(from) {
            return Ok(None);
        }
        let (items, is_list) = match self.look(from)? {
            VarKind::List(ListVar { items, class: None, .. }) => (items.to_vec(), true),
            VarKind::Tuple(TupleVar { items, class: None }) if name == draws::SAMPLE => (items.to_vec(), false),
            VarKind::Constant(_) if name == draws::SAMPLE => {
                let range = self.constant_value(from).filter(|value| value.is_exact_instance_of::<PyRange>());
                return Ok(range.map(|range| (range, from)));
            }
            _ => return Ok(None),
        };
        if items.len() > ITEMS {
            return Ok(None);
        }
        let mut numbers: Vec<Bound<'py, PyAny>> = Vec::with_capacity(items.len());
        for item in &items {
            match self.number_to_draw_by(*item)? {
                Some(number) if numbers.first().is_none_or(|first| first.get_type().is(number.get_type())) => {
                    numbers.push(number);
                }
                _ => return Ok(None),
            }
        }
        let numbers = PyTuple::new(self.py, numbers).map_err(|e| self.internal(&e))?;
        let again = match is_list {
            true => self.virtual_var(ListVar::new(items)),
            false => self.virtual_var(TupleVar::new(items)),
        };
        Ok(Some((numbers.into_any(), again)))
    }

    /// What was given to a call that has drawn.
    fn given_to_drawing(&self, given: VarId) -> Option<Bound<'py, PyAny>> {
        match &self.var(given).kind {
            VarKind::List(list) => {
                let items = list.items.iter().map(|item| self.plain_value(self.py, *item));
                PyTuple::new(self.py, items.collect::<Option<Vec<_>>>()?).ok().map(Bound::into_any)
            }
            _ => self.plain_value(self.py, given),
        }
    }

    /// What has been drawn from a stream by this capture; `None`: something else was done to it.
    fn drawn_before(&self, receiver: VarId) -> Option<Vec<Drawing>> {
        let target = Target::Object(Self::var_ref(receiver));
        let mut calls = Vec::new();
        for entry in self.journal.changes_of(target) {
            let Mutation::Method { name, args, .. } = &entry.mutation else { return None };
            let values = args.iter().map(|arg| self.given_to_drawing(VarId(arg.0)));
            let args = PyTuple::new(self.py, values.collect::<Option<Vec<_>>>()?).ok()?.unbind();
            calls.push(Drawing { name: PyString::intern(self.py, name).unbind(), args });
        }
        Some(calls)
    }
}

//! Builtins that ask for the iterators of their arguments, or for all of their items, before they do anything else: `zip`, `map`,
//! most of module itertools.
//!
//! Where asking runs code of the program, a definition does it, and calls the builtin with what it was given.

use super::Executor;
use crate::cpython::facts;
use crate::frame::Site;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::Op;
use std::ops::Range;

/// The definitions that ask: the second calls with iterators, which are not asked for any of their own.
const OF_TUPLES: &str = "of_tuples";
const OF_ITERATORS: &str = "of_iterators";

/// Which of so many positional arguments a builtin asks, and by which definition.
fn asked_by(name: &str, count: usize) -> Option<(Range<usize>, &'static str)> {
    let (asked, definition) = match name {
        "zip" | "zip_longest" => (0..count, OF_ITERATORS),
        "map" => (1..count, OF_ITERATORS),
        "filter" | "takewhile" | "dropwhile" | "filterfalse" | "starmap" => (1..2, OF_ITERATORS),
        "enumerate" | "islice" | "accumulate" | "pairwise" | "cycle" | "from_iterable" => (0..1, OF_ITERATORS),
        "compress" => (0..2, OF_ITERATORS),
        "product" => (0..count, OF_TUPLES),
        "combinations" | "combinations_with_replacement" | "permutations" => (0..1, OF_TUPLES),
        _ => return None,
    };
    (asked.start < asked.end && asked.end <= count).then_some((asked, definition))
}

impl<'py> Executor<'py> {
    /// Whether the innermost frame is a definition's that has asked already.
    pub(super) fn has_iterators(&self) -> bool {
        self.frame().is_hidden() && self.frame().unit.code.name == OF_ITERATORS
    }

    /// The frame of a builtin, or of one of itertools, that asks its arguments for iterators, if that runs code of the program.
    pub(super) fn enter_of_iterators(
        &mut self,
        callee: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let name: String = callee.getattr("__name__").and_then(|name| name.extract()).unwrap_or_default();
        let Some((asked, definition)) = asked_by(&name, args.positional.len()) else { return Ok(None) };
        let builtin = self.builtins_attribute(&name).is_ok_and(|builtin| builtin.is(callee));
        if self.has_iterators() || !builtin && !self.is_of_itertools(callee) {
            return Ok(None);
        }
        if !self.asks_first(&name, args)? {
            return Ok(None);
        }
        let mut by_code = false;
        for iterable in &args.positional[asked.clone()] {
            by_code |= match definition {
                OF_ITERATORS => self.gives_iterator_by_code(*iterable)?,
                _ => self.iterates_by_code(*iterable)?,
            };
            if !self.can_iterate(*iterable)? {
                return Ok(None);
            }
        }
        match by_code {
            true => {
                let callee = self.pin(callee);
                self.enter_asking(definition, callee, args, asked).map(Some)
            }
            false => Ok(None),
        }
    }

    /// Whether nothing but asking for iterators comes of a call: what else is given is looked at before, and is not refused.
    fn asks_first(&mut self, name: &str, args: &Args) -> Result<bool, Stop> {
        let (positional, keywords) = (args.positional.as_slice(), args.keywords.as_slice());
        let count = |ex: &mut Self, value: VarId| {
            ex.look(value)?;
            Ok::<_, Stop>(ex.constant_int(value).filter(|count| *count >= 0))
        };
        Ok(match (name, positional, keywords) {
            ("zip", _, [(key, strict)]) if key == "strict" => {
                self.look(*strict)?;
                self.py.version_info() >= (3, 10)
                    && self.constant_value(*strict).is_some_and(|strict| strict.is_exact_instance_of::<PyBool>())
            }
            ("zip_longest", _, [(key, _)]) => key == "fillvalue",
            ("enumerate", [_], [(key, start)]) => key == "start" && count(self, *start)?.is_some(),
            ("accumulate", [_] | [_, _], keywords) => {
                keywords.iter().all(|(key, _)| key == "initial" || key == "func" && positional.len() == 1)
            }
            ("permutations", [_], [(key, _)]) => key == "r",
            ("product", _, [(key, repeat)]) => key == "repeat" && count(self, *repeat)?.is_some(),
            ("combinations" | "combinations_with_replacement", [_], [(key, length)]) if key == "r" => {
                count(self, *length)?.is_some()
            }
            (_, _, [_, ..]) => false,
            ("zip" | "zip_longest" | "map" | "product", ..) => true,
            ("enumerate", [_, start], []) => count(self, *start)?.is_some(),
            ("islice", [_, bounds @ ..], []) => {
                let mut numbers = (1..4).contains(&bounds.len());
                for (at, bound) in bounds.iter().enumerate() {
                    let number = match self.unless_none(Some(*bound))? {
                        Some(bound) => count(self, bound)?,
                        None => Some(1),
                    };
                    numbers &= number.is_some_and(|number| at < 2 || number > 0);
                }
                numbers
            }
            ("combinations" | "combinations_with_replacement", [_, length], []) => count(self, *length)?.is_some(),
            // They look at it afterwards.
            ("permutations", [_, _], []) => true,
            ("filter" | "takewhile" | "dropwhile" | "filterfalse" | "starmap" | "compress", [_, _], []) => true,
            ("enumerate" | "pairwise" | "cycle" | "from_iterable" | "permutations", [_], []) => true,
            _ => false,
        })
    }

    /// Break where iterators of the program are to be handed to a builtin that plain Python calls: it would ask them for iterators once
    /// more, and they may not give themselves. `before`: so many of the list are not asked.
    pub(super) fn may_be_given(&mut self, iterators: VarId, before: usize) -> Result<(), Stop> {
        match self.call_is_denied() && self.are_asked_by_code(iterators, before)? {
            true => Err(Stop::brk(Reason::OpaqueCall, "an iterator of the program is handed on")),
            false => Ok(()),
        }
    }

    /// Where the innermost frame's builtin is called, if that frame has asked for iterators. It calls nothing else with a star.
    fn call_with_iterators(&self) -> Option<Site> {
        let frame = self.has_iterators().then(|| self.frame())?;
        let call = frame.unit.code.instrs.iter().position(|instruction| matches!(instruction.op, Op::CallEx { .. }));
        Some((frame.unit.address(), call?))
    }

    fn call_is_denied(&self) -> bool {
        self.call_with_iterators().is_some_and(|site| self.found.denied.contains_key(&site))
    }

    fn are_asked_by_code(&mut self, iterators: VarId, before: usize) -> Result<bool, Stop> {
        let VarKind::List(list) = self.look(iterators)? else { return Ok(false) };
        for iterator in list.items.iter().skip(before) {
            if self.gives_iterator_by_code(*iterator)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A break at the call that is given iterators of the program: to start over, so that they are handed on as such.
    pub(super) fn hands_iterators_on(&mut self) -> Option<Site> {
        let site = self.call_with_iterators().filter(|(_, call)| self.frame().ip == *call && !self.call_is_denied())?;
        let lists: Vec<VarId> = self.frame().locals.iter().flatten().copied().collect();
        lists.into_iter().any(|list| self.are_asked_by_code(list, 0).unwrap_or(false)).then_some(site)
    }

    /// Whether a value was made by `as_given`.
    pub(super) fn is_given(&self, value: VarId) -> bool {
        let object = self.known_object(value).map(|object| self.objects.get(self.py, object));
        object.is_some_and(|object| super::definitions::is_given(&object))
    }

    /// Whether `iter(value)` is a method of the program.
    fn gives_iterator_by_code(&mut self, value: VarId) -> Result<bool, Stop> {
        if !self.is_asked(value)? {
            return Ok(false);
        }
        let class = self.class_of(value)?;
        Ok(self.class_lookup(&class, "__iter__")?.is_some_and(|method| facts::is_function(&method)))
    }

    fn enter_asking(
        &mut self,
        definition: &str,
        callee: VarId,
        args: &Args,
        asked: Range<usize>,
    ) -> Result<Called, Stop> {
        let (before, after) = (&args.positional[..asked.start], &args.positional[asked.end..]);
        let [before, after] = [before, after].map(|part| self.virtual_var(TupleVar::new(part.to_vec())));
        let asked = args.positional[asked].iter().rev().copied().collect();
        let asked = self.virtual_var(ListVar::new(asked));
        let mut keywords = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            keywords.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
        }
        let keywords = self.virtual_var(DictVar::new(keywords));
        self.enter(definition, &[callee, before, asked, after, keywords])
    }
}

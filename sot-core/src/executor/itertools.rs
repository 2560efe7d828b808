//! Iterators of module itertools, of deques, and of ordered dicts whose keys are asked, by definition (`definitions_of_itertools.py`); and
//! tokens of context variables, which are never asked for anything.
//!
//! While the capture lasts, each is a hidden generator in disguise: it answers as its class does ([`GeneratorVar::disguise`]).
//! It cannot be built as the object that it is. Where rewritten code would need one, the call that made it is denied, and runs
//! as Python ([`Captured::unmasked`]).
//!
//! [`Captured::unmasked`]: crate::captured::Captured::unmasked

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// Definitions that make a real one, for C code which asks it for items that run the program's code.
const HANDED_ON: [&str; 2] = ["set_of", "items_of_set"];

/// Tuples that one call may come to.
const MOST: usize = 4096;

impl<'py> Executor<'py> {
    /// The name of a class of itertools, if it is one.
    fn name_in_itertools(&self, class: &Bound<'py, PyAny>) -> Option<String> {
        // What a program wrote may have any name, and keys in its dict that compare themselves.
        if class.cast::<PyType>().is_ok_and(facts::is_written_class) {
            return None;
        }
        let module: String = class.getattr("__module__").ok()?.extract().ok()?;
        let name: String = class.getattr("__name__").ok()?.extract().ok()?;
        let itertools = (module == "itertools").then(|| crate::cpython::module(self.py, "itertools").ok())??;
        itertools.getattr(&name).ok().filter(|own| own.is(class)).map(|_| name)
    }

    /// Whether it is a class of itertools, or `chain.from_iterable`.
    pub(super) fn is_of_itertools(&self, callee: &Bound<'py, PyAny>) -> bool {
        let owner = callee.getattr("__self__").ok();
        owner.is_some_and(|owner| self.name_in_itertools(&owner).as_deref() == Some("chain"))
            || self.name_in_itertools(callee).is_some()
    }

    /// The class that a generator in disguise is of.
    pub(super) fn class_in_disguise(&self, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        if name.starts_with("_async") {
            return Err(Stop::brk(Reason::ValueKind, "the class of a step of an async generator"));
        }
        if name.starts_with("_deque") {
            let deque = self.deque_class()?.call0().map_err(|e| self.internal(&e))?;
            let asked = self.builtins_attribute(if name.contains("reverse") { "reversed" } else { "iter" })?;
            return asked.call1((deque,)).map(|made| made.get_type().into_any()).map_err(|e| self.internal(&e));
        }
        if name.starts_with("_token") {
            let token = crate::cpython::module(self.py, "contextvars").and_then(|module| module.getattr("Token"));
            return token.map_err(|e| self.internal(&e));
        }
        if name.starts_with("_match") {
            let found = crate::cpython::module(self.py, "re")
                .and_then(|module| module.call_method1("compile", ("",))?.call_method1("finditer", ("",)));
            return found.map(|found| found.get_type().into_any()).map_err(|e| self.internal(&e));
        }
        if name.starts_with("_ordered") {
            let dict = crate::cpython::module(self.py, "collections").and_then(|m| m.getattr("OrderedDict")?.call0());
            return dict.and_then(|dict| Ok(dict.try_iter()?.get_type().into_any())).map_err(|e| self.internal(&e));
        }
        crate::cpython::module(self.py, "itertools")
            .and_then(|module| module.getattr(name))
            .map_err(|e| self.internal(&e))
    }

    pub(super) fn in_disguise(&mut self, definition: &str, args: &[VarId]) -> Result<VarId, Stop> {
        let frame = self.frame_of_definition(&format!("itertools_{definition}"), args)?;
        self.new_generator(frame).ok_or(Stop::fallback(Reason::InternalError, "no generator"))
    }

    /// One group of a `groupby` that is being asked. Who cannot have it is left the `groupby` itself.
    pub(super) fn group_in_disguise(&mut self, args: &[VarId]) -> Result<VarId, Stop> {
        let made = match self.frame().generator.map(|groups| self.var(groups).kind.clone()) {
            Some(VarKind::Generator(groups)) => groups.made,
            _ => None,
        };
        let group = self.in_disguise("_grouper__counted", args)?;
        if let VarKind::Generator(group) = &mut self.var_mut(group).kind {
            group.made = made;
        }
        Ok(group)
    }

    /// An iterator over items, in disguise.
    fn items_in_disguise(&mut self, definition: &str, items: Vec<VarId>) -> Result<VarId, Stop> {
        let items = self.virtual_var(TupleVar::new(items));
        let iterator = self.iterate(items)?;
        self.in_disguise(definition, &[iterator])
    }

    /// A call of a class of itertools; `None`: it is none, or is left to Python.
    pub(super) fn call_itertools(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        let caller = self.frame();
        if caller.is_hidden() && HANDED_ON.contains(&caller.unit.code.name.as_str()) {
            return Ok(None);
        }
        let Some(name) = self.name_in_itertools(class) else { return Ok(None) };
        self.make_in_disguise(&name, args)
    }

    /// A function of itertools: `chain.from_iterable`, `tee`.
    pub(super) fn call_of_itertools(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        let name: String = callee.getattr("__name__").and_then(|name| name.extract()).unwrap_or_default();
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        match (name.as_str(), args.positional.as_slice()) {
            ("from_iterable", [iterable]) if self.is_of_itertools(callee) => {
                let iterator = self.iterate_openly(*iterable)?;
                self.in_disguise("chain", &[iterator]).map(Some)
            }
            ("tee", [iterable, rest @ ..]) if self.name_in_itertools(callee).is_some() => {
                let count = match rest {
                    [] => 2,
                    [count] => match self.constant_int(*count) {
                        Some(count @ 0..=64) => count,
                        _ => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                let iterator = self.iterate_openly(*iterable)?;
                // Others may say how they are copied.
                match self.look(iterator)? {
                    VarKind::Iterator(_) => {}
                    VarKind::Generator(g) if g.disguise().is_none() => {}
                    _ => return Ok(None),
                }
                let items = self.virtual_var(ListVar::new(Vec::new()));
                let mut branches = Vec::new();
                for _ in 0..count {
                    branches.push(self.in_disguise("_tee__counted", &[iterator, items])?);
                }
                Ok(Some(self.virtual_var(TupleVar::new(branches))))
            }
            _ => Ok(None),
        }
    }

    fn make_in_disguise(&mut self, name: &str, args: &Args) -> Result<Option<VarId>, Stop> {
        let keyword = |wanted: &str| args.keywords.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
        let known = |names: &[&str]| args.keywords.iter().all(|(name, _)| names.contains(&name.as_str()));
        let made = match (name, args.positional.as_slice()) {
            ("chain", iterables) if known(&[]) => self.items_in_disguise("chain", iterables.to_vec())?,
            ("islice", [iterable, bounds @ ..]) if known(&[]) => {
                let mut numbers = Vec::with_capacity(3);
                for bound in bounds {
                    numbers.push(match self.unless_none(Some(*bound))? {
                        None => None,
                        Some(bound) => match self.constant_int(bound) {
                            Some(bound) if bound >= 0 => Some(bound),
                            _ => return Ok(None),
                        },
                    });
                }
                let (start, stop, step) = match *numbers.as_slice() {
                    [stop] => (0, stop, 1),
                    [start, stop] => (start.unwrap_or(0), stop, 1),
                    [start, stop, step] => (start.unwrap_or(0), stop, step.unwrap_or(1)),
                    _ => return Ok(None),
                };
                if step < 1 {
                    return Ok(None);
                }
                let iterator = self.iterate_openly(*iterable)?;
                let (start, stop) = (self.fold_int(start)?, self.fold_int(stop.unwrap_or(-1))?);
                let step = self.fold_int(step)?;
                self.in_disguise("islice__counted", &[iterator, start, stop, step])?
            }
            ("count", positional) if positional.len() <= 2 && known(&["start", "step"]) => {
                let (zero, one) = (self.fold_int(0)?, self.fold_int(1)?);
                let start = positional.first().copied().or(keyword("start")).unwrap_or(zero);
                let step = positional.get(1).copied().or(keyword("step")).unwrap_or(one);
                for number in [start, step] {
                    self.look(number)?;
                    if !self.constant_value(number).is_some_and(|n| super::definitions::is_number(&n)) {
                        return Ok(None);
                    }
                }
                self.in_disguise("count__counted", &[start, step])?
            }
            ("repeat", [item]) if args.keywords.is_empty() => self.in_disguise("repeat", &[*item])?,
            ("repeat", [item, rest @ ..]) if rest.len() + args.keywords.len() == 1 && known(&["times"]) => {
                let Some(times) = rest.first().copied().or(keyword("times")) else { return Ok(None) };
                if self.constant_int(times).is_none() {
                    return Ok(None);
                }
                self.in_disguise("repeat__counted", &[*item, times])?
            }
            ("cycle", [iterable]) if known(&[]) => {
                let iterator = self.iterate_openly(*iterable)?;
                self.in_disguise("cycle__counted", &[iterator])?
            }
            ("zip_longest", iterables) if known(&["fillvalue"]) => {
                let fill = match keyword("fillvalue") {
                    Some(fill) => fill,
                    None => self.fold_none()?,
                };
                let mut iterators = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    iterators.push(self.iterate_openly(*iterable)?);
                }
                let iterators = self.virtual_var(ListVar::new(iterators));
                self.in_disguise("zip_longest", &[iterators, fill])?
            }
            ("takewhile" | "dropwhile" | "filterfalse" | "starmap", [function, iterable]) if known(&[]) => {
                let iterator = self.iterate_openly(*iterable)?;
                self.in_disguise(name, &[*function, iterator])?
            }
            ("accumulate", [iterable, rest @ ..]) if rest.len() <= 1 && known(&["func", "initial"]) => {
                let function = match rest.first().copied().or(keyword("func")) {
                    Some(function) => function,
                    None => self.fold_none()?,
                };
                let initial = self.unless_none(keyword("initial"))?;
                let iterator = self.iterate_openly(*iterable)?;
                match initial {
                    Some(initial) => self.in_disguise("accumulate__counted_from", &[function, iterator, initial])?,
                    None => self.in_disguise("accumulate__counted", &[function, iterator])?,
                }
            }
            ("groupby", [iterable, rest @ ..]) if rest.len() <= 1 && known(&["key"]) => {
                let key = match rest.first().copied().or(keyword("key")) {
                    Some(key) => key,
                    None => self.fold_none()?,
                };
                let iterator = self.iterate_openly(*iterable)?;
                self.in_disguise("groupby__counted", &[key, iterator])?
            }
            ("pairwise", [iterable]) if known(&[]) => {
                let iterator = self.iterate_openly(*iterable)?;
                self.in_disguise("pairwise", &[iterator])?
            }
            ("compress", [data, selectors]) if known(&[]) => {
                let (data, selectors) = (self.iterate_openly(*data)?, self.iterate_openly(*selectors)?);
                self.in_disguise("compress", &[data, selectors])?
            }
            ("product", iterables) if known(&["repeat"]) => {
                let repeat = match keyword("repeat") {
                    Some(repeat) => self.constant_int(repeat).and_then(|n| usize::try_from(n).ok()),
                    None => Some(1),
                };
                let Some(repeat) = repeat else { return Ok(None) };
                let mut pools = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    pools.push(self.collect_sized(*iterable)?);
                }
                let lengths = std::iter::repeat_n(&pools, repeat.min(MOST)).flatten().map(Vec::len);
                let count = lengths.fold(1usize, |all, length| all.saturating_mul(length));
                if count > MOST || repeat.saturating_mul(pools.len()) > MOST {
                    return Ok(None);
                }
                let pools: Vec<&[VarId]> =
                    std::iter::repeat_n(&pools, repeat).flatten().map(|pool| pool.as_slice()).collect();
                return self.rows_in_disguise(name, &pools, None).map(Some);
            }
            ("combinations" | "combinations_with_replacement", [iterable, length]) if known(&[]) => {
                return self.choices_in_disguise(name, *iterable, Some(*length));
            }
            ("permutations", [iterable, rest @ ..]) if rest.len() <= 1 && known(&[]) => {
                let length = self.unless_none(rest.first().copied())?;
                return self.choices_in_disguise(name, *iterable, length);
            }
            _ => return Ok(None),
        };
        Ok(Some(made))
    }

    /// Items of one pool, chosen as a function of itertools does.
    fn choices_in_disguise(
        &mut self,
        name: &str,
        iterable: VarId,
        length: Option<VarId>,
    ) -> Result<Option<VarId>, Stop> {
        let length = match length {
            Some(length) => match self.constant_int(length) {
                Some(length @ 0..=64) => Some(length),
                _ => return Ok(None),
            },
            None => None,
        };
        let pool = self.collect_sized(iterable)?;
        let most = (0..length.unwrap_or(pool.len() as i64)).fold(1usize, |all, _| all.saturating_mul(pool.len()));
        if most > MOST {
            return Ok(None);
        }
        self.rows_in_disguise(name, &[&pool], length).map(Some)
    }

    /// Which items of which pool belong together the real one says.
    fn rows_in_disguise(&mut self, name: &str, pools: &[&[VarId]], length: Option<i64>) -> Result<VarId, Stop> {
        let mut places: Vec<Bound<'py, PyAny>> = Vec::with_capacity(pools.len() + 1);
        for pool in pools {
            places.push(PyTuple::new(self.py, 0..pool.len()).map_err(|e| self.internal(&e))?.into_any());
        }
        if let Some(length) = length {
            places.push(PyInt::new(self.py, length).into_any());
        }
        let class = self.class_in_disguise(name)?;
        let places = PyTuple::new(self.py, places).map_err(|e| self.internal(&e))?;
        let rows = class.call1(places).and_then(|rows| rows.try_iter()).map_err(|e| self.would_raise(&e))?;
        let mut items = Vec::new();
        for row in rows {
            let row: Vec<usize> = row.and_then(|row| row.extract()).map_err(|e| self.internal(&e))?;
            let pool = |at: usize| if length.is_some() || pools.len() == 1 { pools[0] } else { pools[at] };
            let row: Vec<VarId> = row.iter().enumerate().map(|(at, index)| pool(at)[*index]).collect();
            items.push(self.virtual_var(TupleVar::new(row)));
        }
        self.items_in_disguise(&format!("{name}__counted"), items)
    }

    /// A generator in disguise that has ended is asked once more: the real one might go on.
    pub(super) fn asked_behind_its_end(&mut self, generator: &GeneratorVar) {
        if generator.disguise().is_some() {
            self.unmasked = Some(generator.made);
        }
    }

    /// An attribute of a generator in disguise: what its class has.
    pub(super) fn attribute_in_disguise(&mut self, me: VarId, class: &str, name: &str) -> Result<Option<VarId>, Stop> {
        if let VarKind::Generator(generator) = &self.var(me).kind
            && generator.is_async_step()
        {
            return match name {
                "send" | "__next__" => Ok(Some(self.virtual_var(BoundVar::new(me, name)))),
                _ => Err(Stop::brk(Reason::ValueKind, format!("attribute {name} of a step of an async generator"))),
            };
        }
        let class = self.class_in_disguise(class)?;
        match (name, self.class_lookup(&class, name)?) {
            ("__next__" | "__iter__", Some(_)) => Ok(Some(self.virtual_var(BoundVar::new(me, name)))),
            (_, Some(_)) => Err(Stop::brk(Reason::ValueKind, format!("attribute {name} of an iterator"))),
            (_, None) => Ok(None),
        }
    }
}

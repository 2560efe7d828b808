//! Which builtins are simulated by their definitions (`definitions`): those whose work is, this time, code of the program.
//!
//! Where nothing of the program runs, builtins are simulated at once, as ever (`builtins`).

use super::Executor;
use super::compared::is_itself;
use crate::cpython::facts;
use crate::frame::ASKS_AS_GIVEN;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    /// Whether a callable runs code of the program, or may.
    pub(super) fn runs_code(&mut self, function: VarId) -> Result<bool, Stop> {
        Ok(match self.look(function)? {
            VarKind::Builtin(builtin) => {
                let builtin = self.objects.get(self.py, builtin.object);
                crate::cpython::entry_parts(&builtin).is_some()
            }
            VarKind::Class(class) => {
                let class = self.objects.get(self.py, class.object);
                class.cast::<PyType>().is_ok_and(facts::is_heap_type)
            }
            VarKind::Bound(_) | VarKind::Constant(_) => false,
            _ => true,
        })
    }

    /// Whether taking the items of something runs code of the program.
    pub(super) fn iterates_by_code(&mut self, iterable: VarId) -> Result<bool, Stop> {
        if self.is_long(iterable) {
            return Ok(false);
        }
        self.nested(|ex| match ex.look(iterable)? {
            VarKind::Generator(generator) => Ok(generator.is_iterator()),
            VarKind::Deque(_) => Ok(true),
            VarKind::Dict(_) | VarKind::View(_) => Ok(ex.ordered_by_code(iterable)?.is_some()),
            VarKind::Native(_) => match ex.shown_by(iterable)? {
                Some(dict) => Ok(ex.ordered_by_code(dict)?.is_some()),
                None => Ok(false),
            },
            VarKind::Instance(_) | VarKind::Layer(_) | VarKind::Class(_) => {
                if !ex.is_asked(iterable)? {
                    return Ok(false);
                }
                if ex.by_definition {
                    return Ok(true);
                }
                let class = ex.class_of(iterable)?;
                let of = |ex: &mut Self, name: &str| -> Result<bool, Stop> {
                    let found = ex.class_lookup(&class, name)?;
                    Ok(found.is_some_and(|f| facts::is_function(&f)))
                };
                Ok(of(ex, "__iter__")? || ex.has_items_by_index(iterable)?)
            }
            VarKind::Iterator(IteratorVar { state }) => match state {
                Iteration::Enumerate { inner, count } => Ok(count.is_none() || ex.steps_by_code(inner)?),
                Iteration::Zip { inners, .. } => ex.any_steps_by_code(&inners),
                Iteration::Map { function, inners } => {
                    Ok(ex.by_definition || ex.runs_code(function)? || ex.any_steps_by_code(&inners)?)
                }
                Iteration::Filter { .. } => Ok(true),
                // Also one that is at its end asks for a length.
                Iteration::Indexed { sequence, .. } => Ok(sequence.is_some()),
                Iteration::Called { asked } => Ok(asked.is_some()),
                Iteration::Sequence { .. }
                | Iteration::Dict { .. }
                | Iteration::Set { .. }
                | Iteration::Reversed { .. }
                | Iteration::Tensor { .. }
                | Iteration::Range { .. }
                | Iteration::Real { .. }
                | Iteration::Exhausted => Ok(false),
            },
            _ => Ok(false),
        })
    }

    /// Whether an instance is iterated by `__getitem__` of the program alone.
    pub(super) fn has_items_by_index(&mut self, value: VarId) -> Result<bool, Stop> {
        // A list may be looked at later, or in part.
        if self.is_long(value) || matches!(self.var(value).kind, VarKind::List(ListVar { class: None, .. })) {
            return Ok(false);
        }
        let VarKind::Instance(_) = self.look(value)? else { return Ok(false) };
        let class = self.class_of(value)?;
        Ok(self.class_lookup(&class, "__iter__")?.is_none()
            && self.class_lookup(&class, "__getitem__")?.is_some_and(|method| facts::is_function(&method))
            && self.extends_object(&class)?)
    }

    /// Whether `reversed` of a value asks it for its length, and then for items by number.
    fn is_reversed_by_index(&mut self, value: VarId) -> Result<bool, Stop> {
        let (VarKind::Instance(_) | VarKind::Layer(_)) = self.look(value)? else { return Ok(false) };
        let class = self.class_of(value)?;
        Ok(self.class_lookup(&class, "__reversed__")?.is_none()
            && self.class_lookup(&class, "__len__")?.is_some_and(|method| facts::is_function(&method))
            && self.class_lookup(&class, "__getitem__")?.is_some_and(|method| facts::is_function(&method))
            && self.extends_object(&class)?)
    }

    /// As `any_by_code`, of iterators.
    pub(super) fn any_steps_by_code(&mut self, inners: &[VarId]) -> Result<bool, Stop> {
        for inner in inners {
            if self.steps_by_code(*inner)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn any_by_code(&mut self, inners: &[VarId]) -> Result<bool, Stop> {
        for inner in inners {
            if self.iterates_by_code(*inner)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the simulation can take the items of something at all.
    pub(super) fn can_iterate(&mut self, iterable: VarId) -> Result<bool, Stop> {
        if self.is_long(iterable) {
            return Ok(true);
        }
        Ok(match self.look(iterable)? {
            VarKind::Tuple(_)
            | VarKind::List(_)
            | VarKind::Dict(_)
            | VarKind::Set(_)
            | VarKind::View(_)
            | VarKind::Tensor(_)
            | VarKind::Iterator(_) => true,
            VarKind::Generator(generator) => generator.is_iterator(),
            VarKind::Constant(_) => self.constant_value(iterable).is_some_and(|value| {
                value.is_exact_instance_of::<PyString>()
                    || value.is_exact_instance_of::<PyBytes>()
                    || value.is_exact_instance_of::<PyRange>()
                    || value.is_exact_instance_of::<PyFrozenSet>()
            }),
            // A list with methods of its own, too.
            VarKind::Instance(InstanceVar { part: Some(_), .. }) => {
                let class = self.class_of(iterable)?;
                self.class_lookup(&class, "__iter__")?.is_some()
            }
            _ => self.iterates_by_code(iterable)?,
        })
    }

    /// Whether something is asked for its length, too, by what takes all of its items.
    fn is_sized(&mut self, iterable: VarId) -> Result<bool, Stop> {
        if !self.is_asked(iterable)? {
            return Ok(false);
        }
        let class = self.class_of(iterable)?;
        Ok(self.class_lookup(&class, "__len__")?.is_some())
    }

    /// The frame of `list(iterable)`, if that runs code of the program.
    pub(super) fn enter_list(&mut self, iterable: VarId, constructor: bool) -> Result<Option<Called>, Stop> {
        if !self.iterates_by_code(iterable)? {
            return Ok(None);
        }
        if constructor && self.is_sized(iterable)? && type_facts::list_asks_for_the_length_first(self.py) {
            return self.enter("list_of_sized_first", &[iterable]).map(Some);
        }
        let list = self.virtual_var(ListVar::new(Vec::new()));
        let definition = self.way_to_extend(iterable)?;
        self.enter(definition, &[list, iterable, list]).map(Some)
    }

    /// The definition of `list.extend`.
    fn way_to_extend(&mut self, iterable: VarId) -> Result<&'static str, Stop> {
        let VarKind::Instance(InstanceVar { part: Some(part), .. }) = self.look(iterable)? else { return Ok("extend") };
        let class = self.class_of(iterable)?;
        let by_c = matches!(self.look(part)?, VarKind::List(_) | VarKind::Tuple(_))
            && self.class_lookup(&class, "__iter__")?.is_some_and(|method| !facts::is_function(&method));
        Ok(if by_c { "extend_by_c" } else { "extend" })
    }

    /// `[*a, *b]`, or the tuple, in one instruction (3.8).
    pub(super) fn enter_joined(&mut self, iterables: &[VarId], make: &str) -> Result<Option<Called>, Stop> {
        if !self.any_by_code(iterables)? {
            return Ok(None);
        }
        for iterable in iterables {
            if !self.can_iterate(*iterable)? {
                return Ok(None);
            }
        }
        let (iterables, make) = (self.virtual_var(TupleVar::new(iterables.to_vec())), self.builtin(make)?);
        self.enter("joined", &[iterables, make]).map(Some)
    }

    /// `operator.length_hint(iterable)`, for whoever does not look at it.
    pub(super) fn enter_hint(&mut self, iterable: VarId) -> Result<Called, Stop> {
        if let VarKind::Iterator(IteratorVar { state: Iteration::Indexed { sequence: Some(sequence), .. } }) =
            self.look(iterable)?
            && self.is_sized(sequence)?
        {
            return self.enter("hint_by_length", &[sequence]);
        }
        if self.is_asked(iterable)? {
            let method = self.special_method_if_any(iterable, "__length_hint__")?;
            let sized = self.is_sized(iterable)?;
            if method.is_some() || sized {
                let sized = self.fold_bool(sized)?;
                let method = match method {
                    Some(method) => method,
                    None => self.fold_none()?,
                };
                let length_hint = self.operator("length_hint")?;
                let length_hint = self.pin(&length_hint);
                let class = self.class_of(iterable)?;
                let name = self.fold(PyString::new(self.py, "__length_hint__").as_any())?;
                let class = self.fold(PyString::new(self.py, &super::compared::class_name(&class)).as_any())?;
                return self.enter("hint_of", &[iterable, sized, method, length_hint, name, class]);
            }
        }
        self.fold_none().map(Called::Value)
    }

    /// The items that `a, *b = iterable` takes apart, if taking them runs code of the program.
    pub(super) fn enter_unpacked(&mut self, iterable: VarId, before: usize) -> Result<Option<Called>, Stop> {
        if !self.iterates_by_code(iterable)? {
            return Ok(None);
        }
        // The list of the rest asks the iterator for its hint, which asks for the length.
        let iterable = match self.has_items_by_index(iterable)? {
            true => self.iterate_openly(iterable)?,
            false => iterable,
        };
        let before = self.fold_int(before as i64)?;
        self.enter("unpacked", &[iterable, before]).map(Some)
    }

    /// The first items, as unpacking asks for them.
    pub(super) fn enter_at_most(&mut self, iterable: VarId, count: usize) -> Result<Option<Called>, Stop> {
        if !self.iterates_by_code(iterable)? {
            return Ok(None);
        }
        let count = self.fold_int(count as i64)?;
        self.enter("at_most", &[iterable, count]).map(Some)
    }

    pub(super) fn enter_tuple(&mut self, iterable: VarId) -> Result<Option<Called>, Stop> {
        if !self.iterates_by_code(iterable)? {
            return Ok(None);
        }
        self.enter("tuple_of", &[iterable]).map(Some)
    }

    /// `list.extend`, or `+=` of a list.
    pub(super) fn enter_extend(
        &mut self,
        list: VarId,
        iterable: VarId,
        operator: bool,
    ) -> Result<Option<Called>, Stop> {
        if operator {
            self.adds_not_from_the_right(iterable)?;
        }
        if !self.iterates_by_code(iterable)? {
            return Ok(None);
        }
        let result = if operator { list } else { self.fold_none()? };
        let definition = self.way_to_extend(iterable)?;
        self.enter(definition, &[list, iterable, result]).map(Some)
    }

    /// A break if a value has a say in `list += value`: its `__radd__` is asked before the list is.
    pub(super) fn adds_not_from_the_right(&mut self, value: VarId) -> Result<(), Stop> {
        if let VarKind::Constant(_) = self.look(value)? {
            return Ok(());
        }
        let class = self.class_of(value)?;
        match self.class_lookup(&class, "__radd__")? {
            Some(_) => Err(Stop::brk(Reason::UserCode, "__radd__")),
            None => Ok(()),
        }
    }

    /// Whether instances are among the items of a list or tuple, however deep, and no C compares any of them.
    fn holds_instances(&mut self, sequence: VarId) -> Result<bool, Stop> {
        let mut seen = HashSet::new();
        let mut work = vec![sequence];
        let mut found = false;
        while let Some(value) = work.pop() {
            self.may_go_deeper()?;
            match self.look(value)? {
                VarKind::Instance(_) => {
                    let class = self.class_of(value)?;
                    for name in ["__lt__", "__gt__"] {
                        let by_default = self.py.get_type::<PyAny>().getattr(name).map_err(|e| self.internal(&e))?;
                        match self.class_lookup(&class, name)? {
                            Some(method) if facts::is_function(&method) || method.is(&by_default) => {}
                            _ => return Ok(false),
                        }
                    }
                    found = true;
                }
                VarKind::Tuple(tuple) if seen.insert(value) => work.extend(tuple.items.iter().copied()),
                VarKind::List(list) if seen.insert(value) => work.extend(list.items.iter().copied()),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Who compares the keys of a sort: the real sort (0); keys of one class with a `__lt__` of the program, asked by
    /// themselves (1); tuples that begin with such keys (2); or `<` (3).
    pub(super) fn way_to_compare(&mut self, keys: VarId) -> Result<i64, Stop> {
        // What comes next is asked anew after each answer.
        const MOST: usize = 16;
        let VarKind::List(list) = self.look(keys)? else { return Ok(0) };
        let (mut firsts, mut tuples) = (Vec::with_capacity(list.items.len()), 0);
        for key in list.items.iter() {
            match self.look(*key)? {
                VarKind::Tensor(_) => return Ok(0),
                VarKind::Tuple(TupleVar { items, class: None }) if !items.is_empty() => {
                    tuples += 1;
                    firsts.push(items[0]);
                }
                _ => firsts.push(*key),
            }
        }
        if list.items.len() > MOST || !self.holds_instances(keys)? {
            return Ok(0);
        }
        if tuples != 0 && tuples != firsts.len() {
            return Ok(3);
        }
        let class = self.class_of(firsts[0])?;
        for first in &firsts {
            if !matches!(self.look(*first)?, VarKind::Instance(_)) || !self.class_of(*first)?.is(&class) {
                return Ok(3);
            }
        }
        match self.class_lookup(&class, "__lt__")? {
            Some(method) if facts::is_function(&method) => Ok(if tuples > 0 { 2 } else { 1 }),
            _ => Ok(3),
        }
    }

    /// The first items of keys that are tuples and no constants, where these tell them apart: behind them no sort looks.
    pub(super) fn distinct_firsts(&mut self, keys: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::List(list) = self.look(keys)? else { return Ok(None) };
        let mut firsts = Vec::with_capacity(list.items.len());
        for key in list.items.iter() {
            match self.look(*key)? {
                VarKind::Tuple(TupleVar { items, class: None }) if !items.is_empty() => firsts.push(items[0]),
                _ => return Ok(None),
            }
        }
        if self.is_plain(keys)? {
            return Ok(None);
        }
        let seen = PySet::empty(self.py).map_err(|e| self.internal(&e))?;
        for first in &firsts {
            if !matches!(self.look(*first)?, VarKind::Constant(_)) {
                return Ok(None);
            }
            let value = self.require_plain(*first)?;
            if !is_itself(&value) || seen.add(value).is_err() {
                return Ok(None);
            }
        }
        let distinct = seen.len() == firsts.len();
        Ok(distinct.then(|| self.virtual_var(ListVar::new(firsts))))
    }

    /// Whether a sort is left to Python: each comparison would be simulated, and what is known of a list grows with each of its items.
    fn is_long_to_sort(&mut self, items: VarId) -> Result<bool, Stop> {
        const LONGEST: usize = 2048;
        let length = match self.look(items)? {
            VarKind::List(list) => list.items.len(),
            VarKind::Tuple(tuple) => tuple.items.len(),
            VarKind::Constant(_) => self.constant_value(items).and_then(|items| items.len().ok()).unwrap_or(0),
            _ => 0,
        };
        Ok(length > LONGEST)
    }

    /// `list.sort`. A sort that fails leaves some order, which only the real one knows: what cannot be compared is left to it.
    fn enter_sort(&mut self, list: VarId, args: &Args) -> Result<Option<Called>, Stop> {
        if self.is_long_to_sort(list)? {
            return Ok(None);
        }
        let (mut key, mut reverse) = (self.fold_none()?, self.fold_bool(false)?);
        for (name, value) in &args.keywords {
            match name.as_str() {
                "key" => key = *value,
                "reverse" if self.constant_int(*value).is_some() => reverse = *value,
                _ => return Ok(None),
            }
        }
        if self.unless_none(Some(key))?.is_none()
            && !self.is_plain(list)?
            && !self.holds_instances(list)?
            && self.distinct_firsts(list)?.is_none()
        {
            return Ok(None);
        }
        self.enter("sort_list", &[list, key, reverse]).map(Some)
    }

    /// Methods of builtin values whose work is code of the program. `None`: as ever.
    pub(super) fn enter_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<Option<Called>, Stop> {
        if let ("sort", [], VarKind::List(ListVar { class: None, .. })) =
            (name, args.positional.as_slice(), self.look(me)?)
        {
            return self.enter_sort(me, args);
        }
        if let ("update", [source], [], VarKind::Dict(_)) =
            (name, args.positional.as_slice(), args.keywords.as_slice(), self.look(me)?)
        {
            let none = self.fold_none()?;
            if let Some(entered) = self.enter_merge(me, *source, none)? {
                return Ok(Some(entered));
            }
        }
        if let ("update", [source], VarKind::Dict(DictVar { class: None, .. })) =
            (name, args.positional.as_slice(), self.look(me)?)
        {
            return self.enter_fill(Some(me), *source, &args.keywords);
        }
        if self.set_state(me)?.is_some()
            && args.keywords.is_empty()
            && let Some(entered) = self.enter_set_method(me, name, &args.positional)?
        {
            return Ok(Some(entered));
        }
        if let ("update", [_, _, ..], VarKind::Set(SetVar { frozen: false, .. })) =
            (name, args.positional.as_slice(), self.look(me)?)
            && args.keywords.is_empty()
            && !args.positional.contains(&me)
            && self.any_by_code(&args.positional)?
        {
            let method = self.virtual_var(BoundVar::new(me, name));
            let iterables = self.virtual_var(TupleVar::new(args.positional.clone()));
            return self.enter("done_with_each", &[method, iterables]).map(Some);
        }
        if let ("update", [iterable], VarKind::Set(SetVar { frozen: false, .. })) =
            (name, args.positional.as_slice(), self.look(me)?)
            && args.keywords.is_empty()
        {
            self.is_no_subclass_of_set(*iterable)?;
            if !self.iterates_by_code(*iterable)? {
                return Ok(None);
            }
            return self.enter("update_set", &[me, *iterable]).map(Some);
        }
        if let ("format", VarKind::Constant(_)) = (name, self.look(me)?) {
            return self.enter_str_format(me, args);
        }
        if let Some(entered) = self.enter_method_by_hash(me, name, args)? {
            return Ok(Some(entered));
        }
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        if let "index" | "count" | "remove" = name {
            return self.enter_search(me, name, &args.positional);
        }
        let [argument] = *args.positional.as_slice() else { return Ok(None) };
        match (self.look(me)?, name) {
            (VarKind::List(ListVar { class: None, .. }), "extend") => self.enter_extend(me, argument, false),
            (VarKind::Constant(_), "join") if self.iterates_by_code(argument)? => {
                let join = self.virtual_var(BoundVar::new(me, "join"));
                self.enter("join", &[join, argument]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Builtin functions whose work is code of the program. `None`: as ever.
    pub(super) fn enter_function(&mut self, name: &str, args: &Args) -> Result<Option<Called>, Stop> {
        let keyword = |name: &str| args.keywords.iter().find(|(k, _)| k == name).map(|(_, value)| *value);
        let known = |names: &[&str]| args.keywords.iter().all(|(k, _)| names.contains(&k.as_str()));
        match (name, args.positional.as_slice()) {
            ("__build_class__", _) => self.enter_class_statement(args),
            ("any" | "all", [iterable]) if args.keywords.is_empty() => {
                if !self.iterates_by_code(*iterable)? && !self.any_item_has(*iterable, &["__bool__", "__len__"])? {
                    return Ok(None);
                }
                self.enter(if name == "any" { "any_of" } else { "all_of" }, &[*iterable]).map(Some)
            }
            ("sum", [iterable, rest @ ..]) if rest.len() <= 1 && known(&["start"]) => {
                let start = match rest.first().copied().or(keyword("start")) {
                    Some(start) => start,
                    None => self.fold_int(0)?,
                };
                let added = ["__add__", "__radd__"];
                let by_code = self.iterates_by_code(*iterable)? || self.any_item_has(*iterable, &added)?;
                if !by_code || self.is_text(start)? {
                    return Ok(None);
                }
                self.look(start)?;
                let number = self.constant_value(start).is_some_and(|start| super::definitions::is_number(&start));
                self.enter(if number { "sum_of" } else { "sum_from" }, &[*iterable, start]).map(Some)
            }
            ("sorted", [iterable]) if known(&["key", "reverse"]) => {
                let (key, reverse) = (keyword("key"), keyword("reverse"));
                let key = self.unless_none(key)?;
                let reverse = match reverse {
                    Some(reverse) => match self.constant_int(reverse) {
                        Some(_) => reverse,
                        None => return Ok(None),
                    },
                    None => self.fold_bool(false)?,
                };
                if self.is_long_to_sort(*iterable)? {
                    return Ok(None);
                }
                let by_code = key.is_some() || self.iterates_by_code(*iterable)? || self.holds_instances(*iterable)?;
                let by_code = by_code
                    || matches!(self.look(*iterable)?, VarKind::View(_) | VarKind::List(_) | VarKind::Tuple(_)) && {
                        let items = self.collect(*iterable)?;
                        let keys = self.virtual_var(ListVar::new(items));
                        self.distinct_firsts(keys)?.is_some()
                    };
                if !by_code || !self.can_iterate(*iterable)? {
                    return Ok(None);
                }
                let key = match key {
                    Some(key) => key,
                    None => self.fold_none()?,
                };
                self.enter("sorted_by", &[*iterable, key, reverse]).map(Some)
            }
            ("min" | "max", positional) if !positional.is_empty() && known(&["key", "default"]) => {
                let (key, default) = (keyword("key"), keyword("default"));
                let key = self.unless_none(key)?;
                let iterable = match positional {
                    [iterable] => *iterable,
                    _ if default.is_some() => return Ok(None),
                    several => self.virtual_var(TupleVar::new(several.to_vec())),
                };
                let order = if name == "min" { ["__lt__", "__gt__"] } else { ["__gt__", "__lt__"] };
                let by_code = self.iterates_by_code(iterable)? || self.any_item_has(iterable, &order)?;
                // What may be given back is any object.
                let opaque = match default {
                    Some(default) => !matches!(self.look(default)?, VarKind::Constant(_)),
                    None => false,
                };
                if key.is_none() && !by_code && !opaque || !self.can_iterate(iterable)? {
                    return Ok(None);
                }
                let least = name == "min";
                let definition = match (least, key, default) {
                    (true, None, None) => "least",
                    (true, None, Some(_)) => "least_or",
                    (true, Some(_), None) => "least_by",
                    (true, Some(_), Some(_)) => "least_by_or",
                    (false, None, None) => "greatest",
                    (false, None, Some(_)) => "greatest_or",
                    (false, Some(_), None) => "greatest_by",
                    (false, Some(_), Some(_)) => "greatest_by_or",
                };
                let otherwise = match default {
                    Some(default) => default,
                    None => self.builtin(name)?,
                };
                let args: Vec<VarId> = [iterable, otherwise].into_iter().chain(key).collect();
                self.enter(definition, &args).map(Some)
            }
            ("len", [value])
                if args.keywords.is_empty() && self.is_asked(*value)? && self.length_of_c(*value)?.is_none() =>
            {
                match self.special_method_if_any(*value, "__len__")? {
                    Some(method) => self.enter("length_of", &[method]).map(Some),
                    None => Ok(None),
                }
            }
            ("getattr", [object, name])
                if args.keywords.is_empty()
                    && self.getattr_tells(*object)?
                    && self.attribute_by_code(*object, *name)? =>
            {
                self.enter(ASKS_AS_GIVEN, &[*object, *name]).map(Some)
            }
            ("getattr", [object, name, default])
                if args.keywords.is_empty() && self.attribute_by_code(*object, *name)? =>
            {
                self.enter("attribute_or", &[*object, *name, *default]).map(Some)
            }
            ("hasattr", [object, name]) if args.keywords.is_empty() && self.attribute_by_code(*object, *name)? => {
                self.enter("has_attribute", &[*object, *name]).map(Some)
            }
            ("isinstance" | "issubclass", [value, class]) if args.keywords.is_empty() => {
                self.enter_membership(*value, *class, name == "isinstance")
            }
            ("next", [iterator, default]) if args.keywords.is_empty() => match self.look(*iterator)? {
                VarKind::Generator(_) | VarKind::Instance(_) | VarKind::Iterator(_)
                    if self.steps_by_code(*iterator)? =>
                {
                    self.enter("next_or", &[*iterator, *default]).map(Some)
                }
                _ => Ok(None),
            },
            ("setattr", [object, name, value]) if args.keywords.is_empty() => {
                self.enter_write_by_name(*object, *name, Some(*value))
            }
            ("delattr", [object, name]) if args.keywords.is_empty() => self.enter_write_by_name(*object, *name, None),
            (_, positional) if args.keywords.is_empty() => self.enter_question(name, positional),
            _ => Ok(None),
        }
    }

    /// Whether `next()` of an iterator runs code of the program.
    fn steps_by_code(&mut self, iterator: VarId) -> Result<bool, Stop> {
        if let VarKind::Instance(_) = self.look(iterator)? {
            let class = self.class_of(iterator)?;
            let found = self.class_lookup(&class, "__next__")?;
            return Ok(found.is_some_and(|f| facts::is_function(&f)));
        }
        self.iterates_by_code(iterator)
    }

    /// Whether an item of a list or tuple has one of these methods from the program.
    fn any_item_has(&mut self, sequence: VarId, methods: &[&str]) -> Result<bool, Stop> {
        let items = match self.look(sequence)? {
            VarKind::Tuple(tuple) => tuple.items.to_vec(),
            VarKind::List(list) => list.items.to_vec(),
            _ => return Ok(false),
        };
        for item in items {
            let VarKind::Instance(_) = self.look(item)? else { continue };
            let class = self.class_of(item)?;
            for method in methods {
                if self.class_lookup(&class, method)?.is_some_and(|found| facts::is_function(&found)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The frame of `bool(value)`, if that runs code of the program.
    pub(super) fn enter_truth(&mut self, value: VarId, inverted: bool) -> Result<Option<Called>, Stop> {
        if !self.is_asked(value)? {
            return Ok(None);
        }
        let class = self.class_of(value)?;
        let method = match self.class_lookup(&class, "__bool__")? {
            Some(method) => Some(method),
            None => self.class_lookup(&class, "__len__")?,
        };
        match method {
            Some(method) if facts::is_function(&method) || self.by_definition => {
                self.enter(if inverted { "untruth_of_value" } else { "truth_of_value" }, &[value]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The frame that gives the next item of a combined iterator, if one has to: its result is the item, and StopIteration
    /// the end.
    pub(super) fn enter_next(&mut self, iterator: VarId) -> Result<Option<Called>, Stop> {
        let VarKind::Iterator(IteratorVar { state }) = self.look(iterator)? else { return Ok(None) };
        match state {
            Iteration::Map { function, inners } if self.iterates_by_code(iterator)? => {
                let inners = self.virtual_var(TupleVar::new(inners));
                self.enter("next_mapped", &[function, inners]).map(Some)
            }
            Iteration::Enumerate { inner, .. } if self.iterates_by_code(iterator)? => {
                self.enter("next_numbered", &[iterator, inner]).map(Some)
            }
            Iteration::Zip { inners, strict } if self.iterates_by_code(iterator)? => {
                let inners = self.virtual_var(TupleVar::new(inners));
                self.enter(if strict { "next_zipped_strict" } else { "next_zipped" }, &[inners]).map(Some)
            }
            Iteration::Indexed { index, backwards: true, .. } if index < 0 => Ok(None),
            Iteration::Indexed { sequence: Some(sequence), index, .. } => {
                let index = self.fold_int(index)?;
                self.enter("next_by_index", &[iterator, sequence, index]).map(Some)
            }
            Iteration::Called { asked: Some((function, last)) } => {
                self.enter("next_called", &[iterator, function, last]).map(Some)
            }
            Iteration::Filter { function, inner } => {
                let function = self.unless_none(Some(function))?;
                match function {
                    Some(function) => self.enter("next_filtered", &[function, inner]).map(Some),
                    None => self.enter("next_true", &[inner]).map(Some),
                }
            }
            _ => Ok(None),
        }
    }

    /// Builtin types whose construction is code of the program. `None`: as ever.
    pub(super) fn enter_type(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Option<Called>, Stop> {
        let is = |name: &str| self.builtins_attribute(name).is_ok_and(|builtin| builtin.is(class));
        if !args.keywords.is_empty() && !is("dict") {
            return Ok(None);
        }
        match *args.positional.as_slice() {
            [value] if is("bool") => self.enter_truth(value, false),
            [value] if is("str") => self.enter_conversion("str", value),
            [value] if is("int") => self.enter_conversion("int", value),
            [value] if is("float") => self.enter_conversion("float", value),
            [iterable] if is("list") => self.enter_list(iterable, true),
            [iterable] if is("tuple") => self.enter_tuple(iterable),
            [iterable] if is("dict") => self.enter_fill(None, iterable, &args.keywords),
            [iterable] if is("set") || is("frozenset") => self.enter_set(class, iterable),
            [sequence] if is("reversed") => match self.enter_special(sequence, "__reversed__", Vec::new())? {
                None if self.is_reversed_by_index(sequence)? => self.enter("reversed_by_index", &[sequence]).map(Some),
                entered => Ok(entered),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn unless_none(&mut self, value: Option<VarId>) -> Result<Option<VarId>, Stop> {
        let Some(value) = value else { return Ok(None) };
        self.look(value)?;
        Ok(Some(value).filter(|value| !self.constant_value(*value).is_some_and(|v| v.is_none())))
    }

    /// Text, which `sum` refuses.
    pub(super) fn is_text(&mut self, value: VarId) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        Ok(class.is_subclass_of::<PyString>().unwrap_or(true)
            || class.is_subclass_of::<PyBytes>().unwrap_or(true)
            || class.is_subclass_of::<PyByteArray>().unwrap_or(true))
    }

    /// `functools.reduce`.
    pub(super) fn enter_reduce(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<Called>, Stop> {
        let (function, iterable, initial) = match *args.positional.as_slice() {
            [function, iterable] => (function, iterable, None),
            [function, iterable, initial] => (function, iterable, Some(initial)),
            _ => return Ok(None),
        };
        let iterates = match self.look(iterable)? {
            VarKind::Tuple(t) if t.items.is_empty() && initial.is_none() => false,
            _ => self.can_iterate(iterable)?,
        };
        if !iterates || !args.keywords.is_empty() {
            return Ok(None);
        }
        match initial {
            Some(initial) => self.enter("reduce_from", &[function, iterable, initial]).map(Some),
            None => {
                let reduce = self.pin(callee);
                self.enter("reduce_all", &[function, iterable, reduce]).map(Some)
            }
        }
    }
}

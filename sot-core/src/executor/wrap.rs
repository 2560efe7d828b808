//! From Python objects to Variables, and the guards that looking at them leaves.
//!
//! Wrapping is lazy: it decides the kind and leaves no guard. The first *look* leaves the guards that the kind
//! needs. Whatever is found under a pinned object is pinned too (its identity is guarded where it was found),
//! because then one stamp on the containing dict covers it.

use super::Executor;
use super::kinds::{MANY, Operations, Place};
use crate::backend::Kind;
use crate::cpython::facts;
use crate::iterators::Opened;
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Check, FunctionPart, ObjectId, Tracker, TrackerId};
use std::rc::Rc;

impl<'py> Executor<'py> {
    /// A variable for an object that was found at `tracker`. Leaves no guard yet.
    pub fn wrap(&mut self, object: &Bound<'py, PyAny>, tracker: TrackerId) -> VarId {
        let address = object.as_ptr() as usize;
        if let Some(&known) = self.known.get(&address) {
            let Variable { kind, tracker: found_at, .. } = self.var(known);
            let is_instance = matches!(kind, VarKind::Instance(_));
            if *found_at != tracker
                && (self.is_passing(*found_at) || is_instance && self.is_passing_object(object, tracker))
            {
                self.note_passing(tracker);
            }
            self.watch_slot(known, tracker);
            self.tie(known, tracker, object);
            return known;
        }
        let anew = object.cast::<PyType>().is_ok_and(|class| self.may_be_made_anew(class, tracker));
        let id = self.objects.add(object);
        let kind = match anew {
            true => ClassVar { object: id, anew, made: None }.into(),
            false => {
                self.note_class_of(object, tracker);
                self.kind_at_depth(object, id, tracker)
            }
        };
        // The identity of an immutable value is no fact that a program should depend on.
        let shared = !matches!(kind, VarKind::Constant(_) | VarKind::Tuple(_));
        let part = if let VarKind::Instance(instance) = &kind { instance.part } else { None };
        let var = self.add_var(kind, tracker);
        self.sourced.insert(var, id);
        self.captured.wholes.extend(part.map(|part| (part, var)));
        self.watch(var, object, tracker);
        if shared {
            self.known.insert(address, var);
        }
        if anew {
            self.class_is_made_anew(object, id, var);
        }
        var
    }

    /// A variable for an object that is the same at each call: its own address is its path.
    pub fn pin(&mut self, object: &Bound<'py, PyAny>) -> VarId {
        if let Some((_, var)) = self.made_anew(object) {
            return var;
        }
        self.pin_for_good(object)
    }

    /// The same, of what lies below a constant object.
    pub(super) fn pin_for_good(&mut self, object: &Bound<'py, PyAny>) -> VarId {
        let id = self.objects.add(object);
        let tracker = self.constant_tracker(id);
        self.wrap(object, tracker)
    }

    /// Whether an object found below a constant one could be seen to die, if its place let go of it.
    pub(super) fn is_passing_object(&self, object: &Bound<'py, PyAny>, tracker: TrackerId) -> bool {
        !self.is_constant(tracker) && self.is_under_constant(tracker) && self.death_runs_code(object)
    }

    pub(super) fn note_passing(&mut self, tracker: TrackerId) {
        if !self.is_constant(tracker) && self.is_under_constant(tracker) {
            self.captured.passing.insert(tracker);
        }
    }

    /// A kind may have parts that are wrapped at once (methods, functions in slots): they may be nested without end.
    fn kind_at_depth(&mut self, object: &Bound<'py, PyAny>, id: ObjectId, tracker: TrackerId) -> VarKind {
        self.nested(|ex| Ok(ex.kind_of(object, id, tracker))).unwrap_or_else(|_| BuiltinVar { object: id }.into())
    }

    fn kind_of(&mut self, object: &Bound<'py, PyAny>, id: ObjectId, tracker: TrackerId) -> VarKind {
        let ty = object.get_type();
        let by_value = is_constant_type(&ty) && !self.is_found_set(object, tracker);
        if by_value || object.is_none() {
            return ConstantVar { object: id }.into();
        }
        if object.is_exact_instance_of::<PyList>() {
            return ListVar { items: Rc::default(), class: None, object: Some(id) }.into();
        }
        if object.is_exact_instance_of::<PyDict>() {
            return DictVar { object: Some(id), ..DictVar::new(Vec::new()) }.into();
        }
        if type_facts::dict_of_c(&ty).is_some()
            && let Some(dict) = self.dict_of_c_as_it_lies(&ty, object, id, tracker)
        {
            return dict.into();
        }
        if object.is_exact_instance_of::<PySet>() || object.is_exact_instance_of::<PyFrozenSet>() {
            let frozen = object.is_exact_instance_of::<PyFrozenSet>();
            return SetVar { state: SetState::UNSEEN, frozen, object: Some(id) }.into();
        }
        if object.is_instance_of::<PyTuple>() {
            let class = (!object.is_exact_instance_of::<PyTuple>()).then(|| self.objects.add(ty.as_any()));
            if class.is_none() || type_facts::is_named_tuple(&ty) {
                return TupleVar { items: Rc::new([]), class }.into();
            }
        }
        if object.is_exact_instance_of::<PySlice>() {
            let base = if self.is_under_constant(tracker) { self.constant_tracker(id) } else { tracker };
            let parts = ["start", "stop", "step"].map(|name| {
                let at = self.trackers.step(base, Access::Attr(name.into()));
                object.getattr(name).map(|part| self.wrap(&part, at))
            });
            if let [Ok(start), Ok(stop), Ok(step)] = parts {
                return SliceVar { parts: [start, stop, step] }.into();
            }
        }
        match self.backend.classify(object) {
            Kind::Tensor => return TensorVar { source: TensorSource::Object(id) }.into(),
            // One that is made at each call (a slice of a list of layers) is not pinned by who it is; nor is one that the program could
            // see die, which what is pinned would outlive.
            Kind::Layer
                if !self.is_under_constant(tracker)
                    && (self.backend.layers().is_container(object) || facts::own_death_is_seen(object)) => {}
            Kind::Layer => return LayerVar { object: id }.into(),
            Kind::Constant => return ConstantVar { object: id }.into(),
            Kind::List => {
                let class = Some(self.objects.add(ty.as_any()));
                return ListVar { items: Rc::default(), class, object: Some(id) }.into();
            }
            // Of a class only calls break.
            Kind::Break(_) if object.is_instance_of::<PyType>() => {}
            Kind::Api | Kind::Foldable | Kind::Switch | Kind::Acts | Kind::Break(_) => {
                return BuiltinVar { object: id }.into();
            }
            Kind::Record | Kind::Maker(_) | Kind::Unknown => {}
        }
        if facts::is_function(object) && (crate::numpy::is_dispatcher(object) || crate::numpy::is_maker(object)) {
            return BuiltinVar { object: id }.into();
        }
        if facts::is_function(object) {
            let from_slot = self.has_path(tracker) && !self.is_under_constant(tracker);
            return match from_slot.then(|| self.function_parts_of(object, id, tracker)).flatten() {
                Some(made) => FunctionVar::Made(Rc::new(made)).into(),
                None => FunctionVar::Object(id).into(),
            };
        }
        if object.is_instance_of::<PyType>() {
            return ClassVar { object: id, anew: false, made: None }.into();
        }
        if object.is_instance_of::<PyModule>() {
            return ModuleVar { object: id }.into();
        }
        if type_facts::is_exact_cell(object) {
            return CellVar { content: None, object: Some(id), known: false }.into();
        }
        if let Some((what, parts)) = crate::iterators::opened(object) {
            let base = self.trackers.step(tracker, Access::IterSource);
            let mut wrapped = Vec::with_capacity(parts.len());
            for (index, part) in parts.iter().enumerate() {
                let at = self.trackers.step(base, Access::SeqItem(index as i64));
                wrapped.push(self.wrap(&part, at));
            }
            let parts = wrapped;
            return match (what, parts.as_slice()) {
                (Opened::Map, [function, inners @ ..]) => {
                    IteratorVar::new(Iteration::Map { function: *function, inners: inners.to_vec() }).into()
                }
                (Opened::Filter, [function, inner]) => {
                    IteratorVar::new(Iteration::Filter { function: *function, inner: *inner }).into()
                }
                (Opened::Enumerate, [inner, _]) => {
                    IteratorVar::new(Iteration::Enumerate { inner: *inner, count: None }).into()
                }
                _ => IteratorVar::new(Iteration::Zip { inners: parts, strict: false }).into(),
            };
        }
        if crate::iterators::is_peekable(object) {
            return IteratorVar::new(Iteration::Real { object: id, taken: 0, exhausted: false }).into();
        }
        if type_facts::is_exact_method(object)
            && let (Ok(receiver), Ok(function)) = (object.getattr("__self__"), object.getattr("__func__"))
        {
            let receiver_tracker = self.trackers.step(tracker, Access::MethodSelf);
            let function_tracker = self.trackers.step(tracker, Access::MethodFunction);
            let receiver = self.wrap(&receiver, receiver_tracker);
            let function = self.wrap(&function, function_tracker);
            return MethodVar { receiver, function }.into();
        }
        if let Some(native) = self.native_of(object, id, tracker) {
            return native.into();
        }
        if self.is_helper(object) {
            return BuiltinVar { object: id }.into();
        }
        if let Some(bound) = self.bound_builtin(object, tracker) {
            return bound.into();
        }
        if self.is_plain_callable(object) || crate::cpython::entry_parts(object).is_some() {
            return BuiltinVar { object: id }.into();
        }
        if self.is_number_of_numpy(object) {
            return ConstantVar { object: id }.into();
        }
        if crate::numpy::is_pure(object) {
            return BuiltinVar { object: id }.into();
        }
        if facts::is_deque(object) {
            return DequeVar { object: Some(id), ..DequeVar::default() }.into();
        }
        let class = self.objects.add(ty.as_any());
        if object.is_instance_of::<PyBaseException>() {
            // It leads to frames, and their variables to anything.
            self.note_passing(tracker);
            return ExceptionVar { class, object: Some(id), state: Rc::default() }.into();
        }
        let leads_to_frames = object.is_instance_of::<PyTraceback>() || object.is_instance_of::<PyFrame>();
        if leads_to_frames || self.is_passing_object(object, tracker) {
            self.note_passing(tracker);
        }
        let (pinned, of_program) = (self.is_under_constant(tracker), facts::is_heap_type(&ty));
        let may_be_watched = facts::death_could_be_seen(&ty);
        let part = self.part_as_it_lies(object, id, tracker);
        InstanceVar { class, object: Some(id), pinned, of_program, may_be_watched, part, names: None }.into()
    }

    /// Whether a frozen set is known by its members: what only the program can compare is no constant, and one that is given
    /// in a slot may be made anew for each call.
    fn is_found_set(&self, object: &Bound<'py, PyAny>, tracker: TrackerId) -> bool {
        let Ok(set) = object.cast_exact::<PyFrozenSet>() else { return false };
        self.has_path(tracker) && !self.is_under_constant(tracker)
            || set.iter().any(|item| facts::is_heap_type(&item.get_type()))
    }

    /// A function found in a slot, by its parts.
    fn function_parts_of(&mut self, object: &Bound<'py, PyAny>, id: ObjectId, base: TrackerId) -> Option<MadeFunction> {
        let parts = facts::func_parts(object)?;
        let (code, globals) = (parts.code.to_owned(), parts.globals.to_owned());
        let rest = [
            (FunctionPart::Defaults, parts.defaults.map(|p| p.to_owned())),
            (FunctionPart::KwDefaults, parts.kwdefaults.map(|p| p.to_owned())),
            (FunctionPart::Closure, parts.closure.map(|p| p.to_owned())),
        ];
        let unit = crate::code_unit::CodeUnit::of(&code).ok()?;
        let [defaults, kwdefaults, closure] = rest.map(|(part, value)| {
            value.map(|value| {
                let at = self.trackers.step(base, Access::FunctionPart(part));
                self.wrap(&value, at)
            })
        });
        Some(MadeFunction {
            object: Some(id),
            unit,
            code: self.objects.add(&code),
            globals: self.objects.add(&globals),
            qualname: None,
            defaults,
            kwdefaults,
            annotations: None,
            closure,
            names: None,
            renamed: false,
        })
    }

    /// A C method with its receiver (`items.append`): a new object at each look-up, so its parts are what is guarded.
    fn bound_builtin(&mut self, object: &Bound<'py, PyAny>, tracker: TrackerId) -> Option<BoundVar> {
        let class = object.get_type().name().ok()?;
        let wraps = class == "method-wrapper";
        if class != "builtin_method" && class != "builtin_function_or_method" && !wraps {
            return None;
        }
        let receiver = object.getattr("__self__").ok()?;
        if wraps {
            // A counter's `__next__`, as programs keep it to number what they make.
            let name = object.getattr("__name__").ok()?;
            if !crate::iterators::is_peekable(&receiver) || !name.eq("__next__").ok()? {
                return None;
            }
            let at = self.trackers.step(tracker, Access::MethodSelf);
            let receiver = self.wrap(&receiver, at);
            return Some(BoundVar::new(receiver, "__next__"));
        }
        // What a pattern is asked is followed wherever the method was found. Since 3.10 it is one that knows its class.
        if self.is_constant(tracker) && class != "builtin_method" && !self.is_pattern(receiver.get_type().as_any()) {
            return None;
        }
        let at = self.trackers.step(tracker, Access::MethodSelf);
        let same = match receiver.cast::<PyType>() {
            Ok(class) => !self.is_class_made_anew(class, at),
            Err(_) => receiver.is_instance_of::<PyModule>() || receiver.is_none(),
        };
        if same {
            return None;
        }
        let name: String = object.getattr("__name__").and_then(|n| n.extract()).ok()?;
        let receiver = self.wrap(&receiver, at);
        Some(BoundVar::new(receiver, &name))
    }

    /// The kind of a variable, after leaving the guards that the answer depends on.
    pub fn look(&mut self, var: VarId) -> Result<VarKind, Stop> {
        if !self.var(var).looked {
            self.learn(var).looked = true;
            if let Err(stop) = self.first_look(var) {
                self.learn(var).looked = false;
                return Err(stop);
            }
        }
        Ok(self.var(var).kind.clone())
    }

    fn first_look(&mut self, var: VarId) -> Result<(), Stop> {
        let tracker = self.var(var).tracker;
        if !self.has_path(tracker) {
            return Ok(());
        }
        let given = self.is_constant(tracker);
        self.arrive(var);
        let pinned = self.is_under_constant(tracker);
        self.var(var).kind.clone().look(self, var, Place { tracker, given, pinned })
    }

    /// Somebody asks about a container: one that is another object at each call is known by its path.
    pub(super) fn arrive(&mut self, container: VarId) {
        let tracker = self.var(container).tracker;
        if let VarKind::List(_) | VarKind::Tuple(_) | VarKind::Dict(_) | VarKind::Set(_) | VarKind::Deque(_) =
            self.var(container).kind
            && let Some(object) = self.known_object(container)
        {
            let object = self.objects.get(self.py, object);
            if self.is_passing_object(&object, tracker) {
                self.note_passing(tracker);
                self.watch(container, &object, tracker);
            }
        }
    }

    /// A function by what it is made of.
    pub(super) fn look_at_function(&mut self, made: &MadeFunction, tracker: TrackerId) {
        if let Some(builtins) = self.own_builtins(made) {
            let at = self.trackers.step(tracker, Access::Attr("__builtins__".into()));
            self.guard(at, Check::Is(builtins));
        }
        let none = self.py.None().into_bound(self.py);
        let none = self.objects.add(&none);
        for (part, object) in [
            (FunctionPart::Code, Some(made.code)),
            (FunctionPart::Globals, Some(made.globals)),
            (FunctionPart::Defaults, made.defaults.is_none().then_some(none)),
            (FunctionPart::KwDefaults, made.kwdefaults.is_none().then_some(none)),
            (FunctionPart::Closure, made.closure.is_none().then_some(none)),
        ] {
            if let Some(object) = object {
                let at = self.trackers.step(tracker, Access::FunctionPart(part));
                let compiled = part == FunctionPart::Code && self.is_compiled_anew(object);
                self.guard(at, if compiled { Check::Alike(object) } else { Check::Is(object) });
            }
        }
    }

    /// A value by which object it is. `typed`: `o.__class__ = Other` leaves identity as it is.
    pub(super) fn look_at_identity(&mut self, object: Option<ObjectId>, at: Place, typed: bool) {
        let Some(object) = object else { return };
        if !at.given {
            self.guard(at.tracker, Check::Is(object));
        }
        if typed {
            let own = self.constant_tracker(object);
            self.guard_type(own, object);
        }
    }

    /// A value by which object it is, where its place says so, else by its type.
    pub(super) fn look_at_object(&mut self, var: VarId, at: Place, by_identity: bool) {
        if let Some(object) = self.known_object(var) {
            self.guard_container(at.tracker, object, by_identity && at.given, by_identity);
        }
    }

    pub(super) fn guard_type(&mut self, tracker: TrackerId, object: ObjectId) {
        let ty = self.objects.get(self.py, object).get_type();
        if let Some((class, var)) = self.made_anew(ty.as_any()) {
            return self.guard_class_of(tracker, class, var);
        }
        let ty = self.objects.add(ty.as_any());
        self.guard(tracker, Check::TypeIs(ty));
    }

    /// Guard which container it is, or of what type, but not what is in it. `given`: it is there for ever.
    pub(super) fn guard_container(&mut self, tracker: TrackerId, object: ObjectId, given: bool, pinned: bool) {
        match (given, pinned) {
            (true, _) => {}
            (false, true) => self.guard(tracker, Check::Is(object)),
            (false, false) => self.guard_type(tracker, object),
        }
    }

    pub(super) fn look_sequence(
        &mut self,
        var: VarId,
        tracker: TrackerId,
        object: ObjectId,
        given: bool,
        pinned: bool,
    ) {
        self.guard_container(tracker, object, given, pinned);
        let base = if pinned { self.constant_tracker(object) } else { tracker };
        let sequence = self.objects.get(self.py, object);
        let items: Vec<Bound<'py, PyAny>> = match sequence.cast::<PyList>() {
            Ok(list) => list.iter().collect(),
            Err(_) => sequence.cast::<PyTuple>().map(|t| t.iter().collect()).unwrap_or_default(),
        };
        // A tuple under a pinned object cannot change; a list can.
        if !pinned || sequence.is_instance_of::<PyList>() {
            self.guard(base, Check::Len(items.len()));
        }
        let mut items: Vec<VarId> = items
            .iter()
            .enumerate()
            .map(|(i, item)| {
                let at = self.trackers.step(base, Access::SeqItem(i as i64));
                self.note_item_read(at);
                self.wrap(item, at)
            })
            .collect();
        self.add_stored_items(var, &mut items);
        items.extend(self.appended_before_look(var));
        match &mut self.learn(var).kind {
            VarKind::List(list) => list.items = Rc::new(items),
            VarKind::Tuple(tuple) => tuple.items = items.into(),
            _ => {}
        }
    }

    pub(super) fn look_dict(
        &mut self,
        var: VarId,
        tracker: TrackerId,
        object: ObjectId,
        given: bool,
        pinned: bool,
    ) -> Result<(), Stop> {
        self.guard_container(tracker, object, given, pinned);
        let base = if pinned { self.constant_tracker(object) } else { tracker };
        let dict = self.objects.get(self.py, object);
        let Ok(dict) = dict.cast::<PyDict>() else { return Ok(()) };
        if dict.len() > MANY {
            return Err(Stop::brk(Reason::ValueKind, "a look into a dict of so many items"));
        }
        // Looking a key up would hash it, which may be code of the program: the pairs are read as they lie.
        let mut pairs: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)> = Vec::with_capacity(dict.len());
        if !facts::is_ordered(dict) {
            pairs.extend(dict.iter());
        } else {
            // An ordered dict has an order of its own, which only its own iteration knows.
            let odd = || Stop::brk(Reason::OpaqueValue, "an ordered dict whose order is broken");
            let by_address: hashbrown::HashMap<usize, Bound<'py, PyAny>> =
                dict.iter().map(|(key, value)| (key.as_ptr() as usize, value)).collect();
            for (key, _) in facts::ordered_entries(dict) {
                let value = by_address.get(&(key.as_ptr() as usize)).ok_or_else(odd)?.clone();
                pairs.push((key, value));
            }
            if pairs.len() != dict.len() {
                return Err(odd());
            }
        }
        // A path to a value looks its key up.
        if pairs.iter().any(|(key, _)| !type_facts::is_quiet_key(key)) {
            return self.look_hashed(var, base, dict);
        }
        // Keys that nobody else has will be others at the next call, and the guard would keep them alive.
        let given = self.trackers.get(self.trackers.root(base)).is_slot() || self.is_passing(base);
        let anew =
            |key: &Bound<'py, PyAny>| key.cast::<PyType>().is_ok_and(|class| self.is_class_made_anew(class, base));
        if given && pairs.iter().any(|(key, _)| facts::may_die_soon(key) || anew(key)) {
            return Err(Stop::brk(Reason::ValueKind, "a dict of objects of this call alone"));
        }
        let keys: Vec<ObjectId> = pairs.iter().map(|(k, _)| self.objects.add(k)).collect();
        self.guard(base, Check::Keys(keys.clone()));
        let mut entries: Vec<(VarId, VarId)> = Vec::with_capacity(pairs.len());
        for (index, ((key, value), &id)) in pairs.iter().zip(&keys).enumerate() {
            let places = match u32::try_from(index) {
                // New code that named it would keep it alive.
                Ok(index) if facts::own_death_is_seen(key) => [
                    Tracker::Step { base, access: Access::DictKey(index) },
                    Tracker::Step { base, access: Access::DictValue(index) },
                ],
                // The Keys guard pins the keys.
                _ => [Tracker::Root(Access::Constant(id)), Tracker::Step { base, access: Access::DictItem(id) }],
            };
            let [key_place, place] = places.map(|place| self.trackers.intern(place));
            self.note_item_read(place);
            entries.push((self.wrap(key, key_place), self.wrap(value, place)));
        }
        if let VarKind::Dict(dict) = &mut self.learn(var).kind {
            dict.entries = Rc::new(entries);
        }
        Ok(())
    }

    /// The result of a computation on constants, made by Python itself: a new value, without a path.
    pub fn fold(&mut self, object: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        let ty = object.get_type();
        let by_value = is_constant_type(&ty) || object.is_none() || self.is_number_of_numpy(object);
        if by_value || matches!(self.backend.classify(object), Kind::Constant) {
            let id = self.objects.add(object);
            let var = self.virtual_var(ConstantVar { object: id });
            self.learn(var).valued = true;
            return Ok(var);
        }
        self.nested(|ex| ex.fresh(object))
    }

    /// A new structure of constants, as a virtual variable.
    pub fn fresh(&mut self, object: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            let items = tuple.iter().map(|i| self.fold(&i)).collect::<Result<Vec<_>, _>>()?;
            return Ok(self.virtual_var(TupleVar::new(items)));
        }
        if let Ok(list) = object.cast::<PyList>() {
            let class =
                (!object.is_exact_instance_of::<PyList>()).then(|| self.objects.add(object.get_type().as_any()));
            let items = list.iter().map(|i| self.fold(&i)).collect::<Result<Vec<_>, _>>()?;
            return Ok(self.virtual_var(ListVar { items: Rc::new(items), class, object: None }));
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            let mut entries = Vec::new();
            for (key, value) in dict.iter() {
                entries.push((self.fold(&key)?, self.fold(&value)?));
            }
            return Ok(self.virtual_var(DictVar::new(entries)));
        }
        if let Ok(slice) = object.cast_exact::<PySlice>() {
            let mut part = |name: &str| -> Result<VarId, Stop> {
                let part = slice.getattr(name).map_err(|e| self.internal(&e))?;
                self.fold(&part)
            };
            let parts = [part("start")?, part("stop")?, part("step")?];
            return Ok(self.virtual_var(SliceVar { parts }));
        }
        Err(Stop::brk(
            Reason::ValueKind,
            format!("a new {}", object.get_type().name().map(|n| n.to_string()).unwrap_or_default()),
        ))
    }

    /// A new instance of a class that extends `int`, with its attributes, as a framework makes one at each question; `None`: it is none.
    pub(super) fn fresh_number(&mut self, object: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        let class = object.get_type();
        let int = self.py.get_type::<PyInt>();
        if !type_facts::extends(&class).is_some_and(|base| base.is(&int)) {
            return Ok(None);
        }
        let Some(own) = facts::instance_dict(object) else { return Ok(None) };
        let value = int.getattr("__add__").and_then(|add| add.call1((object, 0))).map_err(|e| self.internal(&e))?;
        let value = self.fold(&value)?;
        let made = self.make_extended(&class, &int, &Args::positional(vec![value]))?;
        for (name, attribute) in own {
            let name: String = name.extract().map_err(|e| self.internal(&e))?;
            let attribute = self.fold(&attribute)?;
            self.set_by_object(made, &name, attribute)?;
        }
        Ok(Some(made))
    }
}

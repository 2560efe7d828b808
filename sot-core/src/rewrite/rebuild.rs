//! Code that builds the values that the simulation made, kind by kind.

use super::cells::{empty_cells, fill_cells};
use super::emit::{Callable, Emitter};
use crate::called_by_code;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use sot_opcodes::Op;
use sot_tracker::ObjectId;

/// A kind of which virtual values can be built.
trait Rebuild {
    /// Emit code that pushes the value of `me`, a virtual variable.
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop>;
}

impl Rebuild for VarKind {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        match self {
            VarKind::Constant(v) => v.rebuild(em, me),
            VarKind::Tensor(v) => v.rebuild(em, me),
            VarKind::Tuple(v) => v.rebuild(em, me),
            VarKind::List(v) => v.rebuild(em, me),
            VarKind::Dict(v) => v.rebuild(em, me),
            VarKind::Set(v) => v.rebuild(em, me),
            VarKind::Deque(v) => v.rebuild(em, me),
            VarKind::ByteArray(v) => v.rebuild(em, me),
            VarKind::View(v) => v.rebuild(em, me),
            VarKind::Slice(v) => v.rebuild(em, me),
            VarKind::Iterator(v) => v.rebuild(em, me),
            VarKind::Function(v) => v.rebuild(em, me),
            VarKind::Method(v) => v.rebuild(em, me),
            VarKind::Bound(v) => v.rebuild(em, me),
            VarKind::Builtin(v) => v.rebuild(em, me),
            VarKind::Native(v) => v.rebuild(em, me),
            VarKind::Class(v) => v.rebuild(em, me),
            VarKind::Module(v) => v.rebuild(em, me),
            VarKind::Layer(v) => v.rebuild(em, me),
            VarKind::Instance(v) => v.rebuild(em, me),
            VarKind::Super(v) => v.rebuild(em, me),
            VarKind::Cell(v) => v.rebuild(em, me),
            VarKind::Generator(v) => v.rebuild(em, me),
            VarKind::Exception(v) => v.rebuild(em, me),
            VarKind::Traceback(v) => v.rebuild(em, me),
            VarKind::Null(v) => v.rebuild(em, me),
            VarKind::Previous(_) => Err(Stop::fallback(Reason::Reconstruct, "what was handled before")),
        }
    }
}

impl Emitter<'_, '_> {
    /// Push the value of a virtual variable of this kind.
    pub(super) fn rebuild(&mut self, kind: &VarKind, me: VarId) -> Result<(), Stop> {
        match self.rings.contains(&me) {
            true => self.begin_ring(kind, me),
            false => kind.rebuild(self, me),
        }
    }

    /// The same, of what does not contain itself.
    pub(super) fn rebuild_at_once(&mut self, kind: &VarKind, me: VarId) -> Result<(), Stop> {
        kind.rebuild(self, me)
    }
}

impl Emitter<'_, '_> {
    /// Put entries into the dict on top, which is empty. Keys that code of the program has hashed are not asked again.
    pub(super) fn fill_hashed(&mut self, entries: &[(VarId, VarId)]) -> Result<(), Stop> {
        let count = entries.len() as u32;
        let dict = self.new_temp();
        self.store(dict);
        let fill = called_by_code::fill_hashed(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(fill));
        self.load(dict);
        for (key, _) in entries {
            self.push(*key)?;
        }
        self.emit(Op::BuildTuple(count));
        for (_, value) in entries {
            self.push(*value)?;
        }
        self.emit(Op::BuildTuple(count));
        for (key, _) in entries {
            match self.captured.hashes.get(key).copied() {
                Some(hash) => self.push_int(hash as i64)?,
                None => self.push_none(),
            }
        }
        self.emit(Op::BuildTuple(count));
        self.call(4);
        Ok(())
    }

    /// Push what a tuple holds, and how many that is.
    fn push_all_of(&mut self, tuple: VarId) -> Result<u32, Stop> {
        let VarKind::Tuple(tuple) = self.captured.var(tuple).kind.clone() else {
            return Err(Stop::fallback(Reason::InternalError, "arguments of an object"));
        };
        for item in tuple.items.iter() {
            self.push(*item)?;
        }
        Ok(tuple.items.len() as u32)
    }

    /// Whether code of the program has hashed a key of these.
    pub(super) fn are_hashed(&self, entries: &[(VarId, VarId)]) -> bool {
        entries.iter().any(|(key, _)| self.captured.hashes.contains_key(key))
    }
}

impl MadeFunction {
    /// Emit `types.FunctionType(code, globals, None, defaults, closure)`, and the parts that it does not take.
    fn rebuild_elsewhere(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        let cells = empty_cells(em, self.closure)?;
        let function_type = em.types_attribute("FunctionType")?;
        em.push_callable(function_type);
        em.push_object(self.code);
        em.push_object(self.globals);
        em.push_none();
        for part in [self.defaults, self.closure] {
            match part {
                Some(part) => em.push(part)?,
                None => em.push_none(),
            }
        }
        em.call(5);
        em.remember(me);
        if let Some(kwdefaults) = self.kwdefaults {
            em.push(kwdefaults)?;
            em.push(me)?;
            em.store_attr("__kwdefaults__");
        }
        if let Some(annotations) = self.annotations {
            match em.captured.var(annotations).kind.clone() {
                // From 3.10 on they are names and values in turn.
                VarKind::Tuple(pairs) => {
                    for item in pairs.items.iter() {
                        em.push(*item)?;
                    }
                    em.emit(Op::BuildMap(pairs.items.len() as u32 / 2));
                }
                _ => em.push(annotations)?,
            }
            em.push(me)?;
            em.store_attr("__annotations__");
        }
        if let Some(qualname) = self.qualname {
            em.push(qualname)?;
            em.push(me)?;
            em.store_attr("__qualname__");
        }
        fill_cells(em, &cells)?;
        em.set_attributes(me)?;
        em.push(me)
    }
}

/// `enumerate`, `zip`, `map` and `filter` ask what they are given for its iterator. That was done when the original was made, and an
/// iterator whose class is the program's, which would notice the second time, is what something else says.
fn push_inner(em: &mut Emitter<'_, '_>, inner: VarId) -> Result<(), Stop> {
    if matches!(&em.captured.var(inner).kind, VarKind::Instance(instance) if instance.of_program) {
        let given = crate::iterators::given_function(em.py).map_err(|e| Stop::internal(&e))?;
        em.push_callable(Callable::Object(given));
        em.push(inner)?;
        em.call(1);
        return Ok(());
    }
    em.push(inner)
}

impl Rebuild for BoundVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.push_own(self.receiver, &self.name)
    }
}

impl Rebuild for BuiltinVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.push_object(self.object);
        Ok(())
    }
}

impl Rebuild for NativeVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        if let (Native::Record | Native::Match, [maker, arguments @ ..]) = (self.native, &self.positional[..]) {
            em.push(*maker)?;
            return em.call_pushed(arguments);
        }
        if let (Native::Made | Native::Array, [maker, arguments, steps @ ..]) = (self.native, &self.positional[..]) {
            em.push(*maker)?;
            em.pushed_is_callable();
            let mut count = em.push_all_of(*arguments)?;
            for (_, value) in self.keywords.iter() {
                em.push(*value)?;
                count += 1;
            }
            let names: Vec<&str> = self.keywords.iter().map(|(name, _)| name.as_str()).collect();
            em.call_with_names(count, &names)?;
            if steps.is_empty() {
                return Ok(());
            }
            em.remember(me);
            for step in steps.chunks_exact(2) {
                em.push(step[0])?;
                em.pushed_is_callable();
                em.push(me)?;
                let count = 1 + em.push_all_of(step[1])?;
                em.call(count);
                em.emit(Op::PopTop);
            }
            return em.push(me);
        }
        if let (Native::Id, [of]) = (self.native, &self.positional[..]) {
            let id = em.builtins_attribute("id")?;
            em.push_callable(id);
            em.push(*of)?;
            em.call(1);
            return Ok(());
        }
        if let (Native::Proxy, [shown]) = (self.native, &self.positional[..])
            && matches!(em.captured.var(*shown).kind, VarKind::Class(_))
        {
            return em.push_own(*shown, "__dict__");
        }
        em.push_callable(self.class);
        match (self.native, &self.positional[..]) {
            (Native::Partial, [function, args, keywords]) => {
                em.push(*function)?;
                em.call(1);
                em.remember(me);
                // Its tuple and its dict are objects that the program may have.
                em.push(me)?;
                em.load_attr("__setstate__");
                em.pushed_is_callable();
                for part in [function, args, keywords] {
                    em.push(*part)?;
                }
                em.push_none();
                em.emit(Op::BuildTuple(4));
                em.call(1);
                em.emit(Op::PopTop);
                em.set_attributes(me)?;
                em.push(me)
            }
            (_, positional) => {
                for value in positional.iter().chain(self.keywords.iter().map(|(_, value)| value)) {
                    em.push(*value)?;
                }
                let names: Vec<&str> = self.keywords.iter().map(|(name, _)| name.as_str()).collect();
                em.call_with_names((positional.len() + names.len()) as u32, &names)
            }
        }
    }
}

impl Rebuild for CellVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        // Built empty first, so that a function that refers to itself through the cell can be built.
        let cell_type = em.cell_type()?;
        em.push_callable(cell_type);
        em.call(0);
        if let Some(content) = self.content {
            em.remember(me);
            em.push(content)?;
            em.push(me)?;
            em.store_attr("cell_contents");
            em.push(me)?;
        }
        Ok(())
    }
}

impl Rebuild for ClassVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        let Some(made) = &self.made else {
            em.push_object(self.object);
            return Ok(());
        };
        if let Some(before) = made.after {
            em.push(before)?;
            em.emit(Op::PopTop);
        }
        // What its functions refer to by cells may be the class.
        let mut cells = Vec::new();
        for (_, value) in &made.names {
            let functions = match em.captured.var(*value).kind.clone() {
                VarKind::Native(native) => native.positional.to_vec(),
                _ => vec![*value],
            };
            for function in functions {
                if let VarKind::Function(FunctionVar::Made(function)) = em.captured.var(function).kind.clone() {
                    cells.extend(empty_cells(em, function.closure)?);
                }
            }
        }
        if made.quiet {
            let quiet = called_by_code::quiet_class(em.py);
            em.push_callable(Callable::Object(quiet.map_err(|e| Stop::internal(&e))?));
        }
        em.push(made.metaclass)?;
        if !made.quiet {
            em.pushed_is_callable();
        }
        let names = made.names.iter().flat_map(|(name, value)| [*name, *value]);
        for part in [made.name, made.bases].into_iter().chain(names) {
            em.push(part)?;
        }
        em.emit(Op::BuildMap(made.names.len() as u32));
        em.call(3 + u32::from(made.quiet));
        em.remember(me);
        fill_cells(em, &cells)?;
        em.push(me)
    }
}

impl Rebuild for ConstantVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.push_object(self.object);
        Ok(())
    }
}

impl Rebuild for ExceptionVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        em.new_exception(self, me)
    }
}

impl Rebuild for FunctionVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        match self {
            FunctionVar::Object(object) => {
                em.push_object(*object);
                Ok(())
            }
            // MAKE_FUNCTION gives the globals of the running code.
            FunctionVar::Made(made) if Some(made.globals) != em.captured.entry_globals => {
                made.rebuild_elsewhere(em, me)
            }
            FunctionVar::Made(made) => {
                let cells = empty_cells(em, made.closure)?;
                let mut flags = 0;
                for (bit, part) in [(1, made.defaults), (2, made.kwdefaults), (4, made.annotations), (8, made.closure)]
                {
                    if let Some(part) = part {
                        flags |= bit;
                        em.push(part)?;
                    }
                }
                em.push_object(made.code);
                if let Some(qualname) = made.qualname {
                    em.push(qualname)?;
                }
                em.make_function(flags, made.qualname.is_some());
                let named = !em.captured.virtual_attributes(me).is_empty();
                if cells.is_empty() && !named {
                    return Ok(());
                }
                em.remember(me);
                fill_cells(em, &cells)?;
                em.set_attributes(me)?;
                em.push(me)
            }
        }
    }
}

impl Rebuild for GeneratorVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.new_generator(self)
    }
}

impl Rebuild for InstanceVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        em.new_instance(self.class, self.part, me)
    }
}

impl Rebuild for IteratorVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        match &self.state {
            Iteration::Dict { dict, what, backwards, index, seen, removed } => {
                leaves_to_its_base(em, *dict, &["__iter__", "__reversed__", "keys", "values", "items"])?;
                let VarKind::Dict(now) = em.captured.var(*dict).kind.clone() else {
                    return Err(Stop::fallback(Reason::Reconstruct, "an iterator over a view"));
                };
                if !now.same_keys(seen, *removed) {
                    return Err(Stop::fallback(Reason::Reconstruct, "an iterator over a dict that changed"));
                }
                let reversed = em.builtins_attribute("reversed")?;
                if *backwards {
                    em.push_callable(reversed);
                }
                match what {
                    ViewWhat::Keys => em.push(*dict)?,
                    ViewWhat::Values => em.call_method(*dict, "values", &[])?,
                    ViewWhat::Items => em.call_method(*dict, "items", &[])?,
                }
                match backwards {
                    true => em.call(1),
                    false => em.emit(Op::GetIter),
                }
                em.skip_items(*index)
            }
            Iteration::Set { set, start, given, used, .. } => {
                if used.is_none() || em.captured.state_of_set(*set).is_some_and(|state| state != *start) {
                    return Err(Stop::fallback(Reason::Reconstruct, "an iterator over a set that changed"));
                }
                em.push(*set)?;
                em.emit(Op::GetIter);
                em.skip_items(*given)
            }
            Iteration::Reversed { sequence, index } => {
                leaves_to_its_base(em, *sequence, &["__reversed__", "__len__", "__getitem__"])?;
                let length = match em.captured.var(*sequence).kind.clone() {
                    VarKind::Tuple(t) => t.items.len(),
                    VarKind::List(l) => l.items.len(),
                    _ => usize::MAX,
                };
                if *index > length {
                    return Err(Stop::fallback(Reason::Reconstruct, "a reversed iterator over a list that shrank"));
                }
                let reversed = em.builtins_attribute("reversed")?;
                em.push_callable(reversed);
                em.push(*sequence)?;
                em.call(1);
                em.set_iterator_state(*index as i64 - 1)
            }
            Iteration::Sequence { sequence, index } => {
                leaves_to_its_base(em, *sequence, &["__iter__"])?;
                em.push(*sequence)?;
                em.emit(Op::GetIter);
                match *index {
                    0 => Ok(()),
                    ENDED => em.skip_items(1),
                    index => em.set_iterator_state(index as i64),
                }
            }
            Iteration::Indexed { sequence: Some(sequence), index, backwards: true } => {
                let at = called_by_code::backwards_from(em.py).map_err(|e| Stop::internal(&e))?;
                em.push_callable(Callable::Object(at));
                em.push(*sequence)?;
                em.push_int(*index)?;
                em.call(2);
                Ok(())
            }
            Iteration::Indexed { sequence: None, backwards: true, .. } => {
                let callee = em.builtins_attribute("reversed")?;
                em.push_callable(callee);
                em.emit(Op::BuildTuple(0));
                em.call(1);
                em.skip_items(1)
            }
            Iteration::Indexed { sequence: Some(sequence), index, .. } => {
                em.push(*sequence)?;
                em.emit(Op::GetIter);
                if *index > 0 {
                    em.set_iterator_state(*index)?;
                }
                Ok(())
            }
            Iteration::Called { asked: Some((function, last)) } => {
                let callee = em.builtins_attribute("iter")?;
                em.push_callable(callee);
                em.push(*function)?;
                em.push(*last)?;
                em.call(2);
                Ok(())
            }
            Iteration::Indexed { sequence: None, .. } => push_made(em, called_by_code::ended_by_index),
            Iteration::Called { asked: None } => push_made(em, called_by_code::ended_calls),
            Iteration::Range { next, stop, step, taken } => {
                // No item was taken before the first.
                em.push_int_call("range", &[next.wrapping_sub(step.wrapping_mul(*taken)), *stop, *step])?;
                em.emit(Op::GetIter);
                match taken {
                    0 => Ok(()),
                    taken => em.set_iterator_state(*taken),
                }
            }
            Iteration::Enumerate { inner, count } => {
                let count = count.ok_or(Stop::fallback(Reason::Reconstruct, "an enumeration without a path"))?;
                let callee = em.builtins_attribute("enumerate")?;
                em.push_callable(callee);
                push_inner(em, *inner)?;
                em.push_int(count)?;
                em.call(2);
                Ok(())
            }
            Iteration::Zip { inners, strict } => {
                let mut callee = em.builtins_attribute("zip")?;
                if *strict {
                    let made = strict_zip(em.py).map_err(|e| Stop::internal(&e))?;
                    callee = Callable::Object(made);
                }
                em.push_callable(callee);
                for inner in inners {
                    push_inner(em, *inner)?;
                }
                em.call(inners.len() as u32);
                Ok(())
            }
            Iteration::Map { function, inners } => {
                let callee = em.builtins_attribute("map")?;
                em.push_callable(callee);
                em.push(*function)?;
                for inner in inners {
                    push_inner(em, *inner)?;
                }
                em.call(1 + inners.len() as u32);
                Ok(())
            }
            Iteration::Filter { function, inner } => {
                let callee = em.builtins_attribute("filter")?;
                em.push_callable(callee);
                em.push(*function)?;
                push_inner(em, *inner)?;
                em.call(2);
                Ok(())
            }
            Iteration::Exhausted => {
                em.emit(Op::BuildTuple(0));
                em.emit(Op::GetIter);
                Ok(())
            }
            Iteration::Tensor { tensor, index, .. } => {
                em.push(*tensor)?;
                em.emit(Op::GetIter);
                match index {
                    0 => Ok(()),
                    _ => em.set_iterator_state(*index as i64),
                }
            }
            Iteration::Real { .. } => Err(Stop::fallback(Reason::Reconstruct, "an iterator without a path")),
        }
    }
}

/// Refuse to make an iterator, or a view, of an instance whose class has a way of its own to make some.
fn leaves_to_its_base(em: &Emitter<'_, '_>, walked: VarId, methods: &[&str]) -> Result<(), Stop> {
    let Some(whole) = em.captured.whole_of(walked) else { return Ok(()) };
    let class = em.captured.known_class(em.py, whole).and_then(|class| class.cast_into::<PyType>().ok());
    let plain = class
        .is_some_and(|class| type_facts::extends(&class).is_some_and(|base| type_facts::agree(&class, &base, methods)));
    match plain {
        true => Ok(()),
        false => Err(Stop::fallback(Reason::Reconstruct, "an iterator over an instance")),
    }
}

/// What a function of rewritten code makes.
fn push_made<'py>(
    em: &mut Emitter<'_, 'py>,
    function: fn(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
) -> Result<(), Stop> {
    let function = function(em.py).map_err(|e| Stop::internal(&e))?;
    em.push_callable(Callable::Object(function));
    em.call(0);
    Ok(())
}

impl Rebuild for LayerVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.push_object(self.object);
        Ok(())
    }
}

impl Rebuild for DictVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        if let Some(owner) = self.owner {
            return em.push_own(owner, "__dict__");
        }
        if let Some(class) = self.class {
            em.push_callable(class);
        }
        if let Some(factory) = self.factory {
            em.push(factory)?;
        }
        let entries = self.entries_below();
        if em.are_hashed(&entries) {
            match self.class {
                Some(_) => em.call(self.factory.is_some().into()),
                None => em.emit(Op::BuildMap(0)),
            }
            em.fill_hashed(&entries)?;
            return em.arrange(self);
        }
        for (key, value) in entries.iter() {
            em.push(*key)?;
            em.push(*value)?;
        }
        em.emit(Op::BuildMap(entries.len() as u32));
        if self.class.is_some() {
            em.call(1 + u32::from(self.factory.is_some()));
        }
        em.arrange(self)
    }
}

impl Rebuild for SetVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.make_set(self.state)
    }
}

impl Rebuild for DequeVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        let deque = em.attribute_of("collections", "deque")?;
        em.push_callable(deque);
        for item in self.items.iter() {
            em.push(*item)?;
        }
        em.emit(Op::BuildList(self.items.len() as u32));
        match self.maxlen {
            Some(most) => em.push_int(most as i64)?,
            None => em.push_none(),
        }
        em.call(2);
        Ok(())
    }
}

impl Rebuild for ByteArrayVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        let class = em.builtins_attribute("bytearray")?;
        em.push_callable(class);
        let bytes = pyo3::types::PyBytes::new(em.py, &self.bytes);
        em.push_constant(bytes.as_any());
        em.call(1);
        Ok(())
    }
}

impl Rebuild for ViewVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        leaves_to_its_base(em, self.dict, &["keys", "values", "items"])?;
        let name = match self.what {
            ViewWhat::Keys => "keys",
            ViewWhat::Values => "values",
            ViewWhat::Items => "items",
        };
        em.call_method(self.dict, name, &[])
    }
}

impl Rebuild for MethodVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        if em.captured.binds_by_get(em.py, self.function) {
            // A method of C binds as another type of object.
            em.push(self.function)?;
            return em.bind_pushed(self.receiver);
        }
        let method_type = em.types_attribute("MethodType")?;
        em.push_callable(method_type);
        em.push(self.function)?;
        em.push(self.receiver)?;
        em.call(2);
        Ok(())
    }
}

impl Rebuild for ModuleVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.push_object(self.object);
        Ok(())
    }
}

impl Rebuild for NullVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        em.push_null();
        Ok(())
    }
}

impl Rebuild for TupleVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        match self.class {
            None => {
                for item in self.items.iter() {
                    em.push(*item)?;
                }
                em.emit(Op::BuildTuple(self.items.len() as u32));
            }
            Some(class) => {
                // A named tuple is made without its class's own `__new__`, which may be the program's.
                let named = tuple_new_of(em, class)?;
                let named_tuple = named.is_some();
                let count = self.items.len() as u32;
                match named {
                    Some(new) => {
                        em.push_callable(Callable::Object(new));
                        em.push_known_class(class)?;
                    }
                    None => em.push_class_to_call(class)?,
                }
                for item in self.items.iter() {
                    em.push(*item)?;
                }
                if named_tuple {
                    em.emit(Op::BuildTuple(count));
                }
                em.call(if named_tuple { 2 } else { count });
            }
        }
        Ok(())
    }
}

impl Rebuild for ListVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        if let Some(class) = self.class {
            return em.push_list_of_class(class, &self.items);
        }
        for item in self.items.iter() {
            em.push(*item)?;
        }
        em.emit(Op::BuildList(self.items.len() as u32));
        Ok(())
    }
}

impl Rebuild for SliceVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        for part in self.parts {
            em.push(part)?;
        }
        em.emit(Op::BuildSlice(3));
        Ok(())
    }
}

impl Rebuild for SuperVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        let super_type = em.builtins_attribute("super")?;
        em.push_callable(super_type);
        em.push(self.class)?;
        em.push(self.receiver)?;
        em.call(2);
        Ok(())
    }
}

impl Rebuild for TensorVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        match self.source {
            TensorSource::Computed { symbol, .. } => em.push_graph_output(symbol),
            TensorSource::Object(_) => {
                Err(Stop::fallback(Reason::Reconstruct, format!("tensor {me:?} without a path")))
            }
        }
    }
}

impl Rebuild for TracebackVar {
    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        if let VarKind::Exception(e) = &em.captured.var(self.exception).kind
            && !e.state.cuts[self.cuts..].iter().all(|kept| kept.is_some_and(|kept| kept >= self.passed))
        {
            return Err(Stop::fallback(Reason::Reconstruct, "a traceback that was cut"));
        }
        em.push(self.exception)?;
        em.pass_frames_now(self.exception)?;
        em.load_own(self.exception, "__traceback__")?;
        for _ in self.passed..em.captured.frames_passed(self.exception).len() {
            em.load_attr("tb_next");
        }
        Ok(())
    }
}

/// `tuple.__new__`, if this is the class of a named tuple.
fn tuple_new_of<'py>(em: &Emitter<'_, 'py>, class: ObjectId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
    let class = em.captured.objects.get(em.py, class);
    if !class.cast::<PyType>().is_ok_and(type_facts::is_named_tuple) {
        return Ok(None);
    }
    em.py.get_type::<PyTuple>().getattr("__new__").map(Some).map_err(|e| Stop::internal(&e))
}

/// `zip` that is given `strict=True` as well.
fn strict_zip(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let named = PyDict::new(py);
    named.set_item("strict", true)?;
    let zip = crate::cpython::builtin(py, "zip")?;
    crate::cpython::module(py, "functools")?.getattr("partial")?.call((zip,), Some(&named))
}

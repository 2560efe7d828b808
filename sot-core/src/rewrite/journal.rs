//! Side effects: the journal, replayed in program order on the real objects.

use super::emit::{Callable, Emitter};
use super::uses::{is_built_in, var};
use crate::backend::Mode;
use crate::called_by_code;
use crate::stop::Stop;
use crate::variables::VarId;
use pyo3::prelude::*;
use sot_opcodes::Op;
use sot_sideeffect::{Mutation, VarRef};
use sot_tracker::ObjectId;

/// Ambient modes while the journal is replayed.
#[derive(Default)]
struct Modes {
    /// Entries that nobody has seen yet.
    pending: Vec<(Mode, VarId)>,
    /// What the modes are that the code has set.
    real: Vec<(Mode, ObjectId)>,
}

impl<'py> Emitter<'_, 'py> {
    /// Tracebacks that entries of the journal hand on are whole from the first.
    pub(super) fn pass_exceptions(&mut self) -> Result<(), Stop> {
        for exception in self.captured.exceptions_passed() {
            self.to_pass.push(exception);
            self.pass_frames()?;
        }
        Ok(())
    }

    pub(super) fn replay_journal(&mut self) -> Result<(), Stop> {
        let entries: Vec<Mutation> = self.captured.journal.entries().iter().map(|e| e.mutation.clone()).collect();
        let mut modes = Modes::default();
        for (entry, mutation) in entries.into_iter().enumerate() {
            if is_built_in(self.captured, &mutation) {
                continue;
            }
            if let Mutation::SetMode { mode, value } = mutation {
                // Nobody sees a mode before the next thing happens.
                self.set_modes_if(&mut modes, self.lets_go(entry + 2))?;
                self.let_go(entry + 2)?;
                modes.pending.retain(|(pending, _)| *pending != mode);
                modes.pending.push((mode, var(value)));
                continue;
            }
            self.set_modes_if(&mut modes, true)?;
            self.let_go(entry + 2)?;
            let dropping = self.captured.dropping(entry);
            let before = self.location();
            if let Some(dropping) = dropping {
                self.tell(dropping.handled)?;
                self.set_location(dropping.at.unwrap_or(before));
            }
            let deleted = match mutation {
                Mutation::DeleteHashed { found, .. } => Some(var(found)),
                _ => None,
            };
            self.replay(mutation)?;
            if let Some(key) = deleted {
                // The value is on the stack: it goes after the key.
                self.let_go_of(key, entry + 3)?;
                if let Some(dropping) = dropping {
                    self.tell(dropping.handled)?;
                }
                self.emit(Op::PopTop);
            }
            self.set_location(before);
        }
        self.set_modes_if(&mut modes, true)
    }

    /// Make the modes what they have become, if somebody is about to see them.
    fn set_modes_if(&mut self, modes: &mut Modes, seen: bool) -> Result<(), Stop> {
        if !seen {
            return Ok(());
        }
        for (mode, value) in std::mem::take(&mut modes.pending) {
            let object = self.captured.mode_value(value);
            let known = modes.real.iter().position(|(known, _)| *known == mode);
            let real = known.map_or_else(|| self.captured.mode_at_entry(mode), |at| Some(modes.real[at].1));
            if real == Some(object) {
                continue;
            }
            let set = called_by_code::set_mode(self.py, mode).map_err(|e| Stop::internal(&e))?;
            self.call_for_effect(set, value)?;
            match known {
                Some(at) => modes.real[at].1 = object,
                None => modes.real.push((mode, object)),
            }
        }
        Ok(())
    }

    /// Containers whose `repr` the simulation has begun are being written for real, too, from here on.
    pub(super) fn begin_writing(&mut self) -> Result<(), Stop> {
        for container in self.captured.writing.clone() {
            let begin = called_by_code::begin_writing(self.py).map_err(|e| Stop::internal(&e))?;
            self.call_for_effect(begin, container)?;
        }
        Ok(())
    }

    fn call_for_effect(&mut self, function: Bound<'py, PyAny>, argument: VarId) -> Result<(), Stop> {
        self.push_callable(Callable::Object(function));
        self.push(argument)?;
        self.call(1);
        self.emit(Op::PopTop);
        Ok(())
    }

    fn method(&mut self, object: VarRef, name: &str, args: &[VarRef]) -> Result<(), Stop> {
        let before = self.push_method(object, name)?;
        for arg in args {
            self.push(var(*arg))?;
        }
        self.end_method(before + args.len() as u32);
        Ok(())
    }

    /// Push a method, and how many of its arguments that came to. What an instance keeps as one of the builtin type that its class
    /// extends is written to by the methods of the type: the class may have others.
    fn push_method(&mut self, object: VarRef, name: &str) -> Result<u32, Stop> {
        if let Some(base) = self.type_of_part(var(object))? {
            let method = base.getattr(name).map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(method));
            self.push(var(object))?;
            return Ok(1);
        }
        self.push(var(object))?;
        self.load_attr(name);
        self.pushed_is_callable();
        Ok(0)
    }

    fn end_method(&mut self, arguments: u32) {
        self.call(arguments);
        self.emit(Op::PopTop);
    }

    fn is_part(&self, object: VarRef) -> bool {
        self.captured.whole_of(var(object)).is_some()
    }

    fn replay(&mut self, mutation: Mutation) -> Result<(), Stop> {
        match mutation {
            Mutation::SetAttr { object, name, value } => {
                self.set_attribute(var(object), &name, var(value))?;
            }
            Mutation::DelAttr { object, name, by_dict: false } => self.delete_attribute(var(object), &name)?,
            Mutation::SetInDict { object, name, value } => self.set_in_dict(var(object), &name, var(value))?,
            Mutation::DelAttr { object, name, .. } | Mutation::DelInDict { object, name } => {
                self.push_own(var(object), "__dict__")?;
                self.push_constant(pyo3::types::PyString::intern(self.py, &name).as_any());
                self.emit(Op::DeleteSubscr);
            }
            Mutation::SetItem { object, key, value } if self.is_part(object) => {
                self.method(object, "__setitem__", &[key, value])?;
            }
            Mutation::DelItem { object, key } | Mutation::DictPop { object, key } if self.is_part(object) => {
                self.method(object, "__delitem__", &[key])?;
            }
            Mutation::SetItem { object, key, value } => {
                self.push(var(value))?;
                self.push(var(object))?;
                self.push(var(key))?;
                self.emit(Op::StoreSubscr);
            }
            Mutation::DelItem { object, key } => {
                self.push(var(object))?;
                self.push(var(key))?;
                self.emit(Op::DeleteSubscr);
            }
            Mutation::SetGlobal { globals, name, value } => {
                self.push(var(value))?;
                if Some(globals) == self.captured.entry_globals {
                    let name = self.b.name(&name);
                    self.emit(Op::StoreGlobal(name));
                } else {
                    self.push_object(globals);
                    let name = pyo3::types::PyString::intern(self.py, &name).into_any();
                    self.push_constant(&name);
                    self.emit(Op::StoreSubscr);
                }
            }
            Mutation::DelGlobal { globals, name } if Some(globals) == self.captured.entry_globals => {
                let name = self.b.name(&name);
                self.emit(Op::DeleteGlobal(name));
            }
            Mutation::DelGlobal { globals, name } => {
                self.push_object(globals);
                let name = pyo3::types::PyString::intern(self.py, &name).into_any();
                self.push_constant(&name);
                self.emit(Op::DeleteSubscr);
            }
            Mutation::SetCell { cell, value } => {
                self.push(var(value))?;
                self.push(var(cell))?;
                self.store_attr("cell_contents");
            }
            Mutation::ClearCell { cell } => {
                self.push(var(cell))?;
                let name = self.b.name("cell_contents");
                self.emit(Op::DeleteAttr(name));
            }
            Mutation::ListAppend { object, value } => self.method(object, "append", &[value])?,
            Mutation::ListInsert { object, index, value } => {
                let before = self.push_method(object, "insert")?;
                self.push_int(index)?;
                self.push(var(value))?;
                self.end_method(before + 2);
            }
            Mutation::ListPop { object, index } if self.is_part(object) => {
                let before = self.push_method(object, "__delitem__")?;
                self.push_int(index)?;
                self.end_method(before + 1);
            }
            Mutation::ListPop { object, index } => {
                self.push(var(object))?;
                self.push_int(index)?;
                self.emit(Op::DeleteSubscr);
            }
            Mutation::ListExtend { object, values } => {
                let before = self.push_method(object, "extend")?;
                for value in &values {
                    self.push(var(*value))?;
                }
                self.emit(Op::BuildList(values.len() as u32));
                self.end_method(before + 1);
            }
            Mutation::ListClear { object } | Mutation::DictClear { object } => {
                self.method(object, "clear", &[])?;
            }
            Mutation::ListReverse { object } => self.method(object, "reverse", &[])?,
            Mutation::DictPop { object, key } => {
                self.push(var(object))?;
                self.push(var(key))?;
                self.emit(Op::DeleteSubscr);
            }
            Mutation::StoreHashed { object, key, hash, value, found } => {
                let store = called_by_code::store_hashed(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(store));
                self.push(var(object))?;
                self.push(var(found.unwrap_or(key)))?;
                self.push_int(hash)?;
                self.push(var(value))?;
                self.push_int(found.is_some().into())?;
                self.call(5);
                self.emit(Op::PopTop);
            }
            Mutation::DeleteHashed { object, found, hash } => {
                let delete = called_by_code::delete_hashed(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(delete));
                self.push(var(object))?;
                self.push(var(found))?;
                self.push_int(hash)?;
                self.call(3);
            }
            Mutation::MoveHashed { object, found, last } => {
                let shift = called_by_code::move_hashed(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(shift));
                self.push(var(object))?;
                self.push(var(found))?;
                self.push_int(last.into())?;
                self.call(3);
                self.emit(Op::PopTop);
            }
            Mutation::Answered { object, name, args, answers, cut } => {
                self.begin_answered(&name)?;
                self.push(var(object))?;
                for arg in &args {
                    self.push(var(*arg))?;
                }
                self.end_answered(1 + args.len() as u32, &answers, cut)?;
                self.emit(Op::PopTop);
            }
            Mutation::Method { object, name, args } => self.method(object, &name, &args)?,
            Mutation::IterAdvance { iterator, item } => {
                let next = self.builtins_attribute("next")?;
                self.push_callable(next);
                self.push(var(iterator))?;
                if item.is_none() {
                    self.push_none();
                }
                self.call(1 + u32::from(item.is_none()));
                // What the iterator runs over may go before the item does, which a frame holds.
                let ends = |item: &VarId| self.lifetimes.hold_watched(self.captured, *item);
                match item.map(var).filter(ends).filter(|item| !self.temps.contains_key(item)) {
                    Some(item) => {
                        let local = self.new_temp();
                        self.store(local);
                        self.bind(item, local);
                    }
                    None => self.emit(Op::PopTop),
                }
            }
            Mutation::Written { object } => {
                let end = called_by_code::end_writing(self.py).map_err(|e| Stop::internal(&e))?;
                self.call_for_effect(end, var(object))?;
            }
            Mutation::ClassMade { class } => {
                self.push(var(class))?;
                self.emit(Op::PopTop);
            }
            Mutation::SetMode { .. } => unreachable!("set where somebody sees it"),
        }
        Ok(())
    }
}

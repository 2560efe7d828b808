//! Code that follows a tracker's path.

use super::emit::{Callable, Emitter};
use crate::called_by_code;
use crate::captured::PlainLookup;
use crate::iterators::{ahead_function, peek_function, source_function};
use crate::numbers;
use crate::stop::{Reason, Stop};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{Cell, Local, Op};
use sot_tracker::{Access, Arithmetic, Tracker, TrackerId};

impl Emitter<'_, '_> {
    /// Push the value that a path leads to.
    pub(super) fn push_path(&mut self, tracker: TrackerId) -> Result<(), Stop> {
        if let Some(said) = self.said.get(&tracker) {
            self.load(*said);
            return Ok(());
        }
        match self.captured.trackers.get(tracker).clone() {
            Tracker::Root(access) => self.push_root(&access),
            Tracker::Step { base, access } => self.push_step(base, &access),
            Tracker::Arithmetic { op, left, right } => self.push_arithmetic(op, left, right),
            Tracker::Computed => Err(Stop::fallback(Reason::Reconstruct, "a path that cannot be followed by code")),
        }
    }

    fn push_root(&mut self, access: &Access) -> Result<(), Stop> {
        match access {
            Access::Slot(slot) => match (*slot as usize).checked_sub(self.arguments) {
                None => self.load(Local(*slot)),
                Some(cell) => self.emit(Op::LoadClosure(Cell(cell as u32))),
            },
            Access::Constant(object) => self.push_object(*object),
            _ => return Err(Stop::fallback(Reason::Reconstruct, "a path that does not start at a slot or a constant")),
        }
        Ok(())
    }

    fn push_step(&mut self, base: TrackerId, access: &Access) -> Result<(), Stop> {
        match access {
            Access::Attr(name) => self.push_attribute(base, name)?,
            Access::InstanceDict if self.captured.overridden.contains_key(&base) => {
                let dict = called_by_code::instance_dict(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(dict));
                self.push_path(base)?;
                self.call(1);
            }
            Access::InstanceDict => self.push_attribute(base, "__dict__")?,
            Access::DictItem(key) => {
                self.push_items_of(base)?;
                self.push_object(*key);
                self.subscript(base);
            }
            Access::SeqItem(index) => {
                self.push_items_of(base)?;
                self.push_int(*index)?;
                self.subscript(base);
            }
            Access::CellContent => {
                self.push_path(base)?;
                self.load_attr("cell_contents");
            }
            Access::FunctionPart(part) => {
                self.push_path(base)?;
                self.load_attr(part.as_str());
            }
            Access::MethodSelf => {
                self.push_path(base)?;
                self.load_attr("__self__");
            }
            Access::MethodFunction => {
                self.push_path(base)?;
                self.load_attr("__func__");
            }
            Access::TypeOf => {
                let callee = self.builtins_attribute("type")?;
                self.push_callable(callee);
                self.push_path(base)?;
                self.call(1);
            }
            Access::IterPeek => {
                let peek = peek_function(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(peek));
                self.push_path(base)?;
                self.call(1);
            }
            Access::IterAhead(taken) => {
                let ahead = ahead_function(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(ahead));
                self.push_path(base)?;
                self.push_int((*taken).into())?;
                self.call(2);
            }
            Access::IterSource => {
                let source = source_function(self.py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(source));
                self.push_path(base)?;
                self.call(1);
            }
            Access::DictKey(index) | Access::DictValue(index) => {
                let at = if matches!(access, Access::DictKey(_)) {
                    called_by_code::key_at(self.py)
                } else {
                    called_by_code::value_at(self.py)
                };
                self.push_callable(Callable::Object(at.map_err(|e| Stop::internal(&e))?));
                self.push_path(base)?;
                self.push_int((*index).into())?;
                self.call(2);
            }
            Access::Slot(_) | Access::Constant(_) | Access::Arithmetic(_) | Access::IterOver | Access::IterUnder(_) => {
                return Err(Stop::fallback(Reason::Reconstruct, "a root in the middle of a path"));
            }
        }
        Ok(())
    }

    fn push_arithmetic(&mut self, op: Arithmetic, left: TrackerId, right: Option<TrackerId>) -> Result<(), Stop> {
        let code = numbers::instruction(op);
        if code.is_none() {
            // What builtins are called is the program's affair.
            let computes = called_by_code::computes(self.py, op).map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(computes));
        }
        self.push_path(left)?;
        if let Some(right) = right {
            self.push_path(right)?;
        }
        match code {
            Some(code) => self.emit(code),
            None => self.call(if right.is_some() { 2 } else { 1 }),
        }
        Ok(())
    }

    /// Push what has the items, behind the method that reads them if its class may have one of its own.
    fn push_items_of(&mut self, base: TrackerId) -> Result<(), Stop> {
        if let Some(extended) = self.captured.extending.get(&base) {
            let extended = self.captured.objects.get(self.py, *extended);
            let read = extended.getattr("__getitem__").map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(read));
        }
        self.push_path(base)
    }

    /// The item of what was pushed so, and its key or index.
    fn subscript(&mut self, base: TrackerId) {
        match self.captured.extending.contains_key(&base) {
            true => self.call(2),
            false => self.emit(Op::BinarySubscr),
        }
    }

    /// What `object.__getattribute__`, or that of `type`, gives, which any other is not asked for.
    fn push_attribute(&mut self, base: TrackerId, name: &str) -> Result<(), Stop> {
        let Some(&lookup) = self.captured.overridden.get(&base) else {
            self.push_path(base)?;
            self.load_attr(name);
            return Ok(());
        };
        self.ask_plainly(lookup, name, |em| em.push_path(base))
    }

    /// `object.__getattribute__(owner, name)`, or that of `type`, of what is pushed for the owner.
    pub(super) fn ask_plainly(
        &mut self,
        lookup: PlainLookup,
        name: &str,
        push_owner: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let asked = match lookup {
            PlainLookup::OfObject => self.py.get_type::<PyAny>(),
            PlainLookup::OfType => self.py.get_type::<PyType>(),
        };
        let plain = asked.getattr("__getattribute__").map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(plain));
        push_owner(self)?;
        self.push_constant(PyString::intern(self.py, name).as_any());
        self.call(2);
        Ok(())
    }
}

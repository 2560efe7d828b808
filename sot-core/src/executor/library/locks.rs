//! Locks of C that were there before the frame.
//!
//! Where there are no other threads nobody waits for a lock, and nobody sees when it is taken: that is entered in the journal, so that
//! a lock is held at a break within the block as it is in the program. With other threads it is a break: what a lock keeps apart would
//! happen outside of it.

use super::Executor;
use crate::locks::{self, Lock};
use crate::stop::Stop;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::Access;

/// What becomes of a lock.
pub(in crate::executor) enum Taking {
    /// It is taken, or another time.
    Taken,
    /// It is not: somebody has it.
    Refused,
    Released,
    /// Whether it is held.
    Held(bool),
}

impl<'py> Executor<'py> {
    /// What a method of a lock does that is held so often; `None`: it waits, or raises, or is not known.
    pub(in crate::executor) fn taking(
        &mut self,
        lock: Lock,
        count: i64,
        name: &str,
        args: &Args,
    ) -> Result<Option<Taking>, Stop> {
        let nothing_given = args.positional.is_empty() && args.keywords.is_empty();
        Ok(match name {
            "acquire" | "__enter__" => {
                let mut waits = true;
                let given = args.positional.iter().map(|value| ("blocking", *value));
                let given: Vec<(&str, VarId)> =
                    given.chain(args.keywords.iter().map(|(name, value)| (name.as_str(), *value))).collect();
                match given[..] {
                    [] => {}
                    [("blocking", value)] if name == "acquire" => match self.constant_int(value) {
                        Some(blocking) => waits = blocking != 0,
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                }
                match lock {
                    Lock::Recursive if count >= 0 => Some(Taking::Taken),
                    Lock::Plain if count == 0 => Some(Taking::Taken),
                    _ if waits => None,
                    _ => Some(Taking::Refused),
                }
            }
            "__exit__" if count > 0 && args.keywords.is_empty() => Some(Taking::Released),
            "release" if count > 0 && nothing_given => Some(Taking::Released),
            "locked" if lock == Lock::Plain && nothing_given => Some(Taking::Held(count > 0)),
            "_is_owned" if lock == Lock::Recursive && nothing_given => Some(Taking::Held(count > 0)),
            _ => None,
        })
    }

    /// `lock.name(*args)`; `None`: it is no lock from before the frame, or the call is left to Python.
    pub(in crate::executor) fn method_of_lock(
        &mut self,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let VarKind::Instance(InstanceVar { object: Some(object), class, part: None, .. }) = self.look(me)? else {
            return Ok(None);
        };
        let class = self.objects.get(self.py, class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let Some(lock) = locks::lock(&class) else { return Ok(None) };
        self.has_no_threads_beside()?;
        let object = self.objects.get(self.py, object);
        let Some(held) = locks::held(&object) else { return Ok(None) };
        let base = self.base_tracker(me);
        let at = self.trackers.step(base, Access::IterSource);
        let held = self.wrap(&held, at);
        let Some(mut count) = self.constant_int(held) else { return Ok(None) };
        let target = Target::Object(Self::var_ref(me));
        for entry in self.journal.changes_of(target) {
            match &entry.mutation {
                Mutation::Method { name, .. } if name == "acquire" => count += 1,
                Mutation::Method { name, .. } if name == "release" => count -= 1,
                _ => return Ok(None),
            }
        }
        let Some(taking) = self.taking(lock, count, name, args)? else { return Ok(None) };
        let change = |ex: &mut Self, name: &str| {
            let object = Self::var_ref(me);
            ex.journal_record(Mutation::Method { object, name: name.to_owned(), args: Vec::new() });
        };
        let result = match taking {
            Taking::Taken => {
                change(self, "acquire");
                self.fold_bool(true)?
            }
            Taking::Refused => self.fold_bool(false)?,
            Taking::Released => {
                change(self, "release");
                self.fold_none()?
            }
            Taking::Held(held) => self.fold_bool(held)?,
        };
        Ok(Some(Called::Value(result)))
    }

    /// Whether special methods of C are simulated for a value.
    pub(in crate::executor) fn is_simulated_object(&mut self, value: VarId) -> Result<bool, Stop> {
        Ok(match self.look(value)? {
            VarKind::Native(native) => native.native == crate::natives::Native::Made,
            VarKind::Instance(InstanceVar { object: Some(_), class, part: None, .. }) => {
                let class = self.objects.get_ref(self.py, class);
                // Who waits for it breaks where it is asked.
                class.cast::<PyType>().is_ok_and(|class| locks::lock(class).is_some()) && self.could_be_alone()
            }
            _ => false,
        })
    }

    fn could_be_alone(&self) -> bool {
        self.alone || crate::cpython::thread::is_alone(self.py)
    }

    /// Whether values of a class are locks.
    pub(in crate::executor) fn is_lock(&self, class: &Bound<'py, PyAny>) -> bool {
        class.cast::<PyType>().is_ok_and(|class| locks::lock(class).is_some())
    }
}

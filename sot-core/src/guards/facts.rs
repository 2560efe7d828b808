//! Facts that hang off constant objects, a stamp per container.

use super::equality::equals;
use super::missing;
use crate::cpython::facts::{DictStamp, FunctionStamp, TypeStamp, instance_dict, type_lookup};
use crate::executor::{Executor, Snapshot};
use crate::stop::Stop;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Check, ObjectId};

enum ItemCheck {
    Is(Py<PyAny>),
    TypeIs(Py<PyAny>),
    Equals(Py<PyAny>),
    Lacks,
}

struct DictFact {
    id: ObjectId,
    stamp: DictStamp,
    /// The object whose instance dict it must still be.
    owner: Option<Py<PyAny>>,
    items: Vec<(Py<PyAny>, ItemCheck)>,
}

struct TypeFact {
    id: ObjectId,
    stamp: TypeStamp,
    lookups: Vec<(Py<PyString>, Option<Py<PyAny>>)>,
}

struct SnapshotFact {
    stamp: DictStamp,
    copy: Py<PyDict>,
}

/// All facts of one cache entry.
#[derive(Default)]
pub(super) struct Facts {
    dicts: Vec<DictFact>,
    types: Vec<TypeFact>,
    functions: Vec<(ObjectId, FunctionStamp)>,
    snapshots: Vec<SnapshotFact>,
}

impl Facts {
    pub(super) fn add_dict(
        &mut self,
        ex: &Executor<'_>,
        dict: ObjectId,
        owner: Option<ObjectId>,
        key: ObjectId,
        check: &Check,
    ) -> Result<(), Stop> {
        let py = ex.py;
        let object = |id: &ObjectId| ex.objects.get(py, *id).unbind();
        let item = match check {
            Check::Is(o) => ItemCheck::Is(object(o)),
            Check::TypeIs(o) => ItemCheck::TypeIs(object(o)),
            Check::Equals(o) => ItemCheck::Equals(object(o)),
            Check::Lacks(_) => ItemCheck::Lacks,
            _ => return Err(missing("a dict fact")),
        };
        let at = match self.dicts.iter().rposition(|d| d.id == dict) {
            Some(at) => at,
            None => {
                let held = ex.objects.get(py, dict);
                let held = held.cast::<PyDict>().map_err(|_| missing("a dict"))?;
                let owner = owner.map(|o| object(&o));
                self.dicts.push(DictFact { id: dict, stamp: DictStamp::new(held), owner, items: Vec::new() });
                self.dicts.len() - 1
            }
        };
        let fact = &mut self.dicts[at];
        if fact.owner.is_none() {
            fact.owner = owner.map(|o| object(&o));
        }
        fact.items.push((object(&key), item));
        Ok(())
    }

    pub(super) fn add_type(&mut self, ex: &Executor<'_>, class: ObjectId, check: &Check) -> Result<(), Stop> {
        let Check::ClassLookup { name, found } = check else { return Err(missing("a class look-up")) };
        let py = ex.py;
        let at = match self.types.iter().rposition(|t| t.id == class) {
            Some(at) => at,
            None => {
                let ty = ex.objects.get(py, class);
                let ty = ty.cast::<PyType>().map_err(|_| missing("a class"))?;
                self.types.push(TypeFact { id: class, stamp: TypeStamp::new(ty), lookups: Vec::new() });
                self.types.len() - 1
            }
        };
        let found = found.map(|f| ex.objects.get(py, f).unbind());
        self.types[at].lookups.push((PyString::intern(py, name).unbind(), found));
        Ok(())
    }

    pub(super) fn add_function(&mut self, ex: &Executor<'_>, function: ObjectId) -> Result<(), Stop> {
        if !self.functions.iter().any(|f| f.0 == function) {
            let object = ex.objects.get(ex.py, function);
            let stamp = FunctionStamp::new(&object).ok_or_else(|| missing("a function"))?;
            self.functions.push((function, stamp));
        }
        Ok(())
    }

    pub(super) fn add_snapshot(&mut self, ex: &Executor<'_>, snapshot: &Snapshot) -> Result<(), Stop> {
        let dict = ex.objects.get(ex.py, snapshot.dict);
        let dict = dict.cast::<PyDict>().map_err(|_| missing("a dict"))?;
        let fact = SnapshotFact { stamp: DictStamp::new(dict), copy: snapshot.copy.clone_ref(ex.py) };
        self.snapshots.push(fact);
        Ok(())
    }

    /// Whether all facts hold; renews stale stamps whose facts do.
    pub(super) fn check(&mut self, py: Python<'_>) -> bool {
        self.functions.iter().all(|(_, stamp)| stamp.fresh())
            && self.dicts.iter_mut().all(|d| d.check(py))
            && self.types.iter_mut().all(|t| t.stamp.fresh() || t.recheck(py))
            && self.snapshots.iter_mut().all(|s| s.stamp.fresh() || s.recheck(py))
    }
}

impl Facts {
    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for fact in &self.dicts {
            fact.stamp.traverse(visit);
            fact.owner.iter().for_each(&mut *visit);
            for (key, check) in &fact.items {
                visit(key);
                match check {
                    ItemCheck::Is(object) | ItemCheck::TypeIs(object) | ItemCheck::Equals(object) => visit(object),
                    ItemCheck::Lacks => {}
                }
            }
        }
        for fact in &self.types {
            fact.stamp.traverse(visit);
            for (name, found) in &fact.lookups {
                visit(name.as_any());
                found.iter().for_each(&mut *visit);
            }
        }
        for (_, stamp) in &self.functions {
            stamp.traverse(visit);
        }
        for fact in &self.snapshots {
            fact.stamp.traverse(visit);
            visit(fact.copy.as_any());
        }
    }
}

impl DictFact {
    #[inline]
    fn check(&mut self, py: Python<'_>) -> bool {
        if let Some(owner) = &self.owner
            && !instance_dict(owner.bind(py)).is_some_and(|d| d.is(self.stamp.dict()))
        {
            return false;
        }
        self.stamp.fresh() || self.recheck(py)
    }

    #[cold]
    fn recheck(&mut self, py: Python<'_>) -> bool {
        let dict = self.stamp.dict().bind(py);
        let holds = self.items.iter().all(|(key, check)| {
            let Ok(value) = dict.get_item(key) else { return false };
            match (check, value) {
                (ItemCheck::Lacks, value) => value.is_none(),
                (_, None) => false,
                (ItemCheck::Is(expected), Some(value)) => value.is(expected),
                (ItemCheck::TypeIs(expected), Some(value)) => value.get_type().is(expected),
                (ItemCheck::Equals(expected), Some(value)) => equals(&value, expected.bind(py)),
            }
        });
        if holds {
            self.stamp.refresh();
        }
        holds
    }
}

impl TypeFact {
    #[cold]
    fn recheck(&mut self, py: Python<'_>) -> bool {
        let ty = self.stamp.ty().bind(py);
        let holds = self.lookups.iter().all(|(name, found)| match (type_lookup(ty, name.bind(py)), found) {
            (Some(now), Some(found)) => now.is(found),
            (None, None) => true,
            _ => false,
        });
        if holds {
            self.stamp.refresh(py);
        }
        holds
    }
}

impl SnapshotFact {
    #[cold]
    fn recheck(&mut self, py: Python<'_>) -> bool {
        let now = self.stamp.dict().bind(py);
        let then = self.copy.bind(py);
        let holds = now.len() == then.len()
            && then.iter().zip(now.iter()).all(|((key_then, value_then), (key_now, value_now))| {
                equals(&key_now, &key_then) && equals(&value_now, &value_then)
            });
        if holds {
            self.stamp.refresh();
        }
        holds
    }
}

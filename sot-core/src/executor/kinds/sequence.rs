//! Tuples and lists, subclasses without behaviour of their own included (named tuples, a framework's shapes).
//!
//! The items of a sourced sequence are wrapped when it is looked at: its length is guarded then, and each item by
//! the path `sequence[i]` when it is itself looked at.

use super::*;
use crate::called_by_code::filled;
use crate::type_facts;
use pyo3::exceptions::PyIndexError;
use pyo3::types::{PyList, PySlice, PyTuple};

/// `items[key]` for a constant int or slice key.
pub(in crate::executor) enum Picked {
    One(VarId),
    /// Items, and whether they are all there are, in order.
    Many(Vec<VarId>, bool),
}

pub(in crate::executor) fn pick(
    ex: &mut Executor<'_>,
    what: &str,
    items: &[VarId],
    key: VarId,
) -> Result<Picked, Stop> {
    if let Some(index) = ex.index_value(key)? {
        let length = items.len() as i64;
        let at = if index < 0 { index + length } else { index };
        return match usize::try_from(at).ok().and_then(|at| items.get(at)) {
            Some(item) => Ok(Picked::One(*item)),
            None => Err(ex.raise_error::<PyIndexError>(&format!("{what} index out of range"))),
        };
    }
    if matches!(ex.var(key).kind, VarKind::Slice(_)) {
        let slice = ex.require_plain(key)?;
        if let Ok(slice) = slice.cast::<PySlice>() {
            let i = slice.indices(items.len() as isize).map_err(|e| ex.would_raise(&e))?;
            let mut at = i.start;
            let mut out = Vec::with_capacity(i.slicelength);
            for _ in 0..i.slicelength {
                out.push(items[at as usize]);
                // Behind the last item it may be anywhere.
                at = at.wrapping_add(i.step);
            }
            return Ok(Picked::Many(out, i.step == 1 && i.slicelength == items.len()));
        }
    }
    Err(ex.no_index(what, key)?)
}

impl Operations for TupleVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(match self.class {
            Some(class) => ex.objects.get(ex.py, class),
            None => ex.py.get_type::<PyTuple>().into_any(),
        })
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        let _ = new;
        ex.refuse_write_to_tuple(me, name, true)?;
        Err(Stop::brk(Reason::Mutation, format!("attribute of {}", self.kind_name())))
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(!self.items.is_empty())
    }

    fn length(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        Ok(self.items.len())
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if let Some(class) = self.class {
            let class = ex.objects.get(ex.py, class);
            if let Some(index) = ex.namedtuple_field(&class, name)? {
                let item = self.items.get(index).copied();
                return item.map(Some).ok_or(Stop::brk(Reason::WouldRaise, name));
            }
            let object = ex.known_object(me).map(|o| ex.objects.get(ex.py, o));
            return ex.attribute_of_instance(me, object.as_ref(), &class, name);
        }
        ex.attribute_of_builtin(me, name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        Ok(match pick(ex, "tuple", &self.items, key)? {
            Picked::One(item) => item,
            // All of a tuple, in order, is the tuple.
            Picked::Many(_, true) if self.class.is_none() => me,
            Picked::Many(items, _) => ex.virtual_var(TupleVar::new(items)),
        })
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        Ok(ex.virtual_var(IteratorVar::new(Iteration::Sequence { sequence: me, index: 0 })))
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let mut items = Vec::with_capacity(self.items.len());
        for item in self.items.iter() {
            items.push(ex.argument(*item)?);
        }
        let tuple = PyTuple::new(ex.py, items).map_err(|e| ex.internal(&e))?;
        match self.class {
            None => Ok(tuple.into_any()),
            Some(class) => ex.rebuild_tuple_class(class, &tuple),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(class) = self.class {
            // It is read as a tuple as long as its class leaves that to tuples.
            let class = ex.objects.get(ex.py, class);
            for name in type_facts::OF_TUPLES {
                ex.class_lookup(&class, name)?;
            }
        }
        if let Some(object) = ex.known_object(me) {
            ex.look_sequence(me, at.tracker, object, at.given, at.pinned);
        }
        Ok(())
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(self.class.is_none().then(|| self.items.to_vec()))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let index = ex.length(me)?;
        Ok(ex.virtual_var(IteratorVar::new(Iteration::Reversed { sequence: me, index })))
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.constant_method(me, name, args).map(Called::Value)
    }
}

impl Operations for ListVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(match self.class {
            Some(class) => ex.objects.get(ex.py, class),
            None => ex.py.get_type::<PyList>().into_any(),
        })
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(!self.items.is_empty())
    }

    fn length(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        Ok(self.items.len())
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_builtin(me, name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        if self.class.is_some() {
            if let Some(found) = ex.part_of_shape(&self.items, self.class, key)? {
                return Ok(found);
            }
            // What a slice of a subclass is, is for the subclass to say.
            let getitem = ex.operator("getitem")?;
            return ex.fold_call(&getitem, &Args::positional(vec![me, key]));
        }
        Ok(match pick(ex, "list", &self.items, key)? {
            Picked::One(item) => item,
            Picked::Many(items, _) => ex.virtual_var(ListVar::new(items)),
        })
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        Ok(ex.virtual_var(IteratorVar::new(Iteration::Sequence { sequence: me, index: 0 })))
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let mut items = Vec::with_capacity(self.items.len());
        for item in self.items.iter() {
            items.push(ex.argument(*item)?);
        }
        let list = PyList::new(ex.py, items).map_err(|e| ex.internal(&e))?.into_any();
        match self.class {
            None => Ok(list),
            Some(_) if ex.holds_extents(&self.items) => Ok(list),
            Some(class) => filled(&ex.objects.get(ex.py, class), &list).map_err(|e| ex.internal(&e)),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(object) = self.object {
            if ex.objects.get_ref(ex.py, object).cast::<PyList>().is_ok_and(|list| list.len() > MANY) {
                return Err(ex.refuse_long(me, false));
            }
            ex.note_length(self, object, at)?;
            ex.look_sequence(me, at.tracker, object, at.given, at.pinned);
        }
        Ok(())
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(Some(self.items.to_vec()))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let index = ex.length(me)?;
        Ok(ex.virtual_var(IteratorVar::new(Iteration::Reversed { sequence: me, index })))
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        if ex.is_slice(key)? {
            return ex.set_slice(me, self, key, new);
        }
        let at = self.place_to_write(ex, key)?;
        let mut items = self.items.to_vec();
        items[at] = new;
        ex.replace_list(me, items);
        ex.note_item_set(me, key, new);
        Ok(())
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        if ex.is_slice(key)? {
            return ex.delete_slice(me, self, key);
        }
        let at = self.place_to_write(ex, key)?;
        let mut items = self.items.to_vec();
        items.remove(at);
        ex.replace_list(me, items);
        ex.note_item_deleted(me, key);
        Ok(())
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.list_method(me, self, name, args).map(Called::Value)
    }
}

impl ListVar {
    /// The place that an index names, to be written.
    fn place_to_write(&self, ex: &mut Executor<'_>, key: VarId) -> Result<usize, Stop> {
        let Some(index) = ex.index_value(key)? else { return Err(ex.no_index("list", key)?) };
        let length = self.items.len() as i64;
        let at = if index < 0 { index + length } else { index };
        let at = usize::try_from(at).ok().filter(|at| *at < self.items.len());
        at.ok_or_else(|| ex.raise_error::<PyIndexError>("list assignment index out of range"))
    }
}

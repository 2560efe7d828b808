//! Dicts with constant keys, and their views.

use super::*;
use hashbrown::{HashMap, HashSet};
use pyo3::types::PyDict;
use std::rc::Rc;

impl DictVar {
    pub fn new(entries: Vec<(VarId, VarId)>) -> DictVar {
        let entries = Rc::new(entries);
        DictVar { entries, below: None, class: None, object: None, factory: None, removed: 0, owner: None }
    }

    /// The order of the dict below an ordered one, when these are its entries from now on. `None`: the same.
    pub fn order_below(&self, entries: &[(VarId, VarId)]) -> Option<Rc<Vec<VarId>>> {
        let kept: HashSet<VarId> = entries.iter().map(|entry| entry.0).collect();
        let mut keys = self.keys_below();
        keys.retain(|key| kept.contains(key));
        let known: HashSet<VarId> = keys.iter().copied().collect();
        keys.extend(entries.iter().map(|entry| entry.0).filter(|key| !known.contains(key)));
        (!entries.iter().map(|entry| entry.0).eq(keys.iter().copied())).then(|| Rc::new(keys))
    }

    fn keys_below(&self) -> Vec<VarId> {
        match &self.below {
            Some(keys) => keys.to_vec(),
            None => self.entries.iter().map(|entry| entry.0).collect(),
        }
    }

    /// The entries, as the dict below has them.
    pub fn entries_below(&self) -> Rc<Vec<(VarId, VarId)>> {
        let Some(keys) = &self.below else { return self.entries.clone() };
        let values: HashMap<VarId, VarId> = self.entries.iter().copied().collect();
        Rc::new(keys.iter().map(|key| (*key, values[key])).collect())
    }

    /// Which keys of the dict below are to be moved to the end, one after the other, for the order of the ordered one.
    pub fn to_be_moved(&self) -> Vec<usize> {
        let Some(keys) = &self.below else { return Vec::new() };
        let places: HashMap<VarId, usize> = keys.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let places: Vec<usize> = self.entries.iter().map(|entry| places[&entry.0]).collect();
        let in_order = places.windows(2).take_while(|pair| pair[0] < pair[1]).count() + 1;
        places[in_order.min(places.len())..].to_vec()
    }

    /// Whether the keys and their places are what they were.
    pub fn same_keys(&self, seen: &Rc<Vec<(VarId, VarId)>>, removed: u32) -> bool {
        self.removed == removed
            && (Rc::ptr_eq(&self.entries, seen)
                || self.entries.len() == seen.len() && self.entries.iter().zip(seen.iter()).all(|(a, b)| a.0 == b.0))
    }

    /// Position of a key, by Python's equality of constants.
    pub fn position(&self, ex: &mut Executor<'_>, key: VarId) -> Result<Option<usize>, Stop> {
        let wanted = ex.require_key(key)?;
        ex.may_search(self, key)?;
        if self.entries.len() < INDEXED {
            return self.position_among(ex, &wanted, 0..self.entries.len());
        }
        let hash = KeyIndex::hash(ex, key, &wanted);
        // Taken away, since asking for keys needs all of the executor.
        let mut index = KeyIndex::take(&mut ex.key_indexes, &self.entries);
        let found = index.follow(ex, &self.entries).and_then(|()| match index.keys.get(&hash) {
            Some(keys) => self.position_of(ex, &wanted, keys),
            None => Ok(None),
        });
        ex.key_indexes.push(index);
        found
    }

    /// Its entries with this value for a key, or without the key.
    pub fn entries_with(
        &self,
        ex: &mut Executor<'_>,
        key: VarId,
        value: Option<VarId>,
    ) -> Result<Vec<(VarId, VarId)>, Stop> {
        let at = self.position(ex, key)?;
        let mut entries = self.entries.to_vec();
        match (at, value) {
            (Some(at), Some(value)) => entries[at].1 = value,
            (None, Some(value)) => entries.push((key, value)),
            (Some(at), None) => drop(entries.remove(at)),
            (None, None) => {}
        }
        Ok(entries)
    }

    fn position_among<'py>(
        &self,
        ex: &mut Executor<'py>,
        wanted: &Bound<'py, PyAny>,
        places: impl Iterator<Item = usize>,
    ) -> Result<Option<usize>, Stop> {
        for at in places {
            if ex.differs_by_hash(self.entries[at].0, wanted)? {
                continue;
            }
            let have = ex.require_key(self.entries[at].0)?;
            if have.is(wanted) || have.eq(wanted).map_err(|e| ex.would_raise(&e))? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// As `position_among`, for keys by themselves, of which some may be gone.
    fn position_of<'py>(
        &self,
        ex: &mut Executor<'py>,
        wanted: &Bound<'py, PyAny>,
        keys: &[VarId],
    ) -> Result<Option<usize>, Stop> {
        for key in keys {
            if ex.differs_by_hash(*key, wanted)? {
                continue;
            }
            let have = ex.require_key(*key)?;
            if (have.is(wanted) || have.eq(wanted).map_err(|e| ex.would_raise(&e))?)
                && let Some(at) = self.entries.iter().position(|entry| entry.0 == *key)
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

/// Entries from which on keys are searched by their hash.
const INDEXED: usize = 16;

/// Dicts whose keys are indexed at a time: those that were searched last.
const INDEXES: usize = 4;

/// The keys of one large dict by their hash. Those that were taken out since stay.
#[derive(Default)]
pub(in crate::executor) struct KeyIndex {
    entries: Rc<Vec<(VarId, VarId)>>,
    keys: HashMap<Option<isize>, Vec<VarId>>,
}

impl KeyIndex {
    /// The index of these entries, or of what they grew from, or else the one that was not used for longest. The last one was
    /// used last.
    fn take(indexes: &mut Vec<KeyIndex>, entries: &Rc<Vec<(VarId, VarId)>>) -> KeyIndex {
        let first = |entries: &[(VarId, VarId)]| entries.first().map(|entry| entry.0);
        let own = indexes.iter().rposition(|index| Rc::ptr_eq(&index.entries, entries));
        match own.or_else(|| indexes.iter().rposition(|index| first(&index.entries) == first(entries))) {
            Some(at) => indexes.remove(at),
            None if indexes.len() < INDEXES => KeyIndex::default(),
            None => indexes.remove(0),
        }
    }

    /// Of values that are compared by value; the others share one place, and are compared one by one.
    fn hash(ex: &Executor<'_>, key: VarId, value: &Bound<'_, PyAny>) -> Option<isize> {
        matches!(ex.var(key).kind, VarKind::Constant(_) | VarKind::Tuple(_)).then(|| value.hash().ok()).flatten()
    }

    /// Index these entries: those that were there before are known, whether one was taken out or some were put in.
    fn follow(&mut self, ex: &mut Executor<'_>, entries: &Rc<Vec<(VarId, VarId)>>) -> Result<(), Stop> {
        if Rc::ptr_eq(&self.entries, entries) {
            return Ok(());
        }
        let known = std::mem::take(&mut self.entries);
        let mut keys = std::mem::take(&mut self.keys);
        let same = |(old, new): &(&(VarId, VarId), &(VarId, VarId))| old.0 == new.0;
        let alike = known.iter().zip(entries.iter()).take_while(same).count();
        let without_one = known.len() == entries.len() + 1
            && known[alike + 1..].iter().zip(&entries[alike..]).take_while(same).count() == entries.len() - alike;
        let first = match alike {
            _ if without_one => entries.len(),
            alike if alike == known.len() => alike,
            _ => {
                keys.clear();
                0
            }
        };
        for (key, _) in entries.iter().skip(first) {
            let hash = match ex.hashes.get(key) {
                Some(hash) => Some(*hash),
                None => {
                    let value = ex.require_key(*key)?;
                    KeyIndex::hash(ex, *key, &value)
                }
            };
            let alike: &mut Vec<VarId> = keys.entry(hash).or_default();
            if !alike.contains(key) {
                alike.push(*key);
            }
        }
        self.keys = keys;
        self.entries = entries.clone();
        Ok(())
    }
}

impl Operations for DictVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(match self.class {
            Some(class) => ex.objects.get(ex.py, class),
            None => ex.py.get_type::<PyDict>().into_any(),
        })
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(!self.entries.is_empty())
    }

    fn length(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        Ok(self.entries.len())
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if let ("default_factory", Some(factory)) = (name, self.factory) {
            return Ok(Some(factory));
        }
        // An ordered dict has a dict of its own.
        if self.class.is_some()
            && let Some(object) = self.object
        {
            let object = ex.objects.get(ex.py, object);
            if let Some(value) = ex.instance_dict_item(me, &object, name)? {
                return Ok(Some(value));
            }
        }
        ex.attribute_of_builtin(me, name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        match self.position(ex, key)? {
            Some(at) => Ok(self.entries[at].1),
            None => ex.missing_item(me, self, key),
        }
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_dict(me, ViewWhat::Keys, false)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.hashes_by_c(self)?;
        let dict = PyDict::new(ex.py);
        for (key, value) in self.entries.iter() {
            let (key, value) = (ex.argument(*key)?, ex.argument(*value)?);
            dict.set_item(key, value).map_err(|e| ex.internal(&e))?;
        }
        match self.class {
            None => Ok(dict.into_any()),
            Some(class) => {
                let class = ex.objects.get(ex.py, class);
                let made = match self.factory {
                    Some(factory) => class.call1((ex.argument(factory)?, dict)),
                    None => class.call1((dict,)),
                };
                made.map_err(|e| ex.internal(&e))
            }
        }
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(object) = self.object {
            ex.is_read_as_it_is(object)?;
            ex.look_dict(me, at.tracker, object, at.given, at.pinned)?;
            ex.add_stored(me)?;
        }
        Ok(())
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(Some(self.factory.into_iter().chain(self.entries.iter().flat_map(|e| [e.0, e.1])).collect()))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_dict(me, ViewWhat::Keys, true)
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        ex.dict_has_one_name(me)?;
        let entries = self.entries_with(ex, key, Some(new))?;
        ex.replace_dict(me, entries)?;
        ex.note_item_set(me, key, new);
        Ok(())
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        ex.dict_has_one_name(me)?;
        let Some(at) = self.position(ex, key)? else {
            return Err(ex.raise_key_error(key));
        };
        let mut entries = self.entries.to_vec();
        entries.remove(at);
        ex.replace_dict(me, entries)?;
        ex.note_item_deleted(me, key);
        Ok(())
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.dict_method(me, self, name, args).map(Called::Value)
    }
}

impl Operations for ViewVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let dict = match ex.look(self.dict)? {
            VarKind::Dict(DictVar { class: Some(class), .. }) => {
                ex.objects.get(ex.py, class).call0().map_err(|e| ex.internal(&e))?
            }
            _ => PyDict::new(ex.py).into_any(),
        };
        let view = match self.what {
            ViewWhat::Keys => dict.call_method0("keys"),
            ViewWhat::Values => dict.call_method0("values"),
            ViewWhat::Items => dict.call_method0("items"),
        };
        Ok(view.map_err(|e| ex.internal(&e))?.get_type().into_any())
    }

    fn truth(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        ex.truth(self.dict)
    }

    fn length(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        ex.length(self.dict)
    }

    fn iterate(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<VarId, Stop> {
        ex.iterate_dict(self.dict, self.what, false)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_builtin(me, name)
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        let ("isdisjoint", [other], [], false) =
            (name, args.positional.as_slice(), args.keywords.as_slice(), self.what == ViewWhat::Values)
        else {
            return method_of_c(self.kind_name(), ex, me, name, args);
        };
        let VarKind::Dict(dict) = ex.look(self.dict)? else {
            return Err(Stop::brk(Reason::ValueKind, "isdisjoint of a dict view"));
        };
        // What is an iterator is asked no further than to the first that it has in common.
        let is_whole = matches!(
            ex.look(*other)?,
            VarKind::List(_) | VarKind::Tuple(_) | VarKind::Dict(_) | VarKind::Set(_) | VarKind::Constant(_)
        );
        if !is_whole || ex.iterates_by_code(*other)? || !ex.can_iterate(*other)? {
            return Err(Stop::brk(Reason::UserCode, "isdisjoint of a dict view"));
        }
        for item in ex.collect(*other)? {
            if ex.view_contains(&dict, self.what, item)? {
                return ex.fold_bool(false).map(Called::Value);
            }
        }
        ex.fold_bool(true).map(Called::Value)
    }

    fn reversed(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<VarId, Stop> {
        ex.iterate_dict(self.dict, self.what, true)
    }
}

impl Executor<'_> {
    /// `item in view`, of a dict.
    pub(in crate::executor) fn view_contains(
        &mut self,
        dict: &DictVar,
        what: ViewWhat,
        item: VarId,
    ) -> Result<bool, Stop> {
        match what {
            ViewWhat::Keys => Ok(dict.position(self, item)?.is_some()),
            ViewWhat::Values => {
                let values = dict.entries.iter().map(|(_, value)| *value).collect::<Vec<_>>();
                let values = self.virtual_var(TupleVar::new(values));
                self.contains(values, item)
            }
            ViewWhat::Items => {
                let [key, value] = *(match self.look(item)? {
                    VarKind::Tuple(pair) => pair.items,
                    VarKind::Instance(_) => return Err(Stop::brk(Reason::ValueKind, "an instance in a dict view")),
                    _ => return Ok(false),
                }) else {
                    return Ok(false);
                };
                let Some(at) = dict.position(self, key)? else { return Ok(false) };
                let found = self.virtual_var(TupleVar::new(vec![dict.entries[at].1]));
                self.contains(found, value)
            }
        }
    }
}

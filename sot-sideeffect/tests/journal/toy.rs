//! A made-up heap that mutations are replayed on. Dicts keep insertion order; what Python would refuse is an error.

use sot_sideeffect::{Entry, Mutation, VarRef};

pub(crate) type Names = Vec<(String, VarRef)>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) attrs: Names,
    /// What the dict of its attributes has under names for which its class has descriptors.
    pub(crate) in_dict: Names,
    pub(crate) cell: Option<VarRef>,
    pub(crate) list: Vec<VarRef>,
    pub(crate) dict: Vec<(VarRef, VarRef)>,
    /// Of an iterator over the list of the object of the same number less 6. `None`: exhausted for ever.
    pub(crate) position: Option<usize>,
}

/// Even objects are lists, odd ones dicts; 6 to 8 are iterators over the lists of 0 to 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heap {
    pub(crate) objects: Vec<Object>,
    pub(crate) globals: [Names; 2],
    pub(crate) modes: [Option<VarRef>; 2],
}

impl Heap {
    pub(crate) fn new() -> Heap {
        let mut objects = vec![Object::default(); 11];
        let v = |n: u32| VarRef(20 + n);
        for object in &mut objects {
            object.attrs = vec![("a".into(), v(0))];
            object.list = vec![v(0), v(1)];
            object.dict = vec![(v(0), v(0))];
            object.position = Some(0);
        }
        let globals = vec![("a".to_owned(), v(0)), ("b".to_owned(), v(1))];
        Heap { objects, globals: [globals.clone(), globals], modes: [None; 2] }
    }

    /// Apply a mutation as Python would.
    pub(crate) fn apply(&mut self, entry: &Entry) -> Result<(), &'static str> {
        let mutation = &entry.mutation;
        if is_of_list(mutation).is_some_and(|(object, list)| list != (object.0 % 2 == 0)) {
            return Err("AttributeError");
        }
        match mutation {
            Mutation::SetAttr { object, name, value } => set(&mut self.at(*object).attrs, name, *value),
            Mutation::DelAttr { object, name, .. } => return remove(&mut self.at(*object).attrs, name),
            Mutation::SetInDict { object, name, value } => set(&mut self.at(*object).in_dict, name, *value),
            Mutation::DelInDict { object, name } => return remove(&mut self.at(*object).in_dict, name),
            Mutation::SetGlobal { globals, name, value } => set(&mut self.globals[globals.index()], name, *value),
            Mutation::DelGlobal { globals, name } => return remove(&mut self.globals[globals.index()], name),
            Mutation::SetCell { cell, value } => self.at(*cell).cell = Some(*value),
            Mutation::ClearCell { cell } => self.at(*cell).cell = None,
            Mutation::SetItem { object, key, value } => set(&mut self.at(*object).dict, key, *value),
            Mutation::DelItem { object, key } | Mutation::DictPop { object, key } => {
                return remove(&mut self.at(*object).dict, key);
            }
            Mutation::StoreHashed { object, key, value, found, .. } => {
                set(&mut self.at(*object).dict, &found.unwrap_or(*key), *value);
            }
            Mutation::DeleteHashed { object, found, .. } => return remove(&mut self.at(*object).dict, found),
            Mutation::ListAppend { object, value } => self.at(*object).list.push(*value),
            Mutation::ListInsert { object, index, value } => {
                let list = &mut self.at(*object).list;
                let at = (*index as usize).min(list.len());
                list.insert(at, *value);
            }
            Mutation::ListPop { object, index } => {
                let list = &mut self.at(*object).list;
                if *index as usize >= list.len() {
                    return Err("IndexError");
                }
                list.remove(*index as usize);
            }
            Mutation::ListExtend { object, values } => self.at(*object).list.extend(values),
            Mutation::ListClear { object } => self.at(*object).list.clear(),
            // Methods of C are nobody's here.
            Mutation::MoveHashed { .. }
            | Mutation::Method { .. }
            | Mutation::Answered { .. }
            | Mutation::Written { .. }
            | Mutation::ClassMade { .. } => {}
            Mutation::SetMode { mode, value } => self.modes[*mode as usize] = Some(*value),
            Mutation::ListReverse { object } => self.at(*object).list.reverse(),
            Mutation::DictClear { object } => self.at(*object).dict.clear(),
            Mutation::IterAdvance { iterator, .. } => {
                let len = self.objects[iterator.0 as usize - 6].list.len();
                let position = &mut self.at(*iterator).position;
                *position = position.filter(|p| *p < len).map(|p| p + 1);
                if position.is_none() {
                    return Err("StopIteration");
                }
            }
        }
        Ok(())
    }

    fn at(&mut self, object: VarRef) -> &mut Object {
        &mut self.objects[object.0 as usize]
    }
}

/// Whose content is changed, and whether it must be a list.
fn is_of_list(mutation: &Mutation) -> Option<(VarRef, bool)> {
    match mutation {
        Mutation::ListAppend { object, .. }
        | Mutation::ListInsert { object, .. }
        | Mutation::ListPop { object, .. }
        | Mutation::ListExtend { object, .. }
        | Mutation::ListClear { object }
        | Mutation::ListReverse { object } => Some((*object, true)),
        Mutation::SetItem { object, .. }
        | Mutation::DelItem { object, .. }
        | Mutation::DictPop { object, .. }
        | Mutation::StoreHashed { object, .. }
        | Mutation::DeleteHashed { object, .. }
        | Mutation::DictClear { object } => Some((*object, false)),
        Mutation::SetAttr { .. }
        | Mutation::DelAttr { .. }
        | Mutation::SetInDict { .. }
        | Mutation::DelInDict { .. }
        | Mutation::SetGlobal { .. }
        | Mutation::DelGlobal { .. }
        | Mutation::SetCell { .. }
        | Mutation::ClearCell { .. }
        | Mutation::MoveHashed { .. }
        | Mutation::Method { .. }
        | Mutation::Answered { .. }
        | Mutation::Written { .. }
        | Mutation::ClassMade { .. }
        | Mutation::SetMode { .. }
        | Mutation::IterAdvance { .. } => None,
    }
}

fn set<K: Clone + PartialEq<Q>, Q: ?Sized + ToOwned<Owned = K>>(items: &mut Vec<(K, VarRef)>, key: &Q, value: VarRef) {
    match items.iter_mut().find(|(k, _)| k == key) {
        Some((_, old)) => *old = value,
        None => items.push((key.to_owned(), value)),
    }
}

fn remove<K: PartialEq<Q>, Q: ?Sized>(items: &mut Vec<(K, VarRef)>, key: &Q) -> Result<(), &'static str> {
    let at = items.iter().position(|(k, _)| k == key).ok_or("KeyError")?;
    items.remove(at);
    Ok(())
}

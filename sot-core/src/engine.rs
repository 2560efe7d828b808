//! The engine: all tables that live as long as the process, by name.
//!
//! A table belongs to the room that fills it, and is a [`Registry`]. The engine knows each of them, for whoever asks how much is
//! remembered (`sot.stats()["registries"]`): what grows with every call is a leak, whatever it is called. `cargo xtask tidy` finds
//! tables that are none (rule `registries`).
//!
//! Lock discipline: no Python object is made or dropped while a registry is locked. Either may run finalizers of the program, and so come
//! back here. Who takes a Python object out hands it out of the lock, and drops it there.

use hashbrown::HashMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What a registry holds.
pub trait Table: Default + Send + 'static {
    /// How much is remembered, in entries.
    fn entries(&self) -> usize;
}

impl<T: Send + 'static> Table for Vec<T> {
    fn entries(&self) -> usize {
        self.len()
    }
}

impl<K: Hash + Eq + Send + 'static, V: Send + 'static> Table for HashMap<K, V> {
    fn entries(&self) -> usize {
        self.len()
    }
}

/// Things that others own, as long as they live.
pub struct Alive<T>(Vec<Weak<T>>);

impl<T> Default for Alive<T> {
    fn default() -> Alive<T> {
        Alive(Vec::new())
    }
}

impl<T> Alive<T> {
    pub fn add(&mut self, thing: &Arc<T>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|thing| thing.strong_count() > 0);
        }
        self.0.push(Arc::downgrade(thing));
    }

    pub fn all(&self) -> Vec<Arc<T>> {
        self.0.iter().filter_map(Weak::upgrade).collect()
    }
}

impl<T: Send + Sync + 'static> Table for Alive<T> {
    fn entries(&self) -> usize {
        self.0.iter().filter(|thing| thing.strong_count() > 0).count()
    }
}

/// A table of the process: made when it is first asked for.
pub struct Registry<T>(Mutex<Option<T>>);

impl<T: Table> Default for Registry<T> {
    fn default() -> Registry<T> {
        Registry::new()
    }
}

impl<T: Table> Registry<T> {
    pub const fn new() -> Registry<T> {
        Registry(Mutex::new(None))
    }

    /// The table, for as long as what is returned lives. A panic elsewhere has left it as it was: each change is one call.
    pub fn lock(&self) -> Locked<'_, T> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.get_or_insert_default();
        Locked(table)
    }
}

/// A registry that this thread uses.
pub struct Locked<'a, T>(MutexGuard<'a, Option<T>>);

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("a table was made")
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("a table was made")
    }
}

/// A registry as the engine knows it.
pub struct Known {
    /// For people: what an entry is.
    pub name: &'static str,
    pub entries: fn() -> usize,
}

inventory::collect!(Known);

/// Declare registries: `registries! { NAME: Table = "what an entry is"; }`.
macro_rules! registries {
    ($( $(#[$doc:meta])* $visible:vis $name:ident: $table:ty = $what:literal; )*) => { $(
        $(#[$doc])*
        $visible static $name: $crate::engine::Registry<$table> = $crate::engine::Registry::new();
        inventory::submit! {
            $crate::engine::Known { name: $what, entries: || $crate::engine::Table::entries(&*$name.lock()) }
        }
    )* };
}

pub(crate) use registries;

/// Each registry's name and how many entries it has, by name.
pub fn sizes() -> Vec<(&'static str, usize)> {
    let mut sizes: Vec<_> = inventory::iter::<Known>().map(|known| (known.name, (known.entries)())).collect();
    sizes.sort_unstable();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    registries! {
        FIRST: Vec<u8> = "first of a test";
        SECOND: HashMap<&'static str, u8> = "second of a test";
    }

    #[test]
    fn the_engine_knows_what_is_declared() {
        FIRST.lock().extend([1, 2, 3]);
        SECOND.lock().insert("one", 1);
        let sizes = sizes();
        let size = |name| sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
        assert_eq!((size("first of a test"), size("second of a test")), (Some(3), Some(1)));
        assert!(sizes.is_sorted());
        let names: Vec<_> = sizes.iter().map(|(name, _)| *name).collect();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two registries of one name: {names:?}");
    }
}

//! Places that must hold different objects, natively: by addresses, in time that grows with their number and not with that of
//! their pairs.
//!
//! Each place of the *group* differs from the others of the group and from each of the *rest*; the rest may be alike. Places are
//! registers, or objects that are the same at each call. Those are known to differ when the guard is compiled, so that
//! only registers are looked at.

use hashbrown::HashMap;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// See the module.
#[derive(Default)]
pub(super) struct Distinct {
    group: Vec<usize>,
    rest: Vec<usize>,
    /// By address, and whether they are of the group.
    objects: HashMap<usize, (Py<PyAny>, bool)>,
}

impl Distinct {
    pub(super) fn add_register(&mut self, register: usize, of_group: bool) {
        let registers = if of_group { &mut self.group } else { &mut self.rest };
        registers.push(register);
    }

    /// Objects of the group come first. False: it is there already, and what is there is kept apart from it.
    #[must_use]
    pub(super) fn add_object(&mut self, object: Py<PyAny>, of_group: bool) -> bool {
        let address = object.as_ptr() as usize;
        match self.objects.get(&address) {
            Some((_, is_of_group)) => !is_of_group,
            None => self.objects.insert(address, (object, of_group)).is_none(),
        }
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.objects.values().for_each(|(object, _)| visit(object));
    }

    /// Whether the registers hold values that are not the same. `address`: of what a register holds.
    pub(super) fn holds(&self, address: impl Fn(usize) -> Option<usize>) -> bool {
        let mut group: SmallVec<[usize; 16]> = SmallVec::with_capacity(self.group.len());
        for register in &self.group {
            match address(*register) {
                Some(value) if !self.objects.contains_key(&value) => group.push(value),
                _ => return false,
            }
        }
        group.sort_unstable();
        let in_group = |value: usize| {
            group.binary_search(&value).is_ok() || self.objects.get(&value).is_some_and(|(_, of_group)| *of_group)
        };
        group.windows(2).all(|two| two[0] != two[1])
            && self.rest.iter().all(|register| address(*register).is_some_and(|value| !in_group(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::Distinct;

    fn holds(group: &[Option<usize>], rest: &[Option<usize>]) -> bool {
        let mut distinct = Distinct::default();
        (0..group.len()).for_each(|at| distinct.add_register(at, true));
        (0..rest.len()).for_each(|at| distinct.add_register(group.len() + at, false));
        let registers: Vec<Option<usize>> = group.iter().chain(rest).copied().collect();
        distinct.holds(|register| registers[register])
    }

    #[test]
    fn a_group_differs_from_itself_and_from_the_rest() {
        assert!(holds(&[Some(3), Some(1), Some(2)], &[Some(4), Some(4)]));
        assert!(!holds(&[Some(3), Some(1), Some(3)], &[]));
        assert!(!holds(&[Some(3), Some(1)], &[Some(4), Some(1)]));
    }

    #[test]
    fn every_place_holds_something() {
        assert!(holds(&[], &[]));
        assert!(!holds(&[Some(1), None], &[]));
        assert!(!holds(&[Some(1)], &[None]));
    }

    #[test]
    fn many_are_as_few() {
        let mut many: Vec<Option<usize>> = (0..100_000).rev().map(|at| Some(at * 16)).collect();
        assert!(holds(&many, &[Some(8)]));
        many.push(Some(16));
        assert!(!holds(&many, &[]));
    }
}

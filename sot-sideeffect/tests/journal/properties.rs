//! Rollback is exact, and lookups are what a heap says on which the entries were replayed.

use crate::toy::Heap;
use proptest::prelude::*;
use sot_sideeffect::{Journal, Mutation, Slot, VarRef};
use sot_tracker::ObjectId;
use std::sync::Arc;

fn mutation() -> impl Strategy<Value = Mutation> {
    let object = || prop_oneof![4 => 0..3u32, 1 => 3..6u32, 1 => 9..11u32].prop_map(VarRef);
    let value = || (0..3u32).prop_map(|n| VarRef(20 + n));
    let values = || prop::collection::vec(value(), 0..3);
    let globals = || prop_oneof![4 => Just(ObjectId(0)), 1 => Just(ObjectId(1))];
    let name = || "[ab]";
    prop_oneof![
        4 => (object(), name(), value()).prop_map(|(object, name, value)| Mutation::SetAttr { object, name, value }),
        2 => (object(), name(), any::<bool>()).prop_map(|(object, name, by_dict)| Mutation::DelAttr { object, name, by_dict }),
        2 => (object(), name(), value()).prop_map(|(object, name, value)| Mutation::SetInDict { object, name, value }),
        1 => (object(), name()).prop_map(|(object, name)| Mutation::DelInDict { object, name }),
        2 => (object(), value(), value()).prop_map(|(object, key, value)| Mutation::SetItem { object, key, value }),
        1 => (object(), value()).prop_map(|(object, key)| Mutation::DelItem { object, key }),
        2 => (globals(), name()).prop_map(|(globals, name)| Mutation::DelGlobal { globals, name }),
        4 => (globals(), name(), value()).prop_map(|(globals, name, value)| Mutation::SetGlobal { globals, name, value }),
        2 => (object(), value()).prop_map(|(cell, value)| Mutation::SetCell { cell, value }),
        1 => object().prop_map(|cell| Mutation::ClearCell { cell }),
        2 => (object(), value()).prop_map(|(object, value)| Mutation::ListAppend { object, value }),
        1 => (object(), 0..3i64, value()).prop_map(|(object, index, value)| Mutation::ListInsert { object, index, value }),
        1 => (object(), 0..3i64).prop_map(|(object, index)| Mutation::ListPop { object, index }),
        1 => (object(), values()).prop_map(|(object, values)| Mutation::ListExtend { object, values }),
        1 => object().prop_map(|object| Mutation::ListClear { object }),
        1 => object().prop_map(|object| Mutation::ListReverse { object }),
        1 => object().prop_map(|object| Mutation::DictClear { object }),
        1 => (object(), value()).prop_map(|(object, key)| Mutation::DictPop { object, key }),
        1 => object().prop_map(|object| Mutation::Written { object }),
        2 => (0..2u32, value()).prop_map(|(mode, value)| Mutation::SetMode { mode, value }),
        2 => (prop_oneof![Just(6u32), Just(8)], value()).prop_map(|(n, item)| Mutation::IterAdvance { iterator: VarRef(n), item: Some(item) }),
    ]
}

/// Only mutations that Python would not have refused are in a journal.
fn recorded(mutations: Vec<Mutation>) -> Journal {
    let file: Arc<str> = "f.py".into();
    let (mut journal, mut heap) = (Journal::new(), Heap::new());
    for (line, mutation) in mutations.into_iter().enumerate() {
        let before = (heap.clone(), journal.mark());
        journal.record(mutation, &file, line as u32);
        if heap.apply(&journal.entries()[journal.len() - 1]).is_err() {
            heap = before.0;
            journal.rollback_to(before.1);
        }
    }
    journal
}

fn overlays(journal: &Journal) -> String {
    let mut out = Vec::new();
    for n in 0..11 {
        for name in ["a", "b"] {
            out.push(format!("{:?}", journal.attr(VarRef(n), name)));
            out.push(format!("{}", journal.version(&Slot::Attr(VarRef(n), name.into()))));
            out.push(format!("{:?}", journal.in_dict(VarRef(n), name)));
            out.push(format!("{:?}", journal.global(ObjectId(n % 2), name)));
        }
        out.push(format!("{:?}", journal.cell(VarRef(n))));
        out.push(format!("{}", journal.version(&Slot::Content(VarRef(n)))));
        out.push(format!("{}", journal.version(&Slot::Position(VarRef(n)))));
    }
    out.extend((0..2).map(|mode| format!("{:?} {}", journal.mode(mode), journal.version(&Slot::Mode(mode)))));
    format!("{} {:?}\n{journal}", out.join(" "), journal.touched())
}

proptest! {
    #[test]
    fn rollback_restores_lookups(
        before in prop::collection::vec(mutation(), 0..20),
        after in prop::collection::vec(mutation(), 0..20),
    ) {
        let file: Arc<str> = "f.py".into();
        let mut journal = recorded(before);
        let (text, mark) = (overlays(&journal), journal.mark());
        for mutation in after.clone() {
            journal.record(mutation, &file, 1);
        }
        let later = overlays(&journal);
        journal.rollback_to(mark);
        prop_assert_eq!(overlays(&journal), text);
        for mutation in after {
            journal.record(mutation, &file, 1);
        }
        prop_assert_eq!(overlays(&journal), later);
    }

    /// A lookup is what a heap says that all entries were replayed on.
    #[test]
    fn lookups_agree_with_replay(mutations in prop::collection::vec(mutation(), 0..40)) {
        use sot_sideeffect::Overlay;
        let journal = recorded(mutations);
        let mut heap = Heap::new();
        let start = heap.clone();
        for entry in journal.entries() {
            prop_assert!(heap.apply(entry).is_ok());
        }
        let find = |names: &crate::toy::Names, name: &str| names.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
        let agree = |overlay: Overlay, now: Option<VarRef>, then: Option<VarRef>| match overlay {
            Overlay::Set(value) => now == Some(value),
            Overlay::Deleted => now.is_none(),
            Overlay::Untouched => now == then,
        };
        for n in 0..11usize {
            let (now, then) = (&heap.objects[n], &start.objects[n]);
            for name in ["a", "b"] {
                let overlay = journal.attr(VarRef(n as u32), name);
                prop_assert!(agree(overlay, find(&now.attrs, name), find(&then.attrs, name)));
                let overlay = journal.in_dict(VarRef(n as u32), name);
                prop_assert!(agree(overlay, find(&now.in_dict, name), find(&then.in_dict, name)));
                let overlay = journal.global(ObjectId(n as u32 % 2), name);
                prop_assert!(agree(overlay, find(&heap.globals[n % 2], name), find(&start.globals[n % 2], name)));
            }
            prop_assert!(agree(journal.cell(VarRef(n as u32)), now.cell, then.cell));
        }
        for mode in 0..2 {
            prop_assert!(agree(journal.mode(mode), heap.modes[mode as usize], None));
        }
    }
}

//! What "empty" and "missing" mean, case by case: the tree and the single guard share this, so no property sees it.

use crate::toy::{Kind, Object, State};
use sot_tracker::{Access, Check, Guard, GuardSet, GuardTree, Miss, NodeId, ObjectId, Step, TrackerTable};

const CLASS: ObjectId = ObjectId(0);

/// An empty cell and an int; slot 0 holds the cell, slot 1 the int, slot 2 nothing. There is no slot 3.
fn state() -> State {
    let object = |kind| Object { class: CLASS, kind };
    let heap = vec![object(Kind::Class(vec![])), object(Kind::Cell(None)), object(Kind::Int(3))];
    State { heap, slots: vec![Some(ObjectId(1)), Some(ObjectId(2)), None] }
}

fn holds(slot: u32, over: Option<Access>, check: Check) -> bool {
    let mut table = TrackerTable::new();
    let mut at = table.slot(slot);
    if let Some(over) = over {
        at = table.step(at, over);
    }
    let guard = Guard::new(at, check);
    let state = state();
    let alone = guard.evaluate(&table, &mut &state);
    let set: GuardSet = [guard].into_iter().collect();
    let tree = GuardTree::compile(&set, &table).unwrap();
    assert_eq!(tree.evaluate(&mut &state).is_ok(), alone);
    alone
}

#[test]
fn unbound_holds_of_empty_alone() {
    assert!(holds(2, None, Check::Unbound));
    assert!(holds(0, Some(Access::CellContent), Check::Unbound));
    assert!(!holds(1, None, Check::Unbound), "a value");
    assert!(!holds(3, None, Check::Unbound), "no such slot");
    assert!(!holds(1, Some(Access::CellContent), Check::Unbound), "not a cell");
    assert!(!holds(2, Some(Access::CellContent), Check::Unbound), "into nothing");
}

#[test]
fn nothing_else_holds_of_empty() {
    assert!(holds(1, None, Check::TypeIs(CLASS)));
    assert!(!holds(2, None, Check::TypeIs(CLASS)));
    assert!(!holds(2, None, Check::LacksAttr("a".into())));
    assert!(!holds(2, Some(Access::TypeOf), Check::Is(CLASS)));
    assert!(!holds(2, None, Check::distinct(vec![])));
}

#[test]
fn a_miss_names_the_step_and_the_guard() {
    let mut table = TrackerTable::new();
    let (x, y) = (table.slot(1), table.slot(2));
    let class = table.step(y, Access::TypeOf);
    let mut set = GuardSet::new();
    set.add(Guard::new(x, Check::Is(ObjectId(2))));
    set.add(Guard::new(class, Check::Is(CLASS)));
    set.add(Guard::new(x, Check::SameAs(y)));
    let tree = GuardTree::compile(&set, &table).unwrap();
    let miss = |state: &State| tree.evaluate(&mut &*state).unwrap_err();
    assert_eq!(miss(&state()), Miss { step: Step::Access(NodeId(2)), guard: 1 });
    let other = State { slots: vec![None, Some(ObjectId(1)), Some(ObjectId(1))], ..state() };
    assert_eq!(miss(&other), Miss { step: Step::Check(NodeId(0), 0), guard: 0 });
    let apart = State { slots: vec![None, Some(ObjectId(2)), Some(ObjectId(1))], ..state() };
    let found = miss(&apart);
    assert_eq!((found.guard, &set.get(found.guard).unwrap().check), (2, &Check::SameAs(y)));
}

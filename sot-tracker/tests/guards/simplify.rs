//! Each row of the table of implications, and what looks like one and is not.

use crate::text::Example;
use sot_tracker::{Access, Check, Guard, GuardSet, Known, ObjectId, TrackerId, TrackerTable};

const INT: ObjectId = ObjectId(0);
const THREE: ObjectId = ObjectId(1);
const K: ObjectId = ObjectId(2);
const LIST: ObjectId = ObjectId(3);
const NET: ObjectId = ObjectId(5);

/// 3 and "k" are immutable; a list is not.
struct Table;

impl Known for Table {
    fn is_immutable(&self, object: ObjectId) -> bool {
        object == THREE || object == K
    }

    fn type_of(&self, object: ObjectId) -> Option<ObjectId> {
        (object == THREE).then_some(INT)
    }

    fn len_of(&self, object: ObjectId) -> Option<usize> {
        (object == K).then_some(1)
    }

    fn equals(&self, a: ObjectId, b: ObjectId) -> bool {
        a == b
    }

    fn tensor_type(&self, check: u32) -> Option<ObjectId> {
        (check == 1).then_some(NET)
    }
}

fn simplified(table: &TrackerTable, guards: Vec<(TrackerId, Check)>) -> String {
    let mut set: GuardSet = guards.into_iter().map(|(t, c)| Guard::new(t, c)).collect();
    set.simplify(table, &Table);
    set.display(table, &Example).to_string()
}

fn slots<const N: usize>(table: &mut TrackerTable) -> [TrackerId; N] {
    std::array::from_fn(|n| table.slot(n as u32))
}

#[test]
fn identity_of_an_immutable_object_proves_type_value_and_length() {
    let mut table = TrackerTable::new();
    let [x, y] = slots(&mut table);
    let guards = vec![
        (x, Check::TypeIs(INT)),
        (x, Check::Equals(THREE)),
        (x, Check::Is(THREE)),
        (y, Check::Len(1)),
        (y, Check::Is(K)),
        (y, Check::Len(2)),
    ];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    locals["x"] is 3
    locals["y"] is "k"
    len(locals["y"]) == 2
    "#);
}

#[test]
fn identity_of_a_mutable_object_proves_nothing() {
    let mut table = TrackerTable::new();
    let [x] = slots(&mut table);
    let guards = vec![(x, Check::Is(LIST)), (x, Check::TypeIs(INT)), (x, Check::Len(0)), (x, Check::Equals(LIST))];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    locals["x"] is globals
    type(locals["x"]) is int
    len(locals["x"]) == 0
    locals["x"] == globals
    "#);
}

#[test]
fn equality_proves_the_type_and_a_tensor_check_its_class() {
    let mut table = TrackerTable::new();
    let [x, y, z] = slots(&mut table);
    let guards = vec![
        (x, Check::Equals(THREE)),
        (x, Check::TypeIs(INT)),
        (y, Check::TypeIs(NET)),
        (y, Check::Tensor(1)),
        (z, Check::TypeIs(NET)),
        (z, Check::Tensor(0)),
    ];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    locals["x"] == 3
    tensor(locals["y"]): float32[2, 3] cpu
    type(stack[0]) is Net
    tensor(stack[0])
    "#);
}

#[test]
fn a_type_said_twice_and_a_constant_said_to_be_itself() {
    let mut table = TrackerTable::new();
    let [x] = slots(&mut table);
    let class = table.step(x, Access::TypeOf);
    let constant = table.constant(LIST);
    let guards = vec![
        (class, Check::Is(INT)),
        (x, Check::TypeIs(INT)),
        (class, Check::Is(NET)),
        (constant, Check::Is(LIST)),
        (constant, Check::Is(K)),
    ];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    type(locals["x"]) is int
    type(locals["x"]) is Net
    globals is "k"
    "#);
}

#[test]
fn keys_prove_their_number() {
    let mut table = TrackerTable::new();
    let [x] = slots(&mut table);
    let guards = vec![(x, Check::Len(2)), (x, Check::Keys(vec![K, THREE])), (x, Check::Len(3))];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    list(locals["x"]) == ["k", 3]
    len(locals["x"]) == 3
    "#);
}

#[test]
fn aliases_keep_a_chain() {
    let mut table = TrackerTable::new();
    let [x, y, z, w] = slots(&mut table);
    let guards = vec![
        (x, Check::SameAs(y)),
        (y, Check::SameAs(x)),
        (y, Check::SameAs(z)),
        (x, Check::SameAs(z)),
        (w, Check::SameAs(w)),
    ];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    locals["x"] is locals["y"]
    locals["y"] is stack[0]
    present(stack[1])
    "#);
    let guards = vec![(x, Check::SameAs(y)), (x, Check::Is(LIST)), (y, Check::Is(LIST))];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    locals["x"] is globals
    locals["y"] is globals
    "#);
}

#[test]
fn the_widest_distinct_stays() {
    let mut table = TrackerTable::new();
    let [x, y, z] = slots(&mut table);
    let guards = vec![
        (x, Check::distinct(vec![y])),
        (z, Check::distinct(vec![y, x])),
        (x, Check::distinct(vec![y, z])),
        (x, Check::distinct(vec![x])),
    ];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    distinct(stack[0], locals["y"], locals["x"])
    distinct(locals["x"], locals["x"])
    "#);
}

#[test]
fn what_is_kept_from_others_is_not_kept_apart_among_them() {
    let mut table = TrackerTable::new();
    let [x, y, z] = slots(&mut table);
    let from = |group: usize, others: Vec<TrackerId>| Check::Distinct { others, group };
    let guards = vec![
        (x, from(0, vec![y])),
        (y, from(0, vec![z])),
        (x, from(0, vec![y, z])),
        (x, from(0, vec![z, y])),
        (x, from(1, vec![y, z])),
        (z, from(0, vec![z])),
    ];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    distinct(locals["x"], locals["y"]) from (stack[0])
    distinct(stack[0]) from (stack[0])
    "#);
    let apart = vec![(y, from(0, vec![z])), (x, from(0, vec![y, z]))];
    insta::assert_snapshot!(simplified(&table, apart), @r#"
    distinct(locals["y"]) from (stack[0])
    distinct(locals["x"]) from (locals["y"], stack[0])
    "#);
}

#[test]
fn a_look_at_the_next_item_proves_that_there_is_one() {
    let mut table = TrackerTable::new();
    let [x, y] = slots(&mut table);
    let next = table.step(x, Access::IterPeek);
    let guards = vec![(x, Check::HasNext(true)), (y, Check::HasNext(true)), (next, Check::Is(LIST))];
    insta::assert_snapshot!(simplified(&table, guards), @r#"
    has_next(locals["y"])
    peek(locals["x"]) is globals
    "#);
}

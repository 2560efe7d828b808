//! What is left out, what stays, and where the rest goes.

use crate::toy::Rules;
use sot_sideeffect::{AsRecorded, Journal, Mutation, Policy, VarRef, plan};
use sot_tracker::ObjectId;
use std::sync::Arc;

fn planned(mutations: Vec<Mutation>, policy: &dyn Policy) -> String {
    let file: Arc<str> = "f.py".into();
    let mut journal = Journal::new();
    for (index, mutation) in mutations.into_iter().enumerate() {
        journal.record(mutation, &file, index as u32 + 1);
    }
    plan(&journal, policy).to_string()
}

fn attr(object: u32, name: &str, value: u32) -> Mutation {
    Mutation::SetAttr { object: VarRef(object), name: name.into(), value: VarRef(value) }
}

#[test]
fn a_new_name_enters_the_dict_where_it_was_first_written() {
    let mutations = vec![attr(0, "a", 20), attr(0, "b", 21), attr(0, "a", 22), attr(1, "a", 23)];
    insta::assert_snapshot!(planned(mutations, &Rules), @r"
    v0.a = v22  # f.py:3
    v0.b = v21  # f.py:2
    v1.a = v23  # f.py:4
    ");
}

#[test]
fn a_deletion_ends_the_run() {
    let del = Mutation::DelAttr { object: VarRef(0), name: "a".into() };
    let mutations = vec![attr(0, "a", 20), attr(0, "a", 21), del.clone(), attr(0, "a", 22), attr(0, "a", 23)];
    insta::assert_snapshot!(planned(mutations, &Rules), @r"
    v0.a = v21  # f.py:2
    del v0.a  # f.py:3
    v0.a = v23  # f.py:5
    ");
}

#[test]
fn a_target_with_user_code_sees_what_came_before() {
    let mutations = vec![attr(0, "a", 20), attr(3, "x", 20), attr(0, "a", 21), attr(3, "x", 21), attr(3, "x", 22)];
    insta::assert_snapshot!(planned(mutations, &Rules), @r"
    v0.a = v20  # f.py:1
    v3.x = v20  # f.py:2
    v0.a = v21  # f.py:3
    v3.x = v21  # f.py:4
    v3.x = v22  # f.py:5
    ");
}

#[test]
fn cells_keep_their_last_state() {
    let cell = VarRef(0);
    let mutations = vec![
        Mutation::SetCell { cell, value: VarRef(20) },
        Mutation::ClearCell { cell },
        Mutation::SetCell { cell, value: VarRef(21) },
    ];
    insta::assert_snapshot!(planned(mutations, &Rules), @"v0.cell_contents = v21  # f.py:3");
}

#[test]
fn content_that_is_replaced_is_not_built_up() {
    let object = VarRef(0);
    let mutations = vec![
        Mutation::ListAppend { object, value: VarRef(20) },
        Mutation::ListPop { object, index: 0 },
        Mutation::ListReplace { object, values: vec![VarRef(21)] },
        Mutation::ListAppend { object, value: VarRef(22) },
        Mutation::IterAdvance { iterator: VarRef(6), item: VarRef(21) },
        Mutation::ListAppend { object, value: VarRef(23) },
        Mutation::ListClear { object },
        Mutation::ListAppend { object: VarRef(1), value: VarRef(20) },
    ];
    insta::assert_snapshot!(planned(mutations, &Rules), @r"
    v0[:] = [v21]  # f.py:3
    v0.append(v22)  # f.py:4
    next(v6) -> v21  # f.py:5
    v0.clear()  # f.py:7
    v1.append(v20)  # f.py:8
    ");
}

#[test]
fn virtual_objects_are_built_in_their_final_state() {
    let mutations = vec![attr(9, "a", 20), attr(10, "a", 20), attr(0, "a", 9)];
    insta::assert_snapshot!(planned(mutations.clone(), &Rules), @r"
    v10.a = v20  # f.py:2
    v0.a = v9  # f.py:3
    ");
    assert_eq!(planned(mutations, &AsRecorded).lines().count(), 3);
}

#[test]
fn operands_are_listed_once() {
    let file: Arc<str> = "f.py".into();
    let mut journal = Journal::new();
    journal.record(attr(0, "a", 20), &file, 1);
    journal.record(Mutation::SetGlobal { globals: ObjectId(0), name: "g".into(), value: VarRef(20) }, &file, 2);
    journal.record(Mutation::ListReplace { object: VarRef(1), values: vec![VarRef(0), VarRef(21)] }, &file, 3);
    let plan = plan(&journal, &AsRecorded);
    assert_eq!(plan.operands(), [0, 20, 1, 21].map(VarRef));
    assert_eq!(plan.len(), 3);
}

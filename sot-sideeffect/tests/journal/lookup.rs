//! Reads see the last write; rollback takes it back.

use sot_sideeffect::{Journal, Mutation, Overlay, Slot, Target, VarRef};
use sot_tracker::ObjectId;
use std::sync::Arc;

const X: VarRef = VarRef(0);
const G: ObjectId = ObjectId(0);

fn set_attr(name: &str, value: u32) -> Mutation {
    Mutation::SetAttr { object: X, name: name.into(), value: VarRef(value) }
}

#[test]
fn the_last_write_counts() {
    let file: Arc<str> = "f.py".into();
    let mut journal = Journal::new();
    assert_eq!(journal.attr(X, "a"), Overlay::Untouched);
    assert_eq!(journal.record(set_attr("a", 1), &file, 1), 1);
    assert_eq!(journal.record(set_attr("a", 2), &file, 2), 2);
    journal.record(Mutation::SetGlobal { globals: G, name: "a".into(), value: VarRef(3) }, &file, 3);
    journal.record(Mutation::SetCell { cell: X, value: VarRef(4) }, &file, 4);
    assert_eq!(journal.attr(X, "a"), Overlay::Set(VarRef(2)));
    assert_eq!(journal.attr(X, "b"), Overlay::Untouched);
    assert_eq!(journal.attr(VarRef(1), "a"), Overlay::Untouched);
    assert_eq!(journal.global(G, "a"), Overlay::Set(VarRef(3)));
    assert_eq!(journal.global(ObjectId(1), "a"), Overlay::Untouched);
    assert_eq!(journal.cell(X), Overlay::Set(VarRef(4)));
    assert_eq!(journal.mode(0), Overlay::Untouched);
    journal.record(Mutation::SetMode { mode: 0, value: VarRef(7) }, &file, 4);
    assert_eq!(journal.mode(0), Overlay::Set(VarRef(7)));
    assert_eq!(journal.mode(1), Overlay::Untouched);
    assert_eq!(journal.touched(), [Target::Object(X), Target::Globals(G), Target::Mode(0)]);

    let mark = journal.mark();
    journal.record(set_attr("a", 5), &file, 5);
    journal.record(Mutation::SetGlobal { globals: G, name: "b".into(), value: VarRef(6) }, &file, 6);
    journal.record(Mutation::ClearCell { cell: X }, &file, 7);
    assert_eq!(journal.attr(X, "a"), Overlay::Set(VarRef(5)));
    assert_eq!(journal.global(G, "b"), Overlay::Set(VarRef(6)));
    assert_eq!(journal.cell(X), Overlay::Deleted);
    assert_eq!(journal.version(&Slot::Attr(X, "a".into())), 3);

    journal.rollback_to(mark);
    assert_eq!(journal.attr(X, "a"), Overlay::Set(VarRef(2)));
    assert_eq!(journal.global(G, "b"), Overlay::Untouched);
    assert_eq!(journal.cell(X), Overlay::Set(VarRef(4)));
    assert_eq!(journal.version(&Slot::Attr(X, "a".into())), 2);
    assert_eq!(journal.len(), 5);
}

#[test]
fn every_mutation_has_a_text() {
    let file: Arc<str> = "f.py".into();
    let (object, key, value, values) = (X, VarRef(1), VarRef(2), vec![VarRef(3), VarRef(4)]);
    let name = || "n".to_owned();
    let all = [
        Mutation::SetAttr { object, name: name(), value },
        Mutation::SetItem { object, key, value },
        Mutation::DelItem { object, key },
        Mutation::SetGlobal { globals: G, name: name(), value },
        Mutation::SetCell { cell: object, value },
        Mutation::ClearCell { cell: object },
        Mutation::ListAppend { object, value },
        Mutation::ListInsert { object, index: -1, value },
        Mutation::ListPop { object, index: 0 },
        Mutation::ListExtend { object, values },
        Mutation::ListClear { object },
        Mutation::ListReverse { object },
        Mutation::DictClear { object },
        Mutation::DictPop { object, key },
        Mutation::StoreHashed { object, key, hash: 7, value, found: None },
        Mutation::StoreHashed { object, key, hash: 7, value, found: Some(VarRef(5)) },
        Mutation::DeleteHashed { object, found: key, hash: 7 },
        Mutation::IterAdvance { iterator: object, item: Some(value) },
        Mutation::IterAdvance { iterator: object, item: None },
        Mutation::Written { object },
        Mutation::ClassMade { class: object },
        Mutation::SetMode { mode: 0, value },
        Mutation::DelGlobal { globals: G, name: name() },
        Mutation::SetInDict { object, name: name(), value },
        Mutation::DelInDict { object, name: name() },
    ];
    let mut journal = Journal::new();
    for (line, mutation) in all.into_iter().enumerate() {
        assert_eq!(mutation.slot().target(), mutation.target());
        journal.record(mutation, &file, line as u32);
    }
    insta::assert_snapshot!(journal, @r#"
    v0.n = v2  # f.py:0
    v0[v1] = v2  # f.py:1
    del v0[v1]  # f.py:2
    globals_0["n"] = v2  # f.py:3
    v0.cell_contents = v2  # f.py:4
    del v0.cell_contents  # f.py:5
    v0.append(v2)  # f.py:6
    v0.insert(-1, v2)  # f.py:7
    v0.pop(0)  # f.py:8
    v0.extend([v3, v4])  # f.py:9
    v0.clear()  # f.py:10
    v0.reverse()  # f.py:11
    v0.clear()  # f.py:12
    v0.pop(v1)  # f.py:13
    v0[v1] = v2 (new)  # f.py:14
    v0[v5] = v2 (found)  # f.py:15
    del v0[v1] (found)  # f.py:16
    next(v0) -> v2  # f.py:17
    next(v0) ends  # f.py:18
    repr(v0) ends  # f.py:19
    class v0 is made  # f.py:20
    mode_0 = v2  # f.py:21
    del globals_0["n"]  # f.py:22
    v0.__dict__["n"] = v2  # f.py:23
    del v0.__dict__["n"]  # f.py:24
    "#);
}

//! The text of every check, of a set and of a tree.

use sot_tracker::{
    Access, Check, Guard, GuardSet, GuardTree, Names, ObjectId, Origin, Tracker, TrackerTable, Unreachable,
};

pub(crate) struct Example;

impl Names for Example {
    fn slot(&self, slot: u32) -> String {
        match slot {
            0 => "locals[\"x\"]".into(),
            1 => "locals[\"y\"]".into(),
            n => format!("stack[{}]", n - 2),
        }
    }

    fn object(&self, object: ObjectId) -> String {
        ["int", "3", "\"k\"", "globals", "<function f>", "Net", "None"][object.index()].into()
    }

    fn tensor(&self, check: u32) -> String {
        ["", "float32[2, 3] cpu"][check as usize].into()
    }
}

#[test]
fn every_check_has_a_text() {
    let mut table = TrackerTable::new();
    let x = table.slot(0);
    let y = table.slot(1);
    let z = table.slot(2);
    let (int, three, k) = (ObjectId(0), ObjectId(1), ObjectId(2));
    let checks = [
        Check::Is(ObjectId(4)),
        Check::TypeIs(int),
        Check::Equals(three),
        Check::Len(2),
        Check::Lacks(k),
        Check::LacksAttr("bias".into()),
        Check::Keys(vec![k, three]),
        Check::Hashes { hashes: vec![7, 7], alike: true },
        Check::Hashes { hashes: vec![7, 8], alike: false },
        Check::Member { key: k, is: true },
        Check::Member { key: k, is: false },
        Check::Quiet { key: Some(k) },
        Check::Quiet { key: None },
        Check::Table { members: vec![(1, Some(k)), (3, Some(three)), (4, None)], lost: vec![], mask: 7, finger: 0 },
        Check::Tensor(0),
        Check::Tensor(1),
        Check::SameAs(y),
        Check::distinct(vec![y, z]),
        Check::Distinct { others: vec![y, z], group: 0 },
        Check::HasNext(true),
        Check::HasNext(false),
        Check::Ended,
        Check::EndsUnseen,
        Check::Unbound,
        Check::ClassLookup { name: "forward".into(), found: Some(ObjectId(4)) },
        Check::ClassLookup { name: "__call__".into(), found: None },
        Check::SameAs(x),
        Check::Mro(vec![int, ObjectId(4)]),
        Check::Alike(int),
        Check::SubclassOf { of: int, holds: true },
        Check::SubclassOf { of: int, holds: false },
    ];
    let set: GuardSet = checks.into_iter().map(|c| Guard::new(x, c)).collect();
    insta::assert_snapshot!(set.display(&table, &Example), @r#"
    locals["x"] is <function f>
    type(locals["x"]) is int
    locals["x"] == 3
    len(locals["x"]) == 2
    "k" not in locals["x"]
    not hasattr(locals["x"], "bias")
    list(locals["x"]) == ["k", 3]
    hashes in order(locals["x"]): 2
    hashes(locals["x"]): 2
    "k" in locals["x"]
    "k" not in locals["x"]
    quiet(locals["x"], "k")
    quiet(locals["x"])
    list(locals["x"]) == ["k", 3, ..]
    tensor(locals["x"])
    tensor(locals["x"]): float32[2, 3] cpu
    locals["x"] is locals["y"]
    distinct(locals["x"], locals["y"], stack[0])
    distinct(locals["x"]) from (locals["y"], stack[0])
    has_next(locals["x"])
    not has_next(locals["x"])
    ended(locals["x"])
    ends_unseen(locals["x"])
    unbound(locals["x"])
    lookup(locals["x"], "forward") is <function f>
    lookup(locals["x"], "__call__") is missing
    present(locals["x"])
    mro(locals["x"]) == [int, <function f>]
    alike(locals["x"], int)
    subclass(locals["x"], int)
    not subclass(locals["x"], int)
    "#);
}

#[test]
fn globals_are_a_named_constant() {
    let mut table = TrackerTable::new();
    let globals = table.constant(ObjectId(3));
    let k = table.step(globals, Access::DictItem(ObjectId(2)));
    let guard = Guard::new(k, Check::Is(ObjectId(4)));
    assert_eq!(guard.display(&table, &Example).to_string(), "globals[\"k\"] is <function f>");
}

/// The order is the contract: arguments first, types before what goes into the value, values before tensors, the
/// rest of the world last.
#[test]
fn tree_of_a_layer_call() {
    let mut table = TrackerTable::new();
    let mut set = GuardSet::new();
    let net = table.slot(0);
    let x = table.slot(1);
    let globals = table.constant(ObjectId(3));
    let k = table.step(globals, Access::DictItem(ObjectId(2)));
    let dict = table.step(net, Access::InstanceDict);
    let training = table.step(dict, Access::DictItem(ObjectId(2)));
    let class = table.step(net, Access::TypeOf);
    let tensor = table.step(net, Access::Attr("weight".into()));
    set.add(Guard::new(k, Check::Is(ObjectId(4))));
    set.add(Guard::new(tensor, Check::Tensor(0)));
    set.add(Guard::new(training, Check::Equals(ObjectId(1))));
    set.add(Guard::new(class, Check::ClassLookup { name: "forward".into(), found: Some(ObjectId(4)) }));
    set.add(Guard::new(class, Check::Is(ObjectId(5))));
    set.add(Guard::new(x, Check::Tensor(1)));
    set.add(Guard::new(x, Check::distinct(vec![tensor])));
    let tree = GuardTree::compile(&set, &table).unwrap();
    insta::assert_snapshot!(tree.display(&table, &Example), @r#"
    n2 = locals["x"]
    n6 = type(n2)
    n6 is Net
    n7 = locals["y"]
    tensor(n7): float32[2, 3] cpu
    lookup(n6, "forward") is <function f>
    n4 = n2.__dict__
    n5 = n4["k"]
    n5 == 3
    n3 = n2.weight
    distinct(n7, n3)
    tensor(n3)
    n0 = globals
    n1 = n0["k"]
    n1 is <function f>
    "#);
}

#[test]
fn computed_values_cannot_be_guarded() {
    let mut table = TrackerTable::new();
    let x = table.slot(0);
    let computed = table.intern(Tracker::Computed);
    let attr = table.step(computed, Access::Attr("a".into()));
    let mut set = GuardSet::new();
    set.add(Guard::new(x, Check::Unbound));
    set.add(Guard::new(x, Check::SameAs(attr)));
    assert_eq!(GuardTree::compile(&set, &table).unwrap_err(), Unreachable { guard: 1 });
}

#[test]
fn the_first_origin_stays() {
    let mut table = TrackerTable::new();
    let x = table.slot(0);
    let origin = |line| Origin { file: "f.py".into(), line, what: "read x".into() };
    let mut set = GuardSet::new();
    assert!(set.add(Guard::new(x, Check::Len(1)).at(origin(3))));
    assert!(!set.add(Guard::new(x, Check::Len(1)).at(origin(9))));
    assert_eq!(set.get(0).unwrap().origin.as_ref().unwrap().to_string(), "f.py:3: read x");
}

//! Paths: interning, roots, reachability.

use sot_tracker::names::Numbered;
use sot_tracker::{Access, Arithmetic, FunctionPart, ObjectId, Tracker, TrackerTable};

#[test]
fn same_path_same_id() {
    let mut table = TrackerTable::new();
    let x = table.slot(0);
    let weight = table.step(x, Access::Attr("weight".into()));
    let again = table.slot(0);
    assert_eq!(table.step(again, Access::Attr("weight".into())), weight);
    assert_ne!(table.step(x, Access::Attr("bias".into())), weight);
    assert_eq!(table.len(), 3);
    assert_eq!(table.path(weight), [x, weight]);
    assert_eq!(table.root(weight), x);
}

#[test]
fn computed_is_not_reachable() {
    let mut table = TrackerTable::new();
    let computed = table.intern(Tracker::Computed);
    let item = table.step(computed, Access::SeqItem(0));
    let constant = table.constant(ObjectId(0));
    assert!(!table.is_reachable(computed) && !table.is_reachable(item) && table.is_reachable(constant));
    assert_eq!(table.display(item, &Numbered).to_string(), "<computed>[0]");
}

#[test]
#[should_panic(expected = "not of this table")]
fn a_base_must_exist() {
    TrackerTable::new().step(sot_tracker::TrackerId(3), Access::TypeOf);
}

#[test]
fn every_step_has_a_text() {
    let mut table = TrackerTable::new();
    let base = table.slot(0);
    let key = ObjectId(7);
    let steps = [
        Tracker::Root(Access::Slot(1)),
        Tracker::Root(Access::Constant(key)),
        Tracker::Step { base, access: Access::Attr("training".into()) },
        Tracker::Step { base, access: Access::InstanceDict },
        Tracker::Step { base, access: Access::DictItem(key) },
        Tracker::Step { base, access: Access::DictKey(2) },
        Tracker::Step { base, access: Access::SeqItem(-1) },
        Tracker::Step { base, access: Access::CellContent },
        Tracker::Step { base, access: Access::FunctionPart(FunctionPart::Code) },
        Tracker::Step { base, access: Access::FunctionPart(FunctionPart::Globals) },
        Tracker::Step { base, access: Access::FunctionPart(FunctionPart::Defaults) },
        Tracker::Step { base, access: Access::FunctionPart(FunctionPart::KwDefaults) },
        Tracker::Step { base, access: Access::FunctionPart(FunctionPart::Closure) },
        Tracker::Step { base, access: Access::TypeOf },
        Tracker::Step { base, access: Access::MethodSelf },
        Tracker::Step { base, access: Access::MethodFunction },
        Tracker::Step { base, access: Access::IterPeek },
        Tracker::Step { base, access: Access::IterSource },
        Tracker::Computed,
    ];
    let ids = steps.map(|s| table.intern(s));
    let text = ids.map(|id| table.display(id, &Numbered).to_string());
    insta::assert_snapshot!(text.join("\n"), @r"
    slot_1
    obj_7
    slot_0.training
    slot_0.__dict__
    slot_0[obj_7]
    list(slot_0)[2]
    slot_0[-1]
    slot_0.cell_contents
    slot_0.__code__
    slot_0.__globals__
    slot_0.__defaults__
    slot_0.__kwdefaults__
    slot_0.__closure__
    type(slot_0)
    slot_0.__self__
    slot_0.__func__
    peek(slot_0)
    source(slot_0)
    <computed>
    ");
}

#[test]
fn what_is_computed_starts_at_all_of_its_numbers() {
    let mut table = TrackerTable::new();
    let n = table.slot(0);
    let m = table.slot(1);
    let size = table.step(m, Access::Attr("size".to_owned()));
    let sum = table.intern(Tracker::Arithmetic { op: Arithmetic::Add, left: n, right: Some(size) });
    let twice = table.intern(Tracker::Arithmetic { op: Arithmetic::Multiply, left: sum, right: Some(sum) });
    let less = table.intern(Tracker::Arithmetic { op: Arithmetic::Lt, left: n, right: Some(twice) });
    let truth = table.intern(Tracker::Arithmetic { op: Arithmetic::Bool, left: less, right: None });
    assert_eq!(table.path(truth), [n, m, size, sum, twice, less, truth]);
    assert_eq!(table.root(truth), truth);
    assert!(table.is_reachable(truth));
    assert_eq!(table.weight(sum), 4);
    assert_eq!(table.weight(truth), 1 + 1 + 1 + 2 * 4 + 1);
    let text = table.display(truth, &Numbered).to_string();
    assert_eq!(text, "bool((slot_0 < ((slot_0 + slot_1.size) * (slot_0 + slot_1.size))))");
}

#[test]
fn the_weight_of_numbers_of_numbers_ends_somewhere() {
    let mut table = TrackerTable::new();
    let mut n = table.slot(0);
    for _ in 0..100 {
        n = table.intern(Tracker::Arithmetic { op: Arithmetic::Add, left: n, right: Some(n) });
    }
    assert_eq!(table.weight(n), u32::MAX);
    assert_eq!(table.path(n).len(), 101);
}

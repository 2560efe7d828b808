//! Paths: interning, roots, reachability.

use sot_tracker::names::Numbered;
use sot_tracker::{Arithmetic, FunctionPart, ObjectId, Tracker, TrackerTable};

#[test]
fn same_path_same_id() {
    let mut table = TrackerTable::new();
    let x = table.intern(Tracker::Slot(0));
    let weight = table.intern(Tracker::Attr { base: x, name: "weight".into() });
    let again = table.intern(Tracker::Slot(0));
    assert_eq!(table.intern(Tracker::Attr { base: again, name: "weight".into() }), weight);
    assert_ne!(table.intern(Tracker::Attr { base: x, name: "bias".into() }), weight);
    assert_eq!(table.len(), 3);
    assert_eq!(table.path(weight), [x, weight]);
    assert_eq!(table.root(weight), x);
}

#[test]
fn computed_is_not_reachable() {
    let mut table = TrackerTable::new();
    let computed = table.intern(Tracker::Computed);
    let item = table.intern(Tracker::SeqItem { base: computed, index: 0 });
    let constant = table.intern(Tracker::Constant(ObjectId(0)));
    assert!(!table.is_reachable(computed) && !table.is_reachable(item) && table.is_reachable(constant));
    assert_eq!(table.display(item, &Numbered).to_string(), "<computed>[0]");
}

#[test]
#[should_panic(expected = "not of this table")]
fn a_base_must_exist() {
    TrackerTable::new().intern(Tracker::TypeOf(sot_tracker::TrackerId(3)));
}

#[test]
fn every_step_has_a_text() {
    let mut table = TrackerTable::new();
    let base = table.intern(Tracker::Slot(0));
    let key = ObjectId(7);
    let steps = [
        Tracker::Slot(1),
        Tracker::Constant(key),
        Tracker::Attr { base, name: "training".into() },
        Tracker::InstanceDict(base),
        Tracker::DictItem { base, key },
        Tracker::DictKey { base, index: 2 },
        Tracker::SeqItem { base, index: -1 },
        Tracker::CellContent(base),
        Tracker::FunctionPart { base, part: FunctionPart::Code },
        Tracker::FunctionPart { base, part: FunctionPart::Globals },
        Tracker::FunctionPart { base, part: FunctionPart::Defaults },
        Tracker::FunctionPart { base, part: FunctionPart::KwDefaults },
        Tracker::FunctionPart { base, part: FunctionPart::Closure },
        Tracker::TypeOf(base),
        Tracker::MethodSelf(base),
        Tracker::MethodFunction(base),
        Tracker::IterPeek(base),
        Tracker::IterSource(base),
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
    let n = table.intern(Tracker::Slot(0));
    let m = table.intern(Tracker::Slot(1));
    let size = table.intern(Tracker::Attr { base: m, name: "size".to_owned() });
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
    let mut n = table.intern(Tracker::Slot(0));
    for _ in 0..100 {
        n = table.intern(Tracker::Arithmetic { op: Arithmetic::Add, left: n, right: Some(n) });
    }
    assert_eq!(table.weight(n), u32::MAX);
    assert_eq!(table.path(n).len(), 101);
}

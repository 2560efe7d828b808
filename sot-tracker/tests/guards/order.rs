//! The cost table is total and says what its documentation says.

use sot_tracker::{Access, Check, ObjectId, TrackerId, cost};

#[test]
fn cheap_and_likely_to_fail_goes_first() {
    let o = ObjectId(0);
    let ordered = [
        Check::Len(1),
        Check::TypeIs(o),
        Check::SameAs(TrackerId(0)),
        Check::Tensor(0),
        Check::Keys(vec![o, o]),
        Check::Lacks(o),
        Check::ClassLookup { name: "f".into(), found: None },
        Check::LacksAttr("f".into()),
    ];
    let ranks: Vec<u32> = ordered.iter().map(cost::rank).collect();
    assert!(ranks.is_sorted(), "{ranks:?}");
    assert!(cost::rank(&Check::Equals(o)) <= cost::rank(&Check::TypeIs(o)));
    assert!(cost::of_access(&Access::Slot(0)) < cost::of_access(&Access::SeqItem(0)));
    assert!(cost::of_access(&Access::SeqItem(0)) < cost::of_access(&Access::Attr("a".into())));
}

#[test]
fn huge_checks_do_not_overflow() {
    assert!(cost::rank(&Check::distinct(vec![TrackerId(0); 100_000])) > 0);
    assert!(cost::rank(&Check::Keys(vec![ObjectId(0); 100_000])) > 0);
}

//! What accesses and checks cost, and which fail first: the static table behind a tree's schedule.
//!
//! Costs are rough nanoseconds of a native evaluator (CPython 3.8-3.13). The *rank* of a check is its cost times how
//! many hits are expected for one miss that this check is the first to see, scaled; the schedule takes the lowest
//! rank first, which is the best order for independent tests.
//!
//! | check | cost | hits per miss | why |
//! |---|---|---|---|
//! | `Equals` | 2 | 1 | plain values of arguments vary most |
//! | `Len`, `HasNext` | 1 | 2 | containers grow, iterators move |
//! | `Ended` | 2 | 2 | of an iterator and of those below it |
//! | `Is`, `TypeIs` | 1 | 4 | one compare of pointers |
//! | `SameAs`, `Unbound` | 1 | 8 | the way a function is called rarely changes |
//! | `Tensor` | 20 | 1 | shapes vary, but a check reads several fields |
//! | `Distinct` | 1 a path | 8 | |
//! | `Keys` | 4 + 4 a key | 4 | |
//! | `Table` | 4 + 4 a member | 4 | |
//! | `Hashes` | 4 + 1 a key | 4 | |
//! | `Lacks`, `Member` | 8 | 16 | a hash lookup; a key that was not there rarely comes |
//! | `EndsUnseen` | 200 | 8 | a search through what the value holds |
//! | `ClassLookup`, `Mro`, `SubclassOf`, `LacksAttr` | 20, 20, 20, 30 | 16 | a walk along the MRO |

use crate::{Access, Check};

/// Nanoseconds of an access.
pub fn of_access(access: &Access) -> u32 {
    match access {
        Access::Slot(_) | Access::Constant(_) => 0,
        Access::TypeOf
        | Access::CellContent
        | Access::FunctionPart(_)
        | Access::MethodSelf
        | Access::MethodFunction
        | Access::SeqItem(_)
        | Access::IterPeek
        | Access::IterAhead(_)
        | Access::IterSource => 1,
        Access::Arithmetic(_) | Access::IterOver | Access::IterUnder(_) => 20,
        Access::InstanceDict => 2,
        Access::Attr(_) => 10,
        Access::DictItem(_) | Access::DictKey(_) | Access::DictValue(_) => 8,
    }
}

/// Nanoseconds of a check.
pub fn of_check(check: &Check) -> u32 {
    match check {
        Check::Is(_) | Check::TypeIs(_) | Check::SameAs(_) | Check::Unbound | Check::Len(_) | Check::HasNext(_) => 1,
        Check::Ended => 2,
        Check::Equals(_) => 2,
        Check::Tensor(_) => 20,
        Check::Distinct { others, .. } => 1 + (others.len() as u32).min(1 << 20),
        Check::Keys(keys) => 4 + 4 * (keys.len() as u32).min(1 << 20),
        Check::Hashes { hashes, .. } => 4 + (hashes.len() as u32).min(1 << 20),
        Check::Table { members, .. } => 4 + 4 * (members.len() as u32).min(1 << 20),
        Check::Lacks(_) | Check::Member { .. } | Check::Quiet { key: Some(_) } => 8,
        // As long as the set, which the guard does not know.
        Check::Quiet { key: None } => 100,
        Check::EndsUnseen => 200,
        Check::ClassLookup { .. } | Check::Mro(_) | Check::Alike(_) | Check::SubclassOf { .. } => 20,
        Check::LacksAttr(_) => 30,
    }
}

/// Expected hits for one miss.
pub fn hits_per_miss(check: &Check) -> u32 {
    match check {
        Check::Equals(_) | Check::Tensor(_) => 1,
        Check::Len(_) | Check::HasNext(_) | Check::Ended => 2,
        Check::Is(_) | Check::TypeIs(_) | Check::Keys(_) | Check::Hashes { .. } | Check::Table { .. } => 4,
        Check::SameAs(_) | Check::Unbound | Check::Distinct { .. } | Check::EndsUnseen => 8,
        Check::Lacks(_)
        | Check::Member { .. }
        | Check::Quiet { .. }
        | Check::ClassLookup { .. }
        | Check::Mro(_)
        | Check::Alike(_)
        | Check::SubclassOf { .. }
        | Check::LacksAttr(_) => 16,
    }
}

/// Lower goes first.
pub fn rank(check: &Check) -> u32 {
    of_check(check).saturating_mul(hits_per_miss(check))
}

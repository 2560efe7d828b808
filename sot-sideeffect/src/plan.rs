//! What is replayed: the journal in program order, without writes that no one can see.
//!
//! A write is left out for exactly three reasons.
//! 1. *Unbuilt*: its target is virtual and does not escape, so nobody sees the object but through its final state.
//! 2. *Overwritten slot*: an attribute, global or cell of a plain target is written again, with no observer in
//!    between. The last value is stored **at the place of the first write**: a new name enters the dict of an
//!    instance or module where eager Python would have entered it. A deletion of an attribute or global is never
//!    left out and ends the run, as it needs the name to be there and sends it to the end of the dict.
//! 3. *Overwritten content*: a plain container is cleared or replaced as a whole, with no observer in between.
//!
//! An observer is a mutation of a target that is not plain (it may run user code, which may look at anything). An
//! iterator that is advanced observes the content of every container, but neither attributes, globals nor cells.
//!
//! The caller loads or builds *all* [`ReplayPlan::operands`] before the first entry is replayed: the path that leads
//! to an operand may be changed by an entry before the one that needs it.
//!
//! ```
//! use sot_sideeffect::{Journal, Mutation, Policy, Target, VarRef, plan};
//! use sot_tracker::ObjectId;
//!
//! struct Plain;
//! impl Policy for Plain {
//!     fn is_plain(&self, _: Target) -> bool { true }
//! }
//!
//! let (file, mut journal) = ("f.py".into(), Journal::new());
//! let set = |name: &str, value| Mutation::SetGlobal { globals: ObjectId(0), name: name.into(), value: VarRef(value) };
//! journal.record(set("a", 1), &file, 1);
//! journal.record(set("b", 2), &file, 2);
//! journal.record(set("a", 3), &file, 3);
//! assert_eq!(plan(&journal, &Plain).to_string(), "\
//! globals_0[\"a\"] = v3  # f.py:3
//! globals_0[\"b\"] = v2  # f.py:2
//! ");
//! ```

use crate::{Entry, Journal, Mutation, Slot, Target, VarRef};
use hashbrown::{HashMap, HashSet};
use std::fmt;

/// What the caller knows about the objects of a journal.
pub trait Policy {
    /// Replaying any journalled mutation of this target runs no user code (hashing and comparing its keys and
    /// freeing what it drops included), and its slots cannot be written through another target.
    fn is_plain(&self, _target: Target) -> bool {
        false
    }
    /// The object was created during the capture and is built, in its final state, before or after the replay.
    fn is_virtual(&self, _object: VarRef) -> bool {
        false
    }
    /// The virtual object is built in its *first* state before the replay and changed by it, because something
    /// that the replay runs can see it.
    fn escapes(&self, _object: VarRef) -> bool {
        false
    }
}

/// Nothing is known: every entry is replayed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsRecorded;

impl Policy for AsRecorded {}

/// Entries to replay, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayPlan {
    entries: Vec<Entry>,
}

impl ReplayPlan {
    /// The entries in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Variables that must be at hand before the first entry is replayed, in order of first use, none twice.
    pub fn operands(&self) -> Vec<VarRef> {
        let mut seen = HashSet::new();
        self.entries.iter().flat_map(|e| e.mutation.operands()).filter(|v| seen.insert(*v)).collect()
    }
}

/// The plan of a journal.
pub fn plan(journal: &Journal, policy: &dyn Policy) -> ReplayPlan {
    let mut planner = Planner::default();
    for entry in journal.entries() {
        let target = entry.mutation.target();
        if is_unbuilt(target, policy) {
            continue;
        }
        if policy.is_plain(target) { planner.plain(entry) } else { planner.observer(entry) }
    }
    ReplayPlan { entries: planner.out.into_iter().flatten().collect() }
}

fn is_unbuilt(target: Target, policy: &dyn Policy) -> bool {
    match target {
        Target::Object(object) => policy.is_virtual(object) && !policy.escapes(object),
        Target::Globals(_) => false,
    }
}

#[derive(Default)]
struct Planner {
    /// `None`: found to be overwritten.
    out: Vec<Option<Entry>>,
    /// Where the run of unobserved writes to an attribute, global or cell began.
    runs: HashMap<Slot, usize>,
    /// Unobserved changes of a container's content.
    content: HashMap<Slot, Vec<usize>>,
}

impl Planner {
    fn observer(&mut self, entry: &Entry) {
        self.runs.clear();
        self.content.clear();
        self.out.push(Some(entry.clone()));
    }

    fn plain(&mut self, entry: &Entry) {
        let slot = entry.mutation.slot();
        match entry.mutation {
            Mutation::SetAttr { .. }
            | Mutation::SetGlobal { .. }
            | Mutation::SetCell { .. }
            | Mutation::ClearCell { .. } => {
                if let Some(first) = self.runs.get(&slot) {
                    self.out[*first] = Some(entry.clone());
                    return;
                }
                self.runs.insert(slot, self.out.len());
            }
            Mutation::DelAttr { .. } | Mutation::DelGlobal { .. } => {
                self.runs.remove(&slot);
            }
            Mutation::ListClear { .. }
            | Mutation::ListReplace { .. }
            | Mutation::SetClear { .. }
            | Mutation::DictClear { .. } => {
                let overwritten = self.content.insert(slot, vec![self.out.len()]).unwrap_or_default();
                for position in overwritten {
                    self.out[position] = None;
                }
            }
            Mutation::SetItem { .. }
            | Mutation::DelItem { .. }
            | Mutation::ListAppend { .. }
            | Mutation::ListInsert { .. }
            | Mutation::ListPop { .. }
            | Mutation::ListExtend { .. }
            | Mutation::ListReverse { .. }
            | Mutation::SetAdd { .. }
            | Mutation::SetDiscard { .. }
            | Mutation::DictPop { .. } => self.content.entry(slot).or_default().push(self.out.len()),
            Mutation::IterAdvance { .. } => self.content.clear(),
        }
        self.out.push(Some(entry.clone()));
    }
}

impl fmt::Display for ReplayPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

//! All trackers of a capture, interned: the same path gets the same id.
//!
//! Ids are handed out in order and never freed, so a base always has a smaller id than what continues it.

use crate::{Access, Names, ObjectId, Tracker, TrackerId};
use hashbrown::{HashMap, HashSet};
use std::fmt;

/// Arena of trackers with structural hash-consing.
#[derive(Clone, Debug, Default)]
pub struct TrackerTable {
    trackers: Vec<Tracker>,
    /// Where the path of each tracker starts, and its number of steps.
    roots: Vec<(TrackerId, u32)>,
    /// Steps of each path when it is written out: as often as a number is an operand, all that leads to it.
    weights: Vec<u32>,
    longest: u32,
    ids: HashMap<Tracker, TrackerId>,
}

impl TrackerTable {
    /// An empty table.
    pub fn new() -> TrackerTable {
        TrackerTable::default()
    }

    /// The id of this tracker.
    ///
    /// # Panics
    /// If its base, or a number that it is computed of, is not an id of this table.
    pub fn intern(&mut self, tracker: Tracker) -> TrackerId {
        let (left, right) = tracker.operands();
        for base in tracker.base().into_iter().chain(left).chain(right) {
            assert!(base.index() < self.trackers.len(), "the base {base:?} is not of this table");
        }
        if let Some(id) = self.ids.get(&tracker) {
            return *id;
        }
        let id = TrackerId(u32::try_from(self.trackers.len()).expect("fewer than 2^32 trackers"));
        let longest_of = |operand: Option<TrackerId>| operand.map_or(0, |operand| self.roots[operand.index()].1);
        let (root, length) = tracker.base().map_or((id, 1 + longest_of(left).max(longest_of(right))), |base| {
            let (root, length) = self.roots[base.index()];
            (root, length + 1)
        });
        let weigh = |of: Option<TrackerId>| of.map_or(0, |of| self.weights[of.index()]);
        let weight = weigh(tracker.base()).saturating_add(weigh(left)).saturating_add(weigh(right)).saturating_add(1);
        self.weights.push(weight);
        self.roots.push((root, length));
        self.longest = self.longest.max(length);
        self.trackers.push(tracker.clone());
        self.ids.insert(tracker, id);
        id
    }

    /// The path that is this slot of the frame.
    pub fn slot(&mut self, slot: u32) -> TrackerId {
        self.intern(Tracker::Root(Access::Slot(slot)))
    }

    /// The path that is always this object.
    pub fn constant(&mut self, object: ObjectId) -> TrackerId {
        self.intern(Tracker::Root(Access::Constant(object)))
    }

    /// The path that goes on from another one.
    ///
    /// # Panics
    /// If `base` is not an id of this table.
    pub fn step(&mut self, base: TrackerId, access: Access) -> TrackerId {
        self.intern(Tracker::Step { base, access })
    }

    /// The tracker of an id of this table.
    pub fn get(&self, id: TrackerId) -> &Tracker {
        &self.trackers[id.index()]
    }

    /// Number of trackers.
    pub fn len(&self) -> usize {
        self.trackers.len()
    }

    /// Whether nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.trackers.is_empty()
    }

    /// All trackers in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (TrackerId, &Tracker)> {
        self.trackers.iter().enumerate().map(|(i, t)| (TrackerId(i as u32), t))
    }

    /// The path from its root to `id`, both included. Of what is computed of numbers, the paths to those come first.
    pub fn path(&self, id: TrackerId) -> Vec<TrackerId> {
        let mut path = self.steps(id);
        if !matches!(self.get(path[0]), Tracker::Arithmetic { .. }) {
            return path;
        }
        // Whatever comes first has the smaller id.
        let mut needed = vec![path[0]];
        let mut seen = HashSet::new();
        let mut steps = Vec::new();
        while let Some(at) = needed.pop() {
            for step in self.steps(at) {
                if seen.insert(step) {
                    steps.push(step);
                    let (left, right) = self.get(step).operands();
                    needed.extend(left.into_iter().chain(right));
                }
            }
        }
        steps.sort_unstable();
        steps.extend(path.drain(1..));
        steps
    }

    /// The steps from the root to `id`.
    fn steps(&self, id: TrackerId) -> Vec<TrackerId> {
        let mut path = vec![id];
        let mut at = id;
        while let Some(base) = self.get(at).base() {
            path.push(base);
            at = base;
        }
        path.reverse();
        path
    }

    /// Where the path starts.
    pub fn root(&self, id: TrackerId) -> TrackerId {
        self.roots[id.index()].0
    }

    /// Steps of this path when it is written out, as text or as code: what several operations need is there once for each.
    pub fn weight(&self, id: TrackerId) -> u32 {
        self.weights[id.index()]
    }

    /// Steps of the longest path, its root included.
    pub fn longest_path(&self) -> u32 {
        self.longest
    }

    /// Whether the value can be found again: nothing on the path was computed.
    pub fn is_reachable(&self, id: TrackerId) -> bool {
        *self.get(self.root(id)) != Tracker::Computed
    }

    /// The text of a path: `locals["x"].weight[0]`.
    pub fn display<'a>(&'a self, id: TrackerId, names: &'a dyn Names) -> impl fmt::Display + 'a {
        Path { table: self, id, names }
    }
}

struct Path<'a> {
    table: &'a TrackerTable,
    id: TrackerId,
    names: &'a dyn Names,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for step in self.table.steps(self.id) {
            let tracker = self.table.get(step);
            let (left, right) = tracker.operands();
            let of = |id: Option<TrackerId>| id.map(|id| self.table.display(id, self.names).to_string());
            let base = of(left).unwrap_or(text);
            let mut longer = String::new();
            match tracker.access() {
                Some(access) => access.write(&mut longer, &base, &of(right).unwrap_or_default(), self.names)?,
                None => longer.push_str("<computed>"),
            }
            text = longer;
        }
        f.write_str(&text)
    }
}

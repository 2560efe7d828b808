//! Guard implication: drop a guard that the others prove.
//!
//! The verdict of the set never changes, whatever the state it is asked of. When in doubt, a guard stays. Order is
//! kept. `P` and `Q` are paths, `o` an object that the caller's [`Known`] calls immutable; `P = o` by path (a constant)
//! counts as `P is o`.
//!
//! | proved | by |
//! |---|---|
//! | `P is o` | `P` is the constant `o` (mutable or not) |
//! | `type(P) is T` | `P is o` or `P == o` with `type(o) is T`; a backend check of `P` that asks for `T` |
//! | `type(P) is T`, said of the path `type(P)` | the same said of `P` |
//! | `P == p` | `P is o` with `o == p` |
//! | `len(P) == n` | `P is o` or `P == o` with `len(o) == n`; `list(P) == [n keys]` |
//! | `P is Q` | a chain of other such guards and of `R is o` (mutable or not) from `P` to `Q` |
//! | `distinct(A..) from (B..)` | another one that names all the same paths, and those of `A` before its own `from` |
//! | `has_next(P)` | any guard on a path through `peek(P)` |
//!
//! Nothing else proves anything. In particular `P is o` says nothing of a mutable `o`'s length, value or type, and an
//! equal type does not follow from an equal value of mutable objects.

use crate::{Access, Check, Guard, GuardSet, ObjectId, Tracker, TrackerId, TrackerTable};
use hashbrown::{HashMap, HashSet};

/// What the caller knows about objects of its table. Every answer must be true for ever; the default is to know
/// nothing.
pub trait Known {
    /// Type, value and length of the object never change (int, str, None, code, a tuple of such, ...).
    fn is_immutable(&self, _object: ObjectId) -> bool {
        false
    }
    /// Exact type. Asked of immutable objects only.
    fn type_of(&self, _object: ObjectId) -> Option<ObjectId> {
        None
    }
    /// What [`Check::Len`] sees. Asked of immutable objects only.
    fn len_of(&self, _object: ObjectId) -> Option<usize> {
        None
    }
    /// Whether [`Check::Equals(b)`](Check::Equals) holds of `a`: exact type, and `==` (so a NaN answers no). Asked of
    /// immutable `a` only.
    fn equals(&self, _a: ObjectId, _b: ObjectId) -> bool {
        false
    }
    /// The exact type that the backend check of this number asks for.
    fn tensor_type(&self, _check: u32) -> Option<ObjectId> {
        None
    }
}

/// Nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingKnown;

impl Known for NothingKnown {}

impl GuardSet {
    /// Drop guards that others prove. See the [module](crate::simplify) for what proves what.
    pub fn simplify(&mut self, table: &TrackerTable, known: &dyn Known) {
        let premises = Premises::of(self, table, known);
        self.retain(&mut |_, guard| !premises.proves(guard));
        drop_chained(self, table);
        drop_weaker_distinct(self);
        drop_has_next(self, table);
    }
}

/// What is known of single paths, from the guards that prove other guards.
struct Premises<'a> {
    set: HashSet<(TrackerId, ObjectId)>,
    immutable: HashMap<TrackerId, Vec<ObjectId>>,
    equal: HashMap<TrackerId, Vec<ObjectId>>,
    tensor: HashMap<TrackerId, Vec<ObjectId>>,
    keys: HashSet<(TrackerId, usize)>,
    table: &'a TrackerTable,
    known: &'a dyn Known,
}

impl<'a> Premises<'a> {
    fn of(guards: &GuardSet, table: &'a TrackerTable, known: &'a dyn Known) -> Premises<'a> {
        let mut premises = Premises {
            set: HashSet::new(),
            immutable: HashMap::new(),
            equal: HashMap::new(),
            tensor: HashMap::new(),
            keys: HashSet::new(),
            table,
            known,
        };
        for guard in guards {
            let at = guard.tracker;
            if let Some(object) = table.get(at).as_constant() {
                premises.add_is(at, object);
            }
            match &guard.check {
                Check::Is(object) => premises.add_is(at, *object),
                Check::Equals(object) if known.is_immutable(*object) => {
                    premises.equal.entry(at).or_default().push(*object);
                }
                Check::Tensor(check) => premises.tensor.entry(at).or_default().extend(known.tensor_type(*check)),
                Check::Keys(keys) => {
                    premises.keys.insert((at, keys.len()));
                }
                Check::Hashes { hashes, .. } => {
                    premises.keys.insert((at, hashes.len()));
                }
                Check::TypeIs(class) => {
                    premises.set.insert((at, *class));
                }
                Check::Equals(_)
                | Check::Len(_)
                | Check::Lacks(_)
                | Check::Member { .. }
                | Check::Quiet { .. }
                | Check::Table { .. }
                | Check::LacksAttr(_)
                | Check::SameAs(_)
                | Check::Distinct { .. }
                | Check::HasNext(_)
                | Check::Ended
                | Check::EndsUnseen
                | Check::Unbound
                | Check::ClassLookup { .. }
                | Check::Mro(_)
                | Check::Alike(_)
                | Check::SubclassOf { .. } => {}
            }
        }
        premises
    }

    fn add_is(&mut self, at: TrackerId, object: ObjectId) {
        if self.known.is_immutable(object) {
            self.immutable.entry(at).or_default().push(object);
        }
    }

    fn any(map: &HashMap<TrackerId, Vec<ObjectId>>, at: TrackerId, test: &dyn Fn(ObjectId) -> bool) -> bool {
        map.get(&at).is_some_and(|objects| objects.iter().any(|o| test(*o)))
    }

    /// Whether another guard proves this one. Proofs never go round: `Is` proves `Equals` proves `TypeIs` proves `Is`
    /// of a longer path.
    fn proves(&self, guard: &Guard) -> bool {
        let at = guard.tracker;
        match &guard.check {
            Check::Is(object) => match self.table.get(at) {
                Tracker::Root(Access::Constant(constant)) => constant == object,
                Tracker::Step { base, access: Access::TypeOf } => self.set.contains(&(*base, *object)),
                Tracker::Root(_) | Tracker::Step { .. } | Tracker::Arithmetic { .. } | Tracker::Computed => false,
            },
            Check::TypeIs(class) => {
                let has_class = |o| self.known.type_of(o) == Some(*class);
                Premises::any(&self.immutable, at, &has_class)
                    || Premises::any(&self.equal, at, &has_class)
                    || Premises::any(&self.tensor, at, &|o| o == *class)
            }
            Check::Equals(object) => Premises::any(&self.immutable, at, &|o| self.known.equals(o, *object)),
            Check::Len(len) => {
                let has_len = |o| self.known.len_of(o) == Some(*len);
                Premises::any(&self.immutable, at, &has_len)
                    || Premises::any(&self.equal, at, &has_len)
                    || self.keys.contains(&(at, *len))
            }
            Check::Lacks(_)
            | Check::Member { .. }
            | Check::Quiet { .. }
            | Check::Table { .. }
            | Check::LacksAttr(_)
            | Check::Keys(_)
            | Check::Hashes { .. }
            | Check::Tensor(_)
            | Check::SameAs(_)
            | Check::Distinct { .. }
            | Check::HasNext(_)
            | Check::Ended
            | Check::EndsUnseen
            | Check::Unbound
            | Check::ClassLookup { .. }
            | Check::Mro(_)
            | Check::Alike(_)
            | Check::SubclassOf { .. } => false,
        }
    }
}

/// `SameAs` whose ends are already joined. Ends are paths and the objects that `Is` names.
fn drop_chained(guards: &mut GuardSet, table: &TrackerTable) {
    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    enum End {
        Path(TrackerId),
        Object(ObjectId),
    }
    let mut up: HashMap<End, End> = HashMap::new();
    fn top(up: &HashMap<End, End>, mut end: End) -> End {
        while let Some(next) = up.get(&end) {
            end = *next;
        }
        end
    }
    let mut join = |a: End, b: End| {
        let (a, b) = (top(&up, a), top(&up, b));
        if a != b {
            up.insert(a, b);
        }
        a != b
    };
    for guard in guards.iter() {
        for tracker in guard.trackers() {
            if let Some(object) = table.get(tracker).as_constant() {
                join(End::Path(tracker), End::Object(object));
            }
        }
        if let Check::Is(object) = guard.check {
            join(End::Path(guard.tracker), End::Object(object));
        }
    }
    guards.retain(&mut |_, guard| match guard.check {
        // `P is P` still says that `P` is there.
        Check::SameAs(other) => other == guard.tracker || join(End::Path(guard.tracker), End::Path(other)),
        Check::Is(_)
        | Check::TypeIs(_)
        | Check::Equals(_)
        | Check::Len(_)
        | Check::Lacks(_)
        | Check::Member { .. }
        | Check::Quiet { .. }
        | Check::Table { .. }
        | Check::LacksAttr(_)
        | Check::Keys(_)
        | Check::Hashes { .. }
        | Check::Tensor(_)
        | Check::Distinct { .. }
        | Check::HasNext(_)
        | Check::Ended
        | Check::EndsUnseen
        | Check::Unbound
        | Check::ClassLookup { .. }
        | Check::Mro(_)
        | Check::Alike(_)
        | Check::SubclassOf { .. } => true,
    });
}

/// `Distinct` that keeps no two paths apart that another one does not keep apart.
fn drop_weaker_distinct(guards: &mut GuardSet) {
    struct Names {
        group: HashSet<TrackerId>,
        all: HashSet<TrackerId>,
    }
    let mut named: HashMap<usize, Names> = HashMap::new();
    let mut naming: HashMap<TrackerId, Vec<usize>> = HashMap::new();
    for (index, guard) in guards.iter().enumerate() {
        let Check::Distinct { group, .. } = &guard.check else { continue };
        let names = Names { group: guard.trackers().take(1 + group).collect(), all: guard.trackers().collect() };
        names.all.iter().for_each(|t| naming.entry(*t).or_default().push(index));
        named.insert(index, names);
    }
    guards.retain(&mut |index, guard| {
        let Check::Distinct { others, .. } = &guard.check else { return true };
        let mine = &named[&index];
        // A path named twice makes the check false for ever.
        if mine.all.len() <= others.len() {
            return true;
        }
        let covers_mine = |other: usize| {
            let theirs = &named[&other];
            let size = |names: &Names| (names.all.len(), names.group.len());
            (size(mine) < size(theirs) || size(mine) == size(theirs) && other < index)
                && mine.group.is_subset(&theirs.group)
                && mine.all.is_subset(&theirs.all)
        };
        // Whoever covers it names all of its paths: the one that is named least tells the fewest to ask.
        let candidates = guard.trackers().map(|t| &naming[&t]).min_by_key(|naming| naming.len());
        !candidates.is_some_and(|others| others.iter().any(|other| *other != index && covers_mine(*other)))
    });
}

impl GuardSet {
    /// Drop the guards that say nothing but that there is a value (`P is P`) where another guard needs it, too.
    pub fn drop_implied_presence(&mut self, table: &TrackerTable) {
        let is_presence = |guard: &Guard| guard.check == Check::SameAs(guard.tracker);
        let mut needed: HashSet<TrackerId> = HashSet::new();
        for guard in self.iter().filter(|g| !is_presence(g)) {
            for tracker in guard.trackers() {
                // Whatever is said of a path, the values before its end are there.
                let mut path = table.path(tracker);
                if guard.check == Check::Unbound {
                    path.pop();
                }
                needed.extend(path);
            }
        }
        self.retain(&mut |_, guard| !is_presence(guard) || !needed.contains(&guard.tracker));
        // Of those that are left, the longer paths imply the shorter.
        let mut longer: HashSet<TrackerId> = HashSet::new();
        for guard in self.iter().filter(|g| is_presence(g)) {
            let mut path = table.path(guard.tracker);
            path.pop();
            longer.extend(path);
        }
        self.retain(&mut |_, guard| !is_presence(guard) || !longer.contains(&guard.tracker));
    }
}

/// `HasNext(true)` where something is said of the next item, or of one behind it.
fn drop_has_next(guards: &mut GuardSet, table: &TrackerTable) {
    let peeked: HashSet<TrackerId> = guards
        .iter()
        .flat_map(Guard::trackers)
        .flat_map(|t| table.path(t))
        .filter_map(|t| match table.get(t) {
            Tracker::Step { base: iterator, access: Access::IterPeek | Access::IterAhead(_) } => Some(*iterator),
            Tracker::Root(_) | Tracker::Step { .. } | Tracker::Arithmetic { .. } | Tracker::Computed => None,
        })
        .collect();
    guards.retain(&mut |_, guard| guard.check != Check::HasNext(true) || !peeked.contains(&guard.tracker));
}

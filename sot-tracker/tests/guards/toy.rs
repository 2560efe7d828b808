//! A made-up object model: a heap of a dozen kinds of objects and a frame with slots, all generated from a stream of
//! random numbers so that proptest shrinks it.

use sot_tracker::{
    Access, Accessed, Arithmetic, Check, FunctionPart, Guard, GuardSet, Known, ObjectId, Tracker, TrackerId,
    TrackerTable, World,
};

/// Random numbers, then zeros.
pub(crate) struct Stream<'a>(pub(crate) std::slice::Iter<'a, u32>);

impl Stream<'_> {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.next().map_or(0, |n| *n as usize % limit.max(1))
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A class; attributes are looked up here alone.
    Class(Vec<(String, ObjectId)>),
    Int(i64),
    Nan,
    List(Vec<ObjectId>),
    Dict(Vec<(ObjectId, ObjectId)>),
    Instance {
        dict: ObjectId,
    },
    Cell(Option<ObjectId>),
    Function([ObjectId; 5]),
    Method {
        receiver: ObjectId,
        function: ObjectId,
    },
    Iterator {
        source: ObjectId,
        index: usize,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) class: ObjectId,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) heap: Vec<Object>,
    pub(crate) slots: Vec<Option<ObjectId>>,
}

const NAMES: [&str; 3] = ["a", "b", "c"];
const KINDS: u32 = 10;

impl State {
    /// Objects 0..10 are the classes of the ten kinds (a class's class is object 0), then some of everything.
    pub(crate) fn generate(stream: &mut Stream<'_>) -> State {
        let size = KINDS as usize + 16;
        let heap = (0..size)
            .map(|index| {
                if index < KINDS as usize {
                    let attrs = (0..stream.below(3)).map(|n| (NAMES[n].to_owned(), any(stream, size))).collect();
                    return Object { class: ObjectId(0), kind: Kind::Class(attrs) };
                }
                let kind = 1 + stream.below(KINDS as usize - 1);
                Object { class: ObjectId(kind as u32), kind: random_kind(kind, stream, size) }
            })
            .collect();
        let mut state = State { heap, slots: Vec::new() };
        // The classes say what the object is only if no int is shown to be a dict: instances need a dict.
        state.repair();
        state.slots = (0..5).map(|_| (!stream.one_in(4)).then(|| any(stream, size))).collect();
        state
    }

    fn repair(&mut self) {
        let dict = self.heap.iter().position(|o| matches!(o.kind, Kind::Dict(_)));
        for index in 0..self.heap.len() {
            if let Kind::Instance { dict: at } = self.heap[index].kind
                && !matches!(self.heap[at.index()].kind, Kind::Dict(_))
            {
                self.heap[index].kind = match dict {
                    Some(dict) => Kind::Instance { dict: ObjectId(dict as u32) },
                    None => Kind::Int(0),
                };
                if dict.is_none() {
                    self.heap[index].class = ObjectId(1);
                }
            }
        }
    }

    /// The same with a slot or mutable object changed.
    pub(crate) fn disturbed(&self, stream: &mut Stream<'_>) -> State {
        let mut state = self.clone();
        let size = state.heap.len();
        for _ in 0..1 + stream.below(3) {
            if stream.one_in(2) {
                let slot = stream.below(state.slots.len());
                state.slots[slot] = (!stream.one_in(4)).then(|| any(stream, size));
                continue;
            }
            let at = KINDS as usize + stream.below(size - KINDS as usize);
            let kind = state.heap[at].class.0 as usize;
            if !state.immutable(ObjectId(at as u32)) {
                state.heap[at].kind = random_kind(kind, stream, size);
            }
        }
        state.repair();
        state
    }

    pub(crate) fn immutable(&self, object: ObjectId) -> bool {
        matches!(self.heap[object.index()].kind, Kind::Int(_) | Kind::Nan)
    }

    pub(crate) fn equal(&self, a: ObjectId, b: ObjectId) -> bool {
        match (&self.heap[a.index()].kind, &self.heap[b.index()].kind) {
            (Kind::Nan, _) | (_, Kind::Nan) => false,
            (Kind::Int(a), Kind::Int(b)) => a == b,
            (Kind::List(x), Kind::List(y)) => x == y,
            _ => a == b,
        }
    }

    fn same_key(&self, a: ObjectId, b: ObjectId) -> bool {
        a == b || self.equal(a, b)
    }

    fn class_lookup(&self, class: ObjectId, name: &str) -> Option<ObjectId> {
        match &self.heap[class.index()].kind {
            Kind::Class(attrs) => attrs.iter().find(|(n, _)| n == name).map(|(_, v)| *v),
            _ => None,
        }
    }

    fn attr(&self, object: ObjectId, name: &str) -> Option<ObjectId> {
        let o = &self.heap[object.index()];
        if let Kind::Instance { dict } = o.kind
            && let Kind::Dict(items) = &self.heap[dict.index()].kind
            // Names are interned as ints: "a" is the key 0, and so on.
            && let Some((_, value)) = items.iter().find(|(k, _)| {
                matches!(self.heap[k.index()].kind, Kind::Int(n) if NAMES.get(n as usize) == Some(&name))
            })
        {
            return Some(*value);
        }
        self.class_lookup(o.class, name)
    }

    /// A number of the heap, if the operation's result is there.
    fn computed(&self, op: Arithmetic, left: ObjectId, right: Option<ObjectId>) -> Option<ObjectId> {
        let number = |object: ObjectId| match self.heap[object.index()].kind {
            Kind::Int(number) => Some(number),
            _ => None,
        };
        let (left, right) = (number(left)?, right.map_or(Some(0), number)?);
        let result = match op {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Remainder => left.checked_rem(right)?,
            Arithmetic::Lt => i64::from(left < right),
            Arithmetic::Negative => -left,
            _ => left,
        };
        let at = self.heap.iter().position(|object| matches!(object.kind, Kind::Int(found) if found == result))?;
        Some(ObjectId(at as u32))
    }

    fn step(&self, access: &Access, base: Option<ObjectId>) -> Accessed<ObjectId> {
        let kind = base.map(|b| &self.heap[b.index()].kind);
        let found = match (access, kind) {
            (Access::Slot(slot), _) => {
                return match self.slots.get(*slot as usize) {
                    Some(Some(value)) => Accessed::Value(*value),
                    Some(None) => Accessed::Empty,
                    None => Accessed::Missing,
                };
            }
            (Access::Constant(object), _) => Some(*object),
            (Access::TypeOf, Some(_)) => base.map(|b| self.heap[b.index()].class),
            (Access::Attr(name), Some(_)) => base.and_then(|b| self.attr(b, name)),
            (Access::InstanceDict, Some(Kind::Instance { dict })) => Some(*dict),
            (Access::DictItem(key), Some(Kind::Dict(items))) => {
                items.iter().find(|(k, _)| self.same_key(*k, *key)).map(|(_, v)| *v)
            }
            (Access::DictKey(index), Some(Kind::Dict(items))) => items.get(*index as usize).map(|(k, _)| *k),
            (Access::DictValue(index), Some(Kind::Dict(items))) => items.get(*index as usize).map(|(_, v)| *v),
            (Access::SeqItem(index), Some(Kind::List(items))) => {
                let index = if *index < 0 { *index + items.len() as i64 } else { *index };
                usize::try_from(index).ok().and_then(|i| items.get(i).copied())
            }
            (Access::CellContent, Some(Kind::Cell(content))) => match content {
                Some(content) => Some(*content),
                None => return Accessed::Empty,
            },
            (Access::FunctionPart(part), Some(Kind::Function(parts))) => Some(parts[*part as usize]),
            (Access::MethodSelf, Some(Kind::Method { receiver, .. })) => Some(*receiver),
            (Access::MethodFunction, Some(Kind::Method { function, .. })) => Some(*function),
            (Access::IterSource, Some(Kind::Iterator { source, .. })) => Some(*source),
            (Access::IterAhead(taken), Some(Kind::Iterator { source, index })) => match &self.heap[source.index()].kind
            {
                Kind::List(items) => items.get(*index + *taken as usize).copied(),
                _ => None,
            },
            (Access::IterPeek, Some(Kind::Iterator { source, index })) => match &self.heap[source.index()].kind {
                Kind::List(items) => items.get(*index).copied(),
                _ => None,
            },
            _ => None,
        };
        found.map_or(Accessed::Missing, Accessed::Value)
    }

    fn holds(&self, check: &Check, value: ObjectId, others: &[ObjectId]) -> bool {
        let object = &self.heap[value.index()];
        match check {
            Check::Is(o) => value == *o,
            Check::TypeIs(class) => object.class == *class,
            Check::Equals(o) => object.class == self.heap[o.index()].class && self.equal(value, *o),
            Check::Len(len) => match &object.kind {
                Kind::List(items) => items.len() == *len,
                Kind::Dict(items) => items.len() == *len,
                Kind::Iterator { source, index } => match &self.heap[source.index()].kind {
                    Kind::List(items) => items.len().saturating_sub(*index) == *len,
                    _ => false,
                },
                // So that an immutable object has a length, too.
                Kind::Int(n) => *n as usize == *len,
                _ => false,
            },
            Check::Lacks(key) => match &object.kind {
                Kind::Dict(items) => !items.iter().any(|(k, _)| self.same_key(*k, *key)),
                _ => false,
            },
            // There are no sets here, and no hashes but the numbers of the keys.
            Check::Member { .. } | Check::Quiet { .. } | Check::Table { .. } => false,
            Check::Hashes { hashes, .. } => match &object.kind {
                Kind::Dict(items) => items.iter().map(|(k, _)| i64::from(k.0)).eq(hashes.iter().copied()),
                _ => false,
            },
            Check::LacksAttr(name) => self.attr(value, name).is_none(),
            Check::Keys(keys) => match &object.kind {
                Kind::Dict(items) => {
                    items.len() == keys.len() && items.iter().zip(keys).all(|((a, _), b)| self.same_key(*a, *b))
                }
                _ => false,
            },
            // Check n: an int that is n.
            Check::Tensor(n) => object.kind == Kind::Int(i64::from(*n)),
            Check::SameAs(_) => others == [value],
            Check::Distinct { group, .. } => {
                let all: Vec<ObjectId> = [value].into_iter().chain(others.iter().copied()).collect();
                let (own, rest) = all.split_at(1 + group);
                own.iter().enumerate().all(|(i, o)| !own[..i].contains(o) && !rest.contains(o))
            }
            Check::HasNext(next) => match &object.kind {
                Kind::Iterator { .. } => (self.step(&Access::IterPeek, Some(value)) != Accessed::Missing) == *next,
                _ => false,
            },
            // None lets go of its list here.
            Check::Ended => false,
            // Nobody sees ends here.
            Check::EndsUnseen => true,
            Check::Unbound => unreachable!("never asked"),
            Check::ClassLookup { name, found } => {
                matches!(object.kind, Kind::Class(_)) && self.class_lookup(value, name) == *found
            }
            // Classes have no bases here.
            Check::Mro(classes) => matches!(object.kind, Kind::Class(_)) && *classes == [value],
            // Nor is any made like another.
            Check::Alike(class) => matches!(object.kind, Kind::Class(_)) && *class == value,
            Check::SubclassOf { of, holds } => matches!(object.kind, Kind::Class(_)) && (value == *of) == *holds,
        }
    }
}

impl World for &State {
    type Value = ObjectId;

    fn access(&mut self, access: &Access, base: Option<&ObjectId>, operand: Option<&ObjectId>) -> Accessed<ObjectId> {
        match access {
            Access::Arithmetic(op) => {
                assert_eq!(op.is_binary(), operand.is_some());
                let found = base.and_then(|base| self.computed(*op, *base, operand.copied()));
                found.map_or(Accessed::Missing, Accessed::Value)
            }
            _ => self.step(access, base.copied()),
        }
    }

    fn check(&mut self, check: &Check, value: &ObjectId, others: &[ObjectId]) -> bool {
        assert_eq!(check.others().len(), others.len());
        self.holds(check, *value, others)
    }
}

/// True of every state that [`State::disturbed`] makes.
impl Known for State {
    fn is_immutable(&self, object: ObjectId) -> bool {
        self.immutable(object)
    }

    fn type_of(&self, object: ObjectId) -> Option<ObjectId> {
        assert!(self.immutable(object));
        Some(self.heap[object.index()].class)
    }

    fn len_of(&self, object: ObjectId) -> Option<usize> {
        match self.heap[object.index()].kind {
            Kind::Int(n) => Some(n as usize),
            _ => None,
        }
    }

    fn equals(&self, a: ObjectId, b: ObjectId) -> bool {
        self.immutable(a) && self.heap[a.index()].class == self.heap[b.index()].class && self.equal(a, b)
    }

    fn tensor_type(&self, _check: u32) -> Option<ObjectId> {
        Some(ObjectId(1))
    }
}

fn any(stream: &mut Stream<'_>, size: usize) -> ObjectId {
    ObjectId(stream.below(size) as u32)
}

fn random_kind(kind: usize, stream: &mut Stream<'_>, size: usize) -> Kind {
    let some = |stream: &mut Stream<'_>| -> Vec<ObjectId> { (0..stream.below(4)).map(|_| any(stream, size)).collect() };
    match kind {
        1 => Kind::Int(stream.below(3) as i64),
        2 => Kind::Nan,
        3 => Kind::List(some(stream)),
        4 => Kind::Dict(some(stream).into_iter().map(|k| (k, any(stream, size))).collect()),
        5 => Kind::Instance { dict: any(stream, size) },
        6 => Kind::Cell((!stream.one_in(3)).then(|| any(stream, size))),
        7 => Kind::Function([0; 5].map(|_| any(stream, size))),
        8 => Kind::Method { receiver: any(stream, size), function: any(stream, size) },
        _ => Kind::Iterator { source: any(stream, size), index: stream.below(3) },
    }
}

/// Random paths; most of them lead somewhere in `state`.
pub(crate) fn paths(state: &State, stream: &mut Stream<'_>) -> (TrackerTable, Vec<TrackerId>) {
    let size = state.heap.len();
    let mut table = TrackerTable::new();
    let mut ids = vec![table.slot(0)];
    for _ in 0..30 {
        let base = ids[stream.below(ids.len())];
        let mut world = state;
        let here = match table.fetch(base, &mut world) {
            Some(Accessed::Value(object)) => Some(&state.heap[object.index()].kind),
            Some(Accessed::Empty | Accessed::Missing) | None => None,
        };
        let tracker = match (stream.below(8), here) {
            (0, _) => Tracker::Root(Access::Slot(stream.below(6) as u32)),
            (1, _) => Tracker::Root(Access::Constant(any(stream, size))),
            (2, _) => Tracker::Step { base, access: Access::TypeOf },
            (3, _) => Tracker::Step { base, access: Access::Attr(NAMES[stream.below(3)].to_owned()) },
            (_, Some(Kind::List(_)) | None) => {
                Tracker::Step { base, access: Access::SeqItem(stream.below(4) as i64 - 1) }
            }
            (4, Some(Kind::Dict(_))) => Tracker::Step { base, access: Access::DictKey(stream.below(3) as u32) },
            (5, Some(Kind::Dict(_))) => Tracker::Step { base, access: Access::DictValue(stream.below(3) as u32) },
            (_, Some(Kind::Dict(items))) => {
                let key = if items.is_empty() { any(stream, size) } else { items[stream.below(items.len())].0 };
                Tracker::Step { base, access: Access::DictItem(key) }
            }
            (_, Some(Kind::Instance { .. })) => Tracker::Step { base, access: Access::InstanceDict },
            (_, Some(Kind::Cell(_))) => Tracker::Step { base, access: Access::CellContent },
            (_, Some(Kind::Function(_))) => {
                Tracker::Step { base, access: Access::FunctionPart(FunctionPart::Defaults) }
            }
            (4 | 5, Some(Kind::Method { .. })) => Tracker::Step { base, access: Access::MethodSelf },
            (_, Some(Kind::Method { .. })) => Tracker::Step { base, access: Access::MethodFunction },
            (4, Some(Kind::Iterator { .. })) => Tracker::Step { base, access: Access::IterSource },
            (5, Some(Kind::Iterator { .. })) => Tracker::Step { base, access: Access::IterAhead(1) },
            (_, Some(Kind::Iterator { .. })) => Tracker::Step { base, access: Access::IterPeek },
            (4..=6, Some(Kind::Int(_))) => {
                let op = Arithmetic::ALL[stream.below(Arithmetic::ALL.len())];
                let right = op.is_binary().then(|| ids[stream.below(ids.len())]);
                Tracker::Arithmetic { op, left: base, right }
            }
            (_, Some(Kind::Class(_) | Kind::Int(_) | Kind::Nan)) => Tracker::Root(Access::Slot(stream.below(5) as u32)),
        };
        let id = table.intern(tracker);
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    (table, ids)
}

/// Random guards; most of them hold in `state`.
pub(crate) fn guards(
    state: &State,
    table: &TrackerTable,
    ids: &[TrackerId],
    count: usize,
    stream: &mut Stream<'_>,
) -> GuardSet {
    let mut set = GuardSet::new();
    for _ in 0..count {
        let tracker = ids[stream.below(ids.len())];
        let guard = Guard::new(tracker, random_check(state, ids, stream));
        let mut world = state;
        let candidate = if stream.one_in(12) || guard.evaluate(table, &mut world) {
            guard
        } else {
            match table.fetch(tracker, &mut world) {
                Some(Accessed::Empty) => Guard::new(tracker, Check::Unbound),
                Some(Accessed::Value(object)) => Guard::new(tracker, true_check(state, object, stream)),
                Some(Accessed::Missing) | None if stream.one_in(20) => guard,
                Some(Accessed::Missing) | None => continue,
            }
        };
        set.add(candidate);
    }
    set
}

fn true_check(state: &State, object: ObjectId, stream: &mut Stream<'_>) -> Check {
    let o = &state.heap[object.index()];
    match (stream.below(4), &o.kind) {
        (0, _) => Check::Is(object),
        (1, _) => Check::TypeIs(o.class),
        (2, Kind::List(items)) => Check::Len(items.len()),
        (2, Kind::Dict(items)) => Check::Len(items.len()),
        (2, Kind::Int(n)) => Check::Len(*n as usize),
        (3, Kind::Dict(items)) => {
            Check::Hashes { hashes: items.iter().map(|(k, _)| i64::from(k.0)).collect(), alike: false }
        }
        (_, Kind::Dict(items)) => Check::Keys(items.iter().map(|(k, _)| *k).collect()),
        (3, Kind::Int(n)) => Check::Tensor(*n as u32),
        (2, Kind::Iterator { source, index }) => match &state.heap[source.index()].kind {
            Kind::List(items) => Check::Len(items.len().saturating_sub(*index)),
            _ => Check::HasNext(false),
        },
        (_, Kind::Iterator { .. }) => Check::HasNext(state.step(&Access::IterPeek, Some(object)) != Accessed::Missing),
        (2, Kind::Class(_)) => Check::Mro(vec![object]),
        (3, Kind::Class(_)) if stream.one_in(2) => {
            let of = ObjectId(stream.below(KINDS as usize) as u32);
            Check::SubclassOf { of, holds: of == object }
        }
        (_, Kind::Class(_)) => {
            let name = NAMES[stream.below(3)];
            Check::ClassLookup { name: name.to_owned(), found: state.class_lookup(object, name) }
        }
        _ => Check::Equals(object),
    }
}

fn random_check(state: &State, ids: &[TrackerId], stream: &mut Stream<'_>) -> Check {
    let size = state.heap.len();
    let id = |stream: &mut Stream<'_>| ids[stream.below(ids.len())];
    match stream.below(14) {
        0 => Check::Is(any(stream, size)),
        1 => Check::TypeIs(any(stream, KINDS as usize)),
        2 => Check::Equals(any(stream, size)),
        3 => Check::Len(stream.below(4)),
        4 => Check::Lacks(any(stream, size)),
        5 => Check::LacksAttr(NAMES[stream.below(3)].to_owned()),
        6 => Check::Keys(Vec::new()),
        7 => Check::Tensor(stream.below(3) as u32),
        8 | 9 => Check::SameAs(id(stream)),
        10 | 11 => {
            let others: Vec<_> = (0..1 + stream.below(3)).map(|_| id(stream)).collect();
            Check::Distinct { group: stream.below(1 + others.len()), others }
        }
        12 => Check::HasNext(stream.one_in(2)),
        _ => Check::Unbound,
    }
}

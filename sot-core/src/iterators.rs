//! Looking at builtin iterators without advancing them.
//!
//! Peekable are exact iterators of lists, tuples, ranges, dicts, sets, strings and bytes, reversed ones too, `count` and `repeat` of
//! `itertools`, and `enumerate`, `zip`, `cycle` and `islice` over peekable ones. A `chain` is not: each of its arms is asked for an
//! iterator only when its turn comes, and may be changed until then. Guards peek, and so does rewritten code, through the native
//! callables made here.

use crate::cpython::facts::{self, Asking, IterState, OfItertools, iterator_state};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{Slots, builtin, call_slots};
use crate::type_facts;
use pyo3::PyTypeCheck;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyList, PySet, PyString, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use std::any::Any;

/// What an iterator runs over that asks others, and where it stands.
pub enum Combined<'py> {
    Enumerate {
        inner: Bound<'py, PyAny>,
        index: Bound<'py, PyAny>,
    },
    Zip {
        inners: Vec<Bound<'py, PyAny>>,
    },
    /// One of `itertools`. Its later items are known, too.
    Asking {
        asking: Asking<'py>,
        inners: Vec<Bound<'py, PyAny>>,
    },
}

/// The parts of an exact `enumerate` or `zip` object, or of one of `itertools`.
pub fn combined<'py>(iterator: &Bound<'py, PyAny>) -> Option<Combined<'py>> {
    let parts = parts(iterator)?;
    // What one of `itertools` has further on is told as if nobody asked its iterators in between.
    if matches!(parts, Combined::Zip { .. }) && asked_in_between(parts.inners()) {
        return None;
    }
    Some(parts)
}

/// The same, whoever else asks what it asks. The `__reduce__` of `enumerate` and `zip` is C code without side effects.
fn parts<'py>(iterator: &Bound<'py, PyAny>) -> Option<Combined<'py>> {
    let py = iterator.py();
    static TYPES: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();
    let [enumerate, zip] = TYPES
        .get_or_try_init(py, || -> PyResult<_> {
            Ok([builtin(py, "enumerate")?.unbind(), builtin(py, "zip")?.unbind()])
        })
        .ok()?;
    let ty = iterator.get_type();
    if !ty.is(enumerate) && !ty.is(zip) {
        let Some(OfItertools::Asking(asking)) = facts::of_itertools(iterator) else { return None };
        let inners = match &asking {
            Asking::Cycle { inner, .. } => vec![inner.clone()],
            Asking::Slice { inner, .. } => inner.iter().cloned().collect(),
        };
        return Some(Combined::Asking { asking, inners });
    }
    let reduced = iterator.call_method0("__reduce__").ok()?;
    let parts = reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
    if ty.is(enumerate) {
        return Some(Combined::Enumerate { inner: parts.get_item(0).ok()?, index: parts.get_item(1).ok()? });
    }
    // `zip(..., strict=True)` carries its state as a third part; ending it may raise.
    if reduced.len().is_ok_and(|n| n > 2) {
        return None;
    }
    Some(Combined::Zip { inners: parts.iter().collect() })
}

/// Whether one of `itertools` below asks others, and one iterator is asked from two places: what the first takes the second finds gone.
/// What is nested deeper than anything is looked through counts as that.
fn asked_in_between(iterators: &[Bound<'_, PyAny>]) -> bool {
    let (mut seen, mut twice, mut further) = (Vec::new(), false, false);
    let mut work: Vec<_> = iterators.iter().map(|iterator| (iterator.clone(), 1)).collect();
    while let Some((iterator, depth)) = work.pop() {
        twice |= seen.contains(&iterator.as_ptr());
        seen.push(iterator.as_ptr());
        let Some(parts) = parts(&iterator) else { continue };
        further |= matches!(parts, Combined::Asking { .. });
        if twice && further || depth > MAX_NESTED || seen.len() > MOST_LISTED {
            return true;
        }
        work.extend(parts.inners().iter().map(|inner| (inner.clone(), depth + 1)));
    }
    twice && further
}

impl<'py> Combined<'py> {
    /// The iterators that are advanced with it.
    pub fn inners(&self) -> &[Bound<'py, PyAny>] {
        match self {
            Combined::Enumerate { inner, .. } => std::slice::from_ref(inner),
            Combined::Zip { inners } | Combined::Asking { inners, .. } => inners,
        }
    }
}

/// Whether nobody sees what dies when an iterator has come to its end and is let go of.
fn ends_unseen(iterator: &Bound<'_, PyAny>) -> bool {
    let held = crate::cpython::module(iterator.py(), "gc")
        .and_then(|gc| gc.call_method1("get_referents", (iterator,))?.cast_into::<PyList>().map_err(PyErr::from));
    held.is_ok_and(|held| !held.iter().any(|held| facts::death_is_seen(&held)))
}

/// The item behind so many others, or how many items there are; `None`: that cannot be told.
type Walked<'py> = Option<Result<Bound<'py, PyAny>, usize>>;

fn walked<'py>(iterator: &Bound<'py, PyAny>, taken: usize, levels: usize) -> Walked<'py> {
    let or_left = |item: Option<Bound<'py, PyAny>>, left: Option<usize>| match (item, left) {
        (Some(item), _) => Some(Ok(item)),
        (None, left) => left.map(Err),
    };
    match iterator_state(iterator) {
        Some(IterState::Given(given)) => return or_left(given.nth(taken), given.left()),
        Some(_) => return or_left(ahead_by_state(iterator, taken), left(iterator)),
        None => {}
    }
    if let Some(rest) = reduced(iterator) {
        return or_left(rest.nth(taken), rest.left());
    }
    match combined(iterator)? {
        Combined::Asking { asking, .. } => walked_through(&asking, taken, levels.checked_sub(1)?),
        _ if taken > 0 => None,
        Combined::Enumerate { .. } | Combined::Zip { .. } => match has_next_at(iterator, levels)? {
            true => peek_at(iterator, levels).map(Ok),
            false => Some(Err(0)),
        },
    }
}

fn walked_through<'py>(asking: &Asking<'py>, taken: usize, levels: usize) -> Walked<'py> {
    match asking {
        Asking::Cycle { inner, saved } => {
            let more = match walked(inner, taken, levels)? {
                Ok(item) => return Some(Ok(item)),
                Err(more) => more,
            };
            let first = saved.len() + more;
            if first == 0 {
                return ends_unseen(inner).then_some(Err(0));
            }
            if !ends_unseen(inner) {
                return None;
            }
            let at = taken.checked_sub(more)? % first;
            match at.checked_sub(saved.len()) {
                None => saved.get_item(at).ok().map(Ok),
                Some(at) => walked(inner, at, levels),
            }
        }
        Asking::Slice { inner: None, .. } => Some(Err(0)),
        Asking::Slice { inner: Some(inner), skip, step, left } => {
            if let Some(left) = left.filter(|left| taken >= *left) {
                // What is left out before the end must be there: it ends there, too, if not.
                return ends_unseen(inner).then_some(Err(left)).filter(|_| left == 0);
            }
            match walked(inner, skip.checked_add(taken.checked_mul(*step)?)?, levels)? {
                Ok(item) => Some(Ok(item)),
                Err(left) if ends_unseen(inner) => Some(Err(left.saturating_sub(*skip).div_ceil(*step))),
                Err(_) => None,
            }
        }
    }
}

/// What combines other iterators without a state of its own, but for a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    Map,
    Filter,
    Zip,
    Enumerate,
}

/// An iterator of calls that has come to its end.
pub fn ended_calls(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let ends = PyTuple::empty(py).try_iter()?.getattr("__next__")?;
    let iterator = builtin(py, "iter")?.call1((ends, py.None()))?;
    iterator.try_iter()?.for_each(drop);
    Ok(iterator)
}

/// The parts of an exact `map`, `filter` or `zip` object: its function, if it has one, then its iterators; and those of an
/// `enumerate` that cannot be looked through: its iterator, then its count. Their `__reduce__` is C code without side effects.
pub fn opened<'py>(iterator: &Bound<'py, PyAny>) -> Option<(Opened, Bound<'py, PyTuple>)> {
    let py = iterator.py();
    static TYPES: PyOnceLock<[Py<PyAny>; 4]> = PyOnceLock::new();
    let types = TYPES
        .get_or_try_init(py, || -> PyResult<_> {
            Ok([
                builtin(py, "map")?.unbind(),
                builtin(py, "filter")?.unbind(),
                builtin(py, "zip")?.unbind(),
                builtin(py, "enumerate")?.unbind(),
            ])
        })
        .ok()?;
    let ty = iterator.get_type();
    let at = types.iter().position(|known| ty.is(known))?;
    let what = [Opened::Map, Opened::Filter, Opened::Zip, Opened::Enumerate][at];
    if what == Opened::Enumerate && is_peekable(iterator) {
        return None;
    }
    let reduced = iterator.call_method0("__reduce__").ok()?;
    // `zip(..., strict=True)` carries its state as a third part; ending it may raise.
    if reduced.len().is_ok_and(|n| n > 2) {
        return None;
    }
    let parts = reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
    Some((what, parts))
}

/// How many items lie in a list or tuple. A class that extends them may say something else, which their own iterators ignore.
pub fn length_as_it_lies(sequence: &Bound<'_, PyAny>) -> usize {
    match (sequence.cast::<PyList>(), sequence.cast::<PyTuple>()) {
        (Ok(list), _) => list.len(),
        (_, Ok(tuple)) => tuple.len(),
        _ => 0,
    }
}

/// The item that lies there.
pub fn item_as_it_lies<'py>(sequence: &Bound<'py, PyAny>, at: usize) -> Option<Bound<'py, PyAny>> {
    match (sequence.cast::<PyList>(), sequence.cast::<PyTuple>()) {
        (Ok(list), _) => list.get_item(at).ok(),
        (_, Ok(tuple)) => tuple.get_item(at).ok(),
        _ => None,
    }
}

/// An exact list or tuple with these items.
fn as_it_lies<'py>(sequence: Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if sequence.is_exact_instance_of::<PyList>() || sequence.is_exact_instance_of::<PyTuple>() {
        return Some(sequence);
    }
    match sequence.cast::<PyList>() {
        Ok(list) => PyList::new(sequence.py(), list.iter()).map(Bound::into_any).ok(),
        Err(_) => PyTuple::new(sequence.py(), sequence.cast::<PyTuple>().ok()?.iter()).map(Bound::into_any).ok(),
    }
}

/// What an exact iterator has left: items of a builtin sequence from a position on.
pub struct Rest<'py> {
    sequence: Bound<'py, PyAny>,
    /// `None`: nothing is left.
    at: Option<usize>,
    backwards: bool,
}

impl<'py> Rest<'py> {
    /// The next item.
    pub fn first(&self) -> Option<Bound<'py, PyAny>> {
        self.sequence.get_item(self.at?).ok()
    }

    /// How many items are left.
    pub fn left(&self) -> Option<usize> {
        Some(match (self.at, self.backwards) {
            (None, _) => 0,
            (Some(at), true) => at + 1,
            (Some(at), false) => self.sequence.len().ok()? - at,
        })
    }

    /// The item that comes after `taken` others, if so many are left.
    pub fn nth(&self, taken: usize) -> Option<Bound<'py, PyAny>> {
        let at = self.at?;
        let at = if self.backwards { at.checked_sub(taken)? } else { at + taken };
        self.sequence.get_item(at).ok()
    }

    /// All items that are left, in order.
    pub fn all(&self) -> Option<Bound<'py, PyList>> {
        let py = self.sequence.py();
        let Some(at) = self.at else { return Some(PyList::empty(py)) };
        let ats: Vec<usize> = match self.backwards {
            true => (0..=at).rev().collect(),
            false => (at..self.sequence.len().ok()?).collect(),
        };
        let items = ats.into_iter().map(|at| self.sequence.get_item(at)).collect::<PyResult<Vec<_>>>().ok()?;
        PyList::new(py, items).ok()
    }
}

/// Items of a dict or set that are listed to tell where an iterator over them stands.
const MOST_LISTED: usize = 512;

/// What is left of an exact iterator whose `__reduce__` tells it (dicts, sets, strings, bytes, reversed sequences): all of
/// these are C code without side effects. `None`: another iterator, or one that would raise.
pub fn reduced<'py>(iterator: &Bound<'py, PyAny>) -> Option<Rest<'py>> {
    let py = iterator.py();
    static TYPES: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();
    let types = TYPES
        .get_or_try_init(py, || -> PyResult<_> {
            let (iter, reversed) = (builtin(py, "iter")?, builtin(py, "reversed")?);
            let mut types = Vec::new();
            let mut add = |iterator: PyResult<Bound<'_, PyAny>>| -> PyResult<()> {
                types.push(iterator?.get_type().into_any().unbind());
                Ok(())
            };
            for class in [builtin(py, "dict")?, crate::cpython::module(py, "collections")?.getattr("OrderedDict")?] {
                let dict = class.call0()?;
                for view in [dict.call_method0("keys")?, dict.call_method0("values")?, dict.call_method0("items")?] {
                    add(iter.call1((&view,)))?;
                    add(reversed.call1((&view,)))?;
                }
            }
            for text in [PyString::new(py, "a").into_any(), PyString::new(py, "\u{e9}").into_any()] {
                add(iter.call1((&text,)))?;
                add(reversed.call1((&text,)))?;
            }
            add(iter.call1((PySet::empty(py)?,)))?;
            add(iter.call1((pyo3::types::PyBytes::new(py, b"a"),)))?;
            add(reversed.call1((PyList::empty(py),)))?;
            Ok(types)
        })
        .ok()?;
    let ty = iterator.get_type();
    if !types.iter().any(|known| ty.is(known)) {
        return None;
    }
    // What holds a sequence tells it and a position; the others list what is left.
    let under = dict_of(iterator).map(|dict| dict.len()).or_else(|| set_of(iterator).map(|set| set.len()));
    if under.is_some_and(|length| length > MOST_LISTED) {
        return None;
    }
    // An ordered dict looks up each key that is left.
    if let Some(dict) = dict_of(iterator)
        && facts::is_ordered(&dict)
        && dict.keys().iter().any(|key| !type_facts::is_quiet_key(&key))
    {
        return None;
    }
    let reduced = iterator.call_method0("__reduce__").ok()?;
    let sequence = reduced.get_item(1).ok()?.get_item(0).ok()?;
    // `reversed` runs over anything that has a length and items.
    let builtin = sequence.is_exact_instance_of::<PyList>()
        || sequence.is_exact_instance_of::<PyTuple>()
        || sequence.is_exact_instance_of::<PyString>()
        || sequence.is_exact_instance_of::<pyo3::types::PyBytes>();
    if !builtin {
        return None;
    }
    let at: isize = match reduced.len().ok()? {
        2 => 0,
        _ => reduced.get_item(2).ok()?.extract().ok()?,
    };
    let has = at >= 0 && (at as usize) < sequence.len().ok()?;
    let backwards = is_reversed(&reduced);
    Some(Rest { sequence, at: has.then_some(at as usize), backwards })
}

fn is_reversed(reduced: &Bound<'_, PyAny>) -> bool {
    let first = reduced.get_item(0);
    let reversed = crate::cpython::module(reduced.py(), "builtins").and_then(|b| b.getattr("reversed"));
    first.is_ok_and(|first| reversed.is_ok_and(|reversed| first.is(&reversed)))
}

/// The dict under an exact iterator of a dict.
pub fn dict_of<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    held_by(iterator)
}

/// The set under an exact iterator of a set.
pub fn set_of<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PySet>> {
    held_by(iterator)
}

/// The list under an exact iterator of a list, of its own class or of another.
pub fn list_of<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyList>> {
    held_by(iterator)
}

fn held_by<'py, T: PyTypeCheck>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, T>> {
    let referents = crate::cpython::module(iterator.py(), "gc")
        .and_then(|gc| gc.call_method1("get_referents", (iterator,)))
        .ok()?;
    referents.try_iter().ok()?.filter_map(Result::ok).find_map(|held| held.cast_into::<T>().ok())
}

/// Iterators over iterators that are looked through: a program may nest them without end.
pub const MAX_NESTED: usize = 16;

/// The list, dict or set under an exact iterator of one.
pub fn container_of<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let list = list_of(iterator).map(Bound::into_any);
    list.or_else(|| dict_of(iterator).map(Bound::into_any)).or_else(|| set_of(iterator).map(Bound::into_any))
}

/// The same; of any other object it is not known what it runs over.
pub fn over<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    container_of(iterator).filter(|_| is_peekable(iterator))
}

/// One of the iterators that an exact `enumerate` or `zip` advances.
pub fn under<'py>(iterator: &Bound<'py, PyAny>, which: u32) -> Option<Bound<'py, PyAny>> {
    combined(iterator)?.inners().get(which as usize).cloned()
}

/// Whether an iterator can be looked at without advancing it.
pub fn is_peekable(iterator: &Bound<'_, PyAny>) -> bool {
    is_peekable_at(iterator, MAX_NESTED)
}

fn is_peekable_at(iterator: &Bound<'_, PyAny>, levels: usize) -> bool {
    match (combined(iterator), levels.checked_sub(1)) {
        (Some(_), None) => false,
        (Some(Combined::Enumerate { inner, .. }), Some(levels)) => is_peekable_at(&inner, levels),
        (Some(Combined::Zip { inners }), Some(levels)) => inners.iter().all(|inner| is_peekable_at(inner, levels)),
        (Some(Combined::Asking { asking, .. }), Some(levels)) => walked_through(&asking, 0, levels).is_some(),
        (None, _) => {
            // What tells where it stands without a list of what is left is asked first.
            iterator_state(iterator).is_some() || facts::next_of_dict(iterator).is_some() || reduced(iterator).is_some()
        }
    }
}

/// The item that a peekable iterator would yield next.
pub fn peek<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    peek_at(iterator, MAX_NESTED)
}

fn peek_at<'py>(iterator: &Bound<'py, PyAny>, levels: usize) -> Option<Bound<'py, PyAny>> {
    match combined(iterator) {
        Some(Combined::Enumerate { inner, index }) => {
            let item = peek_at(&inner, levels.checked_sub(1)?)?;
            return PyTuple::new(iterator.py(), [index, item]).ok().map(Bound::into_any);
        }
        Some(Combined::Zip { inners }) => {
            let levels = levels.checked_sub(1)?;
            let items = inners.iter().map(|inner| peek_at(inner, levels)).collect::<Option<Vec<_>>>()?;
            return PyTuple::new(iterator.py(), items).ok().map(Bound::into_any);
        }
        Some(Combined::Asking { asking, .. }) => {
            return walked_through(&asking, 0, levels.checked_sub(1)?)?.ok();
        }
        None => {}
    }
    if let Some(next) = facts::next_of_dict(iterator) {
        return next;
    }
    if let Some(rest) = reduced(iterator) {
        return rest.first();
    }
    match iterator_state(iterator)? {
        IterState::List(held) | IterState::Tuple(held) => {
            let (sequence, index) = held?;
            item_as_it_lies(&sequence, index)
        }
        IterState::Range(range) => (range.left > 0).then(|| PyInt::new(iterator.py(), range.next).into_any()),
        IterState::Given(given) => given.nth(0),
    }
}

/// The item that an iterator would yield behind so many others: an exact one of a list, a tuple or a range, or one of `itertools`.
pub fn ahead<'py>(iterator: &Bound<'py, PyAny>, taken: usize) -> Option<Bound<'py, PyAny>> {
    if let Some(Combined::Asking { asking, .. }) = combined(iterator) {
        return walked_through(&asking, taken, MAX_NESTED)?.ok();
    }
    ahead_by_state(iterator, taken)
}

fn ahead_by_state<'py>(iterator: &Bound<'py, PyAny>, taken: usize) -> Option<Bound<'py, PyAny>> {
    match iterator_state(iterator)? {
        IterState::List(held) | IterState::Tuple(held) => {
            let (sequence, index) = held?;
            item_as_it_lies(&sequence, index.checked_add(taken)?)
        }
        IterState::Range(range) => {
            let taken = i64::try_from(taken).ok().filter(|taken| *taken < range.left)?;
            let value = range.step.checked_mul(taken).and_then(|more| range.next.checked_add(more))?;
            Some(PyInt::new(iterator.py(), value).into_any())
        }
        IterState::Given(given) => given.nth(taken),
    }
}

/// The sequence under an exact builtin iterator; where it has none, a list of what is left, or a tuple of its parts, as
/// of a callable that is made of them. Of a draw it is the number, of a question the answer, of a cache its counts,
/// of a lock how often it is held.
pub fn source<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let answered = crate::draws::drawn(iterator)
        .or_else(|| crate::process::answer(iterator))
        .or_else(|| crate::caches::answer(iterator))
        .or_else(|| crate::caches::counts(iterator))
        .or_else(|| crate::locks::held(iterator))
        .or_else(|| crate::per_thread::held(iterator));
    if answered.is_some() {
        return answered;
    }
    if let Ok(reference) = iterator.cast::<PyWeakrefReference>() {
        return Some(reference.upgrade().unwrap_or_else(|| iterator.py().None().into_bound(iterator.py())));
    }
    if let Some((_, parts)) = opened(iterator) {
        return Some(parts.into_any());
    }
    if let Some(made_of) = crate::natives::made_of(iterator) {
        return Some(made_of.parts.into_any());
    }
    if let Some(rest) = reduced(iterator) {
        return rest.all().map(Bound::into_any);
    }
    match iterator_state(iterator)? {
        IterState::List(held) | IterState::Tuple(held) => held.and_then(|h| as_it_lies(h.0)),
        // It holds numbers alone, and knows how many are left.
        IterState::Range(_) => Some(iterator.clone()),
        IterState::Given(_) => None,
    }
}

struct Look {
    name: &'static str,
    look: for<'py> fn(&Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>>,
}

impl NativeBody for Look {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        args.get(py, 0)
            .and_then(|iterator| (self.look)(&iterator))
            .ok_or_else(|| PyRuntimeError::new_err("sot: an iterator is not where its guard said"))
    }

    fn name(&self) -> &str {
        self.name
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `ahead` as a callable of two arguments.
struct Ahead;

impl NativeBody for Ahead {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let taken = args.get(py, 1).and_then(|taken| taken.extract().ok());
        args.get(py, 0)
            .zip(taken)
            .and_then(|(iterator, taken)| ahead(&iterator, taken))
            .ok_or_else(|| PyRuntimeError::new_err("sot: an iterator is not where its guard said"))
    }

    fn name(&self) -> &str {
        "ahead"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Calls its first argument with the others: stands where a NULL slot would, on interpreters that cannot push one.
struct Pass;

impl NativeBody for Pass {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let callee = args.get(py, 0).ok_or_else(|| PyRuntimeError::new_err("sot: nothing to call"))?;
        call_slots(py, &callee, args.range(1, args.len()))
    }

    fn name(&self) -> &str {
        "call"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Something whose iterator is a given one, which is not asked.
#[pyclass(frozen, module = "sot._sot", name = "_Given")]
struct Given {
    iterator: Py<PyAny>,
}

#[pymethods]
impl Given {
    fn __iter__(&self, py: Python<'_>) -> Py<PyAny> {
        self.iterator.clone_ref(py)
    }
}

fn given<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    Bound::new(iterator.py(), Given { iterator: iterator.clone().unbind() }).ok().map(Bound::into_any)
}

/// A callable that makes an iterable of an iterator.
pub fn given_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Look { name: "given", look: given })))?;
    Ok(function.bind(py).clone())
}

/// A callable that passes the call on to its first argument.
pub fn pass_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Pass)))?;
    Ok(function.bind(py).clone())
}

/// `peek` as a Python callable.
pub fn peek_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Look { name: "peek", look: peek })))?;
    Ok(function.bind(py).clone())
}

/// `ahead` as a Python callable.
pub fn ahead_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Ahead)))?;
    Ok(function.bind(py).clone())
}

/// `source` as a Python callable.
pub fn source_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Look { name: "source", look: source })))?;
    Ok(function.bind(py).clone())
}

/// Whether an exact builtin iterator has a next item.
pub fn has_next(iterator: &Bound<'_, PyAny>) -> Option<bool> {
    has_next_at(iterator, MAX_NESTED)
}

fn has_next_at(iterator: &Bound<'_, PyAny>, levels: usize) -> Option<bool> {
    match combined(iterator) {
        Some(Combined::Enumerate { inner, .. }) => return has_next_at(&inner, levels.checked_sub(1)?),
        Some(Combined::Zip { inners }) => {
            let levels = levels.checked_sub(1)?;
            let ends = inners.iter().map(|inner| has_next_at(inner, levels)).collect::<Option<Vec<_>>>()?;
            return Some(!ends.is_empty() && ends.into_iter().all(|has| has));
        }
        Some(Combined::Asking { asking, .. }) => {
            return walked_through(&asking, 0, levels.checked_sub(1)?).map(|item| item.is_ok());
        }
        None => {}
    }
    if let Some(next) = facts::next_of_dict(iterator) {
        return Some(next.is_some());
    }
    if let Some(rest) = reduced(iterator) {
        return Some(rest.at.is_some());
    }
    Some(match iterator_state(iterator)? {
        IterState::List(None) | IterState::Tuple(None) => false,
        IterState::List(Some((sequence, index))) | IterState::Tuple(Some((sequence, index))) => {
            index < length_as_it_lies(&sequence)
        }
        IterState::Range(range) => range.left > 0,
        IterState::Given(given) => given.left() != Some(0),
    })
}

/// Whether an exact builtin iterator gives no item more, even if what it ran over grows: neither it nor any below it that is at its
/// end still holds that.
pub fn has_ended(iterator: &Bound<'_, PyAny>) -> bool {
    has_next(iterator) == Some(false) && has_let_go(iterator, MAX_NESTED)
}

fn has_let_go(iterator: &Bound<'_, PyAny>, levels: usize) -> bool {
    match (combined(iterator), levels.checked_sub(1)) {
        (Some(parts), Some(levels)) => parts.inners().iter().all(|inner| has_let_go(inner, levels)),
        (Some(_), None) => false,
        (None, _) => has_next(iterator) != Some(false) || container_of(iterator).is_none(),
    }
}

/// Items left in an exact iterator of a list, a tuple or a range.
pub fn left(iterator: &Bound<'_, PyAny>) -> Option<usize> {
    Some(match iterator_state(iterator)? {
        IterState::Range(range) => usize::try_from(range.left).ok()?,
        IterState::Given(given) => given.left()?,
        IterState::List(None) | IterState::Tuple(None) => 0,
        // A list may have become shorter.
        IterState::List(Some((sequence, index))) | IterState::Tuple(Some((sequence, index))) => {
            length_as_it_lies(&sequence).saturating_sub(index)
        }
    })
}

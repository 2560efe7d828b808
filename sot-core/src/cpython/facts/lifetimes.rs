//! Whether a program could see when an object dies.

use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyAnyMethods, PyCFunction, PyCode, PyDict, PyFrozenSet, PyList, PyModule, PySet, PyString, PyTraceback, PyTuple,
    PyType, PyWeakrefReference,
};

use hashbrown::HashMap;
use std::collections::VecDeque;

/// Objects that are looked at, one inside the other, before the answer is no.
const LOOKS: usize = 64;

/// Functions that are looked at inside a function that keeps them.
const FUNCTIONS_IN_FUNCTIONS: usize = 3;

/// As [`LOOKS`], where exceptions, tracebacks and frames hold them; more of these may hold anything.
const LOOKS_AT_TRACEBACKS: usize = 20_000;

/// Whether the death of an object, or of what it alone may hold, runs code or clears a weak reference: it has a
/// finalizer, somebody refers to it weakly, or it refers weakly to what is to tell of its own death.
pub fn death_is_seen(object: &Bound<'_, PyAny>) -> bool {
    search(vec![object.clone()], |object, _| {
        Some(has_finalizer(object) || is_weakly_referenced(object) || may_call_back(object))
    })
}

/// Whether it is a weak reference that says when its object has died, which it does not do after its own end.
fn may_call_back(object: &Bound<'_, PyAny>) -> bool {
    if !object.is_instance_of::<PyWeakrefReference>() {
        return false;
    }
    // Another class may say what it likes.
    super::is_heap_type(&object.get_type())
        || object.getattr(intern!(object.py(), "__callback__")).is_ok_and(|callback| !callback.is_none())
}

/// Whether the program could see the death of this very object: it has a finalizer, or somebody refers to it weakly. Objects
/// that are alive anyway, as modules, classes and functions, are not asked, but for functions that keep what could be seen to die.
/// A function of C that no module has is known by itself alone, and may be referred to weakly later.
pub fn own_death_is_seen(object: &Bound<'_, PyAny>) -> bool {
    if super::is_function(object) {
        return keeps_what_is_seen_to_die(object, FUNCTIONS_IN_FUNCTIONS);
    }
    if let Ok(function) = object.cast::<PyCFunction>() {
        return !is_of_module(function);
    }
    !is_lasting(object) && (has_finalizer(object) || is_weakly_referenced(object))
}

/// Whether a function has such a thing in its closure, its defaults or its attributes.
fn keeps_what_is_seen_to_die(function: &Bound<'_, PyAny>, levels: usize) -> bool {
    let parts = ["__closure__", "__defaults__", "__kwdefaults__", "__dict__"];
    let parts = parts.into_iter().filter_map(|part| function.getattr(part).ok()).filter(|part| !part.is_none());
    parts.flat_map(|part| referents(&part).collect::<Vec<_>>()).any(|kept| {
        let kept = match super::is_cell(&kept) {
            true => kept.getattr(intern!(kept.py(), "cell_contents")).ok(),
            false => Some(kept),
        };
        kept.is_some_and(|kept| match super::is_function(&kept) {
            true => levels > 0 && keeps_what_is_seen_to_die(&kept, levels - 1),
            false => !is_lasting(&kept) && death_is_seen(&kept),
        })
    })
}

fn is_lasting(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyType>()
        || object.is_instance_of::<PyModule>()
        || super::is_function(object)
        || object.is_instance_of::<PyCFunction>()
}

/// Whether a module has the function under its name.
fn is_of_module(function: &Bound<'_, PyCFunction>) -> bool {
    let py = function.py();
    let own = || {
        let module = function.getattr(intern!(py, "__self__")).ok()?;
        let name = function.getattr(intern!(py, "__name__")).ok()?;
        super::module_dict(&module)?.get_item(name).ok()?
    };
    own().is_some_and(|own| own.is(function))
}

/// Whether the death of an object right now runs code of the program or clears a weak reference that it may look at, as far
/// as counting references tells. `kept`: how often the translator holds an object for nobody.
pub fn death_runs_code<'py>(object: &Bound<'py, PyAny>, kept: impl Fn(&Bound<'py, PyAny>) -> usize) -> bool {
    search(vec![object.clone()], |object, holders| {
        (!lives_on(object, holders, holders == 0, &kept)).then(|| end_is_noticed(object))
    })
}

/// As [`death_runs_code`], but for weak references, of which guards make some themselves.
pub fn death_runs_finalizers<'py>(object: &Bound<'py, PyAny>, kept: impl Fn(&Bound<'py, PyAny>) -> usize) -> bool {
    search(vec![object.clone()], |object, holders| {
        (!lives_on(object, holders, holders == 0, &kept)).then(|| has_finalizer_of_the_program(object))
    })
}

/// As [`death_runs_code`], of objects that nobody but the translator and each other may hold any more: one that dies may take the
/// last reference to another.
pub fn deaths_run_code<'py>(objects: Vec<Bound<'py, PyAny>>, kept: impl Fn(&Bound<'py, PyAny>) -> usize) -> bool {
    search(objects, |object, holders| (!lives_on(object, holders, false, &kept)).then(|| end_is_noticed(object)))
}

/// As [`death_runs_code`], beside objects that nobody but the translator and each other may hold any more.
pub fn death_beside_runs_code<'py>(
    object: &Bound<'py, PyAny>,
    beside: Vec<Bound<'py, PyAny>>,
    kept: impl Fn(&Bound<'py, PyAny>) -> usize,
) -> bool {
    let all = [vec![object.clone()], beside].concat();
    search(all, |found, holders| (!lives_on(found, holders, found.is(object), &kept)).then(|| end_is_noticed(found)))
}

fn end_is_noticed(object: &Bound<'_, PyAny>) -> bool {
    has_finalizer_of_the_program(object) || is_weakly_referenced(object)
}

/// Whether others hold an object than so many that have been met and those who keep it for nobody; of one that `dies` anyway
/// nobody asks. Classes are weakly referenced by those that they extend, and outlive their instances.
fn lives_on<'py>(
    object: &Bound<'py, PyAny>,
    holders: usize,
    dies: bool,
    kept: &impl Fn(&Bound<'py, PyAny>) -> usize,
) -> bool {
    object.is_instance_of::<PyType>() || !dies && !is_held_by_at_most(object, holders + kept(object))
}

/// Look at objects and at what they alone may hold, until `ends` says yes; where it says nothing, not further inside. `ends` is
/// told how many of the objects found so far hold this one, and is asked again when there are more. What a traceback leads to
/// is looked at as far as it goes: who has recursed deeply has many frames, and what those hold ends with them.
fn search<'py>(objects: Vec<Bound<'py, PyAny>>, ends: impl Fn(&Bound<'py, PyAny>, usize) -> Option<bool>) -> bool {
    let mut found = FoundObjects::default();
    for object in objects {
        found.place_of(object);
    }
    let mut queue: VecDeque<usize> = (0..found.all.len()).collect();
    let mut held = Vec::new();
    while let Some(at) = queue.pop_front() {
        if found.all[at].opened {
            continue;
        }
        let object = found.all[at].object.clone();
        match ends(&object, found.all[at].holders) {
            Some(true) => return true,
            Some(false) => found.all[at].opened = true,
            None => continue,
        }
        let looks = if is_of_traceback(&object) { LOOKS_AT_TRACEBACKS } else { LOOKS + found.of_tracebacks };
        if is_of_traceback(&object) && found.all.len() >= looks {
            return true;
        }
        held_alone(&object, looks.saturating_sub(found.all.len()), &mut held);
        for object in held.drain(..) {
            let at = found.place_of(object);
            found.all[at].holders += 1;
            if !found.all[at].opened {
                queue.push_back(at);
            }
        }
        for caller in held_as_caller(&object) {
            let met = found.known_place_of(&caller).filter(|at| !found.all[*at].opened);
            if let Some(at) = met {
                found.all[at].holders += 1;
                queue.push_back(at);
            }
        }
    }
    false
}

/// The objects that a search has met.
#[derive(Default)]
struct FoundObjects<'py> {
    all: Vec<Found<'py>>,
    places: HashMap<usize, usize>,
    /// How many of them are exceptions, tracebacks and frames.
    of_tracebacks: usize,
}

impl<'py> FoundObjects<'py> {
    fn known_place_of(&self, object: &Bound<'py, PyAny>) -> Option<usize> {
        self.places.get(&(object.as_ptr() as usize)).copied()
    }

    fn place_of(&mut self, object: Bound<'py, PyAny>) -> usize {
        self.known_place_of(&object).unwrap_or_else(|| {
            let at = self.all.len();
            self.places.insert(object.as_ptr() as usize, at);
            self.of_tracebacks += usize::from(is_of_traceback(&object));
            self.all.push(Found { object, holders: 0, opened: false });
            at
        })
    }
}

/// The caller that a frame holds. Most callers still run; one that has ended and dies with this frame is met in the traceback
/// before it.
fn held_as_caller<'py>(frame: &Bound<'py, PyAny>) -> impl Iterator<Item = Bound<'py, PyAny>> + use<'py> {
    let back = is_frame(frame).then(|| frame.getattr(intern!(frame.py(), "f_back")).ok()).flatten();
    let holds = back.into_iter().flat_map({
        let frame = frame.clone();
        move |back| referents(&frame).filter(move |held| held.is(&back))
    });
    holds.filter(|back| is_frame(back))
}

/// An object that a search has met.
struct Found<'py> {
    object: Bound<'py, PyAny>,
    /// How many times those found before hold it.
    holders: usize,
    opened: bool,
}

/// What may die with an object, at most `room` of it.
fn held_alone<'py>(object: &Bound<'py, PyAny>, room: usize, held: &mut Vec<Bound<'py, PyAny>>) {
    if is_instance_of_the_program(object) && length_of_part(object) < room {
        // Its dict, its `__slots__`, and what the builtin type keeps that it extends.
        let class = object.get_type();
        held.extend(referents(object).filter(|held| !held.is(&class)).take(room));
    } else if let Ok(list) = object.cast::<PyList>() {
        held.extend(list.iter().take(room));
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        held.extend(filled(tuple).take(room));
    } else if let Ok(dict) = object.cast::<PyDict>() {
        let of_text = |key: &Bound<'_, PyAny>| key.is_exact_instance_of::<PyString>();
        let keys = dict.iter().map(|(key, _)| key).take(room).filter(|key| !of_text(key));
        held.extend(keys.chain(dict.iter().map(|(_, value)| value)).take(room));
    } else if is_of_traceback(object) {
        held.extend(held_by_traceback(object).take(room));
    } else if room > 0 && is_holder_of_c(object) {
        held.extend(referents(object).take(room));
    } else if let Some(parts) = super::func_parts(object) {
        let parts = [parts.defaults, parts.closure, parts.kwdefaults, parts.attributes, parts.annotations];
        held.extend(parts.into_iter().flatten().map(|part| part.to_owned()).take(room));
    }
}

/// An instance of a class that a program wrote, but for exceptions, which are known by what they hold of frames.
fn is_instance_of_the_program(object: &Bound<'_, PyAny>) -> bool {
    super::is_written_class(&object.get_type()) && !is_lasting(object) && !object.is_instance_of::<PyBaseException>()
}

/// How much of an instance's size lies in the builtin container that its class extends.
fn length_of_part(object: &Bound<'_, PyAny>) -> usize {
    if let Ok(list) = object.cast::<PyList>() {
        list.len()
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.len()
    } else if let Ok(dict) = object.cast::<PyDict>() {
        // Keys and values.
        2 * dict.len()
    } else {
        let frozen = || object.cast::<PyFrozenSet>().map_or(0, |set| set.len());
        object.cast::<PySet>().map_or_else(|_| frozen(), |set| set.len())
    }
}

/// The items of a tuple. One that an iterator of C keeps for itself has places without an item (`zip_longest`, where an
/// iterator has ended).
fn filled<'a, 'py>(tuple: &'a Bound<'py, PyTuple>) -> impl Iterator<Item = Bound<'py, PyAny>> + use<'a, 'py> {
    let places = 0..tuple.len() as ffi::Py_ssize_t;
    // SAFETY: a live tuple and an index within; a place without an item gives NULL.
    places.filter_map(|at| unsafe {
        Bound::from_borrowed_ptr_or_opt(tuple.py(), ffi::PyTuple_GetItem(tuple.as_ptr(), at))
    })
}

/// Types of C with instances in whose memory other objects look without holding them (`flags` and `traps` of a context): who
/// keeps the instance in a variable keeps that memory.
const LENT: &[&str] = &["decimal.Context"];

/// Whether instances of a class may have finalizers of the program or weak references, or lend their memory.
pub fn death_could_be_seen(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live type.
    super::is_heap_type(class)
        || unsafe { (*class.as_type_ptr()).tp_weaklistoffset != 0 }
        || LENT.contains(&&*super::name_in_messages(class))
}

/// Whether nobody but so many holders has an object, as far as counting tells: the translator has it in a table and in its
/// hands.
pub fn is_held_by_at_most(object: &Bound<'_, PyAny>, holders: usize) -> bool {
    const OWN: isize = 2;
    // SAFETY: a live object.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) <= OWN + holders as isize }
}

fn is_held_once(object: &Bound<'_, PyAny>) -> bool {
    is_held_by_at_most(object, 1)
}

/// Whether no guard may hold a key of a container that was given, because the program may see when it dies: it has no other
/// owner, or it is an instance of a class of the program. What else holds it now may let go of it at any time, and weak
/// references may come; members of an enum live as long as their class.
pub fn may_die_soon(key: &Bound<'_, PyAny>) -> bool {
    let class = key.get_type();
    super::is_heap_type(&class) && (is_held_once(key) || !is_lasting(key) && !is_class_of_enum(&class))
}

fn is_class_of_enum(class: &Bound<'_, PyType>) -> bool {
    // Who has not imported the module has no members.
    let meta = super::imported(class.py(), "enum").and_then(|m| m.getattr(intern!(class.py(), "EnumMeta")).ok());
    meta.is_some_and(|meta| class.is_instance(&meta).unwrap_or(false))
}

/// An exact list or dict.
pub fn is_plain_container(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyDict>()
}

/// A set, an iterator, a bound method or another object of C that holds others, which may die with it (a generator below
/// `enumerate`). Functions, classes and modules hold what belongs to no value.
fn is_holder_of_c(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object.
    let holds = unsafe { (*ffi::Py_TYPE(object.as_ptr())).tp_flags & ffi::Py_TPFLAGS_HAVE_GC != 0 };
    let lasting = is_lasting(object) && !is_method_of_c(object);
    holds && !lasting && !super::is_written_class(&object.get_type())
}

/// A method of C that is bound to an object (`items.append`), and holds it.
fn is_method_of_c(object: &Bound<'_, PyAny>) -> bool {
    let Ok(function) = object.cast::<PyCFunction>() else { return false };
    let receiver = function.getattr(intern!(object.py(), "__self__"));
    receiver.is_ok_and(|it| !it.is_none() && !it.is_instance_of::<PyModule>() && !it.is_instance_of::<PyType>())
}

fn referents<'py>(object: &Bound<'py, PyAny>) -> impl Iterator<Item = Bound<'py, PyAny>> + use<'py> {
    let mut held = Vec::new();
    // SAFETY: a live object; what it refers to is alive while nothing runs, and from here on.
    unsafe {
        crate::cpython::holders::each_referent(object.as_ptr() as usize, &mut |referent| {
            held.push(Bound::from_borrowed_ptr(object.py(), referent as *mut ffi::PyObject));
        });
    }
    held.into_iter()
}

/// An exception, or what it holds of the frames that it has left.
fn is_of_traceback(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBaseException>() || object.is_instance_of::<PyTraceback>() || is_frame(object)
}

fn is_frame(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object.
    unsafe { ffi::PyFrame_Check(object.as_ptr()) != 0 }
}

/// What an exception, a traceback or a frame that has ended holds of the program's values.
fn held_by_traceback<'py>(object: &Bound<'py, PyAny>) -> impl Iterator<Item = Bound<'py, PyAny>> + use<'py> {
    let py = object.py();
    // Up to 3.10 a frame holds its caller's, its globals and builtins.
    let others: Vec<_> = ["f_back", "f_globals", "f_builtins"]
        .iter()
        .filter(|_| is_frame(object))
        .filter_map(|name| object.getattr(PyString::intern(py, name)).ok())
        .collect();
    referents(object).filter(move |held| {
        // A frame has its own function, too, which others hold.
        let lasting = is_lasting(held) && !(super::is_function(held) && is_weakly_referenced(held));
        !lasting && !held.is_instance_of::<PyCode>() && !others.iter().any(|other| other.is(held))
    })
}

fn has_finalizer(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object.
    unsafe {
        let ty = ffi::Py_TYPE(object.as_ptr());
        (*ty).tp_finalize.is_some() || (*ty).tp_del.is_some()
    }
}

/// A `__del__` written in Python, a generator that waits at a yield, or a coroutine that has not ended, of which a warning tells.
fn has_finalizer_of_the_program(object: &Bound<'_, PyAny>) -> bool {
    let (py, class) = (object.py(), object.get_type());
    let written = super::is_heap_type(&class)
        && super::type_lookup(&class, intern!(py, "__del__")).is_some_and(|del| super::is_function(&del));
    written || has_finalizer(object) && (waits_at_a_yield(object) || is_unfinished_coroutine(object))
}

fn waits_at_a_yield(object: &Bound<'_, PyAny>) -> bool {
    let py = object.py();
    // SAFETY: a live object; its exact type is compared.
    if unsafe { ffi::Py_TYPE(object.as_ptr()) } != &raw mut ffi::PyGen_Type {
        return false;
    }
    // Members and getters of C: no code of the program runs.
    let frame = object.getattr(intern!(py, "gi_frame")).ok().filter(|frame| !frame.is_none());
    frame.is_some_and(|frame| {
        frame.getattr(intern!(py, "f_lasti")).and_then(|at| at.extract::<i64>()).is_ok_and(|at| at >= 0)
    })
}

fn is_unfinished_coroutine(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object; its exact type is compared.
    let is_coroutine = unsafe { ffi::Py_TYPE(object.as_ptr()) } == &raw mut ffi::PyCoro_Type;
    // A getter of C: no code of the program runs.
    is_coroutine && object.getattr(intern!(object.py(), "cr_frame")).is_ok_and(|frame| !frame.is_none())
}

fn is_weakly_referenced(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object.
    if unsafe { (*ffi::Py_TYPE(object.as_ptr())).tp_weaklistoffset } == 0 {
        return false;
    }
    static COUNT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let count = COUNT.get_or_try_init(py, || {
        crate::cpython::module(py, "_weakref").and_then(|m| m.getattr("getweakrefcount")).map(Bound::unbind)
    });
    count.and_then(|count| count.bind(py).call1((object,))).is_ok_and(|n| n.is_truthy().unwrap_or(false))
}

//! Who holds an object: what caches hold, or somebody else.
//!
//! A cache holds what its guards compare with. An object that nobody else holds cannot be found again where the guard looks
//! for it, so that the guard will never hold. The answer is found as the collector finds garbage: references that are known
//! are counted, and compared with the counts of the objects. No code of the program runs, and whatever is not looked at
//! counts as held by others.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};

use hashbrown::{HashMap, HashSet};
use pyo3::ffi;
use pyo3::prelude::*;

/// Objects that are followed for one question.
const FOLLOWED: usize = 256;

thread_local! {
    static COUNTING: Cell<bool> = const { Cell::new(false) };
    static FOLLOWING: Cell<bool> = const { Cell::new(false) };
}

/// Whether references are followed behind those of caches, which are counted already: an owner of a cache that is met on the way must
/// not give them once more, or what it names would look as if nobody else held it.
pub fn following() -> bool {
    FOLLOWING.get()
}

/// While it lives, a flag is set.
struct Setting(&'static std::thread::LocalKey<Cell<bool>>, bool);

impl Setting {
    fn of(flag: &'static std::thread::LocalKey<Cell<bool>>) -> Setting {
        Setting(flag, flag.replace(true))
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// Whether references are being counted, and nothing else is done with them: what runs at the moment may be visited, too.
pub fn counting() -> bool {
    COUNTING.get()
}

/// References that caches hold, by the address of what they refer to.
#[derive(Default)]
pub struct Holders {
    known: HashMap<usize, isize>,
    /// Answers that were given: many guards name one class.
    answers: RefCell<HashMap<usize, bool>>,
}

impl Holders {
    /// Count what `visit_all` visits, each reference once, and what is held by nothing else.
    pub fn count(_py: Python<'_>, visit_all: impl FnOnce(&mut dyn FnMut(&Py<PyAny>))) -> Holders {
        let _counting = Setting::of(&COUNTING);
        let mut holders = Holders::default();
        let mut work = Vec::new();
        let note = |holders: &mut Holders, work: &mut Vec<usize>, object: usize| {
            let known = holders.known.entry(object).or_insert(0);
            *known += 1;
            // SAFETY: an object that somebody refers to, who keeps it while nothing of the program runs.
            if *known == unsafe { count_of(object) } {
                work.push(object);
            }
        };
        visit_all(&mut |object| note(&mut holders, &mut work, object.as_ptr() as usize));
        let _following = Setting::of(&FOLLOWING);
        while let Some(object) = work.pop() {
            // SAFETY: as above.
            unsafe { each_referent(object, &mut |referent| note(&mut holders, &mut work, referent)) };
        }
        holders
    }

    /// Whether one of them holds an object, given by its address.
    pub fn hold(&self, object: usize) -> bool {
        self.known.contains_key(&object)
    }

    /// Whether nobody else holds a live object, given by its address, or only what it refers to itself, as the parts of a class
    /// do.
    pub fn alone_hold(&self, start: usize) -> bool {
        let known = self.answers.borrow().get(&start).copied();
        known.unwrap_or_else(|| {
            let alone = !self.is_held_by_others(start);
            self.answers.borrow_mut().insert(start, alone);
            alone
        })
    }

    fn is_held_by_others(&self, start: usize) -> bool {
        let others = self.others(start);
        if others <= 0 {
            return false;
        }
        // SAFETY: a live object.
        if unsafe { !is_followed(start) } {
            return true;
        }
        let _following = Setting::of(&FOLLOWING);
        let mut others: HashMap<usize, isize> = HashMap::from([(start, others)]);
        let mut followed: Vec<(usize, Vec<usize>)> = Vec::new();
        // Nearest first: what is far away is rarely its own.
        let mut near = VecDeque::from([start]);
        while let Some(object) = near.pop_front().filter(|_| followed.len() < FOLLOWED) {
            let mut referents = Vec::new();
            // SAFETY: reached from a live object by references, which nothing changes meanwhile.
            unsafe {
                if !is_followed(object) {
                    continue;
                }
                each_referent(object, &mut |referent| referents.push(referent));
            }
            for referent in &referents {
                let left = others.entry(*referent).or_insert_with(|| {
                    near.push_back(*referent);
                    self.others(*referent)
                });
                *left -= 1;
            }
            followed.push((object, referents));
        }
        // What somebody else holds, and all that it refers to, is alive. What was not followed counts as somebody else.
        let referents: HashMap<usize, &Vec<usize>> = followed.iter().map(|(object, of)| (*object, of)).collect();
        let mut alive: Vec<usize> = referents.keys().copied().filter(|object| others[object] > 0).collect();
        let mut seen: HashSet<usize> = alive.iter().copied().collect();
        while let Some(object) = alive.pop() {
            if object == start {
                return true;
            }
            let of = referents.get(&object).into_iter().flat_map(|of| of.iter());
            alive.extend(of.filter(|referent| seen.insert(**referent)));
        }
        false
    }

    /// References to an object that are not known.
    fn others(&self, object: usize) -> isize {
        // SAFETY: the object is alive, as in `count`.
        unsafe { count_of(object) - self.known.get(&object).copied().unwrap_or(0) }
    }
}

/// # Safety
/// The address of a live object.
unsafe fn count_of(object: usize) -> isize {
    // SAFETY: by contract.
    unsafe { ffi::Py_REFCNT(object as *mut ffi::PyObject) as isize }
}

/// Whether an object may be held by its own parts alone: not so modules, and types that were there before the program.
///
/// # Safety
/// The address of a live object.
unsafe fn is_followed(object: usize) -> bool {
    let raw = object as *mut ffi::PyObject;
    // SAFETY: by contract.
    unsafe {
        let of_c =
            ffi::PyType_Check(raw) != 0 && (*raw.cast::<ffi::PyTypeObject>()).tp_flags & ffi::Py_TPFLAGS_HEAPTYPE == 0;
        !of_c && ffi::PyModule_Check(raw) == 0
    }
}

/// Visits what an object refers to. Globals of a function are left out: they are not the function's.
///
/// # Safety
/// The address of a live object, and nothing of the program runs meanwhile.
pub(super) unsafe fn each_referent(object: usize, visit: &mut dyn FnMut(usize)) {
    unsafe extern "C" fn see(referent: *mut ffi::PyObject, visit: *mut c_void) -> c_int {
        if !referent.is_null() {
            // SAFETY: the pointer that is passed below.
            let visit = unsafe { &mut *visit.cast::<&mut dyn FnMut(usize)>() };
            visit(referent as usize);
        }
        0
    }
    let raw = object as *mut ffi::PyObject;
    // SAFETY: by contract; only objects that the collector knows have a way to be traversed.
    unsafe {
        let ty = ffi::Py_TYPE(raw);
        if (*ty).tp_flags & ffi::Py_TPFLAGS_HAVE_GC == 0 {
            return;
        }
        // A type may have collected instances and others (`type` itself has).
        if (*ty).tp_is_gc.is_some_and(|is_gc| is_gc(raw) == 0) {
            return;
        }
        let globals = match ffi::PyFunction_Check(raw) {
            0 => 0,
            _ => (*raw.cast::<ffi::PyFunctionObject>()).func_globals as usize,
        };
        let mut visit = |referent: usize| {
            if referent != globals {
                visit(referent);
            }
        };
        let mut visit: &mut dyn FnMut(usize) = &mut visit;
        if let Some(traverse) = (*ty).tp_traverse {
            traverse(raw, see, (&raw mut visit).cast());
        }
    }
}

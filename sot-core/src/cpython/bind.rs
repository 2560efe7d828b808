//! Binding of call arguments to slots, as CPython's own call does it.
//!
//! Only the success path is written here. Whatever cannot be bound returns `None`, and the caller
//! calls the original function instead, which raises Python's own `TypeError`.

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use smallvec::{SmallVec, smallvec};

use super::layout::Code;
use super::signature::{Signature, argument_names};

/// Bound slots: pointers borrowed from the caller, and references owned for what the caller does not
/// hold (the `*args` tuple, the `**kw` dict, defaults).
pub(super) struct BoundSlots {
    pub(super) slots: SmallVec<[*mut PyObject; 8]>,
    owned: SmallVec<[*mut PyObject; 4]>,
}

impl Drop for BoundSlots {
    fn drop(&mut self) {
        for object in self.owned.drain(..) {
            // SAFETY: a reference owned since `bind`.
            unsafe { ffi::Py_DECREF(object) };
        }
    }
}

/// One call's arguments: vectorcall array, with an optional receiver in front of it.
pub(super) struct CallArgs {
    pub(super) receiver: *mut PyObject,
    pub(super) args: *const *mut PyObject,
    pub(super) nargs: usize,
    pub(super) kwnames: *mut PyObject,
}

impl CallArgs {
    fn positional(&self) -> usize {
        self.nargs + usize::from(!self.receiver.is_null())
    }

    /// # Safety
    /// `index < self.positional()`.
    unsafe fn at(&self, index: usize) -> *mut PyObject {
        // SAFETY: by contract.
        unsafe {
            match (self.receiver.is_null(), index) {
                (true, _) => *self.args.add(index),
                (false, 0) => self.receiver,
                (false, _) => *self.args.add(index - 1),
            }
        }
    }
}

/// Binds `call` to the parameters of `function`.
///
/// # Safety
/// `function` is a Python function; the pointers of `call` are valid for as long as the result.
pub(super) unsafe fn bind(py: Python<'_>, function: *mut ffi::PyFunctionObject, call: &CallArgs) -> Option<BoundSlots> {
    // SAFETY: all reads are within the tuples' and arrays' lengths.
    unsafe {
        let code = (*function).func_code.cast::<Code>();
        let signature = Signature::of_raw(code);
        let given = call.positional();
        if given > signature.positional && !signature.varargs {
            return None;
        }
        let named = signature.positional + signature.kwonly;
        let mut bound =
            BoundSlots { slots: smallvec![std::ptr::null_mut(); signature.slots()], owned: SmallVec::new() };
        let direct = given.min(signature.positional);
        for index in 0..direct {
            bound.slots[index] = call.at(index);
        }
        if signature.varargs {
            let tuple = ffi::PyTuple_New((given - direct) as ffi::Py_ssize_t);
            if tuple.is_null() {
                return failed(py);
            }
            for index in direct..given {
                let value = call.at(index);
                ffi::Py_INCREF(value);
                ffi::PyTuple_SET_ITEM(tuple, (index - direct) as ffi::Py_ssize_t, value);
            }
            bound.slots[named] = tuple;
            bound.owned.push(tuple);
        }
        let mut extra = std::ptr::null_mut();
        if signature.varkw {
            extra = ffi::PyDict_New();
            if extra.is_null() {
                return failed(py);
            }
            bound.slots[named + usize::from(signature.varargs)] = extra;
            bound.owned.push(extra);
        }
        bind_keywords(py, code, &signature, call, &mut bound.slots, extra)?;
        fill_defaults(py, function, &signature, direct, &mut bound)?;
        Some(bound)
    }
}

/// # Safety
/// As [`bind`]; `slots` has one place per slot, `extra` is the `**kw` dict or NULL.
unsafe fn bind_keywords(
    py: Python<'_>,
    code: *mut Code,
    signature: &Signature,
    call: &CallArgs,
    slots: &mut [*mut PyObject],
    extra: *mut PyObject,
) -> Option<()> {
    if call.kwnames.is_null() {
        return Some(());
    }
    // SAFETY: keyword values follow the positional ones in the array.
    unsafe {
        let names = argument_names(code);
        for index in 0..ffi::PyTuple_GET_SIZE(call.kwnames) {
            let keyword = ffi::PyTuple_GET_ITEM(call.kwnames, index);
            let value = *call.args.add(call.nargs + index as usize);
            let named = signature.positional + signature.kwonly;
            match find_name(py, names, signature.posonly, named, keyword)? {
                Some(place) if slots[place].is_null() => slots[place] = value,
                Some(_) => return None,
                None if extra.is_null() => return None,
                None => {
                    if ffi::PyDict_SetItem(extra, keyword, value) != 0 {
                        return failed(py);
                    }
                }
            }
        }
    }
    Some(())
}

/// The place of `keyword` among `names[from..to]`: by pointer first, then by value.
///
/// # Safety
/// `names` is a tuple of at least `to` strings.
unsafe fn find_name(
    py: Python<'_>,
    names: *mut PyObject,
    from: usize,
    to: usize,
    keyword: *mut PyObject,
) -> Option<Option<usize>> {
    // SAFETY: by contract.
    unsafe {
        let name = |index: usize| ffi::PyTuple_GET_ITEM(names, index as ffi::Py_ssize_t);
        if let Some(place) = (from..to).find(|&index| name(index) == keyword) {
            return Some(Some(place));
        }
        for index in from..to {
            match ffi::PyObject_RichCompareBool(name(index), keyword, ffi::Py_EQ) {
                1 => return Some(Some(index)),
                0 => {}
                _ => return failed(py),
            }
        }
    }
    Some(None)
}

/// # Safety
/// As [`bind`]; `direct` slots are filled from positional arguments.
unsafe fn fill_defaults(
    py: Python<'_>,
    function: *mut ffi::PyFunctionObject,
    signature: &Signature,
    direct: usize,
    bound: &mut BoundSlots,
) -> Option<()> {
    let slots = &mut bound.slots;
    // SAFETY: indices stay within the defaults tuple and the slots.
    unsafe {
        let defaults = (*function).func_defaults;
        let count = if defaults.is_null() { 0 } else { ffi::PyTuple_GET_SIZE(defaults) as usize };
        for index in direct..signature.positional {
            if slots[index].is_null() {
                // Like CPython, surplus defaults (set by hand) shift out on the left.
                let from_end = signature.positional - index;
                if from_end > count {
                    return None;
                }
                let value = ffi::PyTuple_GET_ITEM(defaults, (count - from_end) as ffi::Py_ssize_t);
                ffi::Py_INCREF(value);
                bound.owned.push(value);
                slots[index] = value;
            }
        }
        if signature.kwonly == 0 {
            return Some(());
        }
        let kwdefaults = (*function).func_kwdefaults;
        let names = argument_names((*function).func_code.cast());
        for index in signature.positional..signature.positional + signature.kwonly {
            if !slots[index].is_null() {
                continue;
            }
            if kwdefaults.is_null() {
                return None;
            }
            let name = ffi::PyTuple_GET_ITEM(names, index as ffi::Py_ssize_t);
            let value = ffi::PyDict_GetItemWithError(kwdefaults, name);
            if value.is_null() {
                return failed(py);
            }
            ffi::Py_INCREF(value);
            bound.owned.push(value);
            slots[index] = value;
        }
    }
    Some(())
}

/// Binding failed inside CPython: forget its exception, the original function will raise its own.
#[cold]
fn failed<T>(py: Python<'_>) -> Option<T> {
    drop(PyErr::take(py));
    None
}

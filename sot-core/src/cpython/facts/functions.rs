//! Functions and cells: the parts that decide what a call does.

use pyo3::prelude::*;
use pyo3::{Borrowed, ffi};

/// Whether the object is exactly a Python function.
#[inline]
pub fn is_function(obj: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check reads the object only.
    unsafe { ffi::PyFunction_Check(obj.as_ptr()) != 0 }
}

/// Borrowed parts of a function.
#[derive(Clone, Copy)]
pub struct FunctionParts<'a, 'py> {
    pub code: Borrowed<'a, 'py, PyAny>,
    pub globals: Borrowed<'a, 'py, PyAny>,
    pub defaults: Option<Borrowed<'a, 'py, PyAny>>,
    pub kwdefaults: Option<Borrowed<'a, 'py, PyAny>>,
    pub closure: Option<Borrowed<'a, 'py, PyAny>>,
    /// What `__dict__` is, if anybody has asked for one.
    pub attributes: Option<Borrowed<'a, 'py, PyAny>>,
    pub annotations: Option<Borrowed<'a, 'py, PyAny>>,
}

/// The parts of a Python function; `None` for anything else. They stay valid until the function is
/// changed: take strong references before running Python code.
#[inline]
pub fn func_parts<'a, 'py>(func: &'a Bound<'py, PyAny>) -> Option<FunctionParts<'a, 'py>> {
    if !is_function(func) {
        return None;
    }
    let py = func.py();
    // SAFETY: the exact type was checked; code and globals are never NULL.
    unsafe {
        let raw = func.as_ptr().cast::<ffi::PyFunctionObject>();
        Some(FunctionParts {
            code: Borrowed::from_ptr(py, (*raw).func_code),
            globals: Borrowed::from_ptr(py, (*raw).func_globals),
            defaults: Borrowed::from_ptr_or_opt(py, (*raw).func_defaults),
            kwdefaults: Borrowed::from_ptr_or_opt(py, (*raw).func_kwdefaults),
            closure: Borrowed::from_ptr_or_opt(py, (*raw).func_closure),
            attributes: Borrowed::from_ptr_or_opt(py, (*raw).func_dict),
            annotations: Borrowed::from_ptr_or_opt(py, (*raw).func_annotations),
        })
    }
}

/// Whether the object is exactly a cell.
#[inline]
pub fn is_cell(obj: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check reads the object only.
    unsafe { ffi::PyCell_Check(obj.as_ptr()) != 0 }
}

/// The contents of a cell: `None` if it is empty or not a cell.
#[inline]
pub fn cell_contents<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the exact type is checked; the borrowed contents are made owned at once.
    unsafe {
        if ffi::PyCell_Check(cell.as_ptr()) == 0 {
            return None;
        }
        let contents = (*cell.as_ptr().cast::<ffi::PyCellObject>()).ob_ref;
        Bound::from_borrowed_ptr_or_opt(cell.py(), contents)
    }
}

/// What decides about a call, in the order code, defaults, keyword defaults, closure.
///
/// # Safety
/// `raw` is a live function.
#[inline]
unsafe fn parts_of(raw: *mut ffi::PyObject) -> [*mut ffi::PyObject; 4] {
    // SAFETY: by contract.
    let f = unsafe { &*raw.cast::<ffi::PyFunctionObject>() };
    [f.func_code, f.func_defaults, f.func_kwdefaults, f.func_closure]
}

/// Whether a function still has the names that its code says (the qualified one from 3.11 on).
pub fn is_named_as_its_code(func: &Bound<'_, PyAny>) -> bool {
    let same = |name: &str, of_code: &str| {
        let (own, code) = (func.getattr(name), func.getattr("__code__").and_then(|code| code.getattr(of_code)));
        own.ok().zip(code.ok()).is_none_or(|(own, code)| own.eq(code).unwrap_or(false))
    };
    same("__name__", "co_name") && same("__qualname__", "co_qualname")
}

/// A function and some of the parts it had, each held.
pub struct FunctionStamp {
    func: Py<PyAny>,
    /// In the order of `parts_of`. `None`: any will do.
    parts: [Option<Option<Py<PyAny>>>; 4],
}

impl FunctionStamp {
    /// Of all parts. `None` if `func` is not a Python function.
    pub fn new(func: &Bound<'_, PyAny>) -> Option<Self> {
        let mut stamp = FunctionStamp::of_none(func)?;
        (0..stamp.parts.len()).for_each(|part| stamp.add(func.py(), part));
        Some(stamp)
    }

    /// Of no part yet.
    pub fn of_none(func: &Bound<'_, PyAny>) -> Option<Self> {
        is_function(func).then(|| FunctionStamp { func: func.clone().unbind(), parts: Default::default() })
    }

    /// This part, by its number, is to be the one that it is now.
    pub fn add(&mut self, py: Python<'_>, part: usize) {
        // SAFETY: a live function, whose parts are objects or NULL.
        let now = unsafe { Borrowed::from_ptr_or_opt(py, parts_of(self.func.as_ptr())[part]) };
        self.parts[part] = Some(now.map(|now| now.to_owned().unbind()));
    }

    pub fn func(&self) -> &Py<PyAny> {
        &self.func
    }

    /// The part that is another one.
    pub fn changed(&self) -> Option<usize> {
        // SAFETY: a function is held.
        let now = unsafe { parts_of(self.func.as_ptr()) };
        let address = |part: &Option<Py<PyAny>>| part.as_ref().map_or(std::ptr::null_mut(), Py::as_ptr);
        self.parts.iter().zip(now).position(|(then, now)| then.as_ref().is_some_and(|then| address(then) != now))
    }

    /// Whether the stamped function still has its parts.
    #[inline]
    pub fn fresh(&self) -> bool {
        // SAFETY: a function is held.
        let now = unsafe { parts_of(self.func.as_ptr()) };
        let address = |part: &Option<Py<PyAny>>| part.as_ref().map_or(std::ptr::null_mut(), Py::as_ptr);
        self.parts.iter().zip(now).all(|(part, now)| part.as_ref().is_none_or(|part| address(part) == now))
    }

    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.func);
        self.parts.iter().flatten().flatten().for_each(visit);
    }
}

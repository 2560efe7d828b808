//! The one table that owns the Python objects of a capture.
//!
//! Variables, trackers, guards, the journal and StatementIR name objects by number ([`ObjectId`]), so they are
//! plain data; whoever needs the object looks it up here. An object has one number however often it is added. Beside it:
//! the number of a variable, and what may be said of any object.

use crate::cpython::signals;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::ObjectId;

/// Objects of one capture, numbered in order of first use.
#[derive(Default)]
pub struct ObjectTable {
    objects: Vec<Py<PyAny>>,
    by_address: HashMap<usize, ObjectId>,
}

impl ObjectTable {
    /// The number of `object`, which is kept alive from now on.
    pub fn add(&mut self, object: &Bound<'_, PyAny>) -> ObjectId {
        let next = ObjectId(self.objects.len() as u32);
        *self.by_address.entry(object.as_ptr() as usize).or_insert_with(|| {
            self.objects.push(object.clone().unbind());
            next
        })
    }

    /// The number of an object that was added before.
    pub fn find(&self, object: &Bound<'_, PyAny>) -> Option<ObjectId> {
        self.by_address.get(&(object.as_ptr() as usize)).copied()
    }

    pub fn get<'py>(&self, py: Python<'py>, id: ObjectId) -> Bound<'py, PyAny> {
        self.objects[id.0 as usize].bind(py).clone()
    }

    /// Each once.
    pub fn all(&self) -> impl Iterator<Item = &Py<PyAny>> {
        self.objects.iter()
    }

    pub fn get_ref<'a, 'py>(&'a self, py: Python<'py>, id: ObjectId) -> &'a Bound<'py, PyAny> {
        self.objects[id.0 as usize].bind(py)
    }
}

/// A variable: index into the arena of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Types whose values are immutable and compared by value.
pub fn is_constant_type(ty: &Bound<'_, PyType>) -> bool {
    let py = ty.py();
    ty.is(py.get_type::<PyInt>())
        || ty.is(py.get_type::<PyFloat>())
        || ty.is(py.get_type::<PyString>())
        || ty.is(py.get_type::<PyBool>())
        || ty.is(py.get_type::<PyBytes>())
        || ty.is(py.get_type::<PyComplex>())
        || ty.is(py.get_type::<PyRange>())
        || ty.is(py.get_type::<PyCode>())
        || ty.is(py.get_type::<PyFrozenSet>())
        || ty.is(py.Ellipsis().bind(py).get_type())
        || ty.is(py.NotImplemented().bind(py).get_type())
}

/// How deep frozensets are in each other whose members are shown.
const DEEP: usize = 4;

/// The `repr` of a constant, where it is stable and asks nobody: the members of a frozenset may be the program's.
pub fn constant_repr(object: &Bound<'_, PyAny>) -> Option<String> {
    fn is_shown(object: &Bound<'_, PyAny>, deep: usize) -> bool {
        let ty = object.get_type();
        let set = object.cast_exact::<PyFrozenSet>();
        match set {
            Ok(set) => deep > 0 && set.iter().all(|member| is_shown(&member, deep - 1)),
            Err(_) => object.is_none() || is_constant_type(&ty) && !ty.is(object.py().get_type::<PyCode>()),
        }
    }
    is_shown(object, DEEP).then(|| signals::asking(object.py(), || Ok(object.repr()?.to_string()))).flatten()
}

/// `repr` where it is stable, `<type name>` where it would show an address or ask the program.
pub fn stable_repr(object: &Bound<'_, PyAny>) -> String {
    let ty = object.get_type();
    let class = ty.name().map(|n| n.to_string()).unwrap_or_default();
    if let Some(text) = constant_repr(object) {
        return text;
    }
    // Only objects whose `__name__` is known not to run code of the user.
    let named = object.cast_exact::<PyType>().is_ok()
        || object.cast_exact::<PyModule>().is_ok()
        || object.cast_exact::<PyCFunction>().is_ok()
        || crate::cpython::facts::is_function(object)
        || ["NativeFunction", "Entry", "method", "method_descriptor", "wrapper_descriptor"].contains(&class.as_str());
    match named.then(|| object.getattr("__name__").and_then(|n| n.extract::<String>())) {
        Some(Ok(name)) => format!("<{class} {name}>"),
        _ => format!("<{class}>"),
    }
}

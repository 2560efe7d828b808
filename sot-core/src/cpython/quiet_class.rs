//! Classes that are made without a word to their bases: what `__init_subclass__` does with the class has been simulated.
//!
//! `type.__new__` tells the values in a class their names, and then what comes behind the class in its MRO of the class. The first value
//! of a quiet class is one of ours. When it is told its name it goes from the class, and puts a class of ours behind it in the MRO;
//! that one's `__init_subclass__` is what `type` finds, and takes itself out again. In between runs no code of the program.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PyString, PyTuple, PyType};

use super::facts;

/// The name of the first value.
const MARK: &str = "sot: quiet";

#[pyclass(frozen, module = "sot")]
struct Quiet;

#[pymethods]
impl Quiet {
    fn __set_name__(&self, owner: &Bound<'_, PyType>, name: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = owner.py();
        if let Some(dict) = facts::class_dict(owner) {
            dict.del_item(name)?;
        }
        let mro = facts::mro(owner);
        let behind = [owner.as_any().clone(), hush(py)?.bind(py).clone()].into_iter().chain(mro.iter().skip(1));
        put_mro(owner, PyTuple::new(py, behind.collect::<Vec<_>>())?);
        Ok(())
    }
}

/// The class that is behind a quiet one for a moment.
fn hush(py: Python<'_>) -> PyResult<&Py<PyAny>> {
    static HUSH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    HUSH.get_or_try_init(py, || {
        let told = PyCFunction::new_closure(py, Some(c"__init_subclass__"), None, |args, _| -> PyResult<()> {
            let class = args.get_item(0)?.cast_into::<PyType>()?;
            let mro = facts::mro(&class);
            let own = mro.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, base)| base);
            put_mro(&class, PyTuple::new(args.py(), own.collect::<Vec<_>>())?);
            Ok(())
        })?;
        let class_method = super::module(py, "builtins")?.getattr("classmethod")?.call1((told,))?;
        let names = PyDict::new(py);
        names.set_item("__init_subclass__", class_method)?;
        Ok(py.get_type::<PyType>().call1(("Hush", PyTuple::empty(py), names))?.unbind())
    })
}

/// The MRO of a class that nobody has seen yet.
fn put_mro<'py>(class: &Bound<'py, PyType>, mro: Bound<'py, PyTuple>) {
    // SAFETY: a live class made at run time, whose MRO is a tuple that it owns; the new one is owned by it from now on.
    let before: Option<Bound<'py, PyAny>> = unsafe {
        let place = &raw mut (*class.as_type_ptr()).tp_mro;
        let before = *place;
        *place = mro.into_ptr();
        ffi::PyType_Modified(class.as_type_ptr());
        Bound::from_owned_ptr_or_opt(class.py(), before)
    };
    drop(before);
}

/// `type.__new__(metaclass, name, bases, names)`, but that no base hears of it.
pub fn quiet_class<'py>(
    metaclass: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
    bases: &Bound<'py, PyAny>,
    names: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = metaclass.py();
    let all = PyDict::new(py);
    all.set_item(MARK, Bound::new(py, Quiet)?)?;
    all.update(names.as_mapping())?;
    let told_by = pyo3::intern!(py, "__set_name__");
    // Values that would be told their names, which has been simulated, come when nobody tells them.
    let told: Vec<_> =
        names.iter().filter(|(_, value)| facts::type_lookup(&value.get_type(), told_by).is_some()).collect();
    for (name, _) in &told {
        all.set_item(name, py.None())?;
    }
    let type_of_types = py.get_type::<PyType>();
    let made = type_of_types.call_method1("__new__", (metaclass, name, bases, all))?;
    for (name, value) in told {
        type_of_types.call_method1("__setattr__", (&made, name, value))?;
    }
    Ok(made)
}

/// The same, which its bases do not list.
pub fn unlisted_quiet_class<'py>(
    metaclass: &Bound<'py, PyAny>,
    name: &str,
    bases: &Bound<'py, PyTuple>,
    names: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::new(metaclass.py(), name);
    facts::unlisted(quiet_class(metaclass, name.as_any(), bases.as_any(), names)?)
}

//! Copies of layers that were given to `to_static`.
//!
//! Such a layer has its entry among its attributes, bound to it. `copy.deepcopy` and `pickle` make another one for the copy; `copy.copy`
//! takes the attributes as they are, and the copy would run the original. So the class from which layers have their call is given a
//! `__copy__` which does what `copy.copy` does without one, and makes the copy an entry of its own.

use crate::backend::layer_method;
use crate::cpython::facts;
use pyo3::prelude::*;
use pyo3::types::*;

const SOURCE: &std::ffi::CStr = cr#"
import copy, copyreg

def __copy__(self):
    reduced = copyreg.dispatch_table.get(type(self))
    made = self.__reduce_ex__(4) if reduced is None else reduced(self)
    if isinstance(made, str):
        return self
    copied = copy._reconstruct(self, None, *made)
    own = getattr(self, "__dict__", {}).get(METHOD)
    if copied is not self and own is not None and getattr(copied, "__dict__", {}).get(METHOD) is own and type(own) is Entry:
        delattr(copied, METHOD)
        to_static(copied)
    return copied
"#;

/// See to it that a copy of this layer is a layer by itself.
pub fn copy_as_layers(layer: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = layer.py();
    let class = layer.get_type();
    if facts::type_lookup(&class, &PyString::intern(py, "__copy__")).is_some() {
        return Ok(());
    }
    let called_by = PyString::intern(py, "__call__");
    let calls = |class: &Bound<'_, PyAny>| {
        facts::class_dict(class).is_some_and(|dict| dict.contains(&called_by).unwrap_or(true))
    };
    let Some(base) = facts::mro(&class).iter().filter(calls).last() else { return Ok(()) };
    let globals = PyDict::new(py);
    globals.set_item("__name__", "sot")?;
    globals.set_item("METHOD", layer_method())?;
    globals.set_item("Entry", crate::cpython::entry::bound_entry_type(py)?)?;
    globals.set_item("to_static", super::MAKER.get(py).map(|maker| maker.bind(py)))?;
    py.run(SOURCE, Some(&globals), None)?;
    let Some(copies) = globals.get_item("__copy__")? else { return Ok(()) };
    // A class that is written in C may not take it: its layers are copied as they are.
    let _ = base.setattr("__copy__", copies);
    Ok(())
}

//! What exact builtin type an object has, for types that pyo3 has no name for.

use crate::cpython::facts;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

struct Types {
    cell: Py<PyType>,
    method: Py<PyType>,
    member: Py<PyType>,
    property: Py<PyType>,
    ordered_dict: Py<PyType>,
}

fn types(py: Python<'_>) -> &Types {
    static TYPES: PyOnceLock<Types> = PyOnceLock::new();
    TYPES.get_or_init(py, || {
        let named = |module: &str, name: &str| -> Py<PyType> {
            let ty = py.import(module).and_then(|m| m.getattr(name)).expect("a standard module");
            ty.cast_into::<PyType>().expect("a type").unbind()
        };
        let of = |name: &str| named("types", name);
        Types {
            cell: of("CellType"),
            method: of("MethodType"),
            member: of("MemberDescriptorType"),
            property: named("builtins", "property"),
            ordered_dict: named("collections", "OrderedDict"),
        }
    })
}

pub(super) fn is_exact_cell(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).cell)
}

pub(super) fn is_exact_method(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).method)
}

pub(super) fn is_exact_ordered_dict(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).ordered_dict)
}

pub(super) fn is_exact_property(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).property)
}

/// A slot of `__slots__`, or a field of a C struct.
pub(super) fn is_member_descriptor(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).member)
}

/// Whether a class attribute takes part in attribute access before the instance dict.
pub(super) fn is_data_descriptor(object: &Bound<'_, PyAny>) -> bool {
    let ty = object.get_type();
    let has = |name: &str| facts::type_lookup(&ty, &PyString::intern(object.py(), name)).is_some();
    has("__set__") || has("__delete__")
}

//! Objects that are made anew, by the same code, as another one: what a guard knows such an object by.
//!
//! A class statement, or a call that makes a class, gives another class each time it runs. A guard of such a class must
//! neither name nor hold it: it says what the class is like. That is its form: how its instances are laid out, what C code runs
//! for them, its name. Its metaclass, its MRO and what was read off it have guards of their own, on paths below the class.
//!
//! The same goes for the fields of named tuples. Code that is compiled anew, and sets of names, are held, and compared part by part.

use crate::cpython::facts::{self, ClassForm};
use crate::type_facts;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

/// Stands for an object in a check. The program never meets it.
#[pyclass(frozen, module = "sot")]
struct Alike(Like);

enum Like {
    Class(ClassForm),
    /// A field of named tuples, by its place.
    Field(usize),
    Code(KnownCode),
}

/// What stands for an object in a check; itself, if it may be held.
pub(super) fn pattern(object: Bound<'_, PyAny>) -> Py<PyAny> {
    let like = match object.cast::<PyType>() {
        Ok(class) => Some(Like::Class(facts::class_form(class))),
        Err(_) => {
            type_facts::place_of_field(&object).map(Like::Field).or_else(|| KnownCode::of(&object).map(Like::Code))
        }
    };
    match like.and_then(|like| Bound::new(object.py(), Alike(like)).ok()) {
        Some(alike) => alike.into_any().unbind(),
        None => object.unbind(),
    }
}

/// Whether a value is like the object that was met.
pub(super) fn is_alike(value: &Bound<'_, PyAny>, pattern: &Bound<'_, PyAny>) -> bool {
    let Ok(alike) = pattern.cast_exact::<Alike>() else {
        return value.is(pattern) || is_same_code(value, pattern) || are_same_names(value, pattern);
    };
    match &alike.get().0 {
        Like::Class(form) => {
            value.cast::<PyType>().is_ok_and(|class| !facts::finds_names_by_code(class) && form.is_of(class))
        }
        Like::Code(known) => known.is_of(value),
        Like::Field(place) => type_facts::place_of_field(value) == Some(*place),
    }
}

/// Constants in each other that are looked at.
const DEPTH: usize = 50;

/// What code objects are compared by: what is cheap to ask for first, what is made anew when it is asked for last.
fn parts_of_code(py: Python<'_>) -> &[Py<PyString>] {
    const PARTS: &[&str] = &[
        "co_firstlineno",
        "co_name",
        "co_argcount",
        "co_posonlyargcount",
        "co_kwonlyargcount",
        "co_flags",
        "co_filename",
        "co_names",
        "co_consts",
    ];
    const MADE: &[&str] = &["co_varnames", "co_freevars", "co_cellvars", "co_code"];
    static NAMES: PyOnceLock<Vec<Py<PyString>>> = PyOnceLock::new();
    NAMES.get_or_init(py, || {
        // Before 3.10 the lines are in what is there for old tools alone since, and says so.
        let lines: &[&str] = match py.version_info() {
            version if version >= (3, 11) => &["co_linetable", "co_qualname", "co_exceptiontable"],
            version if version >= (3, 10) => &["co_linetable"],
            _ => &["co_lnotab"],
        };
        let names = PARTS.iter().chain(lines).chain(MADE);
        names.map(|name| PyString::intern(py, name).unbind()).collect()
    })
}

/// A code object that was met, and its parts, which are asked for once.
struct KnownCode {
    code: Py<PyAny>,
    parts: Vec<Py<PyAny>>,
}

impl KnownCode {
    /// `None`: it is no code.
    fn of(code: &Bound<'_, PyAny>) -> Option<KnownCode> {
        code.cast_exact::<PyCode>().ok()?;
        let parts = parts_of_code(code.py()).iter().map(|name| Some(code.getattr(name).ok()?.unbind()));
        Some(KnownCode { code: code.clone().unbind(), parts: parts.collect::<Option<Vec<_>>>()? })
    }

    fn is_of(&self, value: &Bound<'_, PyAny>) -> bool {
        let py = value.py();
        if value.is(&self.code) {
            return true;
        }
        let same = |(name, known): (&Py<PyString>, &Py<PyAny>)| {
            value.getattr(name).is_ok_and(|part| is_same_constant(&part, known.bind(py), DEPTH))
        };
        value.cast_exact::<PyCode>().is_ok() && parts_of_code(py).iter().zip(&self.parts).all(same)
    }
}

/// Whether two code objects were compiled of the same text. They are compared part by part: a program can make code with
/// constants whose `==` is its own.
fn is_same_code(value: &Bound<'_, PyAny>, known: &Bound<'_, PyAny>) -> bool {
    if value.cast_exact::<PyCode>().is_err() || known.cast_exact::<PyCode>().is_err() {
        return false;
    }
    let same = |name: &Py<PyString>| match (value.getattr(name), known.getattr(name)) {
        (Ok(a), Ok(b)) => is_same_constant(&a, &b, DEPTH),
        _ => false,
    };
    value.is(known) || parts_of_code(value.py()).iter().all(same)
}

/// Whether two constants mean the same to code: a `-0.0` is no `0.0`, a `True` no `1`. What the program itself has put among the
/// constants is the same object or another one.
fn is_same_constant(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, depth: usize) -> bool {
    if a.is(b) || depth == 0 {
        return a.is(b);
    }
    let class = a.get_type();
    if !class.is(b.get_type()) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyTuple>(), b.cast_exact::<PyTuple>()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same_constant(&a, &b, depth - 1));
    }
    if let (Ok(set), Ok(of)) = (a.cast_exact::<PyFrozenSet>(), b.cast_exact::<PyFrozenSet>()) {
        return are_same_names(a, b)
            || set.len() == of.len()
                && set.iter().all(|item| of.iter().any(|other| is_same_constant(&item, &other, depth - 1)));
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        return a.value().to_bits() == b.value().to_bits();
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyComplex>(), b.cast_exact::<PyComplex>()) {
        return a.real().to_bits() == b.real().to_bits() && a.imag().to_bits() == b.imag().to_bits();
    }
    let is_plain = || {
        a.is_exact_instance_of::<PyInt>() || a.is_exact_instance_of::<PyString>() || a.is_exact_instance_of::<PyBytes>()
    };
    is_same_code(a, b) || is_plain() && a.eq(b).unwrap_or(false)
}

/// Whether two frozen sets have the same members, which are texts.
fn are_same_names(value: &Bound<'_, PyAny>, known: &Bound<'_, PyAny>) -> bool {
    let (Ok(set), Ok(of)) = (value.cast_exact::<PyFrozenSet>(), known.cast_exact::<PyFrozenSet>()) else {
        return false;
    };
    let are_texts = |set: &Bound<'_, PyFrozenSet>| set.iter().all(|item| item.is_exact_instance_of::<PyString>());
    set.len() == of.len() && are_texts(set) && are_texts(of) && value.eq(known).unwrap_or(false)
}

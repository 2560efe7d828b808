//! Callables of C, mapping proxies, and records of the framework, that are made of what their constructor is given, and what that was.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

/// Classes of C whose values are made by one call, of what it is given, and are called themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    /// `functools.partial`
    Partial,
    /// Of module `operator`.
    ItemGetter,
    AttrGetter,
    MethodCaller,
    /// Of a class that the framework calls a record. It is not called.
    Record,
    /// A match of a pattern. It is not called.
    Match,
    /// An object that has a state, of one of the classes of `objects_of_c`: its maker, the tuple of what that was given, and for each
    /// step of its history a method and the tuple of its arguments. It is not called.
    Made,
    /// An array of numpy: the function that makes it, and the tuple of what that is given. It is not called.
    Array,
    /// What `json` writes values with.
    Encoder,
    /// The id of an object that may be another one at the next call: a number. It is not called.
    Id,
    /// A weak reference to a class, and what that calls when the class dies, as a key of `weakref.WeakKeyDictionary`.
    Reference,
    /// `property`, `staticmethod`, `classmethod`, in the body of a class.
    Descriptor,
    /// `types.MappingProxyType`, of a dict. It is not called, but asked what the dict is asked.
    Proxy,
}

/// Which of them a class is, if it is the one of C.
pub fn native(class: &Bound<'_, PyType>) -> Option<Native> {
    static TYPES: PyOnceLock<Vec<(Py<PyAny>, Native)>> = PyOnceLock::new();
    let py = class.py();
    let types = TYPES.get_or_init(py, || {
        let known = [
            ("_functools", "partial", Native::Partial),
            ("_operator", "itemgetter", Native::ItemGetter),
            ("_operator", "attrgetter", Native::AttrGetter),
            ("_operator", "methodcaller", Native::MethodCaller),
            ("types", "MappingProxyType", Native::Proxy),
        ];
        let found = known.into_iter().filter_map(|(module, name, native)| {
            let class = crate::cpython::module(py, module).and_then(|module| module.getattr(name)).ok()?;
            Some((class.unbind(), native))
        });
        found.collect()
    });
    types.iter().find(|(known, _)| class.is(known)).map(|(_, native)| *native)
}

/// What a getter was made of. A partial has attributes that say so.
pub struct MadeOf<'py> {
    /// Arguments, the values of keywords, and their names, in one text.
    pub parts: Bound<'py, PyTuple>,
    pub names: Vec<String>,
}

pub fn made_of<'py>(getter: &Bound<'py, PyAny>) -> Option<MadeOf<'py>> {
    let py = getter.py();
    match native(&getter.get_type())? {
        Native::Partial => return None,
        Native::Proxy => {
            let parts = PyTuple::new(py, [dict_under(getter)?, PyString::new(py, "").into_any()]).ok()?;
            return Some(MadeOf { parts, names: Vec::new() });
        }
        _ => {}
    }
    let reduced = getter.call_method0("__reduce__").ok()?;
    let (maker, args) = (reduced.get_item(0).ok()?, reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?);
    let (mut parts, mut names): (Vec<_>, Vec<String>) = (Vec::new(), Vec::new());
    if native(&maker.get_type()) == Some(Native::Partial) {
        let keywords = maker.getattr("keywords").ok()?.cast_into::<PyDict>().ok()?;
        names.extend(keywords.keys().extract::<Vec<String>>().ok()?);
        parts.extend(maker.getattr("args").ok()?.cast_into::<PyTuple>().ok()?.iter());
        parts.extend(args.iter());
        parts.extend(keywords.values().iter());
    } else {
        parts.extend(args.iter());
    }
    parts.push(PyString::new(py, &names.join(" ")).into_any());
    Some(MadeOf { parts: PyTuple::new(py, parts).ok()?, names })
}

/// The dict that a mapping proxy shows; `None`: it is something else, or that of a class, which is written to as attributes of the
/// class: all of these, and hardly any other, have this key.
fn dict_under<'py>(proxy: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = proxy.py();
    let referents = crate::cpython::module(py, "gc").and_then(|gc| gc.call_method1("get_referents", (proxy,))).ok()?;
    let shown = referents.cast_into::<PyList>().ok()?.get_item(0).ok()?;
    if let Ok(dict) = shown.cast_exact::<PyDict>() {
        let of_class = dict.contains(pyo3::intern!(py, "__doc__")).unwrap_or(true);
        return (!of_class).then_some(shown);
    }
    crate::type_facts::dict_of_c(&shown.get_type()).map(|_| shown)
}

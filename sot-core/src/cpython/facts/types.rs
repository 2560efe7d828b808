//! Types: version tags, attribute lookup through the MRO, and how instances look up attributes.

use std::ffi::{CStr, CString, c_ulong};

use pyo3::IntoPyObjectExt;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyString, PyTuple, PyType};

use crate::cpython::capi;

const VALID_VERSION_TAG: c_ulong = 1 << 19;
const HEAPTYPE: c_ulong = 1 << 9;

/// `tp_version_tag` if it is valid: it changes with any change to the type or a base of it.
#[inline]
pub fn type_version(ty: &Bound<'_, PyType>) -> Option<u32> {
    // SAFETY: a live type.
    unsafe { raw_version(ty.as_type_ptr()) }
}

/// # Safety
/// `ty` is a type.
#[inline]
unsafe fn raw_version(ty: *mut ffi::PyTypeObject) -> Option<u32> {
    // SAFETY: by contract.
    unsafe {
        let tag = (*ty).tp_version_tag;
        // 3.8 and 3.9 keep a stale tag and clear the flag; 3.12 and later keep no such flag for all types.
        let valid = cfg!(Py_3_10) || (*ty).tp_flags & VALID_VERSION_TAG != 0;
        (valid && tag != 0).then_some(tag)
    }
}

/// `_PyType_Lookup`: the raw attribute found along the MRO, without binding it. No key of a class is asked whether it is equal to
/// the name, unless it is a string.
#[inline]
pub fn type_lookup<'py>(ty: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    if finds_names_by_code(ty) {
        return lookup_among_names(ty, name);
    }
    // SAFETY: live objects; the borrowed result is made owned at once. 3.8 may leave an exception.
    unsafe {
        let found = capi::_PyType_Lookup(ty.as_type_ptr(), name.as_ptr());
        if found.is_null() && !ffi::PyErr_Occurred().is_null() {
            ffi::PyErr_Clear();
        }
        Bound::from_borrowed_ptr_or_opt(ty.py(), found)
    }
}

/// Whether a class along the MRO has keys that are no strings, which a look-up may ask whether they are equal to a name.
#[inline]
pub fn finds_names_by_code(ty: &Bound<'_, PyType>) -> bool {
    is_heap_type(ty)
        && mro(ty).iter().any(|base| class_dict(&base).is_some_and(|dict| !super::holds_names_alone(&dict)))
}

#[cold]
fn lookup_among_names<'py>(ty: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    mro(ty).iter().find_map(|base| {
        let dict = match class_dict(&base) {
            Some(dict) => dict,
            None => own_dict(base.cast::<PyType>().ok()?)?,
        };
        if super::holds_names_alone(&dict) {
            return dict.get_item(name).ok().flatten();
        }
        let is = |key: &Bound<'py, PyAny>| key.is_exact_instance_of::<PyString>() && key.eq(name).unwrap_or(false);
        dict.iter().find_map(|(key, value)| is(&key).then_some(value))
    })
}

/// The dict of a type, to be read only.
fn own_dict<'py>(ty: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: a live type; a new reference, or a borrowed one that is made owned.
    unsafe {
        #[cfg(Py_3_12)]
        let dict = Bound::from_owned_ptr_or_opt(ty.py(), capi::PyType_GetDict(ty.as_type_ptr()));
        #[cfg(not(Py_3_12))]
        let dict = Bound::from_borrowed_ptr_or_opt(ty.py(), (*ty.as_type_ptr()).tp_dict);
        dict?.cast_into().ok()
    }
}

/// `tp_flags`.
#[inline]
pub fn type_flags(ty: &Bound<'_, PyType>) -> c_ulong {
    // SAFETY: a live type.
    unsafe { ffi::PyType_GetFlags(ty.as_type_ptr()) }
}

/// The name by which the interpreter's own messages call a type: that of C types may have their module in front.
pub fn name_in_messages(ty: &Bound<'_, PyType>) -> String {
    // SAFETY: a type that is alive has a name, which ends with a zero, and no other thread changes it while the GIL is held.
    unsafe { CStr::from_ptr((*ty.as_type_ptr()).tp_name) }.to_string_lossy().into_owned()
}

/// Whether [`name_in_messages`] begins so.
pub fn is_named_below(ty: &Bound<'_, PyType>, module: &str) -> bool {
    // SAFETY: as above.
    unsafe { CStr::from_ptr((*ty.as_type_ptr()).tp_name) }.to_bytes().starts_with(module.as_bytes())
}

/// Whether a value is of `collections.deque` itself.
pub fn is_deque(value: &Bound<'_, PyAny>) -> bool {
    static CLASS: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let ty = value.get_type();
    // A class of the program may have any name.
    let found = || crate::cpython::module(ty.py(), "collections")?.getattr("deque").map(Bound::unbind);
    is_named_below(&ty, "collections.deque")
        && CLASS.get_or_init(ty.py(), || found().ok()).as_ref().is_some_and(|class| ty.is(class))
}

/// Whether the type was made at run time (a class statement), so that it can change.
#[inline]
pub fn is_heap_type(ty: &Bound<'_, PyType>) -> bool {
    type_flags(ty) & HEAPTYPE != 0
}

/// Whether the type may be a class that a program wrote: modules of C make types at run time, too, which refuse changes (since
/// 3.10; `itertools` since 3.12).
pub fn is_written_class(ty: &Bound<'_, PyType>) -> bool {
    const IMMUTABLE: c_ulong = 1 << 8;
    let refuses = cfg!(Py_3_10) && type_flags(ty) & IMMUTABLE != 0;
    is_heap_type(ty) && !refuses
}

/// A new class of `type`, of which its bases do not tell: they know their subclasses by weak references, and this one's has no
/// object. The program never sees it in `__subclasses__()`.
pub fn unlisted_class<'py>(
    py: Python<'py>,
    name: impl IntoPyObject<'py>,
    bases: Bound<'py, PyTuple>,
    namespace: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    unlisted_class_of(py.get_type::<PyType>().as_any(), name, bases, namespace)
}

/// The same, of another metaclass.
pub fn unlisted_class_of<'py>(
    metaclass: &Bound<'py, PyAny>,
    name: impl IntoPyObject<'py>,
    bases: Bound<'py, PyTuple>,
    namespace: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = name.into_bound_py_any(metaclass.py())?;
    unlisted(metaclass.call1((name, bases, namespace))?)
}

/// A class that its bases do not list among their subclasses.
pub fn unlisted(class: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = class.py();
    // SAFETY: a live class; references without a callback are one object, which its bases have.
    unsafe {
        let reference = Bound::from_owned_ptr_or_err(py, ffi::PyWeakref_NewRef(class.as_ptr(), std::ptr::null_mut()))?;
        capi::_PyWeakref_ClearRef(reference.as_ptr());
    }
    Ok(class)
}

/// Whether the type refuses to make instances, since methods are abstract.
pub fn is_abstract(ty: &Bound<'_, PyType>) -> bool {
    const IS_ABSTRACT: c_ulong = 1 << 20;
    type_flags(ty) & IS_ABSTRACT != 0
}

/// The dict of a class made at run time, to be read only.
pub fn class_dict<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let class = obj.cast::<PyType>().ok().filter(|class| is_heap_type(class))?;
    // SAFETY: a live type made at run time: its dict is its own, or NULL while it is made.
    unsafe {
        let dict = Bound::from_borrowed_ptr_or_opt(obj.py(), (*class.as_type_ptr()).tp_dict)?;
        dict.cast_into().ok()
    }
}

/// The classes that look-ups go through: none while the type is still being made, by a `mro()` of its metaclass. A static type
/// whose objects exist before anybody has completed it, as the interpreter has some, is completed: the first look-up would.
#[inline]
pub fn mro<'py>(ty: &Bound<'py, PyType>) -> Bound<'py, PyTuple> {
    // SAFETY: a live type, whose MRO is a tuple or NULL. Static types are made by no code of a program.
    unsafe {
        if (*ty.as_type_ptr()).tp_mro.is_null() && !is_heap_type(ty) && ffi::PyType_Ready(ty.as_type_ptr()) < 0 {
            ffi::PyErr_Clear();
        }
        match Bound::from_borrowed_ptr_or_opt(ty.py(), (*ty.as_type_ptr()).tp_mro) {
            Some(mro) => mro.cast_into_unchecked(),
            None => PyTuple::empty(ty.py()),
        }
    }
}

/// Whether the type is complete.
#[inline]
pub fn has_mro(ty: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live type.
    unsafe { !(*ty.as_type_ptr()).tp_mro.is_null() }
}

/// Whether calling the type makes instances with `object.__new__`, whatever a look-up of `__new__` finds: types of C may
/// refuse to make any, and one that had a `__new__` once keeps asking for it.
#[inline]
pub fn makes_plain_instances(ty: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live type, and the one of `object`.
    unsafe {
        let (own, plain) = ((*ty.as_type_ptr()).tp_new, (*std::ptr::addr_of!(ffi::PyBaseObject_Type)).tp_new);
        own.map(|new| new as usize) == plain.map(|new| new as usize)
    }
}

/// Whether attributes of the instances of a type are set and deleted by what CPython has for all.
pub fn writes_attributes_by_default(ty: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live type; function pointers are compared as addresses.
    unsafe {
        let address = |ty: *mut ffi::PyTypeObject| (*ty).tp_setattro.map_or(0, |f| f as usize);
        let own = address(ty.as_type_ptr());
        own == ffi::PyObject_GenericSetAttr as *const () as usize || own == address(&raw mut ffi::PyBaseObject_Type)
    }
}

/// How `obj.name` is looked up on instances of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetattrKind {
    /// `object.__getattribute__`, no `__getattr__`.
    Generic,
    /// `type.__getattribute__`: the instances are types.
    Type,
    /// `module.__getattribute__`: dict, then the module's `__getattr__`.
    Module,
    /// Anything else: may run user code.
    Custom,
}

/// How attributes of the instances of `ty` are looked up.
#[inline]
pub fn getattr_kind(ty: &Bound<'_, PyType>) -> GetattrKind {
    // SAFETY: live types; function pointers are compared as addresses.
    unsafe {
        let address = |ty: *mut ffi::PyTypeObject| (*ty).tp_getattro.map_or(0, |f| f as usize);
        let own = address(ty.as_type_ptr());
        let generic = ffi::PyObject_GenericGetAttr as *const () as usize;
        if own == generic || own == address(&raw mut ffi::PyBaseObject_Type) {
            GetattrKind::Generic
        } else if own == address(&raw mut ffi::PyType_Type) {
            GetattrKind::Type
        } else if own == address(ty.py().get_type::<PyModule>().as_type_ptr()) {
            GetattrKind::Module
        } else {
            GetattrKind::Custom
        }
    }
}

/// Whether an AttributeError that code of the program raises for an attribute of an instance of `ty` is told name and object.
/// Looking for a method asks the generic look-up without telling.
pub fn tells_names(ty: &Bound<'_, PyType>, method: bool) -> bool {
    !method || getattr_kind(ty) != GetattrKind::Generic
}

/// How a class lays its instances out, what C code it runs for them, and its name.
pub struct ClassForm {
    numbers: [usize; 21],
    name: CString,
}

fn numbers_of(ty: &Bound<'_, PyType>) -> [usize; 21] {
    let flags = (type_flags(ty) & !VALID_VERSION_TAG) as usize;
    // The interpreter exchanges one function for another when it finds out that there is no `__getattr__`.
    let getattr = getattr_kind(ty) as usize;
    // SAFETY: a live type; function pointers are taken as addresses.
    unsafe {
        let ty = &*ty.as_type_ptr();
        macro_rules! numbers {
            ($($size:ident),*; $($function:ident),*) => {
                [flags, getattr, $(ty.$size as usize,)* $(ty.$function.map_or(0, |f| f as usize)),*]
            };
        }
        numbers!(
            tp_basicsize, tp_itemsize, tp_dictoffset, tp_weaklistoffset;
            tp_new, tp_init, tp_call, tp_setattro, tp_repr, tp_str, tp_hash, tp_richcompare, tp_iter,
            tp_iternext, tp_descr_get, tp_descr_set, tp_finalize, tp_del, tp_dealloc
        )
    }
}

/// The form of a class as it is now.
pub fn class_form(ty: &Bound<'_, PyType>) -> ClassForm {
    // SAFETY: a type that is alive has a name, which ends with a zero.
    let name = unsafe { CStr::from_ptr((*ty.as_type_ptr()).tp_name) };
    ClassForm { numbers: numbers_of(ty), name: name.to_owned() }
}

impl ClassForm {
    /// Whether a class has this form.
    pub fn is_of(&self, ty: &Bound<'_, PyType>) -> bool {
        // SAFETY: a type that is alive has a name, which ends with a zero.
        self.numbers == numbers_of(ty) && unsafe { CStr::from_ptr((*ty.as_type_ptr()).tp_name) } == &*self.name
    }
}

/// What a field of an object holds.
pub enum Field<'py> {
    Value(Bound<'py, PyAny>),
    /// The slot is there and was never filled, or was emptied.
    Empty,
    /// The class has no such field, or something else by that name.
    NoField,
}

/// `obj.name` where the class has a descriptor of C code for it: a slot of `__slots__`, `__name__` of a function or a
/// class, `func` of a partial. Nothing else is asked, so no code of the user runs.
pub fn field<'py>(obj: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> Field<'py> {
    let Some(descriptor) = type_lookup(&obj.get_type(), name) else { return Field::NoField };
    // SAFETY: live objects; the descriptor's type was checked to be one whose `tp_descr_get` takes them and gives a new
    // reference or an exception.
    unsafe {
        let ty = ffi::Py_TYPE(descriptor.as_ptr());
        if ty != &raw mut ffi::PyMemberDescr_Type
            && ty != &raw mut ffi::PyGetSetDescr_Type
            && !field_of_tuple(obj.py()).is_some_and(|getter| descriptor.get_type().is(getter))
        {
            return Field::NoField;
        }
        let Some(get) = (*ty).tp_descr_get else { return Field::NoField };
        let value = get(descriptor.as_ptr(), obj.as_ptr(), ffi::Py_TYPE(obj.as_ptr()).cast());
        match Bound::from_owned_ptr_or_opt(obj.py(), value) {
            Some(value) => Field::Value(value),
            None => {
                ffi::PyErr_Clear();
                Field::Empty
            }
        }
    }
}

/// Whether a class is that of context variables.
pub fn is_class_of_context_variables(class: &Bound<'_, PyType>) -> bool {
    class.as_type_ptr() == &raw mut ffi::PyContextVar_Type
}

/// The type of what reads a field of a named tuple.
fn field_of_tuple(py: Python<'_>) -> Option<&Py<PyAny>> {
    static GETTER: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let found = || crate::cpython::module(py, "_collections")?.getattr("_tuplegetter").map(Bound::unbind);
    GETTER.get_or_init(py, || found().ok()).as_ref()
}

/// Whether attributes of the name can be read off neither a slot nor the instance dict nor the class.
pub fn lacks_attribute(obj: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> bool {
    match field(obj, name) {
        Field::Value(_) => false,
        Field::Empty => true,
        Field::NoField => {
            type_lookup(&obj.get_type(), name).is_none()
                && super::instance_dict(obj).is_none_or(|dict| dict.contains(name).is_ok_and(|has| !has))
        }
    }
}

/// A type and the version it had.
pub struct TypeStamp {
    ty: Py<PyType>,
    version: Option<u32>,
}

impl TypeStamp {
    /// Stamps the type, making CPython give it a version first.
    pub fn new(ty: &Bound<'_, PyType>) -> Self {
        let mut stamp = TypeStamp { ty: ty.clone().unbind(), version: None };
        stamp.refresh(ty.py());
        stamp
    }

    pub fn ty(&self) -> &Py<PyType> {
        &self.ty
    }

    /// Whether the type and its bases are unchanged since the stamp was made or refreshed.
    #[inline]
    pub fn fresh(&self) -> bool {
        // SAFETY: the type is owned; the read is of two words, under the GIL that every caller holds.
        let now = unsafe { raw_version(self.ty.as_ptr().cast()) };
        now.is_some() && now == self.version
    }

    /// Takes the present contents as the known ones.
    pub fn refresh(&mut self, py: Python<'_>) {
        let ty = self.ty.bind(py);
        // A cached lookup assigns a version if there is none.
        type_lookup(ty, pyo3::intern!(py, "__class__"));
        self.version = type_version(ty);
    }

    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.ty.as_any());
    }
}

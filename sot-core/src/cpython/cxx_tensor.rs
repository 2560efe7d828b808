//! Cheap looks at a C++ tensor that lives inside a Python object, and at what its library exports.
//!
//! A tensor library's Python object is usually the object head followed by the library's own C++ handle. Where the
//! handle's `const` member functions are exported, calling them by symbol costs a few nanoseconds each, against a hundred
//! for the getters of the Python class. Relied on are its offset in the Python object, and the layouts of the two small
//! structs that its functions return references to (`Extents`, `Location`). Where samples show in which places the facts
//! are kept ([`cxx_layout`](super::cxx_layout)), they are read there, which spares the calls.
//!
//! Trust: the caller names the symbols, and [`CxxTensors::new`] hands out nothing unless the caller's self-test found
//! that the facts read here are those that the Python getters give, on tensors of its choice. A function that could
//! throw is called only where the library's own predicates say that it does not: extents and type of a defined dense
//! handle, location of one with memory.

use super::cxx_layout::{Extents, Flag, Layout, Location, Sample};
use super::symbols::{Library, Symbol};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use smallvec::SmallVec;
use std::ffi::{CStr, c_char, c_void};
use std::ops::RangeInclusive;

type Predicate = unsafe extern "C" fn(*const c_void) -> bool;
type Code = unsafe extern "C" fn(*const c_void) -> i32;
type ExtentsOf = unsafe extern "C" fn(*const c_void) -> *const Extents;
type LocationOf = unsafe extern "C" fn(*const c_void) -> *const Location;

/// Mangled names of the handle's member functions, and where the handle is.
pub struct CxxSymbols<'a> {
    /// The library that exports them, which must be loaded.
    pub library: &'a CStr,
    /// Offset of the handle in the Python object.
    pub offset: usize,
    /// `bool () const`: whether there is anything behind the handle.
    pub defined: &'a CStr,
    /// `bool () const`: whether it is an ordinary dense tensor.
    pub dense: &'a CStr,
    /// `bool () const`: whether it has memory.
    pub allocated: &'a CStr,
    /// `const Extents& () const`
    pub extents: &'a CStr,
    /// `int () const`: the element type.
    pub element_type: &'a CStr,
    /// `const Location& () const`
    pub location: &'a CStr,
}

/// What a tensor was found to be.
#[derive(Debug)]
pub struct CxxFacts {
    class: Py<PyType>,
    extents: SmallVec<[i64; 9]>,
    element_type: i32,
    location: Location,
}

impl CxxFacts {
    /// Extents, for a self-test.
    pub fn extents(&self) -> &[i64] {
        &self.extents
    }
    /// The element type as the library numbers it, for a self-test.
    pub fn element_type(&self) -> i32 {
        self.element_type
    }
    /// Device number and kind of memory, for a self-test.
    pub fn location(&self) -> (i8, i8) {
        (self.location.device, self.location.kind)
    }
}

/// The member functions of one library.
pub struct CxxTensors {
    base: Py<PyType>,
    offset: usize,
    defined: Predicate,
    dense: Predicate,
    allocated: Predicate,
    extents: ExtentsOf,
    element_type: Code,
    location: LocationOf,
    /// Where facts are, once [`CxxTensors::learn`] has found out.
    layout: Option<Layout>,
}

impl CxxTensors {
    /// The functions, if all symbols are there and the self-test agrees. Instances of `base` embed the handle.
    pub fn new(
        base: &Bound<'_, PyType>,
        symbols: &CxxSymbols<'_>,
        self_test: impl FnOnce(&CxxTensors) -> bool,
    ) -> Option<CxxTensors> {
        // The convention of a member function is that of a C function only on these.
        if !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
            return None;
        }
        let library = Library::loaded(symbols.library)?;
        let address = |name| library.symbol(name).map(|s: Symbol| s.address().as_ptr());
        // The instance must be large enough to hold a pointer there.
        // SAFETY: a type object is valid while it is borrowed.
        let size = unsafe { (*base.as_type_ptr()).tp_basicsize };
        if usize::try_from(size).ok()? < symbols.offset + size_of::<*const c_void>() {
            return None;
        }
        // SAFETY: function pointers have the size of data pointers here. That the functions have these types is what
        // the caller's symbols say and the self-test below checks; on the targets admitted above, a `const` member
        // function without arguments is a C function of the object's address.
        let functions = unsafe {
            CxxTensors {
                base: base.clone().unbind(),
                offset: symbols.offset,
                defined: std::mem::transmute::<*mut c_void, Predicate>(address(symbols.defined)?),
                dense: std::mem::transmute::<*mut c_void, Predicate>(address(symbols.dense)?),
                allocated: std::mem::transmute::<*mut c_void, Predicate>(address(symbols.allocated)?),
                extents: std::mem::transmute::<*mut c_void, ExtentsOf>(address(symbols.extents)?),
                element_type: std::mem::transmute::<*mut c_void, Code>(address(symbols.element_type)?),
                location: std::mem::transmute::<*mut c_void, LocationOf>(address(symbols.location)?),
                layout: None,
            }
        };
        self_test(&functions).then_some(functions)
    }

    /// Find out where the facts are kept. `samples` are tensors of several types and ranks. They are read in the places found as
    /// well: what is not the same there as by the functions was not found.
    pub fn learn(&mut self, samples: &[Bound<'_, PyAny>]) {
        let sample = |object: &Bound<'_, PyAny>| {
            let handle = self.is_of_base(object).then(|| self.handle(object.as_ptr()))?;
            // SAFETY: as in `read`.
            unsafe {
                self.readable(handle).then(|| Sample {
                    handle,
                    extents: (self.extents)(handle),
                    element_type: (self.element_type)(handle),
                    location: (self.location)(handle),
                })
            }
        };
        let Some(known) = samples.iter().map(sample).collect::<Option<Vec<_>>>().filter(|known| known.len() > 3) else {
            return;
        };
        // SAFETY: the objects are borrowed, so what is behind their handles lives; the library has put more than one
        // implementation in a row on its heap.
        self.layout = unsafe { Layout::learn(&known) }.filter(|layout| {
            known.iter().all(|sample| {
                // SAFETY: as above; the references are valid while the objects are borrowed.
                unsafe {
                    layout.read(sample.handle).is_some_and(|(extents, element_type, location)| {
                        std::ptr::eq(extents, sample.extents)
                            && element_type == sample.element_type
                            && location == *sample.location
                    })
                }
            })
        });
    }

    /// The handle inside an object.
    fn handle(&self, object: *mut ffi::PyObject) -> *const c_void {
        object.cast::<u8>().wrapping_add(self.offset).cast()
    }

    /// Whether the handle is a dense tensor with memory.
    ///
    /// # Safety
    /// `handle` is the handle of a live instance of `base`.
    unsafe fn readable(&self, handle: *const c_void) -> bool {
        // SAFETY: by the caller; the order keeps each function from looking behind an empty handle.
        unsafe { (self.defined)(handle) && (self.dense)(handle) && (self.allocated)(handle) }
    }

    /// What an instance of the base class is; `None` for anything but a dense tensor with memory.
    pub fn read(&self, object: &Bound<'_, PyAny>) -> Option<CxxFacts> {
        if !self.is_of_base(object) {
            return None;
        }
        let handle = self.handle(object.as_ptr());
        // SAFETY: the object is an instance of `base` and alive while borrowed; a readable handle has all three facts,
        // and the references stay valid while the GIL keeps others from writing the tensor.
        unsafe {
            if !self.readable(handle) {
                return None;
            }
            let extents = &*(self.extents)(handle);
            let rank = usize::try_from(extents.rank).ok().filter(|r| *r <= extents.values.len())?;
            Some(CxxFacts {
                class: object.get_type().unbind(),
                extents: SmallVec::from_slice(&extents.values[..rank]),
                element_type: (self.element_type)(handle),
                location: *(self.location)(handle),
            })
        }
    }

    /// Whether the class of an object is the base, or extends it, whatever the object says of its class.
    fn is_of_base(&self, object: &Bound<'_, PyAny>) -> bool {
        // SAFETY: both are live classes.
        unsafe { ffi::PyType_IsSubtype(ffi::Py_TYPE(object.as_ptr()), self.base.as_ptr().cast()) != 0 }
    }

    /// Whether an object has exactly the class and the facts that were read.
    #[inline]
    pub fn same(&self, object: Borrowed<'_, '_, PyAny>, facts: &CxxFacts) -> bool {
        self.agrees(object, facts, |extents| *extents == facts.extents[..])
    }

    /// The same, but for its extents: each of them, by its axis and what it was, is asked for.
    pub fn same_but(
        &self,
        object: Borrowed<'_, '_, PyAny>,
        facts: &CxxFacts,
        fits: impl Fn(usize, i64, i64) -> bool,
    ) -> bool {
        self.agrees(object, facts, |extents| {
            let mut pairs = extents.iter().zip(&facts.extents).enumerate();
            pairs.all(|(axis, (extent, then))| fits(axis, *extent, *then))
        })
    }

    /// The extent of a tensor along an axis; `None`: it is none, or has no such axis.
    pub fn extent(&self, object: &Bound<'_, PyAny>, axis: usize) -> Option<i64> {
        if !self.is_of_base(object) {
            return None;
        }
        let handle = self.handle(object.as_ptr());
        // SAFETY: as in `read`.
        unsafe {
            if !self.readable(handle) {
                return None;
            }
            let extents = &*(self.extents)(handle);
            let rank = usize::try_from(extents.rank).ok()?;
            extents.values.get(..rank)?.get(axis).copied()
        }
    }

    #[inline]
    fn agrees(&self, object: Borrowed<'_, '_, PyAny>, facts: &CxxFacts, have: impl FnOnce(&[i64]) -> bool) -> bool {
        let object = object.as_ptr();
        // SAFETY: `object` is alive while borrowed. Equal classes make it an instance of `base`, because the facts were
        // read from one. The rest as in `read`.
        unsafe {
            if ffi::Py_TYPE(object) != facts.class.as_ptr().cast() {
                return false;
            }
            let handle = self.handle(object);
            let (extents, element_type, location) = match self.layout.and_then(|layout| layout.read(handle)) {
                Some(known) => known,
                None if self.readable(handle) => {
                    (&*(self.extents)(handle), (self.element_type)(handle), *(self.location)(handle))
                }
                None => return false,
            };
            element_type == facts.element_type
                && extents.rank as usize == facts.extents.len()
                && have(&extents.values[..facts.extents.len()])
                && location == facts.location
        }
    }
}

/// A flag of a tensor, read in its place where that is found, else by the getter of its class.
pub struct TensorFlag {
    getter: DirectGetter,
    base: Py<PyType>,
    offset: usize,
    place: Option<Flag>,
}

impl TensorFlag {
    /// The flag `name` of the class of `sample`, whose handle is at an offset. The flag of `sample` is raised and let down to find
    /// its place; nothing else may hold it.
    pub fn new(sample: &Bound<'_, PyAny>, name: &CStr, offset: usize) -> Option<TensorFlag> {
        let class = sample.get_type();
        let getter = DirectGetter::new(&class, name)?;
        let attribute = name.to_str().ok()?;
        let handle = sample.as_ptr().cast::<u8>().wrapping_add(offset).cast::<c_void>();
        let set = |up: bool| sample.setattr(attribute, up).is_ok() && getter.truth(sample.as_borrowed()) == Some(up);
        let is_known_target = cfg!(all(target_os = "linux", target_pointer_width = "64"));
        // SAFETY: the sample is borrowed; the target is one whose objects embed handles, as the caller says.
        let place = if is_known_target { unsafe { Flag::learn(handle.cast_const(), set) } } else { None };
        Some(TensorFlag { getter, base: class.unbind(), offset, place })
    }

    /// Whether the flag of an instance of the class is up; `None` for another class or an error.
    #[inline]
    pub fn truth(&self, object: Borrowed<'_, '_, PyAny>) -> Option<bool> {
        if let Some(place) = self.place {
            // SAFETY: live classes, and an instance of the class embeds the handle, which is alive while it is borrowed.
            let known = unsafe {
                let own = ffi::Py_TYPE(object.as_ptr());
                let base = self.base.as_ptr().cast::<ffi::PyTypeObject>();
                let handle = object.as_ptr().cast::<u8>().wrapping_add(self.offset).cast::<c_void>();
                if own == base || ffi::PyType_IsSubtype(own, base) != 0 {
                    place.read(handle.cast_const())
                } else {
                    None
                }
            };
            if known.is_some() {
                return known;
            }
        }
        self.getter.truth(object)
    }
}

/// A getter of a C class (a `getset` descriptor), called without attribute lookup.
pub struct DirectGetter {
    class: Py<PyType>,
    get: ffi::getter,
    closure: *mut c_void,
}

// SAFETY: the closure belongs to a static table of the class; it is only passed on, with the GIL held.
unsafe impl Send for DirectGetter {}
// SAFETY: as above.
unsafe impl Sync for DirectGetter {}

/// Head of CPython's `PyGetSetDescrObject`, the same from 3.8 to 3.13.
#[repr(C)]
struct GetSetDescriptor {
    head: ffi::PyObject,
    class: *mut ffi::PyTypeObject,
    name: *mut ffi::PyObject,
    qualified_name: *mut ffi::PyObject,
    definition: *mut ffi::PyGetSetDef,
}

impl DirectGetter {
    /// The getter of `class.name`, if that is a `getset` descriptor of the class itself.
    pub fn new(class: &Bound<'_, PyType>, name: &CStr) -> Option<DirectGetter> {
        let descriptor = class.getattr("__dict__").ok()?.get_item(name.to_str().ok()?).ok()?;
        // SAFETY: the type check makes the cast right; the definition is a static of the class, which is kept alive.
        unsafe {
            if ffi::Py_TYPE(descriptor.as_ptr()) != &raw mut ffi::PyGetSetDescr_Type {
                return None;
            }
            let descriptor = &*descriptor.as_ptr().cast::<GetSetDescriptor>();
            if descriptor.class != class.as_type_ptr() || descriptor.definition.is_null() {
                return None;
            }
            let definition = &*descriptor.definition;
            if CStr::from_ptr(definition.name as *const c_char) != name {
                return None;
            }
            Some(DirectGetter { class: class.clone().unbind(), get: definition.get?, closure: definition.closure })
        }
    }

    /// Whether the getter of an instance of the class answers `True`; `None` for another class or an error.
    #[inline]
    pub fn truth(&self, object: Borrowed<'_, '_, PyAny>) -> Option<bool> {
        let py = object.py();
        // SAFETY: the object is alive and an instance of the class, as the getter requires; it returns a new reference
        // or null with an error set.
        unsafe {
            let class = self.class.as_ptr().cast::<ffi::PyTypeObject>();
            let own = ffi::Py_TYPE(object.as_ptr());
            if own != class && ffi::PyType_IsSubtype(own, class) == 0 {
                return None;
            }
            let answer = Bound::from_owned_ptr_or_opt(py, (self.get)(object.as_ptr(), self.closure));
            match answer {
                Some(answer) if answer.as_ptr() == ffi::Py_True() => Some(true),
                Some(answer) if answer.as_ptr() == ffi::Py_False() => Some(false),
                Some(_) => None,
                None => {
                    ffi::PyErr_Clear();
                    None
                }
            }
        }
    }
}

/// What a library says of the thread that asks: a `bool () const` of its object for the thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadFlag {
    object: unsafe extern "C" fn() -> *const *const c_void,
    get: Predicate,
}

impl ThreadFlag {
    /// The flag, if the library exports both functions and the self-test agrees. `object` is a function without arguments
    /// that returns a reference to a pointer of the library to its object, or to none.
    pub fn new(
        library: &CStr,
        object: &CStr,
        get: &CStr,
        self_test: impl FnOnce(ThreadFlag) -> bool,
    ) -> Option<ThreadFlag> {
        if !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
            return None;
        }
        let library = Library::loaded(library)?;
        let address = |name| library.symbol(name).map(|s: Symbol| s.address().as_ptr());
        // SAFETY: as in `CxxTensors::new`.
        let flag = unsafe {
            ThreadFlag {
                object: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const *const c_void>(address(
                    object,
                )?),
                get: std::mem::transmute::<*mut c_void, Predicate>(address(get)?),
            }
        };
        self_test(flag).then_some(flag)
    }

    /// Its value now; `None`: the thread has no such object.
    #[inline]
    pub fn get(self) -> Option<bool> {
        // SAFETY: a shared pointer begins with the address of what it points to, which lives as long as it is the thread's.
        unsafe {
            let object = *(self.object)();
            (!object.is_null()).then(|| (self.get)(object))
        }
    }
}

/// A global `bool` that a loaded library exports.
#[derive(Clone, Copy, Debug)]
pub struct ExportedFlag(Symbol);

impl ExportedFlag {
    /// The flag, if the library exports the symbol and it reads as the caller knows it to be now.
    pub fn new(library: &CStr, symbol: &CStr, now: bool) -> Option<ExportedFlag> {
        let flag = ExportedFlag(Library::loaded(library)?.symbol(symbol)?);
        (flag.byte() == u8::from(now)).then_some(flag)
    }

    fn byte(self) -> u8 {
        // SAFETY: the symbol is a data object of at least one byte, and its library stays loaded; the volatile read
        // takes whatever another thread may write.
        unsafe { self.0.address().as_ptr().cast::<u8>().read_volatile() }
    }

    /// Its value now.
    #[inline]
    pub fn get(self) -> bool {
        self.byte() != 0
    }
}

/// A global 32-bit `int` that a loaded library exports.
#[derive(Clone, Copy, Debug)]
pub struct ExportedInt(Symbol);

impl ExportedInt {
    /// The variable, if the library exports the symbol and its value is within bounds: another one is something else.
    pub fn new(library: &CStr, symbol: &CStr, values: RangeInclusive<i32>) -> Option<ExportedInt> {
        let variable = ExportedInt(Library::loaded(library)?.symbol(symbol)?);
        let aligned = variable.0.address().as_ptr().cast::<i32>().is_aligned();
        (aligned && values.contains(&variable.get())).then_some(variable)
    }

    /// Its value now.
    pub fn get(self) -> i32 {
        // SAFETY: the symbol is a data object of four bytes, aligned, and its library stays loaded.
        unsafe { self.0.address().as_ptr().cast::<i32>().read_volatile() }
    }

    /// Give it a value.
    pub fn set(self, value: i32) {
        // SAFETY: as above; the library reads it wherever it likes, and every value is one that it knows.
        unsafe { self.0.address().as_ptr().cast::<i32>().write_volatile(value) }
    }
}

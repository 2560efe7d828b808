//! The state of a stream of random numbers of C, copied as memory: its own methods make a tuple of 625 ints of it.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The words of a Mersenne twister, and where it stands in them.
const WORDS: usize = 625;
const HEAD: usize = size_of::<ffi::PyObject>();

/// Give `to`, a `_random.Random`, the state of `from`, which is one or extends one. False: where their state lies is not known, and nothing
/// was done.
pub(crate) fn copy_state(class: &Bound<'_, PyType>, from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> bool {
    static KNOWN: PyOnceLock<bool> = PyOnceLock::new();
    let known = KNOWN.get_or_init(class.py(), || copies(class).unwrap_or(false));
    // SAFETY: a live type; both values have the layout of its instances, as far as it goes.
    let extends = unsafe { ffi::PyType_IsSubtype(from.get_type().as_type_ptr(), class.as_type_ptr()) != 0 };
    if !known || !extends || !to.get_type().is(class) {
        return false;
    }
    copy(class, from, to);
    true
}

fn size(class: &Bound<'_, PyType>) -> usize {
    // SAFETY: a live type.
    let size = unsafe { (*class.as_type_ptr()).tp_basicsize };
    usize::try_from(size).unwrap_or(0)
}

/// Both are at least instances of the class, and have no other references to objects in these bytes, as [`copies`] has found out.
fn copy(class: &Bound<'_, PyType>, from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) {
    let words = WORDS * size_of::<u32>();
    debug_assert!(size(class) >= HEAD + words);
    // SAFETY: two live objects with so many bytes behind their heads.
    unsafe {
        let (from, to) = (from.as_ptr().cast::<u8>().add(HEAD), to.as_ptr().cast::<u8>().add(HEAD));
        std::ptr::copy(from, to, words);
    }
}

/// Whether the words are all that there is to an instance: found out on samples.
fn copies(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let words = WORDS * size_of::<u32>();
    if !(HEAD + words..HEAD + words + size_of::<usize>()).contains(&size(class)) {
        return Ok(false);
    }
    for drawn in [0, 1, 623, 700] {
        let (from, to) = (class.call1((drawn,))?, class.call1((drawn + 1,))?);
        for _ in 0..drawn {
            from.call_method0("random")?;
        }
        let before = from.call_method0("getstate")?;
        copy(class, &from, &to);
        let told = to.call_method0("getstate")?.eq(&before)? && from.call_method0("getstate")?.eq(&before)?;
        if !told || !from.call_method0("random")?.eq(to.call_method0("random")?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

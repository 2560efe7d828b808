//! Code objects as plain data, and back.
//!
//! Attributes are read by name and code is built with `types.CodeType(*args)`, which is exact in every
//! version and needs no private API. `CodeType` checks nothing: a wrong stack size or jump crashes, so
//! what is built must have been verified before.

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode, PyDict, PyString, PyTuple};
use sot_opcodes::{CodeFlags, RawCode, Version};

/// The version of the interpreter this was built for.
pub const VERSION: Version = if cfg!(Py_3_13) {
    Version::V313
} else if cfg!(Py_3_12) {
    Version::V312
} else if cfg!(Py_3_11) {
    Version::V311
} else if cfg!(Py_3_10) {
    Version::V310
} else if cfg!(Py_3_9) {
    Version::V39
} else {
    Version::V38
};

/// The attributes of a code object, and its constants.
pub fn read_code(code: &Bound<'_, PyAny>) -> PyResult<(RawCode, Vec<Py<PyAny>>)> {
    let number = |name: &str| -> PyResult<u32> { code.getattr(name)?.extract() };
    let text = |name: &str| -> PyResult<String> { code.getattr(name)?.extract() };
    let texts = |name: &str| -> PyResult<Vec<String>> { code.getattr(name)?.extract() };
    let bytes =
        |name: &str| -> PyResult<Vec<u8>> { Ok(code.getattr(name)?.cast_into::<PyBytes>()?.as_bytes().to_vec()) };
    let late = VERSION >= Version::V311;
    let raw = RawCode {
        version: VERSION,
        argcount: number("co_argcount")?,
        posonlyargcount: number("co_posonlyargcount")?,
        kwonlyargcount: number("co_kwonlyargcount")?,
        stacksize: number("co_stacksize")?,
        flags: CodeFlags::from_bits_retain(number("co_flags")?),
        code: bytes("co_code")?,
        names: texts("co_names")?,
        varnames: texts("co_varnames")?,
        cellvars: texts("co_cellvars")?,
        freevars: texts("co_freevars")?,
        filename: text("co_filename")?,
        name: text("co_name")?,
        qualname: if late { text("co_qualname")? } else { String::new() },
        firstlineno: number("co_firstlineno")?,
        linetable: bytes(if VERSION >= Version::V310 { "co_linetable" } else { "co_lnotab" })?,
        exceptiontable: if late { bytes("co_exceptiontable")? } else { Vec::new() },
    };
    let consts = code.getattr("co_consts")?.cast_into::<PyTuple>()?;
    let consts = consts.iter().map(|value| value.unbind()).collect();
    Ok((raw, consts))
}

/// Makes a code object for the running interpreter.
pub fn build_code(py: Python<'_>, raw: &RawCode, consts: &[Py<PyAny>]) -> PyResult<Py<PyCode>> {
    if raw.version != VERSION {
        return Err(PyValueError::new_err(format!("sot: code for CPython {} cannot run on {VERSION}", raw.version)));
    }
    // Names are interned, as the compiler interns them: lookups compare pointers first.
    let names = |list: &[String]| -> PyResult<Bound<'_, PyAny>> {
        let items = list.iter().map(|name| PyString::intern(py, name));
        Ok(PyTuple::new(py, items.collect::<Vec<_>>())?.into_any())
    };
    let number = |value: u32| -> PyResult<Bound<'_, PyAny>> { Ok(value.into_pyobject(py)?.into_any()) };
    let text = |value: &str| PyString::new(py, value).into_any();
    let bytes = |value: &[u8]| PyBytes::new(py, value).into_any();
    let late = VERSION >= Version::V311;

    let mut args = vec![
        number(raw.argcount)?,
        number(raw.posonlyargcount)?,
        number(raw.kwonlyargcount)?,
        number(raw.varnames.len() as u32)?,
        number(raw.stacksize)?,
        number(raw.flags.bits())?,
        bytes(&raw.code),
        PyTuple::new(py, consts.iter().map(|value| value.bind(py)))?.into_any(),
        names(&raw.names)?,
        names(&raw.varnames)?,
        text(&raw.filename),
        text(&raw.name),
    ];
    if late {
        args.push(text(&raw.qualname));
    }
    args.push(number(raw.firstlineno)?);
    args.push(bytes(&raw.linetable));
    if late {
        args.push(bytes(&raw.exceptiontable));
    }
    args.push(names(&raw.freevars)?);
    args.push(names(&raw.cellvars)?);
    let code = py.get_type::<PyCode>().call1(PyTuple::new(py, args)?)?.cast_into::<PyCode>()?;
    keep_constants(&code, consts)?;
    Ok(code.unbind())
}

/// Making a code object puts interned strings in the place of constants that look like names: code of ours means the very
/// objects that it was given.
fn keep_constants(code: &Bound<'_, PyCode>, consts: &[Py<PyAny>]) -> PyResult<()> {
    let held = code.getattr("co_consts")?.cast_into::<PyTuple>()?;
    for (at, wanted) in consts.iter().enumerate() {
        let old = held.get_item(at)?;
        if !old.is(wanted) {
            // SAFETY: the tuple was made for this code object, which nobody else has seen, and has an item here; its
            // reference goes with the old object's second drop.
            unsafe {
                ffi::PyTuple_SET_ITEM(held.as_ptr(), at as ffi::Py_ssize_t, wanted.clone_ref(code.py()).into_ptr());
                ffi::Py_DECREF(old.as_ptr());
            }
        }
    }
    Ok(())
}

/// The frames of a function have these builtins, whatever its globals say when it is made. Up to 3.9 each frame asks its globals.
pub fn set_builtins(function: &Bound<'_, PyAny>, builtins: &Bound<'_, PyAny>) {
    #[cfg(Py_3_10)]
    if super::facts::is_function(function) {
        let raw = function.as_ptr().cast::<ffi::PyFunctionObject>();
        // SAFETY: a live function, by its type; the field owns a reference, and what it held goes when it is the new one's.
        unsafe {
            let old = std::mem::replace(&mut (*raw).func_builtins, builtins.clone().into_ptr());
            drop(Bound::from_owned_ptr_or_opt(function.py(), old));
        }
    }
    #[cfg(not(Py_3_10))]
    let _ = (function, builtins);
}

/// Makes a function of `code`. `closure` must have one cell per free variable.
pub fn new_function<'py>(
    py: Python<'py>,
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyDict>,
    name: Option<&str>,
    closure: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyAny>> {
    let free = code.getattr("co_freevars")?.len()?;
    let cells = closure.map_or(0, |cells| cells.len());
    if free != cells {
        return Err(PyValueError::new_err(format!("sot: code with {free} free variables got {cells} cells")));
    }
    // SAFETY: arguments are of the types the C functions ask for.
    unsafe {
        let function = ffi::PyFunction_New(code.as_ptr(), globals.as_ptr());
        let function = Bound::from_owned_ptr_or_err(py, function)?;
        if let Some(closure) = closure
            && ffi::PyFunction_SetClosure(function.as_ptr(), closure.as_ptr()) != 0
        {
            return Err(PyErr::fetch(py));
        }
        if let Some(name) = name {
            function.setattr("__name__", name)?;
            function.setattr("__qualname__", name)?;
        }
        Ok(function)
    }
}

//! Functions that look at the variables of their callers.
//!
//! A call that is not simulated may ask for the frames below it, and a frame of rewritten code has the right name and line, but not
//! the variables of the user's. Who asks for them says `f_locals`, and how it comes to the frame (that of a traceback shows what it
//! has): in its own code, or in that of functions which it names. Names are followed from function to function in the user's code;
//! what comes with the interpreter or with a framework looks at variables only where it is told to.

use crate::cpython::facts;
use crate::libraries::{comes_with_python, of_framework};
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyModule, PyTuple};

/// So many functions are read: behind them nobody is expected to look.
const READ: usize = 64;

/// What leads to the frames of callers.
const FRAMES: [&str; 5] = ["_getframe", "currentframe", "f_back", "stack", "_current_frames"];

/// Whether a function may look at the variables of its callers, by what it names.
pub(crate) fn looks_at_callers(function: &Bound<'_, PyAny>) -> bool {
    search(vec![function.clone()])
}

/// Whether code with these globals names a function that may look at the variables of its callers.
pub(crate) fn names_onlooker(code: &Py<PyCode>, globals: &Bound<'_, PyAny>) -> bool {
    let mut named = Vec::new();
    if let Ok(globals) = globals.cast::<PyDict>() {
        collect_named(code.bind(globals.py()), globals, &mut named);
    }
    search(named)
}

fn search(mut work: Vec<Bound<'_, PyAny>>) -> bool {
    let mut seen = HashSet::new();
    let (mut asks, mut finds) = (false, false);
    while let Some(function) = work.pop() {
        let Some(parts) = facts::func_parts(&function) else { continue };
        let (Ok(code), Ok(globals)) =
            (parts.code.to_owned().cast_into::<PyCode>(), parts.globals.to_owned().cast_into::<PyDict>())
        else {
            continue;
        };
        if !seen.insert(code.as_ptr() as usize) || is_foreign(&code) {
            continue;
        }
        asks |= says(&code, &["f_locals"]);
        finds |= says(&code, &FRAMES);
        if asks && finds {
            return true;
        }
        if seen.len() >= READ {
            return false;
        }
        collect_named(&code, &globals, &mut work);
    }
    false
}

/// Its code is nobody's who looks at variables unasked.
fn is_foreign(code: &Bound<'_, PyCode>) -> bool {
    let file: String = code.getattr("co_filename").and_then(|file| file.extract()).unwrap_or_default();
    comes_with_python(code.py(), &file) || of_framework(code.py(), &file)
}

fn names_of<'py>(code: &Bound<'py, PyCode>) -> Option<Bound<'py, PyTuple>> {
    code.getattr("co_names").ok()?.cast_into().ok()
}

/// Code objects within a code object.
fn codes_within<'py>(code: &Bound<'py, PyCode>) -> Vec<Bound<'py, PyCode>> {
    let consts = code.getattr("co_consts").ok().and_then(|consts| consts.cast_into::<PyTuple>().ok());
    consts.into_iter().flat_map(|consts| consts.iter().filter_map(|c| c.cast_into().ok()).collect::<Vec<_>>()).collect()
}

/// Whether code, or code within it, has one of these names.
fn says(code: &Bound<'_, PyCode>, wanted: &[&str]) -> bool {
    let is_wanted = |name: Bound<'_, PyAny>| name.extract::<&str>().is_ok_and(|name| wanted.contains(&name));
    names_of(code).is_some_and(|names| names.iter().any(is_wanted))
        || codes_within(code).iter().any(|code| says(code, wanted))
}

/// The functions that code names: its globals, and attributes of modules among them.
fn collect_named<'py>(code: &Bound<'py, PyCode>, globals: &Bound<'py, PyDict>, named: &mut Vec<Bound<'py, PyAny>>) {
    let Some(names) = names_of(code) else { return };
    for name in &names {
        let Some(value) = globals.get_item(&name).ok().flatten() else { continue };
        if let Ok(module) = value.cast::<PyModule>() {
            let members = module.dict();
            let member = |name| members.get_item(name).ok().flatten().filter(|member| facts::is_function(member));
            named.extend(names.iter().filter_map(member));
        } else if facts::is_function(&value) {
            named.push(value);
        }
    }
    codes_within(code).iter().for_each(|code| collect_named(code, globals, named));
}

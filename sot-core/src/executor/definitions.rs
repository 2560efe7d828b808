//! Builtins by definition: what `any`, `sorted(key=)`, `functools.reduce` and others do, as Python code.
//!
//! Where a part of a builtin's work is code of the program (a generator, a key function, `__eq__`), the builtin is simulated by a
//! frame of its own that runs its definition (`definitions.py`). So the program's frames are on the machine's stack as after
//! any call, and a break inside them is a break like any other.
//!
//! Such a frame is *hidden* ([`CodeUnit::hidden`]): plain Python has none there. No traceback shows it, no report names its
//! lines, no stand-in stands for it, and what it runs eagerly runs in its caller's name.
//!
//! A definition raises nothing of its own but what the builtin raises at that moment: by asking the builtin itself, or, where that
//! would ask the program once more, with the builtin's words.

use super::copies::Copies;
use super::exceptions::for_real;
use super::made_classes::ClassParts;
use super::metaclasses;
use super::{Awaits, Executor, Frame};
use crate::code_unit::records;
use crate::code_unit::{CodeUnit, HIDDEN_FILE, assemble};
use crate::cpython::code::read_code;
use crate::cpython::facts::{
    backwards_from, calls_have_ended_before, count_on, end_iterator, moves_backwards, unlisted_class, walk,
};
use crate::cpython::thread::end_repr;
use crate::stop::{Reason, Stop};
use crate::type_facts::is_quiet_key;
use crate::variables::*;
use hashbrown::HashMap;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use sot_opcodes::{CompareOp, ConstId, Op};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// The definitions, compiled.
struct Definitions {
    codes: HashMap<String, Py<PyAny>>,
    helpers: Vec<(&'static str, Py<PyAny>)>,
    globals: Py<PyDict>,
    builtins: Py<PyAny>,
}

static DEFINITIONS: PyOnceLock<Definitions> = PyOnceLock::new();

/// Make the definitions: before the program can put functions of its own in the place of builtins.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    definitions(py).map(drop)
}

fn definitions(py: Python<'_>) -> PyResult<&'static Definitions> {
    DEFINITIONS.get_or_try_init(py, || compile(py))
}

/// Compile the definitions. The names that they read globally become constants: they mean the same whatever the program does
/// to its builtins.
fn compile(py: Python<'_>) -> PyResult<Definitions> {
    let builtins = crate::cpython::module(py, "builtins")?;
    let mut source = concat!(
        include_str!("definitions.py"),
        include_str!("definitions_of_iterators.py"),
        include_str!("definitions_of_itertools.py"),
        include_str!("definitions_of_values.py"),
        include_str!("definitions_of_exceptions.py"),
        include_str!("definitions_of_keys.py"),
        include_str!("definitions_of_members.py"),
        include_str!("definitions_of_ordered.py"),
        include_str!("definitions_of_library.py"),
        include_str!("definitions_of_coroutines.py")
    )
    .to_owned();
    if py.version_info() >= (3, 11) {
        source += include_str!("definitions_of_groups.py");
    }
    if py.version_info() < (3, 9) {
        // What is looked for was on the left.
        source = source.replace("item == wanted", "wanted == item");
    }
    if py.version_info() < (3, 11) {
        // Who had a dict was taken apart into that, full or empty.
        source = source.replace("empty_is_none = True", "empty_is_none = False");
        // An ordered dict looked a key up, and then once more to delete it.
        source = source.replace("searches = 2", "searches = 3");
    }
    if py.version_info() < (3, 12) {
        // Only a key that is there already was given twice.
        source = source.replace("given_twice = len(error.args) == 1", "given_twice = False");
    }
    if py.version_info() < (3, 13) {
        // What a generator returns that is closed was lost.
        source = source.replace("return end.value", "return None");
    }
    let module = builtins.getattr("compile")?.call1((source, HIDDEN_FILE, "exec"))?;
    let globals = PyDict::new(py);
    globals.set_item("__builtins__", builtins.dict())?;
    builtins.getattr("exec")?.call1((module, &globals))?;
    let helpers = helpers(py)?;
    let mut codes = HashMap::new();
    for (name, function) in globals.iter() {
        let Ok(code) = function.getattr("__code__") else { continue };
        let failed = |e: String| PyRuntimeError::new_err(e);
        let (raw, mut consts) = read_code(&code)?;
        let mut decoded = raw.into_code().map_err(|e| failed(e.to_string()))?;
        for at in 0..decoded.instrs.len() {
            if let Op::LoadGlobal(id) = decoded.instrs[at].op {
                let global = decoded.names[id.0 as usize].as_str();
                let helper = helpers.iter().find(|(helper, _)| *helper == global);
                let value = match helper {
                    Some((_, helper)) => helper.clone_ref(py),
                    None => builtins.getattr(global)?.unbind(),
                };
                decoded.instrs[at].op = Op::LoadConst(ConstId(consts.len() as u32));
                consts.push(value);
            }
            // What is an iterator already is asked for items alone.
            if matches!(decoded.instrs[at].op, Op::GetIter)
                && let Some(Op::LoadFast { local, .. }) = at.checked_sub(1).map(|before| decoded.instrs[before].op)
                && matches!(decoded.varnames[local.0 as usize].as_str(), "iterator" | "inner")
            {
                decoded.instrs[at].op = Op::Nop;
            }
        }
        let code = assemble(py, &decoded, &consts).map_err(failed)?;
        records::never_capture(&code);
        codes.insert(name.extract()?, code.into_any().unbind());
    }
    globals.clear();
    globals.set_item("__builtins__", builtins.dict())?;
    Ok(Definitions { codes, helpers, globals: globals.unbind(), builtins: builtins.dict().into_any().unbind() })
}

/// What definitions call besides builtins. Each is simulated by [`Executor::call_helper`]; this is what it does for real.
fn helpers(py: Python<'_>) -> PyResult<Vec<(&'static str, Py<PyAny>)>> {
    let make = |name: &'static std::ffi::CStr, run: fn(&Bound<'_, PyTuple>) -> PyResult<Py<PyAny>>| {
        let function = PyCFunction::new_closure(py, Some(name), None, move |args, _| run(args))?;
        PyResult::Ok(function.into_any().unbind())
    };
    let of_exceptions = for_real::HELPERS.iter().map(|(c_name, name, run)| Ok((*name, make(c_name, *run)?)));
    let mut helpers = of_exceptions.collect::<PyResult<Vec<_>>>()?;
    helpers.extend([
        ("answer", make(c"answer", answer)?),
        ("as_given", make(c"as_given", as_given)?),
        ("imported_without", make(c"imported_without", imported_without)?),
        ("emptied", make(c"emptied", |args| Ok(PyTuple::empty(args.py()).into_any().unbind()))?),
        (
            "touched",
            make(c"touched", |args| {
                let touched = args.get_item(0)?.len()? > 0;
                Ok(PyBool::new(args.py(), touched).to_owned().into_any().unbind())
            })?,
        ),
        (
            "is_number",
            make(c"is_number", |args| {
                let value = args.get_item(0)?;
                Ok(PyBool::new(args.py(), is_number(&value)).to_owned().into_any().unbind())
            })?,
        ),
        (
            "is_whole",
            make(c"is_whole", |args| {
                let value = args.get_item(0)?;
                Ok(PyBool::new(args.py(), is_whole(&value)).to_owned().into_any().unbind())
            })?,
        ),
        (
            "is_quiet",
            make(c"is_quiet", |args| {
                let item = args.get_item(0)?;
                let quiet = is_quiet_key(&item) && item.hash().is_ok();
                Ok(PyBool::new(args.py(), quiet).to_owned().into_any().unbind())
            })?,
        ),
        ("cache_missed", make(c"cache_missed", |args| Ok(args.get_item(0)?.call0()?.unbind()))?),
        ("cache_keeps", make(c"cache_keeps", |args| Ok(args.get_item(0)?.call1((args.get_item(1)?,))?.unbind()))?),
        // Those who ask are not run for real.
        ("changes_of", make(c"changes_of", |args| Ok(args.get_item(0)?.unbind()))?),
        ("constructed", make(c"constructed", constructed)?),
        ("grouper", make(c"grouper", |args| Ok(args.get_item(0)?.unbind()))?),
        (
            "is_class",
            make(c"is_class", |args| {
                let class = args.get_item(0)?.is_instance_of::<PyType>();
                Ok(PyBool::new(args.py(), class).to_owned().into_any().unbind())
            })?,
        ),
        ("class_on_bases", make(c"class_on_bases", |args| Ok(args.get_item(0)?.unbind()))?),
        ("body_run", make(c"body_run", |args| Ok(args.get_item(0)?.unbind()))?),
        ("class_made", make(c"class_made", |args| Ok(args.get_item(0)?.unbind()))?),
        (
            "quiet_class_made",
            make(c"quiet_class_made", |_| Err(PyRuntimeError::new_err("a class that new code makes")))?,
        ),
        ("plain_names", make(c"plain_names", |args| Ok(args.get_item(0)?.unbind()))?),
        ("class_checked", make(c"class_checked", metaclasses::checked)?),
        ("class_told", make(c"class_told", |args| Ok(args.get_item(0)?.unbind()))?),
        ("told_names", make(c"told_names", |args| Ok(PyTuple::empty(args.py()).into_any().unbind()))?),
        (
            "end_writing",
            make(c"end_writing", |args| {
                end_repr(args.get_item(0)?.as_borrowed());
                Ok(args.py().None())
            })?,
        ),
        (
            "iterator_moves",
            make(c"iterator_moves", |args| {
                let iterator = args.get_item(0)?;
                if moves_backwards(&iterator) {
                    return Ok(args.py().None());
                }
                let state = iterator.call_method0("__reduce__")?;
                // It may have come to its end meanwhile.
                let Ok(index) = state.get_item(2) else { return Ok(args.py().None()) };
                Ok(iterator.call_method1("__setstate__", (index.add(1)?,))?.unbind())
            })?,
        ),
        (
            "backwards_from",
            make(c"backwards_from", |args| {
                Ok(backwards_from(&args.get_item(0)?, args.get_item(1)?.extract()?)?.unbind())
            })?,
        ),
        (
            "iterator_ends",
            make(c"iterator_ends", |args| {
                end_iterator(&args.get_item(0)?);
                Ok(args.py().None())
            })?,
        ),
        (
            "has_ended",
            make(c"has_ended", |args| {
                let ended = calls_have_ended_before(&args.get_item(0)?, &args.get_item(1)?)?;
                Ok(PyBool::new(args.py(), ended).to_owned().into_any().unbind())
            })?,
        ),
        ("length", make(c"length", length)?),
        ("number", make(c"number", number)?),
        ("pair", make(c"pair", pair)?),
        ("ordered_pair", make(c"ordered_pair", ordered_pair)?),
        (
            "same",
            make(c"same", |args| {
                let same = args.get_item(0)?.is(&args.get_item(1)?);
                Ok(PyBool::new(args.py(), same).to_owned().into_any().unbind())
            })?,
        ),
        (
            "hint",
            make(c"hint", |args| {
                let hint = crate::cpython::operator(args.py(), "length_hint")?;
                Ok(hint.call1((args.get_item(0)?,))?.unbind())
            })?,
        ),
        ("in_order", make(c"in_order", in_order)?),
        (
            "keys_of",
            make(c"keys_of", |args| {
                let source = args.get_item(0)?;
                Ok(source.cast::<PyMapping>()?.keys()?.into_any().unbind())
            })?,
        ),
        (
            "no_mapping",
            make(c"no_mapping", |args| {
                let py = args.py();
                let class = unlisted_class(py, args.get_item(0)?, PyTuple::empty(py), PyDict::new(py))?;
                Ok(class.call0()?.unbind())
            })?,
        ),
        ("question", make(c"question", question)?),
        ("sort_in_place", make(c"sort_in_place", sort_in_place)?),
        ("walk", make(c"walk", |args| Ok(walk(&args.get_item(0)?).into_pyobject(args.py())?.into_any().unbind()))?),
        ("written", make(c"written", |args| Ok(args.get_item(0)?.call1((args.get_item(1)?,))?.unbind()))?),
        // The real sort knows.
        ("way_to_compare", make(c"way_to_compare", |args| Ok(PyInt::new(args.py(), 0).into_any().unbind()))?),
    ]);
    let others = super::ordered::HELPERS.iter().chain(super::coroutines::HELPERS);
    for (name, run) in super::searched::HELPERS.iter().chain(others) {
        helpers.push((*name, make(c"of_keys", *run)?));
    }
    Ok(helpers)
}

/// Numbers that `sum` adds without asking them.
pub(super) fn is_number(value: &Bound<'_, PyAny>) -> bool {
    is_whole(value) || value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyComplex>()
}

/// Numbers whose sum is the same however it is computed.
fn is_whole(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyBool>()
}

/// `answer(result, builtin, name, kind)`: what a builtin makes of the result of a method of its argument, an instance of a
/// class of this name.
fn answer(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (result, name) = (args.get_item(0)?.unbind(), args.get_item(2)?);
    // It is asked once, and what it holds goes with it.
    let result = Mutex::new(Some(result));
    let method = PyCFunction::new_closure(py, None, None, move |_, _| -> PyResult<Py<PyAny>> {
        let mut result = result.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        result.take().ok_or_else(|| PyRuntimeError::new_err("asked twice"))
    })?;
    let namespace = PyDict::new(py);
    namespace.set_item(name, method)?;
    let class = unlisted_class(py, args.get_item(3)?, PyTuple::empty(py), namespace)?;
    let made = args.get_item(1)?.call1((class.call0()?,))?;
    // An index of a sequence has to be one that a sequence could have.
    let index = crate::cpython::operator(py, "index")?;
    if args.get_item(1)?.is(&index) && made.extract::<isize>().is_err() {
        let kind: String = args.get_item(3)?.extract()?;
        return Err(PyIndexError::new_err(format!("cannot fit '{kind}' into an index-sized integer")));
    }
    Ok(made.unbind())
}

/// What the class of such an object has, and no other.
const IS_GIVEN: &str = "gives one iterator";

/// Whether `as_given` has put an object in the place of an iterator.
pub(super) fn is_given(object: &Bound<'_, PyAny>) -> bool {
    crate::type_facts::raw(&object.get_type(), IS_GIVEN).is_some()
}

/// `as_given(iterators, before)`: in the place of each behind so many as there are before, what gives it when it is asked for one.
fn as_given(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let iterators = args.get_item(0)?.cast_into::<PyList>()?;
    for at in args.get_item(1)?.len()?..iterators.len() {
        let iterator = Mutex::new(Some(iterators.get_item(at)?.unbind()));
        let method = PyCFunction::new_closure(py, None, None, move |_, _| -> PyResult<Py<PyAny>> {
            let mut iterator = iterator.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
            iterator.take().ok_or_else(|| PyRuntimeError::new_err("asked twice"))
        })?;
        let namespace = PyDict::new(py);
        namespace.set_item("__iter__", method)?;
        namespace.set_item(IS_GIVEN, true)?;
        let class = unlisted_class(py, "iterable", PyTuple::empty(py), namespace)?;
        iterators.set_item(at, class.call0()?)?;
    }
    Ok(py.None())
}

/// `imported_without(module, name)`: what `from module import name` comes to where the module has no such attribute, and is not
/// asked.
fn imported_without(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (module, name) = (args.get_item(0)?, args.get_item(1)?);
    let silent = PyModule::new(py, "module")?;
    for told in ["__name__", "__file__", "__spec__"] {
        if let Some(value) = module.getattr("__dict__")?.cast::<PyDict>()?.get_item(told)? {
            silent.setattr(told, value)?;
        }
    }
    let import = PyCFunction::new_closure(py, None, None, {
        let silent = silent.unbind();
        move |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| silent.clone_ref(args.py())
    })?;
    let builtins = PyDict::new(py);
    builtins.set_item("__import__", import)?;
    let globals = PyDict::new(py);
    globals.set_item("__builtins__", builtins)?;
    let source = format!("from module import {name} as found");
    let code = crate::cpython::module(py, "builtins")?.getattr("compile")?.call1((source, HIDDEN_FILE, "exec"))?;
    match crate::cpython::module(py, "builtins")?.getattr("exec")?.call1((code, &globals)) {
        Ok(_) => Ok(globals.get_item("found")?.ok_or_else(|| PyRuntimeError::new_err("nothing imported"))?.unbind()),
        Err(error) => {
            error.set_traceback(py, None);
            Err(error)
        }
    }
}

/// `constructed(made, class, args, keywords)`: what a call of a class makes of the result of its `__new__`.
fn constructed(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let (made, class) = (args.get_item(0)?, args.get_item(1)?);
    let own = made.get_type();
    if own.mro().iter().any(|base| base.is(&class)) {
        let positional = std::iter::once(made.clone()).chain(args.get_item(2)?.cast_into::<PyTuple>()?.iter());
        let positional = PyTuple::new(args.py(), positional.collect::<Vec<_>>())?;
        let keywords = args.get_item(3)?.cast_into::<PyDict>()?;
        let init = crate::type_facts::raw(&own, "__init__").ok_or_else(|| PyTypeError::new_err("no __init__"))?;
        let answer = init.call(positional, Some(&keywords))?;
        if !answer.is_none() {
            let kind = crate::cpython::facts::name_in_messages(&answer.get_type());
            return Err(PyTypeError::new_err(format!("__init__() should return None, not '{kind}'")));
        }
    }
    Ok(made.unbind())
}

/// `length(value)`: what `len` makes of the result of a `__len__`.
fn length(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let length = crate::cpython::operator(py, "index")?.call1((args.get_item(0)?,))?;
    // Up to 3.9 it may be of a subclass, which is nobody's business from here on.
    let length = py.get_type::<PyInt>().getattr("__index__")?.call1((length,))?;
    if length.lt(0)? {
        return Err(PyValueError::new_err("__len__() should return >= 0"));
    }
    if length.extract::<isize>().is_err() {
        return Err(PyOverflowError::new_err("cannot fit 'int' into an index-sized integer"));
    }
    Ok(length.unbind())
}

/// `number(enumeration, item)`: the number of its next item; it counts on.
fn number(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let number = count_on(&args.get_item(0)?, &args.get_item(1)?)
        .ok_or_else(|| PyTypeError::new_err("sot: not an enumeration"))?;
    Ok(number?.unbind())
}

/// `pair(item, index)`: key and value, as `dict` takes them from an item.
fn pair(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (item, index) = (args.get_item(0)?, args.get_item(1)?);
    let items = match item.try_iter().and_then(|items| items.collect::<PyResult<Vec<_>>>()) {
        Ok(items) => items,
        Err(e) if e.is_instance_of::<PyTypeError>(py) => {
            let text = format!("cannot convert dictionary update sequence element #{index} to a sequence");
            return Err(PyTypeError::new_err(text));
        }
        Err(e) => return Err(e),
    };
    if items.len() != 2 {
        let length = items.len();
        let text = format!("dictionary update sequence element #{index} has length {length}; 2 is required");
        return Err(PyValueError::new_err(text));
    }
    Ok(PyTuple::new(py, items)?.into_any().unbind())
}

/// `ordered_pair(item)`: key and value, as `OrderedDict` takes them from an item.
fn ordered_pair(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let items = args.get_item(0)?.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let items = PyTuple::new(py, items)?;
    if items.len() != 2 {
        crate::cpython::module(py, "collections")?.getattr("OrderedDict")?.call1(((items.clone(),),))?;
    }
    Ok(items.into_any().unbind())
}

/// `sort_in_place(items, keys, reverse)`: sorts a list by keys that were asked for before.
fn sort_in_place(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (items, keys) = (args.get_item(0)?, args.get_item(1)?);
    let keys = Mutex::new(keys.try_iter()?.unbind());
    let next = PyCFunction::new_closure(py, None, None, move |args, _| -> PyResult<Py<PyAny>> {
        let keys = keys.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(keys.bind(args.py()).call_method0("__next__")?.unbind())
    })?;
    let options = PyDict::new(py);
    options.set_item("key", next)?;
    options.set_item("reverse", args.get_item(2)?)?;
    items.call_method("sort", (), Some(&options))?;
    Ok(py.None())
}

/// `in_order(items, order)`: the items at these places, or as they are.
fn in_order(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let (items, order) = (args.get_item(0)?, args.get_item(1)?);
    if order.is_none() {
        return Ok(items.unbind());
    }
    let items = order.try_iter()?.map(|at| items.get_item(at?)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(args.py(), items)?.into_any().unbind())
}

/// `question(count, answers, reverse)`: in which order a sort of so many items has put them when it has been told which of two
/// were less, so many times, and the places of the next two that it asks about, or None.
fn question(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (count, answers): (usize, Vec<bool>) = (args.get_item(0)?.extract()?, args.get_item(1)?.extract()?);
    let state = Arc::new(Mutex::new((answers.into_iter(), None)));
    let asked = state.clone();
    // Python's own sort asks, so that it is the one of this version.
    let compare = PyCFunction::new_closure(py, None, None, move |args, _| -> PyResult<i32> {
        let mut state = asked.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        match state.0.next() {
            Some(less) => Ok(if less { -1 } else { 1 }),
            None => {
                state.1 = Some(args.extract::<(usize, usize)>()?);
                Err(PyRuntimeError::new_err("asked"))
            }
        }
    })?;
    let order = PyList::new(py, 0..count)?;
    let options = PyDict::new(py);
    options.set_item("key", crate::cpython::module(py, "functools")?.getattr("cmp_to_key")?.call1((compare,))?)?;
    options.set_item("reverse", args.get_item(2)?)?;
    let sorted = order.call_method("sort", (), Some(&options));
    let next = state.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?.1;
    let asked = match next {
        Some((left, right)) => (order, Some(left), Some(right)),
        None => {
            sorted?;
            (order, None, None)
        }
    };
    Ok(asked.into_pyobject(py)?.into_any().unbind())
}

impl<'py> Executor<'py> {
    /// Push the frame of a definition.
    pub(super) fn enter(&mut self, name: &str, args: &[VarId]) -> Result<Called, Stop> {
        let frame = self.frame_of_definition(name, args)?;
        self.push_frame(frame)?;
        Ok(Called::Entered(Awaits::Push))
    }

    /// The iterator of an instance that has items by number alone. It is no generator for plain Python, which nobody can tell
    /// who does nothing but take its items.
    pub(super) fn items_by_index(&mut self, sequence: VarId) -> Result<VarId, Stop> {
        let frame = self.frame_of_definition("items_by_index", &[sequence])?;
        self.new_generator(frame).ok_or(Stop::fallback(Reason::InternalError, "no generator"))
    }

    pub(super) fn frame_of_definition(&mut self, name: &str, args: &[VarId]) -> Result<Frame, Stop> {
        let made = definitions(self.py).map_err(|e| self.internal(&e))?;
        let code = made.codes.get(name).ok_or(Stop::fallback(Reason::InternalError, "no such definition"))?;
        let unit = CodeUnit::of(code.bind(self.py))?;
        let py = self.py;
        let globals = self.objects.add(made.globals.bind(py).as_any());
        let builtins = self.objects.add(made.builtins.bind(py));
        let mut frame = Frame::new(unit, globals, builtins);
        for (local, arg) in frame.locals.iter_mut().zip(args) {
            *local = Some(*arg);
        }
        Ok(frame)
    }

    /// A builtin as an argument of a definition.
    pub(super) fn builtin(&mut self, name: &str) -> Result<VarId, Stop> {
        let builtin = self.builtins_attribute(name)?;
        Ok(self.pin(&builtin))
    }

    /// A helper as an argument of a definition.
    pub(super) fn helper(&mut self, name: &str) -> Result<VarId, Stop> {
        let made = definitions(self.py).map_err(|e| self.internal(&e))?;
        let found = made.helpers.iter().find(|(helper, _)| *helper == name);
        let found = found.ok_or(Stop::fallback(Reason::InternalError, "no such helper"))?;
        Ok(self.pin(found.1.bind(self.py)))
    }

    pub(super) fn is_helper(&self, object: &Bound<'py, PyAny>) -> bool {
        let made = DEFINITIONS.get(self.py);
        made.is_some_and(|made| made.helpers.iter().any(|(_, helper)| helper.is(object)))
    }

    /// A helper of the definitions.
    pub(super) fn call_helper(&mut self, callee: &Bound<'py, PyAny>, args: &[VarId]) -> Result<Option<Called>, Stop> {
        let Some(made) = DEFINITIONS.get(self.py) else { return Ok(None) };
        let Some((name, _)) = made.helpers.iter().find(|(_, helper)| helper.is(callee)) else { return Ok(None) };
        match (*name, args) {
            ("hint", [iterable]) => self.enter_hint(*iterable).map(Some),
            ("constructed", [made, class, positional, keywords]) => {
                self.step.spread = Some(*positional);
                let (VarKind::Tuple(positional), VarKind::Dict(keywords)) =
                    (self.look(*positional)?, self.look(*keywords)?)
                else {
                    return Err(Stop::fallback(Reason::InternalError, *name));
                };
                let mut args = Args::positional(positional.items.to_vec());
                for (key, value) in keywords.entries.iter() {
                    let key = self.constant_str(*key).ok_or(Stop::fallback(Reason::InternalError, *name))?;
                    args.keywords.push((key, *value));
                }
                self.constructed(*made, *class, &args).map(Some)
            }
            ("is_class", [value]) => {
                let class = matches!(self.look(*value)?, VarKind::Class(_));
                self.fold_bool(class).map(|class| Some(Called::Value(class)))
            }
            ("class_on_bases", [body, name, bases, keywords, original]) => {
                self.enter_statement_on(*body, *name, [*bases, *keywords], *original).map(Some)
            }
            ("body_run", [body, names]) => self.enter_class_body(*body, *names).map(Some),
            ("class_made", [metaclass, cell, name, bases, names]) => {
                let parts = ClassParts { name: *name, bases: *bases, names: *names };
                self.class_made(*metaclass, Some(*cell), parts, false).map(|made| Some(Called::Value(made)))
            }
            ("quiet_class_made", [metaclass, name, bases, names]) => {
                let parts = ClassParts { name: *name, bases: *bases, names: *names };
                self.quiet_class_made(*metaclass, parts).map(|made| Some(Called::Value(made)))
            }
            ("plain_names", [names]) => self.plain_names(*names).map(|names| Some(Called::Value(names))),
            ("class_told", _) => self.enter("told_class", args).map(Some),
            ("told_names", [metaclass, names]) => {
                self.told_names(*metaclass, *names).map(|told| Some(Called::Value(told)))
            }
            ("class_checked", [made, cell]) => self.class_checked(*made, *cell).map(|made| Some(Called::Value(made))),
            ("keys_of", _) => self.enter("keys_of_mapping", args).map(Some),
            ("pair", [item, index]) if self.iterates_by_code(*item)? => {
                self.enter("pair_of_items", &[*item, *index]).map(Some)
            }
            ("imported_without", [_, name]) => {
                let name = self.constant_str(*name).unwrap_or_default();
                Err(Stop::brk(Reason::WouldRaise, format!("import of {name}")))
            }
            ("no_mapping", _) => Err(Stop::brk(Reason::WouldRaise, "** of no mapping")),
            (name, args) => match self.call_hash_helper(name, args)? {
                Some(called) => Ok(Some(called)),
                None => self.helped(name, args).map(|value| Some(Called::Value(value))),
            },
        }
    }

    fn helped(&mut self, name: &'static str, args: &[VarId]) -> Result<VarId, Stop> {
        match (name, args) {
            ("answer", [result, builtin, name, _]) => self.answer(*result, *builtin, *name),
            // What comes and goes again is noticed, too, unless there was a break.
            ("emptied", [list]) => {
                let VarKind::List(list) = self.look(*list)? else {
                    return Err(Stop::fallback(Reason::InternalError, name));
                };
                let mark = self.virtual_var(TupleVar::new(Vec::new()));
                self.emptied.insert(mark, list.items);
                Ok(mark)
            }
            ("touched", [list, mark]) => {
                let VarKind::List(list) = self.look(*list)? else {
                    return Err(Stop::fallback(Reason::InternalError, name));
                };
                let replaced = self.emptied.get(mark).is_some_and(|items| !Rc::ptr_eq(items, &list.items));
                self.fold_bool(replaced || !list.items.is_empty())
            }
            ("as_given", [iterators, before]) => {
                let before = self.length(*before)?;
                self.may_be_given(*iterators, before)?;
                self.fold_none()
            }
            ("grouper", args) => self.group_in_disguise(args),
            ("is_number" | "is_whole", [value]) => {
                // The type tells.
                let number = match self.look(*value)? {
                    VarKind::Constant(constant) => {
                        let value = self.objects.get_ref(self.py, constant.object);
                        if name == "is_whole" { is_whole(value) } else { is_number(value) }
                    }
                    _ => false,
                };
                self.fold_bool(number)
            }
            ("is_quiet", [item]) => {
                let quiet = self.is_quiet_item(*item)?;
                self.fold_bool(quiet)
            }
            ("length", [value]) => match self.constant_int(*value) {
                Some(length) if length >= 0 => self.fold_int(length),
                _ => Err(Stop::brk(Reason::WouldRaise, "__len__")),
            },
            ("number", [enumeration, _]) => self.next_number(*enumeration),
            ("pair", [item, _]) | ("ordered_pair", [item]) => {
                let items = match self.look(*item)? {
                    VarKind::Tuple(t) if t.class.is_none() => t.items.to_vec(),
                    VarKind::List(l) if l.class.is_none() => l.items.to_vec(),
                    _ => Vec::new(),
                };
                match items.len() {
                    2 => Ok(self.virtual_var(TupleVar::new(items))),
                    _ => Err(Stop::brk(Reason::Builtin, "dict of an iterable")),
                }
            }
            ("same", [a, b]) => {
                match (self.look(*a)?, self.look(*b)?) {
                    (VarKind::Constant(_), VarKind::Constant(_)) => {
                        // Equal ones may be one object, which is all the same.
                        let equal = self.compare(CompareOp::Eq, *a, *b)?;
                        if self.truth(equal)? {
                            return Ok(equal);
                        }
                    }
                    // As is whether they are one tuple: it is equal to itself as its items are.
                    (VarKind::Tuple(_), VarKind::Tuple(_)) if a != b => return self.fold_bool(false),
                    (VarKind::Method(_), VarKind::Method(_)) if a != b => {
                        // A method is equal to itself as well.
                        if let Some(equal) = self.equal_by_identity(*a, *b)? {
                            return self.fold_bool(equal);
                        }
                    }
                    _ => {}
                }
                let same = self.same_object(*a, *b)?;
                self.fold_bool(same)
            }
            ("sort_in_place", [target, keys, reverse]) => {
                let sorted = self.sort(*target, *keys, *reverse)?;
                let VarKind::List(list) = self.look(*target)? else {
                    return Err(Stop::fallback(Reason::InternalError, name));
                };
                self.list_method(*target, &list, "clear", &Args::default())?;
                self.extend_at_once(*target, sorted)?;
                self.fold_none()
            }
            ("in_order", [items, order]) => {
                let order = match self.unless_none(Some(*order))? {
                    Some(order) => self.require_plain(order)?.extract::<Vec<usize>>().map_err(|e| self.internal(&e))?,
                    None => return Ok(*items),
                };
                let VarKind::List(list) = self.look(*items)? else {
                    return Err(Stop::fallback(Reason::InternalError, name));
                };
                let items = order.into_iter().filter_map(|at| list.items.get(at).copied()).collect();
                Ok(self.virtual_var(ListVar::new(items)))
            }
            ("question", _) => {
                let mut copies = Copies::default();
                let (args, _) = self
                    .convert_arguments(&Args::positional(args.to_vec()), |ex, arg| ex.plain_copy(arg, &mut copies))?;
                let asked = question(&args).map_err(|e| self.internal(&e))?;
                self.fold_result(asked.bind(self.py), &copies)
            }
            ("changes_of", [deque]) => match self.look(*deque)? {
                VarKind::Deque(deque) => self.fold_int(deque.changes.into()),
                _ => Err(Stop::brk(Reason::OpaqueValue, "the state of a deque")),
            },
            ("backwards_from", [sequence, index]) => self.iterate_backwards(*sequence, *index),
            ("iterator_moves", [iterator]) => self.iterator_moves(*iterator),
            ("iterator_ends", [iterator]) => self.iterator_ends(*iterator),
            ("has_ended", [iterator, _]) => self.calls_have_ended(*iterator),
            ("end_writing", [container]) => self.end_writing(*container),
            // A dict that changes on the way is walked for real.
            ("walk", [iterator]) => match self.next_item(*iterator) {
                Ok(Some(entry)) => Ok(entry),
                Ok(None) => self.fold_none(),
                Err(Stop::Raised(_)) => Err(Stop::fallback(Reason::WouldRaise, "a dict that changes on the way")),
                Err(stop) => Err(stop),
            },
            ("written", [ask, answers]) => {
                self.look_identity(*ask)?;
                let ask = self.known_object(*ask).ok_or(Stop::fallback(Reason::InternalError, name))?;
                let ask = self.objects.get(self.py, ask);
                self.fold_call(&ask, &Args::positional(vec![*answers]))
            }
            ("cache_missed", [question]) => self.cache_missed(*question),
            ("cache_keeps", [question, result]) => self.cache_keeps(*question, *result),
            ("way_to_compare", [keys]) => {
                let way = self.way_to_compare(*keys)?;
                self.fold_int(way)
            }
            _ => self.helped_with_exceptions(name, args),
        }
    }

    /// A list of items in the order of constant keys.
    fn sort(&mut self, items: VarId, keys: VarId, reverse: VarId) -> Result<VarId, Stop> {
        let VarKind::List(list) = self.look(items)? else {
            return Err(Stop::fallback(Reason::InternalError, "sort"));
        };
        if let VarKind::List(keys) = self.look(keys)? {
            for key in keys.items.iter() {
                if matches!(self.look(*key)?, VarKind::Tensor(_)) {
                    return Err(Stop::brk(Reason::TensorToScalar, "sorted"));
                }
            }
        }
        let keys = self.distinct_firsts(keys)?.unwrap_or(keys);
        let (keys, reverse) = (self.require_plain(keys)?, self.require_plain(reverse)?);
        let order = PyList::new(self.py, 0..list.items.len()).map_err(|e| self.internal(&e))?;
        let options = PyDict::new(self.py);
        let made = keys.getattr("__getitem__").and_then(|key| options.set_item("key", key));
        made.and_then(|()| options.set_item("reverse", reverse)).map_err(|e| self.internal(&e))?;
        let result = order.call_method("sort", (), Some(&options));
        let order: Vec<usize> = order.extract().map_err(|e| self.internal(&e))?;
        let sorted = order.into_iter().filter_map(|at| list.items.get(at).copied()).collect();
        match result {
            Ok(_) => Ok(self.virtual_var(ListVar::new(sorted))),
            // They are left as far as they were sorted.
            Err(error) if self.known_object(items).is_none() => {
                self.replace_list(items, sorted);
                Err(self.would_raise(&error))
            }
            Err(_) => Err(Stop::brk(Reason::WouldRaise, "sort")),
        }
    }
}

//! Imports of what is loaded already; whatever else an import does, Python does.

use super::names::name;
use super::{Flow, handlers, mismatch};
use crate::cpython::facts;
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::variables::VarId;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyModule};
use sot_opcodes::Op;

handlers! {
    ImportName => import_name;
    ImportFrom => import_from;
}

/// An import of a module that is loaded already is a look-up in `sys.modules`.
fn import_name(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::ImportName(id) = op else { return Err(mismatch()) };
    let module = name(ex, id);
    let importer = ex.load_builtin("__import__")?;
    let own = crate::cpython::builtin(ex.py, "__import__").map_err(|e| ex.internal(&e))?;
    let kind = ex.look(importer)?;
    if !ex.pinned(&kind).is_some_and(|found| found.is(&own)) {
        return Err(Stop::brk(Reason::OpaqueCall, "an __import__ of the program"));
    }
    let from_list = ex.pop()?;
    let level = ex.pop()?;
    let level = ex.constant_int(level).and_then(|level| usize::try_from(level).ok());
    let level = level.ok_or_else(|| Stop::brk(Reason::OpaqueCall, "import at a level of the program"))?;
    let module = if level == 0 { module } else { absolute(ex, &module, level)? };
    let whole = ex.is_plain(from_list)? && !ex.require_plain(from_list)?.is_none();
    let bound = if whole { module.as_str() } else { module.split('.').next().unwrap_or_default() };
    let imported = loaded(ex, &module)?.filter(|imported| is_ready(ex, *imported));
    let imported = imported.ok_or_else(|| Stop::brk(Reason::OpaqueCall, format!("import {module}")))?;
    ex.look(imported)?;
    let value = loaded(ex, bound)?.ok_or(Stop::brk(Reason::OpaqueCall, "import"))?;
    let kind = ex.look(value)?;
    let plain =
        |object: &Bound<'_, PyAny>| object.is_exact_instance_of::<PyModule>() && facts::module_dict(object).is_some();
    let object = ex.pinned(&kind).filter(plain);
    let object = object.ok_or_else(|| Stop::brk(Reason::OpaqueCall, format!("import {module}")))?;
    // Both are asked of a `__getattr__`, too.
    let mut has = |name: &str| ex.instance_dict_item(value, &object, name).map(|found| found.is_some());
    if whole && !has("__path__")? && has("__getattr__")? {
        return Err(Stop::brk(Reason::OpaqueCall, format!("import from {module}, which has a __getattr__")));
    }
    if whole && has("__path__")? {
        // A package imports the submodules in the list that it lacks.
        let names = ex.require_plain(from_list)?;
        let names: Vec<String> = names.extract().map_err(|_| Stop::brk(Reason::OpaqueCall, "import"))?;
        for name in names {
            if ex.find_attribute(value, &name)?.is_none() {
                return Err(Stop::brk(Reason::OpaqueCall, format!("import of {name} from {module}")));
            }
        }
    }
    ex.push(value);
    Ok(Flow::Next)
}

/// `sys.modules[name]`.
fn loaded(ex: &mut Executor<'_>, name: &str) -> Result<Option<VarId>, Stop> {
    let modules =
        crate::cpython::module(ex.py, "sys").and_then(|s| s.getattr("modules")).map_err(|e| ex.internal(&e))?;
    let dict = modules.cast::<PyDict>().map_err(|_| mismatch())?;
    let id = ex.objects.add(&modules);
    let tracker = ex.constant_tracker(id);
    ex.dict_item(dict, tracker, name)
}

/// Whether a loaded module has been executed to its end, which no guard need ask again. For one that has not Python waits: it may be
/// another thread that executes it.
fn is_ready(ex: &Executor<'_>, module: VarId) -> bool {
    let Some(module) = ex.known_object(module).map(|object| ex.objects.get(ex.py, object)) else { return false };
    let Some(dict) = facts::module_dict(&module).filter(|_| module.is_exact_instance_of::<PyModule>()) else {
        // Whatever it says of itself it may say by code of the program.
        return false;
    };
    match dict.get_item("__spec__") {
        // What a spec of another class says may be code of the program.
        Ok(Some(spec)) if !spec.is_none() && !is_own_spec(ex, &spec) => false,
        Ok(Some(spec)) if !spec.is_none() => facts::instance_dict(&spec).is_some_and(|attributes| {
            let initializing = attributes.get_item("_initializing");
            initializing.is_ok_and(|on| on.is_none_or(|on| on.is(PyBool::new(ex.py, false))))
        }),
        found => found.is_ok(),
    }
}

/// What `from ..name import` means in this frame: the package that its globals name, without the last `level - 1` parts.
///
/// Python takes `__package__`, asks `__spec__` whether it says the same, and warns if it does not; without the one or the
/// other it warns or guesses. Only where both agree, or there is no spec, is the answer known without a word to anybody.
fn absolute(ex: &mut Executor<'_>, module: &str, level: usize) -> Result<String, Stop> {
    let stop = |reason, what: &str| Stop::brk(reason, format!("a relative import {what}"));
    let package = ex.own_global("__package__")?;
    let package = package.and_then(|package| ex.constant_str(package)).filter(|package| !package.is_empty());
    let package = package.ok_or_else(|| stop(Reason::OpaqueCall, "where no __package__ is known"))?;
    if let Some(spec) = ex.own_global("__spec__")?
        && !ex.is_none(spec)?
        && parent_of_spec(ex, spec)?.as_ref() != Some(&package)
    {
        return Err(stop(Reason::OpaqueCall, "where __package__ is not what __spec__ says"));
    }
    let mut base = package.as_str();
    for _ in 1..level {
        let above = base.rsplit_once('.').map(|(above, _)| above);
        base = above.ok_or_else(|| stop(Reason::WouldRaise, "beyond the top-level package"))?;
    }
    Ok(if module.is_empty() { base.to_owned() } else { format!("{base}.{module}") })
}

/// Whether this is a spec of Python's own.
fn is_own_spec(ex: &Executor<'_>, spec: &Bound<'_, PyAny>) -> bool {
    let class = crate::cpython::module(ex.py, "_frozen_importlib").and_then(|m| m.getattr("ModuleSpec"));
    class.is_ok_and(|class| spec.get_type().is(&class))
}

/// `spec.parent` of a spec of Python's own: the name of a package, or what stands before the last point of another module's.
fn parent_of_spec(ex: &mut Executor<'_>, spec: VarId) -> Result<Option<String>, Stop> {
    let kind = ex.look(spec)?;
    let Some(object) = ex.pinned(&kind).filter(|object| is_own_spec(ex, object)) else { return Ok(None) };
    let class = object.get_type();
    // What the program has put in the place of the property is the program's.
    let own = ex.class_lookup(class.as_any(), "parent")?.is_some_and(|property| {
        let file = property.getattr("fget").and_then(|get| get.getattr("__code__")?.getattr("co_filename"));
        file.is_ok_and(|file| file.to_string().starts_with("<frozen "))
    });
    if !own {
        return Ok(None);
    }
    let (Some(name), Some(locations)) =
        (ex.find_attribute(spec, "name")?, ex.find_attribute(spec, "submodule_search_locations")?)
    else {
        return Ok(None);
    };
    let Some(name) = ex.constant_str(name) else { return Ok(None) };
    Ok(Some(if ex.is_none(locations)? {
        name.rsplit_once('.').map(|(parent, _)| parent.to_owned()).unwrap_or_default()
    } else {
        name
    }))
}

fn import_from(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::ImportFrom(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let module = ex.peek(1)?;
    ex.step.tail = Some(Awaits::Push);
    let found = ex.find_attribute(module, &name);
    ex.step.tail = None;
    let value = match found {
        Ok(Some(value)) => value,
        Ok(None) => submodule(ex, module, &name)?,
        Err(Stop::Raised(exception)) if ex.is_attribute_error(exception)? => {
            return Err(Stop::brk(Reason::WouldRaise, format!("import of {name}")));
        }
        Err(stop) => return Err(stop),
    };
    ex.push(value);
    Ok(Flow::Next)
}

/// `sys.modules["package.name"]`: what an import finds where the package has no such attribute yet.
fn submodule(ex: &mut Executor<'_>, module: VarId, name: &str) -> Result<VarId, Stop> {
    let missing = || Stop::brk(Reason::WouldRaise, format!("import of {name}"));
    let whole = module;
    let package = ex.find_attribute(module, "__name__")?.ok_or_else(missing)?;
    let package = ex.constant_str(package).ok_or_else(missing)?;
    match loaded(ex, &format!("{package}.{name}"))? {
        Some(module) => Ok(module),
        None => Err(ex.refused_import(whole, name)?.unwrap_or_else(missing)),
    }
}

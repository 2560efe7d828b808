//! `warnings.warn`: where nobody hears of the warning ([`crate::unheard`]) nothing happens, and a guard asks whether that is so still; else
//! it is a break.

use super::Executor;
use crate::cpython::{facts, module, warnings};
use crate::process;
use crate::stop::{Reason, Stop};
use crate::unheard::Warning;
use crate::variables::*;
use pyo3::exceptions::{PyUserWarning, PyWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use sot_sideeffect::Overlay;

impl<'py> Executor<'py> {
    /// A call of `_warnings.warn` for the line that makes it.
    pub(super) fn call_warn(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        let heard = || Stop::brk(Reason::FrameInspection, "warn");
        let own = module(self.py, "_warnings").and_then(|module| module.getattr("warn"));
        if !own.is_ok_and(|own| own.is(callee)) || self.frame().is_hidden() {
            return Err(heard());
        }
        let [mut text, mut category, mut level] = [0, 1, 2].map(|at| args.positional.get(at).copied());
        if args.positional.len() > 3 {
            return Err(heard());
        }
        for (name, value) in &args.keywords {
            match name.as_str() {
                "message" => text = Some(*value),
                "category" => category = Some(*value),
                "stacklevel" => level = Some(*value),
                _ => return Err(heard()),
            }
        }
        let text = self.constant_value(text.ok_or_else(heard)?).ok_or_else(heard)?;
        if !text.is_exact_instance_of::<PyString>() {
            return Err(heard());
        }
        if let Some(level) = level
            && self.constant_int(level) != Some(1)
        {
            // The frame of another line.
            return Err(heard());
        }
        let category = match self.unless_none(category)? {
            None => self.py.get_type::<PyUserWarning>(),
            Some(category) => {
                let VarKind::Class(ClassVar { object, .. }) = self.look(category)? else { return Err(heard()) };
                self.objects.get(self.py, object).cast_into::<PyType>().map_err(|_| heard())?
            }
        };
        // What the program has made of the filters, or of what was given before, is in the journal alone.
        self.modules_are_as_they_are()?;
        let frame = self.frame();
        let (globals, line) = (frame.globals, frame.unit.line_of(frame.ip).ok_or_else(heard)?);
        let changed = |name: &str| self.journal.global(globals, name) != Overlay::Untouched;
        let warns = facts::mro(&category).iter().any(|class| class.is(self.py.get_type::<PyWarning>()));
        if facts::is_heap_type(&category) || !warns || changed("__warningregistry__") || changed("__name__") {
            return Err(heard());
        }
        let globals = self.objects.get(self.py, globals).cast_into::<PyDict>().map_err(|_| heard())?;
        let registry = globals.get_item("__warningregistry__").ok().flatten();
        let known = |object: &Bound<'py, PyAny>| self.known.contains_key(&(object.as_ptr() as usize));
        if registry.as_ref().is_some_and(known)
            || warnings::filters(self.py).is_none_or(|filters| known(filters.as_any()))
        {
            return Err(heard());
        }
        let warning =
            Warning { text: text.unbind(), category: category.into_any().unbind(), line, globals: globals.unbind() };
        let question = process::is_unheard(self.py, warning).map_err(|e| self.internal(&e))?.into_bound(self.py);
        let answer = process::answer(&question).ok_or_else(heard)?;
        // Where it is heard that is guarded as well: most are heard once.
        let unheard = self.answered_by_path(&question, &answer);
        let unheard = self.constant_value(unheard).is_some_and(|unheard| unheard.is_truthy().unwrap_or(false));
        if !unheard {
            return Err(heard());
        }
        self.fold_none()
    }
}

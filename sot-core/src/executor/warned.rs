//! `warnings.warn`: where nobody hears of the warning ([`crate::unheard`]) nothing happens, or what was given before is forgotten, and a
//! guard asks whether that is so still; else it is a break.

use super::Executor;
use crate::cpython::{facts, module, warnings};
use crate::process;
use crate::stop::{Reason, Stop};
use crate::unheard::{Outcome, Warning, forgetting};
use crate::variables::*;
use pyo3::exceptions::{PyUserWarning, PyWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use sot_sideeffect::{Mutation, Overlay};

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
        if self.warning_comes_to(&warning, Outcome::Nothing)? {
            return self.fold_none();
        }
        // Where it is heard that is guarded as well: most are heard once.
        if !self.warning_comes_to(&warning, Outcome::Forgets)? {
            return Err(heard());
        }
        let giver = forgetting(self.py, warning).map_err(|e| self.internal(&e))?.into_bound(self.py);
        let giver = self.pin(&giver);
        // Who looks into the dict later finds it changed by somebody else.
        if let Some(registry) = registry {
            self.dicts_below.insert(registry.as_ptr() as usize, Some(giver));
        }
        self.journal_record(Mutation::Method {
            object: Self::var_ref(giver),
            name: "__call__".to_owned(),
            args: Vec::new(),
        });
        self.fold_none()
    }

    /// Whether giving a warning comes to this now, guarded.
    fn warning_comes_to(&mut self, warning: &Warning, outcome: Outcome) -> Result<bool, Stop> {
        let question = process::comes_to(self.py, warning.clone_ref(self.py), outcome);
        let question = question.map_err(|e| self.internal(&e))?.into_bound(self.py);
        let answer = process::answer(&question).ok_or(Stop::brk(Reason::FrameInspection, "warn"))?;
        let known = self.answered_by_path(&question, &answer);
        Ok(self.constant_value(known).is_some_and(|known| known.is_truthy().unwrap_or(false)))
    }
}

//! Exceptions: values like others, made by calling their class or by an operation that raises.
//!
//! A virtual one is its class, its `args` and what raising set (`__cause__`, `__context__`, the frames it passed); it is
//! built when the program hands it out. Of a sourced one only the class is known. Attributes that the program sets are in the
//! journal, as those of instances.

use super::*;
use crate::cpython::facts;
use crate::probe;
use pyo3::exceptions::PyBaseException;
use pyo3::types::{PyTuple, PyType};

impl Operations for ExceptionVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.class))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        ex.truth_by_protocol(me)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_exception(me, self, name)
    }
}

impl Executor<'_> {
    /// `str()` or `repr()` of a new exception; `None` for other values.
    pub(in crate::executor) fn text_of_exception(&mut self, value: VarId, method: &str) -> Result<Option<VarId>, Stop> {
        let VarKind::Exception(e) = self.look(value)? else { return Ok(None) };
        let Some(args) = e.state.args.filter(|_| e.object.is_none()) else { return Ok(None) };
        let class = self.objects.get(self.py, e.class);
        let Some(found) = self.class_lookup(&class, method)? else { return Ok(None) };
        if facts::is_function(&found) {
            let function = self.pin(&found);
            let text = self.call_now(function, &Args::positional(vec![value]))?;
            return match self.constant_str(text) {
                Some(_) => Ok(Some(text)),
                None => Err(Stop::brk(Reason::WouldRaise, method)),
            };
        }
        let Some(base) = class.cast::<PyType>().ok().and_then(probe::base_of_c) else { return Ok(None) };
        if !base.getattr(method).is_ok_and(|own| own.is(&found)) {
            return Ok(None);
        }
        // What C writes depends on the class and the arguments alone.
        let args = self.require_plain(args)?.cast_into::<PyTuple>().map_err(|e| self.internal(&e.into()))?;
        let made = base.getattr("__new__").and_then(|new| {
            let all: Vec<_> = std::iter::once(class.clone()).chain(args.iter()).collect();
            new.call1(PyTuple::new(self.py, all)?)
        });
        let text = made.and_then(|made| found.call1((made,))).map_err(|e| self.would_raise(&e))?;
        self.fold(&text).map(Some)
    }

    /// `exception.name`.
    pub(in crate::executor) fn attribute_of_exception(
        &mut self,
        me: VarId,
        e: &ExceptionVar,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let class = self.objects.get(self.py, e.class);
        if e.object.is_none() {
            let ours = self.py.get_type::<PyBaseException>();
            let found = self.class_lookup(&class, name)?;
            let of_base = found.is_some_and(|f| ours.getattr(name).is_ok_and(|own| own.is(&f)));
            let about = e.state.about.iter().find(|(what, _)| *what == name);
            let value = match name {
                _ if about.is_some() => about.map(|(_, value)| *value),
                "args" if of_base => e.state.args,
                "__cause__" if of_base => Some(e.state.cause.flatten().map_or_else(|| self.fold_none(), Ok)?),
                "__context__" if of_base => Some(e.state.context.map_or_else(|| self.fold_none(), Ok)?),
                "__suppress_context__" if of_base => Some(self.fold_bool(e.state.cause.is_some())?),
                "__traceback__" if of_base && e.state.passed.is_empty() => Some(self.fold_none()?),
                "__traceback__" if of_base => Some(self.traceback_of(me)),
                _ => None,
            };
            if let Some(value) = value {
                return Ok(Some(value));
            }
            if name == "value" && self.is_stop_iteration(me)? {
                let VarKind::Tuple(args) = self.look(e.state.args.expect("virtual"))? else {
                    return Err(Stop::fallback(Reason::InternalError, "args"));
                };
                return args.items.first().map_or_else(|| self.fold_none(), |v| Ok(*v)).map(Some);
            }
        }
        let object = e.object.map(|o| self.objects.get(self.py, o));
        self.attribute_of_instance(me, object.as_ref(), &class, name)
    }
}

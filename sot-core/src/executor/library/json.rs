//! What module `json` has in C: an encoder, which asks Python for nothing where it is given plain values, and a scanner.

use super::Executor;
use crate::cpython::facts;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    fn is_of_json(&self, class: &Bound<'py, PyAny>, name: &str) -> bool {
        let made = |class: &Bound<'py, PyType>| facts::name_in_messages(class).starts_with("_json.");
        if !class.cast::<PyType>().is_ok_and(made) {
            return false;
        }
        facts::imported_value(self.py, "_json", name).is_some_and(|known| known.is(class))
    }

    /// `_json.make_encoder(..)`; `None`: it is another class.
    pub(in crate::executor) fn make_encoder(
        &mut self,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        if args.positional.len() != 9 || !args.keywords.is_empty() || !self.is_of_json(class, "make_encoder") {
            return Ok(None);
        }
        for (at, arg) in args.positional.iter().enumerate() {
            let kind = self.look(*arg)?;
            if !self.is_taken_by_encoder(at, *arg, &kind) {
                return Ok(None);
            }
        }
        let class = self.objects.add(class);
        let positional = args.positional.clone().into();
        let (native, keywords) = (Native::Encoder, std::rc::Rc::new([]));
        Ok(Some(self.virtual_var(NativeVar { native, class, object: None, positional, keywords, pinned: false })))
    }

    /// Whether C takes this argument as it is: it refuses markers and separators of other types, and asks flags for their truth.
    fn is_taken_by_encoder(&mut self, at: usize, arg: VarId, kind: &VarKind) -> bool {
        match (at, kind) {
            (0, VarKind::Dict(_)) | (1..=3, _) => true,
            (0, VarKind::Constant(_)) => self.constant_value(arg).is_some_and(|markers| markers.is_none()),
            (4 | 5, VarKind::Constant(_)) => {
                self.constant_value(arg).is_some_and(|text| text.is_instance_of::<PyString>())
            }
            (6..=8, VarKind::Constant(_)) => self.constant_value(arg).is_some_and(|flag| {
                flag.is_none() || flag.is_exact_instance_of::<PyBool>() || flag.is_exact_instance_of::<PyInt>()
            }),
            _ => false,
        }
    }

    /// `encoder(value, level)`
    pub(in crate::executor) fn encoded(&mut self, encoder: &NativeVar, args: &Args) -> Result<VarId, Stop> {
        let opaque = || Stop::brk(Reason::OpaqueCall, "an encoder of json");
        let ([value, level], []) = (args.positional.as_slice(), args.keywords.as_slice()) else {
            return Err(opaque());
        };
        let value = self.require_plain(*value)?;
        if !is_written_by_c(&value, &mut 10_000) {
            return Err(opaque());
        }
        let level = self.require_plain(*level)?;
        let none = self.py.None().into_bound(self.py);
        let mut given = Vec::with_capacity(9);
        for (at, arg) in encoder.positional.iter().enumerate() {
            let kind = self.look(*arg)?;
            given.push(match (at, &kind) {
                (0, VarKind::Dict(_)) => PyDict::new(self.py).into_any(),
                // Nobody asks for it.
                (1, _) => none.clone(),
                (2, _) => {
                    let function = self.pinned(&kind).ok_or_else(opaque)?;
                    let module = function.getattr("__module__").map_err(|e| self.internal(&e))?;
                    if !function.is_exact_instance_of::<PyCFunction>() || !module.eq("_json").unwrap_or(false) {
                        return Err(opaque());
                    }
                    function
                }
                _ => self.require_plain(*arg)?,
            });
        }
        let class = self.objects.get(self.py, encoder.class);
        let given = PyTuple::new(self.py, given).map_err(|e| self.internal(&e))?;
        let made = class.call1(given).map_err(|e| self.would_raise(&e))?;
        let text = made.call1((value, level)).map_err(|_| Stop::brk(Reason::WouldRaise, "json"))?;
        self.fold(&text)
    }

    /// `scanner(text, index)`, where it makes nothing but plain values; `None`: it is something else.
    pub(in crate::executor) fn scanned(&mut self, me: VarId, args: &Args) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { object: Some(object), class, pinned: true, .. }) = self.var(me).kind else {
            return Ok(None);
        };
        let class = self.objects.get(self.py, class);
        if !self.is_of_json(&class, "make_scanner") {
            return Ok(None);
        }
        self.look(me)?;
        let scanner = self.objects.get(self.py, object);
        let is = |name: &str, expected: Bound<'py, PyAny>| scanner.getattr(name).is_ok_and(|found| found.is(&expected));
        let none = || self.py.None().into_bound(self.py);
        let plain = is("object_hook", none())
            && is("object_pairs_hook", none())
            && is("parse_float", self.py.get_type::<PyFloat>().into_any())
            && is("parse_int", self.py.get_type::<PyInt>().into_any());
        if !plain || !self.are_constants(args)? {
            return Ok(None);
        }
        let (positional, keywords) = self.convert_arguments(args, Self::require_plain)?;
        let text = positional.get_item(0).map_err(|_| Stop::brk(Reason::WouldRaise, "json"))?;
        let Ok(words) = text.cast_exact::<PyString>().map(|text| text.to_string_lossy().into_owned()) else {
            return Ok(None);
        };
        // They are what the program says.
        if words.contains("NaN") || words.contains("Infinity") {
            return Ok(None);
        }
        match scanner.call(positional, keywords.as_ref()) {
            Ok(found) => self.fold(&found).map(Some),
            Err(_) => Err(Stop::brk(Reason::WouldRaise, "json")),
        }
    }
}

/// Whether a value is made of what C writes by itself.
fn is_written_by_c(value: &Bound<'_, PyAny>, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let is_plain = |value: &Bound<'_, PyAny>| {
        value.is_none()
            || value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyString>()
    };
    if is_plain(value) {
        return true;
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        return list.iter().all(|item| is_written_by_c(&item, left));
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        return tuple.iter().all(|item| is_written_by_c(&item, left));
    }
    let Ok(dict) = value.cast_exact::<PyDict>() else { return false };
    dict.iter().all(|(key, value)| is_plain(&key) && is_written_by_c(&value, left))
}

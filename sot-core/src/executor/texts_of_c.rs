//! Texts of values whose class extends text or a number of C and leaves its text to that (`class Name(str)` with methods of its own): C
//! writes what it extends, and no code of the program runs.

use super::Executor;
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// What C may ask of a number that it writes in a way that is named (`"%d"`, `format(n, "f")`).
const IN_A_WAY: &[&str] = &["__format__", "__float__", "__index__", "__int__", "__trunc__"];
/// The same of what a template writes, which may name none.
const IN_A_TEMPLATE: &[&str] = &["__format__", "__float__", "__index__", "__int__", "__trunc__", "__str__", "__repr__"];

/// What a text is asked of, by the builtin that writes it.
fn asked(builtin: &str) -> Option<&'static [&'static str]> {
    match builtin {
        "repr" | "ascii" => Some(&["__repr__"]),
        "str" => Some(&["__str__", "__repr__"]),
        "format" => Some(&["__format__", "__str__", "__repr__"]),
        _ => None,
    }
}

impl<'py> Executor<'py> {
    /// `builtin(value)`, or `format(value, spec)`, of such a value; `None`: it is none, or its class has a way of its own.
    pub(super) fn written_by_c(
        &mut self,
        builtin: &str,
        value: VarId,
        spec: Option<VarId>,
    ) -> Result<Option<Called>, Stop> {
        // What is written in a way that is named is the content, whatever the text of the value.
        let in_a_way = spec.and_then(|spec| self.constant_str(spec)).is_some_and(|spec| !spec.is_empty());
        let methods = if in_a_way { Some(IN_A_WAY) } else { asked(builtin) };
        if !in_a_way
            && methods.is_some()
            && let Some(of_numpy) = self.type_of_items(value)
        {
            let given = PyTuple::new(self.py, [of_numpy]).map_err(|e| self.internal(&e))?;
            let text = self.ask_numpy(&self.builtins_attribute(builtin)?, &given, None)?;
            return self.fold(&text).map(|text| Some(Called::Value(text)));
        }
        let Some(methods) = methods.filter(|_| matches!(self.var(value).kind, VarKind::Instance(_))) else {
            return Ok(None);
        };
        let Some(object) = self.value_of_c(value, methods)? else { return Ok(None) };
        let mut given = vec![object.clone()];
        if let Some(spec) = spec {
            self.is_written_without_locale(spec)?;
            match self.constant_value(spec).filter(|spec| spec.is_exact_instance_of::<PyString>()) {
                Some(spec) => given.push(spec),
                None => return Ok(None),
            }
        }
        let given = PyTuple::new(self.py, given).map_err(|e| self.internal(&e))?;
        let written = self.builtins_attribute(builtin)?.call1(given).map_err(|e| self.would_raise(&e))?;
        self.result_of_c(&written, &[object], &[value]).map(|text| Some(Called::Value(text)))
    }

    /// The content of such a value as a value of the type that it extends, for a template that writes it.
    pub(super) fn content_as_written(&mut self, value: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        if !matches!(self.look(value)?, VarKind::Instance(_)) {
            return Ok(None);
        }
        let object = self.value_of_c(value, IN_A_TEMPLATE)?;
        Ok(object.as_ref().and_then(content))
    }

    /// Whether a value's class extends text.
    pub(super) fn extends_text(&mut self, value: VarId) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        let base = class.cast::<PyType>().ok().and_then(type_facts::base_of_c);
        Ok(base.is_some_and(|base| base.is(self.py.get_type::<PyString>())))
    }

    /// Items as `str.join` takes them: it reads the content of what extends text, whatever methods that has.
    pub(super) fn texts_to_join(&mut self, items: Vec<VarId>) -> Result<Vec<VarId>, Stop> {
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            let text = match self.look(item)? {
                VarKind::Instance(_) if self.extends_text(item)? => self.value_of_c(item, &[])?,
                _ => None,
            };
            texts.push(match text.as_ref().and_then(content) {
                Some(text) => self.fold(&text)?,
                None => item,
            });
        }
        Ok(texts)
    }
}

/// The content of a value that extends text or a number.
fn content<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(text) = value.cast::<PyString>() {
        return Some(PyString::new(py, text.to_str().ok()?).into_any());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Some(PyFloat::new(py, number.value()).into_any());
    }
    let number = value.cast::<PyInt>().ok().filter(|number| !number.is_instance_of::<PyBool>())?;
    Some(PyInt::new(py, number.extract::<i64>().ok()?).into_any())
}

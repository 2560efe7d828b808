//! Texts that are made of the texts of values, where some of them are code of the program: `repr` of containers, `%` and
//! `str.format`.
//!
//! Which value is asked for its text, and how, Python's own formatting says: it is run on answerers for the values, which know
//! the answers that there are, and ask for the next one (`definitions::asked`). A template that fails on answerers that answer
//! nothing is left to the real one.
//!
//! A container that is being written is known by the frame that does it, so that it is `[...]` in itself. From a break on the way
//! on it is being written for real (`Captured::writing`), until its definition says that it ends. Containers that existed
//! before the frame may be in the middle of a `repr` of somebody else's: they are written for real.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use std::sync::{Arc, Mutex};

/// Definitions that write a container, their first argument.
const WRITERS: [&str; 3] = ["repr_of_list", "repr_of_tuple", "repr_of_dict"];

/// What answerers have been told, and what the first one asks that was not.
#[derive(Default)]
struct Asking {
    answers: std::vec::IntoIter<Py<PyAny>>,
    /// What is answered when there is no answer: nobody asks in earnest.
    trial: Option<Py<PyAny>>,
    question: Option<Question>,
}

/// A value by its number, whether its `repr`, `str` or `format`, and the specification of that.
type Question = (usize, &'static str, Py<PyAny>);

/// Stands for a value that is asked for its text.
#[pyclass(frozen, module = "sot._sot", name = "_Written")]
struct Written {
    index: usize,
    asking: Arc<Mutex<Asking>>,
}

impl Written {
    fn ask(&self, what: &'static str, spec: Py<PyAny>) -> PyResult<Py<PyAny>> {
        let mut asking = self.asking.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        if let Some(answer) = asking.answers.next() {
            return Ok(answer);
        }
        if let Some(answer) = asking.trial.take() {
            Python::attach(|py| asking.trial = Some(answer.clone_ref(py)));
            return Ok(answer);
        }
        asking.question = Some((self.index, what, spec));
        Err(PyRuntimeError::new_err("asked"))
    }
}

#[pymethods]
impl Written {
    /// A template that asks for a part of a value is not for answerers.
    fn __getattribute__(&self, name: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(PyRuntimeError::new_err(format!("asked for {name}")))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.ask("repr", py.None())
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.ask("str", py.None())
    }

    fn __format__(&self, spec: Py<PyAny>) -> PyResult<Py<PyAny>> {
        self.ask("format", spec)
    }
}

/// An argument of a formatting.
enum Part {
    Plain(Py<PyAny>),
    /// The value of this number.
    Value(usize),
}

/// A text that is made by formatting.
struct Formatting {
    template: Py<PyAny>,
    /// `template % arguments`, with a tuple, a dict or one value on the right, or `template.format(..)`.
    way: Way,
    positional: Vec<Part>,
    named: Vec<(Py<PyAny>, Part)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    One,
    Several,
    Named,
    Method,
}

impl Formatting {
    fn run<'py>(&self, py: Python<'py>, asking: Asking) -> PyResult<(PyResult<Bound<'py, PyAny>>, Option<Question>)> {
        let asking = Arc::new(Mutex::new(asking));
        let part = |part: &Part| match part {
            Part::Plain(object) => Ok(object.bind(py).clone()),
            Part::Value(index) => {
                Bound::new(py, Written { index: *index, asking: asking.clone() }).map(Bound::into_any)
            }
        };
        let positional = PyTuple::new(py, self.positional.iter().map(part).collect::<PyResult<Vec<_>>>()?)?;
        let named = PyDict::new(py);
        for (name, value) in &self.named {
            named.set_item(name, part(value)?)?;
        }
        let template = self.template.bind(py);
        let text = match self.way {
            Way::Method => template.call_method("format", positional, Some(&named)),
            Way::Several => template.rem(positional),
            Way::Named => template.rem(named),
            Way::One => template.rem(positional.get_item(0)?),
        };
        let question = asking.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?.question.take();
        Ok((text, question))
    }

    /// Whether it goes well with answers that say nothing.
    fn tried(&self, py: Python<'_>) -> PyResult<bool> {
        let trial = Some(PyString::new(py, "").into_any().unbind());
        self.run(py, Asking { trial, ..Asking::default() }).map(|(text, _)| text.is_ok())
    }

    /// `ask(answers)`: the text, or None and what is asked next.
    fn ask(&self, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let py = args.py();
        let answers = args.get_item(0)?.try_iter()?.map(|a| a.map(Bound::unbind)).collect::<PyResult<Vec<_>>>()?;
        let (text, question) = self.run(py, Asking { answers: answers.into_iter(), ..Asking::default() })?;
        let asked = match question {
            Some((index, what, spec)) => (py.None(), index, what, spec),
            None => (text?.unbind(), 0, "", py.None()),
        };
        Ok(asked.into_pyobject(py)?.into_any().unbind())
    }
}

impl<'py> Executor<'py> {
    /// Whether the text of a value is, in part, what code of the program says, or a number that varies. No tensor and no C class has a part in it.
    pub(super) fn writes_by_code(&mut self, value: VarId) -> Result<bool, Stop> {
        let mut open: HashSet<VarId> = HashSet::new();
        let mut work = vec![(value, false)];
        let mut found = false;
        while let Some((value, done)) = work.pop() {
            self.may_go_deeper()?;
            if done {
                open.remove(&value);
                continue;
            }
            let parts = match self.look(value)? {
                VarKind::Constant(_) => {
                    found |= self.is_varying(value);
                    continue;
                }
                VarKind::Exception(_) => {
                    found = true;
                    continue;
                }
                VarKind::Instance(_) => {
                    let class = self.class_of(value)?;
                    if !self.extends_object(&class)? && !type_facts::is_enumeration(&class) {
                        return Ok(false);
                    }
                    for name in ["__repr__", "__str__", "__format__"] {
                        found |= self.class_lookup(&class, name)?.is_some_and(|method| facts::is_function(&method));
                    }
                    continue;
                }
                VarKind::List(ListVar { items, class: None, .. }) => items.to_vec(),
                VarKind::Tuple(TupleVar { items, class: None }) => items.to_vec(),
                VarKind::Dict(DictVar { entries, class: None, .. }) => {
                    entries.iter().flat_map(|(key, item)| [*key, *item]).collect()
                }
                _ => return Ok(false),
            };
            if self.known_object(value).is_some() || !open.insert(value) {
                return Ok(false);
            }
            work.push((value, true));
            work.extend(parts.into_iter().map(|part| (part, false)));
        }
        Ok(found)
    }

    /// The containers that frames from this one on write, outermost first.
    pub(super) fn being_written(&self, first: usize) -> Vec<VarId> {
        let frames = self.frames.iter().skip(first);
        let writers = frames.filter(|frame| frame.is_hidden() && WRITERS.contains(&frame.unit.code.name.as_str()));
        writers.filter_map(|frame| frame.locals.first().copied().flatten()).collect()
    }

    /// The end of the `repr` of a container. One that was under way when the capture began was so for real.
    pub(super) fn end_writing(&mut self, container: VarId) -> Result<VarId, Stop> {
        if self.frames.len() <= self.given {
            self.journal_record(Mutation::Written { object: Self::var_ref(container) });
        }
        self.fold_none()
    }

    /// The frame of `repr` or `str` of a container that holds instances.
    pub(super) fn enter_text_of_container(&mut self, value: VarId) -> Result<Option<Called>, Stop> {
        let (definition, within) = match self.look(value)? {
            VarKind::List(ListVar { class: None, .. }) => ("repr_of_list", "[...]"),
            VarKind::Tuple(TupleVar { class: None, .. }) => ("repr_of_tuple", "(...)"),
            VarKind::Dict(DictVar { class: None, .. }) => ("repr_of_dict", "{...}"),
            VarKind::Exception(_) => return self.enter_text_of_exception(value, "repr"),
            _ => return Ok(None),
        };
        for other in self.being_written(0) {
            if other == value || self.known_object(value).is_some() && self.same_object(other, value)? {
                return self.fold(PyString::new(self.py, within).as_any()).map(|text| Some(Called::Value(text)));
            }
        }
        if !self.writes_by_code(value)? {
            return Ok(None);
        }
        self.enter(definition, &[value]).map(Some)
    }

    /// The frame of `template % right`.
    pub(super) fn enter_percent(&mut self, template: VarId, right: VarId) -> Result<Option<Called>, Stop> {
        if self.percent_of_varying(template, right)?.is_some() {
            // No frame is needed.
            return Ok(None);
        }
        let (way, positional, named) = match self.look(right)? {
            VarKind::Tuple(TupleVar { items, class: None }) => (Way::Several, items.to_vec(), Vec::new()),
            VarKind::Dict(DictVar { entries, class: None, .. }) => {
                if self.asks_for_no_name(template)? {
                    return self.enter_formatting(template, Way::One, vec![right], Vec::new());
                }
                (Way::Named, Vec::new(), entries.to_vec())
            }
            // What has items is taken for a mapping.
            VarKind::Instance(_) => {
                let class = self.class_of(right)?;
                // Text is none, though it has items.
                if self.class_lookup(&class, "__getitem__")?.is_some() && !self.extends_text(right)? {
                    return Ok(None);
                }
                // Of two texts the one on the right is asked first if its class has a way of its own.
                if self.extends_text(right)?
                    && !self.leaves_to(&class, &self.py.get_type::<PyString>(), &["__rmod__"])?
                {
                    return Err(Stop::brk(Reason::UserCode, "__rmod__"));
                }
                (Way::One, vec![right], Vec::new())
            }
            VarKind::Exception(_) => (Way::One, vec![right], Vec::new()),
            _ => return Ok(None),
        };
        self.enter_formatting(template, way, positional, named)
    }

    /// Whether `template % mapping` writes the mapping itself.
    fn asks_for_no_name(&mut self, template: VarId) -> Result<bool, Stop> {
        let Some(template) = self.constant_value(template) else { return Ok(false) };
        let (way, positional) = (Way::One, vec![Part::Value(0)]);
        let one = Formatting { template: template.unbind(), way, positional, named: Vec::new() };
        one.tried(self.py).map_err(|e| self.internal(&e))
    }

    /// The frame of `template.format(..)`.
    pub(super) fn enter_str_format(&mut self, template: VarId, args: &Args) -> Result<Option<Called>, Stop> {
        if let Some(text) = self.constant_value(template) {
            self.asks_for_no_locale("format", &text, args)?;
        }
        if let Some(text) = self.format_of_varying(template, args)? {
            return Ok(Some(Called::Value(text)));
        }
        let mut named = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            named.push((self.fold(PyString::new(self.py, name).as_any())?, *value));
        }
        self.enter_formatting(template, Way::Method, args.positional.clone(), named)
    }

    /// A number that is written as `n` has the separators of the locale, which is the process's and changes.
    pub(super) fn is_written_without_locale(&mut self, spec: VarId) -> Result<(), Stop> {
        match self.constant_str(spec).is_some_and(|spec| spec.ends_with('n')) {
            true => Err(Stop::brk(Reason::Builtin, "a number as the locale writes it")),
            false => Ok(()),
        }
    }

    /// As [`Self::is_written_without_locale`], of a method of a constant.
    pub(super) fn asks_for_no_locale(&mut self, name: &str, of: &Bound<'py, PyAny>, args: &Args) -> Result<(), Stop> {
        let template = of.extract::<&str>().unwrap_or_default();
        if matches!(name, "format" | "format_map") && template.contains("n}") {
            return Err(Stop::brk(Reason::Builtin, "a number as the locale writes it"));
        }
        // A specification may be put together of parts.
        if name == "__format__" || name == "format" && template.contains(":{") {
            for value in args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value)) {
                self.is_written_without_locale(*value)?;
            }
        }
        Ok(())
    }

    fn enter_formatting(
        &mut self,
        template: VarId,
        way: Way,
        positional: Vec<VarId>,
        named: Vec<(VarId, VarId)>,
    ) -> Result<Option<Called>, Stop> {
        let Some(text) = self.constant_value(template).filter(|t| t.is_exact_instance_of::<PyString>()) else {
            return Ok(None);
        };
        let mut values = Vec::new();
        let (mut by_code, mut of_c) = (false, false);
        // A template may ask for a part of a value.
        let whole = way != Way::Method || !text.to_string().contains(['.', '[']);
        let alone = way == Way::Method && is_one_field(&text);
        let mut part = |ex: &mut Self, value: VarId| -> Result<Option<Part>, Stop> {
            if ex.is_plain(value)? {
                return Ok(Some(Part::Plain(ex.require_plain(value)?.unbind())));
            }
            if whole && let Some(content) = ex.content_as_written(value)? {
                // What is written alone may be the object itself.
                if alone && matches!(ex.var(value).kind, VarKind::Instance(InstanceVar { object: None, .. })) {
                    return Ok(None);
                }
                of_c = true;
                return Ok(Some(Part::Plain(content.unbind())));
            }
            if !ex.writes_by_code(value)? {
                return Ok(None);
            }
            by_code = true;
            values.push(value);
            Ok(Some(Part::Value(values.len() - 1)))
        };
        let mut formatting = Formatting { template: text.unbind(), way, positional: Vec::new(), named: Vec::new() };
        for value in positional {
            let Some(part) = part(self, value)? else { return Ok(None) };
            formatting.positional.push(part);
        }
        for (name, value) in named {
            let Some(part) = part(self, value)? else { return Ok(None) };
            formatting.named.push((self.require_plain(name)?.unbind(), part));
        }
        if !(by_code || of_c) || !formatting.tried(self.py).map_err(|e| self.internal(&e))? {
            return Ok(None);
        }
        let ask = PyCFunction::new_closure(self.py, Some(c"ask"), None, move |args, _| formatting.ask(args));
        let ask = ask.map_err(|e| self.internal(&e))?;
        let ask = self.pin(ask.as_any());
        let values = self.virtual_var(TupleVar::new(values));
        self.enter("asked", &[ask, values]).map(Some)
    }
}

/// Whether a template is one field and nothing beside it.
fn is_one_field(template: &Bound<'_, PyAny>) -> bool {
    let text = template.to_string();
    text.starts_with('{') && text.ends_with('}') && text.matches('{').count() == 1
}

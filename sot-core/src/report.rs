//! What `sot.explain` shows of one call.
//!
//! The text of a report fits a screen: counts, graphs, times, why the call was captured again, and breaks. Guards, graphs and code are
//! its attributes, lists and texts that show themselves readably; [`crate::report_page`] has all of it as a page.

use crate::advice;
use crate::backend::layer_method;
use crate::capture::Break;
use crate::cpython::facts;
use crate::report_page::{Mark, Page, Source};
use crate::serve::misses;
use crate::serve::recording::{Recording, record};
use crate::serve::trial::Server;
use crate::stop::Why;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use std::ffi::CString;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Weak;

/// One graph.
#[pyclass(module = "sot._sot", frozen, name = "Graph")]
pub struct PyGraph {
    /// StatementIR as text.
    #[pyo3(get)]
    sir: String,
    /// Operations in the framework's graph.
    #[pyo3(get)]
    op_count: usize,
    /// `compiled`, `replay`, `measuring`, `closed` (it failed for good), or `original` if the original code serves the
    /// call because it is faster.
    #[pyo3(get)]
    executor: String,
    /// Why only replay is exact, if so.
    #[pyo3(get)]
    replay_only: Option<String>,
    /// The framework's own text.
    #[pyo3(get)]
    program: String,
}

/// One graph break or fallback.
#[pyclass(module = "sot._sot", frozen, name = "Break")]
pub struct PyBreak {
    /// Stable code, as in `sot.reasons()`.
    #[pyo3(get)]
    code: &'static str,
    /// DDCF, UNSPS, CDBL or UNIMP.
    #[pyo3(get)]
    family: &'static str,
    /// What happened, in words.
    #[pyo3(get)]
    reason: String,
    #[pyo3(get)]
    file: String,
    #[pyo3(get)]
    line: u32,
    #[pyo3(get)]
    function: String,
    /// The whole frame ran as plain Python.
    #[pyo3(get)]
    fallback: bool,
    /// The line as it is in the file, without indentation; empty if it cannot be read.
    #[pyo3(get)]
    source: String,
    /// What to write instead, or that nothing needs to be done.
    #[pyo3(get)]
    cure: &'static str,
    /// What the framework raised when it was asked for the operation: class and text.
    #[pyo3(get)]
    cause: Option<String>,
    /// As the report shows it.
    text: String,
}

#[pymethods]
impl PyGraph {
    fn __str__(&self) -> &str {
        &self.sir
    }

    fn __repr__(&self) -> String {
        format!("<sot.Graph: {} operations, {}>", self.op_count, self.executor)
    }
}

impl PyGraph {
    /// One line about it.
    fn title(&self, at: usize) -> String {
        let mut title = format!("graph {}: {} operations, {}", at + 1, self.op_count, self.executor);
        if let Some(why) = &self.replay_only {
            write!(title, " ({why})").ok();
        }
        title
    }
}

#[pymethods]
impl PyBreak {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let what = if self.fallback { "fallback" } else { "break" };
        format!("<sot.Break: {what} [{}] at {}:{}>", self.code, self.file, self.line)
    }
}

/// What one call came to.
#[pyclass(module = "sot._sot", frozen, name = "Report")]
pub struct PyReport {
    /// The graphs, in the order in which they run: a list that shows their texts.
    #[pyo3(get)]
    graphs: Py<PyAny>,
    #[pyo3(get)]
    breaks: Py<PyAny>,
    /// Texts: a list that shows them by what they speak of.
    #[pyo3(get)]
    guards: Py<PyAny>,
    /// Rewritten bytecode, one listing per function.
    #[pyo3(get)]
    code: Py<PyAny>,
    /// The resume functions (`__resume_fn_k`) that run where a continuation is not captured, as bytecode.
    #[pyo3(get)]
    resume_functions: Py<PyAny>,
    /// Why the call was captured though others had been: texts.
    #[pyo3(get)]
    missed: Vec<String>,
    /// What the call returned.
    #[pyo3(get)]
    result: Py<PyAny>,
    /// Time spent capturing, in milliseconds; 0 if everything was cached.
    #[pyo3(get)]
    capture_ms: f64,
    counts: [usize; 3],
    text: String,
    /// The code of the function itself.
    original: Option<Py<PyAny>>,
}

#[pymethods]
impl PyReport {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let [graphs, breaks, guards] = self.counts;
        format!("<sot.Report: {graphs} graphs, {breaks} breaks, {guards} guards>")
    }

    /// The bytecode of the function as it is.
    #[getter]
    fn original_code<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.original.as_ref().map(|code| described(code.bind(py)).1);
        class(py, "Listing")?.call1((text.unwrap_or_default(),))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.with_page(py, |page| page.fragment())
    }

    /// Write the report as one HTML page that needs nothing else. An existing file is replaced.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let name = self.original.as_ref().and_then(|code| code.bind(py).getattr("co_name").ok()?.extract().ok());
        let title = format!("sot: {}", name.unwrap_or_else(|| "report".to_owned()));
        let html = self.with_page(py, |page| page.document(&title))?;
        std::fs::write(&path, html).map_err(|error| {
            let text = format!("the report could not be written to {}: {error}", path.display());
            match error.kind() {
                std::io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
                std::io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
                _ => PyOSError::new_err(text),
            }
        })
    }

    /// Print the report: in colour where `file` (stdout) is a terminal, unless `color` says otherwise or NO_COLOR is set.
    #[pyo3(signature = (file=None, color=None))]
    fn show(&self, py: Python<'_>, file: Option<Bound<'_, PyAny>>, color: Option<bool>) -> PyResult<()> {
        let file = match file {
            Some(file) => file,
            None => crate::cpython::module(py, "sys")?.getattr("stdout")?,
        };
        if file.is_none() {
            return Ok(());
        }
        let terminal = || {
            let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            allowed && file.call_method0("isatty").is_ok_and(|is| is.is_truthy().unwrap_or(false))
        };
        let text = match color.unwrap_or_else(terminal) {
            true => coloured(&self.text),
            false => self.text.clone(),
        };
        file.call_method1("write", (text,))?;
        Ok(())
    }
}

impl PyReport {
    fn with_page(&self, py: Python<'_>, show: impl FnOnce(&Page<'_>) -> String) -> PyResult<String> {
        let graphs: Vec<Py<PyGraph>> = self.graphs.bind(py).extract()?;
        let breaks: Vec<Py<PyBreak>> = self.breaks.bind(py).extract()?;
        let groups = self.guards.bind(py).call_method0("by_owner")?.cast_into::<PyDict>()?;
        let guards = groups.iter().map(|(owner, guards)| Ok((owner.extract()?, guards.extract()?)));
        let marks = breaks.iter().map(|found| {
            let found = found.get();
            Mark { file: &found.file, line: found.line, code: found.code, text: &found.text }
        });
        let titled = graphs.iter().enumerate().map(|(at, graph)| (graph.get().title(at), graph.get().sir.clone()));
        let (source, before) = self.original.as_ref().map(|code| described(code.bind(py))).unwrap_or_default();
        let after: String = self.code.bind(py).extract()?;
        Ok(show(&Page {
            summary: self.text.split("\n\n").next().unwrap_or_default(),
            source: &source,
            marks: marks.collect(),
            graphs: titled.collect(),
            guards: guards.collect::<PyResult<_>>()?,
            before: &before,
            after: &after,
        }))
    }
}

/// The classes of what a report holds.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let classes = CLASSES.get_or_try_init(py, || {
        let source = CString::new(include_str!("report_values.py")).expect("no zero");
        let names = PyDict::new(py);
        names.set_item("__name__", "sot")?;
        py.run(&source, Some(&names), None)?;
        Ok::<_, PyErr>(names.unbind())
    })?;
    let found = classes.bind(py).get_item(name)?;
    found.ok_or_else(|| PyRuntimeError::new_err("sot: a class of reports is missing"))
}

/// Run a call and report what served it. `function`: what is called, without what it was wrapped in.
pub fn explain<'py>(
    function: &Bound<'py, PyAny>,
    call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<PyReport> {
    let (result, recording) = record(call);
    build(function, &recording, result?)
}

/// How many graphs, breaks and reasons a report names: it is to fit a screen.
const NAMED: usize = 5;

/// Lines of a report about one kind of things: the first, and how many more there are.
fn write_some(text: &mut String, lines: &[String], more: &str) {
    for line in lines.iter().take(NAMED) {
        writeln!(text, "{line}").ok();
    }
    if lines.len() > NAMED {
        writeln!(text, "  and {} more: {more}", lines.len() - NAMED).ok();
    }
}

fn build<'py>(function: &Bound<'py, PyAny>, recording: &Recording, result: Bound<'py, PyAny>) -> PyResult<PyReport> {
    let py = function.py();
    let mut graphs: Vec<PyGraph> = Vec::new();
    let mut breaks: Vec<PyBreak> = Vec::new();
    let mut ambient: Vec<String> = Vec::new();
    let mut guards: Vec<String> = Vec::new();
    let mut code = String::new();
    let mut resume_functions = String::new();
    let mut resumed: Vec<u32> = Vec::new();
    let mut capture_ns = 0;
    for entry in &recording.entries {
        let report = &entry.report;
        if entry.hits.load(std::sync::atomic::Ordering::Relaxed) == 0 {
            capture_ns += report.capture_ns;
        }
        if let Some(graph) = report.graph.as_ref().and_then(Weak::upgrade) {
            graphs.push(PyGraph {
                sir: graph.sir.to_string(),
                op_count: graph.op_count,
                executor: match entry.trial.verdict() {
                    Some(Server::Original) => "original".to_owned(),
                    Some(Server::Captured) | None => format!("{:?}", graph.choice()).to_lowercase(),
                },
                replay_only: graph.replay_only().map(str::to_owned),
                program: graph.backend_text(py),
            });
        }
        breaks.extend(report.breaks.iter().map(|b| py_break(py, b)));
        // They are the same of most entries: once is enough.
        for fact in entry.ambient.describe() {
            if !ambient.contains(&fact) {
                ambient.push(fact);
            }
        }
        guards.extend(report.guards.iter().cloned());
        code.push_str(&report.code);
        code.push('\n');
        for point in report.points.iter().filter_map(Weak::upgrade) {
            if !resumed.contains(&point.number) {
                resumed.push(point.number);
                resume_functions.push_str(&point.resume_listing(py));
                resume_functions.push('\n');
            }
        }
    }
    breaks.extend(recording.refusals.iter().map(refusal));
    let guards = [ambient, guards].concat();
    let missed: Vec<String> = recording.missed.iter().flat_map(|(name, missed)| misses::lines(name, missed)).collect();
    let counts = [graphs.len(), breaks.len(), guards.len()];

    let mut text = format!("{} graphs, {} breaks, {} guards\n", counts[0], counts[1], counts[2]);
    let titles: Vec<String> = graphs.iter().enumerate().map(|(at, graph)| format!("  {}", graph.title(at))).collect();
    write_some(&mut text, &titles, "report.graphs");
    let capture_ms = capture_ns as f64 / 1e6;
    match capture_ns {
        0 if recording.entries.is_empty() => writeln!(text, "  nothing was captured"),
        0 => writeln!(text, "  found in the cache, nothing was captured"),
        _ => writeln!(text, "  captured in {capture_ms:.2} ms"),
    }
    .ok();
    write_some(&mut text, &missed.iter().map(|line| format!("  {line}")).collect::<Vec<_>>(), "report.missed");
    text.push('\n');
    write_some(&mut text, &breaks.iter().map(|found| found.text.clone()).collect::<Vec<_>>(), "report.breaks");
    if !breaks.is_empty() {
        text.push('\n');
    }
    writeln!(text, "more: report.graphs, report.guards, report.code, report.save(\"report.html\")").ok();

    let list = |name: &str, items: Bound<'py, PyAny>| Ok::<_, PyErr>(class(py, name)?.call1((items,))?.unbind());
    let listing = |text: &str| Ok::<_, PyErr>(class(py, "Listing")?.call1((text,))?.unbind());
    let made = |graph: PyGraph| Py::new(py, graph);
    let graphs: Vec<Py<PyGraph>> = graphs.into_iter().map(made).collect::<PyResult<_>>()?;
    let breaks: Vec<Py<PyBreak>> = breaks.into_iter().map(|found| Py::new(py, found)).collect::<PyResult<_>>()?;
    Ok(PyReport {
        graphs: list("Graphs", graphs.into_bound_py_any(py)?)?,
        breaks: list("Breaks", breaks.into_bound_py_any(py)?)?,
        guards: list("Guards", guards.into_bound_py_any(py)?)?,
        code: listing(&code)?,
        resume_functions: listing(&resume_functions)?,
        missed,
        result: result.unbind(),
        capture_ms,
        counts,
        text,
        original: code_of(function).map(Bound::unbind),
    })
}

/// The code of what is called: of a function, or of the method that a layer is called by. Nobody is asked.
fn code_of<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = function.py();
    let of_class = || facts::type_lookup(&function.get_type(), &PyString::intern(py, layer_method()));
    let of_method = || match facts::field(function, &PyString::intern(py, "__func__")) {
        facts::Field::Value(found) => Some(found),
        facts::Field::Empty | facts::Field::NoField => None,
    };
    let parts = |found: &Bound<'py, PyAny>| facts::func_parts(found).map(|parts| parts.code.to_owned());
    parts(function).or_else(|| parts(&of_method()?)).or_else(|| parts(&of_class()?))
}

/// Source and bytecode of a function, as far as they can be read.
fn described(code: &Bound<'_, PyAny>) -> (Source, String) {
    let py = code.py();
    let read = || -> PyResult<Source> {
        let inspect = py.import("inspect")?;
        let (lines, first_line): (Vec<String>, u32) = inspect.call_method1("getsourcelines", (code,))?.extract()?;
        let lines = lines.into_iter().map(|line| line.trim_end().to_owned()).collect();
        Ok(Source { file: code.getattr("co_filename")?.extract()?, first_line, lines })
    };
    let listed = || py.import("dis")?.call_method1("Bytecode", (code,))?.call_method0("dis")?.extract::<String>();
    (read().unwrap_or_default(), listed().unwrap_or_default())
}

/// A report for a terminal.
fn coloured(text: &str) -> String {
    let mut lines = String::new();
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let colour = match () {
            () if at == 0 => "1",
            () if start.starts_with("break at") || start.starts_with("fallback at") => "31",
            () if start.starts_with("not captured") => "31",
            () if !start.is_empty() && start.chars().all(|letter| letter == '^') => "1;31",
            () if start.starts_with("what to do") => "32",
            () if start.starts_with("more:") => "2",
            () => "",
        };
        match colour {
            "" => writeln!(lines, "{line}"),
            colour => writeln!(lines, "\x1b[{colour}m{line}\x1b[0m"),
        }
        .ok();
    }
    lines
}

/// Nothing was captured.
fn refusal(why: &Why) -> PyBreak {
    PyBreak {
        code: why.reason.code(),
        family: why.reason.family().as_str(),
        reason: why.to_string(),
        file: String::new(),
        line: 0,
        function: String::new(),
        fallback: true,
        source: String::new(),
        cure: advice::of(why.reason).cure,
        cause: why.cause.as_deref().map(str::to_owned),
        text: format!("not captured: {why}"),
    }
}

fn py_break(py: Python<'_>, b: &Break) -> PyBreak {
    let cure = advice::of(b.why.reason).cure;
    let mut text = format!("{} at {}:{} in {}(): {}", b.noun(), b.file, b.line, b.function, b.why);
    let line = source_line(py, &b.file, b.line);
    let source = line.trim();
    if !source.is_empty() {
        write!(text, "\n    {source}").ok();
        if let Some(marks) = b.columns.and_then(|columns| carets(&line, columns)) {
            write!(text, "\n    {marks}").ok();
        }
    }
    write!(text, "\n    what to do: {cure}").ok();
    PyBreak {
        code: b.why.reason.code(),
        family: b.why.reason.family().as_str(),
        reason: b.why.to_string(),
        file: b.file.to_string(),
        line: b.line,
        function: b.function.to_string(),
        fallback: b.fallback,
        source: source.to_owned(),
        cure,
        cause: b.why.cause.as_deref().map(str::to_owned),
        text,
    }
}

/// A line of a file, as tracebacks get it.
fn source_line(py: Python<'_>, file: &str, line: u32) -> String {
    let linecache = crate::cpython::module(py, "linecache");
    let found = linecache.and_then(|linecache| linecache.call_method1("getline", (file, line)));
    found.and_then(|line| line.extract()).unwrap_or_default()
}

/// Marks below the part of a line without its indentation. Columns count bytes.
fn carets(line: &str, (first, behind): (u32, u32)) -> Option<String> {
    let shown = |to: u32| line.get(..to as usize).map(|part| part.trim_start().chars().count());
    let (before, length) = (shown(first)?, line.get(first as usize..behind as usize)?.chars().count());
    Some(format!("{}{}", " ".repeat(before), "^".repeat(length)))
}

//! What `sot.explain` shows: graphs, breaks, guards and rewritten code of one call.

use crate::advice;
use crate::capture::Break;
use crate::serve::policy::Server;
use crate::serve::recording::{Recording, record};
use pyo3::prelude::*;
use std::fmt::Write;
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
    /// As the report shows it.
    text: String,
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
    #[pyo3(get)]
    graphs: Vec<Py<PyGraph>>,
    #[pyo3(get)]
    breaks: Vec<Py<PyBreak>>,
    #[pyo3(get)]
    guards: Vec<String>,
    /// Rewritten bytecode, one listing per function.
    #[pyo3(get)]
    code: String,
    /// The resume functions (`__resume_fn_k`) that run where a continuation is not captured, as bytecode.
    #[pyo3(get)]
    resume_functions: String,
    /// What the call returned.
    #[pyo3(get)]
    result: Py<PyAny>,
    /// Time spent capturing, in milliseconds; 0 if everything was cached.
    #[pyo3(get)]
    capture_ms: f64,
    text: String,
}

#[pymethods]
impl PyReport {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!(
            "<sot.Report: {} graphs, {} breaks, {} guards>",
            self.graphs.len(),
            self.breaks.len(),
            self.guards.len()
        )
    }
}

/// Run a call and report what served it.
pub fn explain<'py>(py: Python<'py>, call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> PyResult<PyReport> {
    let (result, recording) = record(call);
    build(py, &recording, result?)
}

fn build<'py>(py: Python<'py>, recording: &Recording, result: Bound<'py, PyAny>) -> PyResult<PyReport> {
    let mut graphs = Vec::new();
    let mut breaks = Vec::new();
    let mut guards = Vec::new();
    let mut code = String::new();
    let mut text = String::new();
    let mut resume_functions = String::new();
    let mut resumed: Vec<u32> = Vec::new();
    let mut capture_ns = 0;
    for entry in &recording.entries {
        let report = &entry.report;
        if entry.hits.load(std::sync::atomic::Ordering::Relaxed) == 0 {
            capture_ns += report.capture_ns;
        }
        if let Some(graph) = report.graph.as_ref().and_then(Weak::upgrade) {
            let sir = graph.sir.to_string();
            writeln!(text, "{sir}").ok();
            graphs.push(Py::new(
                py,
                PyGraph {
                    sir,
                    op_count: graph.op_count,
                    executor: match entry.trial.verdict() {
                        Some(Server::Original) => "original".to_owned(),
                        Some(Server::Captured) | None => format!("{:?}", graph.choice()).to_lowercase(),
                    },
                    replay_only: graph.replay_only().map(str::to_owned),
                    program: graph.backend_text(py),
                },
            )?);
        }
        for b in &report.breaks {
            let b = py_break(py, b);
            writeln!(text, "{}", b.text).ok();
            breaks.push(Py::new(py, b)?);
        }
        guards.extend(entry.ambient.describe());
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
    for why in &recording.refusals {
        writeln!(text, "not captured: {why}").ok();
        breaks.push(Py::new(
            py,
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
                text: format!("not captured: {why}"),
            },
        )?);
    }
    let header = format!("{} graphs, {} breaks, {} guards\n\n", graphs.len(), breaks.len(), guards.len());
    text.insert_str(0, &header);
    writeln!(text, "\nguards\n  {}", guards.join("\n  ")).ok();
    writeln!(text, "\nrewritten bytecode\n{code}").ok();
    Ok(PyReport {
        graphs,
        breaks,
        guards,
        code,
        resume_functions,
        result: result.unbind(),
        capture_ms: capture_ns as f64 / 1e6,
        text,
    })
}

fn py_break(py: Python<'_>, b: &Break) -> PyBreak {
    let cure = advice::of(b.why.reason).cure;
    let what = if b.fallback { "fallback" } else { "break" };
    let mut text = format!("{what} at {}:{} in {}(): {}", b.file, b.line, b.function, b.why);
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

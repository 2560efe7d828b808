//! What a capture writes to the log ([`crate::log`]), and the warnings that come unasked.

use super::cache::{CodeCache, Entry};
use super::misses::{self, Miss};
use crate::capture::{Break, Subject};
use crate::cpython::facts;
use crate::log::{self, Topics};
use crate::stop::Why;
use pyo3::prelude::*;
use std::fmt::Write;
use std::sync::Weak;
use std::time::Duration;

/// A capture that takes longer is a warning.
const LONG: Duration = Duration::from_secs(2);
/// Guards that the warning of a full cache names.
const NAMED: usize = 3;

/// What is captured, for people: `f (model.py:12)`; of a continuation, where it goes on.
pub(super) fn name_of(subject: &Subject<'_, '_>) -> String {
    let (name, file, line) = match subject {
        Subject::Function { function, .. } => {
            let code = facts::func_parts(function).map(|parts| parts.code.to_owned());
            let text = |name: &str| code.as_ref().and_then(|code| code.getattr(name).ok()?.extract::<String>().ok());
            let line = code.as_ref().and_then(|code| code.getattr("co_firstlineno").ok()?.extract::<u32>().ok());
            (text("co_name").unwrap_or_default(), text("co_filename").unwrap_or_default(), line.unwrap_or_default())
        }
        Subject::Continuation { shape, .. } => match shape.frames.last() {
            Some(frame) => {
                let unit = &frame.unit;
                (unit.code.name.clone(), unit.file.to_string(), unit.line(frame.ip))
            }
            None => return String::new(),
        },
    };
    let file = std::path::Path::new(&file).file_name().map_or(file.clone(), |name| name.to_string_lossy().into_owned());
    let behind = if let Subject::Continuation { .. } = subject { " behind a break" } else { "" };
    format!("{name} ({file}:{line}){behind}")
}

/// An entry was made. `missed`: what the call had failed of those before it.
pub(super) fn captured(py: Python<'_>, subject: &Subject<'_, '_>, entry: &Entry, missed: &[Miss]) {
    let report = &entry.report;
    let took = Duration::from_nanos(report.capture_ns);
    if let (Some(why), true) = (&report.fixed_extents, report.marked) {
        let name = name_of(subject);
        log::warning(py, &format!("sot has a capture of {name} for each extent that was said to vary: {why}"));
    }
    if took < LONG && !log::wants_any() {
        return;
    }
    let name = name_of(subject);
    let write = |topic: Topics, text: &dyn Fn() -> Vec<String>| {
        if log::wants(topic) {
            text().iter().for_each(|line| log::line(py, topic, line));
        }
    };
    write(Topics::RECOMPILES, &|| {
        let mut lines = misses::lines(&name, missed);
        let fixed = |why: &Why| format!("{name} has a capture for each extent of its tensors: {why}");
        lines.extend(report.fixed_extents.as_ref().map(fixed));
        lines
    });
    write(Topics::BREAKS, &|| {
        let text = |b: &Break| format!("{} in {} at {}:{}: {}", b.noun(), b.function, b.file, b.line, b.why);
        report.breaks.iter().map(text).collect()
    });
    write(Topics::GRAPHS, &|| match report.graph.as_ref().and_then(Weak::upgrade) {
        Some(graph) => vec![format!("{name}: a graph of {} operations", graph.op_count)],
        None => vec![format!("{name}: no graph")],
    });
    write(Topics::GUARDS, &|| report.guards.iter().map(|guard| format!("{name}: {guard}")).collect());
    write(Topics::CODE, &|| vec![format!("{name}: rewritten as\n{}", report.code)]);
    let time = || format!("{name}: captured in {:.2} ms, {} guards", took.as_secs_f64() * 1e3, report.guards.len());
    write(Topics::TIMING, &|| vec![time()]);
    if took >= LONG {
        let mut text = format!("sot took {:.1} s to capture {name}", took.as_secs_f64());
        if let Some(graph) = report.graph.as_ref().and_then(Weak::upgrade) {
            write!(text, " for a graph of {} operations", graph.op_count).ok();
        }
        write!(text, " and {} guards; later calls do not wait for it", report.guards.len()).ok();
        log::warning(py, &text);
    }
}

/// Nothing was captured.
pub(super) fn refused(py: Python<'_>, subject: &Subject<'_, '_>, why: &Why) {
    if log::wants(Topics::BREAKS) {
        log::line(py, Topics::BREAKS, &format!("{} runs as plain Python: {why}", name_of(subject)));
    }
}

/// Say it once, if nothing is captured here any more since the last capture.
pub(super) fn closed(py: Python<'_>, subject: &Subject<'_, '_>, cache: &CodeCache) {
    let Some(why) = cache.closed_now() else { return };
    let why = if why.detail.is_empty() { why.reason.code() } else { &*why.detail };
    let mut text = format!("sot captures {} no more, other calls run as plain Python: {why}.", name_of(subject));
    let missed = cache.missed_most();
    let most: Vec<String> =
        missed.iter().take(NAMED).map(|(subject, count)| format!("{subject} ({count} times)")).collect();
    if !most.is_empty() {
        write!(text, " Calls missed most often by: {}.", most.join("; ")).ok();
    }
    text.push_str(
        " Keep what these name the same from call to call, or split the function; SOT_LOG=recompiles has each miss",
    );
    log::warning(py, &text);
}

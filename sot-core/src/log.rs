//! What is written while programs run, if somebody asked for it: `SOT_LOG=breaks,recompiles` or `sot.set_logs("breaks")`.
//!
//! A topic is a logger of Python's `logging`, `sot.<topic>`; what is on is written at level INFO, one line for each thing but for `code`,
//! whose records are listings. Where the program has set up no handler by then, it goes to stderr. By default nothing is written but what is
//! a warning: a capture that took long, a function that is not captured any more.
//!
//! Lines are written between frames: after a capture, never in the middle of one. What a handler raises is not the program's to see.

use crate::cpython::{module, signals, warn, without_hook};
use bitflags::bitflags;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicU32, Ordering};

bitflags! {
    /// What can be asked for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Topics: u32 {
        /// Each graph break and fallback, where it is found.
        const BREAKS = 1;
        /// Why a call was captured again: the guard that it failed of each entry.
        const RECOMPILES = 2;
        /// The guards of each capture.
        const GUARDS = 4;
        /// The graph of each capture.
        const GRAPHS = 8;
        /// The rewritten bytecode.
        const CODE = 16;
        /// How long each capture took.
        const TIMING = 32;
    }
}

/// Which are on.
static ON: AtomicU32 = AtomicU32::new(0);

/// Whether a topic is on.
#[inline]
pub fn wants(topic: Topics) -> bool {
    ON.load(Ordering::Relaxed) & topic.bits() != 0
}

/// Whether any is.
#[inline]
pub fn wants_any() -> bool {
    ON.load(Ordering::Relaxed) != 0
}

fn name_of(topic: Topics) -> String {
    topic.iter_names().map(|(name, _)| name.to_lowercase()).collect::<Vec<_>>().join(", ")
}

/// The topics of a text as in `SOT_LOG`: names with commas between them, `all`, or nothing. An error: a name that is none.
fn parsed(text: &str) -> Result<Topics, String> {
    let mut topics = Topics::empty();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        topics |= match Topics::from_name(&name.to_uppercase()) {
            Some(topic) => topic,
            None if name.eq_ignore_ascii_case("all") => Topics::all(),
            None => return Err(format!("{name:?} is no topic of the log. There are: {}, all", name_of(Topics::all()))),
        };
    }
    Ok(topics)
}

/// Topics whose loggers have their level from here.
static LEVELLED: AtomicU32 = AtomicU32::new(0);

/// Switch these on, and all others off. A level that the program has given a logger stays.
fn switch(py: Python<'_>, topics: Topics) -> PyResult<()> {
    let logging = module(py, "logging")?;
    let info = logging.getattr(intern!(py, "INFO"))?;
    let unset = logging.getattr(intern!(py, "NOTSET"))?;
    let mut levelled = Topics::from_bits_truncate(LEVELLED.load(Ordering::Relaxed));
    for (name, topic) in Topics::all().iter_names() {
        let logger = logging.call_method1(intern!(py, "getLogger"), (format!("sot.{}", name.to_lowercase()),))?;
        let level = logger.getattr(intern!(py, "level"))?;
        if topics.contains(topic) && level.eq(&unset)? {
            logger.call_method1(intern!(py, "setLevel"), (&info,))?;
            levelled |= topic;
        } else if !topics.contains(topic) && levelled.contains(topic) {
            levelled -= topic;
            if level.eq(&info)? {
                logger.call_method1(intern!(py, "setLevel"), (&unset,))?;
            }
        }
    }
    LEVELLED.store(levelled.bits(), Ordering::Relaxed);
    ON.store(topics.bits(), Ordering::Relaxed);
    Ok(())
}

/// Write a line on a topic that is on.
pub fn line(py: Python<'_>, topic: Topics, text: &str) {
    write(py, &format!("sot.{}", name_of(topic)), "info", text);
}

/// Write what is to be seen without being asked for.
pub fn warning(py: Python<'_>, text: &str) {
    write(py, "sot", "warning", text);
}

/// Write what must not be overlooked, to this logger.
pub fn error(py: Python<'_>, name: &str, text: &str) {
    write(py, name, "error", text);
}

fn write(py: Python<'_>, name: &str, level: &str, text: &str) {
    let pending = PyErr::take(py);
    // A signal that arrives meanwhile is the program's, as is what is no `Exception`.
    let written = signals::deferring(py, || without_hook(py, || write_now(py, name, level, text)));
    if let Some(Err(error)) = written
        && !error.is_instance_of::<PyException>(py)
    {
        signals::raise_soon(error);
    }
    if let Some(pending) = pending {
        pending.restore(py);
    }
}

/// To the handlers that the program has set up by now; where there are none to stderr, as it is now.
fn write_now(py: Python<'_>, name: &str, level: &str, text: &str) -> PyResult<()> {
    let logger = module(py, "logging")?.call_method1(intern!(py, "getLogger"), (name,))?;
    if logger.call_method0(intern!(py, "hasHandlers"))?.is_truthy()? {
        logger.call_method1(level, ("%s", text))?;
        return Ok(());
    }
    let number = module(py, "logging")?.getattr(level.to_uppercase())?;
    let stderr = module(py, "sys")?.getattr(intern!(py, "stderr"))?;
    if !stderr.is_none() && logger.call_method1(intern!(py, "isEnabledFor"), (number,))?.is_truthy()? {
        stderr.call_method1(intern!(py, "write"), (format!("{name}: {text}\n"),))?;
    }
    Ok(())
}

/// Write about these things from now on, and about nothing else; without arguments about nothing.
///
/// Topics: `breaks` (each graph break and fallback), `recompiles` (why a call was captured again), `guards`, `graphs`, `code`
/// (the rewritten bytecode), `timing`; `all`. Each is a logger of Python's `logging` named `sot.<topic>`, written to at level INFO;
/// if the program has not set up logging, lines go to stderr. The environment variable `SOT_LOG` says the same, with commas.
#[pyfunction]
#[pyo3(signature = (*topics))]
fn set_logs(py: Python<'_>, topics: &Bound<'_, PyTuple>) -> PyResult<()> {
    let here = crate::backend::function_name("set_logs");
    let mut wanted = Topics::empty();
    for topic in topics {
        let text: String = topic.extract().map_err(|_| {
            let class = topic.get_type();
            PyTypeError::new_err(format!(
                "{here}: topics are texts, as in {here}(\"breaks\", \"recompiles\"), not {}",
                crate::cpython::facts::name_in_messages(&class)
            ))
        })?;
        wanted |= parsed(&text).map_err(|why| PyValueError::new_err(format!("{here}: {why}")))?;
    }
    switch(py, wanted)
}

/// Add `set_logs` to a module, and do what the environment says.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_logs, module)?)?;
    let Some(asked) = std::env::var_os("SOT_LOG") else { return Ok(()) };
    let py = module.py();
    match parsed(&asked.to_string_lossy()) {
        Ok(topics) if topics.is_empty() => {}
        Ok(topics) => switch(py, topics)?,
        Err(why) => warn(py, &format!("SOT_LOG: {why}. Nothing is logged"), None),
    }
    Ok(())
}

/// `SOT_LOG` may name a topic twice, or nothing.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_read_from_text() {
        assert_eq!(parsed(""), Ok(Topics::empty()));
        assert_eq!(parsed("breaks"), Ok(Topics::BREAKS));
        assert_eq!(parsed(" Breaks , recompiles,breaks,"), Ok(Topics::BREAKS | Topics::RECOMPILES));
        assert_eq!(parsed("all"), Ok(Topics::all()));
        let refused = parsed("brakes").expect_err("no topic");
        assert_eq!(
            refused,
            "\"brakes\" is no topic of the log. There are: breaks, recompiles, guards, graphs, code, timing, all"
        );
    }

    #[test]
    fn each_topic_has_a_name() {
        let names: Vec<String> = Topics::all().iter().map(name_of).collect();
        assert_eq!(names, ["breaks", "recompiles", "guards", "graphs", "code", "timing"]);
    }
}

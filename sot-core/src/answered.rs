//! What is done with real sets once code of the program has been asked for hashes, and whether members are equal.
//!
//! It is done by answerers in copies of the tables: they give the answers that are known, in their order, and ask the program for
//! those that are not. Nobody sees a set between its states.

use crate::cpython::{facts, module};
use crate::type_facts;
use hashbrown::HashMap;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// Answers that are known.
#[derive(Default)]
struct Log {
    answers: Mutex<VecDeque<i64>>,
    /// Tables are being copied: nobody is asked.
    copying: AtomicBool,
    /// The question that comes behind them ends it.
    cut: bool,
}

impl Log {
    fn next(&self) -> PyResult<Option<i64>> {
        let answer = self.answers.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?.pop_front();
        match answer {
            None if self.cut => Err(PyRuntimeError::new_err("sot: cut short")),
            answer => Ok(answer),
        }
    }
}

#[pyclass(frozen, module = "sot._sot", name = "_Answering")]
struct Answerer {
    object: Py<PyAny>,
    /// As far as it is known.
    hash: AtomicIsize,
    asked: bool,
    log: Arc<Log>,
}

#[pymethods]
impl Answerer {
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        if self.log.copying.load(Ordering::Relaxed) {
            return Ok(self.hash.load(Ordering::Relaxed));
        }
        match if self.asked { self.log.next()? } else { None } {
            Some(hash) => Ok(hash as isize),
            None => self.object.bind(py).hash(),
        }
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast_exact::<Answerer>() else { return Ok(false) };
        let other = other.get();
        if self.object.is(&other.object) {
            return Ok(true);
        }
        if self.log.copying.load(Ordering::Relaxed) {
            return Ok(false);
        }
        match if self.asked || other.asked { self.log.next()? } else { None } {
            Some(answer) => Ok(answer != 0),
            None => self.object.bind(py).eq(&other.object),
        }
    }
}

/// The answerers of one operation, by the objects that they stand in for.
struct Answerers<'py> {
    log: Arc<Log>,
    by_address: HashMap<usize, Bound<'py, Answerer>>,
    /// Copies of sets, beside what they are copies of.
    copies: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

fn is_set(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PySet>() || object.is_exact_instance_of::<PyFrozenSet>()
}

impl<'py> Answerers<'py> {
    fn of(&mut self, object: &Bound<'py, PyAny>, stored: Option<isize>) -> PyResult<Bound<'py, Answerer>> {
        if let Some(known) = self.by_address.get(&(object.as_ptr() as usize)) {
            if let Some(hash) = stored {
                known.get().hash.store(hash, Ordering::Relaxed);
            }
            return Ok(known.clone());
        }
        let (hash, asked) = (AtomicIsize::new(stored.unwrap_or(0)), !type_facts::is_quiet_key(object));
        let answerer = Answerer { object: object.clone().unbind(), hash, asked, log: self.log.clone() };
        let answerer = Bound::new(object.py(), answerer)?;
        self.by_address.insert(object.as_ptr() as usize, answerer.clone());
        Ok(answerer)
    }

    /// What stands in for an operand.
    fn operand(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        if let Some((_, copy)) = self.copies.iter().find(|(of, _)| of.is(object)) {
            return Ok(copy.clone());
        }
        if is_set(object) {
            let table = facts::set_table(object).ok_or_else(|| PyTypeError::new_err("sot: a set"))?;
            let mut members = Vec::with_capacity(table.entries.len());
            for entry in &table.entries {
                members.push((entry.place, self.of(&entry.key, Some(entry.hash))?.into_any(), entry.hash));
            }
            let copy = facts::set_with_table(py, &members, &table.lost, table.mask, table.finger)?;
            let copy = copy.ok_or_else(|| PyRuntimeError::new_err("sot: the table of a set"))?.into_any();
            self.copies.push((object.clone(), copy.clone()));
            return Ok(copy);
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            return Ok(self.keys(dict)?.into_any());
        }
        if object.is_instance_of::<PyDictKeys>() {
            // It tells its dict only since 3.10.
            let held = module(py, "gc")?.call_method1("get_referents", (object,))?;
            return self.keys(held.get_item(0)?.cast::<PyDict>()?)?.call_method0("keys");
        }
        let mut items = Vec::new();
        for item in object.try_iter()? {
            items.push(self.of(&item?, None)?);
        }
        Ok(PyTuple::new(py, items)?.into_any())
    }

    fn keys(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let hashes = facts::stored_hashes(dict).ok_or_else(|| PyTypeError::new_err("sot: a dict"))?;
        let copy = PyDict::new(dict.py());
        for ((key, _), hash) in dict.iter().zip(hashes) {
            copy.set_item(self.of(&key, Some(hash as isize))?, dict.py().None())?;
        }
        Ok(copy)
    }

    /// The objects are in their places again.
    fn settle(&self, set: &Bound<'py, PyAny>) {
        facts::exchange_members(set, |member| {
            let answerer = member.cast_exact::<Answerer>().ok()?;
            Some(answerer.get().object.bind(member.py()).clone())
        });
    }
}

/// Do this with these operands. `cut`: until a question comes that has no answer.
pub(crate) fn do_with_answers<'py>(
    py: Python<'py>,
    what: &str,
    operands: &[Bound<'py, PyAny>],
    answers: Vec<i64>,
    cut: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if let ("frozenset", [only]) = (what, operands)
        && only.is_exact_instance_of::<PyFrozenSet>()
    {
        return Ok(only.clone());
    }
    let log = Arc::new(Log { answers: Mutex::new(answers.into()), copying: AtomicBool::new(true), cut });
    let mut answerers = Answerers { log: log.clone(), by_address: HashMap::new(), copies: Vec::new() };
    let taken = operands.iter().map(|operand| answerers.operand(operand)).collect::<PyResult<Vec<_>>>()?;
    log.copying.store(false, Ordering::Relaxed);
    let done = run(py, what, &taken);
    if let (Some(set), Some(changed)) = (operands.first(), taken.first())
        && changes(what)
    {
        // What it has lost goes with the old table.
        answerers.settle(changed);
        facts::exchange_tables(set, changed);
        return match done {
            Err(_) if cut => Ok(py.None().into_bound(py)),
            Ok(made) if made.is(changed) => Ok(set.clone()),
            done => done,
        };
    }
    let made = done?;
    if !is_set(&made) {
        return Ok(made);
    }
    answerers.settle(&made);
    let frozen = match what {
        "set" => false,
        "frozenset" => true,
        _ => operands.first().is_some_and(|first| first.is_exact_instance_of::<PyFrozenSet>()),
    };
    if !frozen {
        return Ok(made);
    }
    let frozen = facts::new_frozen_set(py)?;
    facts::exchange_tables(&frozen, &made);
    Ok(frozen)
}

/// Whether it changes its first operand.
fn changes(what: &str) -> bool {
    what.ends_with("update") || IN_PLACE.iter().any(|(operator, method)| what == *operator || what == *method)
}

const IN_PLACE: &[(&str, &str)] = &[("|=", "__ior__"), ("&=", "__iand__"), ("^=", "__ixor__"), ("-=", "__isub__")];

fn run<'py>(py: Python<'py>, what: &str, taken: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    if let "set" | "frozenset" = what {
        return py.get_type::<PySet>().call1(PyTuple::new(py, taken)?);
    }
    let (Some(first), second) = (taken.first(), taken.get(1)) else {
        return Err(PyTypeError::new_err("sot: no operand"));
    };
    match (what, second) {
        ("|", Some(second)) => first.bitor(second),
        ("&", Some(second)) => first.bitand(second),
        ("^", Some(second)) => first.bitxor(second),
        ("-", Some(second)) => first.sub(second),
        ("==", Some(second)) => first.rich_compare(second, CompareOp::Eq),
        ("!=", Some(second)) => first.rich_compare(second, CompareOp::Ne),
        ("<", Some(second)) => first.rich_compare(second, CompareOp::Lt),
        ("<=", Some(second)) => first.rich_compare(second, CompareOp::Le),
        (">", Some(second)) => first.rich_compare(second, CompareOp::Gt),
        (">=", Some(second)) => first.rich_compare(second, CompareOp::Ge),
        _ => {
            let method = IN_PLACE.iter().find(|(operator, _)| *operator == what).map_or(what, |(_, method)| method);
            first.call_method1(method, PyTuple::new(py, &taken[1..])?)
        }
    }
}

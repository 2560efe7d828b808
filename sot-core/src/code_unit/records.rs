//! What is known of code objects and functions, by weak keys.
//!
//! Nothing here keeps anything alive: a record goes with its object.
//! The death of a code object comes back here ([`crate::engine`]).

use super::UnitData;
use crate::cpython::facts;
use crate::engine::registries;
use crate::weak_keys::{Keeper, WeakKeyed};
use pyo3::prelude::*;
use pyo3::types::PyCode;
use std::sync::Arc;

/// What the program promises of a code object, and wants to be told if it is not so.
#[derive(Clone, Copy, Default)]
pub struct Promises {
    pub no_break: bool,
    pub no_fallback: bool,
}

impl Promises {
    pub fn join(self, other: Promises) -> Promises {
        Promises { no_break: self.no_break || other.no_break, no_fallback: self.no_fallback || other.no_fallback }
    }
}

/// What is known of a code object or function.
#[derive(Default)]
struct Record {
    promises: Promises,
    /// Rewritten code and resume functions: never captured.
    generated: bool,
    /// `sot.disable`.
    disabled: bool,
    /// Whether its file is one of those that are never captured, once that was asked.
    library: Option<bool>,
    unit: Option<Arc<UnitData>>,
}

registries! {
    TABLE: WeakKeyed<Record> = "code objects and functions";
}

static RECORDS: Keeper<Record> = Keeper::of(&TABLE);

/// Change the record of a code object or function, which is made if there is none.
fn change(object: &Bound<'_, PyAny>, change: impl FnOnce(&mut Record)) {
    RECORDS.change(object, change);
}

/// What is known of a code object or function; the default if nothing is.
fn known<R>(object: &Bound<'_, PyAny>, read: impl FnOnce(&Record) -> R) -> Option<R> {
    TABLE.lock().get(object).map(read)
}

/// Rewritten code: the hook never captures its frames.
pub fn never_capture(code: &Bound<'_, PyCode>) {
    change(code.as_any(), |record| record.generated = true);
}

/// Never capture or inline this function.
pub fn disable(function: &Bound<'_, PyAny>) {
    change(function, |record| record.disabled = true);
    // Where only the code is at hand, it answers for the function.
    if let Some(parts) = facts::func_parts(function) {
        change(&parts.code, |record| record.disabled = true);
    }
}

/// The program promises something of this code.
pub fn promise(code: &Bound<'_, PyAny>, promises: Promises) {
    change(code, |record| record.promises = record.promises.join(promises));
}

pub fn promises(code: &Bound<'_, PyAny>) -> Promises {
    known(code, |record| record.promises).unwrap_or_default()
}

pub fn is_disabled(object: &Bound<'_, PyAny>) -> bool {
    known(object, |record| record.disabled).unwrap_or(false)
}

/// Whether the hook may capture frames of this code. `library`: whether its file is one that is never captured.
pub fn may_capture(code: &Bound<'_, PyCode>, library: impl FnOnce() -> bool) -> bool {
    let found = known(code.as_any(), |record| (record.generated, record.library));
    match found {
        Some((true, _)) => false,
        Some((false, Some(library))) => !library,
        Some((false, None)) | None => {
            let library = library();
            change(code.as_any(), |record| record.library = Some(library));
            !library
        }
    }
}

/// The decoded form of a code object, if it was decoded.
pub fn unit(code: &Bound<'_, PyAny>) -> Option<Arc<UnitData>> {
    known(code, |record| record.unit.clone()).flatten()
}

pub fn set_unit(code: &Bound<'_, PyAny>, unit: &Arc<UnitData>) {
    change(code, |record| record.unit = Some(unit.clone()));
}

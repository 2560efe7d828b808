//! What the traits of a backend do where a framework leaves it to them.

use super::{AmbientCheck, Backend, Kind, TensorCheck, TensorMeta, registered};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// An ambient state that does not matter.
struct Always;

impl AmbientCheck for Always {
    fn matches(&self, _py: Python<'_>) -> bool {
        true
    }

    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The ambient state of a framework without one.
pub fn nothing_ambient() -> Arc<dyn AmbientCheck> {
    static ONE: OnceLock<Arc<dyn AmbientCheck>> = OnceLock::new();
    ONE.get_or_init(|| Arc::new(Always)).clone()
}

/// The check of a tensor by its exact class and its meta data. A framework that can ask faster does.
pub(super) struct SameMeta {
    class: Py<PyType>,
    meta: TensorMeta,
}

impl SameMeta {
    pub(super) fn new(backend: &(impl Backend + ?Sized), tensor: &Bound<'_, PyAny>) -> PyResult<SameMeta> {
        Ok(SameMeta { class: tensor.get_type().unbind(), meta: backend.tensor_meta(tensor)? })
    }
}

impl TensorCheck for SameMeta {
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool {
        tensor.get_type().is(&self.class)
            && registered().is_some_and(|backend| backend.tensor_meta(&tensor).is_ok_and(|meta| meta == self.meta))
    }
}

/// By what compiled outputs differ from those of eager execution, as far as the backend tells of tensors.
pub(super) fn difference<'py>(compiled: &[Bound<'py, PyAny>], eager: &[Bound<'py, PyAny>]) -> PyResult<Option<String>> {
    for (at, (ours, theirs)) in compiled.iter().zip(eager).enumerate() {
        if let Some(part) = differs(ours, theirs, 0)? {
            return Ok(Some(format!("output {at}: {part}")));
        }
    }
    Ok(None)
}

/// A tensor may be a part of another one, and so on (the gradient of a gradient).
const MOST_BELOW: usize = 8;

fn differs<'py>(ours: &Bound<'py, PyAny>, theirs: &Bound<'py, PyAny>, depth: usize) -> PyResult<Option<String>> {
    if ours.is(theirs) {
        return Ok(None);
    }
    if !ours.get_type().is(theirs.get_type()) {
        return Ok(Some("its class".to_owned()));
    }
    let backend = registered().ok_or_else(super::none_registered)?;
    let (Some(ours), Some(theirs)) = (backend.told_of(ours)?, backend.told_of(theirs)?) else {
        return Ok(Some("nothing is told of it (Backend::told_of)".to_owned()));
    };
    if ours.len() != theirs.len() {
        return Ok(Some("what is told of it".to_owned()));
    }
    for ((name, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        let below = backend.classify(ours) == Kind::Tensor && depth < MOST_BELOW;
        let same = match below {
            true => differs(ours, theirs, depth + 1)?.is_none(),
            false => ours.get_type().is(theirs.get_type()) && ours.eq(theirs)?,
        };
        if name != other || !same {
            return Ok(Some((*name).to_owned()));
        }
    }
    Ok(None)
}

/// What objects are that the framework has made once and keeps (its functions), by identity: those of a program are never mistaken
/// for them.
#[derive(Default)]
pub struct Known {
    by_address: HashMap<usize, (Py<PyAny>, Kind)>,
}

impl Known {
    /// What is in a module under these names.
    pub fn of<'a>(module: &Bound<'_, PyModule>, named: impl IntoIterator<Item = (&'a str, Kind)>) -> PyResult<Known> {
        let mut known = Known::default();
        for (name, kind) in named {
            known.add(&module.getattr(name)?, kind);
        }
        Ok(known)
    }

    /// An object is of this kind.
    pub fn add(&mut self, object: &Bound<'_, PyAny>, kind: Kind) {
        self.by_address.insert(object.as_ptr() as usize, (object.clone().unbind(), kind));
    }

    /// What an object is, [`Kind::Unknown`] by default.
    pub fn kind(&self, object: &Bound<'_, PyAny>) -> Kind {
        self.by_address.get(&(object.as_ptr() as usize)).map_or(Kind::Unknown, |(_, kind)| kind.clone())
    }
}

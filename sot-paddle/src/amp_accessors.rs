//! Who reads and writes the state of amp in the tracer: functions of C, known by identity; and the modes that this is.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sot_core::backend::{Kind, Mode};

/// `core.AmpLevel`
pub(crate) const LEVEL: Mode = 1;
/// The name of the type that is cast to.
pub(crate) const DTYPE: Mode = 2;
/// Whether an operation with one operand in full precision has them all so, at level O2.
pub(crate) const PROMOTE: Mode = 3;
/// Operations that are cast and operations that are not, as one text (`amp::lists_as_text`).
pub(crate) const LISTS: Mode = 4;

/// What reads and writes the modes, as the tracer's class has them.
pub(crate) struct Accessors {
    /// Properties: mode, getter, setter.
    properties: [(Mode, Py<PyAny>, Py<PyAny>); 3],
    /// `_get_amp_op_list`, `_set_amp_op_list`
    lists: (Py<PyAny>, Py<PyAny>),
    /// The getter of `_expected_place`.
    pub(crate) place: Py<PyAny>,
    /// `core.AmpLevel.__members__`: values of the level, each one object.
    levels: Vec<Py<PyAny>>,
}

impl Accessors {
    pub(crate) fn find(core: &Bound<'_, PyModule>) -> PyResult<Accessors> {
        let own = core.getattr("Tracer")?.getattr("__dict__")?;
        let property = |mode: Mode, name: &str| -> PyResult<_> {
            let property = own.get_item(name)?;
            Ok((mode, property.getattr("fget")?.unbind(), property.getattr("fset")?.unbind()))
        };
        let method = |name: &str| own.get_item(name)?.getattr("__func__").map(Bound::unbind);
        let members = core.getattr("AmpLevel")?.getattr("__members__")?.call_method0("values")?;
        Ok(Accessors {
            properties: [
                property(LEVEL, "_amp_level")?,
                property(DTYPE, "_amp_dtype")?,
                property(PROMOTE, "_use_promote")?,
            ],
            lists: (method("_get_amp_op_list")?, method("_set_amp_op_list")?),
            place: property(LEVEL, "_expected_place")?.1,
            levels: members.try_iter()?.map(|member| Ok(member?.unbind())).collect::<PyResult<_>>()?,
        })
    }

    /// What a function of C is, if it is one of them.
    pub(crate) fn kind_of(&self, function: &Bound<'_, PyAny>) -> Option<Kind> {
        match self.read_by(function).is_some() || function.is(&self.place) {
            true => Some(Kind::Foldable),
            false => self.written_by(function).map(|_| Kind::Switch),
        }
    }

    pub(crate) fn read_by(&self, function: &Bound<'_, PyAny>) -> Option<Mode> {
        let property = self.properties.iter().find(|(_, getter, _)| function.is(getter)).map(|(mode, ..)| *mode);
        property.or_else(|| function.is(&self.lists.0).then_some(LISTS))
    }

    pub(crate) fn written_by(&self, function: &Bound<'_, PyAny>) -> Option<Mode> {
        let property = self.properties.iter().find(|(.., setter)| function.is(setter)).map(|(mode, ..)| *mode);
        property.or_else(|| function.is(&self.lists.1).then_some(LISTS))
    }

    /// The member of the enumeration that a level is equal to: each read gives a new object.
    pub(crate) fn level<'py>(&self, level: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        for member in &self.levels {
            let member = member.bind(level.py());
            if level.get_type().is(member.get_type()) && level.eq(member)? {
                return Ok(member.clone());
            }
        }
        Err(PyValueError::new_err("a level of amp that is none of Paddle's"))
    }
}

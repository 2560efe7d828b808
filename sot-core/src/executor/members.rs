//! What stands in for values where their hash and equality decide: members of sets, keys.

use super::Executor;
use crate::cpython::facts;
use crate::probe;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// Stands in for a value of the simulation in sets and as a key. The program never meets it.
#[pyclass(frozen, module = "sot._sot", name = "_Member")]
pub(super) struct Member {
    var: VarId,
    hash: isize,
    /// The hash is that of the value.
    known: bool,
    value: Value,
}

/// What a member is equal to.
enum Value {
    /// What equals this.
    Equal(Py<PyAny>),
    /// The object at this address.
    Object(usize),
    /// Itself.
    Alone,
}

#[pymethods]
impl Member {
    fn __hash__(&self) -> isize {
        self.hash
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast_exact::<Member>() else { return Ok(false) };
        let other = other.get();
        Ok(match (&self.value, &other.value) {
            _ if self.var == other.var => true,
            (Value::Equal(a), Value::Equal(b)) => a.is(b) || a.bind(py).eq(b)?,
            (Value::Object(a), Value::Object(b)) => a == b,
            _ => false,
        })
    }
}

impl Member {
    pub(super) fn var(&self) -> VarId {
        self.var
    }

    /// Whether the hash is that of the value.
    pub(super) fn known(&self) -> bool {
        self.known
    }

    pub(super) fn equal_to<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match &self.value {
            Value::Equal(value) => Some(value.bind(py).clone()),
            Value::Object(_) | Value::Alone => None,
        }
    }
}

impl<'py> Executor<'py> {
    /// What stands in for a value that is a member of a set, or a key.
    pub(super) fn member(&mut self, var: VarId) -> Result<Bound<'py, Member>, Stop> {
        if let Some(known) = self.shadows.members.get(&var) {
            return Ok(known.bind(self.py).clone());
        }
        let member = self.nested(|ex| ex.new_member(var))?;
        let by_identity = !matches!(member.value, Value::Equal(_));
        let same = if by_identity { self.same_identity(var) } else { None };
        let member = match same {
            Some(same) => same,
            None => Bound::new(self.py, member).map_err(|e| self.internal(&e))?,
        };
        self.shadows.members.insert(var, member.clone().unbind());
        Ok(member)
    }

    fn new_member(&mut self, var: VarId) -> Result<Member, Stop> {
        let kind = self.look(var)?;
        match &kind {
            VarKind::Constant(_) => {
                let value = self.constant_value(var).expect("a constant");
                let hash = value.hash().map_err(|e| self.would_raise(&e))?;
                if !value.eq(&value).unwrap_or(false) {
                    return Err(Stop::brk(Reason::OpaqueValue, "a NaN as a member of a set"));
                }
                Ok(Member { var, hash, known: true, value: Value::Equal(value.unbind()) })
            }
            VarKind::Tuple(TupleVar { items, class: None }) => {
                let (mut values, mut known) = (Vec::with_capacity(items.len()), true);
                for item in items.iter() {
                    let item = self.member(*item)?;
                    known &= item.get().known;
                    values.push(match &item.get().value {
                        Value::Equal(value) => value.bind(self.py).clone(),
                        Value::Object(_) | Value::Alone => item.into_any(),
                    });
                }
                let value = PyTuple::new(self.py, values).map_err(|e| self.internal(&e))?;
                let hash = value.hash().map_err(|e| self.would_raise(&e))?;
                Ok(Member { var, hash, known, value: Value::Equal(value.into_any().unbind()) })
            }
            VarKind::Set(set) if set.frozen => {
                let value = self.require_plain(var)?;
                let hash = value.hash().map_err(|e| self.internal(&e))?;
                Ok(Member { var, hash, known: true, value: Value::Equal(value.unbind()) })
            }
            VarKind::Builtin(_) => {
                let value = self.pinned(&kind).expect("a builtin is pinned");
                let hash = value.hash().map_err(|e| self.internal(&e))?;
                Ok(Member { var, hash, known: true, value: Value::Equal(value.unbind()) })
            }
            VarKind::Function(_)
            | VarKind::Module(_)
            | VarKind::Class(_)
            | VarKind::Layer(_)
            | VarKind::Instance(_) => {
                let class = self.class_of(var)?;
                let class = class.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                if !self.compares_by_identity(&class)? {
                    return Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a member of a set"));
                }
                let pinned = match &kind {
                    VarKind::Instance(instance) if !instance.pinned => None,
                    _ => self.known_object(var).filter(|_| self.pinned(&kind).is_some()),
                };
                let address = pinned.map(|object| self.objects.get_ref(self.py, object).as_ptr() as usize);
                let value = address.map_or(Value::Alone, Value::Object);
                if probe::raw(&class, "__hash__").is_some_and(|hash| facts::is_function(&hash)) {
                    // `enum.Enum.__hash__` hashes the name.
                    let name = self.getattr(var, "_name_")?;
                    let hash = self.member(name)?.get().hash;
                    return Ok(Member { var, hash, known: true, value });
                }
                match pinned {
                    Some(object) => {
                        let by_address = self.py.get_type::<PyAny>().getattr("__hash__");
                        let object = self.objects.get(self.py, object);
                        let hash = by_address.and_then(|hash| hash.call1((object,))?.extract());
                        let hash = hash.map_err(|e: PyErr| self.internal(&e))?;
                        Ok(Member { var, hash, known: true, value })
                    }
                    None => Ok(Member { var, hash: var.0 as isize, known: false, value }),
                }
            }
            VarKind::Tensor(_) if self.backend.tensors_hash_by_identity(self.py) => {
                let class = self.class_of(var)?;
                self.class_lookup(&class, "__hash__")?;
                Ok(Member { var, hash: var.0 as isize, known: false, value: Value::Alone })
            }
            VarKind::List(ListVar { class: None, .. })
            | VarKind::Dict(DictVar { class: None, .. })
            | VarKind::Set(_) => {
                let class = self.class_of(var)?;
                let name = super::compared::class_name(&class);
                Err(Stop::brk(Reason::WouldRaise, format!("unhashable type: '{name}'")))
            }
            other => Err(Stop::brk(Reason::ValueKind, format!("{} as a member of a set", other.kind_name()))),
        }
    }

    /// Members that are compared by identity are one object or different ones: so they must be at the next call. What stands in
    /// for an object that has another name already.
    fn same_identity(&mut self, var: VarId) -> Option<Bound<'py, Member>> {
        let object = self.known_object(var)?;
        if let Some(other) = self.shadows.identities.get(&object).copied() {
            self.same_sourced_object(var, other);
            return Some(self.shadows.members[&other].bind(self.py).clone());
        }
        self.shadows.identities.insert(object, var);
        let tracker = self.var(var).tracker;
        if self.has_path(tracker) {
            // The guards are left for all of them at once.
            self.by_identity.push((tracker, object));
        }
        None
    }
}

/// The variable that a member stands for.
pub(super) fn var_of(key: &Bound<'_, PyAny>) -> Option<VarId> {
    key.cast_exact::<Member>().ok().map(|member| member.get().var)
}

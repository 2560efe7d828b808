//! What stands in for values where their hash and equality decide: members of sets, keys.
//!
//! A value that code of the program hashes and compares is *asked*: what stands in for it has the hash that it was stored with, and
//! whether it equals another one is told by whoever has the real sets do something ([`while_asking`]).

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use std::cell::RefCell;
use std::rc::Rc;

/// What becomes of questions that code of the program answers.
pub(super) enum Asking {
    /// They are refused.
    Refused,
    /// Nothing equals anything else.
    Unequal,
    /// These are the answers to the first of them, in their order.
    Answered(Rc<[i64]>),
    /// As `Answered`; the next one ends it.
    Cut(Rc<[i64]>),
}

/// What code of the program is asked.
#[derive(Clone, Copy)]
pub(super) enum Question {
    Hash(VarId),
    Equal(VarId, VarId),
}

struct Asked {
    asking: Asking,
    answered: usize,
    /// What nobody has answered.
    open: Option<Question>,
    /// Who was asked for a hash, and what that was.
    hashes: Vec<(VarId, isize)>,
}

impl Asked {
    const NOTHING: Asked = Asked { asking: Asking::Refused, answered: 0, open: None, hashes: Vec::new() };

    fn answer(&mut self, question: Question) -> PyResult<i64> {
        let answer = match &self.asking {
            Asking::Unequal if matches!(question, Question::Equal(..)) => Some(0),
            Asking::Answered(answers) | Asking::Cut(answers) => answers.get(self.answered).copied(),
            Asking::Unequal | Asking::Refused => None,
        };
        self.answered += 1;
        match answer {
            Some(answer) => {
                if let Question::Hash(var) = question {
                    self.hashes.push((var, answer as isize));
                }
                Ok(answer)
            }
            None => {
                let cut = matches!(self.asking, Asking::Cut(_));
                self.open = self.open.or(Some(question).filter(|_| !cut));
                Err(pyo3::exceptions::PyRuntimeError::new_err("sot: a question that nobody has answered"))
            }
        }
    }
}

thread_local! {
    static ASKED: RefCell<Asked> = const { RefCell::new(Asked::NOTHING) };
}

/// What came of doing something with sets of members.
pub(super) enum Came<T> {
    To(T),
    /// This has to be answered first.
    Question(Question),
}

/// Who was asked for a hash, and what that was.
pub(super) type AskedHashes = Vec<(VarId, isize)>;

/// Do something with sets of members. Beside what comes of it: who was asked for a hash.
pub(super) fn while_asking<T>(asking: Asking, run: impl FnOnce() -> PyResult<T>) -> PyResult<(Came<T>, AskedHashes)> {
    let before = ASKED.replace(Asked { asking, ..Asked::NOTHING });
    let came = run();
    let asked = ASKED.replace(before);
    match (came, asked.open) {
        (_, Some(question)) => Ok((Came::Question(question), asked.hashes)),
        (came, None) => came.map(|came| (Came::To(came), asked.hashes)),
    }
}

/// Stands in for a value of the simulation in sets and as a key. The program never meets it.
#[pyclass(frozen, module = "sot._sot", name = "_Member")]
pub(super) struct Member {
    var: VarId,
    hash: isize,
    /// The hash is that of the value.
    known: bool,
    /// Code of the program hashes and compares it.
    asked: bool,
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
    fn __hash__(&self) -> PyResult<isize> {
        let answered = |asked: &mut Asked| match asked.asking {
            Asking::Answered(_) | Asking::Cut(_) => asked.answer(Question::Hash(self.var)).map(|hash| hash as isize),
            Asking::Refused | Asking::Unequal => Ok(self.hash),
        };
        if self.asked { ASKED.with_borrow_mut(answered) } else { Ok(self.hash) }
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast_exact::<Member>() else { return Ok(false) };
        let other = other.get();
        if self.var != other.var && (self.asked || other.asked) {
            let question = Question::Equal(self.var, other.var);
            return ASKED.with_borrow_mut(|asked| asked.answer(question)).map(|answer| answer != 0);
        }
        Ok(match (&self.value, &other.value) {
            _ if self.var == other.var => true,
            (Value::Equal(a), Value::Equal(b)) => a.is(b) || a.bind(py).eq(b)?,
            (Value::Object(a), Value::Object(b)) => a == b,
            _ => false,
        })
    }
}

impl Member {
    /// Of what is equal to itself alone.
    pub(super) fn alone(var: VarId) -> Member {
        Member { var, asked: false, hash: var.0 as isize, known: false, value: Value::Alone }
    }

    pub(super) fn var(&self) -> VarId {
        self.var
    }

    pub(super) fn hash(&self) -> isize {
        self.hash
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
    /// What stands in for a value that goes into sets, or is looked up there.
    pub(super) fn stored_member(&mut self, var: VarId) -> Result<Bound<'py, Member>, Stop> {
        let stored = self.hashes.get(&var).copied();
        if stored.is_none() && !self.shadows.trying {
            return self.member(var);
        }
        let known = self.shadows.members.get(&var).or_else(|| self.shadows.tried.get(&var));
        if let Some(known) = known {
            return Ok(known.bind(self.py).clone());
        }
        if stored.is_none() && !self.is_hashed_by_code(var)? {
            return self.member(var);
        }
        // Who has not been hashed yet is asked for it.
        let member = Member { var, hash: stored.unwrap_or(0), known: true, asked: true, value: Value::Alone };
        let member = Bound::new(self.py, member).map_err(|e| self.internal(&e))?;
        let Some(hash) = stored else {
            let same = self.known_object(var).and_then(|object| self.shadows.identities.get(&object).copied());
            if let Some(same) = same.and_then(|same| self.shadows.members.get(&same)) {
                return Ok(same.bind(self.py).clone());
            }
            self.shadows.tried.insert(var, member.clone().unbind());
            return Ok(member);
        };
        let member = self.same_identity(var).unwrap_or(member);
        if member.get().hash != hash {
            return Err(Stop::fallback(Reason::UserCode, "a member whose hash has changed"));
        }
        self.shadows.members.insert(var, member.clone().unbind());
        Ok(member)
    }

    /// What stands in for a value that is a member of a set, or a key, and asks nobody.
    pub(super) fn member(&mut self, var: VarId) -> Result<Bound<'py, Member>, Stop> {
        if self.hashes.contains_key(&var) {
            return Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a member of a set"));
        }
        self.may_be_member(var)?;
        self.member_anywhere(var)
    }

    /// The same, as a part of a member.
    fn member_anywhere(&mut self, var: VarId) -> Result<Bound<'py, Member>, Stop> {
        if self.is_id_of(var).is_some() {
            return self.key_of_id(var);
        }
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
        if let VarKind::Method(method) = &kind
            && self.is_of_function(method.function)?
        {
            return self.member_of_method(var, method);
        }
        match &kind {
            VarKind::Constant(_) => {
                let value = self.constant_value(var).expect("a constant");
                let hash = value.hash().map_err(|e| self.would_raise(&e))?;
                if !value.eq(&value).unwrap_or(false) {
                    return Err(Stop::brk(Reason::OpaqueValue, "a NaN as a member of a set"));
                }
                Ok(Member { var, asked: false, hash, known: true, value: Value::Equal(value.unbind()) })
            }
            VarKind::Tuple(TupleVar { items, class: None }) => {
                let (mut values, mut known) = (Vec::with_capacity(items.len()), true);
                for item in items.iter() {
                    let item = self.member_anywhere(*item)?;
                    known &= item.get().known;
                    values.push(match &item.get().value {
                        Value::Equal(value) => value.bind(self.py).clone(),
                        Value::Object(_) | Value::Alone => item.into_any(),
                    });
                }
                let value = PyTuple::new(self.py, values).map_err(|e| self.internal(&e))?;
                let hash = value.hash().map_err(|e| self.would_raise(&e))?;
                Ok(Member { var, asked: false, hash, known, value: Value::Equal(value.into_any().unbind()) })
            }
            VarKind::Set(set) if set.frozen => {
                let value = self.require_plain(var)?;
                let hash = value.hash().map_err(|e| self.internal(&e))?;
                Ok(Member { var, asked: false, hash, known: true, value: Value::Equal(value.unbind()) })
            }
            VarKind::Builtin(_) => {
                let value = self.pinned(&kind).expect("a builtin is pinned");
                let hash = value.hash().map_err(|e| self.internal(&e))?;
                Ok(Member { var, asked: false, hash, known: true, value: Value::Equal(value.unbind()) })
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
                if type_facts::raw(&class, "__hash__").is_some_and(|hash| facts::is_function(&hash)) {
                    // `enum.Enum.__hash__` hashes the name.
                    let name = self.getattr(var, "_name_")?;
                    let hash = self.member(name)?.get().hash;
                    return Ok(Member { var, asked: false, hash, known: true, value });
                }
                match pinned {
                    Some(object) => {
                        let by_address = self.py.get_type::<PyAny>().getattr("__hash__");
                        let object = self.objects.get(self.py, object);
                        let hash = by_address.and_then(|hash| hash.call1((object,))?.extract());
                        let hash = hash.map_err(|e: PyErr| self.internal(&e))?;
                        Ok(Member { var, asked: false, hash, known: true, value })
                    }
                    None => Ok(Member { var, asked: false, hash: var.0 as isize, known: false, value }),
                }
            }
            VarKind::Tensor(_) if self.backend.tensors_hash_by_identity(self.py) => {
                let class = self.class_of(var)?;
                self.class_lookup(&class, "__hash__")?;
                Ok(Member { var, asked: false, hash: var.0 as isize, known: false, value: Value::Alone })
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

    /// A bound method equals another one of the same function and the very same receiver.
    fn member_of_method(&mut self, var: VarId, method: &MethodVar) -> Result<Member, Stop> {
        let (receiver, function) = (self.member_anywhere(method.receiver)?, self.member_anywhere(method.function)?);
        if let Value::Equal(_) = receiver.get().value {
            return Err(Stop::brk(Reason::ValueKind, "a method of a value as a member of a set"));
        }
        let parts = [mark_of_methods(self.py)?, receiver.into_any(), function.into_any()];
        let value = PyTuple::new(self.py, parts).map_err(|e| self.internal(&e))?;
        let hash = value.hash().map_err(|e| self.internal(&e))?;
        Ok(Member { var, asked: false, hash, known: false, value: Value::Equal(value.into_any().unbind()) })
    }

    /// Whether a function is one of Python, which equals itself alone.
    pub(super) fn is_of_function(&mut self, function: VarId) -> Result<bool, Stop> {
        Ok(matches!(self.look(function)?, VarKind::Function(_)))
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

/// What no tuple of the program begins with.
fn mark_of_methods(py: Python<'_>) -> Result<Bound<'_, PyAny>, Stop> {
    static MARK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || py.get_type::<PyAny>().call0().map(Bound::unbind);
    MARK.get_or_try_init(py, make).map(|mark| mark.bind(py).clone()).map_err(|e| Stop::internal(&e))
}

/// The variable that a member stands for.
pub(super) fn var_of(key: &Bound<'_, PyAny>) -> Option<VarId> {
    key.cast_exact::<Member>().ok().map(|member| member.get().var)
}

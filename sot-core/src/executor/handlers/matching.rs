//! The `match` statement: what a subject is, and the parts of it that patterns look at. Attributes, `isinstance` and `get` of the
//! program are asked by definitions.

use super::{Flow, handlers, mismatch};
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::Op;

handlers! {
    MatchClass => match_class;
    MatchClassTest => match_class;
    MatchMapping => match_mapping;
    MatchSequence => match_sequence;
    MatchKeys => match_keys;
    MatchKeysTest => match_keys;
    CopyDictWithoutKeys => copy_dict_without_keys;
    GetLen => get_len;
}

fn match_mapping(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    is_collection(ex, type_facts::MAPPING, "Mapping")
}

fn match_sequence(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    is_collection(ex, type_facts::SEQUENCE, "Sequence")
}

/// Whether the subject's class has a flag, which registration with an abstract class sets.
fn is_collection(ex: &mut Executor<'_>, flag: u64, registered: &str) -> Result<Flow, Stop> {
    let subject = ex.peek(1)?;
    let class = ex.class_of(subject)?;
    let class = class.cast::<PyType>().map_err(|e| ex.internal(&e.into()))?;
    let answer = type_facts::has_flag(class, flag);
    ex.guard_registered(class, registered, answer)?;
    let result = ex.fold_bool(answer)?;
    ex.push(result);
    Ok(Flow::Next)
}

/// The answer of a definition is the instruction's; in 3.10, whether there is one is pushed on top, and where there is none,
/// nothing is done with what is below.
fn match_class(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let operands = ex.pop_n(3)?;
    let [subject, class, names] = *operands.as_slice() else { return Err(mismatch()) };
    let (count, tells) = match op {
        Op::MatchClass(count) => (count, false),
        Op::MatchClassTest(count) => (count, true),
        _ => return Err(mismatch()),
    };
    let VarKind::Class(found) = ex.look(class)? else {
        return Err(ex.raise_error::<PyTypeError>("called match pattern must be a type"));
    };
    let found = ex.objects.get(ex.py, found.object).cast_into::<PyType>().map_err(|e| ex.internal(&e.into()))?;
    let count = ex.fold_int(i64::from(count))?;
    let itself = ex.fold_bool(type_facts::has_flag(&found, type_facts::MATCH_SELF))?;
    let shown = ex.fold(PyString::new(ex.py, &crate::cpython::facts::name_in_messages(&found)).as_any())?;
    ex.enter("match_class", &[subject, class, count, names, itself, shown])?;
    Ok(Flow::Entered(if tells { Awaits::Told } else { Awaits::Push }))
}

fn match_keys(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let (keys, subject) = (ex.peek(1)?, ex.peek(2)?);
    let tells = matches!(op, Op::MatchKeysTest);
    let VarKind::Tuple(tuple) = ex.look(keys)? else { return Err(mismatch()) };
    let found = match ex.look(subject)? {
        VarKind::Dict(dict) if dict.class.is_none() => values_of_keys(ex, &dict, &tuple.items)?,
        _ => {
            let object = ex.py.get_type::<PyAny>();
            let missing = ex.plain_instance(&object)?;
            ex.enter("match_keys", &[subject, keys, missing])?;
            return Ok(Flow::Entered(if tells { Awaits::Told } else { Awaits::Push }));
        }
    };
    ex.push(found);
    if tells {
        let matched = ex.unless_none(Some(found))?.is_some();
        let matched = ex.fold_bool(matched)?;
        ex.push(matched);
    }
    Ok(Flow::Next)
}

/// The values of these keys as a tuple; None if one is missing.
fn values_of_keys(ex: &mut Executor<'_>, dict: &DictVar, keys: &[VarId]) -> Result<VarId, Stop> {
    let (mut seen, mut values) = (Vec::new(), Vec::new());
    for key in keys {
        match dict.position(ex, *key)? {
            Some(at) if seen.contains(&at) => return Err(Stop::brk(Reason::WouldRaise, "a key that is checked twice")),
            Some(at) => {
                seen.push(at);
                values.push(dict.entries[at].1);
            }
            None => return ex.fold_none(),
        }
    }
    Ok(ex.virtual_var(TupleVar::new(values)))
}

/// What is left of a mapping (3.10).
fn copy_dict_without_keys(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let keys = ex.pop()?;
    let subject = ex.peek(1)?;
    let (VarKind::Dict(dict), VarKind::Tuple(keys)) = (ex.look(subject)?, ex.look(keys)?) else {
        return Err(Stop::brk(Reason::Opcode, op.kind().name()));
    };
    let rest = ex.virtual_var(DictVar::new(dict.entries.to_vec()));
    for key in keys.items.iter() {
        ex.delete_item(rest, *key)?;
    }
    ex.push(rest);
    Ok(Flow::Next)
}

fn get_len(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let subject = ex.peek(1)?;
    if ex.is_asked(subject)?
        && let Some(method) = ex.special_method_if_any(subject, "__len__")?
    {
        ex.enter("length_of", &[method])?;
        return Ok(Flow::Entered(Awaits::Push));
    }
    let length = ex.length(subject)?;
    let result = ex.fold_int(length as i64)?;
    ex.push(result);
    Ok(Flow::Next)
}

impl<'py> Executor<'py> {
    /// What a class must stay for its flags to stay: registered, or not.
    fn guard_registered(&mut self, class: &Bound<'py, PyType>, name: &str, flag: bool) -> Result<(), Stop> {
        if !crate::cpython::facts::is_heap_type(class) {
            return Ok(());
        }
        let wrong = || Stop::brk(Reason::UserCode, "a class that is registered in a way of its own");
        let of = crate::cpython::module(self.py, "collections.abc").and_then(|abc| abc.getattr(name));
        let of = of.and_then(|of| Ok(of.cast_into::<PyType>()?)).map_err(|e| self.internal(&e))?;
        if type_facts::membership(&of, "__subclasscheck__") == type_facts::Membership::User {
            return Err(wrong());
        }
        if class.is_subclass(&of).map_err(|e| self.would_raise(&e))? != flag {
            return Err(wrong());
        }
        self.guard_subclass(class, &of, flag);
        Ok(())
    }
}

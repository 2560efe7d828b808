//! Flags of tensors that the program sets ([`crate::backend::Backend::is_flag`]): whether gradients flow.
//!
//! What a flag is follows from the journal. A tensor of the graph gets its flag from a statement, wherever it goes
//! afterwards. One from before the frame keeps its own while the graph runs, but for the operations that see it
//! changed; the journal changes it for good, in program order.

use super::Executor;
use crate::backend::Attr;
use crate::captured::{Behind, Callee, Flag};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Overlay};
use sot_sir::{Literal, Operand, Statement, StatementKind};

impl<'py> Executor<'py> {
    /// `tensor.name = value`
    pub(super) fn set_flag(&mut self, tensor: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        let refused = || Stop::brk(Reason::TensorAttribute, name);
        let class = self.class_of(tensor)?;
        if !self.backend.is_flag(&class, name) || !matches!(self.look(value)?, VarKind::Constant(_)) {
            return Err(refused());
        }
        self.class_lookup(&class, "__setattr__")?;
        self.class_lookup(&class, name)?;
        let on = self.require_plain(value)?;
        let on = on.cast_exact::<PyBool>().map_err(|_| refused())?.is_true();
        let symbolic = self.tensor_value(tensor)?;
        let known = self.captured.flags.iter().position(|flag| flag.tensor == tensor && flag.name == name);
        let number = match known {
            Some(number) => number,
            None => {
                let Attr::Constant(before) = self.tensor_attribute(&symbolic, name)? else { return Err(refused()) };
                let before = before.cast_exact::<PyBool>().map_err(|_| refused())?.is_true();
                self.captured.flags.push(Flag { tensor, name: name.to_owned(), before });
                self.captured.flags.len() - 1
            }
        };
        let value = self.fold(PyBool::new(self.py, on).as_any())?;
        let (object, name) = (Self::var_ref(tensor), name.to_owned());
        self.journal_record(Mutation::SetAttr { object, name, value: Self::var_ref(value) });
        self.tell_flags()?;
        if !self.is_sourced_tensor(tensor) {
            // Even where nothing changes: a framework may take a note of it.
            self.push_flag(number, on);
        }
        Ok(())
    }

    /// Whether the flag of a tensor in one of these dicts is not what it was.
    pub(super) fn holds_flagged(&self, dict: &Bound<'py, PyDict>) -> bool {
        let held = |flag: &Flag| {
            let object = self.known_object(flag.tensor).map(|object| self.objects.get_ref(self.py, object));
            object.is_some_and(|object| dict.values().iter().any(|value| value.is(object)))
        };
        self.captured.flags.iter().any(held)
    }

    /// Whether an attribute of a tensor is a flag that was set.
    pub(super) fn is_flag_of(&self, tensor: VarId, name: &str) -> bool {
        self.captured.flags.iter().any(|flag| flag.tensor == tensor && flag.name == name)
    }

    pub(super) fn is_sourced_tensor(&self, tensor: VarId) -> bool {
        matches!(&self.var(tensor).kind, VarKind::Tensor(TensorVar { source: TensorSource::Object(_) }))
    }

    /// What a flag is where the simulation stands.
    fn flag_here(&self, flag: &Flag) -> bool {
        match self.journal.attr(Self::var_ref(flag.tensor), &flag.name) {
            Overlay::Set(value) => {
                self.objects.get_ref(self.py, self.mode_value(VarId(value.0))).is_truthy().unwrap_or(flag.before)
            }
            Overlay::Deleted | Overlay::Untouched => flag.before,
        }
    }

    /// An operation is about to be built, or the graph to be finished, after a step perhaps that was taken back: the builder knows
    /// the flags of the tensors that it has.
    pub(crate) fn tell_flags(&mut self) -> Result<(), Stop> {
        for number in 0..self.captured.flags.len() {
            let flag = self.captured.flags[number].clone();
            let Some(symbol) = self.tensor_symbol(flag.tensor) else { continue };
            let on = self.flag_here(&flag);
            if self.built_flags.get(&number).copied().unwrap_or(flag.before) == on {
                continue;
            }
            let value = self.objects.get(self.py, self.graph.values[&symbol.0]);
            let builder = self.builder.as_mut().expect("a builder");
            builder.set_flag(&value, &flag.name, on).map_err(|error| Stop::Break(error.why))?;
            self.built_flags.insert(number, on);
        }
        Ok(())
    }

    /// A statement is about to be appended: those before it leave the flags of tensors from before as it needs them.
    pub(super) fn record_flags_of_inputs(&mut self) {
        for number in 0..self.captured.flags.len() {
            let flag = self.captured.flags[number].clone();
            let on = self.flag_here(&flag);
            if self.is_sourced_tensor(flag.tensor) && self.graph.flag_at_end(number).unwrap_or(flag.before) != on {
                self.push_flag(number, on);
            }
        }
    }

    /// The graph sets a flag here, if it knows the tensor.
    fn push_flag(&mut self, number: usize, on: bool) {
        let flag = self.captured.flags[number].clone();
        let Some(symbol) = self.tensor_symbol(flag.tensor) else { return };
        let (value, none) = (PyBool::new(self.py, on), self.py.None().into_bound(self.py));
        let objects = vec![self.objects.add(value.as_any()), self.objects.add(&none)];
        let statement = Statement {
            args: vec![Operand::Symbol(symbol), Operand::Literal(Literal::Bool(on))],
            result: Operand::Literal(Literal::None),
            ..Statement::new(StatementKind::Method, format!("set_{}", flag.name))
        };
        self.graph.push(statement, Behind::new(Callee::Flag { flag: number, on }, objects));
    }
}

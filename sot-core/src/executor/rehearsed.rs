//! Rehearsals: what an instruction raises, asked of the interpreter itself.
//!
//! Where the machine stops at an instruction, and the program would see what it raises, the instruction is run once, in a frame
//! of its own, on *doubles* of its operands. If that raises, so does the simulated instruction: the same class, the same
//! arguments, with the operands in the place of their doubles.
//!
//! What runs is code of C that has no effects but on its operands: operators, methods of builtin values, and the builtins that are
//! harmless (`doubles`). What changes an operand before it raises is not simulated.
//!
//! What a rehearsal looked at that has said nothing must not be guarded: the capture starts over without it.

use super::Executor;
use super::doubles::{Cast, is_harmless};
use crate::cpython::{VERSION, facts};
use crate::frame::Site;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::exceptions::{PyException, PyMemoryError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{BinaryOp, CodeBuilder, ConstId, Local, Location, Op, Signature, reach, stack_effect};

/// Doubles of operands, `None` for an empty slot.
type Doubles<'py> = Vec<Option<Bound<'py, PyAny>>>;

/// An instruction that can run apart from its frame, and does nothing but to its operands.
fn can_be_rehearsed(op: Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Contains { .. }
            | Op::BinarySubscr
            | Op::StoreSubscr
            | Op::DeleteSubscr
            | Op::BinarySlice
            | Op::StoreSlice
            | Op::StoreAttr(_)
            | Op::DeleteAttr(_)
            | Op::GetIter
            | Op::GetYieldFromIter
            | Op::UnpackSequence(_)
            | Op::UnpackEx { .. }
            | Op::BuildSet(_)
            | Op::BuildMap(_)
            | Op::BuildConstKeyMap(_)
            | Op::SetAdd(_)
            | Op::MapAdd(_)
            | Op::ListExtend(_)
            | Op::SetUpdate(_)
            | Op::DictUpdate(_)
            | Op::DictMerge(_)
            | Op::BuildTupleUnpack(_)
            | Op::BuildTupleUnpackWithCall(_)
            | Op::BuildListUnpack(_)
            | Op::BuildSetUnpack(_)
            | Op::BuildMapUnpack(_)
            | Op::BuildMapUnpackWithCall(_)
            | Op::FormatValue { .. }
            | Op::ConvertValue(_)
            | Op::Call { .. }
            | Op::CallKw { .. }
            | Op::CallEx { .. }
            | Op::BeforeWith
            | Op::SetupWith(_)
            | Op::RaiseVarargs(1 | 2)
    )
}

/// Stops that say no more than that the machine does not know.
fn is_open(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::WouldRaise
            | Reason::ValueKind
            | Reason::Builtin
            | Reason::Mutation
            | Reason::OpaqueValue
            | Reason::OpaqueCall
            | Reason::UserCode
    )
}

impl<'py> Executor<'py> {
    /// Whether an instruction that stopped is to be rehearsed: if it raises, somebody sees it.
    pub(super) fn is_worth_a_rehearsal(&self, stop: &Stop, op: Op) -> bool {
        let (Stop::Break(why) | Stop::Fallback(why)) = stop else { return false };
        if self.found.silent.contains(&self.site()) {
            return false;
        }
        // The frame of a builtin's definition does as the builtin, but what unpacks and iterates there has words of its own.
        let hidden = self.frames.last().is_some_and(|frame| frame.is_hidden());
        let alike =
            matches!(op, Op::Unary(_) | Op::Binary { .. } | Op::Compare { .. } | Op::Contains { .. } | Op::Call { .. });
        is_open(why.reason)
            && can_be_rehearsed(op)
            && (alike || !hidden)
            && self.frames.iter().any(|frame| frame.catches())
    }

    fn site(&self) -> Site {
        let frame = self.frame();
        (frame.unit.address(), frame.ip)
    }

    /// Sites whose rehearsals have said nothing, and left guards.
    pub fn take_silent(&mut self) -> Vec<Site> {
        std::mem::take(&mut self.silent)
    }

    /// What the instruction raises whose operands are on the stack, if that is known. Leaves the operands.
    pub(super) fn rehearse(&mut self, op: Op) -> Option<VarId> {
        let guards = self.guards.len();
        let raised = self.raised_on_doubles(op);
        if raised.is_none() && self.guards.len() > guards {
            let site = self.site();
            self.silent.push(site);
        }
        raised
    }

    fn raised_on_doubles(&mut self, op: Op) -> Option<VarId> {
        let stack = &self.frame().stack;
        let mut count = reach(&op).max(stack_effect(&op, false).0) as usize + callee_below(op);
        // Whoever is called may have an empty slot above it.
        if callee_below(op) > 0 && self.is_null(*stack.get(stack.len().checked_sub(count)?)?) {
            count += 1;
        }
        let operands = stack.get(stack.len().checked_sub(count)?..)?.to_vec();
        let mut cast = Cast::new(matches!(op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. }));
        match self.doubles_of(op, &operands, &mut cast) {
            Ok(Some(doubles)) => match self.run_on(op, doubles, &cast)? {
                Stop::Raised(exception) => Some(exception),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_null(&self, var: VarId) -> bool {
        matches!(self.var(var).kind, VarKind::Null(_))
    }

    /// The doubles of operands, `None` for an empty slot; nothing if the instruction may do more than raise.
    fn doubles_of(&mut self, op: Op, operands: &[VarId], cast: &mut Cast<'py>) -> Result<Option<Doubles<'py>>, Stop> {
        let mut doubles = Doubles::with_capacity(operands.len());
        let first = operands.iter().position(|operand| !self.is_null(*operand));
        let is_call = matches!(op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. });
        for (at, operand) in operands.iter().enumerate() {
            if is_call && first == Some(at) {
                let receiver = operands[at + 1..].iter().find(|operand| !self.is_null(**operand)).copied();
                let Some(callee) = self.double_of_callee(*operand, receiver, op, cast)? else { return Ok(None) };
                match self.unbound(*operand, &callee) {
                    Some((method, receiver)) => doubles.extend([Some(method), Some(receiver)]),
                    None => doubles.push(Some(callee)),
                }
                continue;
            }
            doubles.push(match op {
                _ if self.is_null(*operand) => None,
                _ if callee_below(op) > 0 && first == Some(at) => Some(match self.look(*operand)? {
                    VarKind::Function(_) => self.named_function(*operand)?,
                    VarKind::Builtin(_) | VarKind::Class(_) => self.double(*operand, cast)?,
                    // Nobody knows what it is called.
                    _ => return Ok(None),
                }),
                Op::RaiseVarargs(_) => Some(self.double_to_raise(*operand, cast)?),
                // What is spread is iterated first, and is no argument itself; what is in it is one.
                Op::CallEx { .. } if !self.is_doubled_by_its_like(*operand)? => {
                    Some(cast.apart(|cast| self.double(*operand, cast))?)
                }
                _ if owner(op) == Some(operands.len() - 1 - at) => Some(self.double_of_owner(*operand, op, cast)?),
                _ => Some(self.double(*operand, cast)?),
            });
        }
        if let (Op::Binary { op: BinaryOp::Multiply, inplace: true }, Some(left)) = (op, operands.first()) {
            // What has none of the slots for sequences leaves it to the right operand.
            let class = self.class_of(*left)?;
            if !self.is_doubled_by_its_like(*left)? && !class.cast::<PyType>().is_ok_and(facts::is_heap_type) {
                return Ok(None);
            }
        }
        if let Op::StoreAttr(_) | Op::DeleteAttr(_) = op {
            let object = *operands.last().ok_or(Stop::fallback(Reason::InternalError, "no operand"))?;
            if !self.is_doubled_by_its_like(object)? {
                return Ok(None);
            }
        }
        Ok(Some(doubles))
    }

    /// The callable of a call; `None` for one that does more than to compute.
    fn double_of_callee(
        &mut self,
        callee: VarId,
        first: Option<VarId>,
        op: Op,
        cast: &mut Cast<'py>,
    ) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        Ok(match self.look(callee)? {
            VarKind::Bound(bound) => {
                if bound.blocked.is_some() || !self.is_doubled_by_its_like(bound.receiver)? {
                    return Ok(None);
                }
                let receiver = self.double(bound.receiver, cast)?;
                receiver.getattr(&*bound.name).ok()
            }
            VarKind::Builtin(builtin) => {
                let object = self.objects.get(self.py, builtin.object);
                let of_c = type_facts::is_method_of_c(&object);
                if !of_c && !is_harmless(&object) {
                    return Ok(None);
                }
                // It looks at the type of its first argument, or at the attributes.
                let named = |name: &str| object.getattr("__name__").is_ok_and(|own| own.eq(name).unwrap_or(false));
                let looks = of_c || ["getattr", "hasattr", "setattr", "delattr"].into_iter().any(named);
                if looks
                    && let Some(first) = first
                    && !self.is_doubled_by_its_like(first)?
                {
                    return Ok(None);
                }
                Some(object)
            }
            VarKind::Class(class) => {
                let class = self.objects.get(self.py, class.object);
                let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
                match facts::is_written_class(class) {
                    true => self.class_that_takes_nothing(class)?,
                    false => is_harmless(class.as_any()).then(|| class.clone().into_any()),
                }
            }
            // The arguments do not fit: the frame says so. Unpacking them comes before.
            VarKind::Function(_) if matches!(op, Op::CallEx { .. }) => Some(self.named_function(callee)?),
            VarKind::Function(_) | VarKind::Method(_) | VarKind::Native(_) | VarKind::Tensor(_) => None,
            _ => Some(cast.apart(|cast| self.double_of_owner(callee, op, cast))?),
        })
    }

    /// A method that was looked up for a call, as the interpreter has it then: what the class has, and the receiver.
    fn unbound(&self, callee: VarId, double: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let VarKind::Bound(BoundVar { for_a_call: true, name, .. }) = &self.var(callee).kind else { return None };
        let receiver = double.getattr("__self__").ok()?;
        let found = type_facts::raw(&receiver.get_type(), name)?;
        let of_c = matches!(type_facts::descriptor(&found), Descriptor::Method | Descriptor::Wrapper);
        (of_c && !receiver.is_instance_of::<PyType>()).then_some((found, receiver))
    }

    /// A class that is called as another one, if `object` alone says what arguments it takes: none.
    fn class_that_takes_nothing(&mut self, class: &Bound<'py, PyType>) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let mut of_object = class.get_type().is(self.py.get_type::<PyType>()) && self.extends_object(class.as_any())?;
        for name in ["__new__", "__init__", "__del__"] {
            let own = type_facts::raw(&self.py.get_type::<PyAny>(), name);
            of_object &= match (self.class_lookup(class.as_any(), name)?, own) {
                (Some(found), Some(own)) => found.is(&own),
                (found, own) => found.is_none() && own.is_none(),
            };
        }
        if !of_object || facts::is_abstract(class) {
            return Ok(None);
        }
        let name = facts::name_in_messages(class);
        let like = facts::unlisted_class(self.py, name, PyTuple::empty(self.py), PyDict::new(self.py));
        like.map(Some).map_err(|e| self.internal(&e))
    }

    /// The operand whose class alone is asked for the operation: what it extends makes no difference.
    fn double_of_owner(&mut self, var: VarId, op: Op, cast: &mut Cast<'py>) -> Result<Bound<'py, PyAny>, Stop> {
        let kind = self.look(var)?;
        if matches!(op, Op::DeleteSubscr) && !self.is_doubled_by_its_like(var)? {
            // What has none of the slots for sequences says it in other words.
            let class = self.class_of(var)?;
            if !class.cast::<PyType>().is_ok_and(facts::is_heap_type) {
                return Err(Stop::brk(Reason::WouldRaise, "item deletion"));
            }
        }
        if let (VarKind::Class(class), Op::BinarySubscr | Op::BinarySlice) = (&kind, op)
            && !self.is_doubled_by_its_like(var)?
        {
            // Its own name is told.
            let class = self.objects.get(self.py, class.object);
            if !class.get_type().is(self.py.get_type::<PyType>())
                || self.class_lookup(&class, "__class_getitem__")?.is_some()
            {
                return Err(Stop::brk(Reason::UserCode, "__class_getitem__"));
            }
            let name = facts::name_in_messages(class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?);
            let like = facts::unlisted_class(self.py, name, PyTuple::empty(self.py), PyDict::new(self.py));
            return like.map_err(|e| self.internal(&e));
        }
        match kind {
            VarKind::Tuple(TupleVar { class: Some(_), .. })
            | VarKind::List(ListVar { class: Some(_), .. })
            | VarKind::Dict(DictVar { class: Some(_), .. })
            | VarKind::Instance(_) => {
                let class = self.class_of(var)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                self.bare_of(&class)
            }
            _ => self.double(var, cast),
        }
    }

    /// An operand of `raise`: an exception by any other one.
    fn double_to_raise(&mut self, var: VarId, cast: &mut Cast<'py>) -> Result<Bound<'py, PyAny>, Stop> {
        match self.look(var)? {
            VarKind::Exception(_) => {
                Ok(PyException::new_err("raised").into_value(self.py).into_bound(self.py).into_any())
            }
            VarKind::Class(class) => {
                let class = self.objects.get(self.py, class.object);
                let class = class.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                match self.is_exception_class(&class) {
                    true if facts::is_heap_type(&class) => Err(Stop::brk(Reason::UserCode, "raise")),
                    true => Ok(class.into_any()),
                    // Any class that is none of exceptions is refused alike.
                    false => Ok(self.py.get_type::<PyInt>().into_any()),
                }
            }
            _ => self.double(var, cast),
        }
    }

    /// Run the instruction on doubles. `None`: it raises nothing, or nothing that is certain.
    fn run_on(&mut self, op: Op, doubles: Doubles<'py>, cast: &Cast<'py>) -> Option<Stop> {
        let py = self.py;
        let is_call = matches!(op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. });
        // The empty slot of a call is elsewhere in each version; nothing drops one that stays.
        let given: Vec<Bound<'py, PyAny>> = match is_call {
            true => doubles.iter().flatten().cloned().collect(),
            false => doubles.iter().map(|d| d.clone().unwrap_or_else(|| py.None().into_bound(py))).collect(),
        };
        let mut b = CodeBuilder::empty(VERSION, "rehearsal", crate::code_unit::HIDDEN_FILE, 1);
        let positional = (0..given.len()).map(|i| format!("operand_{i}")).collect();
        b.set_args(&Signature { positional, ..Signature::default() });
        b.prelude();
        let here = Location::of_line(1);
        let load = |at: usize| Op::LoadFast { local: Local(at as u32), check: false };
        let mut consts = vec![py.None()];
        let rest = given.len().checked_sub(1)?;
        match op {
            Op::Call { .. } => {
                b.push_callable(load(0), here);
                b.emit_all((1..=rest).map(load), here);
                b.call(rest as u32, here);
            }
            Op::CallKw { .. } => {
                b.push_callable(load(0), here);
                b.emit_all((1..rest).map(load), here);
                consts.push(given.last()?.clone().unbind());
                b.call_kw(rest.checked_sub(1)? as u32, ConstId(1), here);
            }
            Op::CallEx { kwargs, .. } => {
                b.push_callable(load(0), here);
                b.emit_all((1..=rest).map(load), here);
                b.call_ex(kwargs, here);
            }
            _ => {
                b.emit_all((0..given.len()).map(load), here);
                let (pops, pushes) = stack_effect(&op, false);
                let left = (given.len() as u32 + pushes).saturating_sub(pops);
                let names = &self.frame().unit.code.names;
                match op {
                    Op::StoreAttr(id) => {
                        let id = b.name(&names[id.0 as usize]);
                        b.emit(Op::StoreAttr(id), here);
                    }
                    Op::DeleteAttr(id) => {
                        let id = b.name(&names[id.0 as usize]);
                        b.emit(Op::DeleteAttr(id), here);
                    }
                    Op::SetupWith(_) => {
                        let end = b.new_label();
                        b.emit_all([Op::SetupWith(end), Op::PopTop, Op::PopBlock, Op::PopTop], here);
                        b.emit_all([Op::LoadConst(ConstId(0)), Op::ReturnValue], here);
                        b.bind(end);
                    }
                    other => b.emit(other, here),
                }
                if !matches!(op, Op::SetupWith(_) | Op::RaiseVarargs(_)) {
                    b.emit_all((0..left).map(|_| Op::PopTop), here);
                }
            }
        }
        b.emit_all([Op::LoadConst(ConstId(0)), Op::ReturnValue], here);
        let function = self.function_of_code(b, &consts).ok()?;
        let arguments = PyTuple::new(py, &given).ok()?;
        cast.begin();
        let error = function.call1(arguments).err()?;
        let of_the_machine = error.is_instance_of::<PyRecursionError>(py) || error.is_instance_of::<PyMemoryError>(py);
        if of_the_machine || !error.is_instance_of::<PyException>(py) || !cast.is_untouched() {
            return None;
        }
        let value = error.value(py);
        if given.iter().any(|double| double.is(value) || double.is(value.get_type())) {
            return None;
        }
        Some(self.raised_by(&error, &cast.copies))
    }
}

/// Which operand, from the top, answers an operation alone.
fn owner(op: Op) -> Option<usize> {
    match op {
        Op::Unary(_)
        | Op::GetIter
        | Op::GetYieldFromIter
        | Op::UnpackSequence(_)
        | Op::UnpackEx { .. }
        | Op::BeforeWith
        | Op::SetupWith(_)
        | Op::Contains { .. } => Some(0),
        Op::BinarySubscr | Op::DeleteSubscr | Op::StoreSubscr => Some(1),
        Op::BinarySlice | Op::StoreSlice => Some(2),
        _ => None,
    }
}

/// How far below the other operands the callable lies that is named by what refuses arguments.
fn callee_below(op: Op) -> usize {
    match op {
        Op::DictMerge(_) | Op::BuildMapUnpackWithCall(_) => 2,
        Op::BuildTupleUnpackWithCall(_) => 1,
        _ => 0,
    }
}

//! Each raw instruction to the `Op`s that it means. One exhaustive match: a new opcode does not compile unanswered.

use super::targets::{Targets, falls_through};
use super::{Unit, Units};
use crate::linetable::Span;
use crate::operands;
use crate::slots::Slots;
use crate::tables::raw::Raw;
use crate::{
    BinaryOp, Cell, CompareOp, ConstId, DecodeError, Instr, JumpCond, Label, Local, Location, NameId, Op, RawCode,
    UnaryOp, Version, method_layout,
};

/// The instructions of a code object.
pub(super) struct Body {
    pub(super) instrs: Vec<Instr>,
    pub(super) labels: Vec<usize>,
    /// The first instruction of each unit, and the end.
    pub(super) first: Vec<usize>,
}

pub(super) fn translate(
    raw: &RawCode,
    units: &Units,
    targets: &Targets,
    slots: &Slots,
    spans: &[Span],
) -> Result<Body, DecodeError> {
    let list = &units.list;
    let mut body = Body {
        instrs: Vec::with_capacity(list.len() + list.len() / 4),
        labels: vec![0; targets.count as usize],
        first: Vec::with_capacity(list.len() + 1),
    };
    let mut spans = spans.iter().peekable();
    // Units that are part of the one before (PRECALL, CALL) have no instruction of their own.
    let mut joined = 0;
    for (index, unit) in list.iter().enumerate() {
        while spans.peek().is_some_and(|span| span.end <= unit.at) {
            spans.next();
        }
        let loc = spans.peek().map_or_else(Location::default, |span| span.loc);
        if let Some(label) = targets.end_send(index) {
            if index > 0 && falls_through(list[index - 1].raw) {
                let target = targets.label(index).unwrap_or(label);
                body.instrs.push(Instr::new(Op::Jump { target, no_interrupt: false }, loc));
            }
            body.labels[label.0 as usize] = body.instrs.len();
            body.instrs.push(Instr::new(Op::EndSend, loc));
        }
        body.first.push(body.instrs.len());
        if let Some(label) = targets.label(index) {
            body.labels[label.0 as usize] = body.instrs.len();
        }
        if joined > 0 {
            joined -= 1;
            // KW_NAMES has a location of its own.
            if let Some(Instr { op: Op::CallKw { .. }, loc: of_call, .. }) = body.instrs.last_mut() {
                *of_call = loc;
            }
        } else if !targets.dropped(index) {
            joined = Translator { raw, list, targets, slots, index, unit, loc, out: &mut body.instrs }.unit()?;
        }
    }
    body.first.push(body.instrs.len());
    if let Some(label) = targets.label(list.len()) {
        body.labels[label.0 as usize] = body.instrs.len();
    }
    Ok(body)
}

struct Translator<'a> {
    raw: &'a RawCode,
    list: &'a [Unit],
    targets: &'a Targets,
    slots: &'a Slots,
    index: usize,
    unit: &'a Unit,
    loc: Location,
    out: &'a mut Vec<Instr>,
}

impl Translator<'_> {
    fn push(&mut self, op: Op) {
        self.out.push(Instr { op, loc: self.loc, offset: self.unit.at });
    }

    fn bad_operand(&self) -> DecodeError {
        DecodeError::BadOperand { offset: self.unit.at, name: self.unit.raw.name(), arg: self.unit.arg }
    }

    fn bad_shape(&self) -> DecodeError {
        DecodeError::BadShape { offset: self.unit.at, name: self.unit.raw.name() }
    }

    fn name(&self, arg: u32) -> Result<NameId, DecodeError> {
        if (arg as usize) < self.raw.names.len() { Ok(NameId(arg)) } else { Err(self.bad_operand()) }
    }

    fn local(&self, arg: u32) -> Result<Local, DecodeError> {
        self.slots.local(arg).ok_or_else(|| self.bad_operand())
    }

    fn cell(&self) -> Result<Cell, DecodeError> {
        self.slots.cell(self.unit.arg).ok_or_else(|| self.bad_operand())
    }

    fn jump(&self) -> Result<Label, DecodeError> {
        self.targets.of_jump(self.raw.version, self.list, self.index).ok_or_else(|| self.bad_operand())
    }

    /// LOAD_FAST: in 3.13 also LOAD_CLOSURE, which is told by the slot holding a cell.
    fn load_fast(&self, arg: u32) -> Result<Op, DecodeError> {
        if self.raw.version >= Version::V313
            && let Some(cell) = self.slots.cell(arg)
        {
            return Ok(Op::LoadClosure(cell));
        }
        Ok(Op::LoadFast { local: self.local(arg)?, check: self.raw.version < Version::V312 })
    }

    /// STORE_FAST: of a slot that holds a cell only at the end of an inlined comprehension.
    fn store_fast(&self, arg: u32) -> Result<Op, DecodeError> {
        if self.raw.version >= Version::V312
            && let Some(cell) = self.slots.cell(arg)
        {
            return Ok(Op::StoreClosure(cell));
        }
        Ok(Op::StoreFast(self.local(arg)?))
    }

    /// The units behind this one, if none of them can be reached otherwise.
    fn followed_by(&self, raws: &[Raw]) -> Option<&[Unit]> {
        let next = self.index + 1;
        let found = self.list.get(next..next + raws.len())?;
        let same = found.iter().map(|u| u.raw).eq(raws.iter().copied());
        (same && (next..next + raws.len()).all(|i| !self.targets.is_entry(i))).then_some(found)
    }

    /// PRECALL n, CALL n (3.11).
    fn precall(&mut self) -> Result<usize, DecodeError> {
        let argc = self.unit.arg;
        match self.followed_by(&[Raw::Call]) {
            Some([call]) if call.arg == argc => self.push(Op::Call { argc, two: true }),
            _ => return Err(self.bad_shape()),
        }
        Ok(1)
    }

    /// KW_NAMES and the call (3.11, 3.12): the names become a constant on the stack.
    fn kw_names(&mut self) -> Result<usize, DecodeError> {
        let calls: &[Raw] = if self.raw.version == Version::V311 { &[Raw::Precall, Raw::Call] } else { &[Raw::Call] };
        let (argc, at) = match self.followed_by(calls) {
            Some([first, rest @ ..]) if rest.iter().all(|u| u.arg == first.arg) => (first.arg, first.at),
            _ => return Err(self.bad_shape()),
        };
        self.push(Op::LoadConst(ConstId(self.unit.arg)));
        self.out.push(Instr { op: Op::CallKw { argc, two: true }, loc: self.loc, offset: at });
        Ok(calls.len())
    }

    /// LOAD_GLOBAL, from 3.11 on with a bit for a NULL.
    fn load_global(&mut self) -> Result<(), DecodeError> {
        let (arg, version) = (self.unit.arg, self.raw.version);
        if version < Version::V311 {
            self.push(Op::LoadGlobal(self.name(arg)?));
            return Ok(());
        }
        let load = Op::LoadGlobal(self.name(arg >> 1)?);
        let null = arg & 1 == 1;
        if null && method_layout::null_first(version) {
            self.push(Op::PushNull);
        }
        self.push(load);
        if null && !method_layout::null_first(version) {
            self.push(Op::PushNull);
        }
        Ok(())
    }

    /// COMPARE_OP: 3.8 has `in`, `is` and exception matching in it; 3.12+ pack flags under the operator. Tells how many units
    /// behind it belong to it.
    fn compare(&mut self) -> Result<usize, DecodeError> {
        let arg = self.unit.arg;
        let (index, to_bool) = match self.raw.version {
            Version::V38 | Version::V39 | Version::V310 | Version::V311 => (arg, false),
            Version::V312 => (arg >> 4, false),
            Version::V313 => (arg >> 5, arg & 16 != 0),
        };
        if let Some(op) = CompareOp::ALL.get(index as usize) {
            self.push(Op::Compare { op: *op, to_bool });
            return Ok(0);
        }
        if self.raw.version > Version::V38 {
            return Err(self.bad_operand());
        }
        match index {
            6 | 7 => self.push(Op::Contains { invert: index == 7 }),
            8 | 9 => self.push(Op::Is { invert: index == 9 }),
            10 => {
                if let Some(target) = self.jump_if_false_behind() {
                    self.push(Op::JumpIfNotExcMatch(target));
                    return Ok(1);
                }
                // Pops both, where CHECK_EXC_MATCH leaves the left one.
                self.push(Op::CheckExcMatch);
                self.push(Op::Swap(2));
                self.push(Op::PopTop);
            }
            _ => return Err(self.bad_operand()),
        }
        Ok(0)
    }

    /// Where the next unit jumps to, if it is POP_JUMP_IF_FALSE and is come to from here alone.
    fn jump_if_false_behind(&self) -> Option<Label> {
        let next = self.index + 1;
        let jumps = self.list.get(next)?.raw == Raw::PopJumpIfFalse && self.targets.label(next).is_none();
        self.targets.of_jump(self.raw.version, self.list, next).filter(|_| jumps)
    }

    fn intrinsic_1(&mut self) -> Result<(), DecodeError> {
        let op = match self.unit.arg {
            4 => Op::AsyncGenWrap,
            5 => Op::Unary(UnaryOp::Positive),
            6 => Op::ListToTuple,
            arg => Op::Intrinsic1(operands::intrinsic_1(arg).ok_or_else(|| self.bad_operand())?),
        };
        self.push(op);
        Ok(())
    }

    fn intrinsic_2(&mut self) -> Result<(), DecodeError> {
        let op = match self.unit.arg {
            1 => Op::PrepReraiseStar,
            5 if self.raw.version < Version::V313 => return Err(self.bad_operand()),
            arg => Op::Intrinsic2(operands::intrinsic_2(arg).ok_or_else(|| self.bad_operand())?),
        };
        self.push(op);
        Ok(())
    }

    /// Translates one unit; returns how many further units it took.
    fn unit(&mut self) -> Result<usize, DecodeError> {
        let arg = self.unit.arg;
        let version = self.raw.version;
        let binary = |op| Op::Binary { op, inplace: false };
        let inplace = |op| Op::Binary { op, inplace: true };
        let pop_jump = |cond, target| Op::PopJumpIf { cond, target };
        let op = match self.unit.raw {
            Raw::Nop => Op::Nop,
            Raw::PopTop => Op::PopTop,
            Raw::PushNull => Op::PushNull,
            Raw::Copy if arg > 0 => Op::Copy(arg),
            Raw::Swap if arg > 1 => Op::Swap(arg),
            Raw::Copy | Raw::Swap => return Err(self.bad_operand()),
            Raw::DupTop => Op::Copy(1),
            Raw::DupTopTwo => {
                self.push(Op::Copy(2));
                Op::Copy(2)
            }
            Raw::RotTwo => Op::Swap(2),
            Raw::RotThree => Op::RotN(3),
            Raw::RotFour => Op::RotN(4),
            Raw::RotN if arg > 1 => Op::RotN(arg),
            Raw::RotN => return Err(self.bad_operand()),
            Raw::LoadConst => Op::LoadConst(ConstId(arg)),
            Raw::LoadFast => self.load_fast(arg)?,
            Raw::LoadFastCheck => Op::LoadFast { local: self.local(arg)?, check: true },
            Raw::LoadFastAndClear => match self.slots.cell(arg) {
                Some(cell) => Op::LoadClosureAndClear(cell),
                None => Op::LoadFastAndClear(self.local(arg)?),
            },
            Raw::StoreFast => self.store_fast(arg)?,
            Raw::DeleteFast => Op::DeleteFast(self.local(arg)?),
            Raw::LoadFastLoadFast => {
                self.push(self.load_fast(arg >> 4)?);
                self.load_fast(arg & 15)?
            }
            Raw::StoreFastLoadFast => {
                self.push(self.store_fast(arg >> 4)?);
                self.load_fast(arg & 15)?
            }
            Raw::StoreFastStoreFast => {
                self.push(self.store_fast(arg >> 4)?);
                self.store_fast(arg & 15)?
            }
            Raw::LoadGlobal => return self.load_global().map(|()| 0),
            Raw::StoreGlobal => Op::StoreGlobal(self.name(arg)?),
            Raw::DeleteGlobal => Op::DeleteGlobal(self.name(arg)?),
            Raw::LoadName => Op::LoadName(self.name(arg)?),
            Raw::StoreName => Op::StoreName(self.name(arg)?),
            Raw::DeleteName => Op::DeleteName(self.name(arg)?),
            Raw::LoadDeref => Op::LoadDeref(self.cell()?),
            Raw::StoreDeref => Op::StoreDeref(self.cell()?),
            Raw::DeleteDeref => Op::DeleteDeref(self.cell()?),
            Raw::LoadClosure => Op::LoadClosure(self.cell()?),
            Raw::LoadClassderef => Op::LoadClassDeref(self.cell()?),
            Raw::LoadFromDictOrDeref => Op::LoadFromDictOrDeref(self.cell()?),
            Raw::LoadFromDictOrGlobals => Op::LoadFromDictOrGlobals(self.name(arg)?),
            Raw::LoadLocals => Op::LoadLocals,
            Raw::LoadBuildClass => Op::LoadBuildClass,
            Raw::LoadAssertionError => Op::LoadAssertionError,
            Raw::MakeCell => Op::MakeCell(self.cell()?),
            Raw::CopyFreeVars => Op::CopyFreeVars(arg),
            Raw::SetupAnnotations => Op::SetupAnnotations,
            Raw::LoadAttr if version < Version::V312 => Op::LoadAttr(self.name(arg)?),
            Raw::LoadAttr if arg & 1 == 1 => Op::LoadMethod(self.name(arg >> 1)?),
            Raw::LoadAttr => Op::LoadAttr(self.name(arg >> 1)?),
            Raw::StoreAttr => Op::StoreAttr(self.name(arg)?),
            Raw::DeleteAttr => Op::DeleteAttr(self.name(arg)?),
            Raw::LoadMethod => Op::LoadMethod(self.name(arg)?),
            Raw::LoadSuperAttr => {
                Op::LoadSuperAttr { name: self.name(arg >> 2)?, two_arg: arg & 2 != 0, method: arg & 1 != 0 }
            }
            Raw::BinarySubscr => Op::BinarySubscr,
            Raw::StoreSubscr => Op::StoreSubscr,
            Raw::DeleteSubscr => Op::DeleteSubscr,
            Raw::BinarySlice => Op::BinarySlice,
            Raw::StoreSlice => Op::StoreSlice,
            Raw::UnaryPositive => Op::Unary(UnaryOp::Positive),
            Raw::UnaryNegative => Op::Unary(UnaryOp::Negative),
            Raw::UnaryNot => Op::Unary(UnaryOp::Not),
            Raw::UnaryInvert => Op::Unary(UnaryOp::Invert),
            Raw::ToBool => Op::Unary(UnaryOp::ToBool),
            Raw::BinaryOp => {
                let (op, inplace) = operands::binary(arg).ok_or_else(|| self.bad_operand())?;
                Op::Binary { op, inplace }
            }
            Raw::BinaryAdd => binary(BinaryOp::Add),
            Raw::BinaryAnd => binary(BinaryOp::And),
            Raw::BinaryFloorDivide => binary(BinaryOp::FloorDivide),
            Raw::BinaryLshift => binary(BinaryOp::Lshift),
            Raw::BinaryMatrixMultiply => binary(BinaryOp::MatrixMultiply),
            Raw::BinaryModulo => binary(BinaryOp::Remainder),
            Raw::BinaryMultiply => binary(BinaryOp::Multiply),
            Raw::BinaryOr => binary(BinaryOp::Or),
            Raw::BinaryPower => binary(BinaryOp::Power),
            Raw::BinaryRshift => binary(BinaryOp::Rshift),
            Raw::BinarySubtract => binary(BinaryOp::Subtract),
            Raw::BinaryTrueDivide => binary(BinaryOp::TrueDivide),
            Raw::BinaryXor => binary(BinaryOp::Xor),
            Raw::InplaceAdd => inplace(BinaryOp::Add),
            Raw::InplaceAnd => inplace(BinaryOp::And),
            Raw::InplaceFloorDivide => inplace(BinaryOp::FloorDivide),
            Raw::InplaceLshift => inplace(BinaryOp::Lshift),
            Raw::InplaceMatrixMultiply => inplace(BinaryOp::MatrixMultiply),
            Raw::InplaceModulo => inplace(BinaryOp::Remainder),
            Raw::InplaceMultiply => inplace(BinaryOp::Multiply),
            Raw::InplaceOr => inplace(BinaryOp::Or),
            Raw::InplacePower => inplace(BinaryOp::Power),
            Raw::InplaceRshift => inplace(BinaryOp::Rshift),
            Raw::InplaceSubtract => inplace(BinaryOp::Subtract),
            Raw::InplaceTrueDivide => inplace(BinaryOp::TrueDivide),
            Raw::InplaceXor => inplace(BinaryOp::Xor),
            Raw::CompareOp => return self.compare(),
            Raw::IsOp => Op::Is { invert: arg & 1 == 1 },
            Raw::ContainsOp => Op::Contains { invert: arg & 1 == 1 },
            Raw::BuildTuple => Op::BuildTuple(arg),
            Raw::BuildList => Op::BuildList(arg),
            Raw::BuildSet => Op::BuildSet(arg),
            Raw::BuildMap => Op::BuildMap(arg),
            Raw::BuildConstKeyMap => Op::BuildConstKeyMap(arg),
            Raw::BuildString => Op::BuildString(arg),
            Raw::BuildSlice if arg == 2 || arg == 3 => Op::BuildSlice(arg),
            Raw::BuildSlice => return Err(self.bad_operand()),
            Raw::ListAppend => Op::ListAppend(arg),
            Raw::SetAdd => Op::SetAdd(arg),
            Raw::MapAdd => Op::MapAdd(arg),
            Raw::ListExtend => Op::ListExtend(arg),
            Raw::SetUpdate => Op::SetUpdate(arg),
            Raw::DictUpdate => Op::DictUpdate(arg),
            Raw::DictMerge => Op::DictMerge(arg),
            Raw::ListToTuple => Op::ListToTuple,
            Raw::BuildTupleUnpack => Op::BuildTupleUnpack(arg),
            Raw::BuildTupleUnpackWithCall => Op::BuildTupleUnpackWithCall(arg),
            Raw::BuildListUnpack => Op::BuildListUnpack(arg),
            Raw::BuildSetUnpack => Op::BuildSetUnpack(arg),
            Raw::BuildMapUnpack => Op::BuildMapUnpack(arg),
            Raw::BuildMapUnpackWithCall => Op::BuildMapUnpackWithCall(arg),
            Raw::UnpackSequence => Op::UnpackSequence(arg),
            Raw::UnpackEx => Op::UnpackEx { before: arg & 255, after: arg >> 8 },
            Raw::FormatValue if arg < 8 => {
                Op::FormatValue { conversion: operands::conversion(arg & 3), spec: arg & 4 != 0 }
            }
            Raw::FormatValue => return Err(self.bad_operand()),
            Raw::FormatSimple => Op::FormatValue { conversion: None, spec: false },
            Raw::FormatWithSpec => Op::FormatValue { conversion: None, spec: true },
            Raw::ConvertValue => Op::ConvertValue(operands::conversion(arg).ok_or_else(|| self.bad_operand())?),
            Raw::JumpForward => Op::Jump { target: self.jump()?, no_interrupt: version < Version::V311 },
            Raw::JumpAbsolute | Raw::JumpBackward => Op::Jump { target: self.jump()?, no_interrupt: false },
            Raw::JumpBackwardNoInterrupt => Op::Jump { target: self.jump()?, no_interrupt: true },
            Raw::PopJumpIfTrue | Raw::PopJumpForwardIfTrue | Raw::PopJumpBackwardIfTrue => {
                pop_jump(JumpCond::True, self.jump()?)
            }
            Raw::PopJumpIfFalse | Raw::PopJumpForwardIfFalse | Raw::PopJumpBackwardIfFalse => {
                pop_jump(JumpCond::False, self.jump()?)
            }
            Raw::PopJumpIfNone | Raw::PopJumpForwardIfNone | Raw::PopJumpBackwardIfNone => {
                pop_jump(JumpCond::None, self.jump()?)
            }
            Raw::PopJumpIfNotNone | Raw::PopJumpForwardIfNotNone | Raw::PopJumpBackwardIfNotNone => {
                pop_jump(JumpCond::NotNone, self.jump()?)
            }
            Raw::JumpIfTrueOrPop => Op::JumpIfOrPop { cond: JumpCond::True, target: self.jump()? },
            Raw::JumpIfFalseOrPop => Op::JumpIfOrPop { cond: JumpCond::False, target: self.jump()? },
            Raw::JumpIfNotExcMatch => Op::JumpIfNotExcMatch(self.jump()?),
            Raw::GetIter => Op::GetIter,
            Raw::ForIter => Op::ForIter(self.jump()?),
            Raw::EndFor => {
                if version == Version::V312 {
                    self.push(Op::PopTop);
                }
                Op::PopTop
            }
            Raw::Precall => return self.precall(),
            Raw::KwNames => return self.kw_names(),
            Raw::Call if version == Version::V311 => return Err(self.bad_shape()),
            Raw::Call | Raw::CallMethod => Op::Call { argc: arg, two: true },
            Raw::CallFunction => Op::Call { argc: arg, two: false },
            Raw::CallFunctionKw => Op::CallKw { argc: arg, two: false },
            Raw::CallKw => Op::CallKw { argc: arg, two: true },
            Raw::CallFunctionEx => Op::CallEx { kwargs: arg & 1 == 1, null: version >= Version::V311 },
            Raw::CallIntrinsic1 => return self.intrinsic_1().map(|()| 0),
            Raw::CallIntrinsic2 => return self.intrinsic_2().map(|()| 0),
            Raw::MakeFunction if version >= Version::V313 => Op::MakeFunction { flags: 0, qualname: false },
            Raw::MakeFunction if arg < 16 => Op::MakeFunction { flags: arg, qualname: version < Version::V311 },
            Raw::MakeFunction => return Err(self.bad_operand()),
            Raw::SetFunctionAttribute if matches!(arg, 1 | 2 | 4 | 8) => Op::SetFunctionAttribute(arg),
            Raw::SetFunctionAttribute => return Err(self.bad_operand()),
            Raw::ReturnValue => Op::ReturnValue,
            Raw::ReturnConst => {
                self.push(Op::LoadConst(ConstId(arg)));
                Op::ReturnValue
            }
            Raw::ReturnGenerator => Op::ReturnGenerator,
            Raw::GenStart => Op::GenStart(arg),
            Raw::Resume => Op::Resume(arg),
            Raw::YieldValue => Op::YieldValue(if version < Version::V312 { 0 } else { arg }),
            Raw::YieldFrom => Op::YieldFrom,
            Raw::GetYieldFromIter => Op::GetYieldFromIter,
            Raw::Send => Op::Send(self.jump()?),
            Raw::EndSend => Op::EndSend,
            Raw::GetAwaitable => Op::GetAwaitable(if version < Version::V311 { 0 } else { arg }),
            Raw::GetAiter => Op::GetAiter,
            Raw::GetAnext => Op::GetAnext,
            Raw::BeforeAsyncWith => Op::BeforeAsyncWith,
            Raw::EndAsyncFor if version < Version::V311 => Op::EndAsyncForTriple,
            Raw::EndAsyncFor => Op::EndAsyncFor,
            Raw::AsyncGenWrap => Op::AsyncGenWrap,
            Raw::CleanupThrow => Op::CleanupThrow,
            Raw::ImportName => Op::ImportName(self.name(arg)?),
            Raw::ImportFrom => Op::ImportFrom(self.name(arg)?),
            Raw::ImportStar => Op::ImportStar,
            Raw::PrintExpr => Op::PrintExpr,
            Raw::RaiseVarargs if arg < 3 => Op::RaiseVarargs(arg),
            Raw::RaiseVarargs => return Err(self.bad_operand()),
            Raw::Reraise if version < Version::V310 => Op::ReraiseTriple(0),
            Raw::Reraise if version < Version::V311 => Op::ReraiseTriple(arg),
            Raw::Reraise => Op::Reraise(arg),
            Raw::PopExcept if version < Version::V311 => Op::PopExceptTriple,
            Raw::PopExcept => Op::PopExcept,
            Raw::PushExcInfo => Op::PushExcInfo,
            Raw::CheckExcMatch => Op::CheckExcMatch,
            Raw::CheckEgMatch => Op::CheckEgMatch,
            Raw::PrepReraiseStar => Op::PrepReraiseStar,
            Raw::BeforeWith => Op::BeforeWith,
            Raw::WithExceptStart if version < Version::V311 => Op::WithExceptStartTriple,
            Raw::WithExceptStart => Op::WithExceptStart,
            Raw::SetupFinally => Op::SetupFinally(self.jump()?),
            Raw::SetupWith => Op::SetupWith(self.jump()?),
            Raw::SetupAsyncWith => Op::SetupAsyncWith(self.jump()?),
            Raw::PopBlock => Op::PopBlock,
            Raw::CallFinally => Op::CallFinally(self.jump()?),
            Raw::BeginFinally => Op::BeginFinally,
            Raw::EndFinally => Op::EndFinally,
            Raw::PopFinally if arg < 2 => Op::PopFinally(arg),
            Raw::PopFinally => return Err(self.bad_operand()),
            Raw::WithCleanupStart => Op::WithCleanupStart,
            Raw::WithCleanupFinish => Op::WithCleanupFinish,
            Raw::MatchClass if version < Version::V311 => Op::MatchClassTest(arg),
            Raw::MatchClass => Op::MatchClass(arg),
            Raw::MatchMapping => Op::MatchMapping,
            Raw::MatchSequence => Op::MatchSequence,
            Raw::MatchKeys if version < Version::V311 => Op::MatchKeysTest,
            Raw::MatchKeys => Op::MatchKeys,
            Raw::CopyDictWithoutKeys => Op::CopyDictWithoutKeys,
            Raw::GetLen => Op::GetLen,
            Raw::Cache
            | Raw::EnterExecutor
            | Raw::ExitInitCheck
            | Raw::ExtendedArg
            | Raw::InstrumentedInstruction
            | Raw::InstrumentedLine
            | Raw::InterpreterExit
            | Raw::Reserved => {
                return Err(DecodeError::Internal { offset: self.unit.at, name: self.unit.raw.name() });
            }
        };
        self.push(op);
        Ok(0)
    }
}

// Keeps the comparison operators in the order of the tables.
const _: () = assert!(matches!(CompareOp::ALL[0], CompareOp::Lt) && matches!(CompareOp::ALL[5], CompareOp::Ge));

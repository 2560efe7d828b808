//! One `Op` to the raw instructions of the version. One exhaustive match: a new `Op` does not compile unanswered.

use super::lowerer::{Dest, Lowerer};
use crate::tables::raw::Raw;
use crate::{BinaryOp, Cell, EncodeError, Intrinsic, JumpCond, Local, NameId, Op, UnaryOp, Version, operands};

/// A local or cell slot that 3.13 loads (`false`) or stores (`true`) with the FAST opcodes.
pub(super) fn fast(lowerer: &Lowerer<'_>, op: Op) -> Option<(bool, u32)> {
    match op {
        Op::LoadFast { local, check: false } if local.0 < lowerer.slots.locals => Some((false, local.0)),
        Op::LoadClosure(cell) => Some((false, lowerer.slots.operand(cell)?)),
        Op::StoreFast(local) if local.0 < lowerer.slots.locals => Some((true, local.0)),
        Op::StoreClosure(cell) => Some((true, lowerer.slots.operand(cell)?)),
        _ => None,
    }
}

/// A two-slot call; PRECALL goes before it in 3.11.
pub(super) fn call(lowerer: &mut Lowerer<'_>, argc: u32) -> Result<(), EncodeError> {
    match lowerer.version {
        Version::V38 | Version::V39 | Version::V310 => lowerer.emit(Raw::CallMethod, argc),
        Version::V311 => {
            lowerer.emit(Raw::Precall, argc)?;
            lowerer.emit(Raw::Call, argc)
        }
        Version::V312 | Version::V313 => lowerer.emit(Raw::Call, argc),
    }
}

pub(super) fn lower(l: &mut Lowerer<'_>) -> Result<(), EncodeError> {
    let version = l.version;
    let plain = |l: &mut Lowerer<'_>, raw| l.emit(raw, 0);
    match l.instr().op {
        Op::Nop => plain(l, Raw::Nop),
        Op::PopTop => plain(l, Raw::PopTop),
        Op::PushNull => plain(l, Raw::PushNull),
        Op::Copy(n) => copy(l, n),
        Op::Swap(n) => swap(l, n),
        Op::RotN(n) => rot(l, n),
        Op::LoadConst(c) => l.emit(Raw::LoadConst, c.0),
        Op::LoadFast { local, check } => {
            let arg = local_arg(l, local)?;
            l.emit(if check && version >= Version::V312 { Raw::LoadFastCheck } else { Raw::LoadFast }, arg)
        }
        Op::LoadFastAndClear(local) => l.emit(Raw::LoadFastAndClear, local_arg(l, local)?),
        Op::StoreFast(local) => l.emit(Raw::StoreFast, local_arg(l, local)?),
        Op::DeleteFast(local) => l.emit(Raw::DeleteFast, local_arg(l, local)?),
        Op::LoadGlobal(n) if version >= Version::V311 => l.emit(Raw::LoadGlobal, name_arg(l, n)? << 1),
        Op::LoadGlobal(n) => l.emit(Raw::LoadGlobal, name_arg(l, n)?),
        Op::StoreGlobal(n) => l.emit(Raw::StoreGlobal, name_arg(l, n)?),
        Op::DeleteGlobal(n) => l.emit(Raw::DeleteGlobal, name_arg(l, n)?),
        Op::LoadName(n) => l.emit(Raw::LoadName, name_arg(l, n)?),
        Op::StoreName(n) => l.emit(Raw::StoreName, name_arg(l, n)?),
        Op::DeleteName(n) => l.emit(Raw::DeleteName, name_arg(l, n)?),
        Op::LoadDeref(c) => l.emit(Raw::LoadDeref, cell_arg(l, c)?),
        Op::StoreDeref(c) => l.emit(Raw::StoreDeref, cell_arg(l, c)?),
        Op::DeleteDeref(c) => l.emit(Raw::DeleteDeref, cell_arg(l, c)?),
        Op::LoadClosure(c) => {
            l.emit(if version >= Version::V313 { Raw::LoadFast } else { Raw::LoadClosure }, cell_arg(l, c)?)
        }
        Op::LoadClosureAndClear(c) => l.emit(Raw::LoadFastAndClear, cell_arg(l, c)?),
        Op::StoreClosure(c) if version >= Version::V312 => l.emit(Raw::StoreFast, cell_arg(l, c)?),
        Op::StoreClosure(_) => Err(l.unsupported()),
        Op::LoadClassDeref(c) => l.emit(Raw::LoadClassderef, cell_arg(l, c)?),
        Op::LoadFromDictOrDeref(c) => l.emit(Raw::LoadFromDictOrDeref, cell_arg(l, c)?),
        Op::LoadFromDictOrGlobals(n) => l.emit(Raw::LoadFromDictOrGlobals, name_arg(l, n)?),
        Op::LoadLocals => plain(l, Raw::LoadLocals),
        Op::LoadBuildClass => plain(l, Raw::LoadBuildClass),
        Op::LoadAssertionError => plain(l, Raw::LoadAssertionError),
        Op::MakeCell(c) => l.emit(Raw::MakeCell, cell_arg(l, c)?),
        // The interpreter copies that many out of the closure into the slots of `freevars`, unchecked.
        Op::CopyFreeVars(n) if n as usize == l.code.freevars.len() => l.emit(Raw::CopyFreeVars, n),
        Op::CopyFreeVars(_) => Err(l.bad_operand()),
        Op::SetupAnnotations => plain(l, Raw::SetupAnnotations),
        Op::LoadAttr(n) if version >= Version::V312 => l.emit(Raw::LoadAttr, name_arg(l, n)? << 1),
        Op::LoadAttr(n) => l.emit(Raw::LoadAttr, name_arg(l, n)?),
        Op::StoreAttr(n) => l.emit(Raw::StoreAttr, name_arg(l, n)?),
        Op::DeleteAttr(n) => l.emit(Raw::DeleteAttr, name_arg(l, n)?),
        Op::LoadMethod(n) if version >= Version::V312 => l.emit(Raw::LoadAttr, name_arg(l, n)? << 1 | 1),
        Op::LoadMethod(n) => l.emit(Raw::LoadMethod, name_arg(l, n)?),
        Op::LoadSuperAttr { name, two_arg, method } => {
            let flags = u32::from(two_arg) << 1 | u32::from(method);
            l.emit(Raw::LoadSuperAttr, name_arg(l, name)? << 2 | flags)
        }
        Op::BinarySubscr => plain(l, Raw::BinarySubscr),
        Op::StoreSubscr => plain(l, Raw::StoreSubscr),
        Op::DeleteSubscr => plain(l, Raw::DeleteSubscr),
        Op::BinarySlice => plain(l, Raw::BinarySlice),
        Op::StoreSlice => plain(l, Raw::StoreSlice),
        Op::Unary(op) => unary(l, op),
        Op::Binary { op, inplace } => binary(l, op, inplace),
        Op::Compare { op, to_bool } => {
            l.emit(Raw::CompareOp, operands::compare_arg(version, op, to_bool))?;
            if to_bool && version < Version::V313 {
                return Err(l.unsupported());
            }
            Ok(())
        }
        Op::Is { invert } if version == Version::V38 => l.emit(Raw::CompareOp, 8 + u32::from(invert)),
        Op::Is { invert } => l.emit(Raw::IsOp, u32::from(invert)),
        Op::Contains { invert } if version == Version::V38 => l.emit(Raw::CompareOp, 6 + u32::from(invert)),
        Op::Contains { invert } => l.emit(Raw::ContainsOp, u32::from(invert)),
        Op::BuildTuple(n) => l.emit(Raw::BuildTuple, n),
        Op::BuildList(n) => l.emit(Raw::BuildList, n),
        Op::BuildSet(n) => l.emit(Raw::BuildSet, n),
        Op::BuildMap(n) => l.emit(Raw::BuildMap, n),
        Op::BuildConstKeyMap(n) => l.emit(Raw::BuildConstKeyMap, n),
        Op::BuildString(n) => l.emit(Raw::BuildString, n),
        Op::BuildSlice(n @ (2 | 3)) => l.emit(Raw::BuildSlice, n),
        Op::BuildSlice(_) => Err(l.bad_operand()),
        Op::ListAppend(n) => l.emit(Raw::ListAppend, n),
        Op::SetAdd(n) => l.emit(Raw::SetAdd, n),
        Op::MapAdd(n) => l.emit(Raw::MapAdd, n),
        Op::ListExtend(n) => l.emit(Raw::ListExtend, n),
        Op::SetUpdate(n) => l.emit(Raw::SetUpdate, n),
        Op::DictUpdate(n) => l.emit(Raw::DictUpdate, n),
        Op::DictMerge(n) => l.emit(Raw::DictMerge, n),
        Op::ListToTuple if version >= Version::V312 => l.emit(Raw::CallIntrinsic1, 6),
        Op::ListToTuple => plain(l, Raw::ListToTuple),
        Op::BuildTupleUnpack(n) => l.emit(Raw::BuildTupleUnpack, n),
        Op::BuildTupleUnpackWithCall(n) => l.emit(Raw::BuildTupleUnpackWithCall, n),
        Op::BuildListUnpack(n) => l.emit(Raw::BuildListUnpack, n),
        Op::BuildSetUnpack(n) => l.emit(Raw::BuildSetUnpack, n),
        Op::BuildMapUnpack(n) => l.emit(Raw::BuildMapUnpack, n),
        Op::BuildMapUnpackWithCall(n) => l.emit(Raw::BuildMapUnpackWithCall, n),
        Op::UnpackSequence(n) => l.emit(Raw::UnpackSequence, n),
        Op::UnpackEx { before, after } if before < 256 && after < 1 << 23 => l.emit(Raw::UnpackEx, after << 8 | before),
        Op::UnpackEx { .. } => Err(l.bad_operand()),
        Op::FormatValue { conversion, spec } => {
            let arg = operands::conversion_arg(conversion);
            if version < Version::V313 {
                return l.emit(Raw::FormatValue, arg | u32::from(spec) << 2);
            }
            match (conversion, spec) {
                (None, spec) => plain(l, if spec { Raw::FormatWithSpec } else { Raw::FormatSimple }),
                (Some(_), false) => {
                    l.emit(Raw::ConvertValue, arg)?;
                    plain(l, Raw::FormatSimple)
                }
                (Some(_), true) => {
                    l.emit(Raw::Swap, 2)?;
                    l.emit(Raw::ConvertValue, arg)?;
                    l.emit(Raw::Swap, 2)?;
                    plain(l, Raw::FormatWithSpec)
                }
            }
        }
        Op::ConvertValue(conversion) => l.emit(Raw::ConvertValue, operands::conversion_arg(Some(conversion))),
        Op::Jump { target, no_interrupt } => {
            let to = l.dest(target)?;
            let raw = match (version < Version::V311, to as usize > l.at, no_interrupt) {
                (true, true, true) | (false, true, _) => Raw::JumpForward,
                (true, _, _) => Raw::JumpAbsolute,
                (false, false, true) => Raw::JumpBackwardNoInterrupt,
                (false, false, false) => Raw::JumpBackward,
            };
            l.emit_jump(raw, Dest::Instr(to))
        }
        Op::PopJumpIf { cond, target } => {
            let to = l.dest(target)?;
            pop_jump(l, cond, to)
        }
        Op::JumpIfOrPop { cond, target } => jump_if_or_pop(l, cond, l.dest(target)?),
        Op::JumpIfNotExcMatch(target) if version == Version::V38 => {
            l.emit(Raw::CompareOp, 10)?;
            pop_jump(l, JumpCond::False, l.dest(target)?)
        }
        Op::JumpIfNotExcMatch(target) => l.emit_jump(Raw::JumpIfNotExcMatch, Dest::Instr(l.dest(target)?)),
        Op::GetIter => plain(l, Raw::GetIter),
        Op::ForIter(target) => {
            let to = l.dest(target)?;
            if to as usize <= l.at {
                return Err(EncodeError::Backward { at: l.at, op: l.instr().op });
            }
            l.emit_jump(Raw::ForIter, if version >= Version::V312 { Dest::EndFor(to) } else { Dest::Instr(to) })
        }
        Op::Call { argc, two: true } => call(l, argc),
        Op::Call { argc, two: false } => l.emit(Raw::CallFunction, argc),
        Op::CallKw { argc, two: false } => l.emit(Raw::CallFunctionKw, argc),
        Op::CallKw { .. } if matches!(version, Version::V311 | Version::V312) => Err(EncodeError::KwNames { at: l.at }),
        Op::CallKw { argc, two: true } => l.emit(Raw::CallKw, argc),
        Op::CallEx { kwargs, null } if null == (version >= Version::V311) => {
            l.emit(Raw::CallFunctionEx, u32::from(kwargs))
        }
        Op::CallEx { .. } => Err(l.unsupported()),
        Op::Intrinsic1(intrinsic) | Op::Intrinsic2(intrinsic) => {
            let (arg, operands) = operands::intrinsic_arg(intrinsic);
            let expected = if matches!(l.instr().op, Op::Intrinsic1(_)) { 1 } else { 2 };
            if operands != expected {
                return Err(l.bad_operand());
            }
            if intrinsic == Intrinsic::SetTypeparamDefault && version < Version::V313 {
                return Err(l.unsupported());
            }
            l.emit(if operands == 1 { Raw::CallIntrinsic1 } else { Raw::CallIntrinsic2 }, arg)
        }
        Op::MakeFunction { flags, qualname } => {
            if qualname != (version < Version::V311) || (version >= Version::V313 && flags != 0) {
                return Err(l.unsupported());
            }
            if flags > 15 {
                return Err(l.bad_operand());
            }
            l.emit(Raw::MakeFunction, flags)
        }
        Op::SetFunctionAttribute(flag @ (1 | 2 | 4 | 8)) => l.emit(Raw::SetFunctionAttribute, flag),
        Op::SetFunctionAttribute(_) => Err(l.bad_operand()),
        Op::ReturnValue => plain(l, Raw::ReturnValue),
        Op::ReturnGenerator => plain(l, Raw::ReturnGenerator),
        Op::GenStart(kind) => l.emit(Raw::GenStart, kind),
        Op::Resume(kind) => l.emit(Raw::Resume, kind),
        // Where an opcode has no operand, there is no saying it.
        Op::YieldValue(1..) if version < Version::V312 => Err(l.unsupported()),
        Op::GetAwaitable(1..) if version < Version::V311 => Err(l.unsupported()),
        Op::ReraiseTriple(1..) if version < Version::V310 => Err(l.unsupported()),
        Op::YieldValue(arg) => l.emit(Raw::YieldValue, arg),
        Op::YieldFrom => plain(l, Raw::YieldFrom),
        Op::GetYieldFromIter => plain(l, Raw::GetYieldFromIter),
        Op::Send(target) => {
            let to = l.dest(target)?;
            // 3.11 drops the receiver itself: behind the `EndSend`.
            let skip = version == Version::V311;
            if skip && !matches!(l.code.instrs[to as usize].op, Op::EndSend) {
                return Err(l.unsupported());
            }
            if skip && to as usize + 1 >= l.code.instrs.len() {
                return Err(EncodeError::FallsOffEnd);
            }
            l.emit_jump(Raw::Send, Dest::Instr(to + u32::from(skip)))
        }
        Op::EndSend if version == Version::V311 => end_send(l),
        Op::EndSend => plain(l, Raw::EndSend),
        Op::GetAwaitable(arg) => l.emit(Raw::GetAwaitable, arg),
        Op::GetAiter => plain(l, Raw::GetAiter),
        Op::GetAnext => plain(l, Raw::GetAnext),
        Op::BeforeAsyncWith => plain(l, Raw::BeforeAsyncWith),
        Op::EndAsyncFor | Op::EndAsyncForTriple => {
            in_triples(l, matches!(l.instr().op, Op::EndAsyncForTriple), Raw::EndAsyncFor, 0)
        }
        Op::AsyncGenWrap if version >= Version::V312 => l.emit(Raw::CallIntrinsic1, 4),
        Op::AsyncGenWrap => plain(l, Raw::AsyncGenWrap),
        Op::CleanupThrow => plain(l, Raw::CleanupThrow),
        Op::ImportName(n) => l.emit(Raw::ImportName, name_arg(l, n)?),
        Op::ImportFrom(n) => l.emit(Raw::ImportFrom, name_arg(l, n)?),
        Op::ImportStar => plain(l, Raw::ImportStar),
        Op::PrintExpr => plain(l, Raw::PrintExpr),
        Op::RaiseVarargs(n @ 0..=2) => l.emit(Raw::RaiseVarargs, n),
        Op::RaiseVarargs(_) => Err(l.bad_operand()),
        Op::Reraise(n) => in_triples(l, false, Raw::Reraise, n),
        Op::ReraiseTriple(n) => in_triples(l, true, Raw::Reraise, n),
        Op::PopExcept => in_triples(l, false, Raw::PopExcept, 0),
        Op::PopExceptTriple => in_triples(l, true, Raw::PopExcept, 0),
        Op::PushExcInfo => plain(l, Raw::PushExcInfo),
        Op::CheckExcMatch => plain(l, Raw::CheckExcMatch),
        Op::CheckEgMatch => plain(l, Raw::CheckEgMatch),
        Op::PrepReraiseStar if version >= Version::V312 => l.emit(Raw::CallIntrinsic2, 1),
        Op::PrepReraiseStar => plain(l, Raw::PrepReraiseStar),
        Op::BeforeWith => plain(l, Raw::BeforeWith),
        Op::WithExceptStart => in_triples(l, false, Raw::WithExceptStart, 0),
        Op::WithExceptStartTriple => in_triples(l, true, Raw::WithExceptStart, 0),
        Op::SetupFinally(target) => l.emit_jump(Raw::SetupFinally, Dest::Instr(l.dest(target)?)),
        Op::SetupWith(target) => l.emit_jump(Raw::SetupWith, Dest::Instr(l.dest(target)?)),
        Op::SetupAsyncWith(target) => l.emit_jump(Raw::SetupAsyncWith, Dest::Instr(l.dest(target)?)),
        Op::PopBlock => plain(l, Raw::PopBlock),
        Op::CallFinally(target) => l.emit_jump(Raw::CallFinally, Dest::Instr(l.dest(target)?)),
        Op::BeginFinally => plain(l, Raw::BeginFinally),
        Op::EndFinally => plain(l, Raw::EndFinally),
        Op::PopFinally(keep @ 0..=1) => l.emit(Raw::PopFinally, keep),
        Op::PopFinally(_) => Err(l.bad_operand()),
        Op::WithCleanupStart => plain(l, Raw::WithCleanupStart),
        Op::WithCleanupFinish => plain(l, Raw::WithCleanupFinish),
        Op::MatchClass(n) if version >= Version::V311 => l.emit(Raw::MatchClass, n),
        Op::MatchClassTest(n) if version == Version::V310 => l.emit(Raw::MatchClass, n),
        Op::MatchKeys if version >= Version::V311 => plain(l, Raw::MatchKeys),
        Op::MatchKeysTest if version == Version::V310 => plain(l, Raw::MatchKeys),
        Op::MatchClass(_) | Op::MatchClassTest(_) | Op::MatchKeys | Op::MatchKeysTest => Err(l.unsupported()),
        Op::MatchMapping => plain(l, Raw::MatchMapping),
        Op::MatchSequence => plain(l, Raw::MatchSequence),
        Op::CopyDictWithoutKeys => plain(l, Raw::CopyDictWithoutKeys),
        Op::GetLen => plain(l, Raw::GetLen),
    }
}

/// Names, locals and cells are not checked by the interpreter: an index out of range would crash it.
pub(super) fn name_arg(l: &Lowerer<'_>, name: NameId) -> Result<u32, EncodeError> {
    if (name.0 as usize) < l.code.names.len() { Ok(name.0) } else { Err(l.bad_operand()) }
}

fn local_arg(l: &Lowerer<'_>, local: Local) -> Result<u32, EncodeError> {
    if local.0 < l.slots.locals { Ok(local.0) } else { Err(l.bad_operand()) }
}

fn cell_arg(l: &Lowerer<'_>, cell: Cell) -> Result<u32, EncodeError> {
    l.slots.operand(cell).ok_or_else(|| l.bad_operand())
}

/// An opcode that works on three slots per exception up to 3.10 and on one from 3.11 on.
fn in_triples(l: &mut Lowerer<'_>, triples: bool, raw: Raw, arg: u32) -> Result<(), EncodeError> {
    if triples == (l.version < Version::V311) { l.emit(raw, arg) } else { Err(l.unsupported()) }
}

/// How deep a copy, exchange or rotation that the version lacks may reach: it takes up to that many instructions.
const DEEPEST: u32 = 4096;

/// Up to 3.10 from rotations: n - 1 times the top to the n-th place brings the n-th to the top.
fn copy(l: &mut Lowerer<'_>, n: u32) -> Result<(), EncodeError> {
    match (l.version >= Version::V311, n) {
        (true, 1..) => l.emit(Raw::Copy, n),
        (false, 1) => l.emit(Raw::DupTop, 0),
        (false, 2) => {
            l.emit(Raw::DupTopTwo, 0)?;
            l.emit(Raw::PopTop, 0)
        }
        (false, 3..=DEEPEST) => {
            for _ in 1..n {
                rot(l, n)?;
            }
            l.emit(Raw::DupTop, 0)?;
            rot(l, n + 1)
        }
        _ => Err(l.bad_operand()),
    }
}

fn swap(l: &mut Lowerer<'_>, n: u32) -> Result<(), EncodeError> {
    match (l.version >= Version::V311, n) {
        (true, 2..) => l.emit(Raw::Swap, n),
        (false, 2..=DEEPEST) => {
            rot(l, n)?;
            for _ in 2..n {
                rot(l, n - 1)?;
            }
            Ok(())
        }
        _ => Err(l.bad_operand()),
    }
}

fn rot(l: &mut Lowerer<'_>, n: u32) -> Result<(), EncodeError> {
    match (l.version >= Version::V311, n) {
        (true, 2..=DEEPEST) => (2..=n).rev().try_for_each(|i| l.emit(Raw::Swap, i)),
        (false, 2) => l.emit(Raw::RotTwo, 0),
        (false, 3) => l.emit(Raw::RotThree, 0),
        (false, 4) => l.emit(Raw::RotFour, 0),
        (false, 5..) => l.emit(Raw::RotN, n),
        _ => Err(l.bad_operand()),
    }
}

fn unary(l: &mut Lowerer<'_>, op: UnaryOp) -> Result<(), EncodeError> {
    match op {
        UnaryOp::Positive if l.version >= Version::V312 => l.emit(Raw::CallIntrinsic1, 5),
        UnaryOp::Positive => l.emit(Raw::UnaryPositive, 0),
        UnaryOp::Negative => l.emit(Raw::UnaryNegative, 0),
        UnaryOp::Invert => l.emit(Raw::UnaryInvert, 0),
        UnaryOp::Not => l.emit(Raw::UnaryNot, 0),
        UnaryOp::ToBool => l.emit(Raw::ToBool, 0),
    }
}

fn binary(l: &mut Lowerer<'_>, op: BinaryOp, inplace: bool) -> Result<(), EncodeError> {
    if l.version >= Version::V311 {
        return l.emit(Raw::BinaryOp, operands::binary_arg(op, inplace));
    }
    let (plain, in_place) = match op {
        BinaryOp::Add => (Raw::BinaryAdd, Raw::InplaceAdd),
        BinaryOp::And => (Raw::BinaryAnd, Raw::InplaceAnd),
        BinaryOp::FloorDivide => (Raw::BinaryFloorDivide, Raw::InplaceFloorDivide),
        BinaryOp::Lshift => (Raw::BinaryLshift, Raw::InplaceLshift),
        BinaryOp::MatrixMultiply => (Raw::BinaryMatrixMultiply, Raw::InplaceMatrixMultiply),
        BinaryOp::Multiply => (Raw::BinaryMultiply, Raw::InplaceMultiply),
        BinaryOp::Remainder => (Raw::BinaryModulo, Raw::InplaceModulo),
        BinaryOp::Or => (Raw::BinaryOr, Raw::InplaceOr),
        BinaryOp::Power => (Raw::BinaryPower, Raw::InplacePower),
        BinaryOp::Rshift => (Raw::BinaryRshift, Raw::InplaceRshift),
        BinaryOp::Subtract => (Raw::BinarySubtract, Raw::InplaceSubtract),
        BinaryOp::TrueDivide => (Raw::BinaryTrueDivide, Raw::InplaceTrueDivide),
        BinaryOp::Xor => (Raw::BinaryXor, Raw::InplaceXor),
    };
    l.emit(if inplace { in_place } else { plain }, 0)
}

/// 3.11 has a backward form of each conditional jump; from 3.12 on the opposite one jumps over a JUMP_BACKWARD.
fn pop_jump(l: &mut Lowerer<'_>, cond: JumpCond, to: u32) -> Result<(), EncodeError> {
    let back = to as usize <= l.at;
    let [plain, forward, backward] = match cond {
        JumpCond::True => [Raw::PopJumpIfTrue, Raw::PopJumpForwardIfTrue, Raw::PopJumpBackwardIfTrue],
        JumpCond::False => [Raw::PopJumpIfFalse, Raw::PopJumpForwardIfFalse, Raw::PopJumpBackwardIfFalse],
        JumpCond::None => [Raw::PopJumpIfNone, Raw::PopJumpForwardIfNone, Raw::PopJumpBackwardIfNone],
        JumpCond::NotNone => [Raw::PopJumpIfNotNone, Raw::PopJumpForwardIfNotNone, Raw::PopJumpBackwardIfNotNone],
    };
    if l.version == Version::V311 {
        return l.emit_jump(if back { backward } else { forward }, Dest::Instr(to));
    }
    if l.version < Version::V311 || !back {
        return l.emit_jump(plain, Dest::Instr(to));
    }
    let opposite = match cond {
        JumpCond::True => Raw::PopJumpIfFalse,
        JumpCond::False => Raw::PopJumpIfTrue,
        JumpCond::None => Raw::PopJumpIfNotNone,
        JumpCond::NotNone => Raw::PopJumpIfNone,
    };
    l.emit_jump(opposite, Dest::Skip(1))?;
    l.emit_jump(Raw::JumpBackward, Dest::Instr(to))
}

/// Gone in 3.12, forward only in 3.11: there a copy is tested.
fn jump_if_or_pop(l: &mut Lowerer<'_>, cond: JumpCond, to: u32) -> Result<(), EncodeError> {
    let raw = match cond {
        JumpCond::True => Raw::JumpIfTrueOrPop,
        JumpCond::False => Raw::JumpIfFalseOrPop,
        JumpCond::None | JumpCond::NotNone => return Err(l.bad_operand()),
    };
    if l.version < Version::V311 || (l.version == Version::V311 && to as usize > l.at) {
        return l.emit_jump(raw, Dest::Instr(to));
    }
    l.emit(Raw::Copy, 1)?;
    if l.has(Raw::ToBool) {
        l.emit(Raw::ToBool, 0)?;
    }
    pop_jump(l, cond, to)?;
    l.emit(Raw::PopTop, 0)
}

/// 3.11: nothing where only SEND comes in, which jumps behind it.
fn end_send(l: &mut Lowerer<'_>) -> Result<(), EncodeError> {
    let at = l.at;
    let run_into = at == 0 || l.code.instrs[at - 1].op.falls_through();
    let jumped_to = l.code.instrs.iter().any(|i| {
        !matches!(i.op, Op::Send(_)) && i.op.target().is_some_and(|t| l.code.labels.get(t.0 as usize) == Some(&at))
    });
    if run_into || jumped_to {
        l.emit(Raw::Swap, 2)?;
        l.emit(Raw::PopTop, 0)?;
    }
    Ok(())
}

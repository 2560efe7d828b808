//! How many slots each `Op` takes from the stack and leaves on it. The same in every version.

use crate::Op;

/// `(pops, pushes)` when control falls through, or, with `jump`, when it goes to the label.
///
/// Slots that are only looked at, and stay as they are, count in neither. For SETUP_* the jump is the entry
/// of the handler, with the six slots that an exception has up to 3.10. The block ops of 3.8 (`BeginFinally`, ..) are
/// given as on the path without an exception.
#[must_use]
#[inline]
pub fn stack_effect(op: &Op, jump: bool) -> (u32, u32) {
    match *op {
        Op::Nop
        | Op::Jump { .. }
        | Op::Resume(_)
        | Op::MakeCell(_)
        | Op::CopyFreeVars(_)
        | Op::SetupAnnotations
        | Op::DeleteFast(_)
        | Op::DeleteGlobal(_)
        | Op::DeleteName(_)
        | Op::DeleteDeref(_)
        | Op::PopBlock => (0, 0),
        Op::PushNull
        | Op::Copy(_)
        | Op::LoadConst(_)
        | Op::LoadFast { .. }
        | Op::LoadFastAndClear(_)
        | Op::LoadGlobal(_)
        | Op::LoadName(_)
        | Op::LoadDeref(_)
        | Op::LoadClosure(_)
        | Op::LoadClosureAndClear(_)
        | Op::LoadClassDeref(_)
        | Op::LoadLocals
        | Op::LoadBuildClass
        | Op::LoadAssertionError
        | Op::ReturnGenerator
        | Op::GetAnext
        | Op::ImportFrom(_)
        | Op::WithExceptStart
        | Op::WithExceptStartTriple
        | Op::BeginFinally
        | Op::MatchMapping
        | Op::MatchSequence
        | Op::MatchKeys
        | Op::GetLen => (0, 1),
        Op::PopTop
        | Op::StoreFast(_)
        | Op::StoreGlobal(_)
        | Op::StoreName(_)
        | Op::StoreDeref(_)
        | Op::StoreClosure(_)
        | Op::DeleteAttr(_)
        | Op::ListAppend(_)
        | Op::SetAdd(_)
        | Op::ListExtend(_)
        | Op::SetUpdate(_)
        | Op::DictUpdate(_)
        | Op::DictMerge(_)
        | Op::PopJumpIf { .. }
        | Op::ReturnValue
        | Op::GenStart(_)
        | Op::ImportStar
        | Op::PrintExpr
        | Op::Reraise(_)
        | Op::PopExcept
        | Op::EndFinally => (1, 0),
        Op::LoadFromDictOrDeref(_)
        | Op::LoadFromDictOrGlobals(_)
        | Op::LoadAttr(_)
        | Op::Unary(_)
        | Op::ListToTuple
        | Op::ConvertValue(_)
        | Op::GetIter
        | Op::Intrinsic1(_)
        | Op::YieldValue(_)
        | Op::GetYieldFromIter
        | Op::Send(_)
        | Op::GetAwaitable(_)
        | Op::GetAiter
        | Op::AsyncGenWrap
        | Op::CheckExcMatch
        | Op::CopyDictWithoutKeys => (1, 1),
        Op::LoadMethod(_) | Op::BeforeAsyncWith | Op::BeforeWith | Op::PushExcInfo => (1, 2),
        Op::StoreAttr(_)
        | Op::DeleteSubscr
        | Op::MapAdd(_)
        | Op::EndAsyncFor
        | Op::JumpIfNotExcMatch(_)
        | Op::WithCleanupFinish => (2, 0),
        Op::BinarySubscr
        | Op::Binary { .. }
        | Op::Compare { .. }
        | Op::Is { .. }
        | Op::Contains { .. }
        | Op::Intrinsic2(_)
        | Op::SetFunctionAttribute(_)
        | Op::YieldFrom
        | Op::EndSend
        | Op::ImportName(_)
        | Op::PrepReraiseStar => (2, 1),
        Op::CheckEgMatch => (2, 2),
        Op::WithCleanupStart => (2, 3),
        Op::StoreSubscr | Op::ReraiseTriple(_) | Op::PopExceptTriple => (3, 0),
        Op::BinarySlice | Op::MatchClass(_) => (3, 1),
        Op::MatchClassTest(_) | Op::CleanupThrow => (3, 2),
        Op::MatchKeysTest => (0, 2),
        Op::StoreSlice => (4, 0),
        Op::EndAsyncForTriple => (7, 0),
        Op::Swap(n) | Op::RotN(n) => (n, n),
        Op::LoadSuperAttr { method, .. } => (3, 1 + u32::from(method)),
        Op::BuildTuple(n)
        | Op::BuildList(n)
        | Op::BuildSet(n)
        | Op::BuildString(n)
        | Op::BuildSlice(n)
        | Op::BuildTupleUnpack(n)
        | Op::BuildTupleUnpackWithCall(n)
        | Op::BuildListUnpack(n)
        | Op::BuildSetUnpack(n)
        | Op::BuildMapUnpack(n)
        | Op::BuildMapUnpackWithCall(n) => (n, 1),
        Op::BuildMap(n) => (n.saturating_mul(2), 1),
        Op::BuildConstKeyMap(n) => (n.saturating_add(1), 1),
        Op::UnpackSequence(n) => (1, n),
        Op::UnpackEx { before, after } => (1, before.saturating_add(1).saturating_add(after)),
        Op::FormatValue { spec, .. } => (1 + u32::from(spec), 1),
        Op::JumpIfOrPop { .. } => (u32::from(!jump), 0),
        Op::ForIter(_) => {
            if jump {
                (1, 0)
            } else {
                (0, 1)
            }
        }
        Op::Call { argc, two } => (argc.saturating_add(1 + u32::from(two)), 1),
        Op::CallKw { argc, two } => (argc.saturating_add(2 + u32::from(two)), 1),
        Op::CallEx { kwargs, null } => (2 + u32::from(kwargs) + u32::from(null), 1),
        Op::MakeFunction { flags, qualname } => (1 + u32::from(qualname) + (flags & 15).count_ones(), 1),
        Op::RaiseVarargs(n) => (n, 0),
        Op::SetupFinally(_) => {
            if jump {
                (0, 6)
            } else {
                (0, 0)
            }
        }
        Op::SetupWith(_) => {
            if jump {
                (1, 7)
            } else {
                (1, 2)
            }
        }
        Op::SetupAsyncWith(_) => {
            if jump {
                (1, 6)
            } else {
                (0, 0)
            }
        }
        Op::CallFinally(_) => (0, u32::from(jump)),
        Op::PopFinally(keep) => (keep.saturating_add(1), keep),
    }
}

/// How many slots, from the top, an `Op` looks at; 0 if those that `stack_effect` says it pops are all.
#[must_use]
#[inline]
pub fn reach(op: &Op) -> u32 {
    match *op {
        Op::Copy(n) => n,
        // The callable is named in the error message of DictMerge.
        Op::ListAppend(n)
        | Op::SetAdd(n)
        | Op::ListExtend(n)
        | Op::SetUpdate(n)
        | Op::DictUpdate(n)
        | Op::DictMerge(n) => n.saturating_add(1),
        Op::MapAdd(n) => n.saturating_add(2),
        Op::ForIter(_)
        | Op::GetAnext
        | Op::ImportFrom(_)
        | Op::MatchMapping
        | Op::MatchSequence
        | Op::GetLen
        | Op::JumpIfOrPop { .. } => 1,
        Op::MatchKeys | Op::MatchKeysTest | Op::CopyDictWithoutKeys | Op::CheckExcMatch | Op::Send(_) => 2,
        Op::WithExceptStart => 4,
        Op::WithExceptStartTriple => 7,
        _ => 0,
    }
}

//! The instruction set without operands: keys for tables that have one entry per meaning.

use crate::Op;

macro_rules! op_kinds {
    ($($name:ident $(($p:tt))? $({$q:tt})?,)*) => {
        /// An [`Op`] without its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum OpKind { $(#[doc = concat!("[`Op::", stringify!($name), "`]")] $name,)* }

        impl OpKind {
            /// All kinds, in the order of `Op`'s declaration: `ALL[k as usize] == k`.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$name,)*];

            /// Name of the variant.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(OpKind::$name => stringify!($name),)* }
            }
        }

        impl Op {
            /// The instruction without its operands.
            #[must_use]
            pub fn kind(&self) -> OpKind {
                match self { $(Op::$name $(($p))? $({$q})? => OpKind::$name,)* }
            }
        }
    };
}

op_kinds! {
    Nop,
    PopTop,
    PushNull,
    Copy(..),
    Swap(..),
    RotN(..),
    LoadConst(..),
    LoadFast {..},
    LoadFastAndClear(..),
    StoreFast(..),
    DeleteFast(..),
    LoadGlobal(..),
    StoreGlobal(..),
    DeleteGlobal(..),
    LoadName(..),
    StoreName(..),
    DeleteName(..),
    LoadDeref(..),
    StoreDeref(..),
    DeleteDeref(..),
    LoadClosure(..),
    LoadClosureAndClear(..),
    StoreClosure(..),
    LoadClassDeref(..),
    LoadFromDictOrDeref(..),
    LoadFromDictOrGlobals(..),
    LoadLocals,
    LoadBuildClass,
    LoadAssertionError,
    MakeCell(..),
    CopyFreeVars(..),
    SetupAnnotations,
    LoadAttr(..),
    StoreAttr(..),
    DeleteAttr(..),
    LoadMethod(..),
    LoadSuperAttr {..},
    BinarySubscr,
    StoreSubscr,
    DeleteSubscr,
    BinarySlice,
    StoreSlice,
    Unary(..),
    Binary {..},
    Compare {..},
    Is {..},
    Contains {..},
    BuildTuple(..),
    BuildList(..),
    BuildSet(..),
    BuildMap(..),
    BuildConstKeyMap(..),
    BuildString(..),
    BuildSlice(..),
    ListAppend(..),
    SetAdd(..),
    MapAdd(..),
    ListExtend(..),
    SetUpdate(..),
    DictUpdate(..),
    DictMerge(..),
    ListToTuple,
    BuildTupleUnpack(..),
    BuildTupleUnpackWithCall(..),
    BuildListUnpack(..),
    BuildSetUnpack(..),
    BuildMapUnpack(..),
    BuildMapUnpackWithCall(..),
    UnpackSequence(..),
    UnpackEx {..},
    FormatValue {..},
    ConvertValue(..),
    Jump {..},
    PopJumpIf {..},
    JumpIfOrPop {..},
    JumpIfNotExcMatch(..),
    GetIter,
    ForIter(..),
    Call {..},
    CallKw {..},
    CallEx {..},
    Intrinsic1(..),
    Intrinsic2(..),
    MakeFunction {..},
    SetFunctionAttribute(..),
    ReturnValue,
    ReturnGenerator,
    GenStart(..),
    Resume(..),
    YieldValue(..),
    YieldFrom,
    GetYieldFromIter,
    Send(..),
    EndSend,
    GetAwaitable(..),
    GetAiter,
    GetAnext,
    BeforeAsyncWith,
    EndAsyncFor,
    AsyncGenWrap,
    CleanupThrow,
    ImportName(..),
    ImportFrom(..),
    ImportStar,
    PrintExpr,
    RaiseVarargs(..),
    Reraise(..),
    PopExcept,
    PushExcInfo,
    CheckExcMatch,
    CheckEgMatch,
    PrepReraiseStar,
    BeforeWith,
    WithExceptStart,
    PopExceptTriple,
    ReraiseTriple(..),
    WithExceptStartTriple,
    EndAsyncForTriple,
    SetupFinally(..),
    SetupWith(..),
    SetupAsyncWith(..),
    PopBlock,
    CallFinally(..),
    BeginFinally,
    EndFinally,
    PopFinally(..),
    WithCleanupStart,
    WithCleanupFinish,
    MatchClass(..),
    MatchMapping,
    MatchSequence,
    MatchKeys,
    MatchClassTest(..),
    MatchKeysTest,
    CopyDictWithoutKeys,
    GetLen,
}

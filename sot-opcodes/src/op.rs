//! The normalised instruction set: one `Op` per meaning, the same for CPython 3.8 to 3.13.
//!
//! What the raw forms hide is folded away by the decoder and put back by the assembler: EXTENDED_ARG,
//! inline caches, specialised and instrumented forms, super-instructions, PRECALL, KW_NAMES, the NULL
//! bits of LOAD_GLOBAL / LOAD_ATTR, the packing of two operands into one oparg, jump arithmetic.
//!
//! Conventions
//! - The value stack is that of the interpreter, slot for slot, NULL slots included, *between*
//!   normalised instructions. An `Op` that is decoded from several raw instructions (or several `Op`s
//!   that are decoded from one) never hides a slot that is live across an instruction that can break.
//! - `Call { two: true }` finds two slots under its arguments, in one of three fillings:
//!   `[NULL, callable]`, `[callable, NULL]` or `[function, self]`. `two: false` (3.8-3.10) finds `[callable]`.
//! - `CallKw` is `Call` with the tuple of keyword names on top of the stack. Where the interpreter wants the
//!   names as an operand (3.11, 3.12: KW_NAMES), the `LoadConst` directly before `CallKw` is that operand.
//! - Jump targets are `Label`s, resolved by `Code::labels`.
//! - `ForIter` pops the iterator when it is exhausted and goes to what follows the loop, in every version: the
//!   END_FOR (3.12) and END_FOR, POP_TOP (3.13) that the interpreter skips on that path are not in the stream.
//! - `Send` leaves `[receiver, value]` on its jump too and `EndSend` drops the receiver, as in 3.12+. In 3.11, where
//!   the jump drops it, the decoder inserts the `EndSend` (with no offset) and the assembler takes it out.
//! - `Send`, `YieldValue`, `Resume` of a `yield from` or `await` must stay neighbours: `gen.throw` looks at them.
//! - Up to 3.10 an exception is three slots, from 3.11 on one: what differs in slots is another `Op` (`..Triple`).
//! - Up to 3.10 `Jump { no_interrupt: true }` is JUMP_FORWARD, which does not look at signals, else JUMP_ABSOLUTE.

/// Index into the constants that the caller owns. This crate never looks at a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub u32);

/// Index into `Code::names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Index into `Code::varnames` (a plain local; a 3.11+ argument that is also a cell has both a `Local` and a `Cell`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

/// Index into `Code::cellvars` followed by `Code::freevars`, in every version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(pub u32);

/// A jump target; `Code::labels[label]` is the index of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Negative,
    Positive,
    Invert,
    Not,
    /// `TO_BOOL` (3.13).
    ToBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    And,
    FloorDivide,
    Lshift,
    MatrixMultiply,
    Multiply,
    Remainder,
    Or,
    Power,
    Rshift,
    Subtract,
    TrueDivide,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpCond {
    True,
    False,
    None,
    NotNone,
}

/// `!s`, `!r`, `!a` of an f-string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    Str,
    Repr,
    Ascii,
}

/// The intrinsics of 3.12+ that are not an `Op` of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    Print,
    ImportStar,
    StopIterationError,
    TypeVar,
    ParamSpec,
    TypeVarTuple,
    SubscriptGeneric,
    TypeAlias,
    TypeVarWithBound,
    TypeVarWithConstraints,
    SetFunctionTypeParams,
    /// 3.13.
    SetTypeparamDefault,
}

/// One meaning of CPython's bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // --- stack
    Nop,
    PopTop,
    PushNull,
    /// Push a copy of the n-th item from the top, 1-based (`Copy(1)` is DUP_TOP; DUP_TOP_TWO is `Copy(2), Copy(2)`).
    Copy(u32),
    /// Exchange the top with the n-th item from the top, 1-based (`Swap(2)` is ROT_TWO).
    Swap(u32),
    /// Lift the top to the n-th position (`RotN(3)` is ROT_THREE). Decoded from 3.8-3.10 only.
    RotN(u32),
    // --- names
    LoadConst(ConstId),
    /// `check`: raises UnboundLocalError when unbound (always so up to 3.11; LOAD_FAST_CHECK from 3.12).
    LoadFast {
        local: Local,
        check: bool,
    },
    LoadFastAndClear(Local),
    StoreFast(Local),
    DeleteFast(Local),
    LoadGlobal(NameId),
    StoreGlobal(NameId),
    DeleteGlobal(NameId),
    LoadName(NameId),
    StoreName(NameId),
    DeleteName(NameId),
    /// The value in a cell.
    LoadDeref(Cell),
    StoreDeref(Cell),
    DeleteDeref(Cell),
    /// The cell itself.
    LoadClosure(Cell),
    /// Push the cell itself, or NULL if there is none, and leave no cell: LOAD_FAST_AND_CLEAR of a slot that holds a
    /// cell, around an inlined comprehension (3.12+).
    LoadClosureAndClear(Cell),
    /// Put the cell itself (or NULL) back: the STORE_FAST that ends what `LoadClosureAndClear` began.
    StoreClosure(Cell),
    LoadClassDeref(Cell),
    LoadFromDictOrDeref(Cell),
    LoadFromDictOrGlobals(NameId),
    LoadLocals,
    LoadBuildClass,
    LoadAssertionError,
    MakeCell(Cell),
    CopyFreeVars(u32),
    SetupAnnotations,
    // --- attributes and items
    LoadAttr(NameId),
    StoreAttr(NameId),
    DeleteAttr(NameId),
    /// Replaces the object by two slots for `Call { two: true }`.
    LoadMethod(NameId),
    /// Pops `super, class, self`. `method`: leaves two slots as LoadMethod does.
    LoadSuperAttr {
        name: NameId,
        two_arg: bool,
        method: bool,
    },
    BinarySubscr,
    StoreSubscr,
    DeleteSubscr,
    BinarySlice,
    StoreSlice,
    // --- operators
    Unary(UnaryOp),
    Binary {
        op: BinaryOp,
        inplace: bool,
    },
    /// `to_bool`: the result is converted to a bool (3.13).
    Compare {
        op: CompareOp,
        to_bool: bool,
    },
    Is {
        invert: bool,
    },
    Contains {
        invert: bool,
    },
    // --- containers
    BuildTuple(u32),
    BuildList(u32),
    BuildSet(u32),
    BuildMap(u32),
    BuildConstKeyMap(u32),
    BuildString(u32),
    /// 2 or 3 operands.
    BuildSlice(u32),
    ListAppend(u32),
    SetAdd(u32),
    MapAdd(u32),
    ListExtend(u32),
    SetUpdate(u32),
    DictUpdate(u32),
    DictMerge(u32),
    ListToTuple,
    /// 3.8 only.
    BuildTupleUnpack(u32),
    /// 3.8 only.
    BuildTupleUnpackWithCall(u32),
    /// 3.8 only.
    BuildListUnpack(u32),
    /// 3.8 only.
    BuildSetUnpack(u32),
    /// 3.8 only.
    BuildMapUnpack(u32),
    /// 3.8 only.
    BuildMapUnpackWithCall(u32),
    UnpackSequence(u32),
    UnpackEx {
        before: u32,
        after: u32,
    },
    // --- strings
    /// `spec`: the format specification is on top of the value.
    FormatValue {
        conversion: Option<Conversion>,
        spec: bool,
    },
    /// CONVERT_VALUE (3.13).
    ConvertValue(Conversion),
    // --- jumps
    Jump {
        target: Label,
        no_interrupt: bool,
    },
    PopJumpIf {
        cond: JumpCond,
        target: Label,
    },
    /// JUMP_IF_{TRUE,FALSE}_OR_POP; `cond` is `True` or `False`. Up to 3.11.
    JumpIfOrPop {
        cond: JumpCond,
        target: Label,
    },
    /// 3.9, 3.10.
    JumpIfNotExcMatch(Label),
    GetIter,
    ForIter(Label),
    // --- calls
    Call {
        argc: u32,
        two: bool,
    },
    /// `argc` counts positional and keyword arguments.
    CallKw {
        argc: u32,
        two: bool,
    },
    /// `null`: a NULL slot lies under (3.11, 3.12) or over (3.13) the callable.
    CallEx {
        kwargs: bool,
        null: bool,
    },
    Intrinsic1(Intrinsic),
    Intrinsic2(Intrinsic),
    /// `flags` as in CPython (1 defaults, 2 kwdefaults, 4 annotations, 8 closure); `qualname`: on top of the code (up to 3.10).
    MakeFunction {
        flags: u32,
        qualname: bool,
    },
    /// 3.13.
    SetFunctionAttribute(u32),
    ReturnValue,
    // --- generators and coroutines
    ReturnGenerator,
    GenStart(u32),
    Resume(u32),
    YieldValue(u32),
    YieldFrom,
    GetYieldFromIter,
    Send(Label),
    EndSend,
    GetAwaitable(u32),
    GetAiter,
    GetAnext,
    BeforeAsyncWith,
    EndAsyncFor,
    AsyncGenWrap,
    CleanupThrow,
    // --- imports
    ImportName(NameId),
    ImportFrom(NameId),
    ImportStar,
    PrintExpr,
    // --- exceptions, 3.11+
    RaiseVarargs(u32),
    Reraise(u32),
    PopExcept,
    PushExcInfo,
    CheckExcMatch,
    CheckEgMatch,
    PrepReraiseStar,
    BeforeWith,
    WithExceptStart,
    // --- exceptions, up to 3.10: the block stack
    /// POP_EXCEPT: pops the handler's block and the three slots of the exception it replaced.
    PopExceptTriple,
    /// 3.9, 3.10. Pops three slots; the operand is that of 3.10.
    ReraiseTriple(u32),
    /// 3.9, 3.10. As `WithExceptStart`, the exit function being the seventh slot from the top.
    WithExceptStartTriple,
    /// Pops the iterator and the six slots of two exceptions.
    EndAsyncForTriple,
    SetupFinally(Label),
    SetupWith(Label),
    SetupAsyncWith(Label),
    PopBlock,
    CallFinally(Label),
    BeginFinally,
    EndFinally,
    PopFinally(u32),
    WithCleanupStart,
    WithCleanupFinish,
    // --- match
    MatchClass(u32),
    MatchMapping,
    MatchSequence,
    MatchKeys,
    /// 3.10: as `MatchClass`, but a failure keeps the subject, and whether it matched is pushed on top.
    MatchClassTest(u32),
    /// 3.10: as `MatchKeys`, and whether it matched is pushed on top.
    MatchKeysTest,
    CopyDictWithoutKeys,
    GetLen,
}

//! The normalised instruction set: one `Op` per meaning, the same for CPython 3.8 to 3.13.
//!
//! What the raw forms hide is folded away by the decoder and put back by the assembler: EXTENDED_ARG,
//! inline caches, specialised and instrumented forms, super-instructions, PRECALL, KW_NAMES, the NULL
//! bits of LOAD_GLOBAL / LOAD_ATTR, the packing of two operands into one oparg, jump arithmetic. The conventions are in the documentation of [`Op`].

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

/// The operator of [`Op::Unary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`
    Negative,
    /// `+a` (from 3.12 on an intrinsic).
    Positive,
    /// `~a`
    Invert,
    /// `not a`
    Not,
    /// `bool(a)`: TO_BOOL (3.13).
    ToBool,
}

/// The operator of [`Op::Binary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `&`
    And,
    /// `//`
    FloorDivide,
    /// `<<`
    Lshift,
    /// `@`
    MatrixMultiply,
    /// `*`
    Multiply,
    /// `%`
    Remainder,
    /// `|`
    Or,
    /// `**`
    Power,
    /// `>>`
    Rshift,
    /// `-`
    Subtract,
    /// `/`
    TrueDivide,
    /// `^`
    Xor,
}

/// The operator of [`Op::Compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// When a conditional jump is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpCond {
    /// The value is true.
    True,
    /// The value is false.
    False,
    /// The value is `None` (3.11+).
    None,
    /// The value is not `None` (3.11+).
    NotNone,
}

/// The conversion of an f-string's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// `!s`
    Str,
    /// `!r`
    Repr,
    /// `!a`
    Ascii,
}

/// The intrinsics of 3.12+ that are not an [`Op`] of their own, named as CPython's INTRINSIC_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// Of one operand: the display hook of the interactive interpreter.
    Print,
    /// Of one operand: `from module import *`.
    ImportStar,
    /// Of one operand: StopIteration that leaves a generator becomes RuntimeError.
    StopIterationError,
    /// Of one operand: makes a `typing.TypeVar` of a name.
    TypeVar,
    /// Of one operand: makes a `typing.ParamSpec` of a name.
    ParamSpec,
    /// Of one operand: makes a `typing.TypeVarTuple` of a name.
    TypeVarTuple,
    /// Of one operand: `typing.Generic[parameters]`.
    SubscriptGeneric,
    /// Of one operand: makes a `typing.TypeAliasType` of (name, parameters, value).
    TypeAlias,
    /// Of two operands: a `typing.TypeVar` of a name and what evaluates the bound.
    TypeVarWithBound,
    /// Of two operands: a `typing.TypeVar` of a name and what evaluates the constraints.
    TypeVarWithConstraints,
    /// Of two operands: sets `__type_params__` of a function.
    SetFunctionTypeParams,
    /// Of two operands: sets the default of a type parameter (3.13).
    SetTypeparamDefault,
}

/// One meaning of CPython's bytecode.
///
/// # Conventions
/// - The value stack is that of the interpreter, slot for slot, NULL slots included, *between*
///   normalised instructions. An `Op` that is decoded from several raw instructions (or several `Op`s
///   that are decoded from one) never hides a slot that is live across an instruction that can break.
/// - `Call { two: true }` finds two slots under its arguments, in one of three fillings:
///   `[NULL, callable]`, `[callable, NULL]` or `[function, self]`. `two: false` (3.8-3.10) finds `[callable]`.
/// - `CallKw` is `Call` with the tuple of keyword names on top of the stack. Where the interpreter wants the
///   names as an operand (3.11, 3.12: KW_NAMES), the `LoadConst` directly before `CallKw` is that operand.
/// - Jump targets are `Label`s, resolved by `Code::labels`.
/// - `ForIter` pops the iterator when it is exhausted and goes to what follows the loop, in every version: the
///   END_FOR (3.12) and END_FOR, POP_TOP (3.13) that the interpreter skips on that path are not in the stream.
/// - `Send` leaves `[receiver, value]` on its jump too and `EndSend` drops the receiver, as in 3.12+. In 3.11, where
///   the jump drops it, the decoder inserts the `EndSend` (with no offset) and the assembler takes it out.
/// - `Send`, `YieldValue`, `Resume` of a `yield from` or `await` must stay neighbours: `gen.throw` looks at them.
/// - Up to 3.10 an exception is three slots, from 3.11 on one: what differs in slots is another `Op` (`..Triple`).
/// - Up to 3.10 `Jump { no_interrupt: true }` is JUMP_FORWARD, which does not look at signals, else JUMP_ABSOLUTE.
/// - Each variant's doc shows the top of the stack before and after, the top rightmost, and the version if it is not in
///   all. It is CPython's opcode of the same name, described in the documentation of `dis`, unless another is named.
///   [`stack_effect`](crate::stack_effect) has the same counts as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // --- stack
    /// Nothing.
    Nop,
    /// `a` -> nothing.
    PopTop,
    /// nothing -> `NULL`: the empty slot of a call (3.11+).
    PushNull,
    /// Push a copy of the n-th item from the top, 1-based (`Copy(1)` is DUP_TOP; DUP_TOP_TWO is `Copy(2), Copy(2)`).
    Copy(u32),
    /// Exchange the top with the n-th item from the top, 1-based (`Swap(2)` is ROT_TWO).
    Swap(u32),
    /// Put the top below the n - 1 items under it (`RotN(3)` is ROT_THREE). Decoded from 3.8-3.10 only.
    RotN(u32),
    // --- names
    /// nothing -> the constant.
    LoadConst(ConstId),
    /// nothing -> the local. `check`: raises UnboundLocalError when unbound (always so up to 3.11; LOAD_FAST_CHECK from
    /// 3.12).
    LoadFast {
        /// Which one.
        local: Local,
        /// It may be unbound.
        check: bool,
    },
    /// nothing -> the local or `NULL`, and unbinds it: around an inlined comprehension (3.12+).
    LoadFastAndClear(Local),
    /// `value` -> nothing. `NULL` unbinds (3.12+, behind an inlined comprehension).
    StoreFast(Local),
    /// Unbinds; raises UnboundLocalError when it is unbound.
    DeleteFast(Local),
    /// nothing -> the global, or else the builtin, of that name.
    LoadGlobal(NameId),
    /// `value` -> nothing.
    StoreGlobal(NameId),
    /// Deletes a global.
    DeleteGlobal(NameId),
    /// nothing -> the value: looked up in `f_locals`, globals, builtins.
    LoadName(NameId),
    /// `value` -> nothing, into `f_locals`.
    StoreName(NameId),
    /// Deletes from `f_locals`.
    DeleteName(NameId),
    /// nothing -> the value in a cell.
    LoadDeref(Cell),
    /// `value` -> nothing, into a cell.
    StoreDeref(Cell),
    /// Empties a cell.
    DeleteDeref(Cell),
    /// nothing -> the cell itself (3.13: LOAD_FAST of its slot).
    LoadClosure(Cell),
    /// Push the cell itself, or NULL if there is none, and leave no cell: LOAD_FAST_AND_CLEAR of a slot that holds a
    /// cell, around an inlined comprehension (3.12+).
    LoadClosureAndClear(Cell),
    /// Put the cell itself (or NULL) back: the STORE_FAST that ends what `LoadClosureAndClear` began.
    StoreClosure(Cell),
    /// nothing -> the value of that name in `f_locals`, or else in the cell (up to 3.11).
    LoadClassDeref(Cell),
    /// `mapping` -> the value of that name in it, or else in the cell (3.12+).
    LoadFromDictOrDeref(Cell),
    /// `mapping` -> the value of that name in it, or else the global or builtin (3.12+).
    LoadFromDictOrGlobals(NameId),
    /// nothing -> `f_locals` (3.12+).
    LoadLocals,
    /// nothing -> `builtins.__build_class__`.
    LoadBuildClass,
    /// nothing -> `AssertionError` (3.9+).
    LoadAssertionError,
    /// Puts the slot's value into a new cell, and the cell into the slot (3.11+).
    MakeCell(Cell),
    /// Copies that many cells from the function's closure: the number of `freevars` (3.11+).
    CopyFreeVars(u32),
    /// Makes `__annotations__` if there is none.
    SetupAnnotations,
    // --- attributes and items
    /// `object` -> the attribute.
    LoadAttr(NameId),
    /// `value, object` -> nothing.
    StoreAttr(NameId),
    /// `object` -> nothing.
    DeleteAttr(NameId),
    /// `object` -> two slots for `Call { two: true }`.
    LoadMethod(NameId),
    /// `super, class, self` -> the attribute; with `method` two slots as `LoadMethod` leaves (3.12+).
    LoadSuperAttr {
        /// The attribute.
        name: NameId,
        /// Written with the two arguments of `super(class, self)`.
        two_arg: bool,
        /// It is called.
        method: bool,
    },
    /// `object, key` -> the item.
    BinarySubscr,
    /// `value, object, key` -> nothing.
    StoreSubscr,
    /// `object, key` -> nothing.
    DeleteSubscr,
    /// `object, start, stop` -> the item of that slice (3.12+).
    BinarySlice,
    /// `value, object, start, stop` -> nothing (3.12+).
    StoreSlice,
    // --- operators
    /// `a` -> the result. UNARY_*, TO_BOOL, or an intrinsic.
    Unary(UnaryOp),
    /// `a, b` -> the result. BINARY_OP (3.11+), BINARY_* and INPLACE_* before.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// As in `a += b`.
        inplace: bool,
    },
    /// `a, b` -> the result. COMPARE_OP.
    Compare {
        /// The operator.
        op: CompareOp,
        /// The result is converted to a bool (3.13).
        to_bool: bool,
    },
    /// `a, b` -> a bool. IS_OP, COMPARE_OP in 3.8.
    Is {
        /// `is not`
        invert: bool,
    },
    /// `a, container` -> a bool. CONTAINS_OP, COMPARE_OP in 3.8.
    Contains {
        /// `not in`
        invert: bool,
    },
    // --- containers
    /// n items -> a tuple.
    BuildTuple(u32),
    /// n items -> a list.
    BuildList(u32),
    /// n items -> a set.
    BuildSet(u32),
    /// n pairs `key, value` -> a dict.
    BuildMap(u32),
    /// n values, a tuple of keys -> a dict.
    BuildConstKeyMap(u32),
    /// n strings -> a string.
    BuildString(u32),
    /// `start, stop` or `start, stop, step` -> a slice; the operand is 2 or 3.
    BuildSlice(u32),
    /// `item` -> nothing; the list is the n-th item under it.
    ListAppend(u32),
    /// `item` -> nothing; the set is the n-th item under it.
    SetAdd(u32),
    /// `key, value` -> nothing; the dict is the n-th item under them.
    MapAdd(u32),
    /// `iterable` -> nothing; the list is the n-th item under it (3.9+).
    ListExtend(u32),
    /// `iterable` -> nothing; the set is the n-th item under it (3.9+).
    SetUpdate(u32),
    /// `mapping` -> nothing; the dict is the n-th item under it (3.9+).
    DictUpdate(u32),
    /// As `DictUpdate`, for keyword arguments: a key twice raises TypeError (3.9+).
    DictMerge(u32),
    /// `list` -> a tuple (3.9+; from 3.12 on an intrinsic).
    ListToTuple,
    /// n iterables -> a tuple (3.8).
    BuildTupleUnpack(u32),
    /// n iterables -> the tuple of positional arguments (3.8).
    BuildTupleUnpackWithCall(u32),
    /// n iterables -> a list (3.8).
    BuildListUnpack(u32),
    /// n iterables -> a set (3.8).
    BuildSetUnpack(u32),
    /// n mappings -> a dict (3.8).
    BuildMapUnpack(u32),
    /// n mappings -> the dict of keyword arguments (3.8).
    BuildMapUnpackWithCall(u32),
    /// `iterable` -> n items, the first on top.
    UnpackSequence(u32),
    /// `iterable` -> `before + 1 + after` items, the first on top; the list of the others between.
    UnpackEx {
        /// Items before the starred one.
        before: u32,
        /// Items behind it.
        after: u32,
    },
    // --- strings
    /// `value` or `value, spec` -> a string. FORMAT_VALUE; 3.13: FORMAT_SIMPLE, FORMAT_WITH_SPEC.
    FormatValue {
        /// Done first; in 3.13 `ConvertValue` does it.
        conversion: Option<Conversion>,
        /// The format specification is on top of the value.
        spec: bool,
    },
    /// `value` -> a string (3.13).
    ConvertValue(Conversion),
    // --- jumps
    /// Goes to the label. JUMP_FORWARD, JUMP_BACKWARD (3.11+), JUMP_ABSOLUTE (up to 3.10).
    Jump {
        /// Where to.
        target: Label,
        /// Signals are not looked at.
        no_interrupt: bool,
    },
    /// `value` -> nothing, either way. The forms for `None` are of 3.11+.
    PopJumpIf {
        /// When.
        cond: JumpCond,
        /// Where to.
        target: Label,
    },
    /// `value` -> `value` with the jump, nothing without: JUMP_IF_{TRUE,FALSE}_OR_POP (up to 3.11).
    JumpIfOrPop {
        /// `True` or `False`.
        cond: JumpCond,
        /// Where to.
        target: Label,
    },
    /// `exception, type` -> nothing; jumps if it is no instance (up to 3.10; COMPARE_OP and POP_JUMP_IF_FALSE in 3.8).
    JumpIfNotExcMatch(Label),
    /// `iterable` -> its iterator.
    GetIter,
    /// `iterator` -> `iterator, item`, or with the jump nothing: it is exhausted.
    ForIter(Label),
    // --- calls
    /// The callable's one or two slots and `argc` arguments -> the result. CALL_FUNCTION, CALL_METHOD, PRECALL + CALL, CALL.
    Call {
        /// Positional arguments.
        argc: u32,
        /// There are two slots under the arguments.
        two: bool,
    },
    /// As `Call`, a tuple of names on top -> the result. CALL_FUNCTION_KW, KW_NAMES + CALL, CALL_KW.
    CallKw {
        /// Positional and keyword arguments together.
        argc: u32,
        /// There are two slots under the arguments.
        two: bool,
    },
    /// `callable, tuple` or `callable, tuple, dict` -> the result. CALL_FUNCTION_EX.
    CallEx {
        /// There is a dict.
        kwargs: bool,
        /// A NULL slot lies under (3.11, 3.12) or over (3.13) the callable.
        null: bool,
    },
    /// `a` -> the result (3.12+).
    Intrinsic1(Intrinsic),
    /// `a, b` -> the result (3.12+).
    Intrinsic2(Intrinsic),
    /// The parts that `flags` name, the code, the qualified name -> a function.
    MakeFunction {
        /// 1 defaults, 2 keyword-only defaults, 4 annotations, 8 closure; in 3.13 none (`SetFunctionAttribute`).
        flags: u32,
        /// The qualified name is on top of the code (up to 3.10).
        qualname: bool,
    },
    /// `part, function` -> `function`; the operand is one flag of `MakeFunction` (3.13).
    SetFunctionAttribute(u32),
    /// `value` -> the frame ends. Also of RETURN_CONST (3.12+), with a `LoadConst` before it.
    ReturnValue,
    // --- generators and coroutines
    /// nothing -> `value` when it is resumed: the frame becomes a generator, coroutine or async generator (3.11+).
    ReturnGenerator,
    /// `value` -> nothing: what is sent to start it; the operand is the kind (3.10).
    GenStart(u32),
    /// Nothing: where tracing and signals are looked at; 0 at the start, 1, 2, 3 behind yield, `yield from`, `await` (3.11+).
    Resume(u32),
    /// `value` -> what is sent in. The operand is of 3.12+ (3.12: the depth of the block stack; 3.13: of an `await`).
    YieldValue(u32),
    /// `receiver, value` -> the result, after as many yields as the receiver makes (up to 3.10).
    YieldFrom,
    /// `iterable` -> an iterator that `yield from` can use.
    GetYieldFromIter,
    /// `receiver, value` -> `receiver, result`; jumps when the receiver is done (3.11+).
    Send(Label),
    /// `receiver, value` -> `value` (an opcode from 3.12 on).
    EndSend,
    /// `object` -> its awaitable. The operand (3.11+): 1 after `__aenter__`, 2 after `__aexit__`, for the error message.
    GetAwaitable(u32),
    /// `object` -> its asynchronous iterator.
    GetAiter,
    /// `iterator` -> `iterator, awaitable`.
    GetAnext,
    /// `manager` -> `exit, awaitable of enter`.
    BeforeAsyncWith,
    /// `awaitable, exception` -> nothing: StopAsyncIteration ends the loop, another is raised (3.11+).
    EndAsyncFor,
    /// `value` -> it wrapped, as an asynchronous generator yields it (3.11+; from 3.12 on an intrinsic).
    AsyncGenWrap,
    /// `receiver, value, exception` -> `None, value`: StopIteration becomes a value, another is raised (3.12+).
    CleanupThrow,
    // --- imports
    /// `level, names` -> the module.
    ImportName(NameId),
    /// `module` -> `module, attribute`.
    ImportFrom(NameId),
    /// `module` -> nothing (up to 3.11).
    ImportStar,
    /// `value` -> nothing, shown by the display hook (up to 3.11).
    PrintExpr,
    // --- exceptions, 3.11+
    /// Nothing (0), `exception` (1), or `exception, cause` (2) -> raises.
    RaiseVarargs(u32),
    /// `exception` -> raises it again; operand n: the offset of the raise is the n-th item under it (3.11+).
    Reraise(u32),
    /// `previous` -> nothing: `sys.exc_info` is that again (3.11+).
    PopExcept,
    /// `exception` -> `previous, exception`: the handler begins (3.11+).
    PushExcInfo,
    /// `exception, type` -> `exception, bool` (3.11+; 3.8 with `Swap(2), PopTop` from COMPARE_OP).
    CheckExcMatch,
    /// `group, type` -> `rest, match` (3.11+).
    CheckEgMatch,
    /// `group, list` -> the exception to raise or None (3.11+; from 3.12 on an intrinsic).
    PrepReraiseStar,
    /// `manager` -> `exit, result of enter` (3.11+).
    BeforeWith,
    /// `exit, offset, previous, exception` -> the same and the result of the call of `exit` (3.11+).
    WithExceptStart,
    // --- exceptions, up to 3.10: the block stack
    /// POP_EXCEPT: pops the handler's block and the three slots of the exception it replaced.
    PopExceptTriple,
    /// RERAISE: pops three slots; the operand is that of 3.10 (3.9, 3.10).
    ReraiseTriple(u32),
    /// WITH_EXCEPT_START: as `WithExceptStart`, the exit function being the seventh slot from the top (3.9, 3.10).
    WithExceptStartTriple,
    /// END_ASYNC_FOR: pops the iterator and the six slots of two exceptions.
    EndAsyncForTriple,
    /// A block begins whose exceptions go to the label, with six slots: the previous exception and the new one.
    SetupFinally(Label),
    /// `manager` -> `exit, result of enter`; a block begins as for `SetupFinally`.
    SetupWith(Label),
    /// A block begins under the result of `__aenter__`, as for `SetupFinally`.
    SetupAsyncWith(Label),
    /// The innermost block ends.
    PopBlock,
    /// nothing -> the return address: runs a `finally` block (3.8).
    CallFinally(Label),
    /// nothing -> `NULL`: a `finally` block is entered without an exception (3.8).
    BeginFinally,
    /// `NULL`, an address or six slots -> nothing: the `finally` block goes on, returns or raises (3.8).
    EndFinally,
    /// What `EndFinally` would use, and with 1 a value on top that stays (3.8).
    PopFinally(u32),
    /// Calls the exit function that lies under the state of the block (3.8).
    WithCleanupStart,
    /// Drops what `WithCleanupStart` pushed; a true result silences the exception (3.8).
    WithCleanupFinish,
    // --- match
    /// `subject, class, names` -> the attributes as a tuple, or None; n positional patterns (3.11+).
    MatchClass(u32),
    /// `subject` -> `subject, bool` (3.10+).
    MatchMapping,
    /// `subject` -> `subject, bool` (3.10+).
    MatchSequence,
    /// `subject, keys` -> `subject, keys, values as a tuple or None` (3.11+).
    MatchKeys,
    /// As `MatchClass`, but a failure keeps the subject, and whether it matched is pushed on top (3.10).
    MatchClassTest(u32),
    /// As `MatchKeys`, and whether it matched is pushed on top (3.10).
    MatchKeysTest,
    /// `subject, keys` -> `subject, rest as a dict` (3.10).
    CopyDictWithoutKeys,
    /// `object` -> `object, len(object)` (3.10+).
    GetLen,
}

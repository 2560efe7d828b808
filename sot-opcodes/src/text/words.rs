//! The words of the text form: one mnemonic per `Op` (or per form of it), both ways.
//!
//! The tables list `Op`s by the kind of their operand; what has an operand of its own kind is in `print` and `parse`.

use crate::{BinaryOp, Cell, CompareOp, Conversion, Intrinsic, JumpCond, Label, NameId, Op, UnaryOp};

macro_rules! table {
    ($print:ident, $parse:ident, $($operand:ty)?, $($op:ident $(($value:ident))? = $word:literal),+ $(,)?) => {
        /// The mnemonic and operand, if the operand is of this kind.
        pub(super) fn $print(op: &Op) -> Option<(&'static str, table!(@type $($operand)?))> {
            match *op {
                $(Op::$op $(($value))? => Some(($word, table!(@value $($value)?))),)+
                _ => None,
            }
        }

        /// The `Op` of a mnemonic, if its operand is of this kind.
        pub(super) fn $parse(word: &str, operand: table!(@type $($operand)?)) -> Option<Op> {
            match word {
                $($word => Some(table!(@make $op operand $(($value))?)),)+
                _ => None,
            }
        }
    };
    (@type $operand:ty) => { $operand };
    (@type) => { () };
    (@value $value:ident) => { $value };
    (@value) => { () };
    (@make $op:ident $operand:ident ($value:ident)) => { Op::$op($operand) };
    (@make $op:ident $operand:ident) => {{ let () = $operand; Op::$op }};
}

table!(plain, parse_plain, ,
    Nop = "NOP", PopTop = "POP_TOP", PushNull = "PUSH_NULL", LoadLocals = "LOAD_LOCALS",
    LoadBuildClass = "LOAD_BUILD_CLASS", LoadAssertionError = "LOAD_ASSERTION_ERROR",
    SetupAnnotations = "SETUP_ANNOTATIONS", BinarySubscr = "BINARY_SUBSCR", StoreSubscr = "STORE_SUBSCR",
    DeleteSubscr = "DELETE_SUBSCR", BinarySlice = "BINARY_SLICE", StoreSlice = "STORE_SLICE",
    ListToTuple = "LIST_TO_TUPLE", GetIter = "GET_ITER", ReturnValue = "RETURN_VALUE",
    ReturnGenerator = "RETURN_GENERATOR", YieldFrom = "YIELD_FROM", GetYieldFromIter = "GET_YIELD_FROM_ITER",
    EndSend = "END_SEND", GetAiter = "GET_AITER", GetAnext = "GET_ANEXT", BeforeAsyncWith = "BEFORE_ASYNC_WITH",
    EndAsyncFor = "END_ASYNC_FOR", AsyncGenWrap = "ASYNC_GEN_WRAP", CleanupThrow = "CLEANUP_THROW",
    ImportStar = "IMPORT_STAR", PrintExpr = "PRINT_EXPR", PopExcept = "POP_EXCEPT", PushExcInfo = "PUSH_EXC_INFO",
    CheckExcMatch = "CHECK_EXC_MATCH", CheckEgMatch = "CHECK_EG_MATCH", PrepReraiseStar = "PREP_RERAISE_STAR",
    BeforeWith = "BEFORE_WITH", WithExceptStart = "WITH_EXCEPT_START", PopExceptTriple = "POP_EXCEPT_TRIPLE",
    WithExceptStartTriple = "WITH_EXCEPT_START_TRIPLE", EndAsyncForTriple = "END_ASYNC_FOR_TRIPLE",
    PopBlock = "POP_BLOCK", BeginFinally = "BEGIN_FINALLY", EndFinally = "END_FINALLY",
    WithCleanupStart = "WITH_CLEANUP_START", WithCleanupFinish = "WITH_CLEANUP_FINISH", MatchMapping = "MATCH_MAPPING",
    MatchSequence = "MATCH_SEQUENCE", MatchKeys = "MATCH_KEYS", MatchKeysTest = "MATCH_KEYS_TEST",
    CopyDictWithoutKeys = "COPY_DICT_WITHOUT_KEYS", GetLen = "GET_LEN",
);

table!(
    number,
    parse_number,
    u32,
    Copy(n) = "COPY",
    Swap(n) = "SWAP",
    RotN(n) = "ROT_N",
    CopyFreeVars(n) = "COPY_FREE_VARS",
    BuildTuple(n) = "BUILD_TUPLE",
    BuildList(n) = "BUILD_LIST",
    BuildSet(n) = "BUILD_SET",
    BuildMap(n) = "BUILD_MAP",
    BuildConstKeyMap(n) = "BUILD_CONST_KEY_MAP",
    BuildString(n) = "BUILD_STRING",
    BuildSlice(n) = "BUILD_SLICE",
    ListAppend(n) = "LIST_APPEND",
    SetAdd(n) = "SET_ADD",
    MapAdd(n) = "MAP_ADD",
    ListExtend(n) = "LIST_EXTEND",
    SetUpdate(n) = "SET_UPDATE",
    DictUpdate(n) = "DICT_UPDATE",
    DictMerge(n) = "DICT_MERGE",
    BuildTupleUnpack(n) = "BUILD_TUPLE_UNPACK",
    BuildTupleUnpackWithCall(n) = "BUILD_TUPLE_UNPACK_WITH_CALL",
    BuildListUnpack(n) = "BUILD_LIST_UNPACK",
    BuildSetUnpack(n) = "BUILD_SET_UNPACK",
    BuildMapUnpack(n) = "BUILD_MAP_UNPACK",
    BuildMapUnpackWithCall(n) = "BUILD_MAP_UNPACK_WITH_CALL",
    UnpackSequence(n) = "UNPACK_SEQUENCE",
    SetFunctionAttribute(n) = "SET_FUNCTION_ATTRIBUTE",
    GenStart(n) = "GEN_START",
    Resume(n) = "RESUME",
    YieldValue(n) = "YIELD_VALUE",
    GetAwaitable(n) = "GET_AWAITABLE",
    RaiseVarargs(n) = "RAISE_VARARGS",
    Reraise(n) = "RERAISE",
    ReraiseTriple(n) = "RERAISE_TRIPLE",
    PopFinally(n) = "POP_FINALLY",
    MatchClass(n) = "MATCH_CLASS",
    MatchClassTest(n) = "MATCH_CLASS_TEST",
);

table!(
    name,
    parse_name,
    NameId,
    LoadGlobal(n) = "LOAD_GLOBAL",
    StoreGlobal(n) = "STORE_GLOBAL",
    DeleteGlobal(n) = "DELETE_GLOBAL",
    LoadName(n) = "LOAD_NAME",
    StoreName(n) = "STORE_NAME",
    DeleteName(n) = "DELETE_NAME",
    LoadFromDictOrGlobals(n) = "LOAD_FROM_DICT_OR_GLOBALS",
    LoadAttr(n) = "LOAD_ATTR",
    StoreAttr(n) = "STORE_ATTR",
    DeleteAttr(n) = "DELETE_ATTR",
    LoadMethod(n) = "LOAD_METHOD",
    ImportName(n) = "IMPORT_NAME",
    ImportFrom(n) = "IMPORT_FROM",
);

table!(
    cell,
    parse_cell,
    Cell,
    LoadDeref(c) = "LOAD_DEREF",
    StoreDeref(c) = "STORE_DEREF",
    DeleteDeref(c) = "DELETE_DEREF",
    LoadClosure(c) = "LOAD_CLOSURE",
    LoadClosureAndClear(c) = "LOAD_CLOSURE_AND_CLEAR",
    StoreClosure(c) = "STORE_CLOSURE",
    LoadClassDeref(c) = "LOAD_CLASSDEREF",
    LoadFromDictOrDeref(c) = "LOAD_FROM_DICT_OR_DEREF",
    MakeCell(c) = "MAKE_CELL",
);

table!(
    label,
    parse_label,
    Label,
    JumpIfNotExcMatch(l) = "JUMP_IF_NOT_EXC_MATCH",
    ForIter(l) = "FOR_ITER",
    Send(l) = "SEND",
    SetupFinally(l) = "SETUP_FINALLY",
    SetupWith(l) = "SETUP_WITH",
    SetupAsyncWith(l) = "SETUP_ASYNC_WITH",
    CallFinally(l) = "CALL_FINALLY",
);

pub(super) const UNARY: [(UnaryOp, &str); 5] = [
    (UnaryOp::Negative, "UNARY_NEGATIVE"),
    (UnaryOp::Positive, "UNARY_POSITIVE"),
    (UnaryOp::Invert, "UNARY_INVERT"),
    (UnaryOp::Not, "UNARY_NOT"),
    (UnaryOp::ToBool, "TO_BOOL"),
];

pub(super) const BINARY: [(BinaryOp, &str); 13] = [
    (BinaryOp::Add, "+"),
    (BinaryOp::And, "&"),
    (BinaryOp::FloorDivide, "//"),
    (BinaryOp::Lshift, "<<"),
    (BinaryOp::MatrixMultiply, "@"),
    (BinaryOp::Multiply, "*"),
    (BinaryOp::Remainder, "%"),
    (BinaryOp::Or, "|"),
    (BinaryOp::Power, "**"),
    (BinaryOp::Rshift, ">>"),
    (BinaryOp::Subtract, "-"),
    (BinaryOp::TrueDivide, "/"),
    (BinaryOp::Xor, "^"),
];

pub(super) const COMPARE: [(CompareOp, &str); 6] = [
    (CompareOp::Lt, "<"),
    (CompareOp::Le, "<="),
    (CompareOp::Eq, "=="),
    (CompareOp::Ne, "!="),
    (CompareOp::Gt, ">"),
    (CompareOp::Ge, ">="),
];

pub(super) const POP_JUMP: [(JumpCond, &str); 4] = [
    (JumpCond::True, "POP_JUMP_IF_TRUE"),
    (JumpCond::False, "POP_JUMP_IF_FALSE"),
    (JumpCond::None, "POP_JUMP_IF_NONE"),
    (JumpCond::NotNone, "POP_JUMP_IF_NOT_NONE"),
];

pub(super) const OR_POP: [(JumpCond, &str); 4] = [
    (JumpCond::True, "JUMP_IF_TRUE_OR_POP"),
    (JumpCond::False, "JUMP_IF_FALSE_OR_POP"),
    (JumpCond::None, "JUMP_IF_NONE_OR_POP"),
    (JumpCond::NotNone, "JUMP_IF_NOT_NONE_OR_POP"),
];

pub(super) const CONVERSION: [(Conversion, &str); 3] =
    [(Conversion::Str, "str"), (Conversion::Repr, "repr"), (Conversion::Ascii, "ascii")];

pub(super) const INTRINSIC: [(Intrinsic, &str); 12] = [
    (Intrinsic::Print, "print"),
    (Intrinsic::ImportStar, "import_star"),
    (Intrinsic::StopIterationError, "stop_iteration_error"),
    (Intrinsic::TypeVar, "type_var"),
    (Intrinsic::ParamSpec, "param_spec"),
    (Intrinsic::TypeVarTuple, "type_var_tuple"),
    (Intrinsic::SubscriptGeneric, "subscript_generic"),
    (Intrinsic::TypeAlias, "type_alias"),
    (Intrinsic::TypeVarWithBound, "type_var_with_bound"),
    (Intrinsic::TypeVarWithConstraints, "type_var_with_constraints"),
    (Intrinsic::SetFunctionTypeParams, "set_function_type_params"),
    (Intrinsic::SetTypeparamDefault, "set_typeparam_default"),
];

/// The word of an item of one of the tables above.
pub(super) fn word_of<T: PartialEq>(table: &[(T, &'static str)], item: &T) -> &'static str {
    table.iter().find(|(t, _)| t == item).map_or("?", |(_, word)| word)
}

/// The item of a word.
pub(super) fn item_of<T: Copy>(table: &[(T, &'static str)], word: &str) -> Option<T> {
    table.iter().find(|(_, w)| *w == word).map(|(item, _)| *item)
}

//! One mnemonic per `Op` (or per form of it), both ways.
//!
//! An `Op` with at most one operand is a row of the table, under the kind of its operand; all others have an arm in
//! `write` and one in `read`. A new `Op` does not compile until it has a mnemonic.

use super::items::Item;
use super::lexer::Parsed;
use super::operands::Operands;
use super::writer::Writer;
use crate::{Conversion, JumpCond, Op, UnaryOp, Version};

macro_rules! mnemonics {
    (
        plain { $($plain:ident = $plain_word:literal,)+ }
        $(operand $kind:ident { $($op:ident = $word:literal,)+ })+
        write($out:ident) { $($written:pat => $write:expr,)+ }
        read($operands:ident) { $($special:literal => $read:expr,)+ }
    ) => {
        /// Appends an instruction to a text.
        pub(super) fn write(op: &Op, $out: &mut Writer<'_>) {
            match *op {
                $(Op::$plain => $out.word($plain_word),)+
                $($(Op::$op(operand) => $out.word($word).$kind(operand),)+)+
                $($written => $write,)+
            };
        }

        /// The instruction of a mnemonic; its operands are taken, what is left over is the caller's to refuse.
        pub(super) fn read(word: &str, $operands: &mut Operands<'_, '_>) -> Parsed<Op> {
            Ok(match word {
                $($plain_word => Op::$plain,)+
                $($($word => Op::$op($operands.$kind()?),)+)+
                $($special => $read,)+
                _ => return read_compound(word, $operands),
            })
        }
    };
}

mnemonics! {
    plain {
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
        WithCleanupStart = "WITH_CLEANUP_START", WithCleanupFinish = "WITH_CLEANUP_FINISH",
        MatchMapping = "MATCH_MAPPING", MatchSequence = "MATCH_SEQUENCE", MatchKeys = "MATCH_KEYS",
        MatchKeysTest = "MATCH_KEYS_TEST", CopyDictWithoutKeys = "COPY_DICT_WITHOUT_KEYS", GetLen = "GET_LEN",
    }
    operand number {
        Copy = "COPY",
        Swap = "SWAP",
        RotN = "ROT_N",
        CopyFreeVars = "COPY_FREE_VARS",
        BuildTuple = "BUILD_TUPLE",
        BuildList = "BUILD_LIST",
        BuildSet = "BUILD_SET",
        BuildMap = "BUILD_MAP",
        BuildConstKeyMap = "BUILD_CONST_KEY_MAP",
        BuildString = "BUILD_STRING",
        BuildSlice = "BUILD_SLICE",
        ListAppend = "LIST_APPEND",
        SetAdd = "SET_ADD",
        MapAdd = "MAP_ADD",
        ListExtend = "LIST_EXTEND",
        SetUpdate = "SET_UPDATE",
        DictUpdate = "DICT_UPDATE",
        DictMerge = "DICT_MERGE",
        BuildTupleUnpack = "BUILD_TUPLE_UNPACK",
        BuildTupleUnpackWithCall = "BUILD_TUPLE_UNPACK_WITH_CALL",
        BuildListUnpack = "BUILD_LIST_UNPACK",
        BuildSetUnpack = "BUILD_SET_UNPACK",
        BuildMapUnpack = "BUILD_MAP_UNPACK",
        BuildMapUnpackWithCall = "BUILD_MAP_UNPACK_WITH_CALL",
        UnpackSequence = "UNPACK_SEQUENCE",
        SetFunctionAttribute = "SET_FUNCTION_ATTRIBUTE",
        GenStart = "GEN_START",
        Resume = "RESUME",
        YieldValue = "YIELD_VALUE",
        GetAwaitable = "GET_AWAITABLE",
        RaiseVarargs = "RAISE_VARARGS",
        Reraise = "RERAISE",
        ReraiseTriple = "RERAISE_TRIPLE",
        PopFinally = "POP_FINALLY",
        MatchClass = "MATCH_CLASS",
        MatchClassTest = "MATCH_CLASS_TEST",
    }
    operand constant {
        LoadConst = "LOAD_CONST",
    }
    operand local {
        LoadFastAndClear = "LOAD_FAST_AND_CLEAR",
        StoreFast = "STORE_FAST",
        DeleteFast = "DELETE_FAST",
    }
    operand name {
        LoadGlobal = "LOAD_GLOBAL",
        StoreGlobal = "STORE_GLOBAL",
        DeleteGlobal = "DELETE_GLOBAL",
        LoadName = "LOAD_NAME",
        StoreName = "STORE_NAME",
        DeleteName = "DELETE_NAME",
        LoadFromDictOrGlobals = "LOAD_FROM_DICT_OR_GLOBALS",
        LoadAttr = "LOAD_ATTR",
        StoreAttr = "STORE_ATTR",
        DeleteAttr = "DELETE_ATTR",
        LoadMethod = "LOAD_METHOD",
        ImportName = "IMPORT_NAME",
        ImportFrom = "IMPORT_FROM",
    }
    operand cell {
        LoadDeref = "LOAD_DEREF",
        StoreDeref = "STORE_DEREF",
        DeleteDeref = "DELETE_DEREF",
        LoadClosure = "LOAD_CLOSURE",
        LoadClosureAndClear = "LOAD_CLOSURE_AND_CLEAR",
        StoreClosure = "STORE_CLOSURE",
        LoadClassDeref = "LOAD_CLASSDEREF",
        LoadFromDictOrDeref = "LOAD_FROM_DICT_OR_DEREF",
        MakeCell = "MAKE_CELL",
    }
    operand label {
        JumpIfNotExcMatch = "JUMP_IF_NOT_EXC_MATCH",
        ForIter = "FOR_ITER",
        Send = "SEND",
        SetupFinally = "SETUP_FINALLY",
        SetupWith = "SETUP_WITH",
        SetupAsyncWith = "SETUP_ASYNC_WITH",
        CallFinally = "CALL_FINALLY",
    }
    write(out) {
        Op::LoadFast { local, check } => {
            // Up to 3.11 LOAD_FAST checks.
            let always = out.version() < Version::V312;
            out.word(if check && !always { "LOAD_FAST_CHECK" } else { "LOAD_FAST" });
            out.local(local).exact_flag("unchecked", always && !check)
        },
        Op::LoadSuperAttr { name, two_arg, method } => {
            out.word("LOAD_SUPER_ATTR").name(name).flag("two_arg", two_arg).flag("method", method)
        },
        Op::Unary(op) => out.word(op.word()),
        Op::Binary { op, inplace: false } => out.word("BINARY").word(op.word()),
        Op::Binary { op, inplace: true } => out.word("BINARY").word(&format!("{}=", op.word())),
        Op::Compare { op, to_bool } => out.word("COMPARE").word(op.word()).flag("to_bool", to_bool),
        Op::Is { invert } => out.word(if invert { "IS_NOT" } else { "IS" }),
        Op::Contains { invert } => out.word(if invert { "NOT_IN" } else { "IN" }),
        Op::UnpackEx { before, after } => out.word("UNPACK_EX").number(before).number(after),
        Op::FormatValue { conversion: None, spec } => out.word("FORMAT_VALUE").flag("spec", spec),
        Op::FormatValue { conversion: Some(conversion), spec } => {
            out.word("FORMAT_VALUE").word(conversion.word()).flag("spec", spec)
        },
        Op::ConvertValue(conversion) => out.word("CONVERT_VALUE").word(conversion.word()),
        Op::Jump { target, no_interrupt } => {
            out.word(if no_interrupt { "JUMP_NO_INTERRUPT" } else { "JUMP" }).label(target)
        },
        Op::PopJumpIf { cond, target } => out.word(&format!("POP_JUMP_IF_{}", cond.word())).label(target),
        Op::JumpIfOrPop { cond, target } => out.word(&format!("JUMP_IF_{}_OR_POP", cond.word())).label(target),
        Op::Call { argc, two } => out.word(if two { "CALL" } else { "CALL_FUNCTION" }).number(argc),
        Op::CallKw { argc, two } => out.word(if two { "CALL_KW" } else { "CALL_FUNCTION_KW" }).number(argc),
        Op::CallEx { kwargs, null } => out.word("CALL_EX").flag("kwargs", kwargs).flag("null", null),
        Op::Intrinsic1(intrinsic) => out.word("INTRINSIC_1").word(intrinsic.word()),
        Op::Intrinsic2(intrinsic) => out.word("INTRINSIC_2").word(intrinsic.word()),
        Op::MakeFunction { flags, qualname } => out.word("MAKE_FUNCTION").number(flags).flag("qualname", qualname),
    }
    read(operands) {
        "LOAD_FAST" => {
            let local = operands.local()?;
            Op::LoadFast { local, check: operands.version() < Version::V312 && !operands.flag("unchecked") }
        },
        "LOAD_FAST_CHECK" => Op::LoadFast { local: operands.local()?, check: true },
        "LOAD_SUPER_ATTR" => {
            let name = operands.name()?;
            Op::LoadSuperAttr { name, two_arg: operands.flag("two_arg"), method: operands.flag("method") }
        },
        "BINARY" => {
            let (op, inplace) = operands.operator()?;
            Op::Binary { op, inplace }
        },
        "COMPARE" => Op::Compare { op: operands.item()?, to_bool: operands.flag("to_bool") },
        "IS" => Op::Is { invert: false },
        "IS_NOT" => Op::Is { invert: true },
        "IN" => Op::Contains { invert: false },
        "NOT_IN" => Op::Contains { invert: true },
        "UNPACK_EX" => Op::UnpackEx { before: operands.number()?, after: operands.number()? },
        "FORMAT_VALUE" => {
            let conversion = Conversion::ALL.iter().find(|(_, word)| operands.flag(word));
            Op::FormatValue { conversion: conversion.map(|(conversion, _)| *conversion), spec: operands.flag("spec") }
        },
        "CONVERT_VALUE" => Op::ConvertValue(operands.item()?),
        "JUMP" => Op::Jump { target: operands.label()?, no_interrupt: false },
        "JUMP_NO_INTERRUPT" => Op::Jump { target: operands.label()?, no_interrupt: true },
        "CALL" => Op::Call { argc: operands.number()?, two: true },
        "CALL_FUNCTION" => Op::Call { argc: operands.number()?, two: false },
        "CALL_KW" => Op::CallKw { argc: operands.number()?, two: true },
        "CALL_FUNCTION_KW" => Op::CallKw { argc: operands.number()?, two: false },
        "CALL_EX" => Op::CallEx { kwargs: operands.flag("kwargs"), null: operands.flag("null") },
        "INTRINSIC_1" => Op::Intrinsic1(operands.item()?),
        "INTRINSIC_2" => Op::Intrinsic2(operands.item()?),
        "MAKE_FUNCTION" => Op::MakeFunction { flags: operands.number()?, qualname: operands.flag("qualname") },
    }
}

/// Where a part of the mnemonic is an operand of the `Op`.
fn read_compound(word: &str, operands: &mut Operands<'_, '_>) -> Parsed<Op> {
    if let Some(op) = UnaryOp::of_word(word) {
        return Ok(Op::Unary(op));
    }
    if let Some(cond) = word.strip_prefix("POP_JUMP_IF_").and_then(JumpCond::of_word) {
        return Ok(Op::PopJumpIf { cond, target: operands.label()? });
    }
    let or_pop = word.strip_prefix("JUMP_IF_").and_then(|cond| cond.strip_suffix("_OR_POP"));
    if let Some(cond) = or_pop.and_then(JumpCond::of_word) {
        return Ok(Op::JumpIfOrPop { cond, target: operands.label()? });
    }
    Err(format!("`{word}` is no instruction (a line is: location, labels, @offset, mnemonic, operands)"))
}

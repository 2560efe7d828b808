//! The text form: exact where it is to be, readable, stable, and total.

use crate::corpus;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sot_opcodes::{
    Code, CodeFlags, Instr, Label, Local, Location, NameId, Op, Version, analysis, decode, encode, text,
};

fn exact(code: &Code) -> Result<Code, text::ParseError> {
    text::parse(&text::print_exact(code, None))
}

fn codes() -> impl Iterator<Item = Code> {
    corpus::all().map(|raw| decode(&raw).expect("corpus"))
}

#[test]
fn exact_text_reads_as_the_same_code() {
    for code in codes() {
        assert_eq!(exact(&code), Ok(code));
    }
}

/// What `print` keeps: labels by place, lines only.
fn readable(mut code: Code) -> Code {
    for instr in &mut code.instrs {
        if let Some(label) = instr.op.target() {
            instr.op = instr.op.with_target(Label(code.labels[label.0 as usize] as u32));
        }
        instr.loc = instr.loc.line.map_or_else(Location::default, Location::of_line);
        instr.offset = Instr::NO_OFFSET;
    }
    for region in &mut code.regions {
        region.handler = Label(code.labels[region.handler.0 as usize] as u32);
    }
    code.labels.clear();
    code
}

#[test]
fn readable_text_reads_as_the_code_without_columns_and_offsets() {
    for code in codes() {
        let printed = text::print(&code, None);
        let parsed = text::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(text::print(&parsed, None), printed);
        assert_eq!(encode(&parsed).expect("consistent").stacksize, encode(&code).expect("corpus").stacksize);
        assert_eq!(readable(parsed), readable(code));
    }
}

#[test]
fn diffable_text_is_read() {
    for code in codes() {
        let parsed = text::parse(&text::diffable(&code, None)).expect("a text");
        let ops = |code: Code| readable(code).instrs.into_iter().map(|i| i.op).collect::<Vec<_>>();
        assert_eq!((parsed.filename.as_str(), parsed.firstlineno, parsed.stacksize), ("", 1, 0));
        assert_eq!(ops(parsed), ops(code));
    }
}

#[test]
fn constants_are_a_remark() {
    let consts: Vec<String> = (0..99).map(|i| format!("'({i})\n\"'")).collect();
    for code in codes() {
        assert_eq!(text::parse(&text::print_exact(&code, Some(&consts))), Ok(code));
    }
}

#[test]
fn what_is_left_out_is_none() {
    let code = text::parse("code f python 3.12\nNOP\n").expect("code");
    assert_eq!((code.name.as_str(), code.qualname.as_str(), code.filename.as_str()), ("f", "f", ""));
    assert_eq!((code.version, code.firstlineno, code.stacksize), (Version::V312, 1, 0));
    assert_eq!(code.flags, CodeFlags::empty());
    assert_eq!(code.instrs, [Instr::new(Op::Nop, Location::default())]);
}

#[test]
fn a_location_holds_until_the_next() {
    let code = text::parse("code f python 3.11\nNOP\n4:1-9 NOP\nL0: @6 NOP\n5 NOP\n6-7 NOP\n-- NOP\n").expect("code");
    let at = |line, end_line, col, end_col| Location { line, end_line, col, end_col };
    let four = at(Some(4), Some(4), Some(1), Some(9));
    let six = at(Some(6), Some(7), None, None);
    let locs: Vec<Location> = code.instrs.iter().map(|i| i.loc).collect();
    assert_eq!(locs, [Location::default(), four, four, Location::of_line(5), six, Location::default()]);
    assert_eq!(code.instrs[2].offset, 6);
}

#[test]
fn numbers_of_labels_are_closed_up_in_order() {
    let code = text::parse("code f python 3.11\nL7: JUMP L20\nL20: L3: NOP\nR0: NOP\nregion L7..R0 -> L20 depth 0\n");
    let code = code.expect("code");
    assert_eq!(code.labels, [1, 0, 1]);
    assert_eq!(code.instrs[0].op.target(), Some(Label(2)));
    assert_eq!((code.regions[0].start, code.regions[0].end, code.regions[0].handler), (0, 2, Label(2)));
    assert_eq!(exact(&code), Ok(code));
}

/// Every mnemonic and every form of its operands, as it is printed.
const FORMS: &[&str] = &[
    "NOP",
    "POP_TOP",
    "PUSH_NULL",
    "LOAD_LOCALS",
    "LOAD_BUILD_CLASS",
    "LOAD_ASSERTION_ERROR",
    "SETUP_ANNOTATIONS",
    "BINARY_SUBSCR",
    "STORE_SUBSCR",
    "DELETE_SUBSCR",
    "BINARY_SLICE",
    "STORE_SLICE",
    "LIST_TO_TUPLE",
    "GET_ITER",
    "RETURN_VALUE",
    "RETURN_GENERATOR",
    "YIELD_FROM",
    "GET_YIELD_FROM_ITER",
    "END_SEND",
    "GET_AITER",
    "GET_ANEXT",
    "BEFORE_ASYNC_WITH",
    "END_ASYNC_FOR",
    "ASYNC_GEN_WRAP",
    "CLEANUP_THROW",
    "IMPORT_STAR",
    "PRINT_EXPR",
    "POP_EXCEPT",
    "PUSH_EXC_INFO",
    "CHECK_EXC_MATCH",
    "CHECK_EG_MATCH",
    "PREP_RERAISE_STAR",
    "BEFORE_WITH",
    "WITH_EXCEPT_START",
    "POP_EXCEPT_TRIPLE",
    "WITH_EXCEPT_START_TRIPLE",
    "END_ASYNC_FOR_TRIPLE",
    "POP_BLOCK",
    "BEGIN_FINALLY",
    "END_FINALLY",
    "WITH_CLEANUP_START",
    "WITH_CLEANUP_FINISH",
    "MATCH_MAPPING",
    "MATCH_SEQUENCE",
    "MATCH_KEYS",
    "MATCH_KEYS_TEST",
    "COPY_DICT_WITHOUT_KEYS",
    "GET_LEN",
    "COPY 1",
    "SWAP 2",
    "ROT_N 3",
    "COPY_FREE_VARS 1",
    "BUILD_TUPLE 0",
    "BUILD_LIST 1",
    "BUILD_SET 2",
    "BUILD_MAP 3",
    "BUILD_CONST_KEY_MAP 4",
    "BUILD_STRING 5",
    "BUILD_SLICE 2",
    "LIST_APPEND 1",
    "SET_ADD 1",
    "MAP_ADD 1",
    "LIST_EXTEND 1",
    "SET_UPDATE 1",
    "DICT_UPDATE 1",
    "DICT_MERGE 1",
    "BUILD_TUPLE_UNPACK 1",
    "BUILD_TUPLE_UNPACK_WITH_CALL 1",
    "BUILD_LIST_UNPACK 1",
    "BUILD_SET_UNPACK 1",
    "BUILD_MAP_UNPACK 1",
    "BUILD_MAP_UNPACK_WITH_CALL 1",
    "UNPACK_SEQUENCE 4294967295",
    "SET_FUNCTION_ATTRIBUTE 8",
    "GEN_START 0",
    "RESUME 0",
    "YIELD_VALUE 1",
    "GET_AWAITABLE 0",
    "RAISE_VARARGS 1",
    "RERAISE 0",
    "RERAISE_TRIPLE 0",
    "POP_FINALLY 4294967295",
    "MATCH_CLASS 1",
    "MATCH_CLASS_TEST 1",
    "LOAD_CONST 4294967295",
    "LOAD_FAST_AND_CLEAR x",
    "STORE_FAST x",
    "DELETE_FAST x",
    "LOAD_GLOBAL n",
    "STORE_GLOBAL n",
    "DELETE_GLOBAL n",
    "LOAD_NAME n",
    "STORE_NAME n",
    "DELETE_NAME n",
    "LOAD_FROM_DICT_OR_GLOBALS n",
    "LOAD_ATTR n",
    "STORE_ATTR n",
    "DELETE_ATTR n",
    "LOAD_METHOD n",
    "IMPORT_NAME n",
    "IMPORT_FROM n",
    "LOAD_DEREF c",
    "STORE_DEREF f",
    "DELETE_DEREF c",
    "LOAD_CLOSURE f",
    "LOAD_CLOSURE_AND_CLEAR c",
    "STORE_CLOSURE f",
    "LOAD_CLASSDEREF c",
    "LOAD_FROM_DICT_OR_DEREF f",
    "MAKE_CELL c",
    "JUMP_IF_NOT_EXC_MATCH L0",
    "FOR_ITER L0",
    "SEND L0",
    "SETUP_FINALLY L0",
    "SETUP_WITH L0",
    "SETUP_ASYNC_WITH L0",
    "CALL_FINALLY L0",
    "LOAD_FAST x",
    "LOAD_SUPER_ATTR n",
    "LOAD_SUPER_ATTR n two_arg",
    "LOAD_SUPER_ATTR n method",
    "LOAD_SUPER_ATTR n two_arg method",
    "UNARY_NEGATIVE",
    "UNARY_POSITIVE",
    "UNARY_INVERT",
    "UNARY_NOT",
    "TO_BOOL",
    "BINARY +",
    "BINARY &",
    "BINARY //",
    "BINARY <<",
    "BINARY @",
    "BINARY *",
    "BINARY %",
    "BINARY |",
    "BINARY **",
    "BINARY >>",
    "BINARY -",
    "BINARY /",
    "BINARY ^",
    "BINARY +=",
    "BINARY &=",
    "BINARY //=",
    "BINARY <<=",
    "BINARY @=",
    "BINARY *=",
    "BINARY %=",
    "BINARY |=",
    "BINARY **=",
    "BINARY >>=",
    "BINARY -=",
    "BINARY /=",
    "BINARY ^=",
    "COMPARE <",
    "COMPARE <=",
    "COMPARE ==",
    "COMPARE !=",
    "COMPARE >",
    "COMPARE >= to_bool",
    "IS",
    "IS_NOT",
    "IN",
    "NOT_IN",
    "UNPACK_EX 1 2",
    "FORMAT_VALUE",
    "FORMAT_VALUE spec",
    "FORMAT_VALUE str",
    "FORMAT_VALUE repr spec",
    "FORMAT_VALUE ascii",
    "CONVERT_VALUE str",
    "CONVERT_VALUE repr",
    "CONVERT_VALUE ascii",
    "JUMP L0",
    "JUMP_NO_INTERRUPT L0",
    "POP_JUMP_IF_TRUE L0",
    "POP_JUMP_IF_FALSE L0",
    "POP_JUMP_IF_NONE L0",
    "POP_JUMP_IF_NOT_NONE L0",
    "JUMP_IF_TRUE_OR_POP L0",
    "JUMP_IF_FALSE_OR_POP L0",
    "JUMP_IF_NONE_OR_POP L0",
    "JUMP_IF_NOT_NONE_OR_POP L0",
    "CALL 1",
    "CALL_FUNCTION 1",
    "CALL_KW 1",
    "CALL_FUNCTION_KW 1",
    "CALL_EX",
    "CALL_EX kwargs",
    "CALL_EX null",
    "CALL_EX kwargs null",
    "INTRINSIC_1 print",
    "INTRINSIC_1 import_star",
    "INTRINSIC_1 stop_iteration_error",
    "INTRINSIC_1 type_var",
    "INTRINSIC_1 param_spec",
    "INTRINSIC_1 type_var_tuple",
    "INTRINSIC_1 subscript_generic",
    "INTRINSIC_1 type_alias",
    "INTRINSIC_2 type_var_with_bound",
    "INTRINSIC_2 type_var_with_constraints",
    "INTRINSIC_2 set_function_type_params",
    "INTRINSIC_2 set_typeparam_default",
    "MAKE_FUNCTION 15",
    "MAKE_FUNCTION 0 qualname",
];

#[test]
fn every_instruction_is_read_as_it_is_printed() {
    for version in Version::ALL {
        let of_version = if version < Version::V312 { "LOAD_FAST x unchecked" } else { "LOAD_FAST_CHECK x" };
        let forms = || FORMS.iter().copied().chain([of_version]);
        let body: String = forms().map(|form| format!("{form}\n")).collect();
        let header = format!("code f python {version}\nnames n\nvarnames x\ncellvars c\nfreevars f\nL0:\n");
        let code = text::parse(&(header + &body)).expect("all forms");
        let printed = text::print_exact(&code, None);
        let lines = printed.lines().skip(8).map(|line| line.trim().trim_start_matches("--").trim());
        let lines = lines.map(|line| line.trim_start_matches("L0:").trim());
        assert!(lines.filter(|line| !line.starts_with("region")).eq(forms()), "{printed}");
        assert_eq!(text::parse(&printed), Ok(code));
    }
}

/// Names that look like something else.
const ODD: [&str; 18] = [
    "",
    " ",
    "a b",
    "\"",
    "\\",
    "'",
    "#3",
    "L0",
    "L0:",
    "--",
    "7",
    "(",
    "@4",
    "line\nbreak",
    "\r\t\0\u{7f}",
    "e\u{301}\u{2028}",
    "two_arg",
    "file",
];

#[test]
fn names_may_be_anything_and_the_same() {
    let mut code = text::parse("code f python 3.12\n").expect("code");
    code.names = ODD.iter().chain(&ODD).map(|name| (*name).to_owned()).collect();
    (code.varnames, code.cellvars, code.freevars) = (code.names.clone(), code.names.clone(), code.names.clone());
    (code.name, code.qualname, code.filename) = ("file\n\"x\"".into(), " ".into(), "line".into());
    for id in 0..code.names.len() as u32 {
        let (name, local) = (NameId(id), Local(id));
        let ops = [
            Op::LoadName(name),
            Op::LoadSuperAttr { name, two_arg: false, method: true },
            Op::LoadFast { local, check: true },
            Op::LoadDeref(sot_opcodes::Cell(2 * id)),
        ];
        code.instrs.extend(ops.map(|op| Instr::new(op, Location::default())));
    }
    assert_eq!(exact(&code), Ok(code.clone()));
    assert_eq!(text::parse(&text::print(&code, None)), Ok(code.clone()));
    let printed = text::print(&code, None);
    assert!(printed.contains("LOAD_NAME \"#3\"\n") && printed.contains("LOAD_NAME #18\n"), "{printed}");
}

#[test]
fn a_label_that_leads_nowhere_is_shown_and_not_read() {
    let mut code = text::parse("code f python 3.11\nL0: JUMP L0\n").expect("code");
    code.labels[0] = usize::MAX;
    assert!(text::print(&code, None).ends_with("JUMP L?\n"));
    let error = text::parse(&text::print(&code, None)).expect_err("no label");
    assert_eq!(error.to_string(), "line 9: `L?` is no label: write L and a number");
    let error = exact(&code).expect_err("no place");
    assert_eq!(error.to_string(), "line 9: L0 is nowhere: write `L0:` before an instruction or at the end");
}

/// Many names and labels are no reason to search lists.
#[test]
fn long_texts_are_read_in_no_time() {
    let count = 30_000;
    let mut code = text::parse("code f python 3.11\n").expect("code");
    code.names = (0..count).map(|i| format!("n{i}")).collect();
    code.labels = (0..count).rev().collect();
    for i in 0..count as u32 {
        let target = Label((i * 7) % count as u32);
        code.instrs.push(Instr::new(Op::LoadGlobal(NameId(i)), Location::of_line(i)));
        code.instrs.push(Instr::new(Op::Jump { target, no_interrupt: false }, Location::of_line(i)));
    }
    assert_eq!(exact(&code), Ok(code));
}

#[test]
fn mistakes_are_told_with_their_line() {
    let told = |text: &str| text::parse(text).expect_err("a mistake").to_string();
    // In the header.
    for (text, message) in [
        ("", "line 1: the text is empty; it begins like: code \"f\" python 3.11"),
        ("\n NOP", "line 2: the first line has to be like: code \"f\" python 3.11"),
        ("names a", "line 1: the first line has to be like: code \"f\" python 3.11"),
        ("code", "line 1: `code` has no value behind it"),
        ("code f", "line 1: `python` is missing: the version says what the code means"),
        ("code f python 3.7", "line 1: `python 3.7` is not supported: write 3.8 to 3.13"),
        ("code f python 3.268", "line 1: `python 3.268` is not supported: write 3.8 to 3.13"),
        ("code f python 3.8 python 3.9", "line 1: `python` is there twice"),
        ("code f g python 3.8", "line 1: `g` is none of code, file, line, python"),
        ("code f line 4294967296 python 3.8", "line 1: `4294967296` is no number from 0 to 4294967295"),
        ("code f line \"1\" python 3.8", "line 1: `1` is no number from 0 to 4294967295"),
        ("code \"f python 3.8", "line 1: a quote is not closed"),
        ("code \"f\"python 3.8", "line 1: a space is missing behind \"f\""),
        ("code f\" python 3.8", "line 1: `f\"` has a quote inside: write \"f\\\"\" for a name with a quote"),
        ("code \"\\x41\"", "line 1: `\\x` is no escape: there are \\n \\r \\t \\0 \\\\ \\\" \\' \\u{hex}"),
        ("code \"\\u{d800}\"", "line 1: `\\u` is no escape: there are \\n \\r \\t \\0 \\\\ \\\" \\' \\u{hex}"),
    ] {
        assert_eq!(told(text), message, "{text}");
    }
    for (line, message) in [
        (
            "flags OPTIMISED",
            "`OPTIMISED` is no flag: write 0x and digits, or OPTIMIZED NEWLOCALS VARARGS VARKEYWORDS \
          NESTED GENERATOR NOFREE COROUTINE ITERABLE_COROUTINE ASYNC_GENERATOR",
        ),
        ("flags 0x100000000", "`0x100000000` is no number of 32 bits"),
        ("args 1 2", "`2` is none of args, posonly, kwonly, stack"),
        ("args -1", "`-1` is no number from 0 to 4294967295"),
        ("qualname a b", "`b` is none of qualname"),
    ] {
        let text = format!("code f python 3.11\n{line}");
        assert_eq!(told(&text), format!("line 2: {message}"), "{text}");
    }
    // Behind it.
    for (line, message) in [
        ("code g python 3.8", "`code` is there twice"),
        (
            "vars a",
            "no line begins with `vars`; there are code, qualname, flags, args, names, varnames, cellvars, \
          freevars and region",
        ),
        ("\"NOP\"", "a line begins with a word that is not quoted"),
        ("1 \"NOP\"", "an instruction is not quoted"),
        ("NOPE", "`NOPE` is no instruction (a line is: location, labels, @offset, mnemonic, operands)"),
        ("NOP 1", "`1` is too much behind NOP"),
        ("COPY", "COPY needs a number"),
        ("COPY +1", "`+1` is no number from 0 to 4294967295"),
        ("COPY 4294967296", "`4294967296` is no number from 0 to 4294967295"),
        ("LOAD_CONST (None)", "LOAD_CONST needs the number of a constant"),
        ("LOAD_FAST b", "\"b\" is not in varnames"),
        ("LOAD_FAST #1", "there is no #1: varnames has 1 names, from #0"),
        ("LOAD_FAST a check", "`check` is too much behind LOAD_FAST"),
        ("LOAD_DEREF a", "\"a\" is not in cellvars and freevars"),
        ("BINARY ==", "BINARY needs one of + & // << @ * % | ** >> - / ^, with = behind it if in place"),
        ("COMPARE", "COMPARE needs one of < <= == != > >="),
        ("FORMAT_VALUE hex", "`hex` is too much behind FORMAT_VALUE"),
        ("JUMP", "JUMP needs a label"),
        ("JUMP 4", "`4` is no label: write L and a number"),
        ("JUMP L", "`L` is no label: write L and a number"),
        ("JUMP R0", "`R0` is no label: write L and a number"),
        ("JUMP \"L0\"", "`L0` is no label: write L and a number"),
        ("JUMP L4294967296", "`L4294967296` is no label: write L and a number"),
        ("JUMP L1", "L1 is nowhere: write `L1:` before an instruction or at the end"),
        ("L0: NOP", "L0 is already at line 3"),
        (
            "loop: NOP",
            "no line begins with `loop:`; there are code, qualname, flags, args, names, varnames, cellvars, \
          freevars and region",
        ),
        ("1 loop: NOP", "`loop:` is no label: write L and a number"),
        ("1", "the instruction is missing"),
        ("@1", "the instruction is missing"),
        ("@ NOP", "`@` is no offset: write @ and a number, or nothing"),
        ("@4294967295 NOP", "`@4294967295` is no offset: write @ and a number, or nothing"),
        ("1:2 NOP", "`1:2` is no location: write 12:4-9, 12:4-13:9, 12 or 12-13 (? for an unknown), or --"),
        ("1- NOP", "`1-` is no location: write 12:4-9, 12:4-13:9, 12 or 12-13 (? for an unknown), or --"),
        ("region L0", "a region is like: region L0..L1 -> L2 depth 0, with `lasti` behind it or not"),
        (
            "region L0..R0 -> L0 depth 0 last",
            "a region is like: region L0..L1 -> L2 depth 0, with `lasti` behind it or not",
        ),
        ("region L0..L0 -> L0 depth 0", "the region is empty: L0 is not before L0"),
        ("region R0..L0 -> L0 depth 0", "the region is empty: R0 is not before L0"),
        ("region L0..R1 -> L0 depth 0", "R1 is nowhere: write `R1:` before an instruction or at the end"),
        ("region L0..R0 -> R0 depth 0", "`R0` is no label: write L and a number"),
    ] {
        let text = format!("code f python 3.11\nvarnames a\nL0: NOP\n{line}\nR0:\n");
        assert_eq!(told(&text), format!("line 4: {message}"), "{text}");
    }
    assert_eq!(told("code f python 3.11\nNOP\nnames a"), "line 3: `names` belongs above the instructions and regions");
    assert_eq!(
        told("code f python 3.10\nL0: NOP\nL1: NOP\nregion L0..L1 -> L1 depth 0"),
        "line 4: up to 3.10 regions follow from SETUP_* and POP_BLOCK: leave this line out"
    );
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..9u32, any::<u32>(), Just(u32::MAX)]
}

fn location() -> impl Strategy<Value = Location> {
    let number = || prop::option::of(number());
    (number(), number(), number(), number(), any::<bool>()).prop_map(|(line, end, col, end_col, same)| Location {
        line,
        end_line: if same { line } else { end },
        col,
        end_col,
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![select(&ODD[..]).prop_map(str::to_owned), any::<String>(), "[a-z]{1,2}"]
}

/// Code of the corpus in which everything but the operations is random.
fn code() -> impl Strategy<Value = Code> {
    let codes: Vec<Code> = codes().filter(|code| code.instrs.len() < 200).collect();
    let names = prop::collection::vec(name(), 8);
    let places = prop::collection::vec(any::<Index>(), 0..4);
    let instrs = prop::collection::vec((location(), number()), 1..8);
    let numbers = prop::array::uniform6(number());
    (select(codes), names, places, instrs, numbers).prop_map(|(mut code, names, places, instrs, numbers)| {
        let mut names = names.iter().cycle().cloned();
        for list in [&mut code.names, &mut code.varnames, &mut code.cellvars, &mut code.freevars] {
            list.fill_with(|| names.next().expect("endless"));
        }
        for item in [&mut code.name, &mut code.qualname, &mut code.filename] {
            item.extend(names.next());
        }
        [code.argcount, code.posonlyargcount, code.kwonlyargcount, code.firstlineno, code.stacksize, _] = numbers;
        code.flags = CodeFlags::from_bits_retain(numbers[5]);
        for (instr, (loc, offset)) in code.instrs.iter_mut().zip(instrs.iter().cycle()) {
            (instr.loc, instr.offset) = (*loc, *offset);
            if let Op::LoadFast { check, .. } = &mut instr.op {
                *check = offset % 2 == 0;
            }
        }
        // Other ids for the labels, and some that nothing uses.
        let last = code.labels.len() as u32;
        code.labels.reverse();
        let turned = |label: Label| Label(last - 1 - label.0);
        for instr in &mut code.instrs {
            instr.op = instr.op.target().map_or(instr.op, |label| instr.op.with_target(turned(label)));
        }
        code.regions.iter_mut().for_each(|region| region.handler = turned(region.handler));
        let end = code.instrs.len() + 1;
        code.labels.extend(places.iter().map(|place| place.index(end)));
        if code.version < Version::V311 {
            code.regions = analysis::block_regions(&code);
        }
        code
    })
}

/// A change to a text: what is done, to which part, and the characters for it.
#[derive(Clone, Debug)]
struct Change {
    what: u8,
    from: Index,
    to: Index,
    text: String,
}

fn change() -> impl Strategy<Value = Change> {
    let text = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ :@#L0-9\"\\\\(-]",
        number().prop_map(|number| number.to_string()),
        select(FORMS).prop_map(|form| form.to_owned() + " "),
    ];
    (0..6u8, any::<Index>(), any::<Index>(), text).prop_map(|(what, from, to, text)| Change { what, from, to, text })
}

fn changed(text: &str, change: &Change) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return change.text.clone();
    }
    let (from, to) = (change.from.index(lines.len()), change.to.index(lines.len()));
    let mut line: Vec<char> = lines[from].chars().collect();
    let at = change.to.index(line.len() + 1);
    match change.what {
        0 => drop(lines.remove(from)),
        1 => lines.insert(to, lines[from]),
        2 => lines.swap(from, to),
        3 => drop(line.splice(at..at, change.text.chars())),
        4 => drop(line.splice(at..(at + 1).min(line.len()), [])),
        _ => drop(line.splice(at..(at + 1).min(line.len()), change.text.chars())),
    }
    let line: String = line.into_iter().collect();
    if change.what > 2 {
        lines[from] = &line;
    }
    lines.join("\n")
}

/// Whatever is read is printed and read again.
fn read(written: &str) {
    match text::parse(written) {
        Ok(code) => {
            assert_eq!(exact(&code), Ok(code.clone()));
            assert!(text::parse(&text::print(&code, None)).is_ok());
            assert!(text::parse(&text::diffable(&code, None)).is_ok());
        }
        Err(error) => assert!((1..=written.lines().count().max(1)).contains(&error.line) && !error.what.is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_names_locations_and_labels_survive(code in code()) {
        prop_assert_eq!(exact(&code), Ok(code));
    }

    #[test]
    fn any_text_is_read_or_refused(lines in prop::collection::vec(any::<String>(), 0..4)) {
        read(&lines.join("\n"));
    }

    /// Words that mean something, anywhere.
    #[test]
    fn any_words_are_read_or_refused(
        version in select(&Version::ALL[..]),
        lines in prop::collection::vec(prop_oneof![
            3 => select(FORMS).prop_map(str::to_owned),
            1 => "L[0-3]: [A-Z_]{1,4} L[0-3]",
            1 => "region [LR][0-3]..[LR][0-3] -> L[0-3] depth [0-9] (lasti)?",
            1 => "([0-9?:-]{1,6} )?(@[0-9]{1,2} )?NOP",
        ], 0..40),
    ) {
        let lists = "names n\nvarnames x\ncellvars c\nfreevars f\nL0: L1: NOP\nL2: R1:\n";
        read(&format!("code f python {version}\n{lists}{}\nR2: L3:\n", lines.join("\n")));
    }

    #[test]
    fn a_changed_text_is_read_or_refused(
        code in select(codes().filter(|code| code.instrs.len() < 200).collect::<Vec<_>>()),
        changes in prop::collection::vec(change(), 1..4),
    ) {
        read(&changes.iter().fold(text::print_exact(&code, None), |text, change| changed(&text, change)));
    }
}

#[test]
fn loops_in_each_version() {
    for version in Version::ALL {
        let code = decode(&corpus::function(version, "loops")).expect("corpus");
        insta::assert_snapshot!(format!("loops_{}", version.minor()), text::diffable(&code, None));
    }
}

#[test]
fn calls_in_each_version() {
    for version in Version::ALL {
        let code = decode(&corpus::function(version, "calls")).expect("corpus");
        insta::assert_snapshot!(format!("calls_{}", version.minor()), text::diffable(&code, None));
    }
}

#[test]
fn handlers_in_each_kind_of_version() {
    for version in [Version::V38, Version::V310, Version::V311, Version::V313] {
        let code = decode(&corpus::function(version, "handlers")).expect("corpus");
        insta::assert_snapshot!(format!("handlers_{}", version.minor()), text::diffable(&code, None));
    }
}

#[test]
fn coroutine_in_each_kind_of_version() {
    for version in [Version::V310, Version::V311, Version::V312] {
        let code = decode(&corpus::function(version, "coroutine")).expect("corpus");
        insta::assert_snapshot!(format!("coroutine_{}", version.minor()), text::diffable(&code, None));
    }
}

//! Fresh code and prologues, in every version.

use crate::corpus;
use sot_opcodes::{
    CodeBuilder, ConstId, EncodeError, Instr, Local, Location, Op, Signature, Version, calls, decode, encode, text,
};

#[test]
fn a_call_is_the_same_text_but_for_the_null() {
    for version in Version::ALL {
        let mut b = CodeBuilder::empty(version, "f", "f.py", 1);
        b.set_args(&Signature { positional: vec!["x".into()], ..Signature::default() });
        b.prelude();
        let loc = Location::of_line(2);
        let name = b.name("g");
        let x = b.local("x");
        assert_eq!(x, Local(0));
        b.push_callable(Op::LoadGlobal(name), loc);
        b.emit_all([Op::LoadFast { local: x, check: false }; 2], loc);
        b.call_kw(2, ConstId(1), loc);
        b.emit(Op::ReturnValue, loc);
        let raw = encode(&b.finish()).expect("well formed");
        let code = decode(&raw).expect("was just encoded");
        assert_eq!(code.arg_slots(), 1);
        let words: Vec<String> = text::print(&code, None)
            .lines()
            .skip(8)
            .map(|l| l.trim().trim_start_matches(|c: char| c.is_ascii_digit()).trim().to_owned())
            .filter(|l| !matches!(l.as_str(), "RESUME 0" | "PUSH_NULL"))
            .collect();
        let call = if calls::two_slots(version) { "CALL_KW 2" } else { "CALL_FUNCTION_KW 2" };
        assert_eq!(words, ["LOAD_GLOBAL g", "LOAD_FAST x", "LOAD_FAST x", "LOAD_CONST 1", call, "RETURN_VALUE"]);
        let slots = match version {
            Version::V38 | Version::V39 | Version::V310 => 4,
            // The names are an operand.
            Version::V311 | Version::V312 => 4,
            Version::V313 => 5,
        };
        assert_eq!(raw.stacksize, slots, "{version}");
    }
}

#[test]
fn a_prologue_comes_behind_the_prelude_and_loops_do_not_run_it_again() {
    for raw in corpus::all() {
        let before = decode(&raw).expect("corpus");
        let mut code = before.clone();
        let at = code.prelude_len();
        let loc = Location::of_line(7);
        // `if const: go on at the original first instruction`, with a label of its own.
        let own = code.new_label(at + 1);
        let prologue = vec![Instr::new(Op::Jump { target: own, no_interrupt: false }, loc), Instr::new(Op::Nop, loc)];
        assert_eq!(code.insert_prologue(prologue), at);
        assert_eq!(code.target(own), at + 1);
        assert_eq!(code.instrs.len(), before.instrs.len() + 2);
        for (label, to) in before.labels.iter().enumerate() {
            let moved = if *to >= at { to + 2 } else { *to };
            assert_eq!(code.labels[label], moved, "{} {}", raw.version, raw.name);
        }
        let again = decode(&encode(&code).expect("well formed")).expect("was just encoded");
        assert_eq!(again.instrs[at + 1].op, Op::Nop);
        assert_eq!(again.instrs.len(), code.instrs.len(), "{} {}", raw.version, raw.name);
    }
}

#[test]
fn rotations_stand_in_for_swap_and_copy() {
    for version in Version::ALL {
        for op in [Op::Swap(2), Op::Swap(3), Op::Swap(4), Op::Copy(1), Op::Copy(2), Op::Copy(3), Op::RotN(3)] {
            let mut b = CodeBuilder::empty(version, "f", "f.py", 1);
            let loc = Location::of_line(1);
            b.emit_all((0..4).map(|i| Op::LoadConst(ConstId(i))), loc);
            b.emit(op, loc);
            b.emit(Op::ReturnValue, loc);
            let code = decode(&encode(&b.finish()).expect("well formed")).expect("was just encoded");
            assert_eq!(run(&code.instrs), run_one(op), "{version} {op:?}");
        }
    }
}

fn run_one(op: Op) -> Vec<u32> {
    let mut stack = vec![0, 1, 2, 3];
    step(&mut stack, op);
    stack
}

fn run(instrs: &[Instr]) -> Vec<u32> {
    let mut stack = Vec::new();
    for instr in instrs {
        step(&mut stack, instr.op);
    }
    stack
}

fn step(stack: &mut Vec<u32>, op: Op) {
    let top = stack.len();
    match op {
        Op::LoadConst(id) => stack.push(id.0),
        Op::PopTop => drop(stack.pop()),
        Op::Copy(n) => stack.push(stack[top - n as usize]),
        Op::Swap(n) => stack.swap(top - 1, top - n as usize),
        Op::RotN(n) => stack[top - n as usize..].rotate_right(1),
        _ => {}
    }
}

#[test]
fn what_a_version_lacks_is_refused() {
    let refused = |version, ops: &[Op]| {
        let mut b = CodeBuilder::empty(version, "f", "f.py", 1);
        b.emit_all(ops.iter().copied(), Location::of_line(1));
        encode(&b.finish()).expect_err("refused")
    };
    let value = Op::LoadConst(ConstId(0));
    assert!(matches!(
        refused(Version::V310, &[Op::PushNull, value, Op::ReturnValue]),
        EncodeError::Unsupported { at: 0, .. }
    ));
    let kw = Op::CallKw { argc: 0, two: true };
    let error = refused(Version::V311, &[Op::PushNull, value, value, Op::Nop, kw, Op::ReturnValue]);
    assert_eq!(error, EncodeError::KwNames { at: 4 });
    assert!(matches!(refused(Version::V313, &[Op::PopTop]), EncodeError::StackUnderflow { at: 0, .. }));
    assert_eq!(refused(Version::V38, &[value]), EncodeError::FallsOffEnd);
}

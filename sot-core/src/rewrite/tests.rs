//! Passes of the rewriter, text to text, without an interpreter.
//!
//! What makes code of code (resume functions, generators, stand-ins) is given bytecode as text. What plans (uses, the replay of
//! the journal, lifetimes) is given a simulation as text, one value or effect a line:
//!
//! ```text
//! a = slot 0 watched          a list from an argument slot; its death could be seen
//! b = tuple a a               made by the simulation
//! append a b                  an effect; also `setattr a name b`
//! over a                      no frame holds it before the next effect
//! return b
//! ```
//!
//! The emitter itself is not here, nor the exits of a break: constants of new code are Python objects, and so are the code and
//! the globals of frames. Their text is tested by the literate suite's snapshots.

use super::lifetimes::Lifetimes;
use super::plan::Tail;
use super::resume::{Helpers, Stand, generator_code, generator_within_code, resume_code};
use super::stand_in::waiting_code;
use super::uses;
use crate::captured::{Captured, Released};
use crate::shapes::SlotShape;
use crate::variables::{CellVar, InstanceVar, ListVar, TupleVar, VarId, VarKind, Variable};
use insta::assert_snapshot;
use sot_opcodes::{Code, ConstId, Location, text};
use sot_sideeffect::{Mutation, VarRef};
use sot_tracker::ObjectId;
use std::fmt::Write;

// ----- code of code

fn code(text: &str) -> Code {
    text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const LOOP_3_11: &str = "\
code f python 3.11
args 2 posonly 0 kwonly 0
varnames x items total
cellvars seen
1 MAKE_CELL seen
  RESUME 0
2 LOAD_FAST items
  GET_ITER
L0: FOR_ITER L1
  STORE_FAST total
3 LOAD_FAST x
  LOAD_FAST total
  BINARY +
  POP_TOP
  JUMP L0
L1: LOAD_FAST total
  RETURN_VALUE
";

const HELPERS: Helpers = Helpers { pass: ConstId(9), class_of: ConstId(12), answers: ConstId(10), empty: ConstId(11) };

fn resumed(code: &Code, ip: usize, stack: &[SlotShape], locals: &[u32]) -> String {
    let stand = Stand { code, ip, stack, locals, handled: 0, apart: None, blocks: &[] };
    text::diffable(&resume_code(&stand, HELPERS).expect("a resume function"), None)
}

#[test]
fn a_resume_function_puts_stack_and_locals_back_and_jumps() {
    assert_snapshot!(resumed(&code(LOOP_3_11), 8, &[SlotShape::Value, SlotShape::Value], &[0, 2]), @r#"
    code "f" python 3.11
    qualname "f"
    flags
    args 4 posonly 0 kwonly 0
    names
    varnames ___stack_0 ___stack_1 x total items
    cellvars
    freevars seen
        2       COPY_FREE_VARS 1
                RESUME 0
                LOAD_FAST ___stack_0
                DELETE_FAST ___stack_0
                LOAD_FAST ___stack_1
                DELETE_FAST ___stack_1
                JUMP L1
        0       NOP
                RESUME 0
        1       LOAD_FAST items
                GET_ITER
          L0:   FOR_ITER L2
                STORE_FAST total
        2       LOAD_FAST x
                LOAD_FAST total
          L1:   BINARY +
                POP_TOP
                JUMP L0
          L2:   LOAD_FAST total
                RETURN_VALUE
    "#);
}

#[test]
fn a_null_is_put_back_as_itself_or_by_the_constant_that_passes_on() {
    let text = "code f python 3.11\nvarnames x\nRESUME 0\nPUSH_NULL\nLOAD_FAST x\nCALL 0\nRETURN_VALUE\n";
    assert_snapshot!(resumed(&code(text), 3, &[SlotShape::Null, SlotShape::Value], &[]), @r#"
    code "f" python 3.11
    qualname "f"
    flags
    args 1 posonly 0 kwonly 0
    names
    varnames ___stack_0 x
    cellvars
    freevars
        0       RESUME 0
                PUSH_NULL
                LOAD_FAST ___stack_0
                DELETE_FAST ___stack_0
                JUMP L0
       --       RESUME 0
                PUSH_NULL
                LOAD_FAST x
          L0:   CALL 0
                RETURN_VALUE
    "#);
    let text = "code f python 3.8\nvarnames x\nLOAD_FAST x\nCALL 0\nRETURN_VALUE\n";
    assert_snapshot!(resumed(&code(text), 1, &[SlotShape::Null, SlotShape::Value], &[]), @r#"
    code "f" python 3.8
    qualname "f"
    flags
    args 1 posonly 0 kwonly 0
    names
    varnames ___stack_0 x
    cellvars
    freevars
        0       LOAD_CONST 9
                LOAD_FAST ___stack_0
                DELETE_FAST ___stack_0
                JUMP L0
       --       LOAD_FAST x
          L0:   CALL 0
                RETURN_VALUE
    "#);
}

const GENERATOR_3_11: &str = "\
code g python 3.11
flags GENERATOR
varnames x
1 RETURN_GENERATOR
  POP_TOP
  RESUME 0
2 LOAD_FAST x
  YIELD_VALUE 0
  RESUME 1
  POP_TOP
  LOAD_FAST x
  RETURN_VALUE
";

#[test]
fn a_generator_waits_at_its_yield_or_goes_on_at_once() {
    let g = code(GENERATOR_3_11);
    let stand = Stand { code: &g, ip: 4, stack: &[], locals: &[0], handled: 0, apart: None, blocks: &[] };
    let waits = generator_code(&stand, HELPERS, ConstId(9), true).expect("a generator");
    assert_snapshot!(text::diffable(&waits, None), @r#"
    code "g" python 3.11
    qualname "g"
    flags GENERATOR
    args 1 posonly 0 kwonly 0
    names
    varnames x
    cellvars
    freevars
        1       RETURN_GENERATOR
                POP_TOP
                RESUME 0
                LOAD_CONST 9
                YIELD_VALUE 0
                RESUME 1
                JUMP L0
        0       RETURN_GENERATOR
                POP_TOP
                RESUME 0
        1       LOAD_FAST x
                YIELD_VALUE 0
          L0:   RESUME 1
                POP_TOP
                LOAD_FAST x
                RETURN_VALUE
    "#);
    let goes_on = generator_within_code(&Stand { ip: 7, ..stand }, HELPERS).expect("a generator");
    assert_snapshot!(text::diffable(&goes_on, None), @r#"
    code "g" python 3.11
    qualname "g"
    flags GENERATOR
    args 1 posonly 0 kwonly 0
    names
    varnames x
    cellvars
    freevars
        1       RETURN_GENERATOR
                POP_TOP
                RESUME 0
                JUMP L0
        0       RETURN_GENERATOR
                POP_TOP
                RESUME 0
        1       LOAD_FAST x
                YIELD_VALUE 0
                RESUME 1
                POP_TOP
          L0:   LOAD_FAST x
                RETURN_VALUE
    "#);
}

#[test]
fn a_stand_in_calls_on_and_holds_nothing() {
    let like = code("code caller python 3.12\nqualname C.caller\nRESUME 0\n");
    assert_snapshot!(text::diffable(&waiting_code(&like, Location::of_line(1), &[]), None), @r#"
    code "caller" python 3.12
    qualname "C.caller"
    flags OPTIMIZED NEWLOCALS
    args 2 posonly 0 kwonly 0
    names
    varnames ___callee ___arguments
    cellvars
    freevars
        0       RESUME 0
                PUSH_NULL
                LOAD_FAST ___callee
                LOAD_FAST ___arguments
                DELETE_FAST ___callee
                DELETE_FAST ___arguments
                CALL_EX null
                RETURN_VALUE
    "#);
}

// ----- plans

/// A simulation that was read, with its names.
struct Simulated {
    captured: Captured,
    names: Vec<String>,
    tail: Tail,
}

impl Simulated {
    fn read(text: &str) -> Simulated {
        let mut captured = Captured::default();
        let mut names: Vec<String> = Vec::new();
        let mut tail = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let var = |name: &str| {
                let at = names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}"));
                VarId(at as u32)
            };
            let mut record = |mutation| {
                captured.journal.record(mutation, &"".into(), 1);
            };
            match words[..] {
                ["append", list, item] => {
                    record(Mutation::ListAppend { object: VarRef(var(list).0), value: VarRef(var(item).0) });
                }
                ["setattr", object, name, value] => {
                    let (object, value) = (VarRef(var(object).0), VarRef(var(value).0));
                    record(Mutation::SetAttr { object, name: name.into(), value });
                }
                ["over", name] => {
                    let effects = captured.journal.len();
                    captured.watched.released.push(Released {
                        var: var(name),
                        before: effects,
                        handled: None,
                        at: Default::default(),
                    });
                    captured.watched.released_before.insert(var(name), effects);
                }
                ["return", name] => tail = Some(Tail::Return(var(name))),
                [name, "=", kind, ref parts @ ..] => {
                    let me = VarId(names.len() as u32);
                    let vars = || parts.iter().map(|part| var(part)).collect::<Vec<_>>();
                    let mut tracker = captured.computed;
                    let kind: VarKind = match (kind, parts) {
                        ("slot", [slot, watched @ ..]) => {
                            let slot = slot.parse().expect("a slot");
                            tracker = captured.trackers.slot(slot);
                            if watched == ["watched"] {
                                captured.watched.vars.push(me);
                                captured.watched.slots.push((me, slot));
                            }
                            ListVar { object: Some(ObjectId(slot)), ..ListVar::new(Vec::new()) }.into()
                        }
                        ("tuple", _) => TupleVar::new(vars()).into(),
                        ("list", _) => ListVar::new(vars()).into(),
                        ("cell", [content]) => {
                            CellVar { content: Some(var(content)), object: None, known: true }.into()
                        }
                        ("instance", []) => InstanceVar {
                            class: ObjectId(99),
                            object: None,
                            pinned: false,
                            of_program: true,
                            may_be_watched: true,
                            part: None,
                            names: None,
                        }
                        .into(),
                        _ => panic!("{line}"),
                    };
                    captured.vars.push(Variable { kind, tracker, looked: true, valued: false });
                    names.push(name.to_owned());
                }
                _ => panic!("{line}"),
            }
        }
        Simulated { captured, names, tail: tail.expect("a tail") }
    }

    fn name(&self, var: VarId) -> &str {
        &self.names[var.0 as usize]
    }

    fn listed(&self, vars: &[VarId]) -> String {
        vars.iter().map(|var| self.name(*var)).collect::<Vec<_>>().join(" ")
    }

    /// What each step of the replay needs, and how often emitted code uses what.
    fn uses(&self) -> String {
        let mut text = String::new();
        for (step, roots) in uses::roots_of_steps(&self.captured).iter().enumerate() {
            writeln!(text, "step {step}: [{}]", self.listed(roots)).expect("text");
        }
        let mut roots = self.tail.roots();
        roots.extend(uses::replay_roots(&self.captured));
        let uses = uses::count(&self.captured, &roots);
        for var in uses.order() {
            writeln!(text, "{} x {}", self.name(*var), uses.count_of(*var)).expect("text");
        }
        text
    }

    /// At which position each watched argument is deleted: 0 is the graph, `n + 1` the effect `n`, then the tail.
    fn lifetimes(&self, arguments: usize) -> String {
        let plan = Lifetimes::plan(&self.captured, &self.tail, arguments);
        let mut text = String::new();
        for (var, local) in &plan.slots {
            let end = (0..=plan.tail).find(|at| plan.is_over(&self.captured, *var, *at));
            let end = end.map_or("never".to_owned(), |at| format!("before {at} of {}", plan.tail));
            writeln!(text, "{} in local {}: {end}", self.name(*var), local.0).expect("text");
        }
        text
    }
}

#[test]
fn what_is_made_is_used_by_what_needs_it_and_once_by_each() {
    let text = "\
a = slot 0
b = tuple a a
c = list b
o = instance
setattr o left b
setattr o left c
append a o
append c a
return b
";
    assert_snapshot!(Simulated::read(text).uses(), @r#"
    step 0: []
    step 1: []
    step 2: []
    step 3: [a a o]
    step 4: []
    b x 2
    a x 4
    o x 1
    c x 1
    "#);
}

#[test]
fn arguments_are_deleted_where_neither_frames_nor_code_need_them() {
    let text = "\
a = slot 0 watched
b = slot 1 watched
c = slot 2 watched
d = slot 3 watched
n = tuple b
over a
append d c
over b
append d n
append d d
return c
";
    assert_snapshot!(Simulated::read(text).lifetimes(4), @r#"
    a in local 0: before 2 of 5
    b in local 1: before 4 of 5
    c in local 2: never
    d in local 3: before 5 of 5
    "#);
}

#[test]
fn locals_are_deleted_in_the_order_of_the_ends() {
    let text = "\
a = slot 0 watched
b = slot 1 watched
c = slot 2 watched
n = tuple a b
m = list c n
over c
over b
over a
return n
";
    let simulated = Simulated::read(text);
    let mut vars: Vec<VarId> = (0..simulated.names.len() as u32).map(VarId).collect();
    let places = simulated.captured.places_of_ends();
    vars.sort_by_key(|var| places.of(*var));
    // What holds several goes with the first of them.
    assert_eq!(simulated.listed(&vars), "c m b n a");
}

#[test]
fn a_local_that_is_read_behind_its_deletion_is_found() {
    let of = |body: &str| {
        code(&format!(
            "code \"f\" python 3.11\nqualname \"f\"\nflags OPTIMIZED NEWLOCALS\nargs 1 posonly 0 kwonly 0\nnames\nvarnames a b\ncellvars\nfreevars\n    0       RESUME 0\n{body}            LOAD_CONST 0 (None)\n            RETURN_VALUE\n"
        ))
    };
    let read = "            LOAD_FAST a\n            POP_TOP\n";
    let (delete, bind) = ("            DELETE_FAST a\n", "            LOAD_FAST b\n            STORE_FAST a\n");
    for (body, found) in [
        (format!("{read}{delete}"), false),
        (format!("{delete}{read}"), true),
        (format!("{delete}{delete}"), true),
        (format!("{delete}{bind}{read}"), false),
    ] {
        assert_eq!(super::read_after_deletion(&of(&body)).is_some(), found, "{body}");
    }
}

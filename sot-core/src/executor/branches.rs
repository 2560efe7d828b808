//! Tests of full marks: several branches of a program are simulated from one of them, and none sees another's.

use super::{Executor, Flow, Found};
use crate::backend::*;
use crate::code_unit::CodeUnit;
use crate::cpython::facts;
use crate::frame::Frame;
use crate::variables::{Nature, VarId, VarKind};
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sot_opcodes::Op;
use std::ffi::CString;
use std::sync::Arc;

/// A framework that has nothing.
struct Nothing;

fn nothing<T>() -> PyResult<T> {
    Err(PyNotImplementedError::new_err("a framework that has nothing"))
}

impl Backend for Nothing {
    fn classify(&self, _obj: &Bound<'_, PyAny>) -> Kind {
        Kind::Unknown
    }
    fn tensor_meta(&self, _tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        nothing()
    }
    fn tensor_class<'py>(&self, _py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        nothing()
    }
    fn begin<'py>(&self, _py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        nothing()
    }
}

const PROGRAM: &str = "
def inner(made, out, flag):
    made.append(0)
    if flag:
        made.append('then')
        out['k'] = made
        made = None
    else:
        made.extend([1, 2])
        out.clear()
    return made

def f(items, out, flag):
    made = [7]
    items.append(made)
    return made, inner(made, out, flag)
";

/// Push the frame of a function without a closure.
fn enter<'py>(ex: &mut Executor<'py>, function: &Bound<'py, PyAny>, arguments: &[Bound<'py, PyAny>]) {
    let parts = facts::func_parts(function).expect("a function");
    let (code, globals) = (parts.code.to_owned(), parts.globals.to_owned());
    let unit = CodeUnit::of(&code).unwrap_or_else(|stop| panic!("{}", stop.why()));
    let builtins = ex.builtins_of(&globals, Some(function)).unwrap_or_else(|stop| panic!("{}", stop.why()));
    let globals = ex.objects.add(&globals);
    let mut frame = Frame::new(unit.clone(), globals, builtins);
    for (slot, value) in arguments.iter().enumerate() {
        let tracker = ex.trackers.slot(slot as u32);
        frame.locals[slot] = Some(ex.wrap(value, tracker));
    }
    ex.bind_cells(&[], &mut frame);
    ex.entry_unit = Some(unit);
    ex.entry_globals = Some(globals);
    ex.push_frame(frame).unwrap_or_else(|stop| panic!("{}", stop.why()));
}

/// Runs to the branch; the two places where it may go on.
fn to_the_branch(ex: &mut Executor<'_>) -> [usize; 2] {
    loop {
        let frame = ex.frames.last().expect("a frame");
        if let Op::PopJumpIf { target, .. } = frame.unit.code.instrs[frame.ip].op {
            let target = frame.unit.code.labels[target.0 as usize];
            return [frame.ip + 1, target];
        }
        let flow = ex.step().unwrap_or_else(|stop| panic!("{}", stop.why()));
        match flow {
            Flow::Next => ex.frame_mut().ip += 1,
            Flow::Jump(target) => ex.frame_mut().ip = target,
            Flow::Entered(awaits) => {
                let caller = ex.frames.len() - 2;
                ex.frames[caller].awaits = awaits;
            }
            Flow::Placed => {}
            Flow::Yield(_) | Flow::Return(_) => panic!("it ended before it came to a branch"),
        }
    }
}

/// What `f` returns, and its effects.
fn told(ex: &Executor<'_>, value: VarId) -> String {
    let mut text = String::new();
    tell(ex, value, &mut text);
    for entry in ex.journal.entries() {
        let shown = format!("{:?}", entry.mutation);
        text.push_str("\n ");
        text.push_str(shown.split_whitespace().next().unwrap_or_default());
        for operand in entry.mutation.operands() {
            text.push(' ');
            tell(ex, VarId(operand.0), &mut text);
        }
    }
    text
}

fn tell(ex: &Executor<'_>, value: VarId, text: &mut String) {
    let parts = match &ex.var(value).kind {
        VarKind::Tuple(tuple) => tuple.items.to_vec(),
        VarKind::List(list) => list.items.to_vec(),
        VarKind::Constant(constant) => {
            text.push_str(&ex.objects.get(ex.py, constant.object).to_string());
            return;
        }
        other => {
            text.push_str(other.kind_name());
            return;
        }
    };
    text.push('(');
    for (at, part) in parts.into_iter().enumerate() {
        text.push_str(if at > 0 { " " } else { "" });
        tell(ex, part, text);
    }
    text.push(')');
}

#[test]
fn two_branches_are_simulated_from_one_mark() {
    Python::initialize();
    Python::attach(|py| {
        let names = PyDict::new(py);
        py.run(&CString::new(PROGRAM).unwrap(), Some(&names), None).unwrap();
        let f = names.get_item("f").unwrap().unwrap();
        let arguments: Vec<Bound<'_, PyAny>> = ["[]", "{'old': 1}", "True"]
            .iter()
            .map(|text| py.eval(&CString::new(*text).unwrap(), None, None).unwrap())
            .collect();
        let mut ex = Executor::new(py, Arc::new(Nothing), Found::default());
        enter(&mut ex, &f, &arguments);
        let [then, otherwise] = to_the_branch(&mut ex);
        ex.frames.last_mut().expect("a frame").stack.pop();
        let mark = ex.mark();
        let mut ends = Vec::new();
        // Each of them twice: the second time after the other one.
        for ip in [then, otherwise, then, otherwise] {
            ex.frames.last_mut().expect("a frame").ip = ip;
            let value = ex.run().unwrap_or_else(|stop| panic!("{}", stop.why()));
            ends.push(told(&ex, value));
            ex.rollback(&mark);
        }
        ex.release(mark);
        assert_eq!(ends[0], ends[2]);
        assert_eq!(ends[1], ends[3]);
        insta::assert_snapshot!(ends[..2].join("\n"), @r"
        ((7 0 then) None)
         ListAppend () (7 0 then)
         SetItem a dict k (7 0 then)
        ((7 0 1 2) (7 0 1 2))
         ListAppend () (7 0 1 2)
         DictClear a dict
        ");
    });
}

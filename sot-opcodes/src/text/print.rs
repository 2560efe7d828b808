//! `Code` to text.

use super::words::{self, word_of};
use crate::{Code, Op, Version};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The code as text. `consts` are shown behind LOAD_CONST, for people only.
#[must_use]
pub fn print(code: &Code, consts: Option<&[String]>) -> String {
    let mut out = String::new();
    let flags: Vec<String> = code.flags.iter_names().map(|(name, _)| name.to_owned()).collect();
    let rest = code.flags.bits() & !code.flags.iter_names().fold(0, |bits, (_, flag)| bits | flag.bits());
    let rest = if rest == 0 { String::new() } else { format!(" {rest:#x}") };
    let _ = writeln!(
        out,
        "code {:?} file {:?} line {} python {}",
        code.name, code.filename, code.firstlineno, code.version
    );
    let _ = writeln!(out, "qualname {:?}", code.qualname);
    let _ = writeln!(out, "{}", format!("flags {}{rest}", flags.join(" ")).trim_end());
    let _ = writeln!(
        out,
        "args {} posonly {} kwonly {} stack {}",
        code.argcount, code.posonlyargcount, code.kwonlyargcount, code.stacksize
    );
    for (title, names) in [
        ("names", &code.names),
        ("varnames", &code.varnames),
        ("cellvars", &code.cellvars),
        ("freevars", &code.freevars),
    ] {
        out.push_str(title);
        for name in names {
            let _ = write!(out, " {}", quoted(name));
        }
        out.push('\n');
    }
    let places = places(code);
    let mut line = None;
    for (at, instr) in code.instrs.iter().enumerate() {
        let shown = match instr.loc.line {
            same if at > 0 && same == line => String::new(),
            Some(line) => line.to_string(),
            None => "--".to_owned(),
        };
        line = instr.loc.line;
        let label = places.get(&at).map_or(String::new(), |n| format!("L{n}:"));
        let _ = writeln!(out, "{shown:>5} {label:<5} {}", instruction(code, &places, &instr.op, consts));
    }
    if let Some(end) = places.get(&code.instrs.len()) {
        let _ = writeln!(out, "      L{end}:");
    }
    // Up to 3.10 the SETUP_* instructions say it.
    if code.version >= Version::V311 {
        for region in &code.regions {
            let place = |at: usize| places.get(&at).copied().unwrap_or(0);
            let handler = label(code, &places, region.handler);
            let lasti = if region.lasti { " lasti" } else { "" };
            let _ = writeln!(
                out,
                "region L{}..L{} -> {handler} depth {}{lasti}",
                place(region.start),
                place(region.end),
                region.depth
            );
        }
    }
    out
}

/// The instruction indices that get a label, numbered in order.
fn places(code: &Code) -> BTreeMap<usize, usize> {
    let mut places = BTreeMap::new();
    let mut add = |at: usize| {
        places.insert(at.min(code.instrs.len()), 0);
    };
    for label in code.instrs.iter().filter_map(|i| i.op.target()).chain(code.regions.iter().map(|r| r.handler)) {
        add(code.labels.get(label.0 as usize).copied().unwrap_or(usize::MAX));
    }
    if code.version >= Version::V311 {
        for region in &code.regions {
            add(region.start);
            add(region.end);
        }
    }
    for (number, place) in places.values_mut().enumerate() {
        *place = number;
    }
    places
}

fn label(code: &Code, places: &BTreeMap<usize, usize>, label: crate::Label) -> String {
    let at = code.labels.get(label.0 as usize).copied().unwrap_or(usize::MAX).min(code.instrs.len());
    places.get(&at).map_or_else(|| "L?".to_owned(), |n| format!("L{n}"))
}

/// A word as it is, or in quotes.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

/// An item of a list by name, or by number where the name does not tell.
fn named<'a>(mut list: impl Iterator<Item = &'a String> + Clone, index: u32) -> String {
    match list.clone().nth(index as usize) {
        Some(name) if list.position(|other| other == name) == Some(index as usize) => quoted(name),
        _ => format!("#{index}"),
    }
}

fn instruction(code: &Code, places: &BTreeMap<usize, usize>, op: &Op, consts: Option<&[String]>) -> String {
    let local = |local: crate::Local| named(code.varnames.iter(), local.0);
    let with = |word: &str, flags: &[(&str, bool)]| {
        let set = flags.iter().filter(|(_, set)| *set).map(|(flag, _)| format!(" {flag}"));
        word.to_owned() + &set.collect::<String>()
    };
    if let Some((word, ())) = words::plain(op) {
        return word.to_owned();
    }
    if let Some((word, number)) = words::number(op) {
        return format!("{word} {number}");
    }
    if let Some((word, name)) = words::name(op) {
        return format!("{word} {}", named(code.names.iter(), name.0));
    }
    if let Some((word, cell)) = words::cell(op) {
        return format!("{word} {}", named(code.cellvars.iter().chain(&code.freevars), cell.0));
    }
    if let Some((word, target)) = words::label(op) {
        return format!("{word} {}", label(code, places, target));
    }
    match *op {
        Op::LoadConst(id) => match consts.and_then(|c| c.get(id.0 as usize)) {
            Some(shown) => format!("LOAD_CONST {} ({})", id.0, shown.escape_debug()),
            None => format!("LOAD_CONST {}", id.0),
        },
        Op::LoadFast { local: id, check } => {
            let word = if check && code.version >= Version::V312 { "LOAD_FAST_CHECK" } else { "LOAD_FAST" };
            format!("{word} {}", local(id))
        }
        Op::LoadFastAndClear(id) => format!("LOAD_FAST_AND_CLEAR {}", local(id)),
        Op::StoreFast(id) => format!("STORE_FAST {}", local(id)),
        Op::DeleteFast(id) => format!("DELETE_FAST {}", local(id)),
        Op::LoadSuperAttr { name, two_arg, method } => {
            let word = format!("LOAD_SUPER_ATTR {}", named(code.names.iter(), name.0));
            with(&word, &[("two_arg", two_arg), ("method", method)])
        }
        Op::Unary(op) => word_of(&words::UNARY, &op).to_owned(),
        Op::Binary { op, inplace } => {
            format!("BINARY {}{}", word_of(&words::BINARY, &op), if inplace { "=" } else { "" })
        }
        Op::Compare { op, to_bool } => {
            with(&format!("COMPARE {}", word_of(&words::COMPARE, &op)), &[("to_bool", to_bool)])
        }
        Op::Is { invert } => if invert { "IS_NOT" } else { "IS" }.to_owned(),
        Op::Contains { invert } => if invert { "NOT_IN" } else { "IN" }.to_owned(),
        Op::UnpackEx { before, after } => format!("UNPACK_EX {before} {after}"),
        Op::FormatValue { conversion, spec } => {
            let conversion = conversion.map_or(String::new(), |c| format!(" {}", word_of(&words::CONVERSION, &c)));
            with(&format!("FORMAT_VALUE{conversion}"), &[("spec", spec)])
        }
        Op::ConvertValue(conversion) => format!("CONVERT_VALUE {}", word_of(&words::CONVERSION, &conversion)),
        Op::Jump { target, no_interrupt } => {
            let word = if no_interrupt { "JUMP_NO_INTERRUPT" } else { "JUMP" };
            format!("{word} {}", label(code, places, target))
        }
        Op::PopJumpIf { cond, target } => {
            format!("{} {}", word_of(&words::POP_JUMP, &cond), label(code, places, target))
        }
        Op::JumpIfOrPop { cond, target } => {
            format!("{} {}", word_of(&words::OR_POP, &cond), label(code, places, target))
        }
        Op::Call { argc, two } => format!("{} {argc}", if two { "CALL" } else { "CALL_FUNCTION" }),
        Op::CallKw { argc, two } => format!("{} {argc}", if two { "CALL_KW" } else { "CALL_FUNCTION_KW" }),
        Op::CallEx { kwargs, null } => with("CALL_EX", &[("kwargs", kwargs), ("null", null)]),
        Op::Intrinsic1(intrinsic) => format!("INTRINSIC_1 {}", word_of(&words::INTRINSIC, &intrinsic)),
        Op::Intrinsic2(intrinsic) => format!("INTRINSIC_2 {}", word_of(&words::INTRINSIC, &intrinsic)),
        Op::MakeFunction { flags, qualname } => with(&format!("MAKE_FUNCTION {flags}"), &[("qualname", qualname)]),
        // All others are in the tables of `words`; the property test of the text form sees to it.
        _ => format!("{op:?}"),
    }
}

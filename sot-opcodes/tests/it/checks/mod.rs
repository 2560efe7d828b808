//! What holds for every input, however senseless: the body of the fuzz targets and of their replay without libFuzzer.
//!
//! - `decode`: bytes and tables of any kind decode or are refused. What decodes can be analysed, printed, read back and
//!   encoded again; that is a fixed point: decoding and encoding what was encoded gives the same instructions, then the
//!   same bytes.
//! - `encode`: `Code` of any kind (operands up to `u32::MAX`, labels and regions that lead nowhere) can be analysed and
//!   printed, and is encoded or refused. What was encoded says the same, and all of `decode` holds for it.
//! - `text`: any text is parsed or refused. What was parsed prints as a text that reads as the same code, whether exactly
//!   or in the form for people, which lacks some of it.
//!
//! Nothing panics, overflows, runs for long or takes memory out of proportion to the input.
//!
//! This folder is also a part of the fuzz targets (`sot-opcodes/fuzz`), so it uses nothing but sot-opcodes and the corpus.

mod form;
mod seeds;

use form::Field;
use sot_opcodes::{Code, Label, Location, Op, RawCode, UnaryOp, Version, analysis, decode, encode, text};
use std::collections::HashSet;
use std::fmt::Debug;

/// A fuzz target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Decode,
    Encode,
    Text,
}

impl Target {
    pub(crate) const ALL: [Self; 3] = [Self::Decode, Self::Encode, Self::Text];

    /// The name of the target, of its corpus and of its regressions.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Text => "text",
        }
    }

    /// Panics when something does not hold for this input.
    pub(crate) fn check(self, mut input: &[u8]) {
        match self {
            Self::Decode => check_raw(&RawCode::read(&mut input)),
            Self::Encode => check_code(&Code::read(&mut input)),
            Self::Text => check_text(&String::from_utf8_lossy(input)),
        }
    }

    /// Inputs that make sense, to start from.
    pub(crate) fn seeds(self) -> Vec<Vec<u8>> {
        seeds::of(self)
    }
}

pub(crate) fn check_raw(raw: &RawCode) {
    let Ok(code) = decode(raw) else { return };
    check_analyses(&code);
    check_text_of(&code);
    let Ok(first) = encode(&code) else { return };
    let again = decode(&first).expect("what encode wrote");
    assert_same(&meaning(&again), &meaning(&code));
    assert_eq!(encode(&again).as_ref(), Ok(&first));
}

fn check_code(code: &Code) {
    check_analyses(code);
    let _ = (text::print(code, None), text::diffable(code, None), text::print_exact(code, None));
    let Ok(raw) = encode(code) else { return };
    let again = decode(&raw).expect("what encode wrote");
    assert_same(&unchanged(&again), &unchanged(code));
    assert!(analysis::stack_depths(&again).expect("as encode found").max <= raw.stacksize);
    check_raw(&raw);
}

/// The instructions that encode never puts into other words.
fn unchanged(code: &Code) -> Vec<Op> {
    let variables = || code.varnames.iter().chain(&code.cellvars).chain(&code.freevars);
    // A name that is both a local and a cell is one slot, and which of them an instruction means shows from 3.12 on only.
    let distinct = variables().collect::<HashSet<_>>().len() == variables().count();
    let ops = code.instrs.iter().map(|instr| match instr.op.with_target(Label(0)) {
        Op::LoadFast { local, .. } if code.version < Version::V312 => Op::LoadFast { local, check: true },
        op => op,
    });
    ops.filter(|op| match op {
        Op::Copy(_) | Op::Swap(_) | Op::RotN(_) | Op::PopTop | Op::EndSend => false,
        Op::Jump { .. } | Op::PopJumpIf { .. } | Op::JumpIfOrPop { .. } | Op::Unary(UnaryOp::ToBool) => false,
        Op::FormatValue { .. } | Op::ConvertValue(_) => false,
        Op::LoadFast { .. } | Op::LoadFastAndClear(_) | Op::StoreFast(_) | Op::DeleteFast(_) => distinct,
        Op::LoadClosure(_) | Op::LoadClosureAndClear(_) | Op::StoreClosure(_) | Op::MakeCell(_) => distinct,
        Op::LoadDeref(_) | Op::StoreDeref(_) | Op::DeleteDeref(_) => distinct,
        Op::LoadClassDeref(_) | Op::LoadFromDictOrDeref(_) => distinct,
        _ => true,
    })
    .collect()
}

fn check_text(written: &str) {
    if let Ok(code) = text::parse(written) {
        check_text_of(&code);
    }
}

fn check_text_of(code: &Code) {
    let exact = text::print_exact(code, None);
    assert_eq!(text::parse(&exact).as_ref(), Ok(code), "{exact}");
    let printed = text::print(code, None);
    let again = text::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(text::print(&again, None), printed);
}

/// The analyses, each for itself and against each other.
fn check_analyses(code: &Code) {
    let count = code.instrs.len();
    let reachable = analysis::reachable(code);
    assert_eq!(reachable.len(), count);

    let live = analysis::liveness(code);
    for at in 0..=count {
        let set = live.live_before(at);
        assert!(set.locals().all(|local| set.local(local)) && set.cells().all(|cell| set.cell(cell)));
    }

    for at in [0, count / 2, count] {
        let uses = analysis::frame_uses(code, at, 1, false);
        assert!(uses.windows(2).all(|pair| pair[0] < pair[1]));
    }

    let blocks = analysis::basic_blocks(code);
    assert_eq!(blocks.first().map_or(0, |block| block.start), 0);
    assert_eq!(blocks.last().map_or(0, |block| block.end), count);
    assert!(blocks.iter().all(|block| block.start < block.end));
    assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert!(blocks.iter().flat_map(|b| b.successors.iter().chain(&b.handler)).all(|next| *next < blocks.len()));

    let _ = (code.prelude_len(), code.arg_slots(), code.index_at(0), code.index_at(u32::MAX));

    let derived = analysis::block_regions(code);
    let layouts = analysis::stack_layouts(code);
    let Ok(depths) = analysis::stack_depths(code) else { return };
    // What CALL_FINALLY alone gets to has no depth, and the slots of a `finally` block of 3.8 are one or six. Up to 3.10
    // the SETUP_* instructions count, and regions that say something else mislead.
    let finally = code.version == Version::V38 || code.instrs.iter().any(|i| matches!(i.op, Op::CallFinally(_)));
    if finally || (code.version < Version::V311 && code.regions != derived) {
        return;
    }
    assert!(depths.before.iter().map(Option::is_some).eq(reachable));
    for (at, depth) in depths.before.iter().enumerate() {
        let Some(depth) = depth else { continue };
        // The names of a CALL_KW are a slot in the stream only: 3.11 and 3.12 have them as an operand.
        assert!(*depth <= depths.max || matches!(code.instrs[at].op, Op::CallKw { .. }), "before instruction {at}");
        // A layout is as long as the stack is deep.
        if *depth < 1000
            && let Some(slots) = layouts.as_ref().ok().and_then(|layouts| layouts.before(at))
        {
            assert_eq!(slots.len(), *depth as usize, "before instruction {at}");
        }
    }
}

/// As `assert_eq`, showing the first difference instead of everything.
fn assert_same<T: PartialEq + Debug>(new: &[T], old: &[T]) {
    if let Some(at) = new.iter().zip(old).position(|(new, old)| new != old) {
        panic!("item {at} of {}: {:?} became {:?}", old.len(), old[at], new[at]);
    }
    assert_eq!(new.len(), old.len());
}

/// An instruction, the instruction it jumps to, and where its exceptions go: handler, depth, whether the offset is pushed.
type Meaning = (Op, Option<usize>, Location, Option<(usize, u32, bool)>);

/// What code does, whatever the numbers of its labels and the order of its regions.
///
/// A jump to the next instruction does nothing: encode adds one where an END_FOR could be run into.
fn meaning(code: &Code) -> Vec<Meaning> {
    let idle = |at: usize, op: Op| matches!(op, Op::Jump { target, .. } if code.target(target) == at + 1);
    // The place of each instruction, and of the end, when those are left out.
    let mut places = vec![0];
    for (at, instr) in code.instrs.iter().enumerate() {
        places.push(places[at] + usize::from(!idle(at, instr.op)));
    }
    let place = |label: Label| places[code.target(label)];
    let handler = |at: usize| {
        // The last one of the shortest.
        let covering = code.regions.iter().rev().filter(|region| (region.start..region.end).contains(&at));
        let region = covering.min_by_key(|region| region.end - region.start)?;
        Some((place(region.handler), region.depth, region.lasti))
    };
    let instrs = code.instrs.iter().enumerate().filter(|(at, instr)| !idle(*at, instr.op));
    instrs.map(|(at, i)| (i.op.with_target(Label(0)), i.op.target().map(place), i.loc, handler(at))).collect()
}

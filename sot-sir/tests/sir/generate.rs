//! Random modules: any value at all for the text form, well-formed ones for the rules.

use crate::builder::SirBuilder;
use proptest::collection::vec;
use proptest::prelude::*;
use sot_sir::{Literal, Module, ObjectRef, Operand, Sir, Statement, StatementKind, Symbol};
use std::collections::HashMap;

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::None),
        Just(Literal::Ellipsis),
        any::<bool>().prop_map(Literal::Bool),
        any::<i64>().prop_map(Literal::Int),
        any::<u64>().prop_map(|bits| Literal::Float(f64::from_bits(bits))),
        prop_oneof![
            Just(f64::NAN),
            Just(-f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(-0.0),
            Just(f64::MIN_POSITIVE / 8.0),
            Just(1e300),
            Just(0.1)
        ]
        .prop_map(Literal::Float),
        any::<String>().prop_map(Literal::Str),
    ]
}

fn symbol() -> impl Strategy<Value = Symbol> {
    prop_oneof![(0..20u32), any::<u32>()].prop_map(Symbol)
}

pub(crate) fn operand() -> impl Strategy<Value = Operand> {
    let leaf = prop_oneof![
        symbol().prop_map(Operand::Symbol),
        literal().prop_map(Operand::Literal),
        (any::<u32>(), label()).prop_map(|(o, label)| Operand::object(ObjectRef(o), label)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Operand::Tuple),
            vec(inner.clone(), 0..4).prop_map(Operand::List),
            vec((inner.clone(), inner.clone()), 0..3).prop_map(Operand::Dict),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| Operand::slice(a, b, c)),
        ]
    })
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[<>\\\\\"'a-z \n]{0,8}"]
}

/// Names that look like everything else in the text.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z_.]{0,6}",
        "(var|obj|layer|SIR)_[0-9]{1,2}",
        "(None|True|slice|nan|inf|api|sir|StatementIR|statements|\\.\\.\\.)",
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let kind = prop::sample::select(&StatementKind::ALL[..]);
    let callee = prop::option::of(any::<u32>().prop_map(ObjectRef));
    (kind, name(), callee, vec(operand(), 0..4), vec((name(), operand()), 0..3), operand())
        .prop_map(|(kind, name, callee, args, kwargs, result)| Statement { kind, name, callee, args, kwargs, result })
}

/// Any module, well-formed or not.
pub(crate) fn anything() -> impl Strategy<Value = Module> {
    let sir = (name(), vec(symbol(), 0..4), vec(symbol(), 0..4), vec(statement(), 0..5))
        .prop_map(|(name, inputs, outputs, statements)| Sir { name, inputs, outputs, statements });
    vec(sir, 0..4).prop_map(|sirs| Module { sirs })
}

struct Stream(std::vec::IntoIter<u32>);

impl Stream {
    fn below(&mut self, limit: usize) -> usize {
        self.0.next().map_or(0, |n| n as usize % limit.max(1))
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// Well-formed modules with much repetition, so that passes find something to do.
pub(crate) fn verified() -> impl Strategy<Value = Module> {
    vec(any::<u32>(), 20..400).prop_map(|numbers| {
        let mut stream = Stream(numbers.into_iter());
        let mut module = Module::default();
        for index in 0..1 + stream.below(3) {
            let sir = verified_sir(format!("SIR_{index}"), &module, &mut stream);
            module.sirs.push(sir);
        }
        module
    })
}

fn verified_sir(name: String, before: &Module, stream: &mut Stream) -> Sir {
    let mut b = SirBuilder::new(name);
    // Numbers start anywhere.
    for _ in 0..stream.below(3) {
        b.fresh();
    }
    let mut known: Vec<Symbol> = (0..1 + stream.below(3)).map(|_| b.input()).collect();
    // A block pattern that is stamped several times, and single statements between.
    let block: Vec<usize> = (0..stream.below(4)).map(|_| stream.below(4)).collect();
    for _ in 0..stream.below(12) {
        let pattern = if stream.below(2) == 0 { block.clone() } else { vec![stream.below(8)] };
        let mut last = stream.pick(&known);
        for choice in pattern {
            last = one(choice, last, &mut b, &known, before, stream);
            known.push(last);
        }
    }
    let outputs = (0..stream.below(4)).map(|_| stream.pick(&known)).collect();
    b.finish(outputs)
}

fn one(
    choice: usize,
    last: Symbol,
    b: &mut SirBuilder,
    known: &[Symbol],
    before: &Module,
    stream: &mut Stream,
) -> Symbol {
    match choice {
        0 => b.call(Statement::new(StatementKind::Layer, "Linear").callee(ObjectRef(0)).arg(last)),
        1 => b.call(Statement::new(StatementKind::Api, "tanh").arg(last).kwarg("name", Literal::None)),
        2 => b.call(Statement::new(StatementKind::Method, "__add__").arg(last).arg(stream.pick(known))),
        3 => {
            let (kept, dropped) = (b.fresh(), b.fresh());
            let result = Operand::Tuple(vec![kept.into(), Operand::List(vec![dropped.into(), Operand::NONE])]);
            b.push(Statement::new(StatementKind::Api, "split").arg(last).result(result));
            kept
        }
        4 => b.call(Statement::new(StatementKind::Api, "concat").arg(Operand::List(vec![last.into(), last.into()]))),
        5 => {
            // Objects are told apart by their labels, so that equal hashes mean equal objects.
            let object = 1 + stream.below(2) as u32;
            let dtype = Operand::object(ObjectRef(object), format!("dtype{object}"));
            b.call(Statement::new(StatementKind::Method, "cast").arg(last).arg(dtype))
        }
        6 => b.call(Statement::new(StatementKind::Layer, "Conv2D").callee(ObjectRef(3)).arg(last)),
        _ => {
            let Some(target) = before.sirs.get(stream.below(before.sirs.len().max(1))) else { return last };
            let mut call = Statement::new(StatementKind::Sir, target.name.as_str());
            call.args = target.inputs.iter().map(|_| stream.pick(known).into()).collect();
            let mut results: Vec<Operand> = target.outputs.iter().map(|_| b.fresh().into()).collect();
            let new = results.iter().flat_map(Operand::symbols).next();
            b.push(call.result(if results.len() == 1 { results.remove(0) } else { Operand::Tuple(results) }));
            new.unwrap_or(last)
        }
    }
}

/// A permutation of the numbers below 2^32, by its odd factor and shift.
pub(crate) fn scramble(n: u32, by: u32) -> u32 {
    n.wrapping_mul(by | 1).wrapping_add(by >> 3)
}

/// The same module with other symbols, objects and SIR names.
pub(crate) fn renamed(module: &Module, by: u32) -> Module {
    let mut module = module.clone();
    for sir in &mut module.sirs {
        sir.name = format!("renamed_{by}_{}", sir.name);
        let symbols = sir.inputs.iter_mut().chain(&mut sir.outputs);
        symbols.for_each(|s| s.0 = scramble(s.0, by));
        for statement in &mut sir.statements {
            if statement.kind == StatementKind::Sir {
                statement.name = format!("renamed_{by}_{}", statement.name);
            }
            if let Some(callee) = &mut statement.callee {
                callee.0 = scramble(callee.0, by);
            }
            statement.result.rename_symbols(&mut |s| Symbol(scramble(s.0, by)));
            for operand in statement.operands_mut() {
                operand.rename_symbols(&mut |s| Symbol(scramble(s.0, by)));
                if let Operand::Object { object, .. } = operand {
                    object.0 = scramble(object.0, by);
                }
            }
        }
    }
    module
}

/// The same SIR with symbols numbered from 0 by first occurrence in the text.
pub(crate) fn renumbered(sir: &Sir) -> Sir {
    let mut numbers: HashMap<Symbol, Symbol> = HashMap::new();
    let mut number = |s: Symbol| {
        let next = Symbol(numbers.len() as u32);
        *numbers.entry(s).or_insert(next)
    };
    let mut sir = sir.clone();
    for s in &mut sir.inputs {
        *s = number(*s);
    }
    for statement in &mut sir.statements {
        statement.result.rename_symbols(&mut number);
        statement.operands_mut().for_each(|o| o.rename_symbols(&mut number));
    }
    for s in &mut sir.outputs {
        *s = number(*s);
    }
    sir
}

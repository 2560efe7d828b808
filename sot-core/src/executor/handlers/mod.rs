//! One handler per meaning of the bytecode, by family.
//!
//! Handlers are registered with `inventory` and looked up in a table by [`OpKind`]; a test proves that each kind has
//! exactly one. A handler pops its operands, answers, and pushes; on a stop the executor restores the stack.

mod attributes;
mod class_bodies;
mod containers;
mod control;
mod coroutines;
mod exceptions;
mod generators;
mod imports;
mod matching;
mod names;
mod operators;
mod stack;
mod unsupported;

pub(super) use operators::{binary_operator, compare_name, compare_operator, conversion_name};

use super::Executor;
use super::flow::Flow;
use crate::stop::Stop;
use sot_opcodes::{Op, OpKind};
use std::sync::OnceLock;

/// Simulates one kind of instruction.
pub(crate) type Run = for<'py> fn(&mut Executor<'py>, Op) -> Result<Flow, Stop>;

/// An entry of the table.
pub struct Handler {
    pub kind: OpKind,
    pub run: Run,
}

inventory::collect!(Handler);

macro_rules! handlers {
    ($($kind:ident => $run:expr;)*) => {
        $(::inventory::submit! {
            $crate::executor::handlers::Handler { kind: ::sot_opcodes::OpKind::$kind, run: $run }
        })*
    };
}
pub(crate) use handlers;

/// A handler was called with an instruction of another kind: impossible by construction of the table.
pub(crate) fn mismatch() -> Stop {
    Stop::fallback(crate::stop::Reason::InternalError, "handler of another instruction")
}

fn table() -> &'static [Run] {
    static TABLE: OnceLock<Vec<Run>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: Vec<Option<Run>> = vec![None; OpKind::ALL.len()];
        for handler in inventory::iter::<Handler> {
            table[handler.kind as usize] = Some(handler.run);
        }
        table.into_iter().map(|run| run.unwrap_or(unsupported::run)).collect()
    })
}

pub(super) use attributes::push_callable;
pub(super) use control::decide;
pub(super) use exceptions::push_matched;

/// Simulate one instruction.
pub(crate) fn run(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    table()[op.kind() as usize](ex, op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_op_has_exactly_one_handler() {
        for kind in OpKind::ALL {
            let count = inventory::iter::<Handler>.into_iter().filter(|h| h.kind == *kind).count();
            assert_eq!(count, 1, "{}", kind.name());
        }
    }
}

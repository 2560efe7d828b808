//! One statement: call something on operands and bind the result. Four kinds, those of the PaddleSOT design.
//!
//! | kind | text | meaning |
//! |---|---|---|
//! | `Api` | `api    \|\| var_1 = paddle.add @obj_2 (var_0, 1)` | `callee(*args, **kwargs)` |
//! | `Method` | `method \|\| var_1 = reshape (var_0, (2, 3))` | `args[0].name(*args[1:], **kwargs)`, or the operator function `callee` |
//! | `Layer` | `layer  \|\| var_1 = Conv2D (layer_0, var_0)` | `callee(*args, **kwargs)`; the name is the class |
//! | `Sir` | `sir    \|\| (var_1, var_2) = SIR_0 (var_0)` | `name` is another SIR of the module; operands bind to its inputs |

use crate::{ObjectRef, Operand, Symbol};

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// A function of the framework.
    Api,
    /// A method of the first operand.
    Method,
    /// A layer object.
    Layer,
    /// Another SIR of the module.
    Sir,
}

impl StatementKind {
    /// All kinds, in the order of the design.
    pub const ALL: [StatementKind; 4] =
        [StatementKind::Api, StatementKind::Method, StatementKind::Layer, StatementKind::Sir];

    /// The word that opens the statement's line.
    pub fn as_str(self) -> &'static str {
        match self {
            StatementKind::Api => "api",
            StatementKind::Method => "method",
            StatementKind::Layer => "layer",
            StatementKind::Sir => "sir",
        }
    }
}

/// `result = name(callee, args, kwargs)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    pub kind: StatementKind,
    pub name: String,
    pub callee: Option<ObjectRef>,
    pub args: Vec<Operand>,
    pub kwargs: Vec<(String, Operand)>,
    /// A pattern: its symbols are defined here.
    pub result: Operand,
}

impl Statement {
    /// A statement without operands whose result is dropped (`None`).
    pub fn new(kind: StatementKind, name: impl Into<String>) -> Statement {
        Statement { kind, name: name.into(), callee: None, args: Vec::new(), kwargs: Vec::new(), result: Operand::NONE }
    }

    /// The same with this callee.
    #[must_use]
    pub fn callee(mut self, callee: ObjectRef) -> Statement {
        self.callee = Some(callee);
        self
    }

    /// The same with one more positional operand.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<Operand>) -> Statement {
        self.args.push(arg.into());
        self
    }

    /// The same with one more keyword operand.
    #[must_use]
    pub fn kwarg(mut self, name: impl Into<String>, value: impl Into<Operand>) -> Statement {
        self.kwargs.push((name.into(), value.into()));
        self
    }

    /// The same with this result pattern.
    #[must_use]
    pub fn result(mut self, result: impl Into<Operand>) -> Statement {
        self.result = result.into();
        self
    }

    /// All operands in order: positional, then keyword.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.args.iter().chain(self.kwargs.iter().map(|(_, v)| v))
    }

    /// The same, to change.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        self.args.iter_mut().chain(self.kwargs.iter_mut().map(|(_, v)| v))
    }

    /// Symbols that the statement reads, in order, repeated ones as often as they stand there.
    pub fn uses(&self) -> Vec<Symbol> {
        let mut out = Vec::new();
        self.operands().for_each(|o| o.for_each_symbol(&mut |s| out.push(s)));
        out
    }

    /// Symbols that the statement defines, in order.
    pub fn defs(&self) -> Vec<Symbol> {
        self.result.symbols()
    }
}

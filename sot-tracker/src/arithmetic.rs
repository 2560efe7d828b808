//! What C computes of exact numbers, without code of the program: how a path goes on from numbers that were found to one that
//! follows from them (`n + 1`, `n < m`, `float(n)`), or to their text.

use std::fmt;

/// An operation on one or two numbers. Its operands are exact ints, floats or bools, unless it says otherwise; what it raises counts as
/// missing, and so does a power or a shift that could be huge: whoever evaluates a guard must come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    TrueDivide,
    FloorDivide,
    Remainder,
    Rshift,
    And,
    Or,
    Xor,
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
    Power,
    Lshift,
    /// To so many digits.
    RoundTo,
    /// The text of a number by a format, which is text.
    Format,
    /// Of two texts.
    Join,
    /// Of an exact list or tuple at an int, of an exact dict by a number or a text.
    Item,
    /// Whether an exact dict has a number or a text for a key.
    Has,
    /// Of a tensor along an axis, which is an exact int.
    Extent,
    /// Of two numbers, as those behind [`Arithmetic::Sqrt`] of one: functions of module `math`.
    PowerOfMath,
    Fmod,
    Atan2,
    Copysign,
    Hypot,
    Gcd,
    Negative,
    Invert,
    Abs,
    Bool,
    Int,
    Float,
    Str,
    Repr,
    Round,
    /// Of an exact list, tuple, dict or deque.
    Length,
    Sqrt,
    Exp,
    Log,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Tanh,
    Floor,
    Ceil,
    Trunc,
    Fabs,
    IsNan,
    IsInf,
    IsFinite,
    Expm1,
    Log1p,
    Sinh,
    Cosh,
    Asin,
    Acos,
    Atan,
    Degrees,
    Radians,
}

impl Arithmetic {
    /// All of them.
    pub const ALL: [Arithmetic; 65] = [
        Arithmetic::Add,
        Arithmetic::Subtract,
        Arithmetic::Multiply,
        Arithmetic::TrueDivide,
        Arithmetic::FloorDivide,
        Arithmetic::Remainder,
        Arithmetic::Rshift,
        Arithmetic::And,
        Arithmetic::Or,
        Arithmetic::Xor,
        Arithmetic::Lt,
        Arithmetic::Le,
        Arithmetic::Eq,
        Arithmetic::Ne,
        Arithmetic::Gt,
        Arithmetic::Ge,
        Arithmetic::Power,
        Arithmetic::Lshift,
        Arithmetic::RoundTo,
        Arithmetic::Format,
        Arithmetic::Join,
        Arithmetic::Item,
        Arithmetic::Has,
        Arithmetic::Extent,
        Arithmetic::PowerOfMath,
        Arithmetic::Fmod,
        Arithmetic::Atan2,
        Arithmetic::Copysign,
        Arithmetic::Hypot,
        Arithmetic::Gcd,
        Arithmetic::Negative,
        Arithmetic::Invert,
        Arithmetic::Abs,
        Arithmetic::Bool,
        Arithmetic::Int,
        Arithmetic::Float,
        Arithmetic::Str,
        Arithmetic::Repr,
        Arithmetic::Round,
        Arithmetic::Length,
        Arithmetic::Sqrt,
        Arithmetic::Exp,
        Arithmetic::Log,
        Arithmetic::Log2,
        Arithmetic::Log10,
        Arithmetic::Sin,
        Arithmetic::Cos,
        Arithmetic::Tan,
        Arithmetic::Tanh,
        Arithmetic::Floor,
        Arithmetic::Ceil,
        Arithmetic::Trunc,
        Arithmetic::Fabs,
        Arithmetic::IsNan,
        Arithmetic::IsInf,
        Arithmetic::IsFinite,
        Arithmetic::Expm1,
        Arithmetic::Log1p,
        Arithmetic::Sinh,
        Arithmetic::Cosh,
        Arithmetic::Asin,
        Arithmetic::Acos,
        Arithmetic::Atan,
        Arithmetic::Degrees,
        Arithmetic::Radians,
    ];

    /// How Python writes it: a sign, or the name of a function, builtin or of module `math`.
    pub fn sign(self) -> &'static str {
        match self {
            Arithmetic::Add | Arithmetic::Join => "+",
            Arithmetic::Subtract | Arithmetic::Negative => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::TrueDivide => "/",
            Arithmetic::FloorDivide => "//",
            Arithmetic::Remainder => "%",
            Arithmetic::Item => "[]",
            Arithmetic::Has => "in",
            Arithmetic::Extent => "extent",
            Arithmetic::Length => "len",
            Arithmetic::Rshift => ">>",
            Arithmetic::And => "&",
            Arithmetic::Or => "|",
            Arithmetic::Xor => "^",
            Arithmetic::Lt => "<",
            Arithmetic::Le => "<=",
            Arithmetic::Eq => "==",
            Arithmetic::Ne => "!=",
            Arithmetic::Gt => ">",
            Arithmetic::Ge => ">=",
            Arithmetic::Invert => "~",
            Arithmetic::Abs => "abs",
            Arithmetic::Bool => "bool",
            Arithmetic::Int => "int",
            Arithmetic::Float => "float",
            Arithmetic::Format => "format",
            Arithmetic::Str => "str",
            Arithmetic::Repr => "repr",
            Arithmetic::Power => "**",
            Arithmetic::Lshift => "<<",
            Arithmetic::Round | Arithmetic::RoundTo => "round",
            Arithmetic::Sqrt => "sqrt",
            Arithmetic::Exp => "exp",
            Arithmetic::Log => "log",
            Arithmetic::Log2 => "log2",
            Arithmetic::Log10 => "log10",
            Arithmetic::Sin => "sin",
            Arithmetic::Cos => "cos",
            Arithmetic::Tan => "tan",
            Arithmetic::Tanh => "tanh",
            Arithmetic::Floor => "floor",
            Arithmetic::Ceil => "ceil",
            Arithmetic::Trunc => "trunc",
            Arithmetic::Fabs => "fabs",
            Arithmetic::IsNan => "isnan",
            Arithmetic::IsInf => "isinf",
            Arithmetic::IsFinite => "isfinite",
            Arithmetic::Expm1 => "expm1",
            Arithmetic::Log1p => "log1p",
            Arithmetic::Sinh => "sinh",
            Arithmetic::Cosh => "cosh",
            Arithmetic::Asin => "asin",
            Arithmetic::Acos => "acos",
            Arithmetic::Atan => "atan",
            Arithmetic::Degrees => "degrees",
            Arithmetic::Radians => "radians",
            Arithmetic::PowerOfMath => "pow",
            Arithmetic::Fmod => "fmod",
            Arithmetic::Atan2 => "atan2",
            Arithmetic::Copysign => "copysign",
            Arithmetic::Hypot => "hypot",
            Arithmetic::Gcd => "gcd",
        }
    }

    /// Whether it takes two operands.
    pub fn is_binary(self) -> bool {
        (self as u8) < Arithmetic::Negative as u8
    }

    /// Whether it asks how two numbers compare.
    pub fn is_comparison(self) -> bool {
        (Arithmetic::Lt as u8..=Arithmetic::Ge as u8).contains(&(self as u8))
    }

    /// Whether it is a function of module `math`.
    pub fn is_of_math(self) -> bool {
        let of_two = Arithmetic::PowerOfMath as u8..=Arithmetic::Gcd as u8;
        self as u8 >= Arithmetic::Sqrt as u8 || of_two.contains(&(self as u8))
    }

    /// Write it of operands of these texts.
    pub fn write(self, f: &mut dyn fmt::Write, left: &str, right: &str) -> fmt::Result {
        match self {
            Arithmetic::Format | Arithmetic::RoundTo => write!(f, "{}({left}, {right})", self.sign()),
            _ if self.is_of_math() && self.is_binary() => write!(f, "{}({left}, {right})", self.sign()),
            Arithmetic::Item => write!(f, "{left}[{right}]"),
            Arithmetic::Has => write!(f, "({right} in {left})"),
            Arithmetic::Extent => write!(f, "{left}.shape[{right}]"),
            Arithmetic::Negative | Arithmetic::Invert => write!(f, "({}{left})", self.sign()),
            _ if self.is_binary() => write!(f, "({left} {} {right})", self.sign()),
            _ => write!(f, "{}({left})", self.sign()),
        }
    }
}

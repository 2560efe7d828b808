//! Closed sets that are operands or parts of mnemonics, with a word for each of their items.

use crate::{BinaryOp, CompareOp, Conversion, Intrinsic, JumpCond, UnaryOp};

/// A closed set whose items have a word each.
pub(super) trait Item: Copy + 'static {
    const ALL: &'static [(Self, &'static str)];

    fn word(self) -> &'static str;

    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, w)| *w == word).map(|(item, _)| *item)
    }
}

macro_rules! items {
    ($($set:ident { $($item:ident = $word:literal,)+ })+) => {
        $(impl Item for $set {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$item, $word),)+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$item => $word,)+
                }
            }
        })+
    };
}

items! {
    UnaryOp {
        Negative = "UNARY_NEGATIVE",
        Positive = "UNARY_POSITIVE",
        Invert = "UNARY_INVERT",
        Not = "UNARY_NOT",
        ToBool = "TO_BOOL",
    }
    BinaryOp {
        Add = "+",
        And = "&",
        FloorDivide = "//",
        Lshift = "<<",
        MatrixMultiply = "@",
        Multiply = "*",
        Remainder = "%",
        Or = "|",
        Power = "**",
        Rshift = ">>",
        Subtract = "-",
        TrueDivide = "/",
        Xor = "^",
    }
    CompareOp {
        Lt = "<",
        Le = "<=",
        Eq = "==",
        Ne = "!=",
        Gt = ">",
        Ge = ">=",
    }
    JumpCond {
        True = "TRUE",
        False = "FALSE",
        None = "NONE",
        NotNone = "NOT_NONE",
    }
    Conversion {
        Str = "str",
        Repr = "repr",
        Ascii = "ascii",
    }
    Intrinsic {
        Print = "print",
        ImportStar = "import_star",
        StopIterationError = "stop_iteration_error",
        TypeVar = "type_var",
        ParamSpec = "param_spec",
        TypeVarTuple = "type_var_tuple",
        SubscriptGeneric = "subscript_generic",
        TypeAlias = "type_alias",
        TypeVarWithBound = "type_var_with_bound",
        TypeVarWithConstraints = "type_var_with_constraints",
        SetFunctionTypeParams = "set_function_type_params",
        SetTypeparamDefault = "set_typeparam_default",
    }
}

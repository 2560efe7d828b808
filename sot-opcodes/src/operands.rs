//! Operand tables: the numbers of operators, conversions and intrinsics, both ways.

use crate::{BinaryOp, CompareOp, Conversion, Intrinsic, Version};

impl CompareOp {
    /// In the order of `dis.cmp_op`.
    pub const ALL: [Self; 6] = [Self::Lt, Self::Le, Self::Eq, Self::Ne, Self::Gt, Self::Ge];
}

impl BinaryOp {
    /// In the order of `BINARY_OP`; the in-place forms follow in the same order.
    pub const ALL: [Self; 13] = [
        Self::Add,
        Self::And,
        Self::FloorDivide,
        Self::Lshift,
        Self::MatrixMultiply,
        Self::Multiply,
        Self::Remainder,
        Self::Or,
        Self::Power,
        Self::Rshift,
        Self::Subtract,
        Self::TrueDivide,
        Self::Xor,
    ];
}

pub(crate) fn binary(arg: u32) -> Option<(BinaryOp, bool)> {
    let arg = arg as usize;
    let inplace = arg >= BinaryOp::ALL.len();
    Some((*BinaryOp::ALL.get(if inplace { arg - BinaryOp::ALL.len() } else { arg })?, inplace))
}

pub(crate) const fn binary_arg(op: BinaryOp, inplace: bool) -> u32 {
    op as u32 + if inplace { BinaryOp::ALL.len() as u32 } else { 0 }
}

/// The operand of COMPARE_OP; 3.12+ also tell the specialiser which outcomes make it true.
pub(crate) fn compare_arg(version: Version, op: CompareOp, to_bool: bool) -> u32 {
    let mask = match op {
        CompareOp::Lt => 2,
        CompareOp::Le => 2 | 8,
        CompareOp::Eq => 8,
        CompareOp::Ne => 1 | 2 | 4,
        CompareOp::Gt => 4,
        CompareOp::Ge => 4 | 8,
    };
    match version {
        Version::V38 | Version::V39 | Version::V310 | Version::V311 => op as u32,
        Version::V312 => (op as u32) << 4 | mask,
        Version::V313 => (op as u32) << 5 | u32::from(to_bool) << 4 | mask,
    }
}

pub(crate) const fn conversion(arg: u32) -> Option<Conversion> {
    match arg {
        1 => Some(Conversion::Str),
        2 => Some(Conversion::Repr),
        3 => Some(Conversion::Ascii),
        _ => None,
    }
}

pub(crate) const fn conversion_arg(conversion: Option<Conversion>) -> u32 {
    match conversion {
        None => 0,
        Some(Conversion::Str) => 1,
        Some(Conversion::Repr) => 2,
        Some(Conversion::Ascii) => 3,
    }
}

/// The intrinsics of one operand that are no `Op` of their own.
pub(crate) fn intrinsic_1(arg: u32) -> Option<Intrinsic> {
    Some(match arg {
        1 => Intrinsic::Print,
        2 => Intrinsic::ImportStar,
        3 => Intrinsic::StopIterationError,
        7 => Intrinsic::TypeVar,
        8 => Intrinsic::ParamSpec,
        9 => Intrinsic::TypeVarTuple,
        10 => Intrinsic::SubscriptGeneric,
        11 => Intrinsic::TypeAlias,
        _ => return None,
    })
}

/// The intrinsics of two operands that are no `Op` of their own.
pub(crate) fn intrinsic_2(arg: u32) -> Option<Intrinsic> {
    Some(match arg {
        2 => Intrinsic::TypeVarWithBound,
        3 => Intrinsic::TypeVarWithConstraints,
        4 => Intrinsic::SetFunctionTypeParams,
        5 => Intrinsic::SetTypeparamDefault,
        _ => return None,
    })
}

/// The number of an intrinsic and how many operands it takes.
pub(crate) const fn intrinsic_arg(intrinsic: Intrinsic) -> (u32, u32) {
    match intrinsic {
        Intrinsic::Print => (1, 1),
        Intrinsic::ImportStar => (2, 1),
        Intrinsic::StopIterationError => (3, 1),
        Intrinsic::TypeVar => (7, 1),
        Intrinsic::ParamSpec => (8, 1),
        Intrinsic::TypeVarTuple => (9, 1),
        Intrinsic::SubscriptGeneric => (10, 1),
        Intrinsic::TypeAlias => (11, 1),
        Intrinsic::TypeVarWithBound => (2, 2),
        Intrinsic::TypeVarWithConstraints => (3, 2),
        Intrinsic::SetFunctionTypeParams => (4, 2),
        Intrinsic::SetTypeparamDefault => (5, 2),
    }
}

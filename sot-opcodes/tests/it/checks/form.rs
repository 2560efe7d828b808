//! Code as bytes: any bytes are some code, and any code of the corpus is some bytes.
//!
//! - What lacks at the end of the input reads as 0. A length is an upper bound: a list ends with the input.
//! - A number below 240 is one byte; the bytes above stand for a number that follows, or for one that is a limit of
//!   something (`LIMITS`).
//! - A string is the number of a name: few names, so that the lists of a code object share some; a few of them are odd.
//!
//! Stored inputs depend on all orders here: append new items at the end of a list. (The `arbitrary` crate reads such
//! inputs too, but does not write them.)

use sot_opcodes::{
    BinaryOp, Cell, Code, CodeFlags, CompareOp, ConstId, Conversion, Instr, Intrinsic, JumpCond, Label, Local,
    Location, NameId, Op, RawCode, Region, UnaryOp, Version,
};

/// What can be read from any bytes and written so that it reads the same.
pub(super) trait Field: Sized {
    fn read(from: &mut &[u8]) -> Self;
    fn write(&self, to: &mut Vec<u8>);
}

impl Field for u8 {
    fn read(from: &mut &[u8]) -> Self {
        from.split_off_first().copied().unwrap_or(0)
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.push(*self);
    }
}

const SMALL: u8 = 240;
const TWO_BYTES: u8 = 240;
const FOUR_BYTES: u8 = 241;
const FIRST_LIMIT: u8 = 242;
const LIMITS: [u32; 14] = [
    u32::MAX,
    u32::MAX - 1,
    i32::MAX as u32,
    1 << 31,
    1 << 30,
    1 << 29,
    1 << 26,
    1 << 24,
    (1 << 24) - 1,
    1 << 23,
    1 << 16,
    1 << 12,
    256,
    255,
];

impl Field for u32 {
    fn read(from: &mut &[u8]) -> Self {
        let mut next = || u8::read(from);
        match next() {
            TWO_BYTES => u32::from_le_bytes([next(), next(), 0, 0]),
            FOUR_BYTES => u32::from_le_bytes([next(), next(), next(), next()]),
            limit @ FIRST_LIMIT.. => LIMITS[usize::from(limit - FIRST_LIMIT)],
            small => u32::from(small),
        }
    }

    fn write(&self, to: &mut Vec<u8>) {
        match u8::try_from(*self) {
            Ok(small) if small < SMALL => to.push(small),
            _ => {
                to.push(FOUR_BYTES);
                to.extend(self.to_le_bytes());
            }
        }
    }
}

/// An index. The largest number is the largest index, too.
impl Field for usize {
    fn read(from: &mut &[u8]) -> Self {
        match u32::read(from) {
            u32::MAX => usize::MAX,
            index => index as usize,
        }
    }

    fn write(&self, to: &mut Vec<u8>) {
        u32::try_from(*self).unwrap_or(u32::MAX).write(to);
    }
}

impl Field for bool {
    fn read(from: &mut &[u8]) -> Self {
        u8::read(from) & 1 == 1
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }
}

impl<T: Field> Field for Option<T> {
    fn read(from: &mut &[u8]) -> Self {
        bool::read(from).then(|| T::read(from))
    }

    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(item) = self {
            item.write(to);
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn read(from: &mut &[u8]) -> Self {
        let mut items = Vec::new();
        for _ in 0..u32::read(from) {
            if from.is_empty() {
                break;
            }
            items.push(T::read(from));
        }
        items
    }

    fn write(&self, to: &mut Vec<u8>) {
        (self.len() as u32).write(to);
        self.iter().for_each(|item| item.write(to));
    }
}

/// Names above the plain `v0`, `v1`, ..: what a text form or a lookup by name may stumble over.
const ODD_NAMES: [&str; 16] = [
    "",
    " ",
    "a b",
    "\"",
    "\\",
    "#0",
    "file",
    "python",
    "lasti",
    "L0:",
    "--",
    "7",
    "line\nbreak",
    "\u{e9}\u{301}\u{2028}",
    "(",
    "\0",
];

/// The name of a number, as strings are read.
pub(super) fn name(number: u8) -> String {
    match number.checked_sub(SMALL) {
        Some(odd) => ODD_NAMES[usize::from(odd)].to_owned(),
        None => format!("v{number}"),
    }
}

impl Field for String {
    fn read(from: &mut &[u8]) -> Self {
        name(u8::read(from))
    }

    fn write(&self, to: &mut Vec<u8>) {
        let number = (0..=u8::MAX).find(|number| name(*number) == *self);
        to.push(number.expect("seeds are renamed before they are written"));
    }
}

impl Field for CodeFlags {
    fn read(from: &mut &[u8]) -> Self {
        Self::from_bits_retain(u32::read(from))
    }

    fn write(&self, to: &mut Vec<u8>) {
        self.bits().write(to);
    }
}

macro_rules! numbers {
    ($($type:ident),+) => {
        $(impl Field for $type {
            fn read(from: &mut &[u8]) -> Self {
                Self(u32::read(from))
            }

            fn write(&self, to: &mut Vec<u8>) {
                self.0.write(to);
            }
        })+
    };
}

numbers!(ConstId, NameId, Local, Cell, Label);

macro_rules! choices {
    ($($type:ident: $($item:ident)+;)+) => {
        $(impl Field for $type {
            fn read(from: &mut &[u8]) -> Self {
                let all = [$(Self::$item),+];
                all[usize::from(u8::read(from)) % all.len()]
            }

            fn write(&self, to: &mut Vec<u8>) {
                // Exhaustive, so that a new item does not compile unless it is listed.
                match self { $(Self::$item => {})+ }
                let all = [$(Self::$item),+];
                to.push(all.iter().position(|item| item == self).map_or(0, |at| at as u8));
            }
        })+
    };
}

choices! {
    Version: V38 V39 V310 V311 V312 V313;
    UnaryOp: Negative Positive Invert Not ToBool;
    BinaryOp: Add And FloorDivide Lshift MatrixMultiply Multiply Remainder Or Power Rshift Subtract TrueDivide Xor;
    CompareOp: Lt Le Eq Ne Gt Ge;
    JumpCond: True False None NotNone;
    Conversion: Str Repr Ascii;
    Intrinsic: Print ImportStar StopIterationError TypeVar ParamSpec TypeVarTuple SubscriptGeneric TypeAlias
        TypeVarWithBound TypeVarWithConstraints SetFunctionTypeParams SetTypeparamDefault;
}

macro_rules! records {
    ($($type:ident: $($field:ident)+;)+) => {
        $(impl Field for $type {
            fn read(from: &mut &[u8]) -> Self {
                $(let $field = Field::read(from);)+
                Self { $($field),+ }
            }

            fn write(&self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)+
            }
        })+
    };
}

records! {
    Location: line end_line col end_col;
    Instr: op loc offset;
    Region: start end handler depth lasti;
    Code: version flags argcount posonlyargcount kwonlyargcount names varnames cellvars freevars filename name
        qualname firstlineno stacksize labels regions instrs;
    RawCode: version flags argcount posonlyargcount kwonlyargcount names varnames cellvars freevars filename name
        qualname firstlineno stacksize linetable exceptiontable code;
}

macro_rules! ops {
    ($($op:ident $(($value:ident))? $({$($field:ident)+})?),+ $(,)?) => {
        impl Field for Op {
            fn read(from: &mut &[u8]) -> Self {
                #[derive(Clone, Copy)]
                enum Kind { $($op),+ }
                match [$(Kind::$op),+].get(usize::from(u8::read(from))) {
                    None => Self::Nop,
                    $(Some(Kind::$op) => {
                        $(let $value = Field::read(from);)?
                        $($(let $field = Field::read(from);)+)?
                        Self::$op $(($value))? $({ $($field),+ })?
                    })+
                }
            }

            fn write(&self, to: &mut Vec<u8>) {
                enum Kind { $($op),+ }
                match self {
                    $(Self::$op $(($value))? $({ $($field),+ })? => {
                        to.push(Kind::$op as u8);
                        $($value.write(to);)?
                        $($($field.write(to);)+)?
                    })+
                }
            }
        }
    };
}

ops! {
    Nop, PopTop, PushNull, Copy(n), Swap(n), RotN(n), LoadConst(id), LoadFast { local check }, LoadFastAndClear(local),
    StoreFast(local), DeleteFast(local), LoadGlobal(name), StoreGlobal(name), DeleteGlobal(name), LoadName(name),
    StoreName(name), DeleteName(name), LoadDeref(cell), StoreDeref(cell), DeleteDeref(cell), LoadClosure(cell),
    LoadClosureAndClear(cell), StoreClosure(cell), LoadClassDeref(cell), LoadFromDictOrDeref(cell),
    LoadFromDictOrGlobals(name), LoadLocals, LoadBuildClass, LoadAssertionError, MakeCell(cell), CopyFreeVars(n),
    SetupAnnotations, LoadAttr(name), StoreAttr(name), DeleteAttr(name), LoadMethod(name),
    LoadSuperAttr { name two_arg method }, BinarySubscr, StoreSubscr, DeleteSubscr, BinarySlice, StoreSlice, Unary(op),
    Binary { op inplace }, Compare { op to_bool }, Is { invert }, Contains { invert }, BuildTuple(n), BuildList(n),
    BuildSet(n), BuildMap(n), BuildConstKeyMap(n), BuildString(n), BuildSlice(n), ListAppend(n), SetAdd(n), MapAdd(n),
    ListExtend(n), SetUpdate(n), DictUpdate(n), DictMerge(n), ListToTuple, BuildTupleUnpack(n),
    BuildTupleUnpackWithCall(n), BuildListUnpack(n), BuildSetUnpack(n), BuildMapUnpack(n), BuildMapUnpackWithCall(n),
    UnpackSequence(n), UnpackEx { before after }, FormatValue { conversion spec }, ConvertValue(conversion),
    Jump { target no_interrupt }, PopJumpIf { cond target }, JumpIfOrPop { cond target }, JumpIfNotExcMatch(label),
    GetIter, ForIter(label), Call { argc two }, CallKw { argc two }, CallEx { kwargs null }, Intrinsic1(intrinsic),
    Intrinsic2(intrinsic), MakeFunction { flags qualname }, SetFunctionAttribute(n), ReturnValue, ReturnGenerator,
    GenStart(n), Resume(n), YieldValue(n), YieldFrom, GetYieldFromIter, Send(label), EndSend, GetAwaitable(n), GetAiter,
    GetAnext, BeforeAsyncWith, EndAsyncFor, AsyncGenWrap, CleanupThrow, ImportName(name), ImportFrom(name), ImportStar,
    PrintExpr, RaiseVarargs(n), Reraise(n), PopExcept, PushExcInfo, CheckExcMatch, CheckEgMatch, PrepReraiseStar,
    BeforeWith, WithExceptStart, PopExceptTriple, ReraiseTriple(n), WithExceptStartTriple, EndAsyncForTriple,
    SetupFinally(label), SetupWith(label), SetupAsyncWith(label), PopBlock, CallFinally(label), BeginFinally, EndFinally,
    PopFinally(n), WithCleanupStart, WithCleanupFinish, MatchClass(n), MatchMapping, MatchSequence, MatchKeys,
    MatchClassTest(n), MatchKeysTest, CopyDictWithoutKeys, GetLen,
}

//! Code as text: for people, for snapshots, and to write code by hand.
//!
//! | form | for | what it leaves out |
//! |---|---|---|
//! | [`print_exact`] | storing: [`parse()`] gives the same code again | nothing |
//! | [`print()`] | reading | columns, end lines, offsets, labels that nothing uses |
//! | [`diffable`] | snapshots | that, the file, the first line (lines are relative to it) and the stack size |
//!
//! [`parse()`] reads all three. What a text leaves out reads as none, 0 or empty.
//!
//! # By example
//!
//! A loop over an argument, written by hand:
//!
//! ```
//! use sot_opcodes::{encode, text};
//!
//! let code = text::parse(r#"
//!     code "f" file "f.py" line 1 python 3.11
//!     flags OPTIMIZED NEWLOCALS
//!     args 1
//!     names print
//!     varnames x item
//!     1       RESUME 0
//!     2       LOAD_FAST x
//!             GET_ITER
//!       L0:   FOR_ITER L1
//!             STORE_FAST item
//!     3:8-19  PUSH_NULL               (with columns)
//!             LOAD_GLOBAL print
//!             LOAD_FAST item
//!             CALL 1
//!             POP_TOP
//!     2       JUMP L0
//!       L1:   LOAD_CONST 0 (None)
//!             RETURN_VALUE
//! "#)?;
//! assert_eq!(encode(&code).expect("well formed").stacksize, 4);
//! assert_eq!(text::parse(&text::print_exact(&code, None)), Ok(code));
//! # Ok::<(), text::ParseError>(())
//! ```
//!
//! And the text of decoded code:
//!
//! ```
//! use sot_opcodes::{CodeBuilder, Location, Op, Version, decode, encode, text};
//!
//! let mut b = CodeBuilder::empty(Version::V311, "f", "f.py", 1);
//! b.prelude();
//! let (name, here) = (b.name("x"), Location { col: Some(11), end_col: Some(12), ..Location::of_line(2) });
//! b.emit_all([Op::LoadGlobal(name), Op::ReturnValue], here);
//! let code = decode(&encode(&b.finish()).expect("well formed")).expect("just encoded");
//!
//! assert_eq!(text::print_exact(&code, None), r#"code "f" file "f.py" line 1 python 3.11
//! qualname "f"
//! flags OPTIMIZED NEWLOCALS
//! args 0 posonly 0 kwonly 0 stack 1
//! names x
//! varnames
//! cellvars
//! freevars
//!         1:0-0       @0    RESUME 0
//!       2:11-12       @2    LOAD_GLOBAL x
//!                     @14   RETURN_VALUE
//! "#);
//! assert!(text::print(&code, None).ends_with("
//!     1       RESUME 0
//!     2       LOAD_GLOBAL x
//!             RETURN_VALUE
//! "));
//! ```
//!
//! # Grammar
//!
//! A text is lines of words with spaces between them; empty lines and the space before the first word do not count. A
//! word that begins with `(` begins a remark, which ends with the line. A name that has spaces or anything but letters,
//! digits and `_ . < >` in it, or is empty, is written in quotes with the escapes of a Rust string
//! (`\n \r \t \0 \\ \" \' \u{2028}`). Keywords, numbers and labels are never quoted. Numbers are decimal and fit in 32
//! bits.
//!
//! ```text
//! text        = header { instruction | places | region }
//!
//! header      = "code" name [ "file" name ] [ "line" number ] "python" version
//!             [ "qualname" name ]
//!             [ "flags" { flag } ]
//!             [ "args" number [ "posonly" number ] [ "kwonly" number ] [ "stack" number ] ]
//!             [ "names" { name } ] [ "varnames" { name } ] [ "cellvars" { name } ] [ "freevars" { name } ]
//! version     = "3.8" | .. | "3.13"
//! flag        = a constant of CodeFlags | "0x" hexadecimal digits
//!
//! instruction = [ location ] [ places ] [ "@" number ] mnemonic { operand }
//! location    = line [ "-" line ] | line ":" col "-" [ line ":" ] col | "--"
//! places      = place ":" { place ":" }
//! place       = label | "R" number
//! label       = "L" number
//! region      = "region" place ".." place "->" label "depth" number [ "lasti" ]
//! ```
//!
//! ## Header
//! One line each, `code` first, the others in any order and all above the instructions. `line` is the first line of
//! the function (1 if left out), `args` counts as `co_argcount` does, `qualname` is the name if left out.
//!
//! ## Instructions
//! One line each.
//! - The location: `12:4-9` (line 12, columns 4 to 9), `12:4-13:9`, `12` or `12-13` (no columns), `--` (none); `?` for
//!   a number that alone is unknown. Without one, the instruction has that of the instruction before (the first: none).
//! - `@24`: the byte offset in the original ([`Instr::offset`](crate::Instr::offset)), which is what `f_lasti` is while
//!   the instruction runs. Without one: `NO_OFFSET`.
//! - The mnemonic: the name of the [`Op`](crate::Op) in capitals, `LOAD_GLOBAL` for `LoadGlobal`, and the operand, if
//!   it has one. The others:
//!
//! | `Op` | text |
//! |---|---|
//! | `LoadFast` | `LOAD_FAST x`; `LOAD_FAST_CHECK x` with `check` (from 3.12 on); `LOAD_FAST x unchecked` without (before) |
//! | `LoadClassDeref` | `LOAD_CLASSDEREF x` |
//! | `LoadSuperAttr` | `LOAD_SUPER_ATTR x [two_arg] [method]` |
//! | `Unary` | `UNARY_NEGATIVE`, `UNARY_POSITIVE`, `UNARY_INVERT`, `UNARY_NOT`, `TO_BOOL` |
//! | `Binary` | `BINARY +`, in place `BINARY +=`; so `& // << @ * % \| ** >> - / ^` |
//! | `Compare` | `COMPARE < [to_bool]`; so `<= == != > >=` |
//! | `Is`, `Contains` | `IS`, `IS_NOT`, `IN`, `NOT_IN` |
//! | `UnpackEx` | `UNPACK_EX before after` |
//! | `FormatValue` | `FORMAT_VALUE [str \| repr \| ascii] [spec]` |
//! | `ConvertValue` | `CONVERT_VALUE str`; so `repr ascii` |
//! | `Jump` | `JUMP L0`, `JUMP_NO_INTERRUPT L0` |
//! | `PopJumpIf` | `POP_JUMP_IF_TRUE L0`; so `FALSE NONE NOT_NONE` |
//! | `JumpIfOrPop` | `JUMP_IF_TRUE_OR_POP L0`; so `FALSE NONE NOT_NONE` |
//! | `Call`, `CallKw` | `CALL 1`, `CALL_KW 1` with `two`; `CALL_FUNCTION 1`, `CALL_FUNCTION_KW 1` without |
//! | `CallEx` | `CALL_EX [kwargs] [null]` |
//! | `Intrinsic1`, `Intrinsic2` | `INTRINSIC_1 print`: the name of the [`Intrinsic`](crate::Intrinsic) in small letters, with `_` |
//! | `MakeFunction` | `MAKE_FUNCTION flags [qualname]` |
//!
//! A name as an operand is an item of `names`, a local of `varnames`, a cell of `cellvars` and then `freevars`: by name
//! (the first of equal ones), or by number as `#3`, from `#0`. A constant is its number.
//!
//! ## Labels and regions
//! `L0:` and `R0:` name the place before the next instruction (or the end), once each, with an instruction on the same
//! line or not. Labels are the labels of the code and their numbers the ids; with gaps between the numbers, their ranks.
//! `R` places are no labels: they are for bounds of regions where there is no label.
//!
//! `region L0..L1 -> L2 depth 1 lasti` is a [`Region`](crate::Region). Up to 3.10 there is no such line: the regions
//! are derived from the instructions, as in `decode`.

mod items;
mod lexer;
mod location;
mod mnemonics;
mod operands;
mod parse;
mod places;
mod print;
mod symbols;
mod writer;

pub use parse::{ParseError, parse};
pub use print::{diffable, print, print_exact};

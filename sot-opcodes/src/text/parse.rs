//! Text to `Code`.

use super::words::{self, item_of};
use crate::{
    Cell, Code, CodeBuilder, CodeFlags, ConstId, Instr, Label, Local, Location, NameId, Op, Region, Version, analysis,
};
use std::collections::HashMap;

/// Why a text is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// 1-based line of the text.
    pub line: usize,
    pub what: String,
}

struct Parser {
    code: Code,
    /// The id of each label that was mentioned.
    labels: HashMap<String, Label>,
    /// Source line of the instructions.
    line: Option<u32>,
}

type Parsed<T> = Result<T, String>;

const UNBOUND: usize = usize::MAX;

/// Reads what `print` wrote. Header lines may be left out, except the first one.
///
/// # Errors
/// At the first line that is not understood.
pub fn parse(text: &str) -> Result<Code, ParseError> {
    let empty = CodeBuilder::empty(Version::V311, "", "", 1).finish();
    let mut parser = Parser { code: empty, labels: HashMap::new(), line: None };
    parser.code.flags = CodeFlags::empty();
    let mut regions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |what: String| ParseError { line: index + 1, what };
        let words = split(line).map_err(at)?;
        match words.first().map(String::as_str) {
            None => {}
            Some("region") => regions.push((index, words)),
            Some(first) if first.starts_with(|c: char| c.is_ascii_lowercase()) => parser.header(&words).map_err(at)?,
            Some(_) => parser.instruction(&words).map_err(at)?,
        }
    }
    for (index, words) in regions {
        parser.region(&words).map_err(|what| ParseError { line: index + 1, what })?;
    }
    if let Some((name, _)) = parser.labels.iter().find(|(_, l)| parser.code.labels[l.0 as usize] == UNBOUND) {
        return Err(ParseError { line: text.lines().count(), what: format!("label {name} is nowhere") });
    }
    if parser.code.version < Version::V311 {
        parser.code.regions = analysis::block_regions(&parser.code);
    }
    Ok(parser.code)
}

/// Words and quoted words of a line; what is in parentheses at the end is a remark.
fn split(line: &str) -> Parsed<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        if rest.starts_with('(') && words.iter().any(|w| w == "LOAD_CONST") {
            break;
        }
        if rest.starts_with('"') {
            let (word, after) = unquote(rest).ok_or("a quote is not closed")?;
            words.push(word);
            rest = after.trim_start();
        } else {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            words.push(word.to_owned());
            rest = after.trim_start();
        }
    }
    Ok(words)
}

/// The inverse of `{:?}` on a string, and what follows.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                '0' => out.push('\0'),
                'u' => {
                    let digits: String =
                        chars.by_ref().map(|(_, c)| c).skip_while(|c| *c == '{').take_while(|c| *c != '}').collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other => out.push(other),
            },
            other => out.push(other),
        }
    }
    None
}

fn number(word: &str) -> Parsed<u32> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

/// The index of a name in a list, or of `#index`.
fn index<'a>(mut list: impl Iterator<Item = &'a String>, word: &str) -> Parsed<u32> {
    if let Some(digits) = word.strip_prefix('#') {
        return number(digits);
    }
    list.position(|name| name == word).map(|i| i as u32).ok_or_else(|| format!("{word} is not declared"))
}

impl Parser {
    fn header(&mut self, words: &[String]) -> Parsed<()> {
        let code = &mut self.code;
        let list = || words[1..].to_vec();
        let after = |key: &str| -> Parsed<&String> {
            let at = words.iter().position(|w| w == key).ok_or_else(|| format!("{key} is missing"))?;
            words.get(at + 1).ok_or_else(|| format!("{key} has no value"))
        };
        match words[0].as_str() {
            "code" => {
                code.name.clone_from(after("code")?);
                code.filename.clone_from(after("file")?);
                code.firstlineno = number(after("line")?)?;
                let minor = after("python")?.strip_prefix("3.").and_then(|minor| minor.parse().ok());
                code.version = minor.and_then(Version::from_minor).ok_or("no such version")?;
            }
            "qualname" => code.qualname = words.get(1).cloned().unwrap_or_default(),
            "flags" => {
                for word in &words[1..] {
                    let bits = word.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    let flag = bits.map(CodeFlags::from_bits_retain).or_else(|| CodeFlags::from_name(word));
                    code.flags |= flag.ok_or_else(|| format!("no flag {word}"))?;
                }
            }
            "args" => {
                code.argcount = number(after("args")?)?;
                code.posonlyargcount = number(after("posonly")?)?;
                code.kwonlyargcount = number(after("kwonly")?)?;
                code.stacksize = number(after("stack")?)?;
            }
            "names" => code.names = list(),
            "varnames" => code.varnames = list(),
            "cellvars" => code.cellvars = list(),
            "freevars" => code.freevars = list(),
            other => return Err(format!("{other}?")),
        }
        Ok(())
    }

    fn label(&mut self, word: &str) -> Parsed<Label> {
        if !word.starts_with('L') {
            return Err(format!("{word} is no label"));
        }
        if let Some(label) = self.labels.get(word) {
            return Ok(*label);
        }
        let label = self.code.new_label(UNBOUND);
        self.labels.insert(word.to_owned(), label);
        Ok(label)
    }

    fn place(&mut self, word: &str) -> Parsed<usize> {
        let label = self.label(word)?;
        Ok(self.code.target(label))
    }

    fn region(&mut self, words: &[String]) -> Parsed<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ["region", range, "->", handler, "depth", depth, rest @ ..] = words.as_slice() else {
            return Err("region L0..L1 -> L2 depth n [lasti]".into());
        };
        let (start, end) = range.split_once("..").ok_or("region L0..L1")?;
        let (start, end) = (self.place(start)?, self.place(end)?);
        if start >= end || end > self.code.instrs.len() {
            return Err("the region is empty".into());
        }
        let handler = self.label(handler)?;
        let (depth, lasti) = (number(depth)?, *rest == ["lasti"]);
        self.code.regions.push(Region { start, end, handler, depth, lasti });
        Ok(())
    }

    fn instruction(&mut self, words: &[String]) -> Parsed<()> {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words[0] == "--" {
            self.line = None;
            words.remove(0);
        } else if let Ok(line) = words[0].parse() {
            self.line = Some(line);
            words.remove(0);
        }
        if let Some(name) = words.first().and_then(|w| w.strip_suffix(':')) {
            let label = self.label(name)?;
            self.code.labels[label.0 as usize] = self.code.instrs.len();
            words.remove(0);
        }
        let Some((word, operands)) = words.split_first() else { return Ok(()) };
        let op = self.op(word, operands)?;
        let loc = self.line.map_or_else(Location::default, Location::of_line);
        self.code.instrs.push(Instr::new(op, loc));
        Ok(())
    }

    fn op(&mut self, word: &str, operands: &[&str]) -> Parsed<Op> {
        let has = |flag: &str| operands.contains(&flag);
        let first = *operands.first().unwrap_or(&"");
        let unknown = || format!("{word} {first}?");
        let code = &self.code;
        let local = || index(code.varnames.iter(), first).map(Local);
        let simple = match word {
            "LOAD_CONST" => Some(Op::LoadConst(ConstId(number(first)?))),
            "LOAD_FAST" => Some(Op::LoadFast { local: local()?, check: code.version < Version::V312 }),
            "LOAD_FAST_CHECK" => Some(Op::LoadFast { local: local()?, check: true }),
            "LOAD_FAST_AND_CLEAR" => Some(Op::LoadFastAndClear(local()?)),
            "STORE_FAST" => Some(Op::StoreFast(local()?)),
            "DELETE_FAST" => Some(Op::DeleteFast(local()?)),
            "LOAD_SUPER_ATTR" => {
                let name = NameId(index(code.names.iter(), first)?);
                let flags = &operands[1..];
                let has = |flag: &str| flags.contains(&flag);
                Some(Op::LoadSuperAttr { name, two_arg: has("two_arg"), method: has("method") })
            }
            "BINARY" => {
                // `<=` is no in-place form, `<<=` is.
                let plain = item_of(&words::BINARY, first).map(|op| (op, false));
                let inplace = || Some((item_of(&words::BINARY, first.strip_suffix('=')?)?, true));
                let (op, inplace) = plain.or_else(inplace).ok_or_else(unknown)?;
                Some(Op::Binary { op, inplace })
            }
            "COMPARE" => {
                Some(Op::Compare { op: item_of(&words::COMPARE, first).ok_or_else(unknown)?, to_bool: has("to_bool") })
            }
            "IS" | "IS_NOT" => Some(Op::Is { invert: word == "IS_NOT" }),
            "IN" | "NOT_IN" => Some(Op::Contains { invert: word == "NOT_IN" }),
            "UNPACK_EX" => {
                Some(Op::UnpackEx { before: number(first)?, after: number(operands.get(1).ok_or_else(unknown)?)? })
            }
            "FORMAT_VALUE" => {
                Some(Op::FormatValue { conversion: item_of(&words::CONVERSION, first), spec: has("spec") })
            }
            "CONVERT_VALUE" => Some(Op::ConvertValue(item_of(&words::CONVERSION, first).ok_or_else(unknown)?)),
            "CALL" | "CALL_FUNCTION" => Some(Op::Call { argc: number(first)?, two: word == "CALL" }),
            "CALL_KW" | "CALL_FUNCTION_KW" => Some(Op::CallKw { argc: number(first)?, two: word == "CALL_KW" }),
            "CALL_EX" => Some(Op::CallEx { kwargs: has("kwargs"), null: has("null") }),
            "INTRINSIC_1" => Some(Op::Intrinsic1(item_of(&words::INTRINSIC, first).ok_or_else(unknown)?)),
            "INTRINSIC_2" => Some(Op::Intrinsic2(item_of(&words::INTRINSIC, first).ok_or_else(unknown)?)),
            "MAKE_FUNCTION" => Some(Op::MakeFunction { flags: number(first)?, qualname: has("qualname") }),
            _ => item_of(&words::UNARY, word).map(Op::Unary).or_else(|| words::parse_plain(word, ())),
        };
        if let Some(op) = simple {
            return Ok(op);
        }
        if let Some(op) = words::parse_number(word, 0) {
            let number = number(first)?;
            return Ok(words::parse_number(word, number).unwrap_or(op));
        }
        if words::parse_name(word, NameId(0)).is_some() {
            let id = NameId(index(code.names.iter(), first)?);
            return words::parse_name(word, id).ok_or_else(unknown);
        }
        if words::parse_cell(word, Cell(0)).is_some() {
            let id = Cell(index(code.cellvars.iter().chain(&code.freevars), first)?);
            return words::parse_cell(word, id).ok_or_else(unknown);
        }
        let target = self.label(first)?;
        Ok(match word {
            "JUMP" | "JUMP_NO_INTERRUPT" => Op::Jump { target, no_interrupt: word == "JUMP_NO_INTERRUPT" },
            _ => {
                let pop = item_of(&words::POP_JUMP, word).map(|cond| Op::PopJumpIf { cond, target });
                let or_pop = || item_of(&words::OR_POP, word).map(|cond| Op::JumpIfOrPop { cond, target });
                pop.or_else(or_pop).or_else(|| words::parse_label(word, target)).ok_or_else(unknown)?
            }
        })
    }
}

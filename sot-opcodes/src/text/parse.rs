//! Text to `Code`.

use super::lexer::{self, Parsed, Word};
use super::operands::Operands;
use super::places::PlaceName;
use super::symbols::{List, Symbols, place};
use super::{location, mnemonics};
use crate::{Code, CodeBuilder, CodeFlags, Instr, Label, Location, Region, Version, analysis};
use std::collections::HashMap;

/// Why a text is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// 1-based line of the text.
    pub line: usize,
    /// What is wrong there and, where it helps, what to write instead.
    /// What is wrong there and what would be right.
    pub what: String,
}

/// Reads the text form.
///
/// # Errors
/// At the first line that is wrong; a label that is nowhere is told at its first use.
pub fn parse(text: &str) -> Result<Code, ParseError> {
    let mut parser = Parser::new();
    for (index, line) in text.lines().enumerate() {
        parser.symbols.line = index + 1;
        parser.read(line).map_err(|what| ParseError { line: index + 1, what })?;
    }
    parser.finish()
}

/// The lines above the instructions.
const HEADER: [&str; 8] = ["code", "qualname", "flags", "args", "names", "varnames", "cellvars", "freevars"];

/// What is known so far. Labels have their numbers in the text until `finish`.
struct Parser {
    code: Code,
    symbols: Symbols,
    /// Which lines of `HEADER` were there.
    seen: [bool; HEADER.len()],
    in_body: bool,
    /// The location of the instruction before.
    loc: Location,
    regions: Vec<RegionLine>,
}

struct RegionLine {
    line: usize,
    start: PlaceName,
    end: PlaceName,
    handler: Label,
    depth: u32,
    lasti: bool,
}

impl Parser {
    fn new() -> Self {
        let mut code = CodeBuilder::empty(Version::V311, "", "", 1).finish();
        code.flags = CodeFlags::empty();
        Self {
            symbols: Symbols::new(code.version),
            code,
            seen: [false; HEADER.len()],
            in_body: false,
            loc: Location::default(),
            regions: Vec::new(),
        }
    }

    fn read(&mut self, line: &str) -> Parsed<()> {
        let words = lexer::split(line)?;
        let Some(first) = words.first() else { return Ok(()) };
        let first = first.bare().ok_or("a line begins with a word that is not quoted")?;
        let title = HEADER.iter().position(|title| *title == first);
        if title != Some(0) && !self.seen[0] {
            return Err("the first line has to be like: code \"f\" python 3.11".into());
        }
        if let Some(title) = title {
            if std::mem::replace(&mut self.seen[title], true) {
                return Err(format!("`{first}` is there twice"));
            }
            if self.in_body {
                return Err(format!("`{first}` belongs above the instructions and regions"));
            }
            return self.header(first, &words);
        }
        if !std::mem::replace(&mut self.in_body, true) {
            self.symbols.version = self.code.version;
            self.symbols.names = List::new("names", self.code.names.iter());
            self.symbols.locals = List::new("varnames", self.code.varnames.iter());
            self.symbols.cells =
                List::new("cellvars and freevars", self.code.cellvars.iter().chain(&self.code.freevars));
        }
        match first {
            "region" => self.region(&words),
            other if other.starts_with(|c: char| c.is_ascii_lowercase()) => {
                Err(format!("no line begins with `{other}`; there are {} and region", HEADER.join(", ")))
            }
            _ => self.instruction(&words),
        }
    }

    fn header(&mut self, title: &str, words: &[Word<'_>]) -> Parsed<()> {
        let code = &mut self.code;
        let text = |word: &Word<'_>| word.text.clone().into_owned();
        let list = || words[1..].iter().map(text).collect();
        match title {
            "code" => {
                let [name, file, line, python] = pairs(words, ["code", "file", "line", "python"])?;
                code.name = name.map(text).unwrap_or_default();
                code.qualname.clone_from(&code.name);
                code.filename = file.map(text).unwrap_or_default();
                code.firstlineno = line.map_or(Ok(1), lexer::number)?;
                code.version = version(python.ok_or("`python` is missing: the version says what the code means")?)?;
            }
            "qualname" => {
                let [name] = pairs(words, ["qualname"])?;
                code.qualname = name.map(text).unwrap_or_default();
            }
            "flags" => {
                for word in &words[1..] {
                    code.flags |= flags(&word.text)?;
                }
            }
            "args" => {
                let keys = ["args", "posonly", "kwonly", "stack"];
                let [args, posonly, kwonly, stack] = pairs(words, keys)?.map(|word| word.map_or(Ok(0), lexer::number));
                (code.argcount, code.posonlyargcount) = (args?, posonly?);
                (code.kwonlyargcount, code.stacksize) = (kwonly?, stack?);
            }
            "names" => code.names = list(),
            "varnames" => code.varnames = list(),
            "cellvars" => code.cellvars = list(),
            _ => code.freevars = list(),
        }
        Ok(())
    }

    fn region(&mut self, words: &[Word<'_>]) -> Parsed<()> {
        if self.code.version < Version::V311 {
            return Err("up to 3.10 regions follow from SETUP_* and POP_BLOCK: leave this line out".into());
        }
        let shape = || "a region is like: region L0..L1 -> L2 depth 0, with `lasti` behind it or not".to_owned();
        let plain: Vec<&str> = words.iter().map(|word| word.bare().unwrap_or_default()).collect();
        let (range, depth, lasti) = match plain[..] {
            [_, range, "->", _, "depth", _] => (range, &words[5], false),
            [_, range, "->", _, "depth", _, "lasti"] => (range, &words[5], true),
            _ => return Err(shape()),
        };
        let (start, end) = range.split_once("..").ok_or_else(shape)?;
        let start = place(start).ok_or_else(shape)?;
        let end = place(end).ok_or_else(shape)?;
        self.symbols.mention(start);
        self.symbols.mention(end);
        let handler = self.symbols.label(&words[3])?;
        let depth = lexer::number(depth)?;
        self.regions.push(RegionLine { line: self.symbols.line, start, end, handler, depth, lasti });
        Ok(())
    }

    fn instruction(&mut self, words: &[Word<'_>]) -> Parsed<()> {
        let mut rest = words;
        if let Some(word) = bare(rest)
            && word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '?'))
        {
            self.loc = location::read(word)?;
            rest = &rest[1..];
        }
        while let Some(name) = bare(rest).and_then(|word| word.strip_suffix(':')) {
            self.define(name)?;
            rest = &rest[1..];
        }
        let mut offset = Instr::NO_OFFSET;
        if let Some(digits) = bare(rest).and_then(|word| word.strip_prefix('@')) {
            let known = lexer::decimal(digits).filter(|offset| *offset != Instr::NO_OFFSET);
            offset = known.ok_or_else(|| format!("`@{digits}` is no offset: write @ and a number, or nothing"))?;
            rest = &rest[1..];
        }
        let Some((word, operands)) = rest.split_first() else {
            let places_alone = words.iter().all(|word| word.text.ends_with(':'));
            return if places_alone { Ok(()) } else { Err("the instruction is missing".into()) };
        };
        let mnemonic = word.bare().ok_or("an instruction is not quoted")?;
        let mut operands = Operands::new(mnemonic, operands, &mut self.symbols);
        let op = mnemonics::read(mnemonic, &mut operands)?;
        operands.finish()?;
        self.code.instrs.push(Instr { op, loc: self.loc, offset });
        Ok(())
    }

    /// The place of the next instruction gets a name.
    fn define(&mut self, name: &str) -> Parsed<()> {
        let place = place(name).ok_or_else(|| format!("`{name}:` is no label: write L and a number"))?;
        let (at, line) = (self.code.instrs.len(), self.symbols.line);
        match self.symbols.mention(place).defined.replace((at, line)) {
            Some((_, before)) => Err(format!("{place} is already at line {before}")),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Code, ParseError> {
        if !self.seen[0] {
            return Err(ParseError {
                line: 1,
                what: "the text is empty; it begins like: code \"f\" python 3.11".into(),
            });
        }
        let nowhere = self.symbols.places.iter().filter(|(_, mention)| mention.defined.is_none());
        if let Some((place, mention)) = nowhere.min_by_key(|(_, mention)| mention.first_line) {
            let what = format!("{place} is nowhere: write `{place}:` before an instruction or at the end");
            return Err(ParseError { line: mention.first_line, what });
        }
        // The ids of labels are their numbers, closed up; the index of every place.
        let mut ids: HashMap<Label, Label> = HashMap::new();
        let mut at: HashMap<PlaceName, usize> = HashMap::new();
        for (place, index) in
            self.symbols.places.iter().filter_map(|(place, mention)| Some((*place, mention.defined?.0)))
        {
            at.insert(place, index);
            if let PlaceName::Label(number) = place {
                ids.insert(Label(number), self.code.new_label(index));
            }
        }
        for instr in &mut self.code.instrs {
            if let Some(label) = instr.op.target() {
                instr.op = instr.op.with_target(ids[&label]);
            }
        }
        for RegionLine { line, start, end, handler, depth, lasti } in self.regions {
            let region = Region { start: at[&start], end: at[&end], handler: ids[&handler], depth, lasti };
            if region.start >= region.end {
                return Err(ParseError { line, what: format!("the region is empty: {start} is not before {end}") });
            }
            self.code.regions.push(region);
        }
        if self.code.version < Version::V311 {
            self.code.regions = analysis::block_regions(&self.code);
        }
        Ok(self.code)
    }
}

fn bare<'w>(words: &'w [Word<'_>]) -> Option<&'w str> {
    words.first().and_then(Word::bare)
}

/// The values behind the keys of a line, each at most once.
fn pairs<'w, 't, const N: usize>(words: &'w [Word<'t>], keys: [&str; N]) -> Parsed<[Option<&'w Word<'t>>; N]> {
    let mut values = [None; N];
    for pair in words.chunks(2) {
        let key = &pair[0];
        let found = keys.iter().position(|k| key.bare() == Some(*k));
        let found = found.ok_or_else(|| format!("`{}` is none of {}", key.text, keys.join(", ")))?;
        let value = pair.get(1).ok_or_else(|| format!("`{}` has no value behind it", key.text))?;
        if values[found].replace(value).is_some() {
            return Err(format!("`{}` is there twice", key.text));
        }
    }
    Ok(values)
}

fn version(word: &Word<'_>) -> Parsed<Version> {
    let minor = word.text.strip_prefix("3.").and_then(lexer::decimal).and_then(|minor| u8::try_from(minor).ok());
    minor.and_then(Version::from_minor).ok_or_else(|| {
        let [oldest, .., newest] = Version::ALL;
        format!("`python {}` is not supported: write {oldest} to {newest}", word.text)
    })
}

fn flags(word: &str) -> Parsed<CodeFlags> {
    if let Some(digits) = word.strip_prefix("0x") {
        let bits = lexer::hex(digits).ok_or_else(|| format!("`{word}` is no number of 32 bits"))?;
        return Ok(CodeFlags::from_bits_retain(bits));
    }
    CodeFlags::from_name(word).ok_or_else(|| {
        let names: Vec<&str> = CodeFlags::all().iter_names().map(|(name, _)| name).collect();
        format!("`{word}` is no flag: write 0x and digits, or {}", names.join(" "))
    })
}

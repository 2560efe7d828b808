//! `Code` to text.

use super::writer::Writer;
use super::{lexer, location, mnemonics};
use crate::{Code, Instr, Location, Version};
use std::fmt::Write as _;

/// The code for people: source lines, but no columns and no offsets, and labels numbered in order.
///
/// `parse` reads it back as code without what is left out. `consts` are shown behind LOAD_CONST, as a remark.
#[must_use]
pub fn print(code: &Code, consts: Option<&[String]>) -> String {
    Printer::new(code, consts, Form::Readable).text()
}

/// The code with all that it has: `parse` gives the same code again.
///
/// That holds for all code whose labels, operands and regions are in range, up to 3.10 with the regions that `decode`
/// derives. Where something that is used is out of range, `parse` refuses the text. `consts` are a remark here, too.
#[must_use]
pub fn print_exact(code: &Code, consts: Option<&[String]>) -> String {
    Printer::new(code, consts, Form::Exact).text()
}

/// As `print`, without what moves when the source file or an unrelated part of the code changes: no stack size, no
/// file, and lines relative to the first one. For snapshots.
#[must_use]
pub fn diffable(code: &Code, consts: Option<&[String]>) -> String {
    Printer::new(code, consts, Form::Diffable).text()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Exact,
    Readable,
    Diffable,
}

/// Writes a code object.
struct Printer<'a> {
    code: &'a Code,
    form: Form,
    out: Writer<'a>,
}

impl<'a> Printer<'a> {
    fn new(code: &'a Code, consts: Option<&'a [String]>, form: Form) -> Self {
        Self { code, form, out: Writer::new(code, consts, form == Form::Exact) }
    }

    fn text(mut self) -> String {
        self.header();
        self.instructions();
        self.regions();
        self.out.text
    }

    fn line(&mut self, line: &str) {
        self.out.text.push_str(line.trim_end());
        self.out.text.push('\n');
    }

    fn header(&mut self) {
        let code = self.code;
        let (file, stack) = match self.form {
            Form::Diffable => (String::new(), String::new()),
            Form::Exact | Form::Readable => {
                (format!(" file {:?} line {}", code.filename, code.firstlineno), format!(" stack {}", code.stacksize))
            }
        };
        self.line(&format!("code {:?}{file} python {}", code.name, code.version));
        self.line(&format!("qualname {:?}", code.qualname));
        let unnamed = code.flags.iter_names().fold(code.flags.bits(), |bits, (_, flag)| bits & !flag.bits());
        let named = code.flags.iter_names().map(|(name, _)| name.to_owned());
        let flags: Vec<String> = named.chain((unnamed != 0).then(|| format!("{unnamed:#x}"))).collect();
        self.line(&format!("flags {}", flags.join(" ")));
        let (args, posonly, kwonly) = (code.argcount, code.posonlyargcount, code.kwonlyargcount);
        self.line(&format!("args {args} posonly {posonly} kwonly {kwonly}{stack}"));
        let lists = [&code.names, &code.varnames, &code.cellvars, &code.freevars];
        for (title, names) in ["names", "varnames", "cellvars", "freevars"].into_iter().zip(lists) {
            let names: String = names.iter().map(|name| format!(" {}", lexer::quoted(name))).collect();
            self.line(&format!("{title}{names}"));
        }
    }

    fn instructions(&mut self) {
        let width = if self.form == Form::Exact { 13 } else { 5 };
        let mut before = None;
        for (index, instr) in self.code.instrs.iter().enumerate() {
            let loc = self.location(instr.loc);
            let shown = if before.replace(loc) == Some(loc) { String::new() } else { location::show(loc) };
            let _ = write!(self.out.text, "{shown:>width$} {:<5}", self.out.places.definitions(index));
            if self.form == Form::Exact {
                let offset = instr.offset;
                let offset = if offset == Instr::NO_OFFSET { String::new() } else { format!("@{offset}") };
                let _ = write!(self.out.text, " {offset:<5}");
            }
            mnemonics::write(&instr.op, &mut self.out);
            self.out.text.push('\n');
        }
        let end = self.out.places.definitions(self.code.instrs.len());
        if !end.is_empty() {
            self.line(&format!("{:width$} {end}", ""));
        }
    }

    /// What the form shows of a location.
    fn location(&self, loc: Location) -> Location {
        let base = match self.form {
            Form::Exact => return loc,
            Form::Readable => 0,
            Form::Diffable => self.code.firstlineno,
        };
        loc.line.map_or_else(Location::default, |line| Location::of_line(line.saturating_sub(base)))
    }

    fn regions(&mut self) {
        // Up to 3.10 the SETUP_* instructions say it.
        if self.code.version < Version::V311 {
            return;
        }
        for region in &self.code.regions {
            let (start, end) = (self.out.places.bound(region.start), self.out.places.bound(region.end));
            let (handler, depth) = (self.out.places.label(region.handler), region.depth);
            let lasti = if region.lasti { " lasti" } else { "" };
            let _ = writeln!(self.out.text, "region {start}..{end} -> {handler} depth {depth}{lasti}");
        }
    }
}

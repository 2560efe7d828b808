//! Fresh code, instruction by instruction.
//!
//! ```
//! use sot_opcodes::{CodeBuilder, Location, Op, Signature, Version, encode};
//! let mut b = CodeBuilder::empty(Version::V311, "f", "f.py", 1);
//! b.set_args(&Signature { positional: vec!["x".into()], ..Signature::default() });
//! b.prelude();
//! let (here, print, x) = (Location::of_line(1), b.name("print"), b.local("x"));
//! b.push_callable(Op::LoadGlobal(print), here);
//! b.emit(Op::LoadFast { local: x, check: false }, here);
//! b.call(1, here);
//! b.emit(Op::ReturnValue, here);
//! assert_eq!(encode(&b.finish()).unwrap().stacksize, 3);
//! ```

use crate::code::intern;
use crate::{
    Cell, Code, CodeFlags, ConstId, Instr, Label, Local, Location, NameId, Op, Region, Version, analysis, calls,
};

/// The parameters of fresh code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// All positional parameters.
    pub positional: Vec<String>,
    /// How many of them are positional-only.
    pub posonly: u32,
    /// Keyword-only parameters.
    pub kwonly: Vec<String>,
    /// `*args`
    pub varargs: Option<String>,
    /// `**kwargs`
    pub varkeywords: Option<String>,
}

/// Makes a `Code`. Labels are bound when the instruction they name is next to be emitted.
pub struct CodeBuilder {
    code: Code,
    /// Regions by their labels.
    regions: Vec<(Label, Label, Label, u32, bool)>,
}

const UNBOUND: usize = usize::MAX;

impl CodeBuilder {
    /// Code with the name, file and first line of another, no arguments and no instructions.
    #[must_use]
    pub fn new(version: Version, like: &Code) -> Self {
        let mut builder = Self::empty(version, &like.name, &like.filename, like.firstlineno);
        builder.code.qualname.clone_from(&like.qualname);
        builder.code.flags |= like.flags & CodeFlags::of_future(version);
        builder
    }

    /// A plain function (OPTIMIZED, NEWLOCALS) without arguments and instructions.
    #[must_use]
    pub fn empty(version: Version, name: &str, filename: &str, firstlineno: u32) -> Self {
        let code = Code {
            version,
            argcount: 0,
            posonlyargcount: 0,
            kwonlyargcount: 0,
            flags: CodeFlags::OPTIMIZED | CodeFlags::NEWLOCALS,
            names: Vec::new(),
            varnames: Vec::new(),
            cellvars: Vec::new(),
            freevars: Vec::new(),
            filename: filename.to_owned(),
            name: name.to_owned(),
            qualname: name.to_owned(),
            firstlineno,
            instrs: Vec::new(),
            labels: Vec::new(),
            regions: Vec::new(),
            stacksize: 0,
        };
        Self { code, regions: Vec::new() }
    }

    /// The parameters. To be called before any other local is named: parameters are the first locals.
    pub fn set_args(&mut self, signature: &Signature) {
        let code = &mut self.code;
        code.argcount = signature.positional.len() as u32;
        code.posonlyargcount = signature.posonly;
        code.kwonlyargcount = signature.kwonly.len() as u32;
        code.flags.set(CodeFlags::VARARGS, signature.varargs.is_some());
        code.flags.set(CodeFlags::VARKEYWORDS, signature.varkeywords.is_some());
        let names = signature.positional.iter().chain(&signature.kwonly);
        code.varnames = names.chain(&signature.varargs).chain(&signature.varkeywords).cloned().collect();
    }

    /// The cell and free variables. Cells are `Cell(0..)`, cellvars first.
    pub fn set_cells(&mut self, cellvars: &[String], freevars: &[String]) {
        self.code.cellvars = cellvars.to_vec();
        self.code.freevars = freevars.to_vec();
    }

    /// What a plain function begins with: free variables and cells (3.11+), then RESUME.
    pub fn prelude(&mut self) {
        if self.code.version < Version::V311 {
            return;
        }
        let (cells, free) = (self.code.cellvars.len() as u32, self.code.freevars.len() as u32);
        if free > 0 {
            self.emit(Op::CopyFreeVars(free), Location::default());
        }
        for cell in 0..cells {
            self.emit(Op::MakeCell(Cell(cell)), Location::default());
        }
        let line = Location { col: Some(0), end_col: Some(0), ..Location::of_line(self.code.firstlineno) };
        self.emit(Op::Resume(0), line);
    }

    /// Appends an instruction.
    pub fn emit(&mut self, op: Op, loc: Location) {
        self.code.instrs.push(Instr::new(op, loc));
    }

    /// Appends instructions that have one location.
    pub fn emit_all(&mut self, ops: impl IntoIterator<Item = Op>, loc: Location) {
        for op in ops {
            self.emit(op, loc);
        }
    }

    /// `op` pushes a callable that `call`, `call_kw` or `call_ex` is to call.
    pub fn push_callable(&mut self, op: Op, loc: Location) {
        self.emit_all(calls::push_callable(self.code.version, op), loc);
    }

    /// Calls what `push_callable` pushed, with that many positional arguments on top.
    pub fn call(&mut self, argc: u32, loc: Location) {
        self.emit(calls::call(self.code.version, argc), loc);
    }

    /// `argc` counts positional and keyword arguments; `names` is the tuple of keywords.
    pub fn call_kw(&mut self, argc: u32, names: ConstId, loc: Location) {
        self.emit_all(calls::call_kw(self.code.version, argc, names), loc);
    }

    /// Calls what `push_callable` pushed with a tuple of arguments, and with `kwargs` a dict, on top.
    pub fn call_ex(&mut self, kwargs: bool, loc: Location) {
        self.emit(calls::call_ex(self.code.version, kwargs), loc);
    }

    /// A label that is not bound yet.
    pub fn new_label(&mut self) -> Label {
        self.code.new_label(UNBOUND)
    }

    /// The label names the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.code.labels[label.0 as usize] = self.code.instrs.len();
    }

    /// The id of a name, added if it is new.
    pub fn name(&mut self, name: &str) -> NameId {
        self.code.name_id(name)
    }

    /// The id of a local, added (as no argument) if it is new.
    pub fn local(&mut self, name: &str) -> Local {
        self.code.local_id(name)
    }

    /// All locals so far, arguments first.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        (0..self.code.varnames.len() as u32).map(Local)
    }

    /// The id of a cell or free variable; a new name becomes a cell variable if no free variable was set.
    ///
    /// # Panics
    /// If the name is new and there are free variables, whose ids it would change.
    pub fn cell(&mut self, name: &str) -> Cell {
        let code = &mut self.code;
        if let Some(index) = code.cellvars.iter().chain(&code.freevars).position(|c| c == name) {
            return Cell(index as u32);
        }
        assert!(code.freevars.is_empty(), "cell {name} after the free variables");
        Cell(intern(&mut code.cellvars, name))
    }

    /// Protects what lies between two labels (3.11+; before, SETUP_* does). Regions may nest.
    pub fn push_region(&mut self, start: Label, end: Label, handler: Label, depth: u32, lasti: bool) {
        self.regions.push((start, end, handler, depth, lasti));
    }

    /// The number of instructions so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.code.instrs.len()
    }

    /// There is no instruction yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.code.instrs.is_empty()
    }

    /// The finished code. A label that is used and was never bound is an error of `encode`.
    #[must_use]
    pub fn finish(self) -> Code {
        let mut code = self.code;
        for (start, end, handler, depth, lasti) in self.regions {
            let (start, end) = (code.target(start), code.target(end));
            code.regions.push(Region { start, end, handler, depth, lasti });
        }
        if code.version < Version::V311 && !code.labels.contains(&UNBOUND) {
            code.regions = analysis::block_regions(&code);
        }
        code
    }
}

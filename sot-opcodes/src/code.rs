//! Decoded code: normalised instructions with labels, protected regions and the attributes of the code object.
//!
//! Two neighbours with the same `offset` come from one raw instruction; `encode` joins them again if it can.

use crate::{CodeFlags, Label, Local, Location, NameId, Op, Version};

/// One normalised instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// What it does.
    pub op: Op,
    /// Where in the source it comes from.
    pub loc: Location,
    /// Byte offset of the opcode (behind its EXTENDED_ARGs) in the original, as `f_lasti` has it; `NO_OFFSET` if synthesized.
    pub offset: u32,
}

impl Instr {
    /// The `offset` of what is not from decoded code.
    pub const NO_OFFSET: u32 = u32::MAX;

    /// An instruction that is not from decoded code.
    #[must_use]
    pub const fn new(op: Op, loc: Location) -> Self {
        Self { op, loc, offset: Self::NO_OFFSET }
    }
}

/// A protected range of instructions, half open, and where its exceptions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first instruction.
    pub start: usize,
    /// Behind the last instruction.
    pub end: usize,
    /// Where an exception goes.
    pub handler: Label,
    /// Slots that stay on the stack when the handler is entered, under what the exception pushes.
    pub depth: u32,
    /// The offset of the instruction that raised is pushed before the exception.
    pub lasti: bool,
}

/// A code object with normalised instructions. Constants stay with the caller; the other attributes are those of
/// [`RawCode`](crate::RawCode).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Which interpreter it is for.
    pub version: Version,
    /// `co_argcount`
    pub argcount: u32,
    /// `co_posonlyargcount`
    pub posonlyargcount: u32,
    /// `co_kwonlyargcount`
    pub kwonlyargcount: u32,
    /// `co_flags`
    pub flags: CodeFlags,
    /// `co_names`
    pub names: Vec<String>,
    /// `co_varnames`
    pub varnames: Vec<String>,
    /// `co_cellvars`
    pub cellvars: Vec<String>,
    /// `co_freevars`
    pub freevars: Vec<String>,
    /// `co_filename`
    pub filename: String,
    /// `co_name`
    pub name: String,
    /// `co_qualname`
    pub qualname: String,
    /// `co_firstlineno`
    pub firstlineno: u32,
    /// The instructions; caches, EXTENDED_ARGs and the like are folded in.
    pub instrs: Vec<Instr>,
    /// `labels[l]` is an index into `instrs`, or `instrs.len()` for the end. Labels may share an index.
    pub labels: Vec<usize>,
    /// Which handler an exception in a range goes to. They may nest; the shortest that covers an instruction counts. From 3.11
    /// on they are the exception table. Up to 3.10 they are derived from the SETUP_* and POP_BLOCK instructions, which stay in
    /// the stream and are what `encode` writes.
    pub regions: Vec<Region>,
    /// As the original claims it; `encode` computes its own.
    pub stacksize: u32,
}

impl Code {
    /// The instruction a label stands for.
    ///
    /// # Panics
    /// If the label is not of this code.
    #[must_use]
    pub fn target(&self, label: Label) -> usize {
        self.labels[label.0 as usize]
    }

    /// A copy without instructions, labels and regions.
    pub(crate) fn without_content(&self) -> Self {
        Self {
            version: self.version,
            argcount: self.argcount,
            posonlyargcount: self.posonlyargcount,
            kwonlyargcount: self.kwonlyargcount,
            flags: self.flags,
            names: self.names.clone(),
            varnames: self.varnames.clone(),
            cellvars: self.cellvars.clone(),
            freevars: self.freevars.clone(),
            filename: self.filename.clone(),
            name: self.name.clone(),
            qualname: self.qualname.clone(),
            firstlineno: self.firstlineno,
            instrs: Vec::new(),
            labels: Vec::new(),
            regions: Vec::new(),
            stacksize: self.stacksize,
        }
    }

    /// As `target`; a label that is not of this code leads nowhere, behind every instruction.
    pub(crate) fn place(&self, label: Label) -> usize {
        self.labels.get(label.0 as usize).copied().unwrap_or(usize::MAX)
    }

    /// The number of leading locals that are arguments, `*args` and `**kwargs` included.
    #[must_use]
    pub fn arg_slots(&self) -> usize {
        let flag = |flag| usize::from(self.flags.contains(flag));
        self.argcount as usize + self.kwonlyargcount as usize + flag(CodeFlags::VARARGS) + flag(CodeFlags::VARKEYWORDS)
    }

    /// A call makes a generator, coroutine or async generator.
    #[must_use]
    pub fn is_generator_like(&self) -> bool {
        self.flags.is_generator_like()
    }

    /// The first of the instructions that come from the raw instruction at, or before, a byte offset.
    #[must_use]
    pub fn index_at(&self, offset: u32) -> Option<usize> {
        let mut found: Option<usize> = None;
        for (i, instr) in self.instrs.iter().enumerate() {
            let best = found.map(|f| self.instrs[f].offset);
            if instr.offset <= offset && best.is_none_or(|b| b < instr.offset) {
                found = Some(i);
            }
        }
        found
    }

    /// How many instructions at the start set up the frame (cells, the generator object, RESUME) and are no user code.
    #[must_use]
    pub fn prelude_len(&self) -> usize {
        let mut len = 0;
        while let Some(instr) = self.instrs.get(len) {
            match instr.op {
                Op::CopyFreeVars(_) | Op::MakeCell(_) | Op::ReturnGenerator | Op::GenStart(_) => len += 1,
                Op::PopTop if len > 0 && self.instrs[len - 1].op == Op::ReturnGenerator => len += 1,
                Op::Resume(_) => return len + 1,
                _ => return len,
            }
        }
        len
    }

    /// Inserts instructions behind the prelude and returns where.
    ///
    /// Whatever pointed at or behind that place moves along, so a loop back to the first user instruction does not
    /// run the prologue again. Labels that are used by the inserted instructions alone are not moved: make them with
    /// `new_label` in the final numbering.
    pub fn insert_prologue(&mut self, prologue: Vec<Instr>) -> usize {
        let at = self.prelude_len();
        let count = prologue.len();
        let mut users = vec![(false, false); self.labels.len()];
        for label in prologue.iter().filter_map(|i| i.op.target()) {
            users[label.0 as usize].0 = true;
        }
        let handlers = self.regions.iter().map(|r| r.handler);
        for label in self.instrs.iter().filter_map(|i| i.op.target()).chain(handlers) {
            users[label.0 as usize].1 = true;
        }
        for (place, used) in self.labels.iter_mut().zip(users) {
            let own = used == (true, false);
            if !own && *place >= at {
                *place += count;
            }
        }
        for region in &mut self.regions {
            if region.start >= at {
                region.start += count;
            }
            if region.end > at {
                region.end += count;
            }
        }
        self.instrs.splice(at..at, prologue);
        at
    }

    /// A new label for an instruction index.
    pub fn new_label(&mut self, at: usize) -> Label {
        self.labels.push(at);
        Label(self.labels.len() as u32 - 1)
    }

    /// The id of a name, added if it is new.
    pub fn name_id(&mut self, name: &str) -> NameId {
        NameId(intern(&mut self.names, name))
    }

    /// The id of a local, added (as no argument) if it is new.
    pub fn local_id(&mut self, name: &str) -> Local {
        Local(intern(&mut self.varnames, name))
    }
}

/// The index of a string in a list, appended if it is not there.
pub(crate) fn intern(list: &mut Vec<String>, item: &str) -> u32 {
    let index = list.iter().position(|x| x == item).unwrap_or_else(|| {
        list.push(item.to_owned());
        list.len() - 1
    });
    index as u32
}

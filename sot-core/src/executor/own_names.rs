//! Builtins that look at the local variables of the frame that calls them: `locals`, `vars` and `dir` without arguments, `eval`
//! and `exec` without globals.
//!
//! The simulation knows the variables: a dict of all that are bound, in the interpreter's order, is what they look at. So the first
//! three are simulated, and the others break with that dict and the frame's globals for arguments; what is written into it is
//! lost, as in plain functions.
//!
//! Up to 3.12 a frame has one such dict for all of its life: what `exec` writes is there for the next `eval`, and what `locals` gave
//! shows what the variables are when somebody looks again. A frame that may do so has that dict (`Frame::names`); at a break it
//! runs as plain Python, since no other frame can be given it.

use super::Executor;
use crate::code_unit::UnitData;
use crate::frame::Frame;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{CodeFlags, NameId, Op, handling};

/// What looks at a frame's variables, by name.
const LOOKS: [&str; 5] = ["locals", "vars", "dir", "eval", "exec"];
/// Names by which code that is evaluated could look at the frame itself.
const WRITES: [&str; 7] = [":=", "locals", "vars", "exec", "eval", "frame", "compile"];

impl<'py> Executor<'py> {
    /// A builtin that is called `name` and may look at the variables of its caller. `None`: it is none of them, or was told what
    /// to look at.
    pub(super) fn look_at_names(
        &mut self,
        callee: &Bound<'py, PyAny>,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let positional = args.positional.as_slice();
        match (name, positional, args.keywords.is_empty()) {
            ("locals" | "vars" | "dir", [], true) => {
                let traceless = name == "dir";
                let names = self.own_names(callee, name, traceless)?;
                if traceless {
                    let VarKind::Dict(names) = self.look(names)? else {
                        return Err(Stop::fallback(Reason::InternalError, "variables in no dict"));
                    };
                    let mut names: Vec<String> =
                        names.entries.iter().map(|(key, _)| self.constant_str(*key).unwrap_or_default()).collect();
                    names.sort_unstable();
                    let list = PyList::new(self.py, names).map_err(|e| self.internal(&e))?;
                    return self.fold(list.as_any()).map(|list| Some(Called::Value(list)));
                }
                Ok(Some(Called::Value(names)))
            }
            ("dir", [object], true) => Ok(self.names_listed(*object)?.map(Called::Value)),
            ("vars", [object], true) if self.by_definition => self.enter("names_of", &[*object]).map(Some),
            ("vars", [object], true) => {
                let found = self.find_attribute(*object, "__dict__")?;
                Ok(found.map(Called::Value))
            }
            ("eval" | "exec", [source, rest @ ..], true) if rest.len() <= 2 => {
                let given = rest.first().copied();
                // A dict is not looked into.
                let dict = given.is_some_and(|given| matches!(self.var(given).kind, VarKind::Dict(_)));
                if dict || self.unless_none(given)?.is_some() {
                    return Ok(None);
                }
                if self.frame().is_hidden() {
                    return Err(Stop::fallback(Reason::FrameInspection, name));
                }
                let (globals, locals) = match rest {
                    [_, locals]
                        if matches!(self.var(*locals).kind, VarKind::Dict(_))
                            || self.unless_none(Some(*locals))?.is_some() =>
                    {
                        (self.frame().globals, *locals)
                    }
                    _ => {
                        let text = self.constant_str(*source);
                        let reads = text.is_some_and(|text| !WRITES.iter().any(|word| text.contains(word)));
                        (self.frame().globals, self.own_names(callee, name, name == "eval" && reads)?)
                    }
                };
                let globals = self.objects.get(self.py, globals);
                let (callee, globals) = (self.pin(callee), self.pin(&globals));
                self.enter("run_in", &[callee, *source, globals, locals]).map(Some)
            }
            ("locals" | "eval" | "exec", _, _) => Err(Stop::fallback(Reason::FrameInspection, name)),
            _ => Ok(None),
        }
    }

    /// A dict of the variables of the frame that are bound, in order. `traceless`: whoever looks leaves nothing for the next who
    /// does.
    fn own_names(&mut self, callee: &Bound<'py, PyAny>, name: &str, traceless: bool) -> Result<VarId, Stop> {
        let frame = self.frame();
        let unit = frame.unit.clone();
        let (locals, cells, ip, known) = (frame.locals.clone(), frame.cells.clone(), frame.ip, frame.names);
        let frame_of_generator = frame.generator.is_some();
        let code = &unit.code;
        let refused = || Stop::fallback(Reason::FrameInspection, name);
        let function = CodeFlags::OPTIMIZED | CodeFlags::NEWLOCALS;
        if unit.hidden || !code.flags.contains(function) || unit.reads_frame_locals() {
            return Err(refused());
        }
        let keeps = !handling::locals_are_snapshots(code.version);
        let again = keeps && !traceless && may_look_again(&unit, ip);
        if keeps {
            let object = self.objects.find(callee);
            let under_another_name =
                object.is_some() && locals.iter().flatten().any(|var| self.known_object(*var) == object);
            if under_another_name || !looks_by_name(&unit) || again && frame_of_generator {
                return Err(refused());
            }
        }
        let mut found: Vec<(&str, VarId)> = Vec::new();
        for (at, name) in code.varnames.iter().enumerate() {
            if let Some(cell) = code.cellvars.iter().position(|cell| cell == name) {
                if handling::cell_arguments_are_locals(code.version)
                    && let Some(content) = cells[cell].map(|cell| self.cell_content(cell)).transpose()?.flatten()
                {
                    found.push((name, content));
                }
            } else if let Some(value) = locals[at].filter(|value| !matches!(self.var(*value).kind, VarKind::Null(_))) {
                found.push((name, value));
            }
        }
        for (at, name) in code.cellvars.iter().chain(&code.freevars).enumerate() {
            let before = found.iter().any(|(other, _)| other == name);
            if !before && let Some(content) = cells[at].map(|cell| self.cell_content(cell)).transpose()?.flatten() {
                found.push((name, content));
            }
        }
        // The frame's dict would keep it.
        if keeps && found.iter().any(|(_, value)| self.may_be_seen_to_die(*value)) {
            return Err(refused());
        }
        let mut entries = Vec::with_capacity(found.len());
        for (name, value) in found {
            entries.push((self.fold(PyString::intern(self.py, name).as_any())?, value));
        }
        if let Some(names) = known {
            self.bring_up_to_date(names, &unit, &entries)?;
            return Ok(names);
        }
        let names = self.virtual_var(DictVar::new(entries));
        if again {
            self.frame_mut().names = Some(names);
        }
        Ok(names)
    }

    /// The dict of a frame's variables shows what they are now; other keys are the program's.
    fn bring_up_to_date(&mut self, names: VarId, unit: &UnitData, bound: &[(VarId, VarId)]) -> Result<(), Stop> {
        let code = &unit.code;
        let variables = code.varnames.iter().chain(&code.cellvars).chain(&code.freevars);
        let mut seen = HashSet::new();
        for name in variables.filter(|name| seen.insert(name.as_str())) {
            let is_it = |(key, _): &&(VarId, VarId)| self.constant_str(*key).is_some_and(|key| key == *name);
            match bound.iter().find(is_it).copied() {
                Some((key, value)) => self.set_item(names, key, value)?,
                None => {
                    let key = self.fold(PyString::intern(self.py, name).as_any())?;
                    let VarKind::Dict(dict) = self.look(names)? else { continue };
                    if dict.position(self, key)?.is_some() {
                        self.delete_item(names, key)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The first frame that has given away the dict of its variables and may look at them again: no frame but its own can do that.
    pub(super) fn looks_at_names_again(&self) -> Option<usize> {
        let looks_again =
            |frame: &Frame| frame.names.is_some() && !frame.is_class_body() && may_look_again(&frame.unit, frame.ip);
        self.frames.iter().position(looks_again)
    }
}

/// The name that an instruction looks up, globally or in an object.
fn looked_up(op: Op) -> Option<NameId> {
    match op {
        Op::LoadGlobal(name) | Op::LoadName(name) | Op::LoadAttr(name) | Op::LoadMethod(name) => Some(name),
        _ => None,
    }
}

fn looks<'a>(unit: &'a UnitData) -> impl Iterator<Item = usize> + 'a {
    let names = move |op| looked_up(op).is_some_and(|id| LOOKS.contains(&unit.code.names[id.0 as usize].as_str()));
    unit.code.instrs.iter().enumerate().filter(move |(_, instruction)| names(instruction.op)).map(|(at, _)| at)
}

/// Whether whatever looks at the variables of the frame is called by its name.
fn looks_by_name(unit: &UnitData) -> bool {
    looks(unit).next().is_some()
}

/// Whether the variables may be looked at once more behind an instruction.
fn may_look_again(unit: &UnitData, ip: usize) -> bool {
    let code = &unit.code;
    let in_loop = code
        .instrs
        .iter()
        .enumerate()
        .skip(ip)
        .any(|(_, instruction)| instruction.op.target().is_some_and(|label| code.target(label) <= ip));
    in_loop || looks(unit).any(|at| at > ip)
}

//! Appends an instruction's words to a text: the mnemonic, then one operand after the other.

use super::lexer;
use super::places::Places;
use crate::{Cell, Code, ConstId, Label, Local, NameId, Version};
use std::collections::HashSet;

/// The text so far, and how operands are named in it.
pub(super) struct Writer<'a> {
    pub(super) text: String,
    pub(super) places: Places<'a>,
    version: Version,
    /// Whether all is written that there is.
    exact: bool,
    consts: Option<&'a [String]>,
    names: Vec<String>,
    locals: Vec<String>,
    cells: Vec<String>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(code: &'a Code, consts: Option<&'a [String]>, exact: bool) -> Self {
        Self {
            text: String::new(),
            places: if exact { Places::by_id(code) } else { Places::in_order(code) },
            version: code.version,
            exact,
            consts,
            names: named(code.names.iter()),
            locals: named(code.varnames.iter()),
            cells: named(code.cellvars.iter().chain(&code.freevars)),
        }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn word(&mut self, word: &str) -> &mut Self {
        self.text.push(' ');
        self.text.push_str(word);
        self
    }

    pub(super) fn flag(&mut self, word: &str, set: bool) -> &mut Self {
        if set { self.word(word) } else { self }
    }

    /// A flag that no reader misses.
    pub(super) fn exact_flag(&mut self, word: &str, set: bool) -> &mut Self {
        self.flag(word, set && self.exact)
    }

    pub(super) fn number(&mut self, number: u32) -> &mut Self {
        self.word(&number.to_string())
    }

    pub(super) fn constant(&mut self, id: ConstId) -> &mut Self {
        self.number(id.0);
        match self.consts.and_then(|consts| consts.get(id.0 as usize)) {
            Some(shown) => self.word(&format!("({})", shown.escape_debug())),
            None => self,
        }
    }

    pub(super) fn name(&mut self, id: NameId) -> &mut Self {
        let word = item(&self.names, id.0);
        self.word(&word)
    }

    pub(super) fn local(&mut self, id: Local) -> &mut Self {
        let word = item(&self.locals, id.0);
        self.word(&word)
    }

    pub(super) fn cell(&mut self, id: Cell) -> &mut Self {
        let word = item(&self.cells, id.0);
        self.word(&word)
    }

    pub(super) fn label(&mut self, label: Label) -> &mut Self {
        let word = self.places.label(label);
        self.word(&word)
    }
}

/// The items of a list by name, or by number where an earlier item has the name.
fn named<'a>(list: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let word =
        |(index, name): (usize, &'a String)| if seen.insert(name) { lexer::quoted(name) } else { format!("#{index}") };
    list.enumerate().map(word).collect()
}

fn item(words: &[String], index: u32) -> String {
    words.get(index as usize).cloned().unwrap_or_else(|| format!("#{index}"))
}

//! The operands of one instruction, taken in order; flags come in any order behind them.

use super::items::Item;
use super::lexer::{self, Parsed, Word};
use super::symbols::Symbols;
use crate::{BinaryOp, Cell, ConstId, Label, Local, NameId, Version};

/// What is still to be taken.
pub(super) struct Operands<'p, 't> {
    mnemonic: &'p str,
    rest: Vec<&'p Word<'t>>,
    symbols: &'p mut Symbols,
}

impl<'p, 't> Operands<'p, 't> {
    pub(super) fn new(mnemonic: &'p str, words: &'p [Word<'t>], symbols: &'p mut Symbols) -> Self {
        Self { mnemonic, rest: words.iter().collect(), symbols }
    }

    /// Refuses what no one took.
    pub(super) fn finish(self) -> Parsed<()> {
        let Some(word) = self.rest.first() else { return Ok(()) };
        Err(format!("`{}` is too much behind {}", word.text, self.mnemonic))
    }

    fn next(&mut self) -> Option<&'p Word<'t>> {
        (!self.rest.is_empty()).then(|| self.rest.remove(0))
    }

    fn take(&mut self, what: &str) -> Parsed<&'p Word<'t>> {
        self.next().ok_or_else(|| format!("{} needs {what}", self.mnemonic))
    }

    pub(super) fn version(&self) -> Version {
        self.symbols.version
    }

    /// An item of a closed set.
    pub(super) fn item<T: Item>(&mut self) -> Parsed<T> {
        let item = self.next().and_then(Word::bare).and_then(T::of_word);
        item.ok_or_else(|| self.choices::<T>())
    }

    /// A binary operator, in place with `=` behind it.
    pub(super) fn operator(&mut self) -> Parsed<(BinaryOp, bool)> {
        let word = self.next().and_then(Word::bare).unwrap_or_default();
        let (op, inplace) = word.strip_suffix('=').map_or((word, false), |op| (op, true));
        let op = BinaryOp::of_word(op);
        op.map(|op| (op, inplace)).ok_or_else(|| self.choices::<BinaryOp>() + ", with = behind it if in place")
    }

    fn choices<T: Item>(&self) -> String {
        let words: Vec<&str> = T::ALL.iter().map(|(_, word)| *word).collect();
        format!("{} needs one of {}", self.mnemonic, words.join(" "))
    }

    /// The flag is there.
    pub(super) fn flag(&mut self, flag: &str) -> bool {
        let found = self.rest.iter().position(|word| word.bare() == Some(flag));
        found.map(|at| self.rest.remove(at)).is_some()
    }

    pub(super) fn number(&mut self) -> Parsed<u32> {
        lexer::number(self.take("a number")?)
    }

    pub(super) fn constant(&mut self) -> Parsed<ConstId> {
        lexer::number(self.take("the number of a constant")?).map(ConstId)
    }

    pub(super) fn name(&mut self) -> Parsed<NameId> {
        let word = self.take("a name")?;
        self.symbols.names.find(word).map(NameId)
    }

    pub(super) fn local(&mut self) -> Parsed<Local> {
        let word = self.take("a local")?;
        self.symbols.locals.find(word).map(Local)
    }

    pub(super) fn cell(&mut self) -> Parsed<Cell> {
        let word = self.take("a cell or free variable")?;
        self.symbols.cells.find(word).map(Cell)
    }

    /// A label by its number in the text, which becomes an id when the text is whole.
    pub(super) fn label(&mut self) -> Parsed<Label> {
        let word = self.take("a label")?;
        self.symbols.label(word)
    }
}

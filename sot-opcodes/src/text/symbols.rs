//! What operands may name: the code's lists of names, and places. Known as far as the text was read.

use super::lexer::{self, Parsed, Word};
use super::places::PlaceName;
use crate::{Label, Version};
use std::collections::{BTreeMap, HashMap};

/// Labels have their numbers in the text.
pub(super) struct Symbols {
    pub(super) version: Version,
    pub(super) names: List,
    pub(super) locals: List,
    pub(super) cells: List,
    pub(super) places: BTreeMap<PlaceName, Mention>,
    /// The line being read, 1-based.
    pub(super) line: usize,
}

/// A place that was used or defined.
pub(super) struct Mention {
    pub(super) first_line: usize,
    /// Instruction index, and the line that says so.
    pub(super) defined: Option<(usize, usize)>,
}

/// The names of one kind and their indices.
#[derive(Default)]
pub(super) struct List {
    title: &'static str,
    len: u32,
    /// The first of equal names.
    index: HashMap<String, u32>,
}

impl List {
    pub(super) fn new<'a>(title: &'static str, names: impl Iterator<Item = &'a String>) -> Self {
        let mut list = Self { title, ..Self::default() };
        for name in names {
            list.index.entry(name.clone()).or_insert(list.len);
            list.len += 1;
        }
        list
    }

    /// The index of a name, or of `#index`.
    pub(super) fn find(&self, word: &Word<'_>) -> Parsed<u32> {
        let Self { title, len, .. } = self;
        if let Some(digits) = word.bare().and_then(|word| word.strip_prefix('#')) {
            let index = lexer::decimal(digits).filter(|index| index < len);
            return index.ok_or_else(|| format!("there is no #{digits}: {title} has {len} names, from #0"));
        }
        self.index.get(&*word.text).copied().ok_or_else(|| format!("{:?} is not in {title}", word.text))
    }
}

impl Symbols {
    pub(super) fn new(version: Version) -> Self {
        Self {
            version,
            names: List::default(),
            locals: List::default(),
            cells: List::default(),
            places: BTreeMap::new(),
            line: 0,
        }
    }

    pub(super) fn mention(&mut self, place: PlaceName) -> &mut Mention {
        self.places.entry(place).or_insert(Mention { first_line: self.line, defined: None })
    }

    /// A label as an operand.
    pub(super) fn label(&mut self, word: &Word<'_>) -> Parsed<Label> {
        match word.bare().and_then(place) {
            Some(place @ PlaceName::Label(number)) => {
                self.mention(place);
                Ok(Label(number))
            }
            _ => Err(format!("`{}` is no label: write L and a number", word.text)),
        }
    }
}

/// The place of a name.
pub(super) fn place(name: &str) -> Option<PlaceName> {
    let number = |digits: &str| if digits.is_empty() { None } else { lexer::decimal(digits) };
    match name.strip_prefix('R') {
        Some(digits) => number(digits).map(PlaceName::Mark),
        None => number(name.strip_prefix('L')?).map(PlaceName::Label),
    }
}

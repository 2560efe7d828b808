//! What the places of a text (before an instruction, or at the end) are called.

use crate::{Code, Label, Version};
use std::collections::BTreeMap;
use std::fmt;

/// The name of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum PlaceName {
    /// One of `Code::labels`.
    Label(u32),
    /// A bound of regions that is no label.
    Mark(u32),
}

impl fmt::Display for PlaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(number) => write!(f, "L{number}"),
            Self::Mark(number) => write!(f, "R{number}"),
        }
    }
}

/// The names of all places of a code object.
pub(super) struct Places<'a> {
    code: &'a Code,
    by_id: bool,
    /// By index of the instruction.
    at: BTreeMap<usize, Vec<PlaceName>>,
}

impl<'a> Places<'a> {
    /// All labels, by their ids, and marks where regions begin or end between them.
    pub(super) fn by_id(code: &'a Code) -> Self {
        let mut at: BTreeMap<usize, Vec<PlaceName>> = BTreeMap::new();
        for (id, index) in code.labels.iter().enumerate() {
            at.entry(*index).or_default().push(PlaceName::Label(id as u32));
        }
        for index in bounds(code) {
            at.entry(index).or_default();
        }
        let unnamed = at.values_mut().filter(|names| names.is_empty());
        for (number, names) in unnamed.enumerate() {
            names.push(PlaceName::Mark(number as u32));
        }
        Self { code, by_id: true, at }
    }

    /// Only what is used, all called labels and numbered in order: nothing moves when an unused label comes or goes.
    pub(super) fn in_order(code: &'a Code) -> Self {
        let jumps = code.instrs.iter().filter_map(|i| i.op.target());
        let used = jumps.chain(code.regions.iter().map(|r| r.handler));
        let used = used.filter_map(|label| code.labels.get(label.0 as usize).copied());
        let places = used.chain(bounds(code)).filter(|index| *index <= code.instrs.len());
        let mut at: BTreeMap<usize, Vec<PlaceName>> = places.map(|index| (index, Vec::new())).collect();
        for (number, names) in at.values_mut().enumerate() {
            names.push(PlaceName::Label(number as u32));
        }
        Self { code, by_id: false, at }
    }

    /// The names of a place, each with its colon.
    pub(super) fn definitions(&self, index: usize) -> String {
        let names = self.at.get(&index).map_or(&[][..], Vec::as_slice);
        names.iter().map(|name| format!("{name}:")).collect::<Vec<_>>().join(" ")
    }

    /// How a label is named where it is used. A label that the code does not have is shown as one.
    pub(super) fn label(&self, label: Label) -> String {
        if self.by_id {
            return PlaceName::Label(label.0).to_string();
        }
        self.code.labels.get(label.0 as usize).map_or_else(|| "L?".to_owned(), |index| self.bound(*index))
    }

    /// How the bound of a region is named.
    pub(super) fn bound(&self, index: usize) -> String {
        self.at.get(&index).and_then(|names| names.first()).map_or_else(|| "L?".to_owned(), PlaceName::to_string)
    }
}

/// Where the regions of the text begin and end.
fn bounds(code: &Code) -> impl Iterator<Item = usize> {
    let written = code.version >= Version::V311;
    code.regions.iter().filter(move |_| written).flat_map(|region| [region.start, region.end])
}

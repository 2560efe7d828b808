//! The corpus as inputs of each target.

use super::Target;
use super::form::{self, Field};
use crate::corpus;
use sot_opcodes::{RawCode, Version, decode, text};

pub(super) fn of(target: Target) -> Vec<Vec<u8>> {
    let codes = Version::ALL.into_iter().flat_map(corpus::corpus);
    codes
        .map(|raw| match target {
            Target::Decode => bytes(&renamed(raw)),
            Target::Encode => bytes(&decode(&renamed(raw)).expect("corpus")),
            Target::Text => text::print_exact(&decode(&raw).expect("corpus"), None).into_bytes(),
        })
        .collect()
}

fn bytes(item: &impl Field) -> Vec<u8> {
    let mut bytes = Vec::new();
    item.write(&mut bytes);
    bytes
}

/// The same code with the names that inputs have; what had the same name has it still.
fn renamed(mut raw: RawCode) -> RawCode {
    let mut known: Vec<String> = Vec::new();
    let lists = [&mut raw.varnames, &mut raw.cellvars, &mut raw.freevars, &mut raw.names];
    let own = [&mut raw.filename, &mut raw.name, &mut raw.qualname];
    for old in lists.into_iter().flatten().chain(own) {
        let number = known.iter().position(|name| name == old).unwrap_or_else(|| {
            known.push(old.clone());
            known.len() - 1
        });
        // No code of the corpus has as many names as there are; the last one would do for several.
        *old = form::name(number.min(239) as u8);
    }
    raw
}

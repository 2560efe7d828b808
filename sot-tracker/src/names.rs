//! How slots and objects are called in text: the caller knows, this crate does not.

use crate::ObjectId;

/// Names for printing. None may contain a newline.
pub trait Names {
    /// A slot as a whole expression: `locals["x"]`, `stack[2]`.
    fn slot(&self, slot: u32) -> String;
    /// An object: `3`, `"k"`, `int`, `globals`, `<function f>`. Never an address.
    fn object(&self, object: ObjectId) -> String;
    /// What the backend check of this number expects: `float32[2, 3] cpu`. Empty: nothing is said.
    fn tensor(&self, _check: u32) -> String {
        String::new()
    }
}

/// Names made of numbers: `slot_0`, `obj_3`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbered;

impl Names for Numbered {
    fn slot(&self, slot: u32) -> String {
        format!("slot_{slot}")
    }

    fn object(&self, object: ObjectId) -> String {
        format!("obj_{}", object.0)
    }
}

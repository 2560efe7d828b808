//! A hash of the structure: equal for graphs that differ in numbering only.
//!
//! Not part of the hash: names of SIRs, numbers of symbols, numbers of objects (both count by first use). Part of
//! it: order of SIRs, inputs, statements, operands and outputs, which uses are the same symbol or object, kinds,
//! names of what is called, keyword names in order, literals by their exact value, labels of objects.
//!
//! In a module, `call_sir` counts by the position of its target and objects are numbered across all SIRs; in a
//! single SIR it counts by name. The function is FNV-1a with 128 bits: stable over processes, machines and versions
//! of Rust, good enough for cache keys that no one attacks.

use crate::{Literal, Module, ObjectRef, Operand, Sir, Statement, StatementKind, Symbol};
use hashbrown::HashMap;
use std::fmt;

/// The hash; prints as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StructuralHash(pub u128);

impl fmt::Display for StructuralHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Sir {
    /// The hash of this SIR by itself.
    pub fn structural_hash(&self) -> StructuralHash {
        let mut hasher = Hasher::default();
        hasher.sir(self, &HashMap::new());
        StructuralHash(hasher.state)
    }
}

impl Module {
    /// The hash of the module.
    pub fn structural_hash(&self) -> StructuralHash {
        let mut hasher = Hasher::default();
        let mut positions: HashMap<&str, usize> = HashMap::new();
        hasher.number(self.sirs.len() as u64);
        for (index, sir) in self.sirs.iter().enumerate() {
            hasher.sir(sir, &positions);
            positions.insert(&sir.name, index);
        }
        StructuralHash(hasher.state)
    }
}

struct Hasher {
    state: u128,
    symbols: HashMap<Symbol, u64>,
    objects: HashMap<ObjectRef, u64>,
}

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher { state: 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, symbols: HashMap::new(), objects: HashMap::new() }
    }
}

impl Hasher {
    fn byte(&mut self, byte: u8) {
        self.state ^= u128::from(byte);
        self.state = self.state.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }

    fn number(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|b| self.byte(b));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        text.bytes().for_each(|b| self.byte(b));
    }

    fn symbol(&mut self, symbol: Symbol) {
        let next = self.symbols.len() as u64;
        let number = *self.symbols.entry(symbol).or_insert(next);
        self.number(number);
    }

    fn object(&mut self, object: ObjectRef) {
        let next = self.objects.len() as u64;
        let number = *self.objects.entry(object).or_insert(next);
        self.number(number);
    }

    fn sir(&mut self, sir: &Sir, positions: &HashMap<&str, usize>) {
        self.symbols.clear();
        self.number(sir.inputs.len() as u64);
        sir.inputs.iter().for_each(|s| self.symbol(*s));
        self.number(sir.statements.len() as u64);
        sir.statements.iter().for_each(|s| self.statement(s, positions));
        self.number(sir.outputs.len() as u64);
        sir.outputs.iter().for_each(|s| self.symbol(*s));
    }

    fn statement(&mut self, statement: &Statement, positions: &HashMap<&str, usize>) {
        let target = match statement.kind {
            StatementKind::Api => {
                self.byte(0);
                None
            }
            StatementKind::Method => {
                self.byte(1);
                None
            }
            StatementKind::Layer => {
                self.byte(2);
                None
            }
            StatementKind::Sir => {
                self.byte(3);
                positions.get(statement.name.as_str())
            }
        };
        match target {
            Some(position) => {
                self.byte(1);
                self.number(*position as u64);
            }
            None => {
                self.byte(0);
                self.text(&statement.name);
            }
        }
        match statement.callee {
            Some(callee) => {
                self.byte(1);
                self.object(callee);
            }
            None => self.byte(0),
        }
        self.operands(&statement.args);
        self.number(statement.kwargs.len() as u64);
        for (name, value) in &statement.kwargs {
            self.text(name);
            self.operand(value);
        }
        self.operand(&statement.result);
    }

    fn operands(&mut self, operands: &[Operand]) {
        self.number(operands.len() as u64);
        operands.iter().for_each(|o| self.operand(o));
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Symbol(symbol) => {
                self.byte(0);
                self.symbol(*symbol);
            }
            Operand::Literal(literal) => {
                self.byte(1);
                self.literal(literal);
            }
            Operand::Object { object, label } => {
                self.byte(2);
                self.object(*object);
                self.text(label);
            }
            Operand::Tuple(items) => {
                self.byte(3);
                self.operands(items);
            }
            Operand::List(items) => {
                self.byte(4);
                self.operands(items);
            }
            Operand::Dict(items) => {
                self.byte(5);
                self.number(items.len() as u64);
                for (key, value) in items {
                    self.operand(key);
                    self.operand(value);
                }
            }
            Operand::Slice(parts) => {
                self.byte(6);
                parts.iter().for_each(|o| self.operand(o));
            }
        }
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::None => self.byte(0),
            Literal::Bool(v) => {
                self.byte(1);
                self.byte(u8::from(*v));
            }
            Literal::Int(v) => {
                self.byte(2);
                self.number(v.cast_unsigned());
            }
            Literal::Float(v) => {
                self.byte(3);
                self.number(v.to_bits());
            }
            Literal::Str(v) => {
                self.byte(4);
                self.text(v);
            }
            Literal::Ellipsis => self.byte(5),
        }
    }
}

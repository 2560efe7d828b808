//! What this side of the connection does: code objects from JSON, decoded, encoded, and back; and timed.

use super::{hex, pad};
use serde::{Deserialize, Serialize};
use sot_opcodes::{Code, CodeFlags, DecodeError, RawCode, Version, decode, encode};
use std::time::{Duration, Instant};

/// A code object as `xtask/py/roundtrip/link.py` sends it.
#[derive(Deserialize)]
pub(super) struct Sent {
    argcount: u32,
    posonlyargcount: u32,
    kwonlyargcount: u32,
    stacksize: u32,
    flags: u32,
    firstlineno: u32,
    names: Vec<String>,
    varnames: Vec<String>,
    cellvars: Vec<String>,
    freevars: Vec<String>,
    filename: String,
    name: String,
    qualname: String,
    #[serde(deserialize_with = "hex::deserialize")]
    code: Vec<u8>,
    #[serde(deserialize_with = "hex::deserialize")]
    linetable: Vec<u8>,
    #[serde(deserialize_with = "hex::deserialize")]
    exceptiontable: Vec<u8>,
}

impl Sent {
    fn raw(self, version: Version) -> RawCode {
        RawCode {
            version,
            argcount: self.argcount,
            posonlyargcount: self.posonlyargcount,
            kwonlyargcount: self.kwonlyargcount,
            stacksize: self.stacksize,
            flags: CodeFlags::from_bits_retain(self.flags),
            code: self.code,
            names: self.names,
            varnames: self.varnames,
            cellvars: self.cellvars,
            freevars: self.freevars,
            filename: self.filename,
            name: self.name,
            qualname: self.qualname,
            firstlineno: self.firstlineno,
            linetable: self.linetable,
            exceptiontable: self.exceptiontable,
        }
    }
}

/// The answer for one code object.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Recoded {
    Made { code: String, linetable: String, exceptiontable: String, stacksize: u32 },
    Failed { error: &'static str, detail: String },
}

/// What the bytes that the interpreter runs are, beside those of `co_code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Warmth {
    /// The same bytes.
    Same,
    /// Other bytes that decode to the same.
    Specialised,
    /// They decode to something else, or not at all.
    Different,
}

/// Decodes and encodes, and knows how much it did.
pub(super) struct Recoder {
    version: Version,
    padded: bool,
    /// How often each code object is done; of its times the shortest counts.
    rounds: u32,
    pub(super) codes: usize,
    /// Normalised instructions.
    pub(super) instrs: usize,
    pub(super) decoding: Duration,
    pub(super) encoding: Duration,
}

impl Recoder {
    pub(super) fn new(version: Version) -> Self {
        Self {
            version,
            padded: false,
            rounds: 1,
            codes: 0,
            instrs: 0,
            decoding: Duration::ZERO,
            encoding: Duration::ZERO,
        }
    }

    pub(super) fn padded(self, padded: bool) -> Self {
        Self { padded, ..self }
    }

    pub(super) fn rounds(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }

    pub(super) fn recode(&mut self, sent: Sent) -> Recoded {
        let raw = sent.raw(self.version);
        self.codes += 1;
        match self.run(&raw) {
            Ok(new) => Recoded::Made {
                code: hex::encode(&new.code),
                linetable: hex::encode(&new.linetable),
                exceptiontable: hex::encode(&new.exceptiontable),
                stacksize: new.stacksize,
            },
            Err((error, detail)) => Recoded::Failed { error, detail },
        }
    }

    fn run(&mut self, raw: &RawCode) -> Result<RawCode, (&'static str, String)> {
        let mut shortest = (Duration::MAX, Duration::MAX);
        let mut made = None;
        for _ in 0..self.rounds {
            let start = Instant::now();
            let decoded = decode(raw).map_err(|error| ("decode", error.to_string()))?;
            shortest.0 = shortest.0.min(start.elapsed());
            let code = if self.padded { pad::pad(decoded) } else { decoded };
            let start = Instant::now();
            let encoded = encode(&code).map_err(|error| ("encode", error.to_string()))?;
            shortest.1 = shortest.1.min(start.elapsed());
            made = Some((code.instrs.len(), encoded));
        }
        let (instrs, new) = made.ok_or_else(|| ("encode", "no rounds".to_owned()))?;
        self.instrs += instrs;
        self.decoding += shortest.0;
        self.encoding += shortest.1;
        if !same_attributes(raw, &new) {
            return Err(("attributes", "names, flags or counts changed".to_owned()));
        }
        Ok(new)
    }

    /// Compares what `co_code` and other bytes of the same code object decode to.
    pub(super) fn compare(&self, sent: Sent, other: Vec<u8>) -> (Warmth, String) {
        let raw = sent.raw(self.version);
        if raw.code == other {
            return (Warmth::Same, String::new());
        }
        let warm = RawCode { code: other, ..raw.clone() };
        judge(&decode(&raw), &decode(&warm))
    }
}

fn judge(cold: &Result<Code, DecodeError>, warm: &Result<Code, DecodeError>) -> (Warmth, String) {
    match (cold, warm) {
        (Ok(cold), Ok(warm)) if cold == warm => (Warmth::Specialised, String::new()),
        (Ok(cold), Ok(warm)) => {
            let at = cold.instrs.iter().zip(&warm.instrs).position(|(a, b)| a != b);
            let detail = at.map_or_else(
                || "not the same number of instructions".to_owned(),
                |at| format!("number {at}: {:?} became {:?}", cold.instrs[at], warm.instrs[at]),
            );
            (Warmth::Different, detail)
        }
        (_, Err(error)) | (Err(error), _) => (Warmth::Different, error.to_string()),
    }
}

/// Whether all that `encode` only carries along is as it was.
fn same_attributes(old: &RawCode, new: &RawCode) -> bool {
    let counts = |raw: &RawCode| (raw.argcount, raw.posonlyargcount, raw.kwonlyargcount, raw.flags, raw.firstlineno);
    fn names(raw: &RawCode) -> [&[String]; 4] {
        [&raw.names, &raw.varnames, &raw.cellvars, &raw.freevars]
    }
    fn words(raw: &RawCode) -> [&str; 3] {
        [&raw.filename, &raw.name, &raw.qualname]
    }
    counts(old) == counts(new) && names(old) == names(new) && words(old) == words(new)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sot_opcodes::CodeBuilder;

    /// A code object without instructions.
    pub(in crate::roundtrip) fn nothing() -> Code {
        CodeBuilder::empty(Version::V311, "", "", 1).finish()
    }

    /// RESUME 0; LOAD_CONST 0; RETURN_VALUE of 3.11, on line 1.
    const SENT: &str = r#"{"argcount": 0, "posonlyargcount": 0, "kwonlyargcount": 0, "stacksize": 1, "flags": 3,
        "firstlineno": 1, "names": [], "varnames": [], "cellvars": [], "freevars": [], "filename": "f", "name": "n",
        "qualname": "n", "code": "970064005300", "linetable": "f002000100", "exceptiontable": ""}"#;

    fn sent(text: &str) -> Sent {
        serde_json::from_str(text).expect("a code object")
    }

    #[test]
    fn a_code_object_comes_back() {
        let mut recoder = Recoder::new(Version::V311).rounds(3);
        let answer = serde_json::to_value(recoder.recode(sent(SENT))).expect("JSON");
        assert_eq!(answer["code"], "970064005300", "{answer}");
        assert_eq!(answer["stacksize"], 1);
        assert_eq!((recoder.codes, recoder.instrs), (1, 3));
    }

    #[test]
    fn what_cannot_be_decoded_is_told() {
        let mut recoder = Recoder::new(Version::V311);
        let answer = serde_json::to_value(recoder.recode(sent(&SENT.replace("5300", "53")))).expect("JSON");
        assert_eq!(answer["error"], "decode");
    }

    #[test]
    fn warm_code_is_judged_by_what_it_means() {
        let (cold, mut other) = (nothing(), nothing());
        assert_eq!(judge(&Ok(cold.clone()), &Ok(other.clone())).0, Warmth::Specialised);
        other.labels.push(0);
        assert_eq!(judge(&Ok(cold.clone()), &Ok(other)).0, Warmth::Different);
        assert_eq!(judge(&Ok(cold), &Err(DecodeError::TooLong)).0, Warmth::Different);
    }
}

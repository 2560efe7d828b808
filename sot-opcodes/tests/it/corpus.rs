//! The code objects of `tests/corpus/program.py` as each version compiles them.

use sot_opcodes::{CodeFlags, RawCode, Version};

/// All code objects of one version, in the order of the source.
pub(crate) fn corpus(version: Version) -> Vec<RawCode> {
    let text = match version {
        Version::V38 => include_str!("../corpus/v38.txt"),
        Version::V39 => include_str!("../corpus/v39.txt"),
        Version::V310 => include_str!("../corpus/v310.txt"),
        Version::V311 => include_str!("../corpus/v311.txt"),
        Version::V312 => include_str!("../corpus/v312.txt"),
        Version::V313 => include_str!("../corpus/v313.txt"),
    };
    let mut codes: Vec<RawCode> = Vec::new();
    for line in text.lines().skip(1) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        if key == "code" {
            codes.push(empty(version, value.trim_matches('"')));
            continue;
        }
        let code = codes.last_mut().expect("a code line first");
        let number = || value.parse().expect("a number");
        let names = || value.split_whitespace().map(str::to_owned).collect();
        match key {
            "argcount" => code.argcount = number(),
            "posonlyargcount" => code.posonlyargcount = number(),
            "kwonlyargcount" => code.kwonlyargcount = number(),
            "stacksize" => code.stacksize = number(),
            "flags" => code.flags = CodeFlags::from_bits_retain(number()),
            "firstlineno" => code.firstlineno = number(),
            "names" => code.names = names(),
            "varnames" => code.varnames = names(),
            "cellvars" => code.cellvars = names(),
            "freevars" => code.freevars = names(),
            "qualname" => code.qualname = value.to_owned(),
            "bytes" => code.code = unhex(value),
            "lines" => code.linetable = unhex(value),
            "exceptions" => code.exceptiontable = unhex(value),
            other => panic!("{other}?"),
        }
    }
    codes
}

/// The corpus of all versions.
pub(crate) fn all() -> impl Iterator<Item = RawCode> {
    Version::ALL.into_iter().flat_map(corpus)
}

/// One function of the corpus.
pub(crate) fn function(version: Version, name: &str) -> RawCode {
    corpus(version).into_iter().find(|code| code.name == name).expect("a function of program.py")
}

/// Code without instructions.
pub(crate) fn empty(version: Version, name: &str) -> RawCode {
    RawCode {
        version,
        argcount: 0,
        posonlyargcount: 0,
        kwonlyargcount: 0,
        stacksize: 0,
        flags: CodeFlags::empty(),
        code: Vec::new(),
        names: Vec::new(),
        varnames: Vec::new(),
        cellvars: Vec::new(),
        freevars: Vec::new(),
        filename: "program.py".to_owned(),
        name: name.to_owned(),
        qualname: String::new(),
        firstlineno: 1,
        linetable: Vec::new(),
        exceptiontable: Vec::new(),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

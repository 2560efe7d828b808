//! `cargo xtask codegen [--check]`: the opcode tables of sot-opcodes, read from the interpreters themselves.
//!
//! For each supported version one small script runs in that interpreter and prints its opcodes, the
//! base of each specialised or instrumented form and the inline cache sizes; the result is written to
//! `sot-opcodes/src/tables/v3xx.rs`, and the union of all base names to `tables/raw.rs`. `--check` writes
//! nothing and fails when a file differs. The same for `sot-opcodes/tests/corpus/v3xx.txt`, the code objects of
//! `program.py` as each version compiles it, on which that crate's tests run without Python. A version whose interpreter
//! is not installed is skipped by `--check` (said on stderr) and is an error otherwise, because `raw.rs` is the union of
//! all.

use crate::interpreter;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = r#"
import dis, opcode, sys
opmap = {n: o for n, o in opcode.opmap.items() if o < 256}
base = {}
for b, names in getattr(opcode, "_specializations", {}).items():
    for n in names:
        base[n] = b
every = dict(getattr(dis, "_all_opmap", {}) or opmap)
every.update(getattr(opcode, "_specialized_opmap", {}))
every.update(opmap)
cache = getattr(opcode, "_inline_cache_entries", {})
if isinstance(cache, list):
    cache = {opcode.opname[i]: c for i, c in enumerate(cache)}
for n, o in sorted(every.items(), key=lambda x: x[1]):
    if o > 255:
        continue
    b = base.get(n, n)
    plain = n[len("INSTRUMENTED_"):]
    if n.startswith("INSTRUMENTED_") and plain in opmap:
        b = plain
    print("op", o, n, b, cache.get(b, 0))
print("compare", *[c.replace(" ", "_") for c in opcode.cmp_op])
print("binary", *[n for n, _ in getattr(opcode, "_nb_ops", [])])
print("intrinsic1", *getattr(opcode, "_intrinsic_1_descs", []))
print("intrinsic2", *getattr(opcode, "_intrinsic_2_descs", []))
"#;

/// Prints the attributes of all code objects of the program named on the command line.
const CORPUS: &str = r##"
import json, sys, types
late = sys.version_info >= (3, 11)
lines, source = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab", []
for line in open(sys.argv[1], encoding="utf-8").read().split("\n"):
    if line.startswith("# from 3.") and sys.version_info < (3, int(line[9:])):
        break
    source.append(line)
def visit(code):
    print("code", json.dumps(code.co_name))
    for n in ("argcount", "posonlyargcount", "kwonlyargcount", "stacksize", "flags", "firstlineno"):
        print(n, getattr(code, "co_" + n))
    for n in ("names", "varnames", "cellvars", "freevars"):
        print(n, *getattr(code, "co_" + n))
    print("qualname", code.co_qualname if late else "")
    print("bytes", code.co_code.hex())
    print("lines", getattr(code, lines).hex())
    print("exceptions", code.co_exceptiontable.hex() if late else "")
    for c in code.co_consts:
        if isinstance(c, types.CodeType): visit(c)
print("python", sys.version.split()[0])
visit(compile("\n".join(source) + "\n", "program.py", "exec", dont_inherit=True))
"##;

struct Opcode {
    number: u8,
    name: String,
    base: String,
    caches: u8,
}

struct Dump {
    minor: u8,
    opcodes: Vec<Opcode>,
    /// `(constant name, words)` of the operand tables.
    words: Vec<(String, Vec<String>)>,
}

pub(crate) fn run(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sot-opcodes");
    let (dir, corpus) = (root.join("src/tables"), root.join("tests/corpus"));
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let installed = interpreter::installed();
    let mut dumps = Vec::new();
    for minor in interpreter::SUPPORTED {
        match installed.iter().find(|python| python.version.1 == minor) {
            Some(python) => {
                let program = corpus.join("program.py");
                let text = output(&python.executable, CORPUS, Some(&program))?;
                files.push((corpus.join(format!("v3{minor}.txt")), text));
                dumps.push(dump(minor, &python.executable)?);
            }
            None if check => eprintln!("codegen: no CPython 3.{minor} here, its table is not checked"),
            None => return Err(format!("no CPython 3.{minor} found in pyenv or on PATH")),
        }
    }
    files.extend(dumps.iter().map(|d| (dir.join(format!("v3{}.rs", d.minor)), render(d))));
    if dumps.len() == interpreter::SUPPORTED.len() {
        files.push((dir.join("raw.rs"), render_raw(&dumps)));
    }
    let mut stale = Vec::new();
    for (path, text) in &files {
        let old = std::fs::read_to_string(path).unwrap_or_default();
        if old == *text || (check && other_patch(&old, text)) {
            continue;
        }
        if check {
            stale.push(path.display().to_string());
        } else {
            std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    if stale.is_empty() {
        eprintln!("codegen: {} files up to date", files.len());
        Ok(())
    } else {
        Err(format!("stale, run `cargo xtask codegen`: {}", stale.join(", ")))
    }
}

/// The corpus was compiled by another patch release, which may compile differently.
fn other_patch(old: &str, new: &str) -> bool {
    let release = |text: &str| text.lines().next().filter(|line| line.starts_with("python ")).map(str::to_owned);
    release(old).is_some() && release(new).is_some() && release(old) != release(new)
}

/// What a script prints.
fn output(python: &Path, script: &str, argument: Option<&Path>) -> Result<String, String> {
    let out = Command::new(python)
        .args(["-I", "-W", "ignore", "-c", script])
        .args(argument)
        .output()
        .map_err(|e| format!("{}: {e}", python.display()))?;
    if !out.status.success() {
        return Err(format!("{}: {}", python.display(), String::from_utf8_lossy(&out.stderr)));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn dump(minor: u8, python: &Path) -> Result<Dump, String> {
    let text = output(python, SCRIPT, None)?;
    let mut dump = Dump { minor, opcodes: Vec::new(), words: Vec::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["op", number, name, base, caches] => dump.opcodes.push(Opcode {
                number: number.parse().map_err(|_| line.to_owned())?,
                name: (*name).to_owned(),
                base: (*base).to_owned(),
                caches: caches.parse().map_err(|_| line.to_owned())?,
            }),
            [table, rest @ ..] => {
                dump.words.push((table.to_uppercase(), rest.iter().map(|w| (*w).to_owned()).collect()));
            }
            [] => {}
        }
    }
    Ok(dump)
}

/// `LOAD_FAST__LOAD_FAST` -> `LoadFastLoadFast`.
fn camel(name: &str) -> String {
    name.split('_')
        .filter(|word| !word.is_empty())
        .map(|word| word[..1].to_owned() + &word[1..].to_lowercase())
        .collect()
}

fn render(dump: &Dump) -> String {
    let mut out = format!(
        "//! Opcodes of CPython 3.{}. Generated by `cargo xtask codegen`; do not edit.\n\n\
         use super::Row;\nuse super::raw::Raw;\n\n#[rustfmt::skip]\npub(super) const ROWS: &[Row] = &[\n",
        dump.minor
    );
    for op in &dump.opcodes {
        let kind = if op.name == op.base { "own" } else { "form" };
        let note = if op.name == op.base { String::new() } else { format!(" // {}", op.name) };
        let _ = writeln!(out, "    Row::{kind}({}, Raw::{}, {}),{note}", op.number, camel(&op.base), op.caches);
    }
    out.push_str("];\n");
    for (name, words) in &dump.words {
        let _ = writeln!(out, "\n#[cfg(test)]\n#[rustfmt::skip]\npub(super) const {name}: &[&str] = &[");
        for word in words {
            let _ = writeln!(out, "    {word:?},");
        }
        out.push_str("];\n");
    }
    out
}

fn render_raw(dumps: &[Dump]) -> String {
    let names: BTreeSet<&str> = dumps.iter().flat_map(|d| &d.opcodes).map(|op| op.base.as_str()).collect();
    let mut out = String::from(
        "//! Every opcode of CPython 3.8 to 3.13 that is not a specialised or instrumented form of another.\n\
         //! Generated by `cargo xtask codegen`; do not edit.\n\n\
         #[rustfmt::skip]\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(u8)]\npub(crate) enum Raw {\n",
    );
    for name in &names {
        let _ = writeln!(out, "    {},", camel(name));
    }
    let _ = writeln!(out, "}}\n\nimpl Raw {{\n    pub(crate) const COUNT: usize = {};\n", names.len());
    out.push_str("    /// CPython's name.\n    #[rustfmt::skip]\n    pub(crate) const fn name(self) -> &'static str {\n        match self {\n");
    for name in &names {
        let _ = writeln!(out, "            Self::{} => {name:?},", camel(name));
    }
    out.push_str("        }\n    }\n}\n");
    out
}

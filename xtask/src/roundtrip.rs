//! `cargo xtask roundtrip [--python 3.x] PATH...`: decode and encode every code object of real programs.
//!
//! The interpreter compiles each `.py` file under the paths and sends the attributes of its code objects;
//! sot-opcodes decodes and encodes them; the interpreter builds the result with `CodeType` and compares: bytes, or
//! else instructions and jump targets one by one; lines and columns of each instruction; exception table; stack size.
//! `--test MODULE...` instead runs the standard library's own tests of those modules (`test_json`) with every
//! function of every imported module replaced by its re-encoded form, and with `--pad` a NOP put before most
//! instructions, so that every jump, handler and table is made anew. `--time` measures decode + encode (wall time).
//!
//! Some test modules (`test_decimal`, `test_pickle` of old versions) fail under a plain unittest loader in any case.
//!
//! The two sides talk JSON lines over a local socket, the interpreter asking and this process answering.

use crate::interpreter::{self, Interpreter};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sot_opcodes::{Code, CodeFlags, Instr, Op, RawCode, Version, decode, encode};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: cargo xtask roundtrip [--python 3.x] [--time] PATH... | [--pad] --test MODULE...";

/// Asks for the re-encoded form of code objects; what both scripts share.
const PROTOCOL: &str = r#"
import json, os, socket, sys, types
LATE = sys.version_info >= (3, 11)
LINES = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
port = int(sys.argv[1])
link = socket.create_connection(("127.0.0.1", port))
stream = link.makefile("rwb")
def plain(s): return s.encode("utf-8", "replace").decode()
def nested(code):
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from nested(c)
def dump(c):
    d = {n: getattr(c, "co_" + n) for n in ("argcount", "posonlyargcount", "kwonlyargcount", "stacksize", "flags", "firstlineno")}
    for n in ("names", "varnames", "cellvars", "freevars"):
        d[n] = [plain(s) for s in getattr(c, "co_" + n)]
    d["filename"], d["name"] = plain(c.co_filename), plain(c.co_name)
    d["qualname"] = plain(c.co_qualname) if LATE else ""
    d["code"], d["lines"] = c.co_code.hex(), getattr(c, LINES).hex()
    d["exceptions"] = c.co_exceptiontable.hex() if LATE else ""
    return d
def ask(codes):
    stream.write(json.dumps([dump(c) for c in codes]).encode() + b"\n")
    stream.flush()
    return json.loads(stream.readline())
def build(c, new, consts=None):
    kw = {"co_code": bytes.fromhex(new["code"]), LINES: bytes.fromhex(new["lines"]), "co_stacksize": new["stacksize"]}
    if LATE: kw["co_exceptiontable"] = bytes.fromhex(new["exceptions"])
    if consts is not None: kw["co_consts"] = consts
    return c.replace(**kw)
def report(**kw):
    stream.write(json.dumps({"report": kw}).encode() + b"\n")
    stream.flush()
"#;

const COMPARE: &str = r#"
import dis, warnings
from itertools import zip_longest
warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)
JUMPS = set(dis.hasjrel) | set(dis.hasjabs)
def instructions(c):
    out, index, start = [], {}, None
    kw = {"show_caches": False} if LATE else {}
    for i in dis.get_instructions(c, **kw):
        if start is None: start = i.offset
        if i.opname == "EXTENDED_ARG": continue
        index[start] = len(out)
        out.append(i)
        start = None
    index[len(c.co_code)] = len(out)
    keyed = []
    for i in out:
        if i.opcode in JUMPS or i.opname in dis.opname and dis.opmap.get(i.opname) in JUMPS:
            keyed.append((i.opname, "to", index.get(i.argval, ("inside", i.argval))))
        else:
            keyed.append((i.opname, i.arg))
    return out, keyed, index
def lines(c, at):
    if LATE:
        pos = list(c.co_positions())
        return [pos[i.offset // 2] for i in at]
    if sys.version_info >= (3, 10):
        spans = list(c.co_lines())
        return [next((l for s, e, l in spans if s <= i.offset < e), None) for i in at]
    starts, line, out = dict(dis.findlinestarts(c)), None, []
    ends = {i.offset: i for i in at}
    for i in dis.get_instructions(c):
        line = starts.get(i.offset, line)
        if i.offset in ends: out.append(line)
    return out
def handlers(c, index):
    if not LATE: return None
    parse = getattr(dis, "_parse_exception_table", None) or dis.parse_exception_table
    def norm(o):
        while o not in index and o < len(c.co_code): o += 2
        return index.get(o)
    return [(norm(e.start), norm(e.end), norm(e.target), e.depth, e.lasti) for e in parse(c)]
def compare(c, new):
    same = c.co_code == new.co_code and (not LATE or c.co_exceptiontable == new.co_exceptiontable)
    if same and getattr(c, LINES) == getattr(new, LINES): return "identical", ""
    a, ka, ia = instructions(c)
    b, kb, ib = instructions(new)
    if ka != kb:
        diff = next((x for x in enumerate(zip_longest(ka, kb)) if x[1][0] != x[1][1]), None)
        return "instructions", str(diff)
    la, lb = lines(c, a), lines(new, b)
    if la != lb:
        diff = next((i, a[i].opname, x, y) for i, (x, y) in enumerate(zip_longest(la, lb)) if x != y)
        return "locations", str(diff)
    ha, hb = handlers(c, ia), handlers(new, ib)
    if ha != hb: return "handlers", str((ha, hb))
    return "equivalent", ""
def files(path):
    if os.path.isfile(path): yield path
    for base, dirs, names in os.walk(path):
        dirs[:] = sorted(d for d in dirs if d != "__pycache__")
        for n in sorted(names):
            if n.endswith(".py"): yield os.path.join(base, n)
count, slack, skipped, nfiles = {}, {}, 0, 0
for root in sys.argv[2:]:
    for file in files(root):
        try:
            with open(file, "rb") as f: top = compile(f.read(), file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError): skipped += 1; continue
        nfiles += 1
        codes = list(nested(top))
        for c, new in zip(codes, ask(codes)):
            where = "%s:%d %s" % (file, c.co_firstlineno, c.co_name)
            if "error" in new: kind, detail = "error", new["error"]
            else:
                try:
                    made = build(c, new)
                    kind, detail = compare(c, made)
                    d = new["stacksize"] - c.co_stacksize
                    slack[d] = slack.get(d, 0) + 1
                    if d: report(kind="deeper" if new["stacksize"] > max(1, c.co_stacksize) else "shallower" if d < 0 else "slack", where=where, detail="%d, claimed %d" % (new["stacksize"], c.co_stacksize))
                except Exception as e: kind, detail = "refused", repr(e)
            count[kind] = count.get(kind, 0) + 1
            if kind not in ("identical", "equivalent"): report(kind=kind, where=where, detail=detail[:300])
report(kind="done", count=count, slack={str(k): v for k, v in sorted(slack.items())}, skipped=skipped, files=nfiles)
stream.readline()
"#;

const RUN_TESTS: &str = r#"
import importlib.machinery as machinery, threading, warnings
sys.setrecursionlimit(max(sys.getrecursionlimit(), 2000))
lock, replaced = threading.RLock(), [0]
def rebuild(code):
    codes = list(nested(code))
    with lock: answers = ask(codes)
    made = {}
    # Children come after their parents.
    for c, new in reversed(list(zip(codes, answers))):
        if "error" in new: raise RuntimeError("%s: %s" % (c.co_name, new["error"]))
        consts = tuple(made.get(id(k), k) if isinstance(k, types.CodeType) else k for k in c.co_consts)
        made[id(c)] = build(c, new, consts)
    replaced[0] += len(codes)
    return made[id(code)]
def get_code(self, name):
    path = self.get_filename(name)
    return rebuild(compile(self.get_data(path), path, "exec", dont_inherit=True))
machinery.SourceFileLoader.get_code = get_code
warnings.simplefilter("ignore")
# What is already imported is imported again where that is harmless.
for name in list(sys.modules):
    if name.split(".")[0] in ("json", "re", "collections", "functools", "heapq", "copy", "enum", "contextlib"):
        del sys.modules[name]
import unittest
ok = True
for name in sys.argv[2:]:
    suite = unittest.defaultTestLoader.loadTestsFromName("test." + name)
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(suite)
    bad = [t.id() for t, _ in result.failures + result.errors]
    report(kind="tests", name=name, run=result.testsRun, skipped=len(result.skipped), bad=bad[:20], replaced=replaced[0])
report(kind="done")
stream.readline()
"#;

struct Options {
    python: Option<String>,
    tests: bool,
    time: bool,
    pad: bool,
    rest: Vec<String>,
}

/// Time spent and instructions done by decode + encode.
#[derive(Default)]
struct Effort {
    spent: Duration,
    instrs: usize,
    codes: usize,
}

/// Entry point.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = parse(args)?;
    let python = interpreter::choose(options.python.as_deref())?;
    let minor = python.version.1;
    let version = Version::from_minor(minor).with_context(|| format!("no tables for {python}"))?;
    let body = if options.tests { RUN_TESTS } else { COMPARE };
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut child = Command::new(&python.executable)
        .args(["-c", &format!("{PROTOCOL}{body}"), &listener.local_addr()?.port().to_string()])
        .args(&options.rest)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .spawn()?;
    let (stream, _) = accept(&listener, &mut child)?;
    let outcome = serve(version, options.pad, &stream, &python);
    drop(stream);
    if outcome.is_err() {
        let _ = child.kill();
    }
    let status = child.wait()?;
    let (effort, bad) = outcome?;
    if options.time && effort.instrs > 0 {
        let each = effort.spent.as_secs_f64() * 1e6 / effort.instrs as f64;
        println!("  decode + encode: {} instructions, {each:.3} us each", effort.instrs);
    }
    if bad > 0 || !status.success() {
        bail!("{bad} differences or failures ({python}, {status})");
    }
    Ok(())
}

/// The interpreter's connection, unless it ends without making one.
fn accept(listener: &TcpListener, child: &mut std::process::Child) -> Result<(TcpStream, std::net::SocketAddr)> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((stream, from)) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                return Ok((stream, from));
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = child.try_wait()? {
            bail!("the interpreter ended before it began ({status})");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn parse(args: &[String]) -> Result<Options> {
    let mut options = Options { python: None, tests: false, time: false, pad: false, rest: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--python" => options.python = Some(args.next().context(USAGE)?.clone()),
            "--test" => options.tests = true,
            "--time" => options.time = true,
            "--pad" => options.pad = true,
            flag if flag.starts_with('-') => bail!(USAGE),
            _ => options.rest.push(arg.clone()),
        }
    }
    if options.rest.is_empty() {
        bail!(USAGE);
    }
    Ok(options)
}

/// Answers until the interpreter says it is done; returns the number of bad outcomes.
fn serve(version: Version, padded: bool, stream: &TcpStream, python: &Interpreter) -> Result<(Effort, usize)> {
    let mut effort = Effort::default();
    let mut bad = 0;
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    let mut writer = stream;
    for line in BufReader::new(stream).lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(report) = message.get("report") else {
            let codes = message.as_array().context("a list of code objects")?;
            let answers: Vec<Value> = codes.iter().map(|code| answer(version, padded, code, &mut effort)).collect();
            let mut text = serde_json::to_vec(&answers)?;
            text.push(b'\n');
            writer.write_all(&text)?;
            continue;
        };
        match report["kind"].as_str().unwrap_or_default() {
            "done" => {
                if let Some(count) = report["count"].as_object() {
                    let counts: Vec<String> = count.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
                    println!(
                        "{python}: {} code objects of {} files: {}; stack size minus the claimed: {} ({} files not compiled)",
                        effort.codes,
                        report["files"],
                        counts.join(", "),
                        report["slack"],
                        report["skipped"]
                    );
                }
                writer.write_all(b"[]\n")?;
                return Ok((effort, bad));
            }
            "tests" => {
                let failed = report["bad"].as_array().map_or(0, Vec::len);
                bad += failed;
                println!(
                    "{python}: {}: {} run, {} skipped, {failed} bad {}; {} code objects replaced so far",
                    report["name"], report["run"], report["skipped"], report["bad"], report["replaced"]
                );
            }
            kind => {
                // CPython's own figure is an upper bound, but never asked to be 0.
                bad += usize::from(!matches!(kind, "shallower" | "slack"));
                let seen = shown.entry(kind.to_owned()).or_default();
                *seen += 1;
                if *seen <= 5 && kind != "slack" {
                    println!("  {kind}: {}: {}", text(report, "where"), text(report, "detail"));
                }
            }
        }
    }
    bail!("the interpreter went away")
}

fn answer(version: Version, padded: bool, code: &Value, effort: &mut Effort) -> Value {
    let raw = match raw_code(version, code) {
        Ok(raw) => raw,
        Err(error) => return json!({"error": error.to_string()}),
    };
    effort.codes += 1;
    let start = Instant::now();
    let decoded = match decode(&raw) {
        Ok(decoded) if padded => pad(decoded),
        Ok(decoded) => decoded,
        Err(error) => return json!({"error": format!("decode: {error}")}),
    };
    let encoded = encode(&decoded);
    effort.spent += start.elapsed();
    effort.instrs += decoded.instrs.len();
    match encoded {
        Ok(new) => json!({
            "code": hex(&new.code),
            "lines": hex(&new.linetable),
            "exceptions": hex(&new.exceptiontable),
            "stacksize": new.stacksize,
        }),
        Err(error) => json!({"error": format!("encode: {error}")}),
    }
}

/// Puts a NOP before each instruction, but where the interpreter looks at neighbours (the prelude; SEND, YIELD_VALUE,
/// RESUME; GET_AWAITABLE and the call before it; the names of a call) or several instructions are one.
fn pad(mut code: Code) -> Code {
    let prelude = code.prelude_len();
    let mut moved = Vec::with_capacity(code.instrs.len() + 1);
    let mut padded: Vec<Instr> = Vec::with_capacity(code.instrs.len() * 2);
    for (at, instr) in code.instrs.iter().enumerate() {
        moved.push(padded.len());
        let joined = padded.last().is_some_and(|last| last.offset == instr.offset);
        if at >= prelude
            && !joined
            && !matches!(
                instr.op,
                Op::Call { two: false, .. }
                    | Op::CallKw { .. }
                    | Op::Resume(_)
                    | Op::EndSend
                    | Op::YieldValue(_)
                    | Op::GetAwaitable(_)
            )
        {
            padded.push(Instr::new(Op::Nop, instr.loc));
        }
        padded.push(*instr);
    }
    moved.push(padded.len());
    code.instrs = padded;
    for place in &mut code.labels {
        *place = moved[*place];
    }
    for region in &mut code.regions {
        (region.start, region.end) = (moved[region.start], moved[region.end]);
    }
    code
}

fn raw_code(version: Version, code: &Value) -> Result<RawCode> {
    let number = |key: &str| -> Result<u32> { Ok(u32::try_from(code[key].as_u64().context(key.to_owned())?)?) };
    let names = |key: &str| -> Vec<String> {
        code[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Ok(RawCode {
        version,
        argcount: number("argcount")?,
        posonlyargcount: number("posonlyargcount")?,
        kwonlyargcount: number("kwonlyargcount")?,
        stacksize: number("stacksize")?,
        flags: CodeFlags::from_bits_retain(number("flags")?),
        code: unhex(text(code, "code"))?,
        names: names("names"),
        varnames: names("varnames"),
        cellvars: names("cellvars"),
        freevars: names("freevars"),
        filename: text(code, "filename").to_owned(),
        name: text(code, "name").to_owned(),
        qualname: text(code, "qualname").to_owned(),
        firstlineno: number("firstlineno")?,
        linetable: unhex(text(code, "lines"))?,
        exceptiontable: unhex(text(code, "exceptions"))?,
    })
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).context("not hexadecimal");
    text.as_bytes()
        .chunks(2)
        .map(|pair| Ok((digit(pair[0])? << 4 | digit(*pair.last().unwrap_or(&b'0'))?) as u8))
        .collect()
}

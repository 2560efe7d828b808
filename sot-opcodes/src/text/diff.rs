//! The form for snapshots.

use super::print;
use crate::Code;

/// As `print`, without what moves when the source file or an unrelated part of the code changes: no stack size, no
/// file, and lines relative to the first one.
#[must_use]
pub fn diffable(code: &Code, consts: Option<&[String]>) -> String {
    let mut code = code.clone();
    let first = code.firstlineno;
    for instr in &mut code.instrs {
        instr.loc.line = instr.loc.line.map(|line| line.saturating_sub(first));
    }
    let text = print(&code, consts);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if line.starts_with("code ") {
            out.push_str(&format!("code {:?} python {}", code.name, code.version));
        } else if line.starts_with("args ") {
            out.push_str(line.split(" stack ").next().unwrap_or(line));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

//! What to do about each reason for which a capture stops, with an example: for reports, and for `docs/breaks.md`.
//!
//! Cures say what to write instead. Where nothing needs to be done they say so: most breaks cost microseconds.

use crate::stop::{Family, Reason};
use std::fmt::Write;

/// What to do about a reason.
pub struct Advice {
    /// What to write instead, in one sentence.
    pub cure: &'static str,
    /// A small program that stops for this reason.
    pub example: &'static str,
}

const fn advice(cure: &'static str, example: &'static str) -> Advice {
    Advice { cure, example }
}

/// What to do about a reason.
pub fn of(reason: Reason) -> Advice {
    use Reason::*;
    match reason {
        BranchOnTensor => advice(
            "choose between values instead of ways, with the framework's `where`; or compare what is known without running the graph, such as a shape",
            "if x.sum() > 0:\n    x = x * 2",
        ),
        LoopOnTensor => advice(
            "loop over a range of its shape, or let one operation work on all of the tensor",
            "for row in nonzero(x):\n    y = y + row",
        ),
        TensorToScalar => advice(
            "keep the value a tensor, and turn it into a number where the result is used",
            "scale = float(x.max())\ny = x / scale",
        ),
        Output => {
            advice("write behind the computation, or only when debugging", "y = x * 2\nprint('halfway')\nz = y + 1")
        }
        TensorToHost => advice(
            "keep the value a tensor; take `numpy()`, `item()` and texts of it outside of the captured function",
            "logs.append(loss.item())",
        ),
        OpaqueCall => advice(
            "nothing, if the call is rare; else call it outside of the captured function, or use what Python code can say instead",
            "import zlib\ny = x * len(zlib.compress(name))",
        ),
        OpaqueValue => advice(
            "compute the value before the captured function and pass it in, so that it can be guarded",
            "known = x in [x + 1]  # are two tensors one object?",
        ),
        FrameInspection => advice(
            "pass names and values as arguments instead of looking them up in frames",
            "y = x * len(inspect.stack())",
        ),
        Finalizer => advice(
            "keep the object until the end of the function, or release it with `with` instead of `__del__`",
            "handle = open_handle()\ndel handle\ny = x * count_of_handles()",
        ),
        UserCode => {
            advice("nothing, if it is rare; else give the class methods written in Python", "y = x * array_of_numpy[0]")
        }
        ApiRejected => advice(
            "nothing: the operation runs as eager between two graphs; `str(report)` has the framework's own message",
            "y = unique(x, return_index=True)",
        ),
        WouldRaise => {
            advice("handle the case before the operation, if it is no error", "y = x.reshape([3, -1])  # of 4 elements")
        }
        GivesWarning => advice(
            "do what the warning asks for; where that is not possible, the operation runs as Python between two graphs",
            "if NotImplemented:  # a DeprecationWarning\n    y = x + 1",
        ),
        InplaceTensor => advice(
            "write a tensor that the function has made itself (`y = x.clone()` before `y.add_(x)`), or compute a new one: `where` for \
                 masks",
            "y.unsqueeze_(0)",
        ),
        TensorAttribute => advice("set attributes of tensors outside of the captured function", "y.name = 'scaled'"),
        Disabled => advice("take the mark away where the function need not stay plain", "@sot.disable\ndef f(x): ..."),
        BreakAsked => advice("take the call away", "sot.graph_break()"),
        FallbackAsked => advice("take the call away", "sot.psdb.fallback()"),
        BreakApi => advice("take the function out of the list", "sot.add_break_apis([f])"),
        IgnoredModule => advice("take the module out of the list", "sot.ignore_module([package])"),
        FrameworkFunction => advice(
            "nothing: the function changes the framework's state, or has no form in a graph; call it outside of loops",
            "seed(7)  # of the framework",
        ),
        Opcode => {
            advice("nothing: the instruction runs as Python between two graphs", "def first[T](items): ...  # 3.12")
        }
        Generator => advice(
            "collect the items in a list",
            "g.__name__ = \"other\"\nitems = g(x)  # a generator under another name than its code's",
        ),
        Builtin => advice("nothing, if it is rare; else use a simpler form of it", "y = x * id(x)"),
        ValueKind => advice(
            "nothing, if it is rare; else use a value of a builtin kind",
            "y = x * Count(2)  # a subclass of int",
        ),
        Reconstruct => advice(
            "finish with the value before the place that breaks: use up an iterator, leave a generator",
            "for key in table:\n    table[key + 1] = 0\n    print('halfway')",
        ),
        Depth => advice("write the recursion as a loop", "def f(x, n): return f(x, n - 1) if n else x  # with n = 900"),
        Budget => advice(
            "let one operation do what a long loop does, or capture the body of the loop alone",
            "for i in range(10**6):\n    n = n * 31 % 65537",
        ),
        Mutation => {
            advice("change the object outside of the captured function", "vars(config)[3] = 'three'\ny = x * 3")
        }
        ShortLived => advice(
            "make the functions, classes and layers that it is given outside of the loop that calls it",
            "for n in range(1000):\n    f(x, lambda y: y * n)",
        ),
        CacheFull => advice(
            "find with `sot.explain` what differs from call to call, and pass it as a tensor or take it out of the function",
            "for step in range(1000):\n    f(x, step)",
        ),
        Varies => advice(
            "nothing, if it is rare; else find with `sot.explain` what differs from call to call",
            "for name in dir(model):\n    looks(name)  # with everything captured",
        ),
        Tracing => advice(
            "measure and debug without `sot`, or expect plain Python while a tool is active",
            "sys.settrace(tool)",
        ),
        Busy => {
            advice("nothing: the call ran as plain Python; the next one is served", "Thread(target=f).start()\nf(x)")
        }
        Interrupted => advice("nothing: the next call is captured", "signal.alarm(1)\nf(x)"),
        NotPython => advice("translate the Python function that calls it", "sot.to_static(len)"),
        AmbientMode => advice(
            "leave the mode before the call, or call the function outside of it",
            "enable_static()  # the framework builds a program",
        ),
        FrameworkUnusable => advice(
            "install a release of the framework that the README lists, or undo the setting that is named; until then every function \
             runs as plain Python",
            "import sot  # beside a release of the framework that nobody has tried",
        ),
        NoTensor => advice("nothing: there is no graph to gain", "def f(a, b): return b, a"),
        BackendFailed => advice(
            "nothing: the original code runs; report it with the framework's message if it should work",
            "y = operation_without_a_kernel(x)",
        ),
        InternalError => advice("report it with the program, please; the original code ran", ""),
    }
}

/// The table of all reasons, as `docs/breaks.md` shows it.
pub fn page() -> String {
    let mut page = String::from(
        "# Why a capture stops\n\n\
        Generated from `sot-core/src/stop.rs` and `advice.rs`; `SOT_RENEW_DOCS=1 cargo test -p sot-core advice` writes it anew.\n\n\
        A *break* ends the graph at an instruction, lets Python run it, and goes on behind it: the result is that of plain \
        Python, at the price of one more graph. A *fallback* runs the whole function as plain Python. \
        `sot.explain(f)(*args)` shows where a program stops and why; `sot.reasons()` is this table.\n",
    );
    let families = [
        (Family::Ddcf, "data-dependent control flow"),
        (Family::Unsps, "what Python does here cannot be known before it runs"),
        (Family::Cdbl, "the program, the framework or a tool said no"),
        (Family::Unimp, "not simulated yet"),
    ];
    for (family, meaning) in families {
        write!(page, "\n## {}: {meaning}\n", family.as_str()).expect("a text");
        for reason in Reason::ALL.iter().filter(|reason| reason.family() == family) {
            let Advice { cure, example } = of(*reason);
            write!(page, "\n### {}\n\n{}.\n\n", reason.code(), capital(reason.help())).expect("a text");
            if !example.is_empty() {
                write!(page, "```py\n{example}\n```\n\n").expect("a text");
            }
            writeln!(page, "What to do: {cure}.").expect("a text");
        }
    }
    page
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/breaks.md");
        if std::env::var_os("SOT_RENEW_DOCS").is_some() {
            std::fs::write(path, super::page()).expect("docs/breaks.md can be written");
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            there == super::page(),
            "docs/breaks.md is not current: SOT_RENEW_DOCS=1 cargo test -p sot-core advice"
        );
    }
}

//! Every "no" of the translator: why a capture stopped, with a stable code, a family and one line of help.
//!
//! The families are those of the design: DDCF (data-dependent control flow), UNSPS (unsupported
//! simulation), CDBL (customised black list), UNIMP (unimplemented). A `Reason` says *why*; the `Stop` that
//! carries it says *what happens*: `Break` ends the graph here and goes on after the instruction, `Fallback`
//! runs the frame as plain Python. There are no reasons that are only strings: `detail` adds to a code, it
//! never replaces one. `sot.reasons()` lists the table from Python.

use crate::awaits::Awaits;
use crate::objects::VarId;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Family of a reason, by the names of the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Data-dependent control flow.
    Ddcf,
    /// Unsupported simulation: what Python does here cannot be known before it runs.
    Unsps,
    /// Customised black list: the user or the framework said no.
    Cdbl,
    /// Not simulated yet.
    Unimp,
}

impl Family {
    /// The abbreviation that users read.
    pub fn as_str(self) -> &'static str {
        match self {
            Family::Ddcf => "DDCF",
            Family::Unsps => "UNSPS",
            Family::Cdbl => "CDBL",
            Family::Unimp => "UNIMP",
        }
    }
}

macro_rules! reasons {
    ($( $variant:ident, $family:ident, $code:literal, $help:literal; )*) => {
        /// Why a capture stopped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reason { $( #[doc = $help] $variant, )* }

        impl Reason {
            /// All reasons, in the order of their counters.
            pub const ALL: &'static [Reason] = &[ $( Reason::$variant, )* ];
            /// Stable kebab-case code.
            pub fn code(self) -> &'static str { match self { $( Reason::$variant => $code, )* } }
            /// Its family.
            pub fn family(self) -> Family { match self { $( Reason::$variant => Family::$family, )* } }
            /// One line for the user.
            pub fn help(self) -> &'static str { match self { $( Reason::$variant => $help, )* } }
        }
    };
}

reasons! {
    BranchOnTensor, Ddcf, "branch-on-tensor", "a branch depends on the value of a tensor";
    LoopOnTensor, Ddcf, "loop-over-tensor", "a loop runs over a tensor whose length or items are only known at run time";
    TensorToScalar, Ddcf, "tensor-to-scalar", "a tensor is turned into a Python number";
    Output, Unsps, "builtin-with-output", "a builtin that writes output is called";
    TensorToHost, Unsps, "tensor-to-host", "the values of a tensor leave the graph (numpy(), item(), tolist(), printing)";
    OpaqueCall, Unsps, "opaque-call", "a function that cannot be simulated is called";
    OpaqueValue, Unsps, "opaque-value", "an operation needs a value that is only known at run time";
    FrameInspection, Unsps, "frame-inspection", "frames are looked at: those of callers, or a frame object of its own that is kept";
    Finalizer, Unsps, "finalizer", "a value has died whose finalizer or weak references the program may see";
    UserCode, Unsps, "user-code", "an operation would run user code that cannot be simulated";
    ApiRejected, Unsps, "api-rejected", "the framework did not accept the operation on symbolic values; it runs as eager";
    WouldRaise, Unsps, "would-raise", "the simulated operation raises; it runs as plain Python so that the user sees Python's own error";
    GivesWarning, Unsps, "gives-warning", "the operation gives a warning, which is for the program's own line to give";
    InplaceTensor, Unsps, "in-place-tensor", "a tensor is written in place";
    TensorAttribute, Unsps, "tensor-attribute", "an attribute of a tensor is set, or read where only eager has it";
    Disabled, Cdbl, "disabled", "the function was marked with sot.disable or not_to_static";
    BreakAsked, Cdbl, "break-asked", "the program asks for a break here, with sot.graph_break or psdb.breakgraph";
    FallbackAsked, Cdbl, "fallback-asked", "the program asks for plain Python here, with psdb.fallback";
    BreakApi, Cdbl, "break-api", "the function was listed with sot.add_break_apis";
    IgnoredModule, Cdbl, "ignored-module", "the function is of a module that was given to ignore_module";
    FrameworkFunction, Cdbl, "framework-function", "the framework asks for this function to run eagerly";
    Opcode, Unimp, "opcode", "an instruction that is not simulated yet";
    Generator, Unimp, "generator", "a generator or coroutine";
    Builtin, Unimp, "builtin", "a builtin, or a use of one, that is not simulated yet";
    ValueKind, Unimp, "value-kind", "an operation on a kind of value that is not simulated yet";
    Reconstruct, Unimp, "reconstruct", "a value that cannot be built again after the graph";
    Depth, Unimp, "depth", "calls nested too deeply to be inlined";
    Budget, Unimp, "budget", "the function is too long to be simulated within the instruction budget";
    Mutation, Unimp, "mutation", "a mutation that cannot be replayed yet";
    ShortLived, Cdbl, "short-lived", "captures of this code depend on what dies before a call meets them; only now and then one more is made";
    CacheFull, Cdbl, "cache-full", "the cache of this code is full; what it holds is still served, new cases run as plain Python";
    Varies, Cdbl, "varies", "an instruction asks for what is another thing at most calls of a function whose cache is full; it runs as Python";
    Tracing, Cdbl, "tracing", "a debugger, profiler or coverage tool is active in this thread";
    Busy, Cdbl, "busy", "another thread is capturing";
    Interrupted, Cdbl, "interrupted", "a signal arrived while capturing, or memory ended; the original code runs";
    NotPython, Unsps, "not-python", "the callable has no Python bytecode";
    AmbientMode, Cdbl, "ambient-mode", "the framework is in a mode (static graph, another translator) in which nothing is captured";
    FrameworkUnusable, Cdbl, "framework-unusable", "the framework cannot be used for capturing: it is not installed, or this release or setting of it lacks what is needed";
    NoTensor, Cdbl, "no-tensor", "the function computes nothing on tensors; plain Python is as fast";
    BackendFailed, Unsps, "backend-failed", "the backend could not compile the graph";
    InternalError, Unimp, "internal-error", "a defect in sot: please report it";
}

/// A reason at a place in the user's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    pub reason: Reason,
    /// What exactly: the name of the function, opcode or attribute. May be empty.
    pub detail: String,
    /// Where it happened, if the stop is somewhere else: a call that had to break since something inside of it stopped.
    pub inside: Option<Arc<Inside>>,
    /// The exception of the framework that is behind it: its class and its text.
    pub cause: Option<Arc<str>>,
}

/// The line that a call stopped at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    pub file: Arc<str>,
    pub line: u32,
    pub function: Arc<str>,
}

impl Why {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Why {
        Why { reason, detail: detail.into(), inside: None, cause: None }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.reason.code(), self.reason.help())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if let Some(inside) = &self.inside {
            write!(f, " (at {}:{} in {}())", inside.file, inside.line, inside.function)?;
        }
        Ok(())
    }
}

/// Why the simulation of an instruction did not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// End the graph before this instruction, run the instruction as Python, go on after it.
    #[error("graph break: {0}")]
    Break(Why),
    /// Run the whole frame as plain Python.
    #[error("fallback: {0}")]
    Fallback(Why),
    /// A frame was pushed whose result is that of the instruction, by whatever awaits it.
    #[error("a call")]
    Entered(Awaits),
    /// The instruction has come to code of the program in its middle, where no frame can be entered whose result would be its own.
    /// It is simulated once more by its definition; where it has none, it is a break.
    #[error("a call in the middle of an instruction")]
    Calls,
    /// The simulated program raises this exception: a handler of the program goes on, or, if there is none, the instruction
    /// runs as Python and raises for real.
    #[error("the program raises an exception")]
    Raised(VarId),
}

impl Stop {
    pub fn brk(reason: Reason, detail: impl Into<String>) -> Stop {
        Stop::Break(Why::new(reason, detail))
    }
    pub fn fallback(reason: Reason, detail: impl Into<String>) -> Stop {
        Stop::Fallback(Why::new(reason, detail))
    }
    /// An exception where none can be: run the frame as plain Python, and count a defect.
    pub fn internal(error: &pyo3::PyErr) -> Stop {
        // Memory may suffice another time.
        if pyo3::Python::attach(|py| error.is_instance_of::<pyo3::exceptions::PyMemoryError>(py)) {
            return Stop::fallback(Reason::Interrupted, "no memory");
        }
        Stop::fallback(Reason::InternalError, error.to_string())
    }
    pub fn why(&self) -> &Why {
        match self {
            Stop::Break(why) | Stop::Fallback(why) => why,
            Stop::Raised(_) | Stop::Entered(_) | Stop::Calls => {
                static RAISED: OnceLock<Why> = OnceLock::new();
                RAISED.get_or_init(|| Why::new(Reason::WouldRaise, ""))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_kebab_case() {
        let mut codes: Vec<_> = Reason::ALL.iter().map(|r| r.code()).collect();
        assert!(codes.iter().all(|c| c.chars().all(|ch| ch.is_ascii_lowercase() || ch == '-')));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}

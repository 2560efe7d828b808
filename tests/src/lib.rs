//! The equivalence harness: literate markdown files whose Python snippets run eagerly and captured.
//!
//! A file of `tests/literate` is a document, each of its `##` headings a section with one `py` block and the decisions
//! that are expected of the translator. [`driver`] runs the snippets of a document in one Python process, which
//! compares every run with the eager one and reports findings; [`expect`] compares findings with the section's blocks;
//! [`update`] writes them anew. Nothing here links Python: the interpreter is the one that `SOT_TEST_PYTHON` names.
//!
//! | block | what it says |
//! |---|---|
//! | `py` | the snippet; what its names mean is told in `driver/snippet.py` |
//! | `stats 3.8-3.10` | the same for these versions; `breaks 3.8` too |
//! | `stats` | counters after all calls, `graphs 1, breaks 0, hits 2`; those that are named are compared |
//! | `breaks` | every break and fallback, as `code line`, in the order of the reports |
//! | `sir` | StatementIR of all graphs |
//! | `guards` | guards that must be among those of the section |
//! | `bytecode` | the rewritten code |
//! | `snapshot` | empty: graphs, breaks, guards and code are an insta snapshot |
//! | `mismatches` | what the harness itself must find to differ, one beginning of a line each |
//! | `since` | the first version of Python that can run the section; older ones pass it over |
//! | `release` | the first release of Paddle that decides so; with older ones the runs are compared alone |
//! | `expected-failure` | why the section fails today; it fails once it passes |
#![forbid(unsafe_code)]

pub mod document;
pub mod driver;
pub mod expect;
pub mod update;

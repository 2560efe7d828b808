//! `cargo xtask oracle`: CPython's own tests, run plain and with every function captured.
//!
//! Each module runs twice, in processes of their own ([`process`]), through `xtask/py/oracle/run.py`; then what became of
//! each test is compared, outcome and exception ([`mod@compare`]). A test that differs is a failure, a crash too, and so is
//! each defect that the translator noticed itself: an error of its own or a hook that gave up. Tests that look at what a
//! translator may change are excused one by one, with the reason ([`excused`]).

mod compare;
mod excused;
mod process;

use crate::console::{self, Progress};
use crate::environment::{self, Environment, Needs};
use crate::interpreter::{self, Interpreter};
use crate::refusal::Refusal;
use crate::suite::{self, Outcome};
use crate::{wheel, workspace};
use anyhow::{Context, Result, bail};
use compare::{Compared, compare};
use process::{Mode, Ran};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

/// For the matrix, and first in a run without names. What a version does not have is left out.
const CHOSEN: &[&str] = &[
    "test_unpack",
    "test_copy",
    "test_string",
    "test_format",
    "test_slice",
    "test_range",
    "test_super",
    "test_class",
    "test_decorators",
    "test_dict",
    "test_list",
    "test_set",
    "test_scope",
    "test_iter",
    "test_enumerate",
    "test_generators",
    "test_with",
    "test_exceptions",
    "test_contextlib",
    "test_dataclasses",
    "test_functools",
    "test_itertools",
    "test_json",
    "test_patma",
    "test_descr",
    "test_collections",
];

/// More for a run without names: they take too long for the matrix, or found nothing yet that the others do not.
const MORE: &[&str] = &[
    "test_builtin",
    "test_bool",
    "test_int",
    "test_float",
    "test_complex",
    "test_bytes",
    "test_tuple",
    "test_named_expressions",
    "test_keywordonlyarg",
    "test_positional_only_arg",
    "test_genexps",
    "test_listcomps",
    "test_setcomps",
    "test_dictcomps",
    "test_coroutines",
    "test_asyncgen",
    "test_raise",
    "test_exception_group",
    "test_property",
    "test_dynamicclassattribute",
    "test_abc",
    "test_typing",
    "test_enum",
    "test_userdict",
    "test_userlist",
    "test_deque",
    "test_ordered_dict",
    "test_heapq",
    "test_bisect",
    "test_random",
    "test_statistics",
    "test_fractions",
    "test_textwrap",
    "test_ast",
    "test_tokenize",
    "test_pprint",
    "test_logging",
    "test_weakref",
    "test_decimal",
    "test_re",
    "test_unittest",
];

pub(crate) fn run(python: Option<&str>, modules: &[String]) -> Result<()> {
    let python = interpreter::choose(python)?;
    let env = environment::prepare(&python, Needs::Test)?;
    wheel::ready(&env, wheel::SOT_TESTED)?;
    console::note(&format!("{python}"));
    let named: Vec<&str> = modules.iter().map(|name| name.strip_prefix("test.").unwrap_or(name)).collect();
    let chosen = if named.is_empty() { [CHOSEN, MORE].concat() } else { named.clone() };
    let found = all(&env, &chosen)?;
    if !named.is_empty()
        && let Some(missing) = found.iter().find(|compared| compared.missing)
    {
        return Err(Refusal::new(
            format!("CPython {} has no test module `{}`.", python.version, missing.module),
            "name modules of its package `test`, as test_json, or none for the chosen ones",
        )
        .into());
    }
    let outcome = outcome("oracle", &found);
    let bad = outcome.failed;
    suite::report(&[outcome]);
    match bad {
        0 => Ok(()),
        bad => bail!("{bad} tests do not do captured what they do plain; logs are in {}", logs(&env).display()),
    }
}

/// For the matrix: one row of the table. The environment and the extension modules are there already.
pub(crate) fn row(python: &Interpreter, name: &str) -> Result<Outcome> {
    let start = Instant::now();
    let env = environment::prepare(python, Needs::Test)?;
    let step = console::Step::start(format!("{name}: CPython's tests, plain and captured"));
    let found = all(&env, CHOSEN)?;
    step.done();
    Ok(outcome(&format!("{name} oracle"), &found).since(start))
}

fn logs(env: &Environment) -> std::path::PathBuf {
    workspace::made().join("oracle").join(env.interpreter.version.short())
}

/// As many modules at a time as there are cores, in the order given.
fn all(env: &Environment, modules: &[&str]) -> Result<Vec<Compared>> {
    let logs = logs(env);
    fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
    let queue = Mutex::new(modules.iter().enumerate());
    let found = Mutex::new(Vec::new());
    let mut progress = Progress::new("test modules");
    progress.of(modules.len());
    let progress = Mutex::new(progress);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.next());
                    let Some((at, module)) = next else { return };
                    let compared = one(env, module, &logs);
                    if let Ok(mut progress) = progress.lock() {
                        progress.step();
                        progress.clear();
                    }
                    if let Ok(compared) = &compared
                        && !compared.missing
                    {
                        console::note(&compared.line());
                    }
                    if let Ok(mut found) = found.lock() {
                        found.push((at, compared));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, compared)| compared).collect()
}

fn one(env: &Environment, module: &str, logs: &Path) -> Result<Compared> {
    let plain = process::run(env, Mode::Plain, module, logs)?;
    let captured = if plain.missing { Ran::default() } else { process::run(env, Mode::Captured, module, logs)? };
    Ok(compare(module, env.interpreter.version.1, &plain, &captured))
}

fn outcome(name: &str, found: &[Compared]) -> Outcome {
    let mut total = Outcome::new(name);
    for compared in found {
        total.passed += compared.same;
        total.skipped += compared.excused.len();
        for failure in &compared.failures {
            total.fail(failure.clone());
        }
        for needless in &compared.needless {
            console::note(&format!("{needless} is excused, but does the same"));
        }
    }
    total.or_nothing()
}

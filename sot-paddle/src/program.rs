//! Closing a program: prune, look for what only replay gives as eager does, and hand the rest over to the executor.
//!
//! What records gradients is replayed, so that a program has no backward part: `run_program` gets its sources as "parameters", all of
//! them, and an empty program to go back by.

use crate::alias::{self, Memory};
use crate::grown::{Grown, Source};
use crate::handles::{Handles, value_id};
use crate::prune::{self, LiveOp};
use crate::recipe::{Argument, Recipe};
use crate::run_program::{Program, Result as Give};
use crate::{ambient, effects, exact, not_run};
use hashbrown::{HashMap, HashSet};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use sot_core::backend::{Effects, Finished};
use std::sync::atomic::{AtomicU64, Ordering};

/// A number for a program, never given twice.
///
/// Paddle finds executors by a hash of this number, the address of the scope and a few flags, and compares nothing
/// else: near numbers and recycled addresses would collide and run another program. So the numbers are spread over
/// all 64 bits (SplitMix64, a bijection).
fn program_number() -> i64 {
    static NEXT: AtomicU64 = AtomicU64::new(0x736f_7470_6164_646c);
    let mut z = NEXT.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).cast_signed()
}

/// Intermediates of at most this many bytes are freed together after the run, which saves a third of a small run.
const KEEP_INTERMEDIATES: i64 = 64 << 20;

/// Operations of a program that is run as one. Paddle's executor makes ready in a time that grows with the square of their number:
/// 1.4 s for 3,000 operations, 6 s for 6,000, 155 s for 20,000.
const MOST_OPERATIONS: usize = 4000;

/// A tensor the closed program reads.
struct Used<'a> {
    source: &'a Source,
    argument: Argument,
}

pub(crate) fn finish(py: Python<'_>, grown: &Grown, inputs: &[usize], outputs: &[Py<PyAny>]) -> PyResult<Finished> {
    let handles = &grown.handles;
    let main = grown.main.bind(py);
    let block = main.call_method0(intern!(py, "global_block"))?;

    let param_of: HashMap<i64, usize> =
        grown.params.iter().enumerate().map(|(i, p)| Ok((value_id(p.value.bind(py))?, i))).collect::<PyResult<_>>()?;

    // Results: inputs and parameters are handed back as they are, the rest is computed, each value once.
    let (mut results, mut computed, mut computed_ids) = (Vec::new(), Vec::new(), Vec::new());
    for output in outputs {
        let value = output.bind(py);
        let id = value_id(value)?;
        results.push(if let Some(number) = grown.input_index(id) {
            let at = inputs.iter().position(|i| *i == number);
            Give::Input(at.ok_or_else(|| PyRuntimeError::new_err("an output is an input that is not passed"))?)
        } else if let Some(param) = param_of.get(&id) {
            Give::Tensor(grown.params[*param].tensor.clone_ref(py))
        } else if let Some(at) = computed_ids.iter().position(|c| *c == id) {
            Give::Computed(at)
        } else {
            computed_ids.push(id);
            computed.push(value.clone());
            Give::Computed(computed.len() - 1)
        });
    }

    let live = prune::prune(&block, &computed_ids)?;
    let op_count = live.iter().filter(|op| op.name != "pd_op.data").count();
    let reads: HashSet<i64> = live.iter().flat_map(|op| op.operands.iter().copied()).collect();

    let mut used = Vec::new();
    for (position, number) in inputs.iter().enumerate() {
        used.push(Used { source: &grown.inputs[*number], argument: Argument::Input(position) });
    }
    for param in &grown.params {
        used.push(Used { source: param, argument: Argument::Tensor(param.tensor.clone_ref(py)) });
    }
    let mut source_ids = HashSet::new();
    let mut kept = Vec::new();
    for entry in used {
        let id = value_id(entry.source.value.bind(py))?;
        source_ids.insert(id);
        if reads.contains(&id) {
            kept.push(entry);
        }
    }

    let behind: HashMap<i64, Argument> = kept
        .iter()
        .map(|u| Ok((value_id(u.source.value.bind(py))?, u.argument.clone_ref(py))))
        .collect::<PyResult<_>>()?;
    let (effects, writes_view) = match effects::of(py, grown, &live, &behind)? {
        effects::Found::Nothing => (None, None),
        effects::Found::State(state) => (Some(state), None),
        effects::Found::OnlyReplay(state, why) => (Some(state), Some(why)),
    };
    let effects = effects.map(|state| Box::new(state) as Box<dyn Effects>);
    let shared = shared_memory(&live, &computed_ids, &source_ids).or_else(|| alias::view_at_times(&live));
    let only_replay = match shared.or(writes_view) {
        Some(why) => Some(why),
        None if op_count > MOST_OPERATIONS => {
            Some(format!("{op_count} operations: Paddle's executor would take too long to start"))
        }
        None if is_shaped_by_number(py, grown, &reads)? => Some("a number of the program is an extent".to_owned()),
        None if grown.acts => Some("a backward pass, or what an optimizer does, is part of it".to_owned()),
        None if !grown.made.is_empty() => Some("a parameter is made".to_owned()),
        None if grown.writes => Some("a tensor is written in place".to_owned()),
        None if grown.asks => Some("it asks for gradients, which eager's own nodes give".to_owned()),
        None if grown.rounds.is_some() => grown.rounds.clone(),
        None if ambient::tells_of_operations(py, &grown.handles)? => {
            Some("Paddle tells of each operation (FLAGS_check_nan_inf, FLAGS_low_precision_op_list)".to_owned())
        }
        None if grown.told => Some("a tensor is told whether it stops gradients".to_owned()),
        // Who goes back from an output, and how often, whether with hooks, for second derivatives or after a write to an input, is
        // for eager's own nodes to answer.
        None if flows(py, &computed)? => Some("gradients are recorded".to_owned()),
        None => match not_run::only_eager_runs(py, &live)? {
            Some(why) => Some(why),
            None => exact::rounded(py, &live)?,
        },
    };
    if let Some(why) = only_replay {
        return Ok(Finished::replay_only(why, op_count).with_effects(effects));
    }
    let text = main.str()?.to_string();
    if computed.is_empty() && op_count == 0 {
        return Ok(Finished::compiled(Program::identity(results, text), op_count).with_effects(effects));
    }

    let recipe = match build_recipe(py, handles, grown, main, &kept, &computed, op_count) {
        Ok(recipe) => recipe,
        Err(e) => {
            // The statements can still be run one by one.
            let text = e.value(py).to_string();
            let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().trim().to_owned();
            let why = format!("the framework could not close the program: {first}");
            return Ok(Finished::replay_only(why, op_count).with_effects(effects));
        }
    };
    let program = Program::new(py, handles, recipe, results, text)?;
    Ok(Finished::compiled(program, op_count).with_effects(effects))
}

/// Whether an extent is a number of the program, which no input has.
fn is_shaped_by_number(py: Python<'_>, grown: &Grown, reads: &HashSet<i64>) -> PyResult<bool> {
    for number in &grown.numbers {
        if reads.contains(&value_id(number.value.bind(py))?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a gradient flows to one of these.
fn flows(py: Python<'_>, computed: &[Bound<'_, PyAny>]) -> PyResult<bool> {
    for value in computed {
        if !value.getattr(intern!(py, "stop_gradient"))?.is_truthy()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Why eager would give an output that shares memory with something else, if so.
fn shared_memory(live: &[LiveOp], outputs: &[i64], sources: &HashSet<i64>) -> Option<String> {
    let memory = Memory::of(live);
    let mut owners = HashMap::new();
    for (i, id) in outputs.iter().enumerate() {
        let owner = memory.owner(*id);
        if sources.contains(&owner) {
            return Some(format!("output {i} is a view of an input or of a parameter"));
        }
        if let Some(other) = owners.insert(owner, i) {
            return Some(format!("outputs {other} and {i} share memory"));
        }
    }
    None
}

fn build_recipe<'py>(
    py: Python<'py>,
    handles: &Handles,
    grown: &Grown,
    main: &Bound<'py, PyAny>,
    kept: &[Used<'_>],
    computed: &[Bound<'py, PyAny>],
    operations: usize,
) -> PyResult<Recipe> {
    let pir = handles.pir.bind(py);
    let block = main.call_method0(intern!(py, "global_block"))?;
    let op_count = |b: &Bound<'py, PyAny>| -> PyResult<usize> { b.call_method0(intern!(py, "num_ops"))?.extract() };
    let outputs = PyList::new(py, computed)?;
    pir.getattr(intern!(py, "append_shadow_outputs"))?.call1((main, &outputs, op_count(&block)?, "output_"))?;

    let sources = PyList::new(py, kept.iter().map(|u| u.source.value.bind(py)))?;
    let end = op_count(&block)?;
    let none = || PyList::empty(py);
    let split = pir.getattr(intern!(py, "split_program"))?.call1((
        main,
        none(),
        sources,
        &outputs,
        none(),
        none(),
        none(),
        (0, end),
        (end, end),
    ))?;
    let programs = split.get_item(0)?;
    let (forward, back) = (programs.get_item(0)?, programs.get_item(1)?);
    let attributes = attributes(handles, &forward, &back, &split.get_item(1)?.cast_into::<PyDict>()?)?;
    let held = if grown.grad {
        let params = kept.iter().filter(|u| matches!(u.argument, Argument::Tensor(_)));
        params.map(|u| (u.source.tensor.clone_ref(py), !u.source.meta.requires_grad)).collect()
    } else {
        Vec::new()
    };
    Ok(Recipe {
        arguments: kept.iter().map(|u| u.argument.clone_ref(py)).collect(),
        attributes: attributes.unbind(),
        held,
        operations,
        outputs: computed.len(),
        keep_intermediates: bytes(py, &forward)? <= KEEP_INTERMEDIATES,
    })
}

/// Bytes of all values of a program whose size is known.
fn bytes(py: Python<'_>, program: &Bound<'_, PyAny>) -> PyResult<i64> {
    let mut total = 0_i64;
    let block = program.call_method0(intern!(py, "global_block"))?;
    for op in block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?.iter() {
        let name: String = op.call_method0(intern!(py, "name"))?.extract()?;
        if matches!(name.as_str(), "pd_op.data" | "builtin.parameter" | "builtin.shadow_output") {
            continue;
        }
        for value in op.call_method0(intern!(py, "results"))?.cast_into::<PyList>()?.iter() {
            if let Ok(shape) = crate::meta::shape(&value) {
                total = total.saturating_add(
                    shape.iter().map(|d| if *d < 0 { KEEP_INTERMEDIATES } else { *d }).fold(8, i64::saturating_mul),
                );
            }
        }
    }
    Ok(total)
}

/// The attributes of `run_program`, in Paddle's own prepared form.
fn attributes<'py>(
    handles: &Handles,
    forward: &Bound<'py, PyAny>,
    backward: &Bound<'py, PyAny>,
    split: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = forward.py();
    let fake_name: String = handles.pir.bind(py).call_method0(intern!(py, "get_fake_value_name"))?.extract()?;
    let is_fake = handles.pir.bind(py).getattr(intern!(py, "is_fake_value"))?;

    // Names as the split gave them.
    let mut names: Vec<(String, Vec<String>)> = Vec::new();
    for (key, values) in split.iter() {
        let mut list = Vec::new();
        for value in values.try_iter()? {
            let value = value?;
            list.push(if let Ok(text) = value.cast::<PyString>() {
                text.to_string()
            } else if is_fake.call1((&value,))?.is_truthy()? {
                fake_name.clone()
            } else {
                value.getattr(intern!(py, "name"))?.extract()?
            });
        }
        names.push((key.extract()?, list));
    }

    // Each value may keep one name only: the executor shares memory by name.
    let by_name = named_values(forward)?;
    let renamed = unify_names(forward)?;
    for name in names.iter_mut().flat_map(|(_, list)| list) {
        if let Some(new) = renamed.get(name) {
            new.clone_into(name);
        }
    }

    let attrs = PyDict::new(py);
    attrs.set_item("forward_program", forward)?;
    attrs.set_item("backward_program", backward)?;
    attrs.set_item("is_test", true)?;
    attrs.set_item("program_id", program_number())?;
    attrs.set_item("in_sot_mode", true)?;
    for (key, list) in &names {
        if key == "fo" {
            let reverse: HashMap<&String, &String> = renamed.iter().map(|(a, b)| (b, a)).collect();
            let out = PyList::empty(py);
            for name in list {
                let value = by_name.get(name).or_else(|| by_name.get(*reverse.get(name)?));
                match value {
                    Some(value) => {
                        value.setattr(intern!(py, "stop_gradient"), true)?;
                        out.append(value)?;
                    }
                    None => return Err(PyRuntimeError::new_err(format!("output {name} is not in the program"))),
                }
            }
            attrs.set_item("fo_values", out)?;
        }
        attrs.set_item(format!("{key}_names"), list)?;
    }
    handles.core.bind(py).getattr(intern!(py, "construct_program_attribute_map"))?.call1((attrs,))
}

/// All values of a program's main block that have a name, by each of their names.
fn named_values<'py>(program: &Bound<'py, PyAny>) -> PyResult<HashMap<String, Bound<'py, PyAny>>> {
    let py = program.py();
    let mut out = HashMap::new();
    for value in all_values(program)? {
        if value.getattr(intern!(py, "has_name"))?.is_truthy()? {
            for name in value.getattr(intern!(py, "_names"))?.try_iter()? {
                out.insert(name?.extract()?, value.clone());
            }
        }
    }
    Ok(out)
}

fn all_values<'py>(program: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = program.py();
    let block = program.call_method0(intern!(py, "global_block"))?;
    let mut out: Vec<Bound<'py, PyAny>> =
        block.call_method0(intern!(py, "kwargs"))?.cast_into::<PyDict>()?.values().iter().collect();
    for op in block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?.iter() {
        out.extend(op.call_method0(intern!(py, "results"))?.cast_into::<PyList>()?.iter());
    }
    Ok(out)
}

/// Leave each value of a program one name. Gives the names that are others now.
fn unify_names(program: &Bound<'_, PyAny>) -> PyResult<HashMap<String, String>> {
    let py = program.py();
    let mut renamed: HashMap<String, String> = HashMap::new();
    let block = program.call_method0(intern!(py, "global_block"))?;
    for value in all_values(program)? {
        if !value.getattr(intern!(py, "has_name"))?.is_truthy()? {
            continue;
        }
        let first: String = value.getattr(intern!(py, "name"))?.extract()?;
        let single: bool = value.call_method0(intern!(py, "_has_only_one_name"))?.extract()?;
        let new = renamed.get(&first).cloned().unwrap_or_else(|| first.clone());
        if single && new == first {
            continue;
        }
        for (old, new) in value.call_method1(intern!(py, "_rename"), (new, &block))?.cast_into::<PyDict>()?.iter() {
            renamed.insert(old.extract()?, new.extract()?);
        }
    }
    Ok(renamed)
}

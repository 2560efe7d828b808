//! Whether a backward pass would call hooks: of a leaf, its node says so.
//!
//! Paddle tells nobody of the hooks that a tensor has, and has no call without effects that would. Its node of the graph of
//! gradients has a number for them, and a list of those that run when its gradient is whole; where these lie is found out on samples: a number
//! that counts hooks up and down, and words that are zero until there is one of the other kind. What is not found the same on all samples
//! is not used, and then no backward pass is part of a graph. The words are read through the kernel's file of the process's memory, which
//! answers for an address where nothing is.

use pyo3::intern;
use pyo3::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process;
use std::sync::OnceLock;

/// Words of a node that are looked at.
const WORDS: usize = 256;

/// Where hooks are seen.
struct Known {
    /// The file is of this process: one that was forked has another.
    process: u32,
    memory: File,
    /// Words that are all zero where there is no hook.
    words: Vec<usize>,
}

static KNOWN: OnceLock<Option<Known>> = OnceLock::new();

/// Whether hooks can be seen.
pub(crate) fn are_seen() -> bool {
    KNOWN.get().is_some_and(Option::is_some)
}

/// Find out where they are. It makes tensors.
pub(crate) fn learn(paddle: &Bound<'_, PyModule>) {
    KNOWN.get_or_init(|| learned(paddle).ok().flatten());
}

/// Whether a leaf has none. Of what is none, nobody knows.
pub(crate) fn is_free_of_hooks(tensor: &Bound<'_, PyAny>) -> bool {
    let py = tensor.py();
    let Some(known) = KNOWN.get().and_then(Option::as_ref) else { return false };
    let is_leaf = tensor.getattr(intern!(py, "is_leaf")).and_then(|leaf| leaf.extract::<bool>());
    is_leaf.is_ok_and(|leaf| leaf) && known.sees_none(tensor).unwrap_or(false)
}

impl Known {
    fn sees_none(&self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(address) = node(tensor)? else { return Ok(true) };
        let reopened;
        let memory = match self.process == process::id() {
            true => &self.memory,
            false => {
                reopened = open()?;
                &reopened
            }
        };
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else { return Ok(false) };
        let mut bytes = vec![0; (last - first + 1) * 8];
        memory.read_exact_at(&mut bytes, address + *first as u64 * 8)?;
        Ok(self.words.iter().all(|word| bytes[(word - first) * 8..][..8].iter().all(|byte| *byte == 0)))
    }
}

fn open() -> PyResult<File> {
    Ok(File::open("/proc/self/mem")?)
}

/// The address of the node that gathers a leaf's gradient, if it has one.
fn node(tensor: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    let py = tensor.py();
    let node = tensor.getattr(intern!(py, "grad_fn"))?;
    if node.is_none() {
        return Ok(None);
    }
    node.call_method0(intern!(py, "node_ptr"))?.extract().map(Some)
}

fn words(memory: &File, tensor: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u64>>> {
    let Some(address) = node(tensor)? else { return Ok(None) };
    let mut bytes = vec![0; WORDS * 8];
    memory.read_exact_at(&mut bytes, address)?;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Ok(Some(bytes.chunks_exact(8).map(word).collect()))
}

fn learned(paddle: &Bound<'_, PyModule>) -> PyResult<Option<Known>> {
    let py = paddle.py();
    let memory = open()?;
    let hook = py.get_type::<pyo3::types::PyList>();
    let mut found: Option<Vec<usize>> = None;
    for shape in [vec![2], vec![3, 4], vec![]] {
        let make = || {
            let tensor = paddle.getattr(intern!(py, "zeros"))?.call1((shape.clone(), "float32"))?;
            tensor.setattr(intern!(py, "stop_gradient"), false)?;
            Ok::<_, PyErr>(tensor)
        };
        let (tensor, other) = (make()?, make()?);
        let Some(none) = words(&memory, &tensor)? else { return Ok(None) };
        let mut counted = Vec::new();
        let mut hooks = Vec::new();
        for _ in 0..3 {
            hooks.push(tensor.call_method1(intern!(py, "register_hook"), (&hook,))?);
            let Some(words) = words(&memory, &tensor)? else { return Ok(None) };
            counted.push(words);
        }
        for hook in hooks {
            hook.call_method0(intern!(py, "remove"))?;
        }
        let Some(removed) = words(&memory, &tensor)? else { return Ok(None) };
        let counts = |at: &usize| {
            none[*at] == 0 && removed[*at] == 0 && counted.iter().zip(1..).all(|(words, count)| words[*at] == count)
        };
        let Some(none) = words(&memory, &other)? else { return Ok(None) };
        other.call_method1(intern!(py, "_register_backward_hook"), (&hook,))?;
        let Some(one) = words(&memory, &other)? else { return Ok(None) };
        let appears = |at: &usize| none[*at] == 0 && one[*at] != 0;
        let here = (0..WORDS).filter(|at| counts(at) || appears(at));
        found = Some(match found {
            Some(before) => here.filter(|at| before.contains(at)).collect(),
            None => here.collect(),
        });
        // One counts, the others are a list's beginning and end.
        let is_count = found.iter().flatten().any(counts);
        if !is_count || !found.iter().flatten().any(appears) {
            return Ok(None);
        }
    }
    Ok(found.map(|words| Known { process: process::id(), memory, words }))
}

//! Gradients as eager leaves them: they do not stop there, and no node is behind them.
//!
//! Paddle's operations mark the gradients that they give so; its program node marks nothing, and from Python only tensors
//! with a node can be marked. So a backward of eager operations, over scalars of ours, gives *blanks*: gradients that are
//! marked, and take the data of the program node's. They are made in advance, at a forward, as many as gradients may be
//! asked for: a backward cannot be run at the end of another one.

use crate::handles::Handles;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blanks that one backward makes.
const BATCH: usize = 32;

static BLANKS: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());
/// How many may be asked for.
static EXPECTED: AtomicUsize = AtomicUsize::new(0);

/// As many blanks as this are there when they are asked for.
pub(crate) struct Reserved(usize);

impl Reserved {
    pub(crate) fn new(py: Python<'_>, handles: &Handles, count: usize) -> PyResult<Reserved> {
        let reserved = Reserved(count);
        let expected = EXPECTED.fetch_add(count, Ordering::Relaxed) + count;
        while lock().len() < expected {
            let made = make(py, handles)?;
            lock().extend(made);
        }
        Ok(reserved)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        EXPECTED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

fn lock() -> std::sync::MutexGuard<'static, Vec<Py<PyAny>>> {
    BLANKS.lock().unwrap_or_else(|e| e.into_inner())
}

fn make(py: Python<'_>, handles: &Handles) -> PyResult<Vec<Py<PyAny>>> {
    let (paddle, c_ops) = (handles.paddle.bind(py), handles.c_ops.bind(py));
    let float32 = paddle.getattr(intern!(py, "float32"))?;
    let cpu = handles.core.bind(py).call_method0(intern!(py, "CPUPlace"))?;
    let leaf = |_| {
        let leaf = c_ops.call_method1(intern!(py, "full"), ([1], 0.0, &float32, &cpu))?;
        leaf.setattr(intern!(py, "stop_gradient"), false)?;
        Ok(leaf)
    };
    let leaves = (0..BATCH).map(leaf).collect::<PyResult<Vec<_>>>()?;
    let all = c_ops.call_method1(intern!(py, "concat"), (&leaves, 0))?;
    paddle.getattr(intern!(py, "autograd"))?.call_method1(intern!(py, "backward"), ([all],))?;
    leaves.iter().map(|leaf| Ok(leaf.getattr(intern!(py, "grad"))?.unbind())).collect()
}

/// Mark the gradient that a program node has left on a leaf.
pub(crate) fn mark(taker: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = taker.py();
    let stop_gradient = intern!(py, "stop_gradient");
    let gradient = taker.getattr(intern!(py, "grad"))?;
    if gradient.is_none() || !gradient.getattr(stop_gradient)?.is_truthy()? {
        return Ok(());
    }
    let Some(blank) = lock().pop() else { return Ok(()) };
    gradient.call_method1(intern!(py, "_share_underline_tensor_to"), (&blank,))?;
    taker.setattr(intern!(py, "grad_"), blank)
}

//! The native check that a tensor is what the graph was built for: class, extents, dtype, place, stop_gradient.
//!
//! Two ways, the first that works: the member functions that Paddle's core library exports (about 20 ns, trusted only
//! after they agreed with the getters on tensors of several kinds), and the getters of the class.

use crate::handles::Handles;
use crate::meta;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use smallvec::SmallVec;
use sot_core::backend::{FreeAxis, TensorCheck};
use sot_core::cpython::cxx_tensor::{CxxFacts, CxxSymbols, CxxTensors, TensorFlag};
use std::ffi::CString;
use std::sync::Arc;

/// The way through the core library.
pub(crate) struct Native {
    tensors: CxxTensors,
    stop_gradient: TensorFlag,
}

impl Native {
    /// `None` where the library does not export what is needed, or means something else by it.
    pub(crate) fn new(py: Python<'_>, handles: &Handles) -> Option<Arc<Native>> {
        let library = core_library(py, handles)?;
        let symbols = CxxSymbols {
            library: &library,
            // After the reference count and the type.
            offset: 2 * size_of::<usize>(),
            defined: c"_ZNK6paddle6Tensor7definedEv",
            dense: c"_ZNK6paddle6Tensor15is_dense_tensorEv",
            allocated: c"_ZNK6paddle6Tensor14has_allocationEv",
            extents: c"_ZNK6paddle6Tensor4dimsEv",
            element_type: c"_ZNK6paddle6Tensor5dtypeEv",
            location: c"_ZNK6paddle6Tensor5placeEv",
        };
        let class = handles.tensor.bind(py);
        let samples = samples(py, handles).ok()?;
        let mut tensors = CxxTensors::new(class, &symbols, |t| self_test(py, handles, t, &samples).unwrap_or(false))?;
        let learned: Vec<_> = samples.iter().map(|(_, tensor)| tensor.clone()).collect();
        tensors.learn(&learned);
        let flagged = handles.paddle.bind(py).getattr("zeros").ok()?.call1((vec![2, 3], "float32")).ok()?;
        let stop_gradient = TensorFlag::new(&flagged, c"stop_gradient", symbols.offset)?;
        Some(Arc::new(Native { tensors, stop_gradient }))
    }
}

/// The path of the library that holds `paddle::Tensor`.
pub(crate) fn core_library(py: Python<'_>, handles: &Handles) -> Option<CString> {
    let package: Vec<String> = handles.paddle.bind(py).getattr("__path__").ok()?.extract().ok()?;
    package
        .iter()
        .map(|dir| std::path::Path::new(dir).join("libs").join("libphi_core.so"))
        .find(|path| path.exists())
        .and_then(|path| CString::new(path.to_str()?).ok())
}

/// Tensors of several kinds, each with its dtype.
fn samples<'py>(py: Python<'py>, handles: &Handles) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
    let zeros = handles.paddle.bind(py).getattr("zeros")?;
    let kinds: [(&[i64], &str); 9] = [
        (&[], "float32"),
        (&[1], "int64"),
        (&[2, 3], "float32"),
        (&[2, 3, 1, 5], "bool"),
        (&[4, 1, 2], "float64"),
        (&[1, 2, 3, 4, 5], "bfloat16"),
        (&[7], "uint8"),
        (&[2, 3, 2, 1, 1, 2], "int32"),
        (&[3, 2], "complex64"),
    ];
    kinds.into_iter().map(|(shape, dtype)| Ok((dtype, zeros.call1((shape.to_vec(), dtype))?))).collect()
}

/// Whether the facts read natively are those that the getters give.
fn self_test(
    py: Python<'_>,
    handles: &Handles,
    tensors: &CxxTensors,
    samples: &[(&str, Bound<'_, PyAny>)],
) -> PyResult<bool> {
    let mut codes: Vec<(&str, i32)> = Vec::new();
    for (dtype, tensor) in samples {
        let Some(facts) = tensors.read(tensor) else { return Ok(false) };
        let expected = meta::of_tensor(tensor)?;
        // One code for each dtype, and no code for two.
        let clash = codes.iter().any(|(d, c)| (d == dtype) != (*c == facts.element_type()));
        let place = place_text(facts.location());
        if facts.extents() != expected.shape.as_slice() || clash || place.as_deref() != Some(&*expected.place) {
            return Ok(false);
        }
        if !tensors.same(tensor.as_borrowed(), &facts) || codes.len() > 32 {
            return Ok(false);
        }
        codes.push((dtype, facts.element_type()));
    }
    // An object without a tensor behind it is refused, not followed.
    // One that was never initialised: else it would have a name of the counter, which the program sees.
    let class = handles.tensor.bind(py);
    let empty = class.call_method1(intern!(py, "__new__"), (class,))?;
    Ok(tensors.read(&empty).is_none_or(|facts| facts.extents().len() <= 1))
}

/// Paddle's text for the kinds of place that the self-test can meet.
fn place_text((device, kind): (i8, i8)) -> Option<String> {
    match kind {
        1 => Some("cpu".to_owned()),
        2 => Some(format!("gpu:{device}")),
        4 => Some(format!("xpu:{device}")),
        _ => None,
    }
}

impl Native {
    /// The extent of a tensor along an axis.
    pub(crate) fn extent(&self, tensor: &Bound<'_, PyAny>, axis: usize) -> Option<i64> {
        self.tensors.extent(tensor, axis)
    }
}

/// Axes along which extents vary.
type Free = SmallVec<[FreeAxis; 2]>;

/// Whether an extent along an axis is what it was, or may vary so far.
fn fits(free: &Free, axis: usize, extent: i64, then: i64) -> bool {
    free.iter().find(|free| free.axis == axis).map_or(extent == then, |free| free.holds(extent))
}

struct NativeCheck {
    native: Arc<Native>,
    facts: CxxFacts,
    /// Along these the extent may be another one.
    axes: Free,
    stop_gradient: bool,
}

impl TensorCheck for NativeCheck {
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool {
        let same = match self.axes.is_empty() {
            true => self.native.tensors.same(tensor, &self.facts),
            false => self
                .native
                .tensors
                .same_but(tensor, &self.facts, |axis, extent, then| fits(&self.axes, axis, extent, then)),
        };
        same && self.native.stop_gradient.truth(tensor) == Some(self.stop_gradient)
    }
}

/// The way through the getters.
struct GetterCheck {
    class: Py<PyType>,
    shape: Vec<i64>,
    axes: Free,
    dtype: Py<PyAny>,
    place: String,
    stop_gradient: bool,
}

impl GetterCheck {
    fn has_shape(&self, shape: &[i64]) -> bool {
        let mut pairs = shape.iter().zip(&self.shape).enumerate();
        shape.len() == self.shape.len() && pairs.all(|(axis, (extent, then))| fits(&self.axes, axis, *extent, *then))
    }

    fn compare(&self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = tensor.py();
        Ok(tensor.get_type().is(&self.class)
            && tensor.getattr(intern!(py, "stop_gradient"))?.is_truthy()? == self.stop_gradient
            && tensor.getattr(intern!(py, "dtype"))?.is(&self.dtype)
            && self.has_shape(&meta::shape(tensor)?)
            && tensor.getattr(intern!(py, "_place_str"))?.extract::<&str>()? == self.place)
    }
}

impl TensorCheck for GetterCheck {
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool {
        self.compare(&tensor).unwrap_or(false)
    }
}

/// The cheapest check that is right for this tensor. Its extents along `axes` may be others.
pub(crate) fn new(
    native: Option<&Arc<Native>>,
    tensor: &Bound<'_, PyAny>,
    axes: &[FreeAxis],
) -> PyResult<Box<dyn TensorCheck>> {
    let axes = SmallVec::from_slice(axes);
    let py = tensor.py();
    let stop_gradient = tensor.getattr(intern!(py, "stop_gradient"))?.is_truthy()?;
    if let Some(native) = native
        && let Some(facts) = native.tensors.read(tensor)
    {
        return Ok(Box::new(NativeCheck { native: native.clone(), facts, axes, stop_gradient }));
    }
    Ok(Box::new(GetterCheck {
        class: tensor.get_type().unbind(),
        shape: meta::shape(tensor)?.to_vec(),
        axes,
        dtype: tensor.getattr(intern!(py, "dtype"))?.unbind(),
        place: tensor.getattr(intern!(py, "_place_str"))?.extract()?,
        stop_gradient,
    }))
}

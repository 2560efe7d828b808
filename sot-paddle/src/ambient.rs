//! The ambient state of Paddle that eager execution depends on, and its guard.
//!
//! Facts, cheapest and most likely to change first: grad mode, default dtype, expected place, amp, static mode, flags.
//! Amp is compared by its module-level record while it is off (one identity check) and fact by fact while it is on.

use crate::handles::Handles;
use crate::inert;
use crate::static_mode::eager_tracer;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use sot_core::backend::AmbientCheck;
use sot_core::cpython::cxx_tensor::{ExportedFlag, ExportedInt, ThreadFlag};
use sot_core::cpython::facts::{DictStamp, TypeStamp};
use sot_core::stop::{Reason, Why};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

/// Whether kernels work on strides, so that slices and transposes are views.
const STRIDE: &str = "FLAGS_use_stride_kernel";

/// Modes in which Paddle tells of each operation that it runs: of what is not finite, or how often each was called.
const LOOKS: &str = "FLAGS_check_nan_inf";
const COUNTS: &str = "FLAGS_low_precision_op_list";

/// Whether Paddle tells of each operation: then they are eager's own.
pub(crate) fn tells_of_operations(py: Python<'_>, handles: &Handles) -> PyResult<bool> {
    let flags = handles.core.bind(py).call_method0("globals")?;
    Ok(flags.get_item(LOOKS)?.is_truthy()? || flags.get_item(COUNTS)?.is_truthy()?)
}

/// Amp as the tracer sees it.
#[derive(PartialEq)]
struct Amp {
    level: String,
    dtype: String,
    promote: bool,
    lists: String,
}

/// Where facts lie that seldom change, as it was when they held: as long as nothing was written there they hold.
struct Unwritten {
    default_dtype: TypeStamp,
    dicts: [DictStamp; 3],
}

impl Unwritten {
    fn is_so(&self) -> bool {
        self.default_dtype.fresh() && self.dicts.iter().all(DictStamp::fresh)
    }

    fn renew(&mut self, py: Python<'_>) {
        self.default_dtype.refresh(py);
        self.dicts.iter_mut().for_each(DictStamp::refresh);
    }
}

/// The thread that was asked last for its tracer, which was the right one, and where that lies: a dict that is kept for as long. No two
/// threads of a process have one number.
struct TracerOf(ThreadId, DictStamp);

impl TracerOf {
    fn is_so(&self) -> bool {
        self.0 == std::thread::current().id() && self.1.fresh()
    }
}

struct Ambient {
    handles: Arc<Handles>,
    has_grad: Py<PyAny>,
    /// The same, where Paddle's library exports it.
    grad_flag: Option<ThreadFlag>,
    grad: bool,
    /// The class that holds the default dtype, and the name of the attribute.
    dtype_owner: Py<PyAny>,
    dtype_name: Py<PyString>,
    default_dtype: Py<PyAny>,
    framework_dict: Py<PyDict>,
    /// None in static mode.
    tracer: Py<PyAny>,
    place: Py<PyAny>,
    /// Of Paddle's translator, where `paddle.jit.enable_to_static` is kept.
    translator: Py<PyDict>,
    amp_dict: Py<PyDict>,
    amp: Option<Amp>,
    flags: Py<PyAny>,
    /// The flag's memory, where Paddle's library exports it.
    stride_flag: Option<ExportedFlag>,
    stride: bool,
    /// As `stride_flag`, of [`LOOKS`] and [`COUNTS`].
    tells_flags: Option<(ExportedFlag, ExportedInt)>,
    tells: bool,
    /// `None`: these facts lie elsewhere, too.
    unwritten: Option<Mutex<Unwritten>>,
    tracer_of: Mutex<Option<TracerOf>>,
}

impl AmbientCheck for Ambient {
    fn matches(&self, py: Python<'_>) -> bool {
        self.try_matches(py).unwrap_or(false)
    }

    fn describe(&self) -> Vec<String> {
        Python::attach(|py| {
            let text = |o: &Py<PyAny>| o.bind(py).str().map_or_else(|_| "?".to_owned(), |s| s.to_string());
            let amp = match &self.amp {
                None => "off".to_owned(),
                Some(amp) => format!("{} {}", amp.level, amp.dtype),
            };
            vec![
                format!("gradients are {}recorded", if self.grad { "" } else { "not " }),
                format!("default dtype is {}", text(&self.default_dtype)),
                format!("expected place is {}", text(&self.place)),
                format!("amp is {amp}"),
                "eager mode".to_owned(),
                format!("{STRIDE} is {}", self.stride),
                format!("Paddle {} of each operation", if self.tells { "tells" } else { "does not tell" }),
            ]
        })
    }
}

impl Ambient {
    /// The default dtype, the place, amp, and whether Paddle's own translator is on.
    fn holds_unwritten(&self, py: Python<'_>) -> PyResult<bool> {
        let Some(unwritten) = &self.unwritten else { return self.holds_written(py) };
        let is_so = |unwritten: &Mutex<Unwritten>| unwritten.lock().is_ok_and(|unwritten| unwritten.is_so());
        if is_so(unwritten) {
            return Ok(true);
        }
        let holds = self.holds_written(py)?;
        if holds && let Ok(mut unwritten) = unwritten.lock() {
            unwritten.renew(py);
        }
        Ok(holds)
    }

    fn has_tracer(&self, py: Python<'_>) -> PyResult<bool> {
        if self.tracer_of.lock().is_ok_and(|tracer| tracer.as_ref().is_some_and(TracerOf::is_so)) {
            return Ok(true);
        }
        let global = self.handles.global_var.bind(py);
        if !global.getattr(intern!(py, "_dygraph_tracer_"))?.is(&self.tracer) {
            return Ok(false);
        }
        // Each thread has a dict of its own there.
        if let Ok(dict) = global.getattr(intern!(py, "__dict__"))?.cast_exact::<PyDict>()
            && dict.get_item(intern!(py, "_dygraph_tracer_"))?.is_some_and(|own| own.is(&self.tracer))
        {
            let now = TracerOf(std::thread::current().id(), DictStamp::new(dict));
            let before = self.tracer_of.lock().ok().and_then(|mut tracer| tracer.replace(now));
            // The dict of a thread that has ended may die here.
            drop(before);
        }
        Ok(true)
    }

    fn holds_written(&self, py: Python<'_>) -> PyResult<bool> {
        if !same(&self.dtype_owner.bind(py).getattr(self.dtype_name.bind(py))?, &self.default_dtype)? {
            return Ok(false);
        }
        match self.framework_dict.bind(py).get_item(intern!(py, "_global_expected_place_"))? {
            Some(place) if place.is(&self.place) => {}
            Some(place) => {
                if place.str()?.to_str()? != self.place.bind(py).str()?.to_str()? {
                    return Ok(false);
                }
            }
            None => return Ok(false),
        }
        if !(amp_is_off(self.amp_dict.bind(py))? && self.amp.is_none()) && amp(py, &self.handles)? != self.amp {
            return Ok(false);
        }
        translates(self.translator.bind(py))
    }

    fn try_matches(&self, py: Python<'_>) -> PyResult<bool> {
        let grad = match self.grad_flag.and_then(ThreadFlag::get) {
            Some(grad) => grad,
            None => self.has_grad.bind(py).call0()?.is_truthy()?,
        };
        if grad != self.grad || !self.holds_unwritten(py)? || !self.has_tracer(py)? {
            return Ok(false);
        }
        let stride = match self.stride_flag {
            Some(flag) => flag.get(),
            None => self.flags.bind(py).get_item(intern!(py, "FLAGS_use_stride_kernel"))?.is_truthy()?,
        };
        if stride != self.stride {
            return Ok(false);
        }
        let tells = match self.tells_flags {
            Some((looks, counts)) => looks.get() || counts.get() != 0,
            None => tells_of_operations(py, &self.handles)?,
        };
        Ok(tells == self.tells)
    }
}

fn same(a: &Bound<'_, PyAny>, b: &Py<PyAny>) -> PyResult<bool> {
    Ok(a.is(b) || a.eq(b)?)
}

/// Whether Paddle keeps no state of amp at all.
fn amp_is_off(module: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(module.get_item(intern!(module.py(), "_g_amp_state_"))?.is_none_or(|state| state.is_none()))
}

/// Amp of this thread; `None` if it changes nothing.
fn amp(py: Python<'_>, handles: &Handles) -> PyResult<Option<Amp>> {
    let tracer = handles.global_var.bind(py).getattr(intern!(py, "_dygraph_tracer_"))?;
    if tracer.is_none() {
        return Ok(None);
    }
    let level = tracer.getattr(intern!(py, "_amp_level"))?.str()?.to_string();
    if level.ends_with("O0") {
        return Ok(None);
    }
    let lists = tracer.call_method0(intern!(py, "_get_amp_op_list"))?;
    let mut names = String::new();
    for list in lists.try_iter()? {
        let mut sorted: Vec<String> = list?.try_iter()?.map(|n| n?.extract()).collect::<PyResult<_>>()?;
        sorted.sort_unstable();
        names.push_str(&sorted.join(" "));
        names.push('|');
    }
    Ok(Some(Amp {
        level,
        dtype: tracer.getattr(intern!(py, "_amp_dtype"))?.str()?.to_string(),
        promote: tracer.getattr(intern!(py, "_use_promote"))?.is_truthy()?,
        lists: names,
    }))
}

/// The state of Paddle's own translator.
fn translator(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let class = py.import("paddle.jit.dy2static.program_translator")?.getattr("ProgramTranslator")?;
    Ok(class.call0()?.getattr("__dict__")?.cast_into::<PyDict>()?)
}

fn translates(translator: &Bound<'_, PyDict>) -> PyResult<bool> {
    translator.get_item(intern!(translator.py(), "enable_to_static"))?.map_or(Ok(true), |on| on.is_truthy())
}

/// States that checks are there for: few, since most captures have the same.
#[derive(Default)]
pub(crate) struct Known(Mutex<Vec<Weak<Ambient>>>);

impl Known {
    /// The check of the state of now; the one that there is, if there is one.
    pub(crate) fn now(&self, py: Python<'_>, handles: &Arc<Handles>) -> PyResult<Arc<dyn AmbientCheck>> {
        let known: Vec<Arc<Ambient>> = match self.0.lock() {
            Ok(mut known) => {
                known.retain(|ambient| ambient.strong_count() > 0);
                known.iter().filter_map(Weak::upgrade).collect()
            }
            Err(_) => Vec::new(),
        };
        if let Some(ambient) = known.into_iter().find(|ambient| ambient.matches(py)) {
            return Ok(ambient);
        }
        let ambient = snapshot(py, handles)?;
        if let Ok(mut known) = self.0.lock() {
            known.push(Arc::downgrade(&ambient));
        }
        Ok(ambient)
    }
}

fn snapshot(py: Python<'_>, handles: &Arc<Handles>) -> PyResult<Arc<Ambient>> {
    let core = handles.core.bind(py);
    let dtype_owner = py.import("paddle.base.layer_helper_base")?.getattr("LayerHelperBase")?;
    let dtype_name = PyString::new(py, "_LayerHelperBase__dtype");
    let flags = core.call_method0("globals")?;
    let stride = flags.get_item(STRIDE)?.is_truthy()?;
    let library = crate::tensor_check::core_library(py, handles);
    let (looks, counts) = (flags.get_item(LOOKS)?.is_truthy()?, flags.get_item(COUNTS)?.extract::<i32>()?);
    let tells_flags = library.as_ref().and_then(|library| {
        let looks = ExportedFlag::new(library, c"_ZN12paddle_flags19FLAGS_check_nan_infE", looks)?;
        let symbol = c"_ZN12paddle_flags27FLAGS_low_precision_op_listE";
        Some((looks, ExportedInt::new(library, symbol, counts..=counts)?))
    });
    // Paddle resolves the place lazily: make it do so before it is compared.
    handles.framework.bind(py).call_method0("_current_expected_place")?;
    let place = handles.framework.bind(py).getattr("_global_expected_place_")?;
    let framework_dict = handles.framework.bind(py).dict();
    let amp_dict = py.import("paddle.amp.auto_cast")?.dict();
    let translator = translator(py)?;
    let amp = amp(py, handles)?;
    // While amp is on, and where its state is there though it is off, the tracer is asked.
    let unwritten = (amp.is_none() && amp_is_off(&amp_dict)?).then(|| {
        let dicts = [&framework_dict, &amp_dict, &translator].map(DictStamp::new);
        dtype_owner
            .cast::<PyType>()
            .ok()
            .map(|class| Mutex::new(Unwritten { default_dtype: TypeStamp::new(class), dicts }))
    });
    Ok(Arc::new(Ambient {
        grad: handles.has_grad.bind(py).call0()?.is_truthy()?,
        default_dtype: dtype_owner.getattr(&dtype_name)?.unbind(),
        framework_dict: framework_dict.unbind(),
        place: place.unbind(),
        translator: translator.unbind(),
        amp_dict: amp_dict.unbind(),
        amp,
        stride_flag: library
            .as_ref()
            .and_then(|library| ExportedFlag::new(library, c"_ZN12paddle_flags23FLAGS_use_stride_kernelE", stride)),
        stride,
        tells_flags,
        tells: looks || counts != 0,
        tracer: eager_tracer(py, handles)?.unbind(),
        handles: handles.clone(),
        has_grad: handles.has_grad.clone_ref(py),
        grad_flag: handles.grad_flag(py),
        dtype_owner: dtype_owner.unbind(),
        dtype_name: dtype_name.unbind(),
        flags: flags.unbind(),
        unwritten: unwritten.flatten(),
        tracer_of: Mutex::default(),
    }))
}

/// States in which nothing is captured.
pub(crate) fn unsupported(py: Python<'_>, handles: &Handles) -> Option<Why> {
    let state = handles.global_var.bind(py);
    let to_static = state.getattr(intern!(py, "_in_to_static_mode_")).is_ok_and(|t| t.is_truthy().unwrap_or(true));
    let pir = state.getattr(intern!(py, "_use_pir_api_")).is_ok_and(|t| t.is_truthy().unwrap_or(false));
    if to_static {
        return Some(Why::new(Reason::AmbientMode, "another translator is building a program"));
    }
    if translator(py).and_then(|translator| translates(&translator)).is_ok_and(|on| !on) {
        return Some(Why::new(Reason::AmbientMode, "paddle.jit.enable_to_static(False) is in force"));
    }
    if let Some(name) = inert::replaced_builtin(py) {
        return Some(Why::new(Reason::AmbientMode, format!("builtins.{name} was replaced")));
    }
    if !pir {
        return Some(Why::new(Reason::FrameworkUnusable, "Paddle's FLAGS_enable_pir_api is off"));
    }
    None
}

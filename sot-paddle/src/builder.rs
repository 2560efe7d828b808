//! A PIR program under construction.
//!
//! Inputs and the parameters of leaf layers are `data` operations with names of ours, so that nothing depends on the
//! names of tensors, which may be missing or equal. Every other eager tensor that turns up inside an operation would
//! be a value computed at capture time and frozen into the graph: such a call is refused.

use crate::acting::{self, OnGradients};
use crate::alias;
use crate::amp::Casting;
use crate::arguments;
use crate::attr;
use crate::default_dtype::{Changed, DEFAULT};
use crate::gradients;
use crate::grown::{Extents, Grown, Number, Source};
use crate::handles::{Handles, value_id};
use crate::inspect::{self, Seen};
use crate::meta::Meta;
use crate::modes::{GRAD, Recording, Set};
use crate::quiet::Quiet;
use crate::static_mode::{StaticMode, gist};
use crate::written::{self, Write};
use crate::{exact, extents, flowing, inert, layers, leaves, meta, program};
use hashbrown::{HashMap, HashSet};
use pyo3::exceptions::{PyFloatingPointError, PyNotImplementedError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PySet, PyString, PyTuple};
use smallvec::SmallVec;
use sot_core::backend::{
    Acts, Attr, BuildError, CallKind, Extent, Finished, GraphBuilder, Mode, OpCall, TensorMeta, UserFrame,
};
use sot_core::numpy;
use sot_core::stop::{Reason, Why};
use std::cell::Cell;
use std::sync::Arc;

pub(crate) struct PaddleBuilder {
    grown: Grown,
    mode: StaticMode,
    _quiet: Quiet,
    /// Paddle's own map from `id(tensor)` to value, for this program: filled by us for the state of leaf layers.
    recorded: Py<PyDict>,
    /// Tensors that Paddle recorded itself: unknown to us, so the call that brought them is refused.
    foreign: Py<PySet>,
    recorder_key: Py<PyAny>,
    seen: Seen,
    recording: Recording,
    /// `None`: nothing is cast here.
    casting: Option<Casting>,
    default_dtype: Changed,
    /// How the last operation acts on what the program has not made.
    acts: Acts,
}

/// A refusal without an exception of the framework.
pub(crate) fn refuse(reason: Reason, detail: impl Into<String>) -> BuildError {
    BuildError::new(Why::new(reason, detail))
}

/// A refusal because the framework raised.
pub(crate) fn rejected(py: Python<'_>, name: &str, cause: PyErr) -> BuildError {
    let text = cause.value(py).to_string();
    let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().trim();
    let detail =
        format!("{name}: {}: {first}", cause.get_type(py).name().map_or_else(|_| "error".into(), |n| n.to_string()));
    forget_frames(py, &cause);
    BuildError { cause: Some(Box::new(cause)), ..refuse(Reason::ApiRejected, detail) }
}

/// Take the tracebacks off an exception: their frames hold symbolic values, which must not outlive the program.
fn forget_frames(py: Python<'_>, raised: &PyErr) {
    let mut next = Some(raised.value(py).clone().into_any());
    for _ in 0..32 {
        let Some(exception) = next.filter(|e| !e.is_none()) else { break };
        // A refusal to forget changes nothing for the user.
        let _ = exception.setattr(intern!(py, "__traceback__"), py.None());
        next = exception.getattr(intern!(py, "__context__")).ok();
    }
}

impl PaddleBuilder {
    pub(crate) fn begin(py: Python<'_>, handles: &Arc<Handles>) -> PyResult<PaddleBuilder> {
        let tracer = handles.global_var.bind(py).getattr(intern!(py, "_dygraph_tracer_"))?;
        let grad: bool = tracer.getattr(intern!(py, "_has_grad"))?.extract()?;
        let place = meta::expected_place(py, handles)?;
        let main = handles.program.bind(py).call0()?;
        let startup = handles.program.bind(py).call0()?;
        let recorded = PyDict::new(py);
        let foreign = PySet::empty(py)?;
        let key = (main.as_ptr() as usize).into_pyobject(py)?.into_any();
        let casting = Casting::at_entry(py, handles)?;
        let quiet = Quiet::begin(py, handles);
        let mode = StaticMode::enter(py, handles, &main, &startup)?;
        handles.recorder_sets.bind(py).set_item(&key, &foreign)?;
        handles.recorder_values.bind(py).set_item(&key, &recorded)?;
        Ok(PaddleBuilder {
            grown: Grown {
                handles: handles.clone(),
                main: main.unbind(),
                inputs: Vec::new(),
                params: Vec::new(),
                input_of: HashMap::new(),
                grad,
                place,
                told: false,
                writes: false,
                acts: false,
                kept: HashMap::new(),
                made: HashMap::new(),
                leaves: HashSet::new(),
                is_backward_done: false,
                gradients_set: HashMap::new(),
                draws: false,
                asks: false,
                rounds: None,
                looked_at: Cell::new(0),
                extents: Extents::default(),
                numbers: Vec::new(),
            },
            mode,
            _quiet: quiet,
            recorded: recorded.unbind(),
            foreign: foreign.unbind(),
            recorder_key: key.unbind(),
            seen: Seen::default(),
            recording: Recording::at_entry(grad),
            casting,
            default_dtype: Changed::default(),
            acts: Acts::Nothing,
        })
    }

    /// A `data` operation that stands for `tensor`. Its extents along `axes` are not known.
    fn source(&self, tensor: &Bound<'_, PyAny>, axes: &[usize], name: String) -> PyResult<Source> {
        let py = tensor.py();
        let mut meta = meta::of_tensor(tensor)?;
        axes.iter().for_each(|axis| meta.shape[*axis] = -1);
        let value = self.grown.handles.pir_ops.bind(py).getattr(intern!(py, "data"))?.call1((
            name,
            meta.shape.to_vec(),
            tensor.getattr(intern!(py, "dtype"))?,
            &self.grown.handles.any_place,
        ))?;
        value.setattr(intern!(py, "stop_gradient"), self.recording.stops(meta.requires_grad))?;
        value.setattr(intern!(py, "persistable"), true)?;
        Ok(Source { tensor: tensor.clone().unbind(), value: value.unbind(), meta })
    }

    /// Make the state of a leaf layer known to the program.
    fn adopt_state(&mut self, layer: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = layer.py();
        let mut tensors = Vec::new();
        layers::collect_tensors(&self.grown.handles, layer, &mut tensors)?;
        for tensor in tensors {
            let id = (tensor.as_ptr() as usize).into_pyobject(py)?;
            if !self.recorded.bind(py).contains(&id)? {
                let source = self.source(&tensor, &[], format!("sot_param_{}", self.grown.params.len()))?;
                self.recorded.bind(py).set_item(&id, &source.value)?;
                self.grown.params.push(source);
            }
        }
        Ok(())
    }

    fn op_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.grown
            .main
            .bind(py)
            .call_method0(intern!(py, "global_block"))?
            .call_method0(intern!(py, "num_ops"))?
            .extract()
    }

    /// Remove what a refused call appended, last first.
    fn roll_back(&mut self, py: Python<'_>, to: usize) -> PyResult<()> {
        let block = self.grown.main.bind(py).call_method0(intern!(py, "global_block"))?;
        let ops = block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?;
        let mut removed = Vec::new();
        for i in (to..ops.len()).rev() {
            removed.push(ops.get_item(i)?.call_method0(intern!(py, "id"))?.extract()?);
            block.call_method1(intern!(py, "remove_op"), (ops.get_item(i)?,))?;
        }
        inspect::forget(&mut self.seen, removed.into_iter());
        self.foreign.bind(py).clear();
        Ok(())
    }

    /// `tensor.cpu()` and `tensor.to(dtype)`, which programs lack: the tensor itself where it is so already, as in eager, or a cast of it.
    fn moved<'py>(
        &self,
        op: &OpCall<'_, 'py>,
        tensor: &Bound<'py, PyAny>,
        rest: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = tensor.py();
        let unknown = || PyNotImplementedError::new_err("only eager knows where it moves a tensor");
        if op.kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
            return Err(unknown());
        }
        let handles = &self.grown.handles;
        let own = self.input_behind(tensor);
        let place =
            |value: &Bound<'py, PyAny>| self.input_behind(value).map_or(&self.grown.place, |source| &source.meta.place);
        let is_on_cpu = |value: &Bound<'py, PyAny>| place(value).contains("cpu");
        match rest.extract::<(Bound<'py, PyAny>,)>() {
            // To where it is already.
            Ok((device,)) if op.name == "to" && is_on_cpu(tensor) && attr::is_cpu(&device) => Ok(tensor.clone()),
            // To where another one is, and to its type.
            Ok((other,)) if op.name == "to" && handles.is_value(&other) => {
                if !is_on_cpu(tensor) || !is_on_cpu(&other) {
                    return Err(unknown());
                }
                let dtype = attr::dtype(handles, &other)?;
                self.moved(op, tensor, &PyTuple::new(py, [dtype])?)
            }
            Err(_) if op.name == "cpu" && rest.is_empty() => {
                let place = own.map_or(&self.grown.place, |source| &source.meta.place);
                if place.contains("cpu") { Ok(tensor.clone()) } else { Err(unknown()) }
            }
            Ok((dtype,)) if op.name == "to" => {
                let name = dtype.cast::<PyString>().ok().map(|name| name.to_string());
                let named = name.filter(|name| ELEMENT_TYPES.contains(&name.as_str()));
                // A name is never equal to a type, so that such a tensor is cast to the type that it has.
                let always = named.is_some();
                let dtype = match named {
                    Some(name) => handles.paddle.bind(py).getattr(name)?,
                    None => dtype,
                };
                let known = dtype.get_type().is(handles.dtype.bind(py));
                // Without gradients a cast stops them, and eager says afterwards that it does not.
                let stops = self.grown.stops(tensor)?;
                match known && (self.recording.on || stops) {
                    true if !always && tensor.getattr(intern!(py, "dtype"))?.eq(&dtype)? => Ok(tensor.clone()),
                    true => handles.c_ops.bind(py).getattr(intern!(py, "cast"))?.call1((tensor, dtype)),
                    false => Err(unknown()),
                }
            }
            _ => Err(unknown()),
        }
    }

    /// Indexing that takes everything gives the value itself in a program, and a new view in eager.
    fn new_view<'py>(&self, base: &Bound<'py, PyAny>, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = result.py();
        if !self.grown.handles.is_value(&result)
            || !self.grown.handles.is_value(base)
            || value_id(base)? != value_id(&result)?
        {
            return Ok(result);
        }
        let keep = vec![0_i64; meta::shape(&result)?.len()];
        self.grown.handles.c_ops.bind(py).getattr(intern!(py, "reshape"))?.call1((result, keep))
    }

    /// Look at what a call appended.
    fn inspect(&mut self, op_name: &str, result: &Bound<'_, PyAny>) -> Result<(), BuildError> {
        let mut values = Vec::new();
        inspect::values_in(&self.grown.handles, result, &mut values);
        match inspect::look(&self.grown.handles, &mut self.seen, &values) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => {
                // Written one by one, the operations of the function write tensors that are its own.
                let inside = why.reason == Reason::InplaceTensor;
                Err(BuildError { inside, ..refuse(why.reason, format!("{op_name}: {}", why.detail)) })
            }
            Err(e) => Err(rejected(result.py(), op_name, e)),
        }
    }

    fn invoke<'py>(&self, py: Python<'py>, op: &OpCall<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let filled = arguments::with_filled_bools(&self.grown, op)?;
        let op = &match &filled {
            Some(args) => OpCall { args, ..*op },
            None => OpCall { ..*op },
        };
        if let Some(result) = exact::as_eager(&self.grown.handles, op)? {
            return Ok(result);
        }
        if gradients::asks(&self.grown, op) {
            return gradients::built(&self.grown, op, self.recording.on);
        }
        match (op.kind, op.callee) {
            (CallKind::Layer, Some(layer)) => {
                let notes = layers::Notes::keep(layer)?;
                let result = layer.call_method(intern!(py, "forward"), op.args.clone(), op.kwargs);
                notes.restore()?;
                result
            }
            (_, Some(callee)) => {
                let result = callee.call(op.args, op.kwargs)?;
                if op.name.contains("getitem") { self.new_view(&op.args.get_item(0)?, result) } else { Ok(result) }
            }
            (_, None) => {
                let receiver = op.args.get_item(0)?;
                if op.name == "contiguous" {
                    // Programs know no strides.
                    return Ok(receiver);
                }
                let rest = op.args.get_slice(1, op.args.len());
                if let Some(answer) = attr::of_dense(op.name) {
                    return match rest.is_empty() && op.kwargs.is_none_or(|kwargs| kwargs.is_empty()) {
                        true => Ok(PyBool::new(py, answer).to_owned().into_any()),
                        false => Err(PyNotImplementedError::new_err("it takes no arguments")),
                    };
                }
                if let "cpu" | "to" = op.name {
                    return self.moved(op, &receiver, &rest);
                }
                if op.name == "view"
                    && op.kwargs.is_none_or(|kwargs| kwargs.is_empty())
                    && let Ok((shape,)) = rest.extract::<(Bound<'py, PyAny>,)>()
                    && (shape.is_exact_instance_of::<PyList>() || shape.is_exact_instance_of::<PyTuple>())
                {
                    // The method asks for an eager tensor, the operation does not.
                    let view = self.grown.handles.c_ops.bind(py).getattr(intern!(py, "view_shape"))?;
                    return view.call1((receiver, PyList::new(py, shape.try_iter()?.collect::<PyResult<Vec<_>>>()?)?));
                }
                let result = receiver.getattr(op.name)?.call(rest, op.kwargs)?;
                if op.name.contains("getitem") { self.new_view(&receiver, result) } else { Ok(result) }
            }
        }
    }

    /// The program says whether gradients flow to a tensor.
    fn flows_to(&mut self, tensor: &Bound<'_, PyAny>, flows: bool) -> PyResult<()> {
        let py = tensor.py();
        self.recording.tell_apart(py, &self.grown)?;
        self.grown.told = true;
        tensor.setattr(intern!(py, "stop_gradient"), !flows)?;
        if let Some(input) = self.grown.input_index(value_id(tensor)?) {
            self.grown.inputs[input].meta.requires_grad = flows;
        } else if let Some(made) = self.grown.made.get_mut(&value_id(tensor)?) {
            made.meta.requires_grad = flows;
        } else if flows {
            self.grown.leaves.insert(value_id(tensor)?);
        }
        Ok(())
    }

    /// Check that a result holds nothing but symbolic values and plain constants; eager tensors become values.
    fn settle<'py>(&self, result: Bound<'py, PyAny>, depth: usize) -> Result<Bound<'py, PyAny>, String> {
        let py = result.py();
        if self.grown.handles.is_value(&result) {
            return Ok(result);
        }
        if self.grown.handles.is_tensor(&result) {
            let known = self.recorded.bind(py).get_item(result.as_ptr() as usize).ok().flatten();
            return known.ok_or_else(|| "the result is a tensor computed at capture".to_owned());
        }
        if depth == 0 {
            return Err("the result is nested too deeply".to_owned());
        }
        let walk = |items: Vec<Bound<'py, PyAny>>| -> Result<Vec<Bound<'py, PyAny>>, String> {
            items.into_iter().map(|i| self.settle(i, depth - 1)).collect()
        };
        let fail = |e: PyErr| e.to_string();
        if result.is_exact_instance_of::<PyTuple>() {
            let items = walk(result.cast::<PyTuple>().map_err(|e| e.to_string())?.iter().collect())?;
            return Ok(PyTuple::new(py, items).map_err(fail)?.into_any());
        }
        if result.is_exact_instance_of::<PyList>() {
            let items = walk(result.cast::<PyList>().map_err(|e| e.to_string())?.iter().collect())?;
            return Ok(PyList::new(py, items).map_err(fail)?.into_any());
        }
        if result.is_exact_instance_of::<PyDict>() {
            let out = PyDict::new(py);
            for (k, v) in result.cast::<PyDict>().map_err(|e| e.to_string())?.iter() {
                out.set_item(k, self.settle(v, depth - 1)?).map_err(fail)?;
            }
            return Ok(out.into_any());
        }
        Ok(result)
    }
    /// The input that a value is, if it is one.
    fn input_behind(&self, value: &Bound<'_, PyAny>) -> Option<&Source> {
        let input = self.grown.input_index(value_id(value).ok()?)?;
        Some(&self.grown.inputs[input])
    }

    /// What an operation that acts makes of gradients, as far as it is known.
    fn note_gradients(&mut self, op: &OpCall<'_, '_>) -> PyResult<()> {
        let (on, grown) = (op.args.get_item(0).ok(), &mut self.grown);
        let on = on.and_then(|on| value_id(&on).ok());
        match (acting::on_gradients(op), on) {
            (OnGradients::Given, _) => (grown.is_backward_done, grown.gradients_set) = (true, HashMap::new()),
            (OnGradients::Read, _) => {}
            (OnGradients::Set { is_tensor }, Some(on)) => drop(grown.gradients_set.insert(on, is_tensor)),
            (OnGradients::Set { .. }, None) => {
                (grown.is_backward_done, grown.gradients_set) = (false, HashMap::new());
            }
        }
        Ok(())
    }

    /// Forget the program in Paddle's recorder and leave the mode.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let forget = |map: &Py<PyDict>| {
            let map = map.bind(py);
            if map.contains(&self.recorder_key)? { map.del_item(&self.recorder_key) } else { Ok(()) }
        };
        let steps = [
            forget(&self.grown.handles.recorder_sets),
            forget(&self.grown.handles.recorder_values),
            self.mode.leave(py),
        ];
        steps.into_iter().collect()
    }

    /// A write in place. The value of what is written stands for it from then on as before.
    fn write<'py>(
        &mut self,
        op: &OpCall<'_, 'py>,
        write: &Write<'py>,
        at: &[UserFrame],
    ) -> Result<Bound<'py, PyAny>, BuildError> {
        let (py, target) = (op.args.py(), &write.target);
        let fail = |e: PyErr| rejected(py, op.name, e);
        let words = written::in_words(op);
        let outside = written::is_outside(target).map_err(fail)?;
        if outside && op.may_act < Acts::OnMemory {
            return Err(refuse(Reason::InplaceTensor, format!("{words} of memory that may not be the function's own")));
        }
        if written::may_widen(op) && meta::shape(target).map_err(fail)?.iter().any(|extent| *extent < 0) {
            return Err(refuse(Reason::InplaceTensor, format!("{words} of a tensor whose extents vary")));
        }
        if write.is_built(op) {
            let before = self.op_count(py).map_err(fail)?;
            // The form that does not write has no objections to views.
            let name = written::without_writing(op);
            let has_it = target.hasattr(name).map_err(fail)?;
            let pure = OpCall { kind: CallKind::Method, name, callee: None, ..*op };
            let built = self.run_call(if has_it { &pure } else { op }, at)?;
            let same = written::is_alike(&built, target);
            self.roll_back(py, before).map_err(fail)?;
            if !same.map_err(fail)? {
                return Err(refuse(Reason::InplaceTensor, format!("{words} of another shape or type")));
            }
        }
        if self.recording.on && !write.detached {
            let mut values = Vec::new();
            inspect::values_in(&self.grown.handles, op.args, &mut values);
            if let Some(kwargs) = op.kwargs {
                inspect::values_in(&self.grown.handles, kwargs, &mut values);
            }
            let shared = written::is_shared(target).map_err(fail)?;
            for value in &values {
                if outside && !self.grown.stops(value).map_err(fail)? {
                    // What has a gradient from then on, and which views have it as well, only eager knows.
                    let why = format!("{words} of memory that may not be the function's own, with gradients");
                    return Err(refuse(Reason::InplaceTensor, why));
                }
                if !self.grown.stops(value).map_err(fail)? && self.grown.stops(target).map_err(fail)? {
                    if shared {
                        // Some views have one flag with what they are views of.
                        return Err(refuse(Reason::InplaceTensor, format!("{words} makes views require gradients")));
                    }
                    target.setattr(intern!(py, "stop_gradient"), false).map_err(fail)?;
                }
            }
        }
        self.grown.writes = true;
        self.acts = if outside { Acts::OnMemory } else { Acts::Nothing };
        self.grown.draws |= write.draws;
        Ok(if write.gives_nothing { py.None().into_bound(py) } else { target.clone() })
    }

    /// What the framework does with what it keeps beside tensors. No program has a form of it: replays do it.
    fn act<'py>(&mut self, op: &OpCall<'_, 'py>, acts: Acts) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = op.args.py();
        self.note_gradients(op).map_err(|e| rejected(py, op.name, e))?;
        if op.may_act < acts {
            return Err(refuse(Reason::InplaceTensor, format!("{}: it changes what others may look at", op.name)));
        }
        self.grown.acts = true;
        self.acts = acts;
        Ok(py.None().into_bound(py))
    }

    /// A parameter that the program makes.
    fn make_parameter<'py>(&mut self, op: &OpCall<'_, 'py>) -> Result<Bound<'py, PyAny>, BuildError> {
        let fail = |e: PyErr| rejected(op.args.py(), op.name, e);
        let _building = self.mode.building(op.args.py()).map_err(fail)?;
        leaves::grow(&mut self.grown, op, self.recording).map_err(fail)
    }

    fn run_call<'py>(&mut self, op: &OpCall<'_, 'py>, at: &[UserFrame]) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = op.args.py();
        let fail = |e: PyErr| rejected(py, op.name, e);
        self.mode.show(py, at).map_err(fail)?;
        let building = self.mode.building(py).map_err(fail)?;
        if let (CallKind::Layer, Some(layer)) = (op.kind, op.callee) {
            self.adopt_state(layer).map_err(fail)?;
        }
        let before = self.op_count(py).map_err(fail)?;
        let handles = self.grown.handles.clone();
        let newest = self.recording.newest(py, &self.grown, before).map_err(fail)?;
        let mode = Set::to(py, &handles, self.recording.on).map_err(fail)?;
        // Gradients have the types of what they are gradients of.
        let cast = || match self.casting.as_ref().filter(|_| !gradients::asks(&self.grown, op)) {
            Some(casting) => casting.within(py, &handles, || flowing::kept(&handles, op, || self.invoke(py, op))),
            None => flowing::kept(&handles, op, || self.invoke(py, op)),
        };
        // What numpy warns of while an operation is built it warns of when that runs, too, and of a run of the compiled form nobody.
        let invoke = || numpy::raising_warnings(py, cast);
        let invoked = self.default_dtype.within(py, &handles, invoke).and_then(|invoked| invoked);
        let given_back = mode.give_back(py);
        let invoked = invoked.and_then(|result| given_back.map(|()| result));
        if let (Some(_), Ok(result)) = (newest, &invoked) {
            let mut values = Vec::new();
            inspect::values_in(&handles, result, &mut values);
            Recording::settle(newest, &values).map_err(fail)?;
        }
        let outcome = match invoked {
            Ok(_) if building.warned().is_some() => {
                let text = building.warned().unwrap_or_default();
                Err(refuse(Reason::GivesWarning, format!("{}: {}", op.name, gist(text))))
            }
            Ok(result) if self.foreign.bind(py).is_empty() => {
                let settled =
                    self.settle(result, 8).map_err(|why| refuse(Reason::ApiRejected, format!("{}: {why}", op.name)));
                let inspected = settled.and_then(|r| self.inspect(op.name, &r).map(|()| r));
                if let (Ok(result), None) = (&inspected, &self.grown.rounds)
                    && exact::rounds(&self.grown.handles, op, result)
                {
                    self.grown.rounds = Some(format!("{} with a number that float32 does not hold", op.name));
                }
                inspected
            }
            Ok(_) => {
                Err(refuse(Reason::ApiRejected, format!("{}: it reads a tensor that is not an argument", op.name)))
            }
            Err(e) if e.is_instance_of::<PyFloatingPointError>(py) => {
                Err(refuse(Reason::GivesWarning, format!("{}: {}", op.name, e.value(py))))
            }
            Err(e) => Err(rejected(py, op.name, e)),
        };
        if outcome.is_err() {
            self.roll_back(py, before).map_err(fail)?;
        }
        outcome
    }
}

impl Drop for PaddleBuilder {
    fn drop(&mut self) {
        Python::attach(|py| {
            // An error cannot be reported from a drop; every step was tried.
            let _ = self.close(py);
        });
    }
}

impl GraphBuilder for PaddleBuilder {
    fn input<'py>(&mut self, tensor: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, BuildError> {
        self.input_that_varies(tensor, &[])
    }

    fn input_that_varies<'py>(
        &mut self,
        tensor: &Bound<'py, PyAny>,
        axes: &[usize],
    ) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = tensor.py();
        let dense = tensor.call_method0(intern!(py, "is_dense")).and_then(|d| d.extract::<bool>());
        if !dense.is_ok_and(|d| d) {
            return Err(refuse(Reason::ValueKind, "a tensor that is not dense"));
        }
        let _building = self.mode.building(py).map_err(|e| rejected(py, "input", e))?;
        let source = self
            .source(tensor, axes, format!("sot_input_{}", self.grown.inputs.len()))
            .map_err(|e| rejected(py, "input", e))?;
        let value = source.value.bind(py).clone();
        let id = value_id(&value).map_err(|e| rejected(py, "input", e))?;
        self.grown.input_of.insert(id, self.grown.inputs.len());
        self.grown.inputs.push(source);
        Ok(value)
    }

    fn number_that_varies(&mut self, py: Python<'_>, now: i64) -> Option<usize> {
        let _building = self.mode.building(py).ok()?;
        let (data, name) = (intern!(py, "data"), format!("sot_number_{}", self.grown.numbers.len()));
        let place = &self.grown.handles.any_place;
        let made = self.grown.handles.pir_ops.bind(py).getattr(data).and_then(|data| {
            let value = data.call1((name, [-1], self.grown.handles.paddle.bind(py).getattr("int64")?, place))?;
            value.setattr(intern!(py, "stop_gradient"), true)?;
            Ok(value)
        });
        self.grown.numbers.push(Number { value: made.ok()?.unbind(), now });
        Some(self.grown.numbers.len() - 1)
    }

    fn extents(&mut self, value: &Bound<'_, PyAny>) -> Option<SmallVec<[Extent; 6]>> {
        let _building = self.mode.building(value.py()).ok()?;
        match extents::of_value(&self.grown, value) {
            Ok(Some(Attr::Extents { known_by, .. })) => Some(known_by),
            _ => None,
        }
    }

    fn extent<'py>(&mut self, py: Python<'py>, extent: &Extent) -> Option<Bound<'py, PyAny>> {
        let _building = self.mode.building(py).ok()?;
        // No gradient flows to it, whatever the mode.
        extents::value(&mut self.grown, py, extent).ok()
    }

    fn call<'py>(&mut self, op: &OpCall<'_, 'py>, at: &[UserFrame]) -> Result<Bound<'py, PyAny>, BuildError> {
        self.acts = Acts::Nothing;
        if leaves::makes_one(&self.grown.handles, op) {
            return self.make_parameter(op);
        }
        let plain = arguments::with_plain_numbers(&self.grown, op).map_err(|e| rejected(op.args.py(), op.name, e))?;
        let op = &match &plain {
            Some(args) => OpCall { args, ..*op },
            None => OpCall { ..*op },
        };
        if let Some(acts) = acting::of(op) {
            return self.act(op, acts);
        }
        let handles = self.grown.handles.clone();
        if inert::calls_back(&handles, &|layer| layers::is_leaf(&handles, layer, DEEPEST_LEAF), op) {
            let why = format!("{}: it calls a function of the program", op.name);
            return Err(BuildError { inside: true, ..refuse(Reason::ApiRejected, why) });
        }
        let write = Write::of(&self.grown, op);
        let forbidden = if write.is_some() { alias::forbidden_arguments(op) } else { alias::forbidden(op) };
        if let Some(why) =
            forbidden.or_else(|| arguments::differs(&self.grown, op)).or_else(|| arguments::holds_large_int(op))
        {
            return Err(BuildError::new(why));
        }
        match write {
            Some(write) => self.write(op, &write, at),
            None => {
                let result = self.run_call(op, at)?;
                if alias::makes_leaf(op) && self.grown.handles.is_value(&result) {
                    self.flows_to(&result, true).map_err(|e| rejected(result.py(), op.name, e))?;
                }
                if gradients::asks(&self.grown, op) {
                    gradients::settle(&self.grown, op, &result).map_err(|e| rejected(result.py(), op.name, e))?;
                    self.grown.asks = true;
                }
                Ok(result)
            }
        }
    }

    fn acts(&self) -> Acts {
        self.acts
    }

    fn getattr<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        name: &str,
        at: &[UserFrame],
    ) -> Result<Attr<'py>, BuildError> {
        let py = value.py();
        self.mode.show(py, at).map_err(|e| rejected(py, name, e))?;
        if name == "shape"
            && let Some(extents) = extents::of_value(&self.grown, value).map_err(|e| rejected(py, name, e))?
        {
            return Ok(extents);
        }
        let own = self.input_behind(value);
        if acting::is_gradient(name)
            && let Some(meta) = leaves::of_leaf(&self.grown, value, name).map_err(|e| rejected(py, name, e))?
        {
            let set = value_id(value).ok().and_then(|id| self.grown.gradients_set.get(&id));
            let is_there = *set.unwrap_or(&self.grown.is_backward_done);
            return Ok(Attr::Kept { expected: (is_there && meta.requires_grad).then(|| meta.into()) });
        }
        let made = value_id(value).ok().and_then(|id| self.grown.made.get(&id));
        if let Some(made) = made
            && let Some(answer) = attr::of_parameter(name, made.meta.requires_grad)
        {
            return Ok(Attr::Constant(PyBool::new(py, answer).to_owned().into_any()));
        }
        if let Some(kept) = value_id(value).ok().and_then(|id| self.grown.kept.get(&id))
            && let Some(flows) = attr::flows(name, kept.requires_grad)
        {
            return Ok(Attr::Constant(PyBool::new(py, flows).to_owned().into_any()));
        }
        let _building = self.mode.building(py).map_err(|e| rejected(py, name, e))?;
        // The value itself is an operation of the program.
        let newest = self.recording.newest(py, &self.grown, 1).map_err(|e| rejected(py, name, e))?;
        let handles = &self.grown.handles;
        let read = || attr::read(handles, value, name, own);
        let attr = match &self.casting {
            Some(casting) => casting.within(py, handles, read),
            None => read(),
        };
        let attr = attr.map_err(|e| rejected(py, name, e))?;
        let Attr::Value(result) = attr else { return Ok(attr) };
        let result = self.new_view(value, result).map_err(|e| rejected(py, name, e))?;
        Recording::settle(newest, std::slice::from_ref(&result)).map_err(|e| rejected(py, name, e))?;
        self.inspect(name, &result)?;
        Ok(Attr::Value(result))
    }

    fn kept<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        name: &str,
        meta: &TensorMeta,
    ) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = value.py();
        let fail = |e: PyErr| rejected(py, name, e);
        let meta = Meta::told(meta);
        let _building = self.mode.building(py).map_err(fail)?;
        let dtype = value.getattr(intern!(py, "dtype")).map_err(fail)?;
        // Only replays read it.
        self.grown.acts = true;
        let data = self.grown.handles.pir_ops.bind(py).getattr(intern!(py, "data"));
        let name = format!("sot_kept_{}", self.grown.kept.len());
        let place = &self.grown.handles.any_place;
        let kept = data.and_then(|data| data.call1((name, meta.shape.to_vec(), dtype, place))).map_err(fail)?;
        kept.setattr(intern!(py, "stop_gradient"), self.recording.stops(meta.requires_grad)).map_err(fail)?;
        let id = value_id(&kept).map_err(fail)?;
        self.grown.kept.insert(id, meta);
        Ok(kept)
    }

    fn switch(&mut self, mode: Mode, value: &Bound<'_, PyAny>) -> Result<(), BuildError> {
        let py = value.py();
        if mode == DEFAULT {
            return match self.default_dtype.to(value) {
                true => Ok(()),
                false => Err(refuse(Reason::AmbientMode, "another default dtype, which other threads would see")),
            };
        }
        if mode != GRAD {
            if let Some(casting) = &mut self.casting {
                casting.change(mode, value);
            }
            return Ok(());
        }
        let on = value.is_truthy().map_err(|e| rejected(py, "grad_mode", e))?;
        self.recording.change(py, &self.grown, on).map_err(|e| rejected(py, "grad_mode", e))
    }

    fn set_flag(&mut self, tensor: &Bound<'_, PyAny>, name: &str, on: bool) -> Result<(), BuildError> {
        self.flows_to(tensor, !on).map_err(|e| rejected(tensor.py(), name, e))
    }

    fn class_of<'py>(&self, value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let is_made = self.grown.made.contains_key(&value_id(value).ok()?);
        is_made.then(|| self.grown.handles.parameter.bind(value.py()).clone().into_any())
    }

    fn is_value(&self, obj: &Bound<'_, PyAny>) -> bool {
        self.grown.handles.is_value(obj)
    }

    fn meta(&self, value: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        if let Some(meta) = value_id(value).ok().and_then(|id| self.grown.known_meta(id)) {
            return Ok(meta.clone().into());
        }
        meta::of_value(value, &self.grown.place, None).map(TensorMeta::from)
    }

    fn finish(
        mut self: Box<Self>,
        py: Python<'_>,
        inputs: &[usize],
        outputs: &[Py<PyAny>],
    ) -> Result<Finished, BuildError> {
        let finished = {
            let _building = self.mode.building(py).map_err(|e| rejected(py, "finish", e))?;
            program::finish(py, &self.grown, inputs, outputs)
        };
        self.close(py).map_err(|e| rejected(py, "finish", e))?;
        finished.map_err(|e| {
            forget_frames(py, &e);
            let text = e.value(py).to_string();
            let why = refuse(Reason::BackendFailed, text.lines().next().unwrap_or_default());
            BuildError { cause: Some(Box::new(e)), ..why }
        })
    }
}

/// Layers inside each other of one that an operation is given.
const DEEPEST_LEAF: usize = 8;

/// Names that `tensor.to` takes for element types; others are devices.
const ELEMENT_TYPES: &[&str] = &[
    "bfloat16",
    "bool",
    "complex128",
    "complex64",
    "float16",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "uint8",
];

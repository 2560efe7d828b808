//! Virtual generators become real ones that go on where their frames stand.

use super::emit::{Callable, Emitter};
use super::resume::{Helpers, Stand, generator_code};
use crate::called_by_code;
use crate::captured::Captured;
use crate::code_unit::assemble;
use crate::frame::Frame;
use crate::shapes::{FrameShape, SlotShape, WaitingShape};
use crate::stop::{Reason, Stop};
use crate::variables::{GeneratorState, GeneratorVar, VarId, VarKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use sot_opcodes::{ConstId, Op};

fn shape(py: Python<'_>, captured: &Captured, frame: &Frame) -> FrameShape {
    let slot = |v: &VarId| match &captured.var(*v).kind {
        VarKind::Null(null) => null.finally.map_or(SlotShape::Null, SlotShape::Finally),
        VarKind::Previous(_) => SlotShape::Previous,
        _ => SlotShape::Value,
    };
    FrameShape {
        unit: frame.unit.clone(),
        globals: captured.objects.get(py, frame.globals).unbind(),
        builtins: captured.objects.get(py, frame.builtins).unbind(),
        ip: frame.ip,
        awaits: None,
        held: 0,
        stack: frame.stack.iter().map(slot).collect(),
        locals: captured.locals_of_object(frame),
        handled: frame.handled.len(),
        apart: None,
        blocks: frame.blocks.clone(),
        cells: frame.cells.iter().flatten().count(),
        skipped: None,
        generator: true,
        generators: Vec::new(),
    }
}

/// Code of a function that makes a generator which waits at its start, or, once it has been started, at a yield.
pub(super) fn waiting_generator(py: Python<'_>, shape: &FrameShape, started: bool) -> PyResult<Py<PyCode>> {
    let mut consts: Vec<Py<PyAny>> = shape.unit.consts.iter().map(|c| c.clone_ref(py)).collect();
    let helpers = Helpers::appended(py, shape.unit.code.version, &mut consts)?;
    let none = ConstId(consts.len() as u32);
    consts.push(py.None());
    let code = generator_code(&Stand::of(shape), helpers, none, started).map_err(PyRuntimeError::new_err)?;
    let code = assemble(py, &code, &consts).map_err(PyRuntimeError::new_err)?;
    crate::code_unit::records::never_capture(&code);
    Ok(code.unbind())
}

impl WaitingShape {
    /// Code of the function that makes it, if it can be made.
    pub fn code<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCode>> {
        let make = || waiting_generator(py, &self.frame.with_real_generators(py), self.started);
        self.code.get_or_try_init(py, make).map(|code| code.bind(py).clone())
    }
}

impl Emitter<'_, '_> {
    /// Push a real generator: made by a function that puts the frame back, and, if it had yielded before, started up to its
    /// yield, so that what is sent or thrown arrives there.
    pub(super) fn new_generator(&mut self, generator: &GeneratorVar) -> Result<(), Stop> {
        self.unnamed_generator(generator)?;
        if let Some(qualname) = generator.unit.generator_qualname() {
            self.emit(Op::Copy(1));
            let qualname = pyo3::types::PyString::new(self.py, qualname).into_any();
            self.push_constant(&qualname);
            self.emit(Op::Swap(2));
            self.store_attr("__qualname__");
        }
        Ok(())
    }

    fn unnamed_generator(&mut self, generator: &GeneratorVar) -> Result<(), Stop> {
        let py = self.py;
        let (frame, started) = match &generator.state {
            GeneratorState::New(frame) => (frame.clone(), false),
            GeneratorState::Suspended(frame) if generator.is_async() && frame.delegate().is_some() => {
                return Err(Stop::fallback(Reason::Reconstruct, "an async generator that awaits"));
            }
            GeneratorState::Suspended(frame) => (frame.clone(), true),
            GeneratorState::Finished if generator.unit.hidden => {
                self.emit(Op::BuildTuple(0));
                self.emit(Op::GetIter);
                return Ok(());
            }
            GeneratorState::Finished => {
                let finished = called_by_code::finished_generator(py).map_err(|e| Stop::internal(&e))?;
                self.push_callable(Callable::Object(finished));
                self.push_constant(generator.unit.object.bind(py).as_any());
                self.call(1);
                return Ok(());
            }
            GeneratorState::Running => return Err(Stop::fallback(Reason::Reconstruct, "a generator that is running")),
        };
        let shape = shape(py, self.captured, &frame);
        let code = waiting_generator(py, &shape, started);
        let code = code.map_err(|e| Stop::fallback(Reason::Reconstruct, e.to_string()))?.into_bound(py);
        let hidden = generator.unit.hidden;
        if hidden {
            let iterator = called_by_code::iterator_function(py).map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(iterator));
        }
        if started {
            let start = called_by_code::start_generator(py).map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(start));
        }
        // FunctionType(code, globals, name, None, closure)
        let function_type = self.types_attribute("FunctionType")?;
        self.push_callable(function_type);
        self.push_constant(code.as_any());
        self.push_object(frame.globals);
        let name = pyo3::types::PyString::new(py, &frame.unit.code.name).into_any();
        self.push_constant(&name);
        let none = py.None().into_bound(py);
        self.push_constant(&none);
        let cells: Vec<VarId> = frame.cells.iter().flatten().copied().collect();
        if cells.is_empty() {
            self.push_constant(&none);
        } else {
            for cell in &cells {
                self.push(*cell)?;
            }
            self.emit(Op::BuildTuple(cells.len() as u32));
        }
        self.call(5);
        for op in sot_opcodes::calls::callable_on_top(self.unit.code.version) {
            self.emit(op);
        }
        let mut values = self.captured.values(generator);
        values.truncate(values.len() - cells.len());
        if shape.first_local_first() {
            let first = values.remove(shape.stack_values());
            values.insert(0, first);
        }
        for value in &values {
            self.push(*value)?;
        }
        self.call(values.len() as u32);
        if started {
            self.call(1);
        }
        if hidden {
            self.call(1);
        }
        Ok(())
    }
}

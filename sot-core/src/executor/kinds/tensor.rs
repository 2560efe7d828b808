//! Tensors: the values that the graph computes.
//!
//! A sourced tensor becomes an input of the graph when an operation first uses it. A computed one has a symbolic
//! value of the backend and a symbol in StatementIR from its birth.

use super::*;
use crate::backend::{Attr, CallKind};
use crate::captured::CapturedCheck;
use crate::cpython::facts;
use crate::type_facts;
use pyo3::types::{PyBool, PyString};
use sot_tracker::{Access, Check};

impl Executor<'_> {
    /// What C keeps of a tensor from before the frame, read at its path.
    fn field_of_tensor(&mut self, me: VarId, name: &str) -> Result<VarId, Stop> {
        let refused = || Stop::brk(Reason::TensorAttribute, name);
        let VarKind::Tensor(TensorVar { source: TensorSource::Object(object) }) = self.var(me).kind else {
            return Err(refused());
        };
        let tensor = self.objects.get(self.py, object);
        let facts::Field::Value(value) = facts::field(&tensor, &PyString::intern(self.py, name)) else {
            return Err(refused());
        };
        let base = self.base_tracker(me);
        let tracker = self.trackers.step(base, Access::Attr(name.into()));
        self.guard_present(tracker);
        let found = self.wrap(&value, tracker);
        if value.is_instance_of::<PyBool>() {
            // It is what it was when the frame began, whatever is done to the tensor before somebody looks.
            self.constant_value(found);
        }
        Ok(found)
    }

    /// What Python's own look-up finds in the class of a tensor, or in the dict of one from before the frame.
    fn attribute_by_lookup(&mut self, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let class = self.class_of(me)?;
        let object = self.known_object(me).map(|object| self.objects.get(self.py, object));
        self.attribute_of_instance(me, object.as_ref(), &class, name)
    }
}

impl Operations for TensorVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self.source {
            TensorSource::Object(object) => Ok(ex.objects.get_ref(ex.py, object).get_type().into_any()),
            TensorSource::Computed { value, .. } => {
                let value = ex.objects.get(ex.py, value);
                if let Some(class) = ex.builder.as_ref().and_then(|builder| builder.class_of(&value)) {
                    return Ok(class);
                }
                ex.backend.tensor_class(ex.py).map_err(|e| ex.internal(&e))
            }
        }
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Err(Stop::brk(Reason::BranchOnTensor, ""))
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        let value = ex.tensor_value(me)?;
        let meta = ex.value_meta(&value)?;
        ex.claim(me, None)?;
        match meta.shape.first() {
            Some(&n) if n >= 0 => Ok(n as usize),
            Some(_) if ex.extents_vary() => {
                let why = crate::stop::Why::new(Reason::OpaqueValue, "len() of a tensor");
                Err(ex.needs_fixed_extents(why))
            }
            _ => Err(Stop::brk(Reason::OpaqueValue, "len() of a tensor")),
        }
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let value = ex.tensor_value(me)?;
        let attribute = ex.tensor_attribute(&value, name)?;
        if let Attr::Constant(_) | Attr::Fresh(_) = &attribute {
            ex.claim(me, None)?;
        }
        match attribute {
            Attr::Constant(object) => {
                ex.tell_attribute(me, name, &object);
                ex.fold(&object).map(Some)
            }
            Attr::Fresh(object) => match ex.fresh_number(&object)? {
                Some(number) => Ok(Some(number)),
                None => ex.fresh(&object).map(Some),
            },
            Attr::Extents { example, known_by } => ex.extents(me, &example, &known_by).map(Some),
            Attr::Method => Ok(Some(ex.virtual_var(BoundVar::new(me, name)))),
            Attr::Value(result) => ex.record_attribute(me, name, &result, None).map(Some),
            Attr::Inline(function) => {
                let function = ex.pin(&function);
                Ok(Some(ex.virtual_var(MethodVar { receiver: me, function })))
            }
            Attr::Field => ex.field_of_tensor(me, name).map(Some),
            Attr::Default => ex.attribute_by_lookup(me, name),
            Attr::Kept { expected } => ex.kept_of_tensor(me, name, expected).map(Some),
            // A method is as good as any until it is called: one break at the call, not one more at the look-up.
            Attr::Break(why) if ex.is_tensor_method(name) => {
                Ok(Some(ex.virtual_var(BoundVar { blocked: Some(why), ..BoundVar::new(me, name) })))
            }
            Attr::Break(why) if why.reason == Reason::TensorAttribute && ex.lacks_attribute(me, name)? => Ok(None),
            Attr::Break(why) => Err(Stop::Break(why)),
        }
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        let getitem = ex.operator("getitem")?;
        ex.record_call(CallKind::Method, "__getitem__", Some(&getitem), &Args::positional(vec![me, key]))
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let length = self.length(ex, me).map_err(|_| Stop::brk(Reason::LoopOnTensor, ""))?;
        Ok(ex.virtual_var(IteratorVar::new(Iteration::Tensor { tensor: me, index: 0, length })))
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.tensor_value(me)
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        let TensorSource::Object(object) = self.source else { return Ok(()) };
        if at.pinned && !at.given {
            ex.guard(at.tracker, Check::Is(object));
        }
        let tensor = ex.objects.get(ex.py, object);
        // Its meta data can change where it is; its place is pinned above.
        let itself = if at.pinned { ex.constant_tracker(object) } else { at.tracker };
        let mut meta = ex.backend.tensor_meta(&tensor).map_err(|e| ex.internal(&e))?;
        let varying = if at.pinned { None } else { ex.check_that_varies(itself, &tensor, &mut meta)? };
        let check = match varying {
            Some(check) => check,
            None => ex.backend.tensor_check(&tensor).map_err(|e| ex.internal(&e))?,
        };
        let number = ex.tensor_checks.len() as u32;
        ex.tensor_checks.push(CapturedCheck { check: check.into(), meta });
        ex.guard(itself, Check::Tensor(number));
        Ok(())
    }

    fn no_attribute(&self, _ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Stop, Stop> {
        no_words(name)
    }

    fn has_an_id(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        Ok(ex.known_object(me).is_some())
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        match ex.set_kept(me, name, new)? {
            true => Ok(()),
            false => ex.set_flag(me, name, new),
        }
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        let args = Args::positional(vec![me, key, new]);
        ex.record_call(CallKind::Method, "__setitem__", None, &args).map(drop)
    }

    fn delete_item(&self, _ex: &mut Executor<'_>, _me: VarId, _key: VarId) -> Result<(), Stop> {
        Err(Stop::brk(Reason::InplaceTensor, "item deletion"))
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        let args = args.with_first(me);
        if ex.runs_by_body()
            && let Some(called) = ex.method_of_tensors(name).and_then(|method| ex.called_by_body(&method, &args))
        {
            return called;
        }
        let recorded = ex.record_call(CallKind::Method, name, None, &args).map(Called::Value);
        recorded.map_err(|stop| match ex.method_of_tensors(name) {
            Some(method) => ex.refused_by(&method, stop),
            None => stop,
        })
    }
}

impl Executor<'_> {
    /// Whether a tensor has no attribute of this name at all: neither its class has it, nor what answers in its place, nor its own
    /// dict.
    fn lacks_attribute(&mut self, me: VarId, name: &str) -> Result<bool, Stop> {
        let class = self.class_of(me)?;
        let ty = class.cast::<pyo3::types::PyType>().map_err(|e| self.internal(&e.into()))?;
        if facts::getattr_kind(ty) != facts::GetattrKind::Generic
            || self.class_lookup(&class, name)?.is_some()
            || self.class_lookup(&class, "__getattr__")?.is_some()
        {
            return Ok(false);
        }
        // What an operation gives may be its own argument, with a dict that is known to that.
        let Some(object) = self.known_object(me) else { return Ok(!type_facts::has_dict(ty)) };
        let object = self.objects.get(self.py, object);
        Ok(self.instance_dict_item(me, &object, name)?.is_none())
    }
}

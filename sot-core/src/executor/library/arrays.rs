//! Arrays of numpy that a function of numpy makes of constants ([`Native::Array`]): what one that was made alike answers.
//!
//! An array is made of the call that gave it, and new code makes the same call. Nothing in the simulation writes to one: whoever
//! does is a break, behind which arrays are real ones; what shows the memory of another one is made of that one. The samples that
//! answer here are read-only, so that a function which would write to one refuses.

use super::Executor;
use crate::natives::Native;
use crate::numpy;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

impl<'py> Executor<'py> {
    /// Whether a value is an array that the capture makes.
    pub(in crate::executor) fn is_made_array(&self, value: VarId) -> bool {
        matches!(&self.var(value).kind, VarKind::Native(native) if native.native == Native::Array)
    }

    /// Whether numpy answers for a value: such an array, or a type of items.
    pub(in crate::executor) fn is_asked_of_numpy(&self, value: VarId) -> bool {
        match &self.var(value).kind {
            VarKind::Native(native) => native.native == Native::Array,
            VarKind::Instance(InstanceVar { object: Some(object), pinned: true, of_program: false, .. }) => {
                numpy::is_dtype(self.objects.get_ref(self.py, *object))
            }
            _ => false,
        }
    }

    /// The type of an array's items, where that is the same object at each call.
    pub(in crate::executor) fn type_of_items(&self, value: VarId) -> Option<Bound<'py, PyAny>> {
        match &self.var(value).kind {
            VarKind::Instance(InstanceVar { object: Some(object), .. }) if self.is_asked_of_numpy(value) => {
                Some(self.objects.get(self.py, *object))
            }
            _ => None,
        }
    }

    /// `np.finfo(type)`: one object for each type.
    pub(in crate::executor) fn limits_of_numpy(
        &mut self,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let ([of], []) = (&*args.positional, &*args.keywords) else { return Ok(None) };
        if !numpy::is_kept_limits(class) {
            return Ok(None);
        }
        let kind = self.look(*of)?;
        let of = match self.pinned(&kind).filter(numpy::is_type_of_items) {
            Some(of) => of,
            None if self.is_text(*of)? => self.require_plain(*of)?,
            None => return Ok(None),
        };
        let of = PyTuple::new(self.py, [of]).map_err(|e| self.internal(&e))?;
        let limits = self.ask_numpy(class, &of, None)?;
        Ok(Some(self.pin_for_good(&limits)))
    }

    /// Whether some of these values are such arrays, or lists and tuples that hold some.
    pub(in crate::executor) fn hold_arrays(&self, args: &Args) -> bool {
        let keywords = args.keywords.iter().map(|(_, value)| value);
        args.positional.iter().chain(keywords).any(|arg| match &self.var(*arg).kind {
            VarKind::Tuple(tuple) => tuple.items.iter().any(|item| self.is_made_array(*item)),
            VarKind::List(list) => list.items.iter().any(|item| self.is_made_array(*item)),
            _ => self.is_made_array(*arg),
        })
    }

    /// The call of a function without effect, of arrays, of constants, or of lists and tuples of such.
    pub(in crate::executor) fn call_for_array(
        &mut self,
        callee: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        let mut given = Vec::with_capacity(args.positional.len());
        let mut known = Vec::new();
        for arg in &args.positional {
            given.push(self.given_to_numpy(*arg, &mut known)?);
        }
        let keywords = PyDict::new(self.py);
        let mut named = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            let (value, var) = self.given_to_numpy(*value, &mut known)?;
            keywords.set_item(name, value).map_err(|e| self.internal(&e))?;
            named.push((name.clone(), var));
        }
        let (objects, vars): (Vec<_>, Vec<_>) = given.into_iter().unzip();
        let objects = PyTuple::new(self.py, objects).map_err(|e| self.internal(&e))?;
        let result = self.ask_numpy(callee, &objects, Some(&keywords))?;
        if let Some((_, var)) = known.iter().find(|(object, _)| result.is(object)) {
            return Ok(*var);
        }
        if numpy::is_dtype(&result) {
            return Ok(self.pin_for_good(&result));
        }
        if let Some(several) = self.arrays_given_back(&result, &known) {
            return Ok(several);
        }
        if !numpy::is_array(&result) {
            return self.told_by_numpy(callee, &result);
        }
        if !numpy::is_plain_array(&result) {
            return Err(Stop::brk(Reason::OpaqueCall, super::name_of(callee)));
        }
        numpy::protect(&result).map_err(|e| self.internal(&e))?;
        let maker = self.pin(callee);
        let given = self.virtual_var(TupleVar::new(vars));
        let class = self.objects.add(result.get_type().as_any());
        let positional: Rc<[VarId]> = [maker, given].into();
        let (native, keywords) = (Native::Array, named.into());
        let made = NativeVar { native, class, object: None, positional: positional.clone(), keywords, pinned: false };
        let var = self.virtual_var(made);
        self.made.insert(var, (positional, result));
        Ok(var)
    }

    /// A list or a tuple of the very arrays that were given.
    fn arrays_given_back(&mut self, result: &Bound<'py, PyAny>, known: &[(Bound<'py, PyAny>, VarId)]) -> Option<VarId> {
        let is_list = result.is_exact_instance_of::<PyList>();
        if !is_list && !result.is_exact_instance_of::<PyTuple>() {
            return None;
        }
        let given = |item: PyResult<Bound<'py, PyAny>>| {
            let item = item.ok()?;
            known.iter().find(|(object, _)| object.is(&item)).map(|(_, var)| *var)
        };
        let arrays: Vec<VarId> = result.try_iter().ok()?.map(given).collect::<Option<_>>()?;
        match (arrays.is_empty(), is_list) {
            (true, _) => None,
            (_, true) => Some(self.virtual_var(ListVar::new(arrays))),
            (_, false) => Some(self.virtual_var(TupleVar::new(arrays))),
        }
    }

    /// A result that is no array: a scalar, a constant, or containers of such.
    fn told_by_numpy(&mut self, callee: &Bound<'py, PyAny>, result: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        let mut left = vec![result.clone()];
        while let Some(value) = left.pop() {
            if let Ok(tuple) = value.cast_exact::<PyTuple>() {
                left.extend(tuple.iter());
            } else if let Ok(list) = value.cast_exact::<PyList>() {
                left.extend(list.iter());
            } else if !value.is_none()
                && !self.is_number_of_numpy(&value)
                && !crate::objects::is_constant_type(&value.get_type())
            {
                return Err(Stop::brk(Reason::OpaqueCall, super::name_of(callee)));
            }
        }
        self.fold_result(result, &Default::default())
    }

    /// What a function of numpy is given for a value, and the variable that new code gives it: lists are those that they are now.
    fn given_to_numpy(
        &mut self,
        value: VarId,
        known: &mut Vec<(Bound<'py, PyAny>, VarId)>,
    ) -> Result<(Bound<'py, PyAny>, VarId), Stop> {
        self.may_go_deeper()?;
        let opaque = || Stop::brk(Reason::OpaqueValue, "what numpy is given");
        Ok(match self.look(value)? {
            VarKind::Tensor(_) => return Err(Stop::brk(Reason::TensorToHost, "a function of numpy")),
            VarKind::Constant(_) => (self.constant_value(value).ok_or_else(opaque)?, value),
            VarKind::Slice(_) => (self.require_plain(value)?, value),
            VarKind::Native(array) if array.native == Native::Array => {
                let object = self.array_made(value, &array)?;
                known.push((object.clone(), value));
                (object, value)
            }
            VarKind::Tuple(TupleVar { items, class: None }) => {
                let (items, vars) = self.all_given_to_numpy(&items, known)?;
                let tuple = PyTuple::new(self.py, items).map_err(|e| self.internal(&e))?;
                (tuple.into_any(), self.virtual_var(TupleVar::new(vars)))
            }
            // Shapes, too, which are lists of a class of C.
            VarKind::List(ListVar { items, .. }) => {
                let (items, vars) = self.all_given_to_numpy(&items, known)?;
                let list = PyList::new(self.py, items).map_err(|e| self.internal(&e))?;
                (list.into_any(), self.virtual_var(ListVar::new(vars)))
            }
            // Types of items: classes, and what says the same.
            kind => match self.pinned(&kind).filter(numpy::is_type_of_items) {
                Some(object) => (object, value),
                None => return Err(opaque()),
            },
        })
    }

    fn all_given_to_numpy(
        &mut self,
        items: &[VarId],
        known: &mut Vec<(Bound<'py, PyAny>, VarId)>,
    ) -> Result<(Vec<Bound<'py, PyAny>>, Vec<VarId>), Stop> {
        let given = items.iter().map(|item| self.given_to_numpy(*item, known)).collect::<Result<Vec<_>, _>>()?;
        Ok(given.into_iter().unzip())
    }

    /// An array that is made as this one is, to be read.
    pub(in crate::executor) fn array_made(&mut self, me: VarId, array: &NativeVar) -> Result<Bound<'py, PyAny>, Stop> {
        match self.made.get(&me) {
            Some((made_of, object)) if Rc::ptr_eq(made_of, &array.positional) => Ok(object.clone()),
            _ => Err(Stop::brk(Reason::OpaqueValue, "an array")),
        }
    }

    /// `array.name(*args)`, where that reads.
    pub(in crate::executor) fn method_of_array(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        match numpy::reads_array(name) {
            true => self.call_for_array(method, &args.with_first(me)).map(|result| Some(Called::Value(result))),
            false => Ok(None),
        }
    }

    /// What an array says of itself, and the array with its axes in the other order.
    pub(in crate::executor) fn field_of_array(
        &mut self,
        me: VarId,
        array: &NativeVar,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let sample = self.array_made(me, array)?;
        if name == "T" {
            let class = sample.get_type();
            let transpose = class.getattr("transpose").map_err(|e| self.internal(&e))?;
            return self.call_for_array(&transpose, &Args::positional(vec![me])).map(Some);
        }
        if !numpy::is_field_of_array(&sample, name) {
            return Ok(None);
        }
        let value = sample.getattr(name).map_err(|e| self.internal(&e))?;
        match name {
            "dtype" => Ok(Some(self.pin_for_good(&value))),
            _ => self.fold_result(&value, &Default::default()).map(Some),
        }
    }

    /// The truth or the length of an array.
    pub(in crate::executor) fn array_to_ask(&mut self, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self.look(me)? {
            VarKind::Native(array) => self.array_made(me, &array),
            _ => Err(Stop::brk(Reason::OpaqueValue, "an array")),
        }
    }

    /// `array[key]`: a scalar, or an array that may show the memory of this one.
    pub(in crate::executor) fn item_of_array(&mut self, me: VarId, key: VarId) -> Result<VarId, Stop> {
        let operator = self.operator("getitem")?;
        self.call_for_array(&operator, &Args::positional(vec![me, key]))
    }

    /// What an iterator over an array gives at this place; `None`: it has come to the end.
    pub(in crate::executor) fn array_item_at(&mut self, me: VarId, index: usize) -> Result<Option<VarId>, Stop> {
        let array = self.array_to_ask(me)?;
        let length = array.len().map_err(|e| self.would_raise(&e))?;
        if index >= length {
            return Ok(None);
        }
        let index = self.fold_int(index as i64)?;
        self.item_of_array(me, index).map(Some)
    }

    /// An operator of which an operand is such an array, by its name in module `operator`; `None`: none is.
    pub(in crate::executor) fn operator_of_arrays(
        &mut self,
        name: &str,
        operands: &[VarId],
    ) -> Result<Option<VarId>, Stop> {
        if !operands.iter().any(|operand| self.is_asked_of_numpy(*operand)) {
            return Ok(None);
        }
        if !numpy::is_operator(name) {
            return Err(Stop::brk(Reason::Mutation, "an array"));
        }
        let operator = self.operator(name)?;
        self.call_for_array(&operator, &Args::positional(operands.to_vec())).map(Some)
    }
}

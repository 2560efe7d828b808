//! Extents of tensors that are others at each call.
//!
//! Where captures of the same code have found tensors of other extents at the same place, the next one leaves them to run time: its
//! guard accepts any extent of at least 2 along these axes, and the graph is built with an input that varies. What the program
//! reads of them are numbers at a path, as other numbers that vary ([`super::varying`]).
//!
//! A framework cannot do everything without extents. Whatever it refuses in such a graph, and whatever else would stop there, is tried
//! once more with fixed extents, by another attempt ([`Captured::needs_fixed_extents`]).

use super::Executor;
use super::kinds::{Picked, pick};
use crate::backend::{Extent, FreeAxis, TensorCheck, TensorMeta, UserFrame};
use crate::called_by_code::filled;
use crate::captured::{Claim, GraphInput, What, place, place_of_extent};
use crate::cpython::facts;
use crate::marks::{self, FIRST_THAT_VARIES};
use crate::numbers::are_alike;
use crate::stop::{Reason, Stop, Why};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple, PyType};
use sot_opcodes::BinaryOp;
use sot_tracker::{Access, Arithmetic, ObjectId, Tracker, TrackerId};
use std::path::Path;
use std::rc::Rc;

/// A shape is repeated so often at most.
const MOST_REPEATED: i64 = 64;

impl<'py> Executor<'py> {
    /// Whether a tensor of this capture has extents that vary.
    pub(super) fn extents_vary(&self) -> bool {
        self.captured.extents_vary()
    }

    /// Whether an argument of an operation may be an extent that varies: one of a tensor, or a number of the program.
    pub(super) fn may_take_extents(&self) -> bool {
        self.extents_vary() || !self.found.fixed_numbers && !self.found.numbers.is_empty()
    }

    /// Another attempt fixes all extents; this one ends here. Those that are numbers of the program are fixed first.
    pub(super) fn needs_fixed_extents(&mut self, why: Why) -> Stop {
        if !self.graph.own.is_empty() {
            self.captured.needs_fixed_numbers = true;
            return Stop::Fallback(why);
        }
        let mut why = why;
        if let Some(UserFrame { file, line, .. }) = self.user_frames().last() {
            let file =
                Path::new(&**file).file_name().map_or_else(|| file.to_string(), |name| name.display().to_string());
            why.detail = format!("{} at {file}:{line}", why.detail);
        }
        self.captured.needs_fixed_extents.get_or_insert(why.clone());
        Stop::Fallback(why)
    }

    /// The check of a tensor some of whose extents vary, which its meta data is told. `None`: none does.
    pub(super) fn check_that_varies(
        &mut self,
        tracker: TrackerId,
        tensor: &Bound<'py, PyAny>,
        meta: &mut TensorMeta,
    ) -> Result<Option<Box<dyn TensorCheck>>, Stop> {
        if !self.has_path(tracker) {
            return Ok(None);
        }
        let mut marked = marks::of_tensor(&*self.backend, tensor);
        if let (Some(Access::Slot(slot)), Some((spec, first))) = (self.trackers.get(tracker).access(), &self.found.spec)
        {
            marked.varying.extend(spec.varying(slot, *first));
        }
        self.captured.marked |= !marked.varying.is_empty();
        if self.found.fixed_extents.is_some() || self.found.numbers.is_empty() && marked.varying.is_empty() {
            return Ok(None);
        }
        let known_by = place(self.py, &self.captured, tracker);
        let mut free = Vec::new();
        for (axis, extent) in meta.shape.iter().copied().enumerate().filter(|(axis, _)| !marked.fixed.contains(axis)) {
            let mark = marked.varying.iter().find(|free| free.axis == axis);
            let learnt = FreeAxis { axis, least: FIRST_THAT_VARIES, most: i64::MAX };
            if !mark.unwrap_or(&learnt).holds(extent) {
                continue;
            }
            let number = extent.into_pyobject(self.py).map_err(|e| self.internal(&e.into()))?;
            let place = place_of_extent(known_by.clone(), axis);
            if mark.is_some() || self.found.numbers.holds(&place, number.as_any()) {
                free.push(*mark.unwrap_or(&learnt));
            }
        }
        if free.is_empty() {
            return Ok(None);
        }
        let Some(check) = self.backend.tensor_check_that_varies(tensor, &free) else { return Ok(None) };
        let check = check.map_err(|e| self.internal(&e))?;
        let axes: Vec<usize> = free.iter().map(|free| free.axis).collect();
        for axis in &axes {
            let place = place_of_extent(known_by.clone(), *axis);
            let extent = self.extent_of(tracker, *axis)?;
            self.captured.varying.insert(extent, place);
            meta.shape[*axis] = -1;
        }
        self.captured.free_axes.insert(tensor.as_ptr() as usize, axes);
        Ok(Some(check))
    }

    /// The path to an extent of a tensor.
    fn extent_of(&mut self, tensor: TrackerId, axis: usize) -> Result<TrackerId, Stop> {
        let axis = PyInt::new(self.py, axis);
        let axis = self.objects.add(axis.as_any());
        let axis = self.constant_tracker(axis);
        Ok(self.trackers.intern(Tracker::Arithmetic { op: Arithmetic::Extent, left: tensor, right: Some(axis) }))
    }

    /// The program sees something of the shape of a tensor. `known_by`: how those of its extents are known that vary.
    pub(super) fn claim(&mut self, tensor: VarId, known_by: Option<&[Extent]>) -> Result<(), Stop> {
        let VarKind::Tensor(TensorVar { source: TensorSource::Computed { symbol, .. } }) = self.var(tensor).kind else {
            return Ok(());
        };
        let known = self.graph.claims.iter().any(|claim| claim.of == symbol);
        if known && known_by.is_none() {
            return Ok(());
        }
        let value = self.tensor_value(tensor)?;
        let shape = self.value_meta(&value)?.shape;
        let extent = |(axis, extent): (usize, &i64)| match known_by.and_then(|known_by| known_by.get(axis)) {
            Some(extent) if *extent != Extent::Fixed => extent.clone(),
            _ if *extent >= 0 => Extent::Number(*extent),
            _ => Extent::Fixed,
        };
        let extents = shape.iter().enumerate().map(extent).collect();
        self.graph.claims.push(Claim { of: symbol, extents });
        Ok(())
    }

    /// The program is told something that follows from the shapes of these tensors.
    pub(super) fn claim_all(&mut self, args: &Args) -> Result<(), Stop> {
        let named = args.keywords.iter().map(|(_, value)| *value);
        args.positional.iter().copied().chain(named).try_for_each(|arg| {
            self.claim(arg, None)?;
            let VarKind::Tensor(TensorVar { source: TensorSource::Computed { symbol, .. } }) = self.var(arg).kind
            else {
                return Ok(());
            };
            let value = self.tensor_value(arg)?;
            let dtype = self.value_meta(&value)?.dtype;
            self.graph.tell(symbol, What::Dtype(dtype));
            Ok(())
        })
    }

    /// The program reads an attribute of a tensor, which is this object.
    pub(super) fn tell_attribute(&mut self, tensor: VarId, name: &str, object: &Bound<'py, PyAny>) {
        if let VarKind::Tensor(TensorVar { source: TensorSource::Computed { symbol, .. } }) = self.var(tensor).kind {
            let value = self.objects.add(object);
            self.graph.tell(symbol, What::Attribute(name.into(), value));
        }
    }

    /// Extents some of which vary: `example` is what they are now, as a tuple or a new list.
    pub(super) fn extents(
        &mut self,
        tensor: VarId,
        example: &Bound<'py, PyAny>,
        known_by: &[Extent],
    ) -> Result<VarId, Stop> {
        self.claim(tensor, Some(known_by))?;
        let mut items = Vec::with_capacity(known_by.len());
        for (extent, now) in known_by.iter().zip(example.try_iter().map_err(|e| self.internal(&e))?) {
            let now = now.map_err(|e| self.internal(&e))?;
            items.push(match extent {
                Extent::Fixed => self.fold(&now)?,
                _ => match self.number_of_extent(extent)? {
                    Some(number) if self.is_now(number, &now) => number,
                    _ => {
                        let why = Why::new(Reason::Varies, "an extent that is no formula of others");
                        return Err(self.needs_fixed_extents(why));
                    }
                },
            });
        }
        if !example.is_instance_of::<PyList>() {
            return Ok(self.virtual_var(TupleVar::new(items)));
        }
        let class = (!example.is_exact_instance_of::<PyList>()).then(|| self.objects.add(example.get_type().as_any()));
        Ok(self.virtual_var(ListVar { items: Rc::new(items), class, object: None }))
    }

    /// `len(tensor)` where its first extent varies.
    pub(super) fn length_of_tensor(&mut self, tensor: VarId) -> Result<Option<VarId>, Stop> {
        self.look(tensor)?;
        if !self.extents_vary() {
            return Ok(None);
        }
        let value = self.tensor_value(tensor)?;
        let Some(extents) = self.builder()?.extents(&value) else { return Ok(None) };
        let Some(first) = extents.first().filter(|first| **first != Extent::Fixed) else { return Ok(None) };
        self.claim(tensor, Some(&extents))?;
        self.number_of_extent(first)
    }

    /// Whether a number has this value now, whatever it has at other calls.
    fn is_now(&self, number: VarId, now: &Bound<'py, PyAny>) -> bool {
        let VarKind::Constant(ConstantVar { object }) = self.var(number).kind else { return false };
        are_alike(self.objects.get_ref(self.py, object), now)
    }

    /// An extent as a number at a path. `None`: no path leads to it.
    fn number_of_extent(&mut self, extent: &Extent) -> Result<Option<VarId>, Stop> {
        let (op, [left, right]) = match extent {
            Extent::Fixed => return Ok(None),
            Extent::Number(number) => return self.fold_int(*number).map(Some),
            Extent::OfNumber(number) => return Ok(self.graph.own.get(*number).map(|own| own.var)),
            Extent::OfInput { input, axis } => {
                let Some(input) = self.graph.inputs.get(*input) else { return Ok(None) };
                let Variable {
                    kind: VarKind::Tensor(TensorVar { source: TensorSource::Object(object) }), tracker, ..
                } = self.var(input.var)
                else {
                    return Ok(None);
                };
                let (tracker, object) = (*tracker, *object);
                let tensor = self.objects.get(self.py, object);
                let Some(now) = self.backend.extent(&tensor, *axis) else { return Ok(None) };
                let now = now.into_pyobject(self.py).map_err(|e| self.internal(&e.into()))?;
                let extent = self.extent_of(tracker, *axis)?;
                return Ok(Some(self.computed_at(extent, now.as_any())));
            }
            Extent::Sum(parts) => (Arithmetic::Add, &**parts),
            Extent::Difference(parts) => (Arithmetic::Subtract, &**parts),
            Extent::Product(parts) => (Arithmetic::Multiply, &**parts),
            Extent::Quotient(parts) => (Arithmetic::FloorDivide, &**parts),
            Extent::Largest(parts) | Extent::Smallest(parts) => {
                let (Some(left), Some(right)) = (self.number_of_extent(&parts[0])?, self.number_of_extent(&parts[1])?)
                else {
                    return Ok(None);
                };
                // Which one it is is guarded.
                let wants_right = if let Extent::Largest(_) = extent { Arithmetic::Lt } else { Arithmetic::Gt };
                let Some(right_wins) = self.arithmetic(wants_right, left, Some(right))? else { return Ok(None) };
                return Ok(Some(if self.truth(right_wins)? { right } else { left }));
            }
        };
        let (Some(left), Some(right)) = (self.number_of_extent(left)?, self.number_of_extent(right)?) else {
            return Ok(None);
        };
        self.arithmetic(op, left, Some(right))
    }

    /// The extent that is at a path, in the numbers of the graph's inputs. `None`: it is another number.
    fn extent_at(&self, tracker: TrackerId) -> Option<Extent> {
        if let Some(constant) = self.trackers.get(tracker).as_constant() {
            let constant = self.objects.get_ref(self.py, constant);
            return constant.cast_exact::<PyInt>().ok()?.extract().ok().map(Extent::Number);
        }
        if let Some(number) = self.graph.own.iter().position(|own| self.var(own.var).tracker == tracker) {
            return Some(Extent::OfNumber(number));
        }
        if let Tracker::Arithmetic { op: Arithmetic::Negative, left, .. } = *self.trackers.get(tracker) {
            return Some(Extent::Difference(Box::new([Extent::Number(0), self.extent_at(left)?])));
        }
        let Tracker::Arithmetic { op, left, right: Some(right) } = *self.trackers.get(tracker) else { return None };
        if op == Arithmetic::Extent {
            let axis = self.trackers.get(right).as_constant()?;
            let axis = self.objects.get_ref(self.py, axis).extract().ok()?;
            let input = self.graph.inputs.iter().position(|input| self.var(input.var).tracker == left)?;
            return Some(Extent::OfInput { input, axis });
        }
        let parts = Box::new([self.extent_at(left)?, self.extent_at(right)?]);
        Some(match op {
            Arithmetic::Add => Extent::Sum(parts),
            Arithmetic::Subtract => Extent::Difference(parts),
            Arithmetic::Multiply => Extent::Product(parts),
            Arithmetic::FloorDivide => Extent::Quotient(parts),
            _ => return None,
        })
    }

    /// Whether a number follows from extents of inputs alone.
    pub(super) fn is_extent(&self, number: VarId) -> bool {
        self.extent_at(self.var(number).tracker).is_some_and(|extent| extent.numbers().is_empty())
    }

    /// The numbers of the program that an extent at a path is computed of are from now on extents, too, and guarded to be 2 at least.
    /// `false`: one of them cannot be one.
    fn tell_numbers(&mut self, tracker: TrackerId) -> Result<bool, Stop> {
        let mut leaves = Vec::new();
        self.numbers_at(tracker, &mut leaves);
        if leaves.is_empty() {
            return Ok(true);
        }
        if self.found.fixed_numbers {
            return Ok(false);
        }
        let mut told = Vec::new();
        for leaf in leaves {
            let is_number = |var: &&Variable| var.tracker == leaf && matches!(var.kind, VarKind::Constant(_));
            let Some(at) = self.vars.iter().position(|var| is_number(&var)) else { return Ok(false) };
            let var = VarId(at as u32);
            let Some(now) = self.int_that_varies(var).filter(|now| *now >= FIRST_THAT_VARIES) else { return Ok(false) };
            told.push((var, now));
        }
        for (var, now) in told {
            let py = self.py;
            let least = self.fold_int(FIRST_THAT_VARIES)?;
            let Some(large) = self.arithmetic(Arithmetic::Ge, var, Some(least))? else { return Ok(false) };
            self.truth(large)?;
            let symbol = self.symbol_of_number(var);
            // Both count alike: nothing may stop between the two.
            let Some(number) = self.builder()?.number_that_varies(py, now) else { return Ok(false) };
            debug_assert_eq!(number, self.graph.own.len());
            self.graph.own.push(GraphInput { var, symbol });
        }
        Ok(true)
    }

    /// An int that varies, as it is now.
    fn int_that_varies(&mut self, var: VarId) -> Option<i64> {
        if !self.is_varying_int(var) {
            return None;
        }
        let VarKind::Constant(ConstantVar { object }) = self.var(var).kind else { return None };
        self.objects.get_ref(self.py, object).extract().ok()
    }

    /// The paths to numbers of the program that the extent at a path is computed of, which the builder does not know yet.
    fn numbers_at(&self, tracker: TrackerId, leaves: &mut Vec<TrackerId>) {
        if self.extent_at(tracker).is_some() || leaves.contains(&tracker) {
            return;
        }
        match *self.trackers.get(tracker) {
            Tracker::Arithmetic { op: Arithmetic::Negative, left, .. } => self.numbers_at(left, leaves),
            Tracker::Arithmetic {
                op: Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply | Arithmetic::FloorDivide,
                left,
                right: Some(right),
            } => {
                self.numbers_at(left, leaves);
                self.numbers_at(right, leaves);
            }
            _ => leaves.push(tracker),
        }
    }

    /// Whether one of these numbers is given as an extent that varies to the operation that is being recorded.
    pub(super) fn holds_extents(&mut self, items: &[VarId]) -> bool {
        self.takes_extents && items.iter().any(|item| self.is_varying_int(*item))
    }

    /// An item or a slice of a shape, where its class is one of C that gives what a list does: an item of it, or items of it in a new one
    /// of the class. `None`: it is to say what it is.
    pub(super) fn part_of_shape(
        &mut self,
        items: &[VarId],
        class: Option<ObjectId>,
        key: VarId,
    ) -> Result<Option<VarId>, Stop> {
        let Some(class) = class else { return Ok(None) };
        let list_class = self.objects.get(self.py, class);
        let of_c = list_class.cast::<PyType>().is_ok_and(|class| !facts::is_heap_type(class));
        if !of_c {
            return Ok(None);
        }
        let Some(now) = self.constants_now(items) else { return Ok(None) };
        let picked = pick(self, "list", items, key)?;
        let key = self.require_plain(key)?;
        let now = PyList::new(self.py, now).map_err(|e| self.internal(&e))?;
        let shape = filled(&list_class, now.as_any()).map_err(|e| self.internal(&e))?;
        let Ok(example) = shape.get_item(key) else { return Ok(None) };
        let is_now = |ex: &Self, var: &VarId, now: &Bound<'py, PyAny>| ex.is_now(*var, now);
        match picked {
            Picked::One(item) => Ok(is_now(self, &item, &example).then_some(item)),
            Picked::Many(items, _) => {
                let Ok(list) = example.cast::<PyList>() else { return Ok(None) };
                // What a class of numbers does with others is another question.
                for item in &items {
                    self.look(*item)?;
                }
                let same =
                    list.len() == items.len() && items.iter().zip(list).all(|(var, now)| is_now(self, var, &now));
                let is_of_class = example.get_type().is(&list_class);
                let class = is_of_class.then_some(class);
                let is_list = is_of_class || example.is_exact_instance_of::<PyList>();
                Ok((same && is_list).then(|| self.virtual_var(ListVar { items: Rc::new(items), class, object: None })))
            }
        }
    }

    /// Shapes some of whose numbers vary, joined or repeated by an operator of their class, which is one of C that gives what lists do: a
    /// list of the same numbers, of a class of the two. `None`: they are to say what it is.
    pub(super) fn shape_of_operator(
        &mut self,
        op: BinaryOp,
        inplace: bool,
        left: VarId,
        right: VarId,
    ) -> Result<Option<VarId>, Stop> {
        let class = |ex: &Self, var: VarId| match &ex.var(var).kind {
            VarKind::List(ListVar { class, .. }) => *class,
            _ => None,
        };
        let classes = [class(self, left), class(self, right)];
        if !self.extents_vary() || classes == [None, None] {
            return Ok(None);
        }
        let both = [self.numbers_now(left), self.numbers_now(right)];
        let mut numbers = both.iter().flatten().flat_map(|(items, _)| items);
        if !numbers.any(|item| self.is_varying_int(*item)) {
            return Ok(None);
        }
        let (items, now) = match (op, both) {
            (BinaryOp::Add, [Some((ours, left)), Some((theirs, right))]) if inplace => {
                // What makes a new one is like the plain operator.
                let iadd = crate::cpython::module(self.py, "operator").and_then(|module| module.getattr("iadd"));
                let made = iadd.and_then(|iadd| iadd.call1((&left, right)));
                if made.as_ref().is_ok_and(|made| made.is(&left)) {
                    return Ok(None);
                }
                ([ours, theirs].concat(), made)
            }
            (BinaryOp::Add, [Some((ours, left)), Some((theirs, right))]) => ([ours, theirs].concat(), left.add(right)),
            (BinaryOp::Multiply, _) if inplace => return Ok(None),
            (BinaryOp::Multiply, [Some((items, shape)), None] | [None, Some((items, shape))]) => {
                let count = if classes[0].is_some() { right } else { left };
                match self.index_value(count)? {
                    Some(count) if count <= MOST_REPEATED => {
                        (items.repeat(usize::try_from(count).unwrap_or(0)), shape.mul(count))
                    }
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let Ok(now) = now else { return Ok(None) };
        let Ok(list) = now.cast::<PyList>() else { return Ok(None) };
        let same = list.len() == items.len() && items.iter().zip(list).all(|(var, now)| self.is_now(*var, &now));
        let is_one_of = |class: &ObjectId| now.get_type().is(self.objects.get_ref(self.py, *class));
        let class = classes.into_iter().flatten().find(is_one_of);
        let is_known = class.is_some() || now.is_exact_instance_of::<PyList>();
        Ok((same && is_known).then(|| self.virtual_var(ListVar { items: Rc::new(items), class, object: None })))
    }

    /// As [`Executor::shape_now`], of a tuple as well.
    fn numbers_now(&self, shape: VarId) -> Option<(Vec<VarId>, Bound<'py, PyAny>)> {
        let VarKind::Tuple(TupleVar { items, class: None, .. }) = &self.var(shape).kind else {
            return self.shape_now(shape);
        };
        let now = self.constants_now(items)?;
        let ints = now.iter().all(|number| number.is_exact_instance_of::<PyInt>());
        Some((items.to_vec(), PyTuple::new(self.py, now).ok().filter(|_| ints)?.into_any()))
    }

    /// Constants as they are now, whatever they are at other calls; `None`: one of them is none.
    fn constants_now(&self, items: &[VarId]) -> Option<Vec<Bound<'py, PyAny>>> {
        let now = |item: &VarId| match self.var(*item).kind {
            VarKind::Constant(ConstantVar { object }) => Some(self.objects.get(self.py, object)),
            _ => None,
        };
        items.iter().map(now).collect()
    }

    /// The numbers of a shape as they are now; `None`: it is no list of ints, of no class of the program.
    fn shape_now(&self, shape: VarId) -> Option<(Vec<VarId>, Bound<'py, PyAny>)> {
        let VarKind::List(ListVar { items, class, .. }) = &self.var(shape).kind else { return None };
        let (items, class) = (items.to_vec(), *class);
        let now = self.constants_now(&items)?;
        if now.iter().any(|number| !number.is_exact_instance_of::<PyInt>()) {
            return None;
        }
        let list = PyList::new(self.py, now).ok()?;
        let object = match class.map(|class| self.objects.get(self.py, class)) {
            Some(class) if class.cast::<PyType>().is_ok_and(|class| !facts::is_heap_type(class)) => {
                class.call1((list,)).ok()?
            }
            Some(_) => return None,
            None => list.into_any(),
        };
        Some((items, object))
    }

    /// Whether two shapes are equal, where a number of one varies: compared one by one. `None`: something else is compared.
    pub(super) fn equal_shapes(&mut self, left: VarId, right: VarId) -> Result<Option<bool>, Stop> {
        if !self.extents_vary() {
            return Ok(None);
        }
        let (Some((ours, left)), Some((theirs, right))) = (self.shape_now(left), self.shape_now(right)) else {
            return Ok(None);
        };
        let now = left.eq(&right).map_err(|e| self.internal(&e))?;
        if !ours.iter().chain(&theirs).any(|item| self.is_varying_int(*item)) {
            return Ok(None);
        }
        let mut equal = ours.len() == theirs.len();
        for (ours, theirs) in ours.iter().zip(&theirs) {
            if !equal {
                break;
            }
            if !self.is_varying_int(*ours) && !self.is_varying_int(*theirs) {
                let VarKind::Constant(ConstantVar { object }) = self.var(*theirs).kind else { return Ok(None) };
                let number = self.objects.get(self.py, object);
                equal = self.is_now(*ours, &number);
                continue;
            }
            let Some(same) = self.arithmetic(Arithmetic::Eq, *ours, Some(*theirs))? else { return Ok(None) };
            equal = self.truth(same)?;
        }
        Ok((equal == now).then_some(equal))
    }

    /// What stands for a number as an argument of the operation that is being recorded, where that takes extents.
    pub(super) fn extent_as_argument(&mut self, number: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        if !self.takes_extents || !self.is_varying_int(number) {
            return Ok(None);
        }
        let tracker = self.var(number).tracker;
        if !self.tell_numbers(tracker)? {
            return Ok(None);
        }
        let Some(extent) = self.extent_at(tracker) else { return Ok(None) };
        let py = self.py;
        let Some(value) = self.builder()?.extent(py, &extent) else { return Ok(None) };
        let symbol = self.symbol_of_number(number);
        if !extent.numbers().is_empty() {
            self.graph.examples.insert(symbol.0);
        }
        self.graph.extents.insert(symbol.0, extent.inputs());
        Ok(Some(value))
    }
}

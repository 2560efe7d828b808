//! Numbers that vary: arithmetic on them goes on by paths, and only what the program relies on is guarded.
//!
//! Of a number whose place has held another one before ([`Varying`]) the value is not read: `n + 1` is a variable at the path of
//! that name, whose value is an example; `n > 0` is one whose truth, once it is asked for, is guarded. Whoever needs the value
//! itself reads it as of any constant ([`Executor::constant_value`]), and leaves the guard that this takes: so nothing needs to know of
//! numbers that vary but what has something better to do with them.

use super::Executor;
use super::calls::name_of;
use super::handlers::{binary_operator, compare_operator};
use crate::captured::{class_place, place};
use crate::frame::Site;
use crate::numbers::{computed, is_number, is_text, of_comparison, of_math, of_operator, varies};
use crate::stop::Stop;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString, PyType};
use sot_tracker::{Arithmetic, Check, Tracker, TrackerId};

/// Steps to a number, before its value is read: code and text write all of them out.
const HEAVIEST: u32 = 128;
/// Comparisons of one number, before its value is read: a loop that counts up to it would guard each round.
const COMPARED: u32 = 16;

/// Functions of one number that are no operators, and operators of one.
const FUNCTIONS: &[(&str, Arithmetic)] = &[
    ("neg", Arithmetic::Negative),
    ("invert", Arithmetic::Invert),
    ("abs", Arithmetic::Abs),
    ("int", Arithmetic::Int),
    ("float", Arithmetic::Float),
    ("bool", Arithmetic::Bool),
    ("str", Arithmetic::Str),
    ("repr", Arithmetic::Repr),
    ("round", Arithmetic::Round),
    // Without a format.
    ("format", Arithmetic::Str),
];

/// What a function of module `operator`, or a builtin, computes of so many numbers.
fn computed_by(function: &str, of_two: bool) -> Option<Arithmetic> {
    if !of_two {
        return FUNCTIONS.iter().find(|(name, _)| *name == function).map(|(_, op)| *op);
    }
    match function {
        "format" => return Some(Arithmetic::Format),
        "round" => return Some(Arithmetic::RoundTo),
        _ => {}
    }
    match binary_operator(function) {
        Some((op, _)) => of_operator(op),
        None => compare_operator(function).and_then(of_comparison),
    }
}

impl<'py> Executor<'py> {
    /// A general capture is of no use with a guard on what varies: the instruction that asks is to be a break.
    pub(super) fn note_if_it_varies(&mut self, tracker: TrackerId, check: &Check) {
        let Some(answers) = self.found.general.filter(|_| self.asked_what_varies.is_none()) else { return };
        let Some(frame) = self.frames.last() else { return };
        let site = (frame.unit.address(), frame.ip);
        if !self.found.denied.contains_key(&site)
            && self.found.numbers.is_fact_that_varies(self.py, &self.captured, tracker, check, answers)
        {
            self.asked_what_varies = Some(site);
        }
    }

    /// The instruction of this attempt that has asked for what varies.
    pub fn asked_what_varies(&self) -> Option<Site> {
        self.asked_what_varies
    }

    /// Whether a number, or its text, is known by its path alone.
    pub(super) fn is_varying(&mut self, var: VarId) -> bool {
        let Variable { kind: VarKind::Constant(constant), tracker, valued: false, .. } = self.var(var) else {
            return false;
        };
        let (tracker, object) = (*tracker, constant.object);
        if !self.may_vary() || !self.has_path(tracker) || self.is_constant(tracker) {
            return false;
        }
        let number = self.objects.get(self.py, object);
        if let Tracker::Arithmetic { .. } = self.trackers.get(tracker) {
            return varies(&number) || is_text(&number);
        }
        self.is_varying_at(tracker, &number)
    }

    /// Whether there is any such number.
    fn may_vary(&self) -> bool {
        !self.found.numbers.is_empty() || !self.captured.draws.is_empty() || self.extents_vary()
    }

    /// Whether another number has been found at a place before.
    pub(super) fn is_varying_at(&mut self, tracker: TrackerId, number: &Bound<'py, PyAny>) -> bool {
        if self.captured.draws.contains_key(&tracker) {
            return true;
        }
        if self.found.numbers.is_empty() || !varies(number) || self.steady.contains(&tracker) {
            return false;
        }
        if self.captured.varying.contains_key(&tracker) {
            return true;
        }
        let place = place(self.py, &self.captured, tracker);
        let found = self.found.numbers.holds(&place, number);
        match found {
            true => drop(self.captured.varying.insert(tracker, place)),
            false => drop(self.steady.insert(tracker)),
        }
        found
    }

    /// Whether an attribute of a class is a number that varies: it is found in the dict of the class that has it, then, and that no
    /// other class comes before is guarded.
    pub(super) fn is_varying_attribute(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
        found: &Bound<'py, PyAny>,
    ) -> Result<bool, Stop> {
        if self.found.numbers.is_empty() || !varies(found) {
            return Ok(false);
        }
        let known_by = class_place(class.as_any(), &name.to_string_lossy());
        if !self.found.numbers.holds(&known_by, found) {
            return Ok(false);
        }
        let Some(place) = self.place_in_class(class, name, found)? else { return Ok(false) };
        self.captured.varying.insert(place, known_by);
        // Something else may bind, or be found behind what the instance has.
        let object = self.objects.add(found);
        self.guard_type(place, object);
        self.found_anew.insert(found.as_ptr() as usize, place);
        Ok(true)
    }

    /// What a function of C makes of numbers of which one varies; `None`: something else is to be done.
    pub(super) fn computed_of_varying(
        &mut self,
        callee: &Bound<'py, PyAny>,
        args: &[VarId],
    ) -> Result<Option<VarId>, Stop> {
        if !self.may_vary() {
            return Ok(None);
        }
        if let [one] = args
            && let Some(items) = self.items_to_compare(callee, *one)?
        {
            return self.computed_of_varying(callee, &items);
        }
        if !args.iter().any(|arg| self.is_varying(*arg)) {
            return Ok(None);
        }
        let of_c = |module: &str| callee.getattr("__module__").is_ok_and(|of| of.eq(module).unwrap_or(false));
        let name = name_of(callee);
        if of_c("math") {
            return match (name.as_str(), args) {
                ("log", [number, base]) => self.logarithm(*number, *base),
                (_, [number]) => match of_math(&name, false) {
                    Some(op) => self.arithmetic(op, *number, None),
                    None => Ok(None),
                },
                (_, [left, right]) => match of_math(&name, true) {
                    Some(op) => self.arithmetic(op, *left, Some(*right)),
                    None => Ok(None),
                },
                _ => Ok(None),
            };
        }
        if !of_c("_operator") && !of_c("builtins") {
            return Ok(None);
        }
        if let ("divmod", [left, right]) = (name.as_str(), args) {
            let Some(whole) = self.arithmetic(Arithmetic::FloorDivide, *left, Some(*right))? else { return Ok(None) };
            let rest = self.arithmetic(Arithmetic::Remainder, *left, Some(*right))?;
            return Ok(rest.map(|rest| self.virtual_var(TupleVar::new(vec![whole, rest]))));
        }
        if let ("max" | "min", [first, rest @ ..]) = (name.as_str(), args)
            && !rest.is_empty()
        {
            // The first of equals.
            let op = if name == "max" { Arithmetic::Gt } else { Arithmetic::Lt };
            let mut best = *first;
            for other in rest {
                let Some(better) = self.arithmetic(op, *other, Some(best))? else { return Ok(None) };
                best = if self.truth(better)? { *other } else { best };
            }
            return Ok(Some(best));
        }
        let (left, right) = match *args {
            [left] => (left, None),
            [left, right] => (left, Some(right)),
            _ => return Ok(None),
        };
        // Both give back what they were given.
        let is_number = self.is_varying_number(left);
        let is_whole = match name.as_str() {
            "pos" => is_number,
            "str" | "format" => !is_number,
            _ => false,
        };
        if is_whole && right.is_none() {
            return Ok(Some(left));
        }
        if let ("format" | "round", Some(how)) = (name.as_str(), right) {
            // One that varies may ask for a text without end, in guards that the program would not have come to.
            self.constant_value(how);
        }
        match computed_by(&name, right.is_some()) {
            Some(Arithmetic::Add) if self.is_text(left)? => self.arithmetic(Arithmetic::Join, left, right),
            Some(op) => self.arithmetic(op, left, right),
            None => Ok(None),
        }
    }

    /// To a base: the quotient of two logarithms, as C computes it.
    fn logarithm(&mut self, number: VarId, base: VarId) -> Result<Option<VarId>, Stop> {
        let Some(of_number) = self.arithmetic(Arithmetic::Log, number, None)? else { return Ok(None) };
        match self.arithmetic(Arithmetic::Log, base, None)? {
            Some(of_base) => self.arithmetic(Arithmetic::TrueDivide, of_number, Some(of_base)),
            None => Ok(None),
        }
    }

    /// What a method without arguments makes of a number that varies; `None`: something else is to be done.
    pub(super) fn method_of_varying(&mut self, number: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let VarKind::Constant(ConstantVar { object }) = self.var(number).kind else { return Ok(None) };
        if name != "is_integer" || !self.is_varying_number(number) {
            return Ok(None);
        }
        if !self.objects.get_ref(self.py, object).is_exact_instance_of::<PyFloat>() {
            return Ok(None);
        }
        // A remainder of floats is exact; of what is infinite or no number it is no number.
        let (one, zero) = (PyFloat::new(self.py, 1.0), PyFloat::new(self.py, 0.0));
        let (one, zero) = (self.fold(one.as_any())?, self.fold(zero.as_any())?);
        match self.arithmetic(Arithmetic::Remainder, number, Some(one))? {
            Some(rest) => self.arithmetic(Arithmetic::Eq, rest, Some(zero)),
            None => Ok(None),
        }
    }

    /// Whether a number is known by its path alone.
    pub(super) fn is_varying_number(&mut self, var: VarId) -> bool {
        let VarKind::Constant(ConstantVar { object }) = self.var(var).kind else { return false };
        self.is_varying(var) && varies(self.objects.get_ref(self.py, object))
    }

    /// Whether it is an int.
    pub(super) fn is_varying_int(&mut self, var: VarId) -> bool {
        let VarKind::Constant(ConstantVar { object }) = self.var(var).kind else { return false };
        self.is_varying(var) && self.objects.get_ref(self.py, object).is_exact_instance_of::<pyo3::types::PyInt>()
    }

    /// Whether a value is `None`, guarded: of what varies the type tells.
    pub(crate) fn is_none(&mut self, var: VarId) -> Result<bool, Stop> {
        self.look(var)?;
        Ok(!self.is_varying(var) && self.constant_value(var).is_some_and(|value| value.is_none()))
    }

    /// Whether one of two constants varies, and their types tell that they are two objects.
    pub(super) fn is_other_than_varying(&mut self, a: VarId, b: VarId) -> bool {
        let varies = [self.is_varying(a), self.is_varying(b)];
        if varies == [false, false] {
            return false;
        }
        let mut class = |var: VarId, varies: bool| {
            let VarKind::Constant(ConstantVar { object }) = self.var(var).kind else { return None };
            if !varies {
                self.constant_value(var);
            }
            Some(self.objects.get_ref(self.py, object).get_type())
        };
        match (class(a, varies[0]), class(b, varies[1])) {
            (Some(a), Some(b)) => !a.is(&b),
            _ => false,
        }
    }

    /// Texts one behind the other, where one is that of a number that varies.
    pub(super) fn joined_of_varying(&mut self, parts: &[VarId]) -> Result<Option<VarId>, Stop> {
        let [first, rest @ ..] = parts else { return Ok(None) };
        if !parts.iter().any(|part| self.is_varying(*part)) {
            return Ok(None);
        }
        let mut text = *first;
        for part in rest {
            match self.arithmetic(Arithmetic::Join, text, Some(*part))? {
                Some(longer) => text = longer,
                None => return Ok(None),
            }
        }
        Ok(Some(text))
    }

    /// Whether a number is not zero, guarded as such.
    pub(super) fn truth_of_varying(&mut self, var: VarId) -> Result<Option<bool>, Stop> {
        if !self.is_varying(var) {
            return Ok(None);
        }
        match self.arithmetic(Arithmetic::Bool, var, None)? {
            Some(truth) => self.truth(truth).map(Some),
            None => Ok(None),
        }
    }

    /// A number at the path of an operation on others.
    pub(super) fn arithmetic(
        &mut self,
        op: Arithmetic,
        given: VarId,
        right: Option<VarId>,
    ) -> Result<Option<VarId>, Stop> {
        let Some((left, left_path)) = self.number_and_path(given)? else { return Ok(None) };
        let right = match right {
            Some(right) => match self.number_and_path(right)? {
                Some(right) => Some(right),
                None => return Ok(None),
            },
            None => None,
        };
        // What it raises, the program is to see from the values.
        let Some(result) = computed(op, &left, right.as_ref().map(|(number, _)| number)) else { return Ok(None) };
        if let Arithmetic::Int | Arithmetic::Float = op
            && result.get_type().is(left.get_type())
        {
            return Ok(Some(given));
        }
        let right_path = right.as_ref().map(|(_, path)| *path);
        if !self.may_be_computed(op, left_path, right_path) {
            return Ok(None);
        }
        let tracker = self.trackers.intern(Tracker::Arithmetic { op, left: left_path, right: right_path });
        let var = self.computed_at(tracker, &result);
        let is_float = |number: &Bound<'py, PyAny>| number.is_exact_instance_of::<PyFloat>();
        let floats =
            [Some(&left), right.as_ref().map(|(right, _)| right)].into_iter().flatten().filter(|n| is_float(n));
        let floats = floats.count();
        let total = match op {
            // An int may be too large for a float.
            Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply => floats != 1,
            Arithmetic::And | Arithmetic::Or | Arithmetic::Xor | Arithmetic::Invert | Arithmetic::Bool => true,
            Arithmetic::Negative | Arithmetic::Abs | Arithmetic::Join => true,
            Arithmetic::IsNan | Arithmetic::IsInf | Arithmetic::IsFinite => floats == 1,
            _ => op.is_comparison(),
        };
        if !total {
            // That there is a result, and of which type, depends on the values.
            let class = self.objects.add(result.get_type().as_any());
            self.guard(tracker, Check::TypeIs(class));
        }
        Ok(Some(var))
    }

    /// A number that is known by the path of an operation: `example` is what that leads to now.
    pub(super) fn computed_at(&mut self, tracker: TrackerId, example: &Bound<'py, PyAny>) -> VarId {
        let object = self.objects.add(example);
        let var = self.add_var(ConstantVar { object }.into(), tracker);
        self.learn(var).looked = true;
        var
    }

    /// A number, and the path to it; one that does not vary is there as itself.
    fn number_and_path(&mut self, var: VarId) -> Result<Option<(Bound<'py, PyAny>, TrackerId)>, Stop> {
        let VarKind::Constant(ConstantVar { object }) = self.look(var)? else { return Ok(None) };
        let number = self.objects.get(self.py, object);
        if !is_number(&number) && !is_text(&number) {
            return Ok(None);
        }
        if self.is_varying(var) {
            return Ok(Some((number, self.var(var).tracker)));
        }
        self.constant_value(var);
        Ok(Some((number, self.constant_tracker(object))))
    }

    /// Whether one more operation pays.
    pub(super) fn may_be_computed(&mut self, op: Arithmetic, left: TrackerId, right: Option<TrackerId>) -> bool {
        let operands = [Some(left), right];
        if op.is_comparison() {
            for operand in operands.into_iter().flatten().filter(|at| !self.is_constant(*at)).collect::<Vec<_>>() {
                let compared = self.comparisons.entry(operand).or_default();
                *compared += 1;
                if *compared > COMPARED {
                    return false;
                }
            }
        }
        operands.into_iter().flatten().map(|operand| self.trackers.weight(operand)).fold(0, u32::saturating_add)
            < HEAVIEST
    }
}

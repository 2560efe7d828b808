//! Comparisons that are code of the program: of instances, and of containers that hold some.
//!
//! Where nothing of the program runs, they are folded, as ever (`handlers::operators`).

use super::Executor;
use crate::cpython::facts;
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_opcodes::CompareOp;

/// The method of the left operand, and the one of the right operand that stands in for it.
fn methods(op: CompareOp) -> (&'static str, &'static str) {
    match op {
        CompareOp::Lt => ("__lt__", "__gt__"),
        CompareOp::Le => ("__le__", "__ge__"),
        CompareOp::Eq => ("__eq__", "__eq__"),
        CompareOp::Ne => ("__ne__", "__ne__"),
        CompareOp::Gt => ("__gt__", "__lt__"),
        CompareOp::Ge => ("__ge__", "__le__"),
    }
}

/// The comparison with the operands in the other order.
fn swapped(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        CompareOp::Eq | CompareOp::Ne => op,
    }
}

/// The name of a class, as messages give it.
pub(super) fn class_name(class: &Bound<'_, PyAny>) -> String {
    class.cast::<PyType>().map(facts::name_in_messages).unwrap_or_default()
}

/// Whether a constant equals itself. A NaN does not: whether a container holds it is a question for who it is.
pub(super) fn is_itself(value: &Bound<'_, PyAny>) -> bool {
    let always = value.is_none() || value.is_exact_instance_of::<PyString>() || value.is_instance_of::<PyInt>();
    always || value.eq(value).unwrap_or(true)
}

/// Items of a list that is searched for what a tensor may be equal to, at most: each is a question of its own, and more are asked
/// faster by the list itself, behind a break.
const MOST_TENSORS: usize = 64;

impl<'py> Executor<'py> {
    /// The frame of `item in container`, if that runs code of the program.
    pub(super) fn enter_contains(
        &mut self,
        container: VarId,
        item: VarId,
        invert: bool,
    ) -> Result<Option<Called>, Stop> {
        let container = self.shown_by(container)?.unwrap_or(container);
        if let Some(entered) = self.enter_has_by_hash(container, item, invert)? {
            return Ok(Some(entered));
        }
        let searched = match self.look(container)? {
            VarKind::Instance(_) | VarKind::Layer(_) | VarKind::Class(_) => {
                if !self.is_asked(container)? {
                    return Ok(None);
                }
                let class = self.class_of(container)?;
                match self.class_lookup(&class, "__contains__")? {
                    Some(method) if facts::is_function(&method) => {
                        let method = self.special_method(container, "__contains__")?;
                        return self.enter(if invert { "untruth_of" } else { "truth_of" }, &[method, item]).map(Some);
                    }
                    Some(_) if self.by_definition => {
                        let method = self.special_method(container, "__contains__")?;
                        return self.enter(if invert { "untruth_of" } else { "truth_of" }, &[method, item]).map(Some);
                    }
                    Some(_) => return Ok(None),
                    None => self.iterates_by_code(container)?,
                }
            }
            VarKind::List(ListVar { class: None, .. }) | VarKind::Tuple(_) => {
                self.compares_by_code(item)?
                    || self.compares_by_code(container)?
                    || (!self.is_plain(item)? || !self.is_plain(container)?)
                        && !self.compares_more_than_most(container, item)
            }
            VarKind::View(ViewVar { dict, what: ViewWhat::Values }) => {
                self.compares_by_code(item)?
                    || self.compares_by_code(dict)?
                    || !self.is_plain(item)?
                    || !self.is_plain(dict)?
            }
            VarKind::Generator(generator) => generator.is_iterator(),
            VarKind::Iterator(_) => true,
            _ => false,
        };
        if !searched {
            return Ok(None);
        }
        let class = self.class_of(container)?;
        let text = format!("argument of type '{}' is not iterable", class_name(&class));
        let text = self.fold(PyString::new(self.py, &text).as_any())?;
        let (yes, no) = (self.fold_bool(!invert)?, self.fold_bool(invert)?);
        self.enter("found", &[container, item, yes, no, text]).map(Some)
    }

    /// The operands of a comparison that C makes of instances as of what they extend, or of named tuples as of tuples, in the order
    /// in which C asks them; `None`: it makes none.
    pub(super) fn compared_by_c(
        &mut self,
        op: CompareOp,
        left: VarId,
        right: VarId,
    ) -> Result<Option<(CompareOp, VarId, VarId)>, Stop> {
        let (first, second) = (self.content_compared(op, left)?, self.content_compared(op, right)?);
        if first.is_none() && second.is_none() {
            return Ok(None);
        }
        let (first, second) = (first.unwrap_or(left), second.unwrap_or(right));
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let comparable = match (self.look(first)?, self.look(second)?) {
            (VarKind::List(a), VarKind::List(b)) => a.class.is_none() && b.class.is_none(),
            (VarKind::Tuple(a), VarKind::Tuple(b)) => a.class.is_none() && b.class.is_none(),
            (VarKind::Dict(a), VarKind::Dict(b)) if equality => a.class.is_none() && b.class.is_none(),
            // What refuses to order them names the class.
            (a, b) => equality && self.never_equal(&a, &b),
        };
        if !comparable {
            return Ok(None);
        }
        let (left_class, right_class) = (self.class_of(left)?, self.class_of(right)?);
        Ok(Some(match self.derives(&right_class, &left_class)? {
            true => (swapped(op), second, first),
            false => (op, first, second),
        }))
    }

    /// What C compares in the place of an instance whose class leaves that to a list, a tuple or a dict that it extends, or of a
    /// named tuple.
    fn content_compared(&mut self, op: CompareOp, value: VarId) -> Result<Option<VarId>, Stop> {
        let (content, base) = match self.look(value)? {
            VarKind::Tuple(TupleVar { items, class: Some(_) }) => {
                (self.virtual_var(TupleVar::new(items.to_vec())), self.py.get_type::<PyTuple>())
            }
            VarKind::Instance(InstanceVar { part: Some(part), .. }) => match self.look(part)? {
                VarKind::List(ListVar { class: None, .. }) => (part, self.py.get_type::<PyList>()),
                VarKind::Tuple(TupleVar { items, class: None }) => {
                    (self.virtual_var(TupleVar::new(items.to_vec())), self.py.get_type::<PyTuple>())
                }
                VarKind::Dict(DictVar { class: None, .. }) => (part, self.py.get_type::<PyDict>()),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let class = self.class_of(value)?;
        let (plain, reflected) = methods(op);
        Ok(self.leaves_to(&class, &base, &[plain, reflected])?.then_some(content))
    }

    /// Whether a class leaves these methods to one that it extends.
    pub(super) fn leaves_to(
        &mut self,
        class: &Bound<'py, PyAny>,
        base: &Bound<'py, PyType>,
        names: &[&str],
    ) -> Result<bool, Stop> {
        for name in names {
            let same = match (self.class_lookup(class, name)?, type_facts::raw(base, name)) {
                (Some(found), Some(own)) => found.is(&own),
                (found, own) => found.is_none() && own.is_none(),
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two values are equal of which one is a function, a module, a method or another one that is equal to itself alone, and
    /// the other nothing that would say more; `None`: they are others.
    pub(super) fn equal_by_identity(&mut self, left: VarId, right: VarId) -> Result<Option<bool>, Stop> {
        let (mut by_identity, mut builtins) = (false, Vec::new());
        for operand in [left, right] {
            match self.look(operand)? {
                VarKind::Function(_) | VarKind::Module(_) | VarKind::Generator(_) => by_identity = true,
                VarKind::Class(class) => {
                    let class = self.objects.get(self.py, class.object);
                    if !self.compares_by_identity(&class.get_type())? {
                        return Ok(None);
                    }
                    by_identity = true;
                }
                VarKind::Method(method) if matches!(self.look(method.function)?, VarKind::Function(_)) => {}
                VarKind::Builtin(builtin) => {
                    let builtin = self.objects.get(self.py, builtin.object);
                    if !builtin.is_exact_instance_of::<PyCFunction>() {
                        return Ok(None);
                    }
                    builtins.push(builtin);
                }
                VarKind::Constant(_) | VarKind::List(_) | VarKind::Tuple(_) | VarKind::Dict(_) | VarKind::Set(_) => {}
                _ => return Ok(None),
            }
        }
        if let [a, b] = builtins.as_slice() {
            return a.eq(b).map(Some).map_err(|e| self.internal(&e));
        }
        if by_identity {
            return self.same_object(left, right).map(Some);
        }
        match (self.look(left)?, self.look(right)?) {
            (VarKind::Method(a), VarKind::Method(b)) => {
                let same = self.same_object(a.receiver, b.receiver)? && self.same_object(a.function, b.function)?;
                Ok(Some(same))
            }
            (VarKind::Method(_) | VarKind::Builtin(_), _) | (_, VarKind::Method(_) | VarKind::Builtin(_)) => {
                Ok(Some(false))
            }
            _ => Ok(None),
        }
    }

    /// `index`, `count` and `remove` of lists and tuples, if their comparisons are code of the program, or of a framework.
    pub(super) fn enter_search(&mut self, me: VarId, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        let (length, list) = match self.look(me)? {
            VarKind::List(ListVar { items, class: None, .. }) => (items.len() as i64, true),
            VarKind::Tuple(TupleVar { items, class: None }) => (items.len() as i64, false),
            _ => return Ok(None),
        };
        let [sought, rest @ ..] = args else { return Ok(None) };
        let by_code = self.compares_by_code(*sought)? || self.compares_by_code(me)?;
        // What is no constant is compared where its turn comes.
        let by_turns = name == "remove" && !(self.is_plain(me)? && self.is_plain(*sought)?);
        if by_turns && !self.compares_more_than_most(me, *sought) {
            return self.enter("remove", &[me, *sought]).map(Some);
        }
        if !by_code && (self.compares_more_than_most(me, *sought) || !self.compares_tensors(me, *sought)) {
            return Ok(None);
        }
        match (name, rest) {
            ("count", []) => self.enter("count_of", &[me, *sought]).map(Some),
            ("remove", []) if list => self.enter("remove", &[me, *sought]).map(Some),
            ("index", rest) if rest.len() <= 2 => {
                let mut bounds = [0, i64::MAX];
                for (bound, given) in bounds.iter_mut().zip(rest) {
                    let Some(given) = self.constant_int(*given) else { return Ok(None) };
                    *bound = if given < 0 { (given + length).max(0) } else { given };
                }
                let (start, stop) = (self.fold_int(bounds[0])?, self.fold_int(bounds[1])?);
                let name = if list { "index_of_list" } else { "index_of_tuple" };
                self.enter(name, &[me, *sought, start, stop]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The items of a list or a tuple that was looked at.
    fn searched_items(&self, searched: VarId) -> &[VarId] {
        match &self.var(searched).kind {
            VarKind::List(list) => &list.items,
            VarKind::Tuple(tuple) => &tuple.items,
            _ => &[],
        }
    }

    fn compares_more_than_most(&self, searched: VarId, sought: VarId) -> bool {
        self.searched_items(searched).len() > MOST_TENSORS && self.compares_tensors(searched, sought)
    }

    /// Whether a search in a list or a tuple that was looked at may come to a tensor.
    fn compares_tensors(&self, searched: VarId, sought: VarId) -> bool {
        let items = self.searched_items(searched);
        items.iter().chain([&sought]).any(|item| matches!(self.var(*item).kind, VarKind::Tensor(_)))
    }

    /// Whether `==` of something, or of what it contains, may be a method of the program, or a question for who it is.
    pub(super) fn compares_by_code(&mut self, value: VarId) -> Result<bool, Stop> {
        let mut seen = HashSet::new();
        let mut work: SmallVec<[VarId; 8]> = SmallVec::from_slice(&[value]);
        while let Some(value) = work.pop() {
            self.may_go_deeper()?;
            match self.look(value)? {
                VarKind::Instance(_) => {
                    let class = self.class_of(value)?;
                    let by_default = self.py.get_type::<PyAny>().getattr("__eq__").map_err(|e| self.internal(&e))?;
                    let method = self.class_lookup(&class, "__eq__")?;
                    if method.is_some_and(|method| facts::is_function(&method) || method.is(&by_default)) {
                        return Ok(true);
                    }
                }
                VarKind::Method(_) => return Ok(true),
                VarKind::Tuple(tuple) if seen.insert(value) => work.extend(tuple.items.iter().copied()),
                VarKind::List(list) if seen.insert(value) => work.extend(list.items.iter().copied()),
                VarKind::Dict(dict) if seen.insert(value) => work.extend(dict.entries.iter().map(|(_, value)| *value)),
                VarKind::Constant(_) if self.constant_value(value).is_some_and(|value| !is_itself(&value)) => {
                    return Ok(true);
                }
                _ => {}
            }
        }
        Ok(false)
    }

    /// Whether values are of two builtin types of which one is a container that equals none of the other.
    fn never_equal(&self, a: &VarKind, b: &VarKind) -> bool {
        let type_of = |kind: &VarKind| {
            Some(match kind {
                VarKind::List(ListVar { class: None, .. }) => self.py.get_type::<PyList>(),
                VarKind::Tuple(TupleVar { class: None, .. }) => self.py.get_type::<PyTuple>(),
                VarKind::Dict(DictVar { class: None, .. }) => self.py.get_type::<PyDict>(),
                VarKind::Function(_) => self.py.get_type::<PyFunction>(),
                VarKind::Module(_) => self.py.get_type::<PyModule>(),
                VarKind::Class(class) => {
                    let kind = self.objects.get_ref(self.py, class.object).get_type();
                    kind.is(self.py.get_type::<PyType>()).then_some(kind)?
                }
                VarKind::Builtin(builtin) => {
                    let kind = self.objects.get_ref(self.py, builtin.object).get_type();
                    kind.is(self.py.get_type::<PyCFunction>()).then_some(kind)?
                }
                VarKind::Constant(constant) => {
                    let value = self.objects.get_ref(self.py, constant.object);
                    let plain = value.is_none()
                        || value.is_exact_instance_of::<PyString>()
                        || value.is_exact_instance_of::<PyInt>()
                        || value.is_exact_instance_of::<PyFloat>();
                    plain.then(|| value.get_type())?
                }
                _ => return None,
            })
        };
        let constant = |kind: &VarKind| matches!(kind, VarKind::Constant(_));
        match (type_of(a), type_of(b)) {
            (Some(left), Some(right)) => !(left.is(&right) || constant(a) && constant(b)),
            _ => false,
        }
    }

    /// Whether two values are equal of which one is a bound method: it equals one of the same function and the very same receiver, and
    /// nothing else. `None`: neither is one, or the other value has a say.
    fn equal_methods(&mut self, left: VarId, right: VarId) -> Result<Option<bool>, Stop> {
        let kinds = (self.look(left)?, self.look(right)?);
        if let (VarKind::Method(a), VarKind::Method(b)) = &kinds {
            if !self.is_of_function(a.function)? || !self.is_of_function(b.function)? {
                return Ok(None);
            }
            let same = self.same_object(a.function, b.function)? && self.same_object(a.receiver, b.receiver)?;
            return Ok(Some(same));
        }
        let ((VarKind::Method(_), other) | (other, VarKind::Method(_))) = kinds else { return Ok(None) };
        let silent = match &other {
            VarKind::Constant(constant) => crate::type_facts::is_silent(self.objects.get_ref(self.py, constant.object)),
            VarKind::List(ListVar { class: None, .. })
            | VarKind::Dict(DictVar { class: None, .. })
            | VarKind::Tuple(TupleVar { class: None, .. })
            | VarKind::Function(_)
            | VarKind::Module(_)
            | VarKind::Set(_) => true,
            _ => false,
        };
        Ok(silent.then_some(false))
    }

    /// The frame of a comparison of two lists, tuples or dicts, if items are compared by methods of the program.
    fn enter_compare_items(
        &mut self,
        op: CompareOp,
        left: VarId,
        right: VarId,
        to_bool: bool,
    ) -> Result<Option<Called>, Stop> {
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if equality && let Some(equal) = self.equal_shapes(left, right)? {
            return self.fold_bool(equal == (op == CompareOp::Eq)).map(|result| Some(Called::Value(result)));
        }
        let definition = match (self.look(left)?, self.look(right)?) {
            (VarKind::List(a), VarKind::List(b)) if a.class.is_none() && b.class.is_none() => "equal_lists",
            (VarKind::Tuple(a), VarKind::Tuple(b)) if a.class == b.class => "equal_tuples",
            (VarKind::Dict(a), VarKind::Dict(b)) if equality && a.class.is_none() && b.class.is_none() => "equal_dicts",
            (VarKind::Dict(a), VarKind::Dict(b)) if equality && (self.is_ordered(&a) || self.is_ordered(&b)) => {
                "equal_ordered"
            }
            (VarKind::Dict(_), VarKind::Dict(_)) if equality => "equal_dicts",
            (a, b) if equality && self.never_equal(&a, &b) => {
                return self.fold_bool(op == CompareOp::Ne).map(|result| Some(Called::Value(result)));
            }
            _ => return Ok(None),
        };
        let by_code = self.compares_by_code(left)? || self.compares_by_code(right)?;
        let by_code = by_code || self.has_hashed_keys(left)? || self.has_hashed_keys(right)?;
        // What is no constant, as a tensor, is compared where its turn comes, and not at all behind a difference.
        if !by_code && self.is_plain(left)? && self.is_plain(right)? {
            return Ok(None);
        }
        if equality {
            let (yes, no) = (self.fold_bool(op == CompareOp::Eq)?, self.fold_bool(op == CompareOp::Ne)?);
            let of = match (self.look(left)?, self.look(right)?) {
                (VarKind::Dict(a), VarKind::Dict(b)) => Some((a, b)),
                _ => None,
            };
            // The right one is asked first where its class extends that of the left.
            let (left, right) = match &of {
                Some((a, b)) if a.class.is_none() && b.class.is_some() => (right, left),
                _ => (left, right),
            };
            if definition == "equal_ordered" {
                let both = of.is_some_and(|(a, b)| self.is_ordered(&a) && self.is_ordered(&b));
                let ordered = self.fold_bool(both)?;
                return self.enter(definition, &[left, right, ordered, yes, no]).map(Some);
            }
            return self.enter(definition, &[left, right, yes, no]).map(Some);
        }
        let order = self.operator(super::handlers::compare_name(op))?;
        let order = self.pin(&order);
        let definition = if to_bool { "truth_of_ordered_items" } else { "ordered_items" };
        self.enter(definition, &[left, right, order]).map(Some)
    }

    /// The frame of a comparison, if that is a method of the program: the methods are asked in the interpreter's order, until one
    /// does not say NotImplemented. Instances that nothing compares are equal to themselves.
    pub(super) fn enter_compare(
        &mut self,
        op: CompareOp,
        left: VarId,
        right: VarId,
        to_bool: bool,
    ) -> Result<Option<Called>, Stop> {
        if self.is_asked_of_numpy(left) || self.is_asked_of_numpy(right) {
            let mut result = self.compare(op, left, right)?;
            if to_bool {
                let truth = self.truth(result)?;
                result = self.fold_bool(truth)?;
            }
            return Ok(Some(Called::Value(result)));
        }
        if let Some((op, left, right)) = self.compared_by_c(op, left, right)? {
            return self.enter_compare(op, left, right, to_bool);
        }
        let instance = |kind: VarKind| matches!(kind, VarKind::Instance(_));
        if !instance(self.look(left)?) && !instance(self.look(right)?) {
            if let CompareOp::Eq | CompareOp::Ne = op
                && let Some(equal) = self.equal_methods(left, right)?
            {
                return self.fold_bool(equal == (op == CompareOp::Eq)).map(|result| Some(Called::Value(result)));
            }
            if let Some(compared) = self.enter_compare_sets(op, left, right)? {
                return Ok(Some(compared));
            }
            return self.enter_compare_items(op, left, right, to_bool);
        }
        // A scalar of numpy makes an array of the other one, and compares that.
        self.may_meet_scalar(left, right)?;
        let (of_left, of_right) = methods(op);
        let (left_class, right_class) = (self.class_of(left)?, self.class_of(right)?);
        let derived = self.derives(&right_class, &left_class)?;
        if derived && !instance(self.look(left)?) {
            // What C makes of its subclasses is for C to say.
            return Ok(None);
        }
        let mut order = [(left, &left_class, of_left, right), (right, &right_class, of_right, left)];
        if derived {
            order.reverse();
        }
        let mut attempts = Vec::new();
        for (me, class, name, other) in order {
            let by_default = self.py.get_type::<PyAny>().getattr(name).map_err(|e| self.internal(&e))?;
            match self.class_lookup(class, name)? {
                // `object.__ne__` asks `__eq__`; the other methods of `object` know nothing.
                Some(found) if found.is(&by_default) && name == "__ne__" => {
                    let plain = self.py.get_type::<PyAny>().getattr("__eq__").map_err(|e| self.internal(&e))?;
                    match self.class_lookup(class, "__eq__")? {
                        Some(eq) if eq.is(&plain) => {}
                        Some(eq) if facts::is_function(&eq) => {
                            let method = self.special_method(me, "__eq__")?;
                            let inverted = self.fold_bool(true)?;
                            attempts.push(self.virtual_var(TupleVar::new(vec![method, other, inverted])));
                        }
                        _ => return Ok(None),
                    }
                }
                Some(found) if found.is(&by_default) => {}
                Some(found) if facts::is_function(&found) => {
                    let method = self.special_method(me, name)?;
                    let inverted = self.fold_bool(false)?;
                    attempts.push(self.virtual_var(TupleVar::new(vec![method, other, inverted])));
                }
                // A value of C whose comparison says NotImplemented to an instance of the program, unless that is one of its
                // kind as well: a dict is compared with instances of classes that extend `dict`.
                Some(_)
                    if matches!(
                        self.look(me)?,
                        VarKind::Constant(_)
                            | VarKind::Tuple(_)
                            | VarKind::List(_)
                            | VarKind::Dict(_)
                            | VarKind::Method(_)
                    ) && self.extends_object(if other == left { &left_class } else { &right_class })? => {}
                // Nor has what such a class is extended to.
                Some(_)
                    if self.content_compared(op, me)?.is_some()
                        && self.extends_object(if other == left { &left_class } else { &right_class })? => {}
                _ => return Ok(None),
            }
        }
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if equality && attempts.is_empty() {
            let same = self.same_object(left, right)?;
            return self.fold_bool(same == (op == CompareOp::Eq)).map(|result| Some(Called::Value(result)));
        }
        let nobody = attempts.is_empty();
        let attempts = self.virtual_var(TupleVar::new(attempts));
        if equality {
            let same = self.same_object(left, right)?;
            let otherwise = self.fold_bool(same == (op == CompareOp::Eq))?;
            let name = if to_bool { "truth_of_compared" } else { "compared" };
            return self.enter(name, &[attempts, otherwise]).map(Some);
        }
        let sign = match op {
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
            CompareOp::Eq | CompareOp::Ne => "==",
        };
        let text = format!(
            "'{sign}' not supported between instances of '{}' and '{}'",
            class_name(&left_class),
            class_name(&right_class)
        );
        if nobody {
            return Err(self.raise_error::<PyTypeError>(&text));
        }
        let text = self.fold(PyString::new(self.py, &text).as_any())?;
        let definition = if to_bool { "truth_of_ordered" } else { "ordered" };
        self.enter(definition, &[attempts, text]).map(Some)
    }
}

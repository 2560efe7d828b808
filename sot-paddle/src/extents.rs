//! Extents that vary, in a program: what Paddle's own symbolic shape inference knows of them, and values that stand for them.
//!
//! A program's shape inference gives -1 for an extent that is not known. Paddle has another one, made for its compiler, that gives
//! each such extent of an input a name and writes the others as formulas of them (`shape[S0, Mul(S1, 16)]`). It annotates the
//! operations of a program; so it is run on a copy, when the program asks for a shape. What it cannot say is left out: then all
//! extents are fixed. Where tensors are joined it leaves open which one is spread (`Broadcast(S0, S1)`); here it is known that the
//! extents of inputs that vary are 2 at least, so that none of them is.

use crate::grown::{Grown, Number, Source};
use crate::handles::value_id;
use crate::meta;
use hashbrown::HashMap;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use smallvec::SmallVec;
use sot_core::backend::{Attr, Extent};

/// Operations that are looked at in one capture: each question looks at all that there are by then, which takes about 10 us of each. About
/// three seconds are the most that a capture spends so; then it starts over with fixed extents.
const MOST_LOOKED_AT: usize = 60_000;

/// The attribute of an operation that says what is known of its results.
const ANNOTATION: &str = "sym_shape_str";

/// The value that stands for an extent: an integer without axes.
pub(crate) fn value<'py>(grown: &mut Grown, py: Python<'py>, extent: &Extent) -> PyResult<Bound<'py, PyAny>> {
    if let Some(known) = grown.extents.0.get(extent) {
        return Ok(known.bind(py).clone());
    }
    let mut both = |parts: &[Extent; 2]| -> PyResult<[Bound<'py, PyAny>; 2]> {
        Ok([value(grown, py, &parts[0])?, value(grown, py, &parts[1])?])
    };
    let made = match extent {
        Extent::Fixed | Extent::Largest(_) | Extent::Smallest(_) => {
            return Err(PyValueError::new_err("an extent that no operation computes"));
        }
        Extent::Number(number) => return Ok(number.into_pyobject(py)?.into_any()),
        Extent::OfInput { input, axis } => extent_along(grown, &grown.inputs[*input].value, py, *axis)?,
        Extent::OfNumber(number) => extent_along(grown, &grown.numbers[*number].value, py, 0)?,
        Extent::Sum(parts) => both(parts).and_then(|[left, right]| left.add(right))?,
        Extent::Difference(parts) => both(parts).and_then(|[left, right]| left.sub(right))?,
        Extent::Product(parts) => both(parts).and_then(|[left, right]| left.mul(right))?,
        Extent::Quotient(parts) => both(parts).and_then(|[left, right]| left.floor_div(right))?,
    };
    if !grown.handles.is_value(&made) {
        return Ok(made);
    }
    made.setattr(intern!(py, "stop_gradient"), true)?;
    grown.extents.0.insert(extent.clone(), made.clone().unbind());
    Ok(made)
}

/// The extent of a value along an axis, as an operation of the program.
fn extent_along<'py>(grown: &Grown, of: &Py<PyAny>, py: Python<'py>, axis: usize) -> PyResult<Bound<'py, PyAny>> {
    let paddle = grown.handles.paddle.bind(py);
    let shape = paddle.getattr(intern!(py, "shape"))?.call1((of,))?;
    shape.get_item(axis)?.call_method1(intern!(py, "astype"), ("int64",))
}

/// The shape of a value some of whose extents vary. `None`: none does, or it is not known how.
pub(crate) fn of_value<'py>(grown: &Grown, value: &Bound<'py, PyAny>) -> PyResult<Option<Attr<'py>>> {
    let py = value.py();
    let shape = meta::shape(value)?;
    if shape.iter().all(|extent| *extent >= 0) {
        return Ok(None);
    }
    if let Some(input) = grown.input_index(value_id(value)?) {
        let known_by = |(axis, extent): (usize, &i64)| match *extent < 0 {
            true => Extent::OfInput { input, axis },
            false => Extent::Fixed,
        };
        let known_by = shape.iter().enumerate().map(known_by).collect();
        let example = grown.inputs[input].tensor.bind(py).getattr(intern!(py, "shape"))?;
        return Ok(Some(Attr::Extents { example, known_by }));
    }
    let Some(formulas) = inferred(grown, value)? else { return Ok(None) };
    let mut known_by: SmallVec<[Extent; 6]> = SmallVec::new();
    let mut now = Vec::with_capacity(shape.len());
    for (extent, formula) in shape.iter().zip(formulas) {
        match (*extent >= 0, formula) {
            (true, _) => {
                known_by.push(Extent::Fixed);
                now.push(*extent);
            }
            (false, Some(formula)) => {
                let Some(extent) = value_now(grown, py, &formula) else { return Ok(None) };
                known_by.push(formula);
                now.push(extent);
            }
            (false, None) => return Ok(None),
        }
    }
    let example = crate::attr::size_class(&grown.handles, py)?.call1((now,))?;
    Ok(Some(Attr::Extents { example, known_by }))
}

/// What an extent is in this call.
fn value_now(grown: &Grown, py: Python<'_>, extent: &Extent) -> Option<i64> {
    let of_input =
        |input: usize, axis: usize| meta::shape(grown.inputs.get(input)?.tensor.bind(py)).ok()?.get(axis).copied();
    extent.value(&of_input, &|number| Some(grown.numbers.get(number)?.now))
}

/// The extents of a value as Paddle infers them; `None` for one that is no formula of those of the inputs.
fn inferred<'py>(grown: &Grown, value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Option<Extent>>>> {
    let py = value.py();
    let pir = grown.handles.pir.bind(py);
    let (Ok(infer), Ok(manager), Ok(mapping)) = (
        pir.getattr(intern!(py, "infer_symbolic_shape_pass")),
        pir.getattr(intern!(py, "PassManager")),
        pir.getattr(intern!(py, "IrMapping")),
    ) else {
        return Ok(None);
    };
    let main = grown.main.bind(py);
    let maker = value.call_method0(intern!(py, "get_defining_op"))?;
    if maker.is_none() {
        return Ok(None);
    }
    let of_program = |program: &Bound<'py, PyAny>| -> PyResult<Bound<'py, PyList>> {
        let block = program.call_method0(intern!(py, "global_block"))?;
        Ok(block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?)
    };
    let id = |op: &Bound<'_, PyAny>| -> PyResult<i64> { op.call_method0(intern!(py, "id"))?.extract() };
    let ours = of_program(main)?;
    let place_of =
        |value: &Bound<'py, PyAny>, mut places: Box<dyn Iterator<Item = usize>>| -> PyResult<Option<usize>> {
            let wanted = id(&value.call_method0(intern!(py, "get_defining_op"))?)?;
            Ok(places.find(|at| ours.get_item(*at).and_then(|op| id(&op)).is_ok_and(|id| id == wanted)))
        };
    // Formulas with quotients take Paddle much longer: ten of them twenty times as long (window attention over sizes that vary).
    let quotients = grown.extents.0.keys().filter(|extent| matches!(extent, Extent::Quotient(_))).count();
    grown.looked_at.set(grown.looked_at.get() + ours.len() * (1 + quotients));
    if grown.looked_at.get() > MOST_LOOKED_AT {
        return Ok(None);
    }
    // What is asked for was computed last, mostly.
    let Some(at) = place_of(value, Box::new((0..ours.len()).rev()))? else { return Ok(None) };
    let copy = main.call_method1(intern!(py, "clone"), (mapping.call0()?,))?;
    let passes = manager.call1((2,))?;
    infer.call1((&passes, &copy))?;
    passes.call_method1(intern!(py, "run"), (&copy,))?;
    let copies = of_program(&copy)?;
    if copies.len() != ours.len() {
        return Ok(None);
    }
    let annotation = |op: &Bound<'py, PyAny>| -> PyResult<Option<String>> {
        let attrs = op.call_method0(intern!(py, "attrs"))?.cast_into::<PyDict>()?;
        attrs.get_item(ANNOTATION)?.map(|text| text.extract()).transpose()
    };
    // Names are given where the inputs stand: those of which extents vary.
    let mut names = HashMap::new();
    let varying = grown.inputs.iter().enumerate().filter(|(_, source)| source.meta.shape.contains(&-1));
    let of_input = varying.map(|(input, Source { value, .. })| {
        let extent: Box<dyn Fn(usize) -> Extent> = Box::new(move |axis| Extent::OfInput { input, axis });
        (value, extent)
    });
    let of_number = grown.numbers.iter().enumerate().map(|(number, Number { value, .. })| {
        let extent: Box<dyn Fn(usize) -> Extent> = Box::new(move |_| Extent::OfNumber(number));
        (value, extent)
    });
    for (value, extent) in of_input.chain(of_number) {
        let Some(place) = place_of(value.bind(py), Box::new(0..ours.len()))? else { continue };
        let Some(text) = annotation(&copies.get_item(place)?)? else { continue };
        for (axis, name) in shapes_in(&text).into_iter().next().unwrap_or_default().into_iter().enumerate() {
            if name.starts_with('S') {
                names.entry(name).or_insert_with(|| extent(axis));
            }
        }
    }
    let results = maker.call_method0(intern!(py, "results"))?.cast_into::<PyList>()?;
    let own = value_id(value)?;
    let Some(number) = results.iter().position(|result| value_id(&result).is_ok_and(|id| id == own)) else {
        return Ok(None);
    };
    // What takes a list of values apart says what the first one is; who made the list says it of all.
    let mut of = copies.get_item(at)?;
    if of.call_method0(intern!(py, "name"))?.extract::<&str>()? == "builtin.split" {
        let operands = of.call_method0(intern!(py, "operands_source"))?.cast_into::<PyList>()?;
        of = operands.get_item(0)?.call_method0(intern!(py, "get_defining_op"))?;
    }
    let Some(text) = annotation(&of)? else { return Ok(None) };
    // Of most operations the first result alone is annotated.
    let shapes = shapes_in(&text);
    let is_told = number == 0 || shapes.len() == results.len();
    let Some(shape) = shapes.into_iter().nth(number).filter(|_| is_told) else { return Ok(None) };
    let known = meta::shape(value)?;
    let agrees = |(formula, extent): (&String, &i64)| *extent < 0 || formula.parse() == Ok(*extent);
    if shape.len() != known.len() || !shape.iter().zip(&known).all(agrees) {
        return Ok(None);
    }
    Ok(Some(shape.iter().map(|formula| parsed(formula, &names)).collect()))
}

/// The shapes of an annotation, as the texts of their extents: `shape[S0, Mul(S1, 16)], data[NULL], shape[8], data[NULL]`.
fn shapes_in(annotation: &str) -> Vec<Vec<String>> {
    let behind = annotation.split("shape[").skip(1);
    behind.filter_map(|rest| rest.split_once(']')).map(|(shape, _)| parts(shape)).collect()
}

/// Parts between commas that are in no brackets.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut part) = (Vec::new(), 0, String::new());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part).trim().to_owned());
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    if !part.trim().is_empty() {
        parts.push(part.trim().to_owned());
    }
    parts
}

/// A formula as an extent; `None` for one that names something else than extents of inputs, or is written in other words.
fn parsed(formula: &str, names: &HashMap<String, Extent>) -> Option<Extent> {
    if let Ok(number) = formula.parse() {
        return Some(Extent::Number(number));
    }
    if let Some(negated) = formula.strip_prefix('-') {
        return Some(Extent::Difference(Box::new([Extent::Number(0), parsed(negated, names)?])));
    }
    let Some((function, arguments)) = formula.strip_suffix(')').and_then(|formula| formula.split_once('(')) else {
        return names.get(formula).cloned();
    };
    let arguments = parts(arguments);
    let mut arguments = arguments.iter().map(|argument| parsed(argument, names));
    let make: fn(Box<[Extent; 2]>) -> Extent = match function {
        "Add" => Extent::Sum,
        "Mul" => Extent::Product,
        "Div" => |parts| quotient(*parts),
        "Max" => Extent::Largest,
        "Min" => Extent::Smallest,
        "Broadcast" => return broadcast(arguments.collect()),
        _ => return None,
    };
    let first = arguments.next()??;
    arguments.try_fold(first, |left, right| match right? {
        // `Min(S0, S0)`
        right if right == left && matches!(function, "Max" | "Min") => Some(left),
        right => Some(make(Box::new([left, right]))),
    })
}

/// The extent to which these are spread, where the operation that spreads them raises if they do not fit. One of 2 at least is that
/// extent: each other one is 1 or the same, even if it is not known. Where all may be 1, it is the largest; that is wrong beside an
/// empty one, which is rare enough to be left to the claim that each replay checks.
fn broadcast(parts: Vec<Option<Extent>>) -> Option<Extent> {
    let several = || parts.iter().flatten().filter(|part| least(part) >= 2);
    if let Some(decides) = several().find(|part| matches!(part, Extent::Number(_))).or_else(|| several().next()) {
        return Some(decides.clone());
    }
    let mut left: Vec<Extent> = Vec::new();
    for part in parts {
        let part = part?;
        if part != Extent::Number(1) && !left.contains(&part) {
            left.push(part);
        }
    }
    let largest = |left, right| Extent::Largest(Box::new([left, right]));
    Some(left.into_iter().reduce(largest).unwrap_or(Extent::Number(1)))
}

/// The least that an extent can be; those of inputs that vary are 2 at least ([`GraphBuilder::input_that_varies`]).
///
/// [`GraphBuilder::input_that_varies`]: sot_core::backend::GraphBuilder::input_that_varies
fn least(extent: &Extent) -> i64 {
    let both = |parts: &[Extent; 2]| (least(&parts[0]), least(&parts[1]));
    match extent {
        Extent::Fixed => 0,
        Extent::Number(number) => *number,
        Extent::OfInput { .. } | Extent::OfNumber(_) => 2,
        Extent::Sum(parts) => {
            let (left, right) = both(parts);
            left.saturating_add(right)
        }
        Extent::Product(parts) => match both(parts) {
            (left, right) if left >= 0 && right >= 0 => left.saturating_mul(right),
            _ => i64::MIN,
        },
        Extent::Quotient(parts) if least(&parts[0]) >= 0 && least(&parts[1]) > 0 => 0,
        Extent::Difference(_) | Extent::Quotient(_) => i64::MIN,
        Extent::Largest(parts) => {
            let (left, right) = both(parts);
            left.max(right)
        }
        Extent::Smallest(parts) => {
            let (left, right) = both(parts);
            left.min(right)
        }
    }
}

/// A quotient without the factors that both have. Paddle leaves them where it has not found yet that they are the same:
/// `Div(Mul(Broadcast(S0, S1), 4), S0)`.
fn quotient([left, right]: [Extent; 2]) -> Extent {
    let (mut over, mut under) = (factors(left), factors(right));
    under.retain(|factor| match over.iter().position(|other| other == factor && least(factor) > 0) {
        Some(at) => {
            over.remove(at);
            false
        }
        None => true,
    });
    let product = |factors: Vec<Extent>| {
        let product = |left, right| Extent::Product(Box::new([left, right]));
        factors.into_iter().reduce(product)
    };
    let over = product(over).unwrap_or(Extent::Number(1));
    match product(under) {
        Some(under) => Extent::Quotient(Box::new([over, under])),
        None => over,
    }
}

fn factors(extent: Extent) -> Vec<Extent> {
    match extent {
        Extent::Product(parts) => {
            let [left, right] = *parts;
            let mut all = factors(left);
            all.extend(factors(right));
            all
        }
        extent => vec![extent],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> HashMap<String, Extent> {
        let of = |axis| Extent::OfInput { input: 0, axis };
        HashMap::from([("S0".to_owned(), of(0)), ("S1".to_owned(), of(1))])
    }

    #[test]
    fn shapes_are_split_at_their_own_commas() {
        let shapes = shapes_in("shape[S0, Mul(S1, Add(S0, 2)), 8], data[NULL], shape[], data[S0]");
        assert_eq!(shapes, [vec!["S0", "Mul(S1, Add(S0, 2))", "8"], vec![]]);
    }

    #[test]
    fn formulas_of_sums_and_products_are_read() {
        let of = |axis| Extent::OfInput { input: 0, axis };
        let sum = Extent::Sum(Box::new([of(0), Extent::Number(-2)]));
        assert_eq!(parsed("Add(S0, -2)", &names()), Some(sum.clone()));
        assert_eq!(parsed("Mul(S1, Add(S0, -2))", &names()), Some(Extent::Product(Box::new([of(1), sum]))));
        let three = Extent::Sum(Box::new([Extent::Sum(Box::new([of(0), of(0)])), of(1)]));
        assert_eq!(parsed("Add(S0, S0, S1)", &names()), Some(three));
    }

    #[test]
    fn what_is_behind_a_number_is_read() {
        let of = |axis| Extent::OfInput { input: 0, axis };
        let negated = Extent::Difference(Box::new([Extent::Number(0), of(0)]));
        let behind = Extent::Sum(Box::new([Extent::Number(64), negated]));
        assert_eq!(parsed("Add(64, -S0)", &names()), Some(behind));
        assert_eq!(parsed("-S7", &names()), None);
    }

    #[test]
    fn slices_and_windows_are_read() {
        let of = |axis| Extent::OfInput { input: 0, axis };
        let shorter = Extent::Sum(Box::new([of(0), Extent::Number(-1)]));
        let slice = parsed("Max(Min(Add(S0, -1), Add(S0, -1)), 0)", &names());
        assert_eq!(slice, Some(Extent::Largest(Box::new([shorter, Extent::Number(0)]))));
        assert_eq!(parsed("Div(S1, 2)", &names()), Some(Extent::Quotient(Box::new([of(1), Extent::Number(2)]))));
    }

    #[test]
    fn whoever_is_not_1_is_what_others_are_spread_to() {
        let of = |axis| Extent::OfInput { input: 0, axis };
        assert_eq!(parsed("Broadcast(S0, S1)", &names()), Some(of(0)));
        assert_eq!(parsed("Broadcast(S0, S1, 3)", &names()), Some(Extent::Number(3)));
        assert_eq!(parsed("Broadcast(1, S1)", &names()), Some(of(1)));
        assert_eq!(parsed("Broadcast(S7, S1)", &names()), Some(of(1)));
        assert_eq!(parsed("Broadcast(Add(S0, -1), S1)", &names()), Some(of(1)));
        let shorter = |axis| Extent::Sum(Box::new([of(axis), Extent::Number(-1)]));
        let larger = Extent::Largest(Box::new([shorter(0), shorter(1)]));
        assert_eq!(parsed("Broadcast(Add(S0, -1), Add(S1, -1))", &names()), Some(larger));
    }

    #[test]
    fn quotients_lose_what_is_over_and_under() {
        let of = |axis| Extent::OfInput { input: 0, axis };
        assert_eq!(parsed("Div(Mul(Broadcast(S0, S1), 4), S0)", &names()), Some(Extent::Number(4)));
        let rest = Extent::Product(Box::new([of(1), Extent::Number(4)]));
        assert_eq!(parsed("Div(Mul(S0, S1, 4), S0)", &names()), Some(rest));
        // What may be 0 stays.
        let shorter = Extent::Sum(Box::new([of(0), Extent::Number(-2)]));
        let kept = Extent::Quotient(Box::new([Extent::Product(Box::new([shorter.clone(), of(1)])), shorter]));
        assert_eq!(parsed("Div(Mul(Add(S0, -2), S1), Add(S0, -2))", &names()), Some(kept));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        for formula in ["S7", "Mod(S0, 2)", "Broadcast(S7, 1)", "Mul(S0, S7)", "Add()", ""] {
            assert_eq!(parsed(formula, &names()), None, "{formula}");
        }
    }
}

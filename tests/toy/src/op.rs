//! The operations of the framework: shape inference, arithmetic, and which of them give views.
//!
//! Nothing here knows Python. The same three answers serve eager execution, graphs under construction and compiled
//! graphs: what comes out ([`Op::infer`]), which numbers ([`Op::eval`]), and whose memory ([`Op::view`]).

use sot_core::backend::Extent;
use std::ops::Range;

/// Element types. All numbers are stored as `f64`; the type says how they are rounded and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Float64,
    Int64,
    Bool,
}

impl Element {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::Float64 => "float64",
            Element::Int64 => "int64",
            Element::Bool => "bool",
        }
    }
}

/// What is known of a tensor without its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
    pub(crate) requires_grad: bool,
}

impl Meta {
    pub(crate) fn plain(shape: Vec<usize>, element: Element) -> Meta {
        Meta { shape, element, requires_grad: false }
    }

    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unary {
    Neg,
    Exp,
    Log,
    Relu,
    Clone,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reduce {
    Sum,
    Mean,
    Max,
    Min,
}

/// One operation, with everything but its operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Constant(Meta, Vec<f64>),
    /// Drawn from the random stream of the framework.
    Uniform(Vec<usize>),
    Unary(Unary),
    Binary(Binary),
    Reduce(Reduce, Option<usize>),
    Matmul,
    Transpose,
    Astype(Element),
    Concat,
    /// A view with another shape.
    Reshape(Vec<i64>),
    /// A view of rows `start..stop`; of one row without its axis if `single`.
    Rows {
        start: usize,
        stop: usize,
        single: bool,
    },
    /// A view to which no gradients flow.
    Detach,
}

impl Op {
    /// The numbers of the operand that the result shares, if the result is a view.
    pub(crate) fn view(&self, of: &Meta) -> Option<Range<usize>> {
        match self {
            Op::Reshape(_) | Op::Detach => Some(0..of.count()),
            Op::Rows { start, stop, .. } => {
                let row: usize = of.shape[1..].iter().product();
                Some(start * row..stop * row)
            }
            _ => None,
        }
    }

    /// Shape and type of the result, or what eager execution would raise. `grad`: whether gradients are recorded.
    pub(crate) fn infer(&self, of: &[&Meta], grad: bool) -> Result<Meta, String> {
        let first = of.first();
        let (shape, element) = match self {
            Op::Constant(meta, _) => return Ok(meta.clone()),
            Op::Uniform(shape) => return Ok(Meta::plain(shape.clone(), Element::Float64)),
            Op::Unary(Unary::Exp | Unary::Log) => (of[0].shape.clone(), Element::Float64),
            Op::Unary(_) | Op::Detach => (of[0].shape.clone(), of[0].element),
            Op::Binary(op) => (broadcast(&of[0].shape, &of[1].shape)?, binary_element(*op, of[0], of[1])),
            Op::Reduce(kind, axis) => {
                let mut shape = of[0].shape.clone();
                match axis {
                    Some(axis) if *axis < shape.len() => drop(shape.remove(*axis)),
                    Some(axis) => return Err(format!("axis {axis} of a tensor with {} axes", shape.len())),
                    None => shape.clear(),
                }
                (shape, if *kind == Reduce::Mean { Element::Float64 } else { of[0].element })
            }
            Op::Matmul => match (&*of[0].shape, &*of[1].shape) {
                ([n, k], [l, m]) if k == l => (vec![*n, *m], Element::Float64),
                (a, b) => return Err(format!("matmul of {a:?} and {b:?}")),
            },
            Op::Transpose => match &*of[0].shape {
                [n, m] => (vec![*m, *n], of[0].element),
                other => return Err(format!("transpose of {other:?}")),
            },
            Op::Astype(element) => (of[0].shape.clone(), *element),
            Op::Concat => {
                let tail = |m: &Meta| m.shape.get(1..).map(<[usize]>::to_vec);
                let same = of.iter().all(|m| tail(m).is_some() && tail(m) == tail(of[0]) && m.element == of[0].element);
                if first.is_none() || !same {
                    return Err("concat of unlike tensors".into());
                }
                let mut shape = of[0].shape.clone();
                shape[0] = of.iter().map(|m| m.shape[0]).sum();
                (shape, of[0].element)
            }
            Op::Reshape(wanted) => (reshaped(of[0], wanted)?, of[0].element),
            Op::Rows { start, stop, single } => match of[0].shape.split_first() {
                Some((rows, row)) if stop <= rows => {
                    let head = if *single { vec![] } else { vec![stop - start] };
                    ([&head[..], row].concat(), of[0].element)
                }
                _ => return Err(format!("row {start} of {:?}", of[0].shape)),
            },
        };
        let flows = element == Element::Float64 && *self != Op::Detach && of.iter().any(|m| m.requires_grad);
        Ok(Meta { shape, element, requires_grad: grad && flows })
    }

    /// How the extents of the result are known, by those of the operands; `out` is its meta data at this call. Where two extents must
    /// be equal, running the graph finds out. An error: they follow from extents that vary in a way that nobody writes down.
    pub(crate) fn trace(&self, of: &[(&Meta, &[Extent])], out: &Meta) -> Result<Vec<Extent>, String> {
        let fixed = || vec![Extent::Fixed; out.shape.len()];
        if of.iter().all(|(_, extents)| extents.iter().all(|extent| *extent == Extent::Fixed)) {
            return Ok(fixed());
        }
        let varies = |at: usize, axis: usize| of[at].1[axis] != Extent::Fixed;
        let unknown = || Err(format!("{self:?} of extents that vary"));
        Ok(match self {
            Op::Constant(..) | Op::Uniform(_) => fixed(),
            Op::Unary(_) | Op::Detach | Op::Astype(_) => of[0].1.to_vec(),
            Op::Binary(_) => {
                let (long, short) =
                    if of[0].1.len() >= of[1].1.len() { (of[0].1, of[1].1) } else { (of[1].1, of[0].1) };
                let mut extents = long.to_vec();
                let behind = long.len() - short.len();
                for (extent, other) in extents[behind..].iter_mut().zip(short).filter(|(_, o)| **o == Extent::Fixed) {
                    extent.clone_from(other);
                }
                extents
            }
            Op::Reduce(_, axis) => match axis {
                Some(axis) => [&of[0].1[..*axis], &of[0].1[axis + 1..]].concat(),
                None => Vec::new(),
            },
            Op::Matmul => vec![of[0].1[0].clone(), of[1].1[1].clone()],
            Op::Transpose => vec![of[0].1[1].clone(), of[0].1[0].clone()],
            Op::Concat => {
                let rows = |(meta, extents): &(&Meta, &[Extent])| match &extents[0] {
                    Extent::Fixed => Extent::Number(meta.shape[0] as i64),
                    extent => extent.clone(),
                };
                let mut extents = of[0].1.to_vec();
                if (0..of.len()).any(|at| varies(at, 0)) {
                    let sum = of.iter().map(rows).reduce(|left, right| Extent::Sum(Box::new([left, right])));
                    extents[0] = sum.unwrap_or(Extent::Fixed);
                }
                extents
            }
            Op::Reshape(wanted) => {
                let mut free = (0..of[0].1.len()).filter(|axis| varies(0, *axis));
                let (Some(free), None) = (free.next(), free.next()) else { return unknown() };
                let rest: usize =
                    of[0].0.shape.iter().enumerate().filter(|(a, _)| *a != free).map(|(_, d)| d).product();
                let known: i64 = wanted.iter().filter(|d| **d >= 0).product();
                let Some(at) = wanted.iter().position(|d| *d < 0).filter(|_| known == rest as i64) else {
                    return unknown();
                };
                let mut extents = fixed();
                extents[at] = of[0].1[free].clone();
                extents
            }
            Op::Rows { .. } if varies(0, 0) => return unknown(),
            Op::Rows { single: true, .. } => of[0].1[1..].to_vec(),
            Op::Rows { .. } => [&[Extent::Fixed], &of[0].1[1..]].concat(),
        })
    }

    /// The numbers of the result, whose meta data is `out`.
    pub(crate) fn eval(&self, of: &[(&Meta, &[f64])], out: &Meta) -> Result<Vec<f64>, String> {
        if let Some((meta, data)) = of.first()
            && let Some(range) = self.view(meta)
        {
            return Ok(data[range].to_vec());
        }
        let numbers: Vec<f64> = match self {
            Op::Constant(_, data) => data.clone(),
            Op::Uniform(_) => (0..out.count()).map(|_| crate::mode::draw()).collect(),
            Op::Unary(Unary::Log) if of[0].1.iter().any(|v| *v <= 0.0) => {
                // Known only when it runs: what makes a compiled graph fail.
                return Err("log of a number that is not positive".into());
            }
            Op::Unary(op) => of[0].1.iter().map(|v| unary(*op, *v)).collect(),
            Op::Binary(op) => {
                let (a, b) = (of[0].1, of[1].1);
                (0..out.count()).map(|i| binary(*op, a[i % a.len()], b[i % b.len()])).collect()
            }
            Op::Reduce(kind, axis) => {
                let shape = &of[0].0.shape;
                let split = axis.map_or((1, of[0].1.len(), 1), |a| {
                    (shape[..a].iter().product(), shape[a], shape[a + 1..].iter().product())
                });
                reduce(*kind, of[0].1, split)
            }
            Op::Matmul => {
                let (n, k, m) = (out.shape[0], of[0].0.shape[1], out.shape[1]);
                let cell = |i: usize| (0..k).map(|j| of[0].1[i / m * k + j] * of[1].1[j * m + i % m]).sum();
                (0..n * m).map(cell).collect()
            }
            Op::Transpose => {
                let (rows, columns) = (out.shape[0], out.shape[1]);
                (0..rows * columns).map(|i| of[0].1[i % columns * rows + i / columns]).collect()
            }
            Op::Astype(Element::Int64) => of[0].1.iter().map(|v| v.trunc()).collect(),
            Op::Astype(Element::Bool) => of[0].1.iter().map(|v| f64::from(*v != 0.0)).collect(),
            Op::Astype(Element::Float64) => of[0].1.to_vec(),
            Op::Concat => of.iter().flat_map(|o| o.1.iter().copied()).collect(),
            Op::Reshape(_) | Op::Rows { .. } | Op::Detach => unreachable!("views"),
        };
        Ok(numbers)
    }
}

/// One shape must end with the other: the shorter is repeated.
fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, String> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if !long.ends_with(short) {
        return Err(format!("shapes {a:?} and {b:?} do not fit"));
    }
    Ok(long.to_vec())
}

fn binary_element(op: Binary, a: &Meta, b: &Meta) -> Element {
    match op {
        Binary::Lt | Binary::Le | Binary::Eq | Binary::Ne | Binary::Gt | Binary::Ge => Element::Bool,
        Binary::Div => Element::Float64,
        _ if a.element == Element::Float64 || b.element == Element::Float64 => Element::Float64,
        _ => Element::Int64,
    }
}

/// The shape asked for, with one extent of -1 worked out.
fn reshaped(of: &Meta, wanted: &[i64]) -> Result<Vec<usize>, String> {
    let known: i64 = wanted.iter().filter(|d| **d >= 0).product();
    let rest = if known == 0 { 0 } else { of.count() as i64 / known };
    let shape: Vec<usize> = wanted.iter().map(|d| if *d < 0 { rest } else { *d } as usize).collect();
    if shape.iter().product::<usize>() != of.count() || wanted.iter().filter(|d| **d < 0).count() > 1 {
        return Err(format!("cannot reshape {:?} to {wanted:?}", of.shape));
    }
    Ok(shape)
}

fn unary(op: Unary, v: f64) -> f64 {
    match op {
        Unary::Neg => -v,
        Unary::Exp => v.exp(),
        Unary::Log => v.ln(),
        Unary::Relu => v.max(0.0),
        Unary::Clone => v,
    }
}

fn binary(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => a.powf(b),
        Binary::Lt => f64::from(a < b),
        Binary::Le => f64::from(a <= b),
        Binary::Eq => f64::from(a == b),
        Binary::Ne => f64::from(a != b),
        Binary::Gt => f64::from(a > b),
        Binary::Ge => f64::from(a >= b),
    }
}

fn reduce(kind: Reduce, data: &[f64], (outer, n, inner): (usize, usize, usize)) -> Vec<f64> {
    let mut out = Vec::with_capacity(outer * inner);
    for o in 0..outer {
        for i in 0..inner {
            let along = (0..n).map(|j| data[(o * n + j) * inner + i]);
            out.push(match kind {
                Reduce::Sum => along.sum(),
                Reduce::Mean => along.sum::<f64>() / n as f64,
                Reduce::Max => along.fold(f64::NEG_INFINITY, f64::max),
                Reduce::Min => along.fold(f64::INFINITY, f64::min),
            });
        }
    }
    out
}

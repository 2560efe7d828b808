//! The operations of the framework, without Python: what comes out ([`Op::infer`]), and which numbers ([`Op::eval`]).

/// Shape and element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) shape: Vec<usize>,
    /// `float64` or `bool`: all numbers are stored as `f64`.
    pub(crate) dtype: &'static str,
}

impl Meta {
    pub(crate) fn of(shape: Vec<usize>) -> Meta {
        Meta { shape, dtype: "float64" }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// Item by item, of two.
    Binary(&'static str),
    /// Item by item, of one.
    Unary(&'static str),
    Sum(Option<usize>),
    /// The least number of all, or the largest.
    Extreme {
        largest: bool,
    },
    Where,
    Matmul,
    Transpose,
    Reshape(Vec<usize>),
    Row(i64),
}

fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, String> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut shape = long.to_vec();
    for (extent, other) in shape[long.len() - short.len()..].iter_mut().zip(short) {
        match (*extent, *other) {
            (x, y) if x == y || y == 1 => {}
            (1, y) => *extent = y,
            _ => return Err(format!("shapes {a:?} and {b:?} do not go together")),
        }
    }
    Ok(shape)
}

fn row(index: i64, shape: &[usize]) -> Result<usize, String> {
    let rows = *shape.first().ok_or("an array without axes has no rows")? as i64;
    let at = if index < 0 { index + rows } else { index };
    if (0..rows).contains(&at) { Ok(at as usize) } else { Err(format!("row {index} of {rows}")) }
}

impl Op {
    /// Shape and type of the result, or what eager execution raises.
    pub(crate) fn infer(&self, of: &[&Meta]) -> Result<Meta, String> {
        Ok(match self {
            Op::Binary(name) => {
                let compares = matches!(*name, "__lt__" | "__gt__");
                let shape = broadcast(&of[0].shape, &of[1].shape)?;
                Meta { shape, dtype: if compares { "bool" } else { "float64" } }
            }
            Op::Unary(_) => Meta::of(of[0].shape.clone()),
            Op::Sum(None) | Op::Extreme { .. } => Meta::of(Vec::new()),
            Op::Sum(Some(axis)) => {
                let mut shape = of[0].shape.clone();
                if *axis >= shape.len() {
                    return Err(format!("axis {axis} of an array with {} axes", shape.len()));
                }
                shape.remove(*axis);
                Meta::of(shape)
            }
            Op::Where => Meta::of(broadcast(&broadcast(&of[0].shape, &of[1].shape)?, &of[2].shape)?),
            Op::Matmul => match (&*of[0].shape, &*of[1].shape) {
                ([n, k], [l, m]) if k == l => Meta::of(vec![*n, *m]),
                (a, b) => return Err(format!("shapes {a:?} and {b:?} do not multiply")),
            },
            Op::Transpose => Meta { shape: of[0].shape.iter().rev().copied().collect(), dtype: of[0].dtype },
            Op::Reshape(shape) => match shape.iter().product::<usize>() == of[0].shape.iter().product::<usize>() {
                true => Meta { shape: shape.clone(), dtype: of[0].dtype },
                false => return Err(format!("{:?} cannot be reshaped to {shape:?}", of[0].shape)),
            },
            Op::Row(index) => {
                row(*index, &of[0].shape)?;
                Meta { shape: of[0].shape[1..].to_vec(), dtype: of[0].dtype }
            }
        })
    }

    /// The numbers of the result, whose meta data is `out`.
    pub(crate) fn eval(&self, of: &[(&Meta, &[f64])], out: &Meta) -> Result<Vec<f64>, String> {
        let size: usize = out.shape.iter().product();
        // The number of an operand that stands where number `at` of the result does.
        let item = |operand: usize, at: usize| {
            let (meta, data) = of[operand];
            let (mut left, mut stride, mut found) = (at, 1, 0);
            for axis in (0..out.shape.len()).rev() {
                let index = left % out.shape[axis];
                left /= out.shape[axis];
                let own = axis as i64 - (out.shape.len() as i64 - meta.shape.len() as i64);
                if own >= 0 {
                    let extent = meta.shape[own as usize];
                    found += if extent == 1 { 0 } else { index * stride };
                    stride *= extent;
                }
            }
            data[found]
        };
        Ok(match self {
            Op::Binary(name) => {
                let of_two = |a: f64, b: f64| match *name {
                    "__add__" => a + b,
                    "__sub__" => a - b,
                    "__mul__" => a * b,
                    "__truediv__" => a / b,
                    "__lt__" => f64::from(a < b),
                    "__gt__" => f64::from(a > b),
                    _ => a.max(b),
                };
                (0..size).map(|at| of_two(item(0, at), item(1, at))).collect()
            }
            Op::Unary("sqrt") if of[0].1.iter().any(|x| *x < 0.0) => return Err("the root of a number below 0".into()),
            Op::Unary(name) => {
                let of_one = |x: f64| match *name {
                    "sqrt" => x.sqrt(),
                    "exp" => x.exp(),
                    _ => -x,
                };
                of[0].1.iter().map(|x| of_one(*x)).collect()
            }
            Op::Sum(None) => vec![of[0].1.iter().sum()],
            Op::Extreme { largest } => {
                let choose = if *largest { f64::max } else { f64::min };
                vec![of[0].1.iter().copied().reduce(choose).ok_or("an array without numbers has no extrema")?]
            }
            Op::Sum(Some(axis)) => {
                let (shape, data) = (&of[0].0.shape, of[0].1);
                let inner: usize = shape[axis + 1..].iter().product();
                let along =
                    |at: usize| (0..shape[*axis]).map(move |i| (at / inner * shape[*axis] + i) * inner + at % inner);
                (0..size).map(|at| along(at).map(|from| data[from]).sum()).collect()
            }
            Op::Where => (0..size).map(|at| item(if item(0, at) != 0.0 { 1 } else { 2 }, at)).collect(),
            Op::Matmul => {
                let (k, m) = (of[0].0.shape[1], out.shape[1]);
                let dot = |at: usize| (0..k).map(|i| of[0].1[at / m * k + i] * of[1].1[i * m + at % m]).sum();
                (0..size).map(dot).collect()
            }
            // The last axis of the result is the first of the operand.
            Op::Transpose => {
                let from = |mut at: usize| {
                    let (mut found, mut stride) = (0, size);
                    for extent in &of[0].0.shape {
                        stride /= extent;
                        found += at % extent * stride;
                        at /= extent;
                    }
                    found
                };
                (0..size).map(|at| of[0].1[from(at)]).collect()
            }
            Op::Reshape(_) => of[0].1.to_vec(),
            Op::Row(index) => {
                let at = row(*index, &of[0].0.shape)?;
                of[0].1[at * size..(at + 1) * size].to_vec()
            }
        })
    }
}

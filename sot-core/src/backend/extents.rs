//! Extents that vary from call to call, and how they are known.

/// An axis along which the extent of a tensor varies, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeAxis {
    /// Its number.
    pub axis: usize,
    /// The least extent that one graph serves.
    pub least: i64,
    /// The largest one.
    pub most: i64,
}

impl FreeAxis {
    /// Whether an extent is within the bounds.
    pub fn holds(&self, extent: i64) -> bool {
        (self.least..=self.most).contains(&extent)
    }
}

/// How an extent of a symbolic value is known, in the numbers of each call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// It is the same at each call.
    Fixed,
    /// It is that of an input, by its number, along an axis of it.
    OfInput {
        /// The number of the input.
        input: usize,
        /// The axis of it.
        axis: usize,
    },
    /// It is a number of the program's, by its number among those that the builder was told of
    /// ([`GraphBuilder::number_that_varies`](super::GraphBuilder::number_that_varies)).
    OfNumber(usize),
    /// This number, as a part of others.
    Number(i64),
    /// The first and the second.
    Sum(Box<[Extent; 2]>),
    /// The first without the second.
    Difference(Box<[Extent; 2]>),
    /// The first times the second.
    Product(Box<[Extent; 2]>),
    /// Rounded down.
    Quotient(Box<[Extent; 2]>),
    /// The larger one of two.
    Largest(Box<[Extent; 2]>),
    /// The smaller one.
    Smallest(Box<[Extent; 2]>),
}

impl Extent {
    /// What it is, where `of_input` tells the extents of inputs by number and axis, and `of_number` the numbers of the program. `None`:
    /// nobody can tell.
    pub fn value(
        &self,
        of_input: &dyn Fn(usize, usize) -> Option<i64>,
        of_number: &dyn Fn(usize) -> Option<i64>,
    ) -> Option<i64> {
        let value = |part: &Extent| part.value(of_input, of_number);
        let both = |parts: &[Extent; 2]| Some((value(&parts[0])?, value(&parts[1])?));
        match self {
            Extent::Fixed => None,
            Extent::Number(number) => Some(*number),
            Extent::OfInput { input, axis } => of_input(*input, *axis),
            Extent::OfNumber(number) => of_number(*number),
            Extent::Sum(parts) => both(parts).and_then(|(left, right)| left.checked_add(right)),
            Extent::Difference(parts) => both(parts).and_then(|(left, right)| left.checked_sub(right)),
            Extent::Product(parts) => both(parts).and_then(|(left, right)| left.checked_mul(right)),
            Extent::Quotient(parts) => both(parts).and_then(|(left, right)| left.checked_div_euclid(right)),
            Extent::Largest(parts) => both(parts).map(|(left, right)| left.max(right)),
            Extent::Smallest(parts) => both(parts).map(|(left, right)| left.min(right)),
        }
    }

    /// The inputs, by number, whose extents it is computed of.
    pub fn inputs(&self) -> Vec<usize> {
        let mut inputs = Vec::new();
        self.visit(&mut |part| {
            inputs.extend(if let Extent::OfInput { input, .. } = part { Some(*input) } else { None })
        });
        inputs
    }

    /// The numbers of the program of which it is computed.
    pub fn numbers(&self) -> Vec<usize> {
        let mut numbers = Vec::new();
        self.visit(&mut |part| numbers.extend(if let Extent::OfNumber(number) = part { Some(*number) } else { None }));
        numbers
    }

    /// Whatever it is computed of, and itself.
    fn visit(&self, visit: &mut dyn FnMut(&Extent)) {
        visit(self);
        match self {
            Extent::Fixed | Extent::Number(_) | Extent::OfInput { .. } | Extent::OfNumber(_) => {}
            Extent::Sum(parts)
            | Extent::Difference(parts)
            | Extent::Product(parts)
            | Extent::Quotient(parts)
            | Extent::Largest(parts)
            | Extent::Smallest(parts) => parts.iter().for_each(|part| part.visit(visit)),
        }
    }
}

//! Find the repeated run that saves most.
//!
//! Statements are compared without their symbols first (one number a shape); stretches of equal shapes come from the
//! usual table of common prefixes of all suffix pairs, kept row by row. Then symbols must correspond one to one;
//! where they stop doing so the stretch is cut and the rest tried by itself.

use super::OutlineOptions;
use crate::{Sir, Statement, Symbol};
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;

/// The same run at several places, ascending, not overlapping.
pub(super) struct Runs {
    pub(super) len: usize,
    pub(super) starts: Vec<usize>,
}

impl Runs {
    /// Statements saved: those of all runs, less those of the block and the calls.
    fn saved(&self) -> usize {
        (self.len * self.starts.len()).saturating_sub(self.len + self.starts.len())
    }
}

pub(super) fn best(sir: &Sir, options: &OutlineOptions) -> Option<Runs> {
    let statements = &sir.statements;
    if statements.len() > options.max_statements {
        return None;
    }
    let shapes = shapes(statements);
    let mut frequencies = vec![0usize; shapes.len()];
    shapes.iter().for_each(|s| frequencies[*s as usize] += 1);
    let mut candidates: Vec<(usize, usize, usize)> = candidates(statements, &shapes, options.min_statements.max(1))
        .into_iter()
        .map(|(start, len)| (at_most_saved(&shapes, &frequencies, start, len), start, len))
        .collect();
    // Best hope first, so that the search can stop early; the sort is stable: earlier starts stay first.
    candidates.sort_by_key(|(hope, _, len)| Reverse((*hope, *len)));
    let mut best: Option<Runs> = None;
    for (hope, start, len) in candidates {
        let rank = |r: &Runs| (r.saved(), r.len);
        if best.as_ref().is_some_and(|b| (hope, len) <= rank(b)) {
            break;
        }
        let runs = Runs { len, starts: occurrences(statements, &shapes, start, len) };
        if runs.starts.len() >= options.min_calls.max(2)
            && runs.saved() >= options.min_saved.max(1)
            && best.as_ref().is_none_or(|b| rank(&runs) > rank(b))
        {
            best = Some(runs);
        }
    }
    best
}

/// No run of these shapes saves more: it stands no more often than its rarest shape allows.
fn at_most_saved(shapes: &[u32], frequencies: &[usize], start: usize, len: usize) -> usize {
    let run = &shapes[start..start + len];
    let rarest = run.iter().map(|s| frequencies[*s as usize]).min().unwrap_or(0);
    let calls = rarest.min(shapes.len() / len);
    (len * calls).saturating_sub(len + calls)
}

fn shapes(statements: &[Statement]) -> Vec<u32> {
    let mut numbers: HashMap<Statement, u32> = HashMap::new();
    statements
        .iter()
        .map(|statement| {
            let mut shape = statement.clone();
            shape.operands_mut().for_each(|o| o.rename_symbols(&mut |_| Symbol(0)));
            shape.result.rename_symbols(&mut |_| Symbol(0));
            let next = numbers.len() as u32;
            *numbers.entry(shape).or_insert(next)
        })
        .collect()
}

/// Starts and lengths of runs that stand at two places at least, each shape once, ascending.
fn candidates(statements: &[Statement], shapes: &[u32], min: usize) -> Vec<(usize, usize)> {
    let n = shapes.len();
    let mut pairs = Vec::new();
    let mut below = vec![0usize; n + 1];
    for i in (0..n).rev() {
        let mut row = vec![0usize; n + 1];
        for j in i + 1..n {
            if shapes[i] == shapes[j] {
                row[j] = below[j + 1] + 1;
                let goes_on_left = i > 0 && shapes[i - 1] == shapes[j - 1];
                if !goes_on_left && row[j] >= min {
                    pairs.push((i, j, row[j]));
                }
            }
        }
        below = row;
    }
    let mut seen: HashSet<&[u32]> = HashSet::new();
    let mut out = Vec::new();
    for (i, j, common) in pairs {
        let mut offset = 0;
        while offset < common {
            // Runs must not overlap: no longer than the distance of the two places.
            let limit = (common - offset).min(j - i);
            let len = same_up_to(&statements[i + offset..], &statements[j + offset..], limit);
            if len >= min && seen.insert(&shapes[i + offset..i + offset + len]) {
                out.push((i + offset, len));
            }
            offset += len.max(1);
        }
    }
    out.sort_unstable();
    out
}

fn occurrences(statements: &[Statement], shapes: &[u32], start: usize, len: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at + len <= shapes.len() {
        let same = shapes[at..at + len] == shapes[start..start + len]
            && same_up_to(&statements[start..], &statements[at..], len) == len;
        if same {
            starts.push(at);
        }
        at += if same { len } else { 1 };
    }
    starts
}

/// How many statements (of equal shapes) have symbols that correspond one to one.
fn same_up_to(a: &[Statement], b: &[Statement], limit: usize) -> usize {
    let mut forth: HashMap<Symbol, Symbol> = HashMap::new();
    let mut back: HashMap<Symbol, Symbol> = HashMap::new();
    let mut pairs = |a: Vec<Symbol>, b: Vec<Symbol>| {
        a.into_iter().zip(b).all(|(a, b)| *forth.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a)
    };
    (0..limit).find(|k| !(pairs(a[*k].uses(), b[*k].uses()) && pairs(a[*k].defs(), b[*k].defs()))).unwrap_or(limit)
}

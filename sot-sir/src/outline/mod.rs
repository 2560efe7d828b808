//! Factor a repeated run of statements into one SIR that is called many times.
//!
//! A *run* is a stretch of neighbouring statements. Two runs are the same if they differ only in the symbols they
//! read and define, one to one; callees, constants and keyword names must be equal, so blocks with different layers
//! are different runs. Each round takes the run whose factoring saves most statements (ties: the longer one, then
//! the earlier one), makes it a SIR that stands before the one it was found in, and replaces every occurrence by a
//! `call_sir`. Rounds go on inside the new SIR and over the calls until nothing is saved.
//!
//! Kept: order of statements and with it of effects; a verified module stays verified; [`inline`](crate::inline())
//! undoes it up to numbering. Runs are looked for within each SIR, not across SIRs.
//!
//! ```
//! use sot_sir::{OutlineOptions, outline, parse};
//!
//! let module = parse("\
//! StatementIR: SIR_0
//!   inputs: [var_0]
//!   outputs: [var_6]
//!   statements:
//!     layer  || var_1 = Linear (layer_0, var_0)
//!     api    || var_2 = tanh (var_1)
//!     layer  || var_3 = Linear (layer_0, var_2)
//!     api    || var_4 = tanh (var_3)
//!     layer  || var_5 = Linear (layer_0, var_4)
//!     api    || var_6 = tanh (var_5)
//! ").unwrap();
//! assert_eq!(outline(&module, &OutlineOptions::default()).to_string(), "\
//! StatementIR: SIR_0_block_0
//!   inputs: [var_0]
//!   outputs: [var_2]
//!   statements:
//!     layer  || var_1 = Linear (layer_0, var_0)
//!     api    || var_2 = tanh (var_1)
//!
//! StatementIR: SIR_0
//!   inputs: [var_0]
//!   outputs: [var_6]
//!   statements:
//!     sir    || var_2 = SIR_0_block_0 (var_0)
//!     sir    || var_4 = SIR_0_block_0 (var_2)
//!     sir    || var_6 = SIR_0_block_0 (var_4)
//! ");
//! ```

mod rewrite;
mod search;

use crate::{Module, Sir};
use hashbrown::HashSet;

/// When a run is worth a SIR of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineOptions {
    /// Shorter runs stay.
    pub min_statements: usize,
    /// Rarer runs stay.
    pub min_calls: usize,
    /// Fewer statements saved over the whole module: the run stays.
    pub min_saved: usize,
    /// Longer SIRs are left alone: the search is quadratic (about 30 ms a block at this length).
    pub max_statements: usize,
    /// New SIRs for each SIR of the module, at most.
    pub max_blocks: usize,
}

impl Default for OutlineOptions {
    fn default() -> OutlineOptions {
        OutlineOptions { min_statements: 2, min_calls: 2, min_saved: 1, max_statements: 4096, max_blocks: 64 }
    }
}

/// The module with repeated runs factored out.
pub fn outline(module: &Module, options: &OutlineOptions) -> Module {
    let mut names: HashSet<String> = module.sirs.iter().map(|s| s.name.clone()).collect();
    let mut out = Module::default();
    for sir in &module.sirs {
        let mut outliner = Outliner { options, names: &mut names, stem: &sir.name, blocks: 0, out: &mut out.sirs };
        let rest = outliner.run(sir.clone());
        out.sirs.push(rest);
    }
    out
}

struct Outliner<'a> {
    options: &'a OutlineOptions,
    names: &'a mut HashSet<String>,
    stem: &'a str,
    blocks: usize,
    out: &'a mut Vec<Sir>,
}

impl Outliner<'_> {
    /// Factor until nothing is saved; blocks go to `out`, each behind those it calls.
    fn run(&mut self, mut sir: Sir) -> Sir {
        while self.blocks < self.options.max_blocks {
            let Some(runs) = search::best(&sir, self.options) else { break };
            self.blocks += 1;
            let name = self.fresh_name();
            let block = rewrite::factor(&mut sir, &runs, name);
            let block = self.run(block);
            self.out.push(block);
        }
        sir
    }

    fn fresh_name(&mut self) -> String {
        (0..)
            .map(|n| format!("{}_block_{n}", self.stem))
            .find(|name| self.names.insert(name.clone()))
            .expect("there are more numbers than names")
    }
}

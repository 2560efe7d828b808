//! Time of decode and encode per normalised instruction, on the committed corpus of each version.
//!
//! `cargo bench -p sot-opcodes`; the target is under 0.1 us for both together. A figure is the fastest of many passes
//! over the corpus: noise only ever adds. On programs of your own: `cargo xtask roundtrip --time PATH`. There is no
//! benchmark harness: the common ones cost every test build more than all of this crate, and none counts per instruction.
#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]

#[path = "../tests/it/corpus.rs"]
#[expect(dead_code, reason = "shared with the tests")]
mod corpus;

use sot_opcodes::{Code, RawCode, Version, decode, encode};
use std::hint::black_box;
use std::time::{Duration, Instant};

const BUDGET: Duration = Duration::from_millis(1500);

/// The fastest pass, in microseconds per instruction.
fn fastest(instructions: usize, pass: impl Fn()) -> f64 {
    let began = Instant::now();
    let mut best = Duration::MAX;
    while began.elapsed() < BUDGET {
        let start = Instant::now();
        pass();
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() * 1e6 / instructions as f64
}

fn main() {
    // Under `cargo test --benches` the binary is only asked whether it runs.
    let wanted = std::env::args().any(|arg| arg == "--bench");
    let versions: &[Version] = if wanted { &Version::ALL } else { &[] };
    println!("us per instruction (fastest pass)");
    println!("CPython  instructions   decode   encode     both");
    for &version in versions {
        let raws: Vec<RawCode> = corpus::corpus(version);
        let codes: Vec<Code> = raws.iter().map(|raw| decode(raw).expect("corpus")).collect();
        let count = codes.iter().map(|code| code.instrs.len()).sum();
        let decoding = fastest(count, || raws.iter().for_each(|raw| drop(black_box(decode(raw)))));
        let encoding = fastest(count, || codes.iter().for_each(|code| drop(black_box(encode(code)))));
        let both = fastest(count, || {
            raws.iter().for_each(|raw| drop(black_box(decode(raw).map(Code::into_raw))));
        });
        println!("{version:<7}  {count:>12}   {decoding:>6.4}   {encoding:>6.4}   {both:>6.4}");
    }
}

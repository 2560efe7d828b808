//! What the fuzz targets start from, and every input that once broke something, without libFuzzer.

use crate::checks::Target;
use std::fs;
use std::panic;
use std::path::Path;

/// Checks inputs one by one and names those that fail.
fn replay(target: Target, inputs: impl Iterator<Item = (String, Vec<u8>)>) {
    let mut failed = Vec::new();
    for (name, input) in inputs {
        // Said before, as one that never ends could not say it after.
        eprintln!("{}: {name}", target.name());
        if panic::catch_unwind(|| target.check(&input)).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{} fails on {failed:#?}", target.name());
}

fn replay_stored(target: Target) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    if !dir.exists() {
        // The published package comes without the fuzz targets.
        return;
    }
    let files = fs::read_dir(dir.join("regressions").join(target.name())).expect("a folder for each target");
    let mut paths: Vec<_> = files.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let read = |path: &Path| fs::read(path).expect("a readable file");
    replay(target, paths.iter().map(|path| (path.display().to_string(), read(path))));
}

fn replay_seeds(target: Target) {
    let seeds = target.seeds();
    assert!(seeds.len() > 100);
    replay(target, seeds.into_iter().enumerate().map(|(number, seed)| (format!("seed {number}"), seed)));
}

#[test]
fn decode_regressions() {
    replay_stored(Target::Decode);
}

#[test]
fn encode_regressions() {
    replay_stored(Target::Encode);
}

#[test]
fn text_regressions() {
    replay_stored(Target::Text);
}

#[test]
fn decode_seeds() {
    replay_seeds(Target::Decode);
}

#[test]
fn encode_seeds() {
    replay_seeds(Target::Encode);
}

#[test]
fn text_seeds() {
    replay_seeds(Target::Text);
}

//! Writes the seeds of all targets: `seeds DIR` makes `DIR/<target>/seed-<number>`. Not a target, so cargo-fuzz does not list it.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dir = env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: seeds DIR"))?;
    for target in sot_opcodes_fuzz::targets() {
        let dir = Path::new(&dir).join(target);
        fs::create_dir_all(&dir)?;
        for (number, seed) in sot_opcodes_fuzz::seeds(target).iter().enumerate() {
            fs::write(dir.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

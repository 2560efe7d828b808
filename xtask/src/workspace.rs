//! Where things are: the checkout, what is built, and which tools are at hand.

use crate::process;
use crate::refusal::Refusal;
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Everything that xtask makes. Not `CARGO_TARGET_DIR`: environments are shared by all builds of a checkout.
pub(crate) fn made() -> PathBuf {
    root().join("target")
}

/// What cargo says of the crates of the checkout, as far as the caller has fields for it.
pub(crate) fn metadata<T: DeserializeOwned>() -> Result<T> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let out = cargo.output().context("cannot start cargo")?;
    if !out.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&out.stderr));
    }
    serde_json::from_slice(&out.stdout).context("cargo metadata")
}

/// The cargo that started us, else the one on the path, at the root of the checkout.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // `cargo run` leaves these behind; a nested cargo of another package must not see them.
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") {
            command.env_remove(name);
        }
    }
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
    command
}

/// Whether a cargo subcommand (`nextest`, `clippy`, `fmt`) is installed.
pub(crate) fn has_subcommand(name: &str) -> bool {
    process::quiet(cargo().args([name, "--version"])).is_ok_and(|ended| ended.status.success())
}

/// A file on `PATH`.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths)
        .map(|dir| dir.join(format!("{program}{}", env::consts::EXE_SUFFIX)))
        .find(|file| file.is_file())
}

/// The linker that rustc will call. A fresh machine with Rust alone lacks it, and rustc's message is long.
pub(crate) fn need_linker() -> Result<(), Refusal> {
    let chosen = env::vars_os().any(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER")
    });
    if cfg!(windows) || chosen || on_path("cc").is_some() {
        return Ok(());
    }
    Err(Refusal::new(
        "There is no C linker `cc` on PATH, and Rust needs one to build the extension module.",
        "install one (Debian: `apt-get install gcc libc6-dev`; Fedora: `dnf install gcc`; macOS: `xcode-select --install`) and run the same command again",
    ))
}

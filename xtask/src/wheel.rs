//! Building an extension module with maturin and installing it into an environment.
//!
//! Nothing is done when the sources are those of the last build, and nothing is installed when the environment already
//! holds that build: the second run of a command must be fast.

use crate::console::{self, Step};
use crate::environment::Environment;
use crate::process::{self, Keep};
use crate::{stamp, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// An extension module of this workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package {
    /// Its directory.
    dir: &'static str,
    /// Its distribution's name, as it starts a wheel's file name.
    wheel: &'static str,
    /// Directories whose contents are in it, itself included.
    sources: &'static [&'static str],
    build: Build,
}

/// How a package is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    /// As users get it.
    Released,
    /// With what the project's own tests ask.
    Hooks,
    /// The profile `checked` of the workspace: the code tests itself while it runs.
    Checked,
}

impl Build {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Released => &["--release"],
            Self::Hooks => &["--release", "--features", "test-hooks"],
            Self::Checked => &["--profile", "checked"],
        }
    }
}

/// The product.
pub(crate) const SOT: Package = Package {
    dir: "sot-py",
    wheel: "paddle_sot",
    sources: &["sot-opcodes", "sot-tracker", "sot-sir", "sot-sideeffect", "sot-core", "sot-paddle", "sot-py"],
    build: Build::Released,
};

/// The product as the tests need it.
pub(crate) const SOT_TESTED: Package = Package { build: Build::Hooks, ..SOT };

/// The made-up framework of the tests.
pub(crate) const TOY: Package = Package {
    dir: "tests/toy",
    wheel: "toy_backend",
    sources: &["sot-opcodes", "sot-tracker", "sot-sir", "sot-sideeffect", "sot-core", "tests/toy"],
    build: Build::Checked,
};

/// The same where only time is short: the one that checks itself is a build of its own.
pub(crate) const TOY_RELEASED: Package = Package { build: Build::Released, ..TOY };

/// The example of a framework like numpy. It shares the release of sot-core with the product.
pub(crate) const ARRAYS: Package = Package {
    dir: "examples/arrays",
    wheel: "arrays_example",
    sources: &["sot-opcodes", "sot-tracker", "sot-sir", "sot-sideeffect", "sot-core", "examples/arrays"],
    build: Build::Released,
};

impl Package {
    /// Only what ends up in the module: its tests and snapshots may change freely.
    fn stamp(self, env: &Environment) -> Result<String> {
        let mut paths = vec!["Cargo.toml".to_owned(), "Cargo.lock".to_owned()];
        for source in self.sources {
            for part in ["Cargo.toml", "build.rs", "pyproject.toml", "src", "python"] {
                paths.push(format!("{source}/{part}"));
            }
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let sources = stamp::of_files(&workspace::root(), &paths)?;
        let rustc = process::quiet(workspace::cargo().arg("--version"))?.output;
        let build = format!("{:?}", self.build);
        Ok(stamp::of_text(&[&sources, &rustc, &env.interpreter.version.to_string(), &build]))
    }
}

/// Builds (if sources changed) and installs (if the environment has another build).
pub(crate) fn ready(env: &Environment, package: Package) -> Result<()> {
    let wanted = package.stamp(env)?;
    let installed = env.dir.join(format!("sot-{}.stamp", package.wheel));
    if stamp::matches(&installed, &wanted) {
        console::already(package.wheel, "installed, sources unchanged");
        return Ok(());
    }
    let wheel = build(env, package, &wanted)?;
    let step = Step::start(format!("Installing {}", wheel.file_name().unwrap_or_default().to_string_lossy()));
    let mut pip = env.command();
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
    pip.args(["--no-index", "--no-deps", "--force-reinstall"]).arg(&wheel);
    let ended = process::tee(&mut pip, Keep::Both)?;
    if !ended.status.success() {
        bail!("pip could not install {}", wheel.display());
    }
    stamp::write(&installed, &wanted)?;
    step.done();
    Ok(())
}

fn build(env: &Environment, package: Package, wanted: &str) -> Result<PathBuf> {
    let out = env.target_dir().join("wheels").join(format!("{}-{:?}", package.wheel, package.build).to_lowercase());
    let built = out.join("stamp");
    if stamp::matches(&built, wanted)
        && let Some(wheel) = wheel_in(&out)
    {
        return Ok(wheel);
    }
    workspace::need_linker()?;
    let step = Step::start(format!(
        "Building {} for CPython {} ({})",
        package.dir,
        env.interpreter.version,
        package.build.arguments().join(" ").replace("--", "")
    ));
    if out.is_dir() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let mut maturin = env.command();
    maturin.args(["-m", "maturin", "build", "--auditwheel", "skip", "--manifest-path"]);
    maturin.arg(Path::new(package.dir).join("Cargo.toml"));
    maturin.args(package.build.arguments());
    maturin.arg("--interpreter").arg(env.python()).arg("--out").arg(&out);
    if cfg!(target_os = "linux") {
        // A wheel for this machine: without the checks and the renaming that a published one needs.
        maturin.args(["--compatibility", "linux"]);
    }
    maturin.env("CARGO_TARGET_DIR", env.target_dir());
    if let Some(cargo) = std::env::var_os("CARGO") {
        maturin.env("CARGO", cargo);
    }
    let status = process::show(&mut maturin)?;
    if !status.success() {
        bail!("{} does not build; the compiler's words are above", package.dir);
    }
    let wheel = wheel_in(&out).with_context(|| format!("maturin left no wheel in {}", out.display()))?;
    stamp::write(&built, wanted)?;
    step.done();
    Ok(wheel)
}

fn wheel_in(dir: &Path) -> Option<PathBuf> {
    let entries = dir.read_dir().ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"))
}

//! The virtual environment of an interpreter: `target/venv/<x.y>`, made once and reused.
//!
//! It is reused while it belongs to the same interpreter (prefix and version) and what was installed is what the
//! requirements files ask for. One that was made by hand in that place is adopted. Only a different interpreter, or an
//! environment that does not run, is reason to make it anew.
//!
//! Installing is where a fresh machine fails, so pip's words are translated: [`explain`].

use crate::console::{self, Step};
use crate::interpreter::{self, Interpreter};
use crate::process::{self, Keep};
use crate::refusal::Refusal;
use crate::{stamp, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Which requirements files an environment must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// To run captured programs.
    Run,
    /// To run the tests as well.
    Test,
    /// To draw what was measured as well.
    Draw,
}

impl Needs {
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Run => &["requirements"],
            Self::Test => &["requirements", "requirements-test"],
            Self::Draw => &["requirements", "requirements-draw"],
        }
    }
}

/// An environment that is ready.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) interpreter: Interpreter,
    pub(crate) dir: PathBuf,
}

impl Environment {
    /// The interpreter inside.
    pub(crate) fn python(&self) -> PathBuf {
        self.dir.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
    }

    /// A command that runs the interpreter inside, at the root of the checkout.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.python());
        command.current_dir(workspace::root()).env_remove("PYTHONHOME").env_remove("PYTHONPATH");
        command
    }

    /// Where packages of this environment are: for a program that embeds the interpreter.
    pub(crate) fn site_packages(&self) -> PathBuf {
        match cfg!(windows) {
            true => self.dir.join("Lib/site-packages"),
            false => self.dir.join(format!("lib/python{}/site-packages", self.interpreter.version.short())),
        }
    }

    /// What is built for this interpreter, kept apart so that switching between interpreters rebuilds nothing.
    pub(crate) fn target_dir(&self) -> PathBuf {
        workspace::made().join(format!("py{}", self.interpreter.version.digits()))
    }

    /// A cargo that builds for this interpreter.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = workspace::cargo();
        command.env("CARGO_TARGET_DIR", self.target_dir()).env("PYO3_PYTHON", self.python());
        command
    }
}

/// Makes or reuses the environment of an interpreter.
pub(crate) fn prepare(interpreter: &Interpreter, needs: Needs) -> Result<Environment> {
    let dir = workspace::made().join("venv").join(interpreter.version.short());
    let env = Environment { interpreter: interpreter.clone(), dir };
    let belongs = interpreter::probe(&env.python())
        .is_some_and(|p| p.version == interpreter.version && p.base_prefix == interpreter.base_prefix);
    if !belongs || !has_pip(&env) {
        create(&env)?;
    }
    install(&env, needs)?;
    Ok(env)
}

fn has_pip(env: &Environment) -> bool {
    env.site_packages().join("pip").is_dir()
}

fn create(env: &Environment) -> Result<()> {
    let python = &env.interpreter;
    if !python.venv {
        return Err(Refusal::new(
            format!("{python} cannot make virtual environments: its modules `venv` and `ensurepip` are not installed."),
            format!(
                "on Debian and Ubuntu `apt-get install python{}-venv`, or pick another interpreter with --python",
                python.version.short()
            ),
        )
        .into());
    }
    let step = Step::start(format!("Making a virtual environment for {python}"));
    fs::create_dir_all(env.dir.parent().unwrap_or(&env.dir)).context("cannot make target/venv")?;
    let mut command = Command::new(&python.executable);
    command.args(["-m", "venv", "--clear"]).arg(&env.dir);
    let ended = process::quiet(&mut command)?;
    if !ended.status.success() {
        bail!("`python -m venv` failed:\n{}", ended.output);
    }
    step.done();
    Ok(())
}

fn install(env: &Environment, needs: Needs) -> Result<()> {
    for name in needs.files() {
        let file = workspace::root().join("xtask/py").join(format!("{name}.txt"));
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let wanted = stamp::of_text(&[&text, &env.interpreter.version.to_string()]);
        let done = env.dir.join(format!("sot-{name}.stamp"));
        if stamp::matches(&done, &wanted) {
            continue;
        }
        let step = Step::start(format!("Installing what xtask/py/{name}.txt asks for{}", size(name)));
        let mut pip = env.command();
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--prefer-binary", "-r"])
            .arg(&file);
        let ended = process::tee(&mut pip, Keep::Errors)?;
        if !ended.status.success() {
            return Err(explain(&ended.output, &env.interpreter));
        }
        stamp::write(&done, &wanted)?;
        step.done();
    }
    console::already(
        "Environment",
        &format!("{} with Paddle ready in target/venv/{}", env.interpreter, env.interpreter.version.short()),
    );
    Ok(())
}

fn size(requirements: &str) -> &'static str {
    if requirements == "requirements" { " (Paddle is about 200 MB)" } else { "" }
}

/// What pip's messages mean for a person: no network, no wheel for this machine, no room.
fn explain(said: &str, python: &Interpreter) -> anyhow::Error {
    const OFFLINE: [&str; 10] = [
        "NewConnectionError",
        "Failed to establish a new connection",
        "Temporary failure in name resolution",
        "Name or service not known",
        "NameResolutionError",
        "Network is unreachable",
        "ConnectTimeoutError",
        "Connection refused",
        "ProxyError",
        "ReadTimeoutError",
    ];
    let has = |needle: &str| said.contains(needle);
    if has("No space left on device") {
        return Refusal::new(
            "The disk is full: Paddle with its environment takes about 1 GB.",
            "make room, or remove environments of other interpreters under target/venv",
        )
        .into();
    }
    if has("CERTIFICATE_VERIFY_FAILED") || has("SSLError") {
        return Refusal::new(
            "The package index answered with a certificate that pip does not trust.",
            "point pip at your network's certificates (`PIP_CERT=/path/to/ca.pem`) or set the machine's clock, and run the same command again",
        )
        .into();
    }
    if OFFLINE.iter().any(|needle| has(needle)) {
        return Refusal::new(
            "The Python package index cannot be reached, so Paddle cannot be installed.",
            "check the network, or point pip at a mirror with PIP_INDEX_URL=https://.../simple (or at a proxy with HTTPS_PROXY), and run the same command again",
        )
        .into();
    }
    if has("No matching distribution found for paddlepaddle") {
        return Refusal::new(
            format!(
                "The package index has no Paddle wheel for CPython {} on {} {}.",
                python.version.short(),
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
            "use CPython 3.9 to 3.13 on 64-bit Linux with glibc, macOS or Windows (--python picks another interpreter), with a complete package index (look at PIP_INDEX_URL, PIP_NO_INDEX and pip's configuration)",
        )
        .into();
    }
    anyhow::anyhow!("pip could not install the requirements; its own words are above")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(said: &str) -> String {
        explain(said, &Interpreter::example(11))
            .downcast::<Refusal>()
            .map_or_else(|other| other.to_string(), |r| r.sentence)
    }

    #[test]
    fn a_missing_network_is_not_taken_for_a_missing_wheel() {
        let said = "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<pip>: Failed to \
                    establish a new connection: [Errno 111] Connection refused')': /simple/paddlepaddle/\n\
                    ERROR: No matching distribution found for paddlepaddle==3.3.1";
        assert!(refused(said).contains("cannot be reached"));
    }

    #[test]
    fn a_missing_wheel_names_the_interpreter() {
        let said = "ERROR: Could not find a version that satisfies the requirement paddlepaddle==3.3.1 (from versions: none)\n\
                    ERROR: No matching distribution found for paddlepaddle==3.3.1";
        assert!(refused(said).contains("no Paddle wheel for CPython 3.11 on "));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert!(refused("ERROR: ResolutionImpossible").contains("its own words are above"));
    }
}

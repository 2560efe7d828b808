//! Finding the CPython to work with.
//!
//! Asked for by `--python` or `SOT_PYTHON`: a version (`3.12`, `3.12.1`), a path, or a command on `PATH`.
//! Otherwise the best one found, by [`PREFERENCE`]. Places, in order: `$PYENV_ROOT/versions`, `~/.pyenv/versions`,
//! `PATH`, and Windows' `py` launcher. A candidate counts only after it has run [`PROBE`], since a file named
//! `python3.11` may be a pyenv shim without anything behind it.

use crate::refusal::Refusal;
use crate::{process, workspace};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Minor versions for which Paddle publishes wheels and this project has tables and layouts.
pub(crate) const SUPPORTED: [u8; 6] = [8, 9, 10, 11, 12, 13];

/// Minor versions in the order in which one is picked when none was asked for. 3.8 has only an older Paddle, so it
/// is used when asked for.
const PREFERENCE: [u8; 5] = [11, 12, 13, 10, 9];

const PROBE: &str = r#"
import json, os, sys
try:
    from importlib.util import find_spec
    venv = all(find_spec(m) is not None for m in ("venv", "ensurepip"))
except ImportError:
    venv = False
import sysconfig
get = sysconfig.get_config_var
libs = [os.path.join(d, l) for d in (get("LIBDIR"), get("LIBPL")) for l in (get("LDLIBRARY"), get("INSTSONAME")) if d and l]
print(json.dumps({
    "executable": sys.executable,
    "base_prefix": getattr(sys, "base_prefix", sys.prefix),
    "version": list(sys.version_info[:3]),
    "implementation": getattr(getattr(sys, "implementation", None), "name", "cpython"),
    "free_threaded": bool(get("Py_GIL_DISABLED")),
    "wide": sys.maxsize > 2 ** 32,
    "venv": venv,
    "library": next((l for l in libs if os.path.exists(l)), None),
    "library_dir": get("LIBDIR"),
}))
"#;

/// An interpreter that ran.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) executable: PathBuf,
    pub(crate) base_prefix: PathBuf,
    pub(crate) version: Version,
    pub(crate) implementation: String,
    free_threaded: bool,
    wide: bool,
    /// `venv` and `ensurepip` can be imported (Debian keeps them in a package of their own).
    pub(crate) venv: bool,
    /// `libpython`, which Rust tests that embed an interpreter link to.
    pub(crate) library: Option<PathBuf>,
    pub(crate) library_dir: Option<PathBuf>,
}

/// `major.minor.micro`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Version {
    /// `3.12`
    pub(crate) fn short(self) -> String {
        format!("{}.{}", self.0, self.1)
    }

    /// `312`
    pub(crate) fn digits(self) -> String {
        format!("{}{}", self.0, self.1)
    }

    pub(crate) fn supported(self) -> bool {
        self.0 == 3 && SUPPORTED.contains(&self.1)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl fmt::Display for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPython {} ({})", self.version, self.executable.display())
    }
}

impl Interpreter {
    /// One that need not exist.
    #[cfg(test)]
    pub(crate) fn example(minor: u8) -> Self {
        Self {
            executable: format!("python3.{minor}").into(),
            base_prefix: "usr".into(),
            version: Version(3, minor, 1),
            implementation: "cpython".into(),
            free_threaded: false,
            wide: true,
            venv: true,
            library: None,
            library_dir: None,
        }
    }

    /// Why Paddle, and so this project, has nothing for it.
    fn refusal(&self) -> Option<Refusal> {
        let at = self.executable.display();
        let remedy = "pick another with `--python 3.11` or SOT_PYTHON=/path/to/python3.11 (3.9 to 3.13; 3.8 with the older Paddle 3.0.0)";
        let sentence = if self.implementation != "cpython" {
            format!("{at} is {}, and sot translates the bytecode of CPython only.", self.implementation)
        } else if !self.version.supported() {
            format!("Paddle publishes no wheel for CPython {} ({at}).", self.version.short())
        } else if self.free_threaded {
            format!("Paddle publishes no wheel for the free-threaded build of CPython {} ({at}).", self.version.short())
        } else if !self.wide {
            format!("Paddle publishes no wheel for a 32-bit Python ({at}).")
        } else {
            return None;
        };
        Some(Refusal::new(sentence, remedy))
    }
}

/// Runs the probe in one candidate.
pub(crate) fn probe(python: &Path) -> Option<Interpreter> {
    let out = Command::new(python).args(["-E", "-s", "-c", PROBE]).stdin(std::process::Stdio::null()).output().ok()?;
    out.status.success().then(|| serde_json::from_slice(&out.stdout).ok())?
}

/// The interpreter to work with: asked for on the command line, else by `SOT_PYTHON`, else the best one found.
pub(crate) fn choose(python: Option<&str>) -> Result<Interpreter, Refusal> {
    let from_env = env::var("SOT_PYTHON").ok().filter(|s| !s.is_empty());
    match python.map(str::to_owned).or(from_env) {
        Some(asked) => asked_for(&asked),
        None => best(&installed()),
    }
}

/// All supported interpreters of this machine, one for each minor version (the newest), oldest first.
pub(crate) fn installed() -> Vec<Interpreter> {
    let mut found: BTreeMap<u8, Interpreter> = BTreeMap::new();
    for candidate in candidates() {
        let Some(python) = probe(&candidate).filter(|p| p.refusal().is_none()) else { continue };
        match found.get(&python.version.1) {
            Some(other) if other.version >= python.version => {}
            _ => {
                found.insert(python.version.1, python);
            }
        }
    }
    found.into_values().collect()
}

fn best(installed: &[Interpreter]) -> Result<Interpreter, Refusal> {
    PREFERENCE.iter().find_map(|minor| installed.iter().find(|p| p.version.1 == *minor)).cloned().ok_or_else(|| {
        let seen = if installed.is_empty() {
            "No CPython was found in pyenv or on PATH".to_owned()
        } else {
            format!("No CPython 3.9 to 3.13 was found in pyenv or on PATH (only {})", list(installed))
        };
        Refusal::new(
            format!("{seen}, and sot needs one that Paddle has a wheel for."),
            "install one (Debian: `apt-get install python3 python3-venv`; pyenv: `pyenv install 3.11`), or name it with SOT_PYTHON=/path/to/python or --python /path/to/python",
        )
    })
}

fn asked_for(asked: &str) -> Result<Interpreter, Refusal> {
    if let Some(wanted) = parse_version(asked) {
        return of_version(asked, &wanted);
    }
    let path = Path::new(asked);
    let file = if path.components().count() > 1 {
        path.is_file().then(|| path.to_path_buf())
    } else {
        workspace::on_path(asked)
    };
    let Some(file) = file else {
        return Err(Refusal::new(
            format!("There is no interpreter `{asked}`."),
            "give --python (or SOT_PYTHON) a version like 3.12, a path to an interpreter, or a command on PATH",
        ));
    };
    let Some(python) = probe(&file) else {
        return Err(Refusal::new(
            format!("`{}` did not run as a Python interpreter.", file.display()),
            "try it by hand with `-c 'import sys; print(sys.version)'`, or name another with --python",
        ));
    };
    python.refusal().map_or(Ok(python), Err)
}

fn of_version(asked: &str, wanted: &[u8]) -> Result<Interpreter, Refusal> {
    if let &[major, minor, ..] = wanted
        && !Version(major, minor, 0).supported()
    {
        return Err(Refusal::new(
            format!("Paddle publishes no wheel for CPython {asked}."),
            "pick 3.9, 3.10, 3.11, 3.12 or 3.13 (3.8 works with the older Paddle 3.0.0)",
        ));
    }
    let found = candidates().into_iter().filter_map(|c| probe(&c)).filter(|p| {
        let version = [p.version.0, p.version.1, p.version.2];
        version.starts_with(wanted) && p.refusal().is_none()
    });
    found.max_by_key(|p| p.version).ok_or_else(|| {
        let installed = installed();
        let have = if installed.is_empty() { "none".to_owned() } else { list(&installed) };
        Refusal::new(
            format!("CPython {asked} was not found in pyenv or on PATH (found: {have})."),
            format!(
                "install it (`pyenv install {asked}`), or name one with --python /path/to/python or SOT_PYTHON=/path/to/python"
            ),
        )
    })
}

/// `3`, `3.12` or `3.12.1`.
fn parse_version(text: &str) -> Option<Vec<u8>> {
    let parts: Option<Vec<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
    parts.filter(|p| (1..=3).contains(&p.len()))
}

fn list(installed: &[Interpreter]) -> String {
    installed.iter().map(|p| p.version.short()).collect::<Vec<_>>().join(", ")
}

/// Files that may be interpreters, best places first, each once.
fn candidates() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let home = env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    let pyenv: Vec<PathBuf> =
        [env::var_os("PYENV_ROOT").map(PathBuf::from), home.map(|h| h.join(".pyenv"))].into_iter().flatten().collect();
    for root in &pyenv {
        files.extend(pyenv_versions(root));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    // A pyenv shim is slow and stands for one of the interpreters above.
    for dir in env::split_paths(&path).filter(|dir| !pyenv.iter().any(|root| dir.starts_with(root))) {
        let names = SUPPORTED.iter().rev().map(|minor| format!("python3.{minor}"));
        for name in names.chain(["python3".to_owned(), "python".to_owned()]) {
            files.push(dir.join(format!("{name}{}", env::consts::EXE_SUFFIX)));
        }
    }
    if cfg!(windows) {
        files.extend(py_launcher());
    }
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|file| file.is_file() && seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    files
}

fn pyenv_versions(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = root.join("versions").read_dir() else { return Vec::new() };
    let mut versions: Vec<(Vec<u8>, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let version = parse_version(&entry.file_name().to_string_lossy())?;
            let python = if cfg!(windows) { "python.exe" } else { "bin/python" };
            Some((version, entry.path().join(python)))
        })
        .filter(|(version, _)| version.first() == Some(&3) && version.get(1).is_some_and(|m| SUPPORTED.contains(m)))
        .collect();
    versions.sort_by_key(|(version, _)| Reverse(version.clone()));
    versions.into_iter().map(|(_, python)| python).collect()
}

/// `py -0p` prints ` -V:3.12 *        C:\Python312\python.exe`.
fn py_launcher() -> Vec<PathBuf> {
    let Ok(ended) = process::quiet(Command::new("py").arg("-0p")) else { return Vec::new() };
    ended.output.lines().filter_map(|line| line.find(":\\").map(|at| PathBuf::from(line[at - 1..].trim()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(minor: u8) -> Interpreter {
        Interpreter::example(minor)
    }

    #[test]
    fn the_reference_version_is_preferred_to_newer_ones() {
        let picked = best(&[python(9), python(11), python(13)]).expect("one is supported");
        assert_eq!(picked.version.1, 11);
        let picked = best(&[python(9), python(10), python(13)]).expect("one is supported");
        assert_eq!(picked.version.1, 13);
    }

    #[test]
    fn without_a_usable_one_the_remedy_is_told() {
        let refusal = best(&[python(8)]).expect_err("3.8 is used only when asked for");
        assert!(refusal.sentence.contains("only 3.8"), "{refusal}");
        assert!(best(&[]).expect_err("none").remedy.contains("SOT_PYTHON"));
    }

    #[test]
    fn what_paddle_has_no_wheel_for_is_refused() {
        assert!(python(11).refusal().is_none());
        assert!(python(14).refusal().expect("too new").sentence.contains("CPython 3.14"));
        assert!(python(7).refusal().expect("too old").sentence.contains("CPython 3.7"));
        let pypy = Interpreter { implementation: "pypy".into(), ..python(10) };
        assert!(pypy.refusal().expect("not CPython").sentence.contains("pypy"));
        let free = Interpreter { free_threaded: true, ..python(13) };
        assert!(free.refusal().expect("no GIL").sentence.contains("free-threaded"));
    }

    #[test]
    fn versions_are_told_from_paths() {
        assert_eq!(parse_version("3.12"), Some(vec![3, 12]));
        assert_eq!(parse_version("3.12.1"), Some(vec![3, 12, 1]));
        assert_eq!(parse_version("python3.12"), None);
        assert_eq!(parse_version("3.13t"), None);
    }

    #[test]
    fn asking_for_an_unsupported_version_names_it() {
        let refusal = asked_for("3.14").expect_err("no wheel");
        assert_eq!(refusal.sentence, "Paddle publishes no wheel for CPython 3.14.");
        let refusal = asked_for("no-such-python").expect_err("no file");
        assert!(refusal.sentence.contains("no-such-python"));
    }
}

//! Runs the snippets of a document in a Python process, and reads what it found.
//!
//! A crash costs the section that it interrupted: the rest of the document goes on in a new process. A whole run is
//! kept in memory for `cargo test`, and in a directory of the run for nextest, which starts a process for each test.

use crate::document::Document;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What the driver found out about a section.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Findings {
    /// The driver, or the process, failed here.
    pub error: Option<String>,
    /// The interpreter is too old for the section, which did not run.
    pub too_old: bool,
    /// Where the captured run differs from the eager one.
    pub mismatches: Vec<String>,
    pub stats: BTreeMap<String, u64>,
    pub breaks: Vec<String>,
    pub sir: Vec<String>,
    pub guards: Vec<String>,
    pub code: Vec<String>,
}

/// The findings of a document's sections, by name.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Run {
    /// `3.11.7`
    pub python: String,
    /// Of Paddle: `3.3.1`
    pub release: String,
    pub sections: BTreeMap<String, Findings>,
}

impl Run {
    /// `3.11`
    pub fn version(&self) -> String {
        self.python.split('.').take(2).collect::<Vec<_>>().join(".")
    }

    /// `11`
    pub fn minor(&self) -> u32 {
        numbers(&self.python).get(1).copied().unwrap_or_default()
    }

    /// Snapshots, bytecode and what is written anew belong to one interpreter.
    pub fn is_reference(&self) -> bool {
        self.version() == "3.11" && self.is_since("3.3")
    }

    /// Whether Paddle is this release or a newer one.
    pub fn is_since(&self, release: &str) -> bool {
        numbers(&self.release) >= numbers(release)
    }
}

/// The first two numbers of a version.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').take(2).map_while(|number| number.parse().ok()).collect()
}

#[derive(Serialize)]
struct Task<'a> {
    name: &'a str,
    source: &'a str,
    since: Option<&'a str>,
}

#[derive(Serialize)]
struct Job<'a> {
    file: &'a str,
    sections: Vec<Task<'a>>,
}

#[derive(Deserialize)]
struct Line {
    python: Option<String>,
    release: Option<String>,
    begin: Option<String>,
    end: Option<String>,
    #[serde(flatten)]
    findings: Findings,
}

/// How long another process may take for a document.
const PATIENCE: Duration = Duration::from_secs(230);

/// Where Python is, and where files may be put.
#[derive(Clone, Debug)]
pub struct Driver {
    pub python: PathBuf,
    pub script: PathBuf,
    pub scratch: PathBuf,
    /// A run of which this process is one of many.
    pub shared_run: Option<String>,
}

impl Driver {
    /// The findings of a document: run now, or by another process of the same run. `after` is called by whoever ran it.
    pub fn run(&self, doc: &Document, after: impl FnOnce(&Run)) -> Result<Run, String> {
        let Some(id) = &self.shared_run else {
            let dir = self.scratch.join(format!("process-{}", std::process::id()));
            let run = self.execute(doc, &dir)?;
            after(&run);
            return Ok(run);
        };
        let dir = self.scratch.join(id);
        fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let kept = dir.join(format!("{}.json", doc.name));
        // Why there is nothing to wait for.
        let failed = dir.join(format!("{}.failed", doc.name));
        if File::create_new(dir.join(format!("{}.claim", doc.name))).is_ok() {
            forget_old_runs(&self.scratch, id);
            let run = self.execute(doc, &dir).inspect_err(|error| drop(fs::write(&failed, error)))?;
            after(&run);
            let text = serde_json::to_string(&run).map_err(|e| e.to_string())?;
            let part = dir.join(format!("{}.part", doc.name));
            fs::write(&part, text).and_then(|()| fs::rename(&part, &kept)).map_err(|e| e.to_string())?;
            return Ok(run);
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Ok(text) = fs::read_to_string(&kept) {
                return serde_json::from_str(&text).map_err(|e| e.to_string());
            }
            if let Ok(error) = fs::read_to_string(&failed) {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(format!("the process that runs {}.md did not end", doc.name))
    }

    fn execute(&self, doc: &Document, dir: &Path) -> Result<Run, String> {
        fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let mut run = Run::default();
        let mut done = BTreeSet::new();
        loop {
            let todo = doc.sections.iter().filter(|s| !done.contains(&s.name));
            let sections: Vec<Task<'_>> =
                todo.map(|s| Task { name: &s.name, source: s.source(), since: s.since() }).collect();
            if sections.is_empty() {
                return Ok(run);
            }
            let before = done.len();
            let job = Job { file: &doc.name, sections };
            let (lines, ending) = self.process(&job, &dir.join(format!("{}.jsonl", doc.name)))?;
            let mut begun = None;
            for line in lines {
                if let Some(version) = line.python {
                    run.python = version;
                    run.release = line.release.unwrap_or_default();
                } else if let Some(name) = line.begin {
                    begun = Some(name);
                } else if let Some(name) = line.end {
                    begun = None;
                    done.insert(name.clone());
                    run.sections.insert(name, line.findings);
                }
            }
            if let Some(name) = begun {
                let error = Some(format!("the process ended here: {ending}"));
                run.sections.insert(name.clone(), Findings { error, ..Findings::default() });
                done.insert(name);
            }
            if done.len() == before {
                return Err(format!("{} did not run: {ending}", self.script.display()));
            }
        }
    }

    fn process(&self, job: &Job<'_>, out: &Path) -> Result<(Vec<Line>, String), String> {
        let _ = fs::remove_file(out);
        let log = out.with_extension("log");
        let stderr = File::create(&log).map_err(|e| e.to_string())?;
        let mut command = Command::new(&self.python);
        command.arg(&self.script).arg(out).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(stderr);
        command.env("PYTHONHASHSEED", "0").env("PYTHONDONTWRITEBYTECODE", "1").env("OMP_NUM_THREADS", "1");
        let start = format!("cannot start {}", self.python.display());
        let mut child = command.spawn().map_err(|e| format!("{start}: {e}"))?;
        let text = serde_json::to_string(job).map_err(|e| e.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(text.as_bytes()).map_err(|e| format!("{start}: {e}"))?;
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        let said = fs::read_to_string(&log).unwrap_or_default();
        let tail: Vec<&str> = said.lines().rev().take(25).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        let written = fs::read_to_string(out).unwrap_or_default();
        let lines = written.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        Ok((lines, format!("{status}\n{}", tail.join("\n"))))
    }
}

/// Other runs' directories, once they are an hour old.
fn forget_old_runs(scratch: &Path, keep: &str) {
    for entry in fs::read_dir(scratch).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if entry.file_name() != keep && age.is_some_and(|a| a > Duration::from_secs(3600)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

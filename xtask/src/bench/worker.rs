//! The process of one system under measurement, and what is said to it: JSON, a line each way.

use super::System;
use crate::environment::Environment;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Far above the slowest answer (a loop that captures anew each round takes ten seconds).
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

#[derive(Deserialize)]
pub(super) struct Cold {
    pub(super) ms: f64,
    pub(super) graphs: u64,
    pub(super) breaks: u64,
}

impl Worker {
    /// `captured_only`: sot serves what it has captured, even where the original code is faster.
    pub(super) fn start(env: &Environment, system: System, paddle_defaults: bool, captured_only: bool) -> Result<Self> {
        let log = env.target_dir().join(format!("bench-{}.log", system.argument()));
        let mut command = env.command();
        command.args(["-E", "xtask/py/bench_worker.py", "--system", system.argument()]);
        if !paddle_defaults {
            // By default Paddle's SOT runs graphs of fewer than ten operations eagerly; sot is compared with capture.
            command.env("MIN_GRAPH_SIZE", "0");
        }
        if captured_only {
            command.env("SOT_MEASURE", "graphs");
        }
        Self::of(command, &log)
    }

    /// The process of a command that answers in this way. What else it says goes to a file.
    pub(super) fn of(mut command: Command, log: &Path) -> Result<Self> {
        let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("cannot start a worker")?;
        let requests = child.stdin.take().context("no pipe to the worker")?;
        let output = child.stdout.take().context("no pipe from the worker")?;
        let (send, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, requests, answers })
    }

    /// Makes the workload; how long the first capture of the process took, in ms.
    pub(super) fn setup(&mut self, workload: &str) -> Result<f64> {
        number(&self.ask(&json!({"do": "setup", "workload": workload}))?, "first_capture_ms")
    }

    pub(super) fn cold(&mut self) -> Result<Cold> {
        self.asked(&json!({"do": "cold"}))
    }

    /// Microseconds for one call, over `count` calls.
    pub(super) fn calls(&mut self, count: u64) -> Result<f64> {
        number(&self.ask(&json!({"do": "calls", "count": count}))?, "us")
    }

    pub(super) fn about(&mut self) -> Result<BTreeMap<String, String>> {
        self.asked(&json!({"do": "about"}))
    }

    /// The answer to any request.
    pub(super) fn asked<T: DeserializeOwned>(&mut self, request: &Value) -> Result<T> {
        serde_json::from_value(self.ask(request)?).context("an answer of another form")
    }

    fn ask(&mut self, request: &Value) -> Result<Value> {
        // A worker that is gone is told by the missing answer.
        let _ = writeln!(self.requests, "{request}");
        let line = match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Timeout) => bail!("no answer within {} s", PATIENCE.as_secs()),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let status = self.child.wait()?;
                bail!("the process died ({status})")
            }
        };
        let answer: Value = serde_json::from_str(&line).with_context(|| format!("not an answer: {line}"))?;
        if let Some(error) = answer.get("error").and_then(Value::as_str) {
            bail!("{error}");
        }
        Ok(answer)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn number(answer: &Value, name: &str) -> Result<f64> {
    answer.get(name).and_then(Value::as_f64).with_context(|| format!("no `{name}` in {answer}"))
}

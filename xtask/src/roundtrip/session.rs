//! One interpreter at work: starts a script of `xtask/py/roundtrip`, answers what it asks, hands on what it reports.

use super::hex;
use super::recode::{Recoder, Sent};
use crate::interpreter::Interpreter;
use crate::workspace;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// What an interpreter is started with.
pub(super) struct Script<'a> {
    pub(super) python: &'a Interpreter,
    /// A file of `xtask/py/roundtrip`.
    pub(super) file: &'a str,
    pub(super) arguments: Vec<&'a OsStr>,
    /// Where everything goes that the script prints; without it errors go to the terminal.
    pub(super) log: Option<File>,
}

/// How an interpreter went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was through.
    Done,
    /// It died at work.
    Early(ExitStatus),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Message {
    Recode(Vec<Sent>),
    Compare(Vec<(Sent, Bytes)>),
    Report(Value),
}

#[derive(Deserialize)]
struct Bytes(#[serde(deserialize_with = "hex::deserialize")] Vec<u8>);

/// Ends the interpreter whatever happens on this side.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a script to its end.
///
/// # Errors
/// When it cannot be started or says what nobody understands. That it dies is no error.
pub(super) fn run<R: DeserializeOwned>(
    script: Script<'_>,
    recoder: &mut Recoder,
    mut on_report: impl FnMut(R) -> Result<()>,
) -> Result<End> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("cannot open a local socket")?;
    let mut running = start(script, listener.local_addr()?.port())?;
    let Some(mut stream) = accept(&listener, &mut running.0)? else {
        return Ok(End::Early(running.0.wait()?));
    };
    let lines = BufReader::new(stream.try_clone()?).lines();
    for line in lines {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line).context("the interpreter said what is no message")? {
            Message::Recode(codes) => {
                let answers: Vec<_> = codes.into_iter().map(|sent| recoder.recode(sent)).collect();
                answer(&mut stream, &serde_json::to_vec(&answers)?)?;
            }
            Message::Compare(pairs) => {
                let answers: Vec<_> =
                    pairs.into_iter().map(|(sent, Bytes(other))| recoder.compare(sent, other)).collect();
                answer(&mut stream, &serde_json::to_vec(&answers)?)?;
            }
            Message::Report(report) if report.get("end").is_some() => {
                answer(&mut stream, b"null")?;
                let status = running.0.wait()?;
                return Ok(if status.success() { End::Done } else { End::Early(status) });
            }
            Message::Report(report) => on_report(serde_json::from_value(report).context("an unknown report")?)?,
        }
    }
    Ok(End::Early(running.0.wait()?))
}

fn answer(stream: &mut TcpStream, text: &[u8]) -> Result<()> {
    match stream.write_all(&[text, b"\n"].concat()) {
        // Gone: the next read says so.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(()),
        other => other.context("cannot answer the interpreter"),
    }
}

fn start(script: Script<'_>, port: u16) -> Result<Running> {
    let mut command = Command::new(&script.python.executable);
    // No user's settings, and nothing written next to the sources. Frozen modules (3.11 on) have no source to replace;
    // interpreters before take any -X.
    command.args(["-E", "-s", "-B", "-X", "frozen_modules=off"]);
    command.arg(workspace::root().join("xtask/py/roundtrip").join(script.file)).arg(port.to_string());
    command.args(script.arguments).stdin(Stdio::null());
    if let Some(log) = script.log {
        command.stdout(log.try_clone()?).stderr(log);
    }
    Ok(Running(command.spawn().with_context(|| format!("cannot start {}", script.python))?))
}

/// The interpreter's connection, unless it ends without making one.
fn accept(listener: &TcpListener, child: &mut Child) -> Result<Option<TcpStream>> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                return Ok(Some(stream));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error).context("no connection from the interpreter"),
        }
        if child.try_wait()?.is_some() {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

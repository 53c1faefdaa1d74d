//! A server in the background: starts and controls it, and waits until that has taken effect.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use paned_backend::SECRET_VARIABLES;
use paned_model::{Code, Refusal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use serde_json::Value;

use crate::client::not_running;
use crate::context::CliContext;
use crate::out::progress::Progress;
use crate::serve::lock::Lock;
use crate::serve::ready_line::ReadyLine;
use crate::state_folder::{ServerInfo, StateFolder};

/// How long a server may take to start, stop or come back.
const SERVER_TIMEOUT: Duration = Duration::from_secs(10);
/// Variables that say in which pane a process runs, and which server it uses.
const PANE_VARIABLES: [&str; 6] =
    ["PANED_PANE", "PANED_SOCKET", "PANED_URL", "POLY_BASE_URL", "POLY_PANE", "POLY_PORT"];
/// How often to poll `server.json` and the lock, which send no notification.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Starts a server, unless one runs.
pub(super) fn start(context: &CliContext, args: &[String]) -> Result<()> {
    let state = context.state()?;
    if let Some(info) = running(context, &state)? {
        return report(context, "paned is already running", &ReadyLine::from(&info));
    }
    report(context, "started paned", &launch(context, &state, args)?)
}

/// Stops the server and waits until it is gone.
pub(super) fn stop(context: &CliContext, sentence: &str, answer: Value) -> Result<()> {
    let state = context.state()?;
    halt(context, &state)?;
    if context.out.is_json() {
        return Ok(context.out.json(&answer)?);
    }
    Ok(context.out.line(sentence)?)
}

/// Stops the server if one runs, and starts one with the same arguments or with these.
pub(super) fn restart(context: &CliContext, args: &[String]) -> Result<()> {
    let state = context.state()?;
    let before = running(context, &state)?;
    if before.is_some() {
        halt(context, &state)?;
    }
    let same = before.map(|info| info.args).unwrap_or_default();
    let args = if args.is_empty() { &same } else { args };
    report(context, "restarted paned", &launch(context, &state, args)?)
}

/// Makes the server execute the program that is now in its file, and waits until it serves again.
pub(super) fn upgrade(context: &CliContext) -> Result<()> {
    let state = context.state()?;
    // Fails with the best message when no server answers.
    ask(context, "server:status")?;
    let before = server_info(&state)?.ok_or_else(not_running)?;
    ask(context, "server:upgrade")?;
    let progress = Progress::start(context.out, "re-executing the server");
    let after = wait("the server to come back", || {
        let info = state.server_info()?;
        (info.started_at != before.started_at).then_some(info)
    })?;
    drop(progress);
    if let Some(why) = after.upgrade_failed {
        return Err(Refusal::internal(format!("the server was not replaced: {why}")).into());
    }
    if context.out.is_json() {
        return Ok(context.out.json(&after)?);
    }
    let old = before.version;
    let new = after.version;
    let pid = after.pid;
    Ok(context
        .out
        .line(format!("re-executed paned {old} as {new} (pid {pid}); panes kept running"))?)
}

fn ask(context: &CliContext, action: &str) -> Result<Value> {
    context.call(action, &())
}

/// The server of this folder, if it answers.
fn running(context: &CliContext, state: &StateFolder) -> Result<Option<ServerInfo>> {
    let info = server_info(state)?;
    Ok(info.filter(|_| ask(context, "server:status").is_ok()))
}

/// The content of server.json. A server that started on a full disk writes it as soon as there is
/// space.
fn server_info(state: &StateFolder) -> Result<Option<ServerInfo>> {
    let look = || state.server_info().map(Some).or_else(|| Lock::is_free(state).then_some(None));
    match wait("server.json", look) {
        Ok(info) => Ok(info),
        Err(_) => {
            let folder = state.folder().display();
            let sentence = format!(
                "a paned server is running, but cannot write server.json to {folder}; free some \
                disk space and try again"
            );
            Err(Refusal::new(Code::Unavailable, sentence).into())
        }
    }
}

fn halt(context: &CliContext, state: &StateFolder) -> Result<()> {
    ask(context, "server:stop")?;
    let _progress = Progress::start(context.out, "stopping the server");
    // The lock is released when the process has exited, and not before.
    wait("the server to stop", || Lock::is_free(state).then_some(()))
}

fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + SERVER_TIMEOUT;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if deadline < Instant::now() {
            let seconds = SERVER_TIMEOUT.as_secs();
            let sentence = format!(
                "timed out after {seconds} s waiting for {what}; run `paned \
                                   doctor` to diagnose it"
            );
            return Err(Refusal::new(Code::Timeout, sentence).into());
        }
        sleep(POLL_INTERVAL);
    }
}

/// Spawns a server that is detached from this terminal, and waits for its ready line.
pub(super) fn launch(
    context: &CliContext,
    state: &StateFolder,
    args: &[String],
) -> Result<ReadyLine> {
    state.make()?;
    let mut log = OpenOptions::new();
    let log = log.create(true).append(true).mode(0o600).open(state.server_log());
    let log = log.with_context(|| format!("cannot open {}", state.server_log().display()))?;
    let program = std::env::current_exe().context("cannot determine the path of this program")?;
    let mut command = Command::new(program);
    command.args(["--json", "--state-dir"]).arg(std::path::absolute(state.folder())?);
    if let Some(config) = &context.global.config {
        command.arg("--config").arg(std::path::absolute(config)?);
    }
    command.args(["serve", "--detached"]).args(args);
    // A server that is started in a pane is not a part of that pane.
    for name in PANE_VARIABLES.iter().chain(&SECRET_VARIABLES) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().context("cannot start the server")?;
    let _progress = Progress::start(context.out, "starting the server");
    read_startup_message(&mut child, state)
}

/// The first line that a server prints: that it is ready, or why it is not.
#[derive(Deserialize)]
#[serde(untagged)]
enum StartupMessage {
    Ready(ReadyLine),
    Refusal(Refusal),
}

fn read_startup_message(child: &mut Child, state: &StateFolder) -> Result<ReadyLine> {
    let log = state.server_log();
    let stdout = child.stdout.take().context("the server has no standard output")?;
    let mut line = String::new();
    if !is_readable_within(&stdout, SERVER_TIMEOUT)? {
        let sentence = format!("the server did not start in time; see {}", log.display());
        return Err(Refusal::new(Code::Timeout, sentence).into());
    }
    BufReader::new(stdout.take(1 << 16)).read_line(&mut line)?;
    match serde_json::from_str(&line) {
        Ok(StartupMessage::Ready(ready)) => Ok(ready),
        Ok(StartupMessage::Refusal(refusal)) => Err(refusal.into()),
        Err(_) => {
            let status =
                child.wait().map_or_else(|_| String::new(), |status| format!(" ({status})"));
            bail!("the server exited before it was ready{status}; see {}", log.display())
        }
    }
}

fn is_readable_within(pipe: &impl std::os::fd::AsFd, timeout: Duration) -> io::Result<bool> {
    let mut waiting = [PollFd::new(pipe, PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    Ok(0 < poll(&mut waiting, Some(&timeout))?)
}

fn report(context: &CliContext, what: &str, ready: &ReadyLine) -> Result<()> {
    if context.out.is_json() {
        return Ok(context.out.json(ready)?);
    }
    ready.print_notes(context.out)?;
    Ok(context.out.line(format!("{what} at {} (pid {})", ready.url, ready.pid))?)
}

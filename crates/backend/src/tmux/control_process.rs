//! One running control client: its process, its pipes, and the decoder of its output.

use std::process::ExitStatus;
use std::time::Duration;

use paned_model::machine_limit;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::signal::unix::{SignalKind, signal};

use super::decode::{Item, TmuxDecoder};
use super::error::Error;
use super::notice::Notice;
use super::server_addr::{StartPolicy, TmuxServerAddr};

/// No more requests are taken while this many bytes wait to be written.
const MAX_UNSENT: usize = 1 << 20;
/// How long a client that is gone may take to give its reason.
const EXIT_REASON_TIMEOUT: Duration = Duration::from_millis(200);

/// A control client.
#[derive(Debug)]
pub(super) struct ControlProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    /// Wakes when a child process was stopped or exited.
    children: tokio::signal::unix::Signal,
    decoder: TmuxDecoder,
    unsent: Vec<u8>,
    /// How many bytes were queued and written since the start.
    queued: u64,
    written: u64,
    buffer: Vec<u8>,
    /// Why it exits, as far as it said so.
    reason: Option<String>,
}

enum ControlProcessEvent {
    Read(std::io::Result<usize>),
    Wrote(std::io::Result<usize>),
    Child,
}

impl ControlProcess {
    pub(super) fn open(addr: &TmuxServerAddr, start: StartPolicy) -> Result<Self, Error> {
        let map_error = |error: std::io::Error| match machine_limit(&error) {
            Some((_, hint)) => Error::MachineLimit(format!("{error}; {hint}")),
            None => Error::NoServer(error.to_string()),
        };
        let launch = addr.launch(start)?;
        let children = signal(SignalKind::child()).map_err(map_error)?;
        let mut child = launch.spawn().map_err(map_error)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Error::NoServer("tmux was started without pipes".to_owned()));
        };
        Ok(Self {
            child,
            stdin,
            stdout,
            stderr,
            children,
            decoder: TmuxDecoder::default(),
            unsent: Vec::new(),
            queued: 0,
            written: 0,
            buffer: vec![0; 64 << 10],
            reason: None,
        })
    }

    /// The process, while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Queues a line, which [`ControlProcess::next_item`] sends; returns the position of its end.
    pub(super) fn queue_line(&mut self, line: &str) -> u64 {
        self.unsent.extend_from_slice(line.as_bytes());
        self.queued += line.len() as u64;
        self.queued
    }

    /// The position up to which everything was written. tmux runs no line that ends after it.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn has_room(&self) -> bool {
        self.unsent.len() < MAX_UNSENT
    }

    /// Announces how many lines the next reply has.
    pub(super) fn expect_lines(&mut self, lines: usize) {
        self.decoder.expect_lines(lines);
    }

    /// The next item; sends what is queued meanwhile. `None` when the process is gone. Cancel-safe.
    pub(super) async fn next_item(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.decoder.next_item() {
                self.note_reason(&item);
                return Some(item);
            }
            let event = tokio::select! {
                read = self.stdout.read(&mut self.buffer) => ControlProcessEvent::Read(read),
                wrote = self.stdin.write(&self.unsent), if !self.unsent.is_empty() => ControlProcessEvent::Wrote(wrote),
                _ = self.children.recv() => ControlProcessEvent::Child,
            };
            match event {
                // Since 3.2 the server reads and writes our pipes itself, so a stopped client still
                // answers. But nothing that the client process must do happens, and the server
                // cannot exit.
                ControlProcessEvent::Child if self.is_stopped() => return None,
                ControlProcessEvent::Child => {}
                ControlProcessEvent::Read(Ok(got @ 1..)) => self.decoder.push(&self.buffer[..got]),
                ControlProcessEvent::Read(Ok(0) | Err(_)) => return None,
                ControlProcessEvent::Wrote(Ok(sent)) => {
                    self.written += sent as u64;
                    self.unsent.drain(..sent);
                }
                // What it has already written can still be read; then comes end of file.
                ControlProcessEvent::Wrote(Err(_)) => self.unsent.clear(),
            }
        }
    }

    fn is_stopped(&self) -> bool {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = pid.map(|pid| waitid(WaitId::Pid(pid), options));
        matches!(status, Some(Ok(Some(status))) if status.stopped())
    }

    fn note_reason(&mut self, item: &Item) {
        match item {
            Item::Notice(Notice::Exit(Some(reason))) => self.reason = Some(reason.clone()),
            // The command that the client was started with failed.
            Item::Reply(reply) if !reply.ok && !reply.header.is_ours() => {
                self.reason = Some(String::from_utf8_lossy(&reply.lines.concat()).into_owned());
            }
            _ => {}
        }
    }

    /// Kills the process; returns why it exited, if it had a reason of its own.
    pub(super) async fn close(mut self) -> String {
        let mut bytes = Vec::new();
        let mut stderr = (&mut self.stderr).take(4096);
        let _ = tokio::time::timeout(EXIT_REASON_TIMEOUT, stderr.read_to_end(&mut bytes)).await;
        let ended = self.child.try_wait().ok().flatten();
        let _ = self.child.start_kill();
        let _ = tokio::time::timeout(EXIT_REASON_TIMEOUT, self.child.wait()).await;
        let message = String::from_utf8_lossy(&bytes).trim().to_owned();
        self.reason.filter(|_| message.is_empty()).unwrap_or_else(|| match ended {
            _ if !message.is_empty() => message,
            Some(status) => describe(status),
            None => "the client closed its output".to_owned(),
        })
    }

    /// Kills the process, and waits until it is gone.
    pub(super) async fn kill(mut self) {
        let _ = self.child.start_kill();
        let _ = tokio::time::timeout(EXIT_REASON_TIMEOUT, self.child.wait()).await;
    }
}

fn describe(status: ExitStatus) -> String {
    format!("the client exited with {status}")
}

//! One running control client: its process and pipes, and what is read from them.

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

/// As much as this waits to be written before no more is taken.
const MAX_UNSENT: usize = 1 << 20;
/// So long may a client that is gone take to say why.
const EXIT_REASON_TIMEOUT: Duration = Duration::from_millis(200);

/// A control client.
#[derive(Debug)]
pub(super) struct ControlProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    /// Wakes when a child of ours was stopped or ended.
    children: tokio::signal::unix::Signal,
    decoder: TmuxDecoder,
    unsent: Vec<u8>,
    buffer: Vec<u8>,
    /// Why it ends, as far as it said so.
    reason: Option<String>,
}

enum ControlProcessEvent {
    Read(std::io::Result<usize>),
    Wrote(std::io::Result<usize>),
    Child,
}

impl ControlProcess {
    pub(super) fn open(place: &TmuxServerAddr, start: StartPolicy) -> Result<Self, Error> {
        let wrong = |error: std::io::Error| match machine_limit(&error) {
            Some((_, hint)) => Error::MachineLimit(format!("{error}; {hint}")),
            None => Error::NoServer(error.to_string()),
        };
        let launch = place.launch(start)?;
        let children = signal(SignalKind::child()).map_err(wrong)?;
        let mut child = launch.spawn().map_err(wrong)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Error::NoServer("tmux was started without pipes".to_owned()));
        };
        let (decoder, buffer) = (TmuxDecoder::default(), vec![0; 64 << 10]);
        let (unsent, reason) = (Vec::new(), None);
        Ok(Self { child, stdin, stdout, stderr, children, decoder, unsent, buffer, reason })
    }

    /// The process, while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Puts a line on the way; [`ControlProcess::next_item`] sends it.
    pub(super) fn queue_line(&mut self, line: &str) {
        self.unsent.extend_from_slice(line.as_bytes());
    }

    pub(super) fn has_room(&self) -> bool {
        self.unsent.len() < MAX_UNSENT
    }

    /// Says how many lines the next reply has.
    pub(super) fn expect_lines(&mut self, lines: usize) {
        self.decoder.expect_lines(lines);
    }

    /// What it says next; sends meanwhile. None when it is gone. May be dropped and called again: nothing is lost.
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
                // Since 3.2 the server reads and writes our pipes itself, so a client that is stopped still answers;
                // but nothing that it has to do at its end happens, and the server cannot end.
                ControlProcessEvent::Child if self.is_stopped() => return None,
                ControlProcessEvent::Child => {}
                ControlProcessEvent::Read(Ok(got @ 1..)) => self.decoder.push(&self.buffer[..got]),
                ControlProcessEvent::Read(Ok(0) | Err(_)) => return None,
                ControlProcessEvent::Wrote(Ok(sent)) => drop(self.unsent.drain(..sent)),
                // What it still has to say can be read; then comes the end.
                ControlProcessEvent::Wrote(Err(_)) => self.unsent.clear(),
            }
        }
    }

    fn is_stopped(&self) -> bool {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = pid.map(|pid| waitid(WaitId::Pid(pid), look));
        matches!(status, Some(Ok(Some(status))) if status.stopped())
    }

    fn note_reason(&mut self, item: &Item) {
        match item {
            Item::Notice(Notice::Exit(Some(reason))) => self.reason = Some(reason.clone()),
            // What the client was started with did not work.
            Item::Reply(reply) if !reply.ok && !reply.header.is_ours() => {
                self.reason = Some(String::from_utf8_lossy(&reply.lines.concat()).into_owned());
            }
            _ => {}
        }
    }

    /// Ends the process, and says why it ended if it had a reason of its own.
    pub(super) async fn close(mut self) -> String {
        let mut words = Vec::new();
        let mut stderr = (&mut self.stderr).take(4096);
        let _ = tokio::time::timeout(EXIT_REASON_TIMEOUT, stderr.read_to_end(&mut words)).await;
        let ended = self.child.try_wait().ok().flatten();
        let _ = self.child.start_kill();
        let _ = tokio::time::timeout(EXIT_REASON_TIMEOUT, self.child.wait()).await;
        let said = String::from_utf8_lossy(&words).trim().to_owned();
        self.reason.filter(|_| said.is_empty()).unwrap_or_else(|| match ended {
            _ if !said.is_empty() => said,
            Some(status) => describe(status),
            None => "the client says nothing any more".to_owned(),
        })
    }

    /// Ends the process without waiting for it.
    pub(super) fn kill(mut self) {
        let _ = self.child.start_kill();
    }
}

fn describe(status: ExitStatus) -> String {
    format!("the client ended with {status}")
}

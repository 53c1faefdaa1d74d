//! One attach session: bytes from the tape to the terminal, keys from the terminal to the keeper.

use std::io;

use anyhow::Result;
use paned_backend::native::KeeperConn;
use paned_keeper::process::suspend;
use paned_model::Size;
use paned_model::frame::{
    FromKeeper, KeeperResponse, RefusalReason, RequestId, Resize, SizeHolder, ToKeeper,
};
use paned_term::queries::QueryResponder;
use tokio::time::Instant;

use super::super::support::exit_status::ProgramExit;
use super::super::support::tty::CaughtSignal;
use super::super::support::tty::EndSignal;
use super::super::support::tty::SignalListener;
use super::detach::DetachKeyScanner;
use super::notices::TerminalNotices;
use super::terminal::UserTerminal;
use super::terminal_output::TerminalOutput;

/// How much input is read at once.
const INPUT_CHUNK: usize = 64 << 10;
const ESC: u8 = 0x1b;

/// The options of a session.
pub(super) struct AttachOptions {
    /// Whether input goes to the program.
    pub(super) types: bool,
    /// Whether the pane takes the terminal's size.
    pub(super) resizes: bool,
    /// Whether it does even if another client holds its size when the session starts.
    pub(super) takes_size: bool,
    pub(super) detach: DetachKeyScanner,
    /// Notifications about other panes.
    pub(super) notices: TerminalNotices,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttachOutcome {
    /// By the detach key.
    Detached,
    /// With the program.
    Ended(ProgramExit),
    /// With the keeper, which did not record how the program ended.
    Lost,
    /// By a signal, or because the terminal is gone.
    Signalled(EndSignal),
}

pub(super) struct AttachSession {
    wire: KeeperConn,
    output: TerminalOutput,
    terminal: UserTerminal,
    options: AttachOptions,
    /// Whether the keeper waits for an acknowledgement.
    is_ack_wanted: bool,
    /// Whether the keeper has closed the connection.
    is_keeper_gone: bool,
    requests: RequestId,
    /// The size that we requested last.
    sent_size: Option<Size>,
    /// The request for it, while it is not answered.
    resizing: Option<RequestId>,
    /// Whether another client holds the size.
    is_size_held: bool,
    /// Whether we do.
    holds_size: bool,
    /// Whether a server is connected, which answers the program's queries.
    is_served: bool,
}

enum AttachEvent {
    Typed(io::Result<usize>),
    Written(io::Result<usize>),
    KeeperMessage(io::Result<FromKeeper>),
    Signal(CaughtSignal),
    Notice(Vec<u8>),
    Deadline,
}

impl AttachSession {
    pub(super) fn new(
        wire: KeeperConn,
        output: TerminalOutput,
        terminal: UserTerminal,
        options: AttachOptions,
    ) -> Self {
        Self {
            wire,
            output,
            terminal,
            options,
            is_ack_wanted: true,
            is_keeper_gone: false,
            requests: 0,
            sent_size: None,
            resizing: None,
            is_size_held: false,
            holds_size: false,
            is_served: true,
        }
    }

    /// Runs until the user detaches, the program or the keeper ends, or a signal arrives.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) async fn run(
        mut self,
        mut signals: SignalListener,
        is_served: bool,
    ) -> Result<AttachOutcome> {
        self.is_served = is_served;
        self.enter().await?;
        let mut typed = vec![0; INPUT_CHUNK];
        loop {
            if let Some(outcome) = self.catch_up()? {
                return Ok(outcome);
            }
            if let Some(bytes) = self.output.take_new() {
                self.terminal.tell_guard(bytes);
            }
            let is_shown = self.output.pending().is_empty();
            let event = tokio::select! {
                read = self.terminal.read(&mut typed) => AttachEvent::Typed(read),
                // An arm, not a step: a terminal that does not read must not keep us from
                // detaching.
                wrote = self.terminal.write(self.output.pending()), if !is_shown => {
                    AttachEvent::Written(wrote)
                }
                message = self.wire.recv(), if !self.is_keeper_gone => {
                    AttachEvent::KeeperMessage(message)
                }
                caught = signals.next() => AttachEvent::Signal(caught),
                notice = self.options.notices.next(), if is_shown => AttachEvent::Notice(notice),
                () = sleep_until(self.output.deadline()) => AttachEvent::Deadline,
            };
            let outcome = match event {
                AttachEvent::Typed(Ok(read @ 1..)) => self.forward_input(&typed[..read]).await,
                AttachEvent::Written(Ok(count)) => self.written(count),
                AttachEvent::Typed(Ok(0) | Err(_)) | AttachEvent::Written(Err(_)) => {
                    Some(AttachOutcome::Signalled(EndSignal::HangUp))
                }
                AttachEvent::KeeperMessage(message) => self.handle_keeper_message(message),
                AttachEvent::Signal(caught) => self.handle_signal(caught)?,
                AttachEvent::Notice(notice) => {
                    self.output.notify(&notice);
                    None
                }
                AttachEvent::Deadline => {
                    self.output.end_update();
                    None
                }
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Requests our size for the pane, and draws its screen.
    async fn enter(&mut self) -> Result<()> {
        self.resize(self.options.takes_size);
        if let Some(request) = self.resizing {
            let is_response =
                |it: &FromKeeper| matches!(it, FromKeeper::Response(done) if done.id == request);
            // A keeper that has gone is noticed by the event loop.
            if let Ok(FromKeeper::Response(done)) = self.wire.recv_until(is_response).await {
                self.resized(&done);
            }
            self.resizing = None;
        }
        Ok(self.output.begin(&self.terminal)?)
    }

    /// Queues the next bytes once the last ones were written; returns the outcome when none are
    /// left and the program or the keeper has ended.
    fn catch_up(&mut self) -> Result<Option<AttachOutcome>> {
        if !self.output.pending().is_empty() {
            return Ok(None);
        }
        // Before the last read: all bytes are on the tape once the exit is.
        let ended = self.output.ended();
        let is_keeper_gone = self.is_keeper_gone;
        if self.is_settled() {
            self.output.fit(&self.terminal)?;
        }
        if self.output.pending().is_empty() {
            let answers = match !self.is_served && self.holds_size && self.options.types {
                true => QueryResponder::Terminal,
                false => QueryResponder::Elsewhere,
            };
            self.output.refill(&self.terminal, answers)?;
        }
        if !self.output.pending().is_empty() {
            return Ok(None);
        }
        if std::mem::take(&mut self.is_ack_wanted) {
            self.wire.queue(&ToKeeper::Ack(self.output.at()));
        }
        Ok(ended.map(AttachOutcome::Ended).or(is_keeper_gone.then_some(AttachOutcome::Lost)))
    }

    fn written(&mut self, count: usize) -> Option<AttachOutcome> {
        self.terminal.track_modes(&self.output.pending()[..count]);
        self.output.written(count);
        None
    }

    fn handle_keeper_message(&mut self, message: io::Result<FromKeeper>) -> Option<AttachOutcome> {
        match message {
            Ok(FromKeeper::TapeEnd(_) | FromKeeper::Resized(_)) => self.is_ack_wanted = true,
            Ok(FromKeeper::SizeHolder(held)) => self.handle_size_holder(&held),
            Ok(FromKeeper::Response(done)) => {
                self.resized(&done);
                // The program does not read, and its input buffer is full.
                if done.refused == Some(RefusalReason::Full) {
                    self.output.bell();
                }
            }
            // The tape has the same.
            Ok(FromKeeper::Exited(_) | FromKeeper::Welcome(_) | FromKeeper::SpawnFailed(_)) => {}
            // These are for servers.
            Ok(FromKeeper::Typed(_) | FromKeeper::KeysPressed(_)) => {}
            Ok(FromKeeper::ServerPresent(served)) => self.is_served = served,
            // The keeper has exited, or was killed. The tape shows which.
            Err(_) => self.is_keeper_gone = true,
        }
        None
    }

    fn handle_signal(&mut self, caught: CaughtSignal) -> Result<Option<AttachOutcome>> {
        match caught {
            CaughtSignal::End(signal) => return Ok(Some(AttachOutcome::Signalled(signal))),
            CaughtSignal::Resized => self.resize(false),
            CaughtSignal::Stopped => self.suspend()?,
            CaughtSignal::Resumed => {
                self.retake()?;
                self.output.draw_again(&self.terminal)?;
            }
        }
        Ok(None)
    }

    /// Stops this process until it is continued; meanwhile the shell has the terminal.
    fn suspend(&mut self) -> Result<()> {
        self.terminal.release();
        suspend::suspend_self()?;
        self.retake()?;
        Ok(self.output.begin(&self.terminal)?)
    }

    /// Takes the terminal again. Its size may have changed: a stopped process gets no notice of
    /// that.
    fn retake(&mut self) -> Result<()> {
        self.terminal.retake()?;
        if self.sent_size != self.terminal.size() {
            self.resize(false);
        }
        Ok(())
    }

    /// Sends input to the program, up to the detach key.
    async fn forward_input(&mut self, typed: &[u8]) -> Option<AttachOutcome> {
        let (typed, is_detached) = self.options.detach.scan(typed);
        if self.options.types && !typed.is_empty() {
            let request = self.request();
            self.wire.queue(&ToKeeper::Input(request, typed));
        } else if typed.first().is_some_and(|first| *first != ESC) {
            // Read-only: the user presses keys in vain. What begins with ESC may be a report that
            // the terminal sends by itself.
            self.output.bell();
        }
        if !is_detached {
            return None;
        }
        let _ = self.wire.flush().await;
        Some(AttachOutcome::Detached)
    }

    /// Requests the terminal's size for the pane.
    fn resize(&mut self, force: bool) {
        let Some(size) = self.terminal.size().filter(|_| self.options.resizes) else { return };
        let id = self.request();
        self.sent_size = Some(size);
        self.resizing = Some(id);
        self.wire.queue(&ToKeeper::Resize(Resize { id, size, holder: Some(name()), force }));
    }

    fn resized(&mut self, done: &KeeperResponse) {
        if self.resizing == Some(done.id) {
            self.resizing = None;
            self.is_size_held = done.refused == Some(RefusalReason::Held);
            self.holds_size = done.refused.is_none();
        }
    }

    /// The size has another holder, or none.
    fn handle_size_holder(&mut self, held: &SizeHolder) {
        self.is_ack_wanted = true;
        self.holds_size = held.holder.as_deref() == Some(&name());
        match held.holder {
            Some(_) => self.is_size_held = !self.holds_size,
            // A client has forced the size. We request ours again when our window changes, or we
            // are continued.
            None if held.forced => self.is_size_held = true,
            // The holder has released it; of all waiting clients the first to ask gets it.
            None if self.is_size_held => self.resize(false),
            // We have released it, or never asked.
            None => {}
        }
    }

    /// Whether the sizes of pane and terminal are final: no resize is pending, or about to be
    /// requested.
    fn is_settled(&self) -> bool {
        let will_resize =
            self.options.resizes && !self.is_size_held && self.sent_size != self.terminal.size();
        self.resizing.is_none() && !will_resize
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        self.requests
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Our name, as other clients see it.
fn name() -> String {
    format!("attach (process {})", std::process::id())
}

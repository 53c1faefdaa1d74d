//! One visit to a pane: bytes from the tape to the terminal, keys from the terminal to the keeper.

use std::io;

use anyhow::Result;
use paned_keeper::suspend;
use paned_model::Size;
use paned_model::frame::{
    FromKeeper, KeeperResponse, RefusalReason, RequestId, Resize, SizeHolder, ToKeeper,
};

use super::super::exit_status::ProgramExit;
use super::super::tty::{CaughtSignal, EndSignal, SignalListener};
use super::detach::DetachKeyScanner;
use super::terminal::UserTerminal;
use super::terminal_output::TerminalOutput;
use paned_backend::native::KeeperConn;
use paned_term::queries::QueryResponder;
use tokio::time::Instant;

/// How much is typed in one go.
const INPUT_CHUNK: usize = 64 << 10;

/// What a visitor wants.
pub(super) struct AttachOptions {
    /// Whether what is typed goes to the program.
    pub(super) types: bool,
    /// Whether the pane takes the terminal's size.
    pub(super) resizes: bool,
    /// Whether it does even if somebody else holds its size when the visit begins.
    pub(super) takes_size: bool,
    pub(super) detach: DetachKeyScanner,
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttachOutcome {
    /// By the detach key.
    Detached,
    /// With the program.
    Ended(ProgramExit),
    /// With the keeper, which did not say how the program ended.
    Lost,
    /// By a signal, or because the terminal is gone.
    Signalled(EndSignal),
}

pub(super) struct AttachSession {
    wire: KeeperConn,
    output: TerminalOutput,
    terminal: UserTerminal,
    options: AttachOptions,
    /// Whether the keeper waits to hear how far we are.
    is_ack_wanted: bool,
    /// Whether the keeper has gone.
    is_keeper_gone: bool,
    requests: RequestId,
    /// The size that we gave the pane last.
    sent_size: Option<Size>,
    /// The request for it, while it is not answered.
    resizing: Option<RequestId>,
    /// Whether somebody else holds the size.
    is_size_held: bool,
    /// Whether we do.
    holds_size: bool,
    /// Whether a server is there, which answers what the program asks.
    is_served: bool,
}

enum AttachEvent {
    Typed(io::Result<usize>),
    Written(io::Result<usize>),
    KeeperMessage(io::Result<FromKeeper>),
    Signal(CaughtSignal),
    Deadline,
}

impl AttachSession {
    pub(super) fn new(
        wire: KeeperConn,
        output: TerminalOutput,
        terminal: UserTerminal,
        options: AttachOptions,
    ) -> Self {
        let (is_ack_wanted, is_keeper_gone, requests) = (true, false, 0);
        let (sent_size, resizing, is_size_held) = (None, None, false);
        let (holds_size, is_served) = (false, true);
        Self {
            wire,
            output,
            terminal,
            options,
            is_ack_wanted,
            is_keeper_gone,
            requests,
            sent_size,
            resizing,
            is_size_held,
            holds_size,
            is_served,
        }
    }

    /// Visits until somebody leaves.
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
                // An arm, not a step: a terminal that takes nothing must not keep us from leaving.
                wrote = self.terminal.write(self.output.pending()), if !is_shown => {
                    AttachEvent::Written(wrote)
                }
                said = self.wire.recv(), if !self.is_keeper_gone => AttachEvent::KeeperMessage(said),
                caught = signals.next() => AttachEvent::Signal(caught),
                () = sleep_until(self.output.deadline()) => AttachEvent::Deadline,
            };
            let outcome = match event {
                AttachEvent::Typed(Ok(read @ 1..)) => self.forward_input(&typed[..read]).await,
                AttachEvent::Written(Ok(count)) => self.written(count),
                AttachEvent::Typed(Ok(0) | Err(_)) | AttachEvent::Written(Err(_)) => {
                    Some(AttachOutcome::Signalled(EndSignal::HangUp))
                }
                AttachEvent::KeeperMessage(said) => self.handle_keeper_message(said),
                AttachEvent::Signal(caught) => self.handle_signal(caught)?,
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

    /// Gives the pane our size, and shows what it shows.
    async fn enter(&mut self) -> Result<()> {
        self.resize(self.options.takes_size);
        if let Some(asked) = self.resizing {
            let is_it =
                |said: &FromKeeper| matches!(said, FromKeeper::Response(it) if it.id == asked);
            // A keeper that goes away is noticed in a moment.
            if let Ok(FromKeeper::Response(done)) = self.wire.recv_until(is_it).await {
                self.resized(&done);
            }
            self.resizing = None;
        }
        Ok(self.output.begin(&self.terminal)?)
    }

    /// Puts the next bytes on the way when the last ones were shown; answers how the visit ends when none
    /// are left.
    fn catch_up(&mut self) -> Result<Option<AttachOutcome>> {
        if !self.output.pending().is_empty() {
            return Ok(None);
        }
        // Before the last look at the bytes, which are all there once the ending is.
        let (ended, is_alone) = (self.output.ended(), self.is_keeper_gone);
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
        Ok(ended.map(AttachOutcome::Ended).or(is_alone.then_some(AttachOutcome::Lost)))
    }

    fn written(&mut self, count: usize) -> Option<AttachOutcome> {
        self.terminal.track_modes(&self.output.pending()[..count]);
        self.output.written(count);
        None
    }

    fn handle_keeper_message(&mut self, said: io::Result<FromKeeper>) -> Option<AttachOutcome> {
        match said {
            Ok(FromKeeper::TapeEnd(_) | FromKeeper::Resized(_)) => self.is_ack_wanted = true,
            Ok(FromKeeper::SizeHolder(held)) => self.handle_size_holder(&held),
            Ok(FromKeeper::Response(done)) => {
                self.resized(&done);
                // The program does not read, and as much is typed ahead as there is room for.
                if done.refused == Some(RefusalReason::Full) {
                    self.output.bell();
                }
            }
            // The tape says the same.
            Ok(FromKeeper::Exited(_) | FromKeeper::Welcome(_) | FromKeeper::SpawnFailed(_)) => {}
            // That is for servers.
            Ok(FromKeeper::Typed(_) | FromKeeper::KeysPressed(_)) => {}
            Ok(FromKeeper::ServerPresent(served)) => self.is_served = served,
            // It is gone: with its work done, or killed. The tape knows which.
            Err(_) => self.is_keeper_gone = true,
        }
        None
    }

    fn handle_signal(&mut self, caught: CaughtSignal) -> Result<Option<AttachOutcome>> {
        match caught {
            CaughtSignal::End(asked) => return Ok(Some(AttachOutcome::Signalled(asked))),
            CaughtSignal::Resized => self.resize(false),
            CaughtSignal::Stopped => self.suspend()?,
            CaughtSignal::Resumed => {
                self.retake()?;
                self.output.draw_again(&self.terminal)?;
            }
        }
        Ok(None)
    }

    /// Stops, and goes on when somebody has us: meanwhile the terminal is the shell's.
    fn suspend(&mut self) -> Result<()> {
        self.terminal.release();
        suspend::suspend_self()?;
        self.retake()?;
        Ok(self.output.begin(&self.terminal)?)
    }

    /// Takes the terminal again, which may have another size by now: nobody is told of that while stopped.
    fn retake(&mut self) -> Result<()> {
        self.terminal.retake()?;
        if self.sent_size != self.terminal.size() {
            self.resize(false);
        }
        Ok(())
    }

    /// Passes on what was typed, up to the detach key.
    async fn forward_input(&mut self, typed: &[u8]) -> Option<AttachOutcome> {
        let (typed, leaves) = self.options.detach.scan(typed);
        if self.options.types && !typed.is_empty() {
            let request = self.request();
            self.wire.queue(&ToKeeper::Input(request, typed));
        }
        if !leaves {
            return None;
        }
        let _ = self.wire.flush().await;
        Some(AttachOutcome::Detached)
    }

    /// Asks for the terminal's size.
    fn resize(&mut self, force: bool) {
        let Some(size) = self.terminal.size().filter(|_| self.options.resizes) else { return };
        let id = self.request();
        (self.sent_size, self.resizing) = (Some(size), Some(id));
        self.wire.queue(&ToKeeper::Resize(Resize { id, size, holder: Some(name()), force }));
    }

    fn resized(&mut self, done: &KeeperResponse) {
        if self.resizing == Some(done.id) {
            self.resizing = None;
            self.is_size_held = done.refused == Some(RefusalReason::Held);
            self.holds_size = done.refused.is_none();
        }
    }

    /// The size may be ours now, or no longer.
    fn handle_size_holder(&mut self, held: &SizeHolder) {
        self.is_ack_wanted = true;
        self.holds_size = held.holder.as_deref() == Some(&name());
        match held.holder {
            Some(_) => self.is_size_held = !self.holds_size,
            // Whoever set it by force wants it so. It is ours again when our window changes, or we come back.
            None if held.forced => self.is_size_held = true,
            // We let it go, or never asked; of all who wait the first to ask gets it.
            None if self.is_size_held => self.resize(false),
            None => {}
        }
    }

    /// Whether the sizes of pane and terminal are what they will be: the pane's follows in a moment.
    fn is_settled(&self) -> bool {
        let follows =
            self.options.resizes && !self.is_size_held && self.sent_size != self.terminal.size();
        self.resizing.is_none() && !follows
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

/// What others are told of us.
fn name() -> String {
    format!("attach (process {})", std::process::id())
}

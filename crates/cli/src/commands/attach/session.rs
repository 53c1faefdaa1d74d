//! One visit to a pane: bytes from the tape to the terminal, keys from the terminal to the keeper.

use std::io;

use anyhow::Result;
use paned_keeper::stop;
use paned_model::Size;
use paned_model::frame::{Done, FromKeeper, Held, Refused, RequestId, Resize, ToKeeper};

use super::super::ending::Ended;
use super::super::window::{Asked, Caught, Signals};
use super::detach::Lookout;
use super::show::Show;
use super::terminal::Terminal;
use paned_substrate::native::Wire;
use paned_term::questions::Answers;
use tokio::time::Instant;

/// How much is typed in one go.
const TYPED: usize = 64 << 10;

/// What a visitor wants.
pub(super) struct Wishes {
    /// Whether what is typed goes to the program.
    pub(super) types: bool,
    /// Whether the pane takes the terminal's size.
    pub(super) resizes: bool,
    /// Whether it does even if somebody else holds its size when the visit begins.
    pub(super) takes: bool,
    pub(super) detach: Lookout,
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// By the detach key.
    Detached,
    /// With the program.
    Ended(Ended),
    /// With the keeper, which did not say how the program ended.
    Lost,
    /// By a signal, or because the terminal is gone.
    Asked(Asked),
}

pub(super) struct Session {
    wire: Wire,
    show: Show,
    terminal: Terminal,
    wishes: Wishes,
    /// Whether the keeper waits to hear how far we are.
    is_awaited: bool,
    /// Whether the keeper has gone.
    is_alone: bool,
    requests: RequestId,
    /// The size that we gave the pane last.
    given: Option<Size>,
    /// The request for it, while it is not answered.
    resizing: Option<RequestId>,
    /// Whether somebody else holds the size.
    is_held: bool,
    /// Whether we do.
    holds: bool,
    /// Whether a server is there, which answers what the program asks.
    is_served: bool,
}

enum Event {
    Typed(io::Result<usize>),
    Showed(io::Result<usize>),
    Said(io::Result<FromKeeper>),
    Caught(Caught),
    Deadline,
}

impl Session {
    pub(super) fn new(wire: Wire, show: Show, terminal: Terminal, wishes: Wishes) -> Self {
        let (is_awaited, is_alone, requests) = (true, false, 0);
        let (given, resizing, is_held) = (None, None, false);
        let (holds, is_served) = (false, true);
        Self {
            wire,
            show,
            terminal,
            wishes,
            is_awaited,
            is_alone,
            requests,
            given,
            resizing,
            is_held,
            holds,
            is_served,
        }
    }

    /// Visits until somebody leaves.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) async fn run(mut self, mut signals: Signals, is_served: bool) -> Result<Outcome> {
        self.is_served = is_served;
        self.enter().await?;
        let mut typed = vec![0; TYPED];
        loop {
            if let Some(outcome) = self.catch_up()? {
                return Ok(outcome);
            }
            if let Some(bytes) = self.show.news() {
                self.terminal.expect(bytes);
            }
            let is_shown = self.show.unshown().is_empty();
            let event = tokio::select! {
                read = self.terminal.read(&mut typed) => Event::Typed(read),
                // An arm, not a step: a terminal that takes nothing must not keep us from leaving.
                wrote = self.terminal.write(self.show.unshown()), if !is_shown => {
                    Event::Showed(wrote)
                }
                said = self.wire.hear(), if !self.is_alone => Event::Said(said),
                caught = signals.next() => Event::Caught(caught),
                () = sleep_until(self.show.deadline()) => Event::Deadline,
            };
            let outcome = match event {
                Event::Typed(Ok(read @ 1..)) => self.type_on(&typed[..read]).await,
                Event::Showed(Ok(count)) => self.showed(count),
                Event::Typed(Ok(0) | Err(_)) | Event::Showed(Err(_)) => {
                    Some(Outcome::Asked(Asked::HangUp))
                }
                Event::Said(said) => self.hear(said),
                Event::Caught(caught) => self.obey(caught)?,
                Event::Deadline => {
                    self.show.settle();
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
        self.resize(self.wishes.takes);
        if let Some(asked) = self.resizing {
            let is_it = |said: &FromKeeper| matches!(said, FromKeeper::Done(it) if it.id == asked);
            // A keeper that goes away is noticed in a moment.
            if let Ok(FromKeeper::Done(done)) = self.wire.hear_until(is_it).await {
                self.resized(&done);
            }
            self.resizing = None;
        }
        Ok(self.show.begin(&self.terminal)?)
    }

    /// Puts the next bytes on the way when the last ones were shown; answers how the visit ends when none
    /// are left.
    fn catch_up(&mut self) -> Result<Option<Outcome>> {
        if !self.show.unshown().is_empty() {
            return Ok(None);
        }
        // Before the last look at the bytes, which are all there once the ending is.
        let (ended, is_alone) = (self.show.ended(), self.is_alone);
        if self.is_settled() {
            self.show.fit(&self.terminal)?;
        }
        if self.show.unshown().is_empty() {
            let answers = match !self.is_served && self.holds && self.wishes.types {
                true => Answers::Terminal,
                false => Answers::Elsewhere,
            };
            self.show.refill(&self.terminal, answers)?;
        }
        if !self.show.unshown().is_empty() {
            return Ok(None);
        }
        if std::mem::take(&mut self.is_awaited) {
            self.wire.say(&ToKeeper::Took(self.show.at()));
        }
        Ok(ended.map(Outcome::Ended).or(is_alone.then_some(Outcome::Lost)))
    }

    fn showed(&mut self, count: usize) -> Option<Outcome> {
        self.terminal.showed(&self.show.unshown()[..count]);
        self.show.showed(count);
        None
    }

    fn hear(&mut self, said: io::Result<FromKeeper>) -> Option<Outcome> {
        match said {
            Ok(FromKeeper::Wrote(_) | FromKeeper::Resized(_)) => self.is_awaited = true,
            Ok(FromKeeper::Held(held)) => self.heard_holder(&held),
            Ok(FromKeeper::Done(done)) => {
                self.resized(&done);
                // The program does not read, and as much is typed ahead as there is room for.
                if done.refused == Some(Refused::Full) {
                    self.show.ring();
                }
            }
            // The tape says the same.
            Ok(FromKeeper::Exited(_) | FromKeeper::Welcome(_) | FromKeeper::Stillborn(_)) => {}
            // That is for servers.
            Ok(FromKeeper::Typed(_) | FromKeeper::Pressed(_)) => {}
            Ok(FromKeeper::Served(served)) => self.is_served = served,
            // It is gone: with its work done, or killed. The tape knows which.
            Err(_) => self.is_alone = true,
        }
        None
    }

    fn obey(&mut self, caught: Caught) -> Result<Option<Outcome>> {
        match caught {
            Caught::Asked(asked) => return Ok(Some(Outcome::Asked(asked))),
            Caught::Resized => self.resize(false),
            Caught::Stopped => self.stop()?,
            Caught::Resumed => {
                self.retake()?;
                self.show.draw_again(&self.terminal)?;
            }
        }
        Ok(None)
    }

    /// Stops, and goes on when somebody has us: meanwhile the terminal is the shell's.
    fn stop(&mut self) -> Result<()> {
        self.terminal.lend();
        stop::stop()?;
        self.retake()?;
        Ok(self.show.begin(&self.terminal)?)
    }

    /// Takes the terminal again, which may have another size by now: nobody is told of that while stopped.
    fn retake(&mut self) -> Result<()> {
        self.terminal.retake()?;
        if self.given != self.terminal.size() {
            self.resize(false);
        }
        Ok(())
    }

    /// Passes on what was typed, up to the detach key.
    async fn type_on(&mut self, typed: &[u8]) -> Option<Outcome> {
        let (typed, leaves) = self.wishes.detach.pass(typed);
        if self.wishes.types && !typed.is_empty() {
            let request = self.request();
            self.wire.say(&ToKeeper::Input(request, typed));
        }
        if !leaves {
            return None;
        }
        let _ = self.wire.flush().await;
        Some(Outcome::Detached)
    }

    /// Asks for the terminal's size.
    fn resize(&mut self, force: bool) {
        let Some(size) = self.terminal.size().filter(|_| self.wishes.resizes) else { return };
        let id = self.request();
        (self.given, self.resizing) = (Some(size), Some(id));
        self.wire.say(&ToKeeper::Resize(Resize { id, size, holder: Some(name()), force }));
    }

    fn resized(&mut self, done: &Done) {
        if self.resizing == Some(done.id) {
            self.resizing = None;
            self.is_held = done.refused == Some(Refused::Held);
            self.holds = done.refused.is_none();
        }
    }

    /// The size may be ours now, or no longer.
    fn heard_holder(&mut self, held: &Held) {
        self.is_awaited = true;
        self.holds = held.holder.as_deref() == Some(&name());
        match held.holder {
            Some(_) => self.is_held = !self.holds,
            // Whoever set it by force wants it so. It is ours again when our window changes, or we come back.
            None if held.forced => self.is_held = true,
            // We let it go, or never asked; of all who wait the first to ask gets it.
            None if self.is_held => self.resize(false),
            None => {}
        }
    }

    /// Whether the sizes of pane and terminal are what they will be: the pane's follows in a moment.
    fn is_settled(&self) -> bool {
        let follows = self.wishes.resizes && !self.is_held && self.given != self.terminal.size();
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

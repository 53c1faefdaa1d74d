//! The course of one run: what the program prints is shown, signals are passed on, until it has ended.

use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_keeper::tty_guard::TtyGuard;
use paned_model::{PaneInfo, Time};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::super::exit_status::ProgramExit;
use super::super::follow::{self, OutputFollower};
use super::super::is_unavailable;
use super::super::tty::{self, CaughtSignal, EndSignal, SignalListener};
use super::keeper_follower::{self, KeeperFollower};
use super::writer::{WriterJob, WriterThread};
use crate::client::ApiClient;
use crate::out::is_closed;
use paned_term::queries::{QueryFilter, QueryResponder};
use paned_term::reset::TerminalReset;

/// How often the keeper hears that we are still there while whoever reads our output is slow.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How long a program may take to end by itself once nobody reads what it prints.
const CLOSED_OUTPUT_GRACE: Duration = Duration::from_millis(500);
/// How long a program may take to end after it was hung up.
const HANGUP_GRACE: Duration = Duration::from_secs(2);
/// How long after somebody wanted us to end we go, whatever is left to be printed.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the output comes from.
pub(super) enum RunSource<'a> {
    /// From the keeper and its tape, whole.
    Keeper(KeeperFollower),
    /// From a server elsewhere, which keeps what fits.
    Server(OutputFollower<'a>),
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum RunOutcome {
    /// With its program.
    Ended(Finish),
    /// Nobody took our output, or the program did not end, when we were asked to.
    Signalled(EndSignal),
    /// Whoever read our output has gone, and the program goes on.
    OutputClosed,
}

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finish {
    /// Nothing where nobody knows.
    pub(super) ended: Option<ProgramExit>,
    pub(super) at: Option<Time>,
    /// How many bytes of its output were lost.
    pub(super) missed: u64,
}

/// A program that runs.
pub(super) struct RunSession<'a> {
    pub(super) client: ApiClient,
    pub(super) pane: String,
    pub(super) source: RunSource<'a>,
    pub(super) writer: WriterThread,
    /// Whether a terminal shows the program's bytes.
    pub(super) shows_bytes: bool,
    /// Takes out what is not to be answered by that terminal, unless all is to be shown.
    pub(super) questions: Option<QueryFilter>,
    /// Whether its terminal is as large as ours.
    pub(super) follows_size: bool,
    pub(super) state: RunState,
    /// Puts our terminal back should we die.
    pub(super) guard: Option<TtyGuard>,
}

/// How far it has come.
#[derive(Default)]
pub(super) struct RunState {
    afterwards: TerminalReset,
    missed: u64,
    finish: Option<Finish>,
    /// Who wanted us to end, and when we go at the latest.
    leaving: Option<(EndSignal, Instant)>,
    /// When a program that was hung up is ended.
    kill_at: Option<Instant>,
}

enum RunEvent {
    Piece(RunOutput),
    Printed(Result<()>),
    Signal(CaughtSignal),
    /// What a signal asked for was done, or refused.
    Done(RunRequest, Result<Value>),
    Heartbeat,
    KillNow,
    LeaveTimeout(EndSignal),
}

enum RunOutput {
    Printed(Vec<u8>),
    Missed(u64),
    Ended { ended: Option<ProgramExit>, at: Option<Time> },
}

/// What the server is asked for.
#[derive(Clone, Copy)]
enum RunRequest {
    Kill,
    Other,
}

type PendingRunRequests = JoinSet<(RunRequest, Result<Value>)>;

impl RunSession<'_> {
    /// Runs to the end.
    ///
    /// # Errors
    /// When our output cannot be printed, or nothing can be known of the program any more.
    pub(super) async fn run(mut self, signals: &mut SignalListener) -> Result<RunOutcome> {
        let outcome = self.event_loop(signals).await;
        if self.state.finish.is_none() && self.writer.busy().is_none() {
            // We leave before the program, which has not put our terminal back.
            self.writer.print(WriterJob::Finish(self.reset_sequence()));
            let _ = timeout(CLOSED_OUTPUT_GRACE, self.writer.printed()).await;
        }
        outcome
    }

    async fn event_loop(&mut self, signals: &mut SignalListener) -> Result<RunOutcome> {
        let mut asking = PendingRunRequests::new();
        let mut beat = interval(HEARTBEAT_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_free = self.writer.busy().is_none();
            let (kill_at, leaving) = (self.state.kill_at, self.state.leaving);
            let event = tokio::select! {
                piece = self.source.next(), if is_free => RunEvent::Piece(piece?),
                printed = self.writer.printed(), if !is_free => RunEvent::Printed(printed),
                caught = signals.next() => RunEvent::Signal(caught),
                Some(done) = asking.join_next() => {
                    let (wish, done) = done.context("a signal was lost")?;
                    RunEvent::Done(wish, done)
                }
                _ = beat.tick(), if !is_free => RunEvent::Heartbeat,
                () = wait_until(kill_at) => RunEvent::KillNow,
                asked = leave_timeout(leaving) => RunEvent::LeaveTimeout(asked),
            };
            match event {
                RunEvent::Piece(piece) => self.show(piece),
                RunEvent::Printed(printed) => {
                    if let Some(outcome) = self.printed(printed).await? {
                        return Ok(outcome);
                    }
                }
                RunEvent::Signal(caught) => self.handle_signal(caught, &mut asking).await,
                RunEvent::Done(wish, done) => self.handle_reply(wish, done).await?,
                RunEvent::Heartbeat => self.source.heartbeat(self.writer.busy().unwrap_or(0)).await,
                RunEvent::KillNow => {
                    self.state.kill_at = None;
                    self.kill(&mut asking);
                }
                RunEvent::LeaveTimeout(asked) => return Ok(RunOutcome::Signalled(asked)),
            }
        }
    }

    /// Something was printed, or could not be. Answers how the run ended, if it did.
    async fn printed(&mut self, printed: Result<()>) -> Result<Option<RunOutcome>> {
        let is_unread = match printed {
            Err(error) if is_closed(&error) => true,
            printed => printed.map(|()| false)?,
        };
        if let Some(finish) = self.state.finish {
            return Ok(Some(RunOutcome::Ended(finish)));
        }
        if is_unread {
            return Ok(Some(self.handle_closed_output().await));
        }
        self.source.acknowledge().await;
        Ok(None)
    }

    /// Nobody reads what the program prints. One that has just ended, or is about to, is not to blame for that.
    async fn handle_closed_output(&mut self) -> RunOutcome {
        let missed = self.state.missed;
        let end = async {
            loop {
                match self.source.next().await {
                    Ok(RunOutput::Ended { ended, at }) => {
                        return Some(Finish { ended, at, missed });
                    }
                    Ok(RunOutput::Printed(_) | RunOutput::Missed(_)) => {
                        self.source.acknowledge().await
                    }
                    Err(_) => return None,
                }
            }
        };
        timeout(CLOSED_OUTPUT_GRACE, end)
            .await
            .ok()
            .flatten()
            .map_or(RunOutcome::OutputClosed, RunOutcome::Ended)
    }

    fn show(&mut self, piece: RunOutput) {
        let job = match piece {
            RunOutput::Printed(bytes) => {
                let bytes = match &mut self.questions {
                    Some(questions) => questions.filter(&bytes, QueryResponder::Elsewhere),
                    None => bytes,
                };
                self.state.afterwards.observe(&bytes);
                self.tell_guard();
                WriterJob::Bytes(bytes)
            }
            RunOutput::Missed(bytes) => {
                self.state.missed += bytes;
                // Whatever had begun before the gap does not go on behind it.
                self.questions = self.questions.take().map(|_| QueryFilter::default());
                WriterJob::Missed(bytes)
            }
            RunOutput::Ended { ended, at } => {
                self.state.finish = Some(Finish { ended, at, missed: self.state.missed });
                // A program that was ended has not put our terminal back.
                WriterJob::Finish(self.reset_sequence())
            }
        };
        self.writer.print(job);
    }

    fn tell_guard(&mut self) {
        let undo = self.reset_sequence();
        if let Some(guard) = &mut self.guard {
            guard.set_undo(undo);
        }
    }

    /// What puts our terminal back, if a program has used it.
    fn reset_sequence(&self) -> Vec<u8> {
        let is_left = self.shows_bytes && !self.state.afterwards.is_clean();
        if is_left { self.state.afterwards.bytes() } else { Vec::new() }
    }

    /// Does for the program what a signal asks for; its output goes on meanwhile.
    async fn handle_signal(&mut self, caught: CaughtSignal, asking: &mut PendingRunRequests) {
        let asked = match caught {
            CaughtSignal::End(asked) => asked,
            CaughtSignal::Stopped | CaughtSignal::Resumed => return,
            CaughtSignal::Resized => return self.resize(asking),
        };
        let leaves =
            matches!(asked, EndSignal::Terminate | EndSignal::HangUp | EndSignal::Other(_));
        if leaves && self.state.leaving.is_none() {
            self.state.leaving = Some((asked, Instant::now() + LEAVE_TIMEOUT));
        }
        match (asked, &mut self.source) {
            (
                EndSignal::Interrupt | EndSignal::Quit | EndSignal::User(_),
                RunSource::Keeper(keeper),
            ) => {
                keeper.signal(asked.number()).await;
            }
            (EndSignal::HangUp, RunSource::Keeper(keeper)) => {
                keeper.signal(asked.number()).await;
                self.state.kill_at = Some(Instant::now() + HANGUP_GRACE);
            }
            (EndSignal::Interrupt, RunSource::Server(_)) => self.press_key("ctrl+c", asking),
            (EndSignal::Quit, RunSource::Server(_)) => self.press_key("ctrl+\\", asking),
            // Its server knows no other signals.
            (EndSignal::User(_), RunSource::Server(_)) => {}
            (EndSignal::Terminate | EndSignal::Other(_), _)
            | (EndSignal::HangUp, RunSource::Server(_)) => {
                self.kill(asking);
            }
        }
    }

    fn resize(&self, asking: &mut PendingRunRequests) {
        if let Some(size) = tty::size().filter(|_| self.follows_size) {
            let params = json!({ "paneId": self.pane, "size": size });
            self.ask(RunRequest::Other, "pane:resize", params, asking);
        }
    }

    fn press_key(&self, key: &str, asking: &mut PendingRunRequests) {
        let params = json!({ "paneId": self.pane, "keys": [key] });
        self.ask(RunRequest::Other, "pane:keys", params, asking);
    }

    fn kill(&self, asking: &mut PendingRunRequests) {
        self.ask(RunRequest::Kill, "pane:kill", json!({ "paneId": self.pane }), asking);
    }

    fn ask(
        &self,
        wish: RunRequest,
        action: &'static str,
        params: Value,
        asking: &mut PendingRunRequests,
    ) {
        let client = self.client.clone();
        asking.spawn(async move { (wish, client.action(action, &params).await) });
    }

    /// What the server made of it. Where it is away, the keeper does what must be done.
    async fn handle_reply(&mut self, wish: RunRequest, done: Result<Value>) -> Result<()> {
        match (done, wish, &mut self.source) {
            (Err(error), RunRequest::Kill, RunSource::Keeper(keeper)) if is_unavailable(&error) => {
                keeper.kill().await;
            }
            (Err(error), _, RunSource::Server(_)) if is_unavailable(&error) => return Err(error),
            // Refused where the program has just ended, which we hear by itself.
            (Ok(_) | Err(_), _, _) => {}
        }
        Ok(())
    }
}

impl RunSource<'_> {
    /// What comes next. May be dropped and called again: nothing is lost.
    async fn next(&mut self) -> Result<RunOutput> {
        Ok(match self {
            Self::Keeper(keeper) => match keeper.next().await? {
                keeper_follower::KeeperOutput::Printed(bytes) => RunOutput::Printed(bytes),
                keeper_follower::KeeperOutput::Missed(bytes) => RunOutput::Missed(bytes),
                keeper_follower::KeeperOutput::Ended(ending) => {
                    RunOutput::Ended { ended: Some(ProgramExit::from(ending)), at: Some(ending.at) }
                }
                keeper_follower::KeeperOutput::Lost => RunOutput::Ended { ended: None, at: None },
            },
            Self::Server(follower) => match follower.next().await? {
                follow::FollowedOutput::Printed(bytes) => RunOutput::Printed(bytes),
                follow::FollowedOutput::Missed(bytes) => RunOutput::Missed(bytes),
                follow::FollowedOutput::Ended(pane) => ended(&pane),
            },
        })
    }

    async fn acknowledge(&mut self) {
        match self {
            Self::Keeper(keeper) => keeper.acknowledge().await,
            Self::Server(_) => {}
        }
    }

    async fn heartbeat(&mut self, behind: usize) {
        match self {
            Self::Keeper(keeper) => keeper.heartbeat(behind).await,
            Self::Server(_) => {}
        }
    }
}

fn ended(pane: &PaneInfo) -> RunOutput {
    RunOutput::Ended { ended: ProgramExit::of(pane), at: pane.ended_at }
}

async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn leave_timeout(leaving: Option<(EndSignal, Instant)>) -> EndSignal {
    match leaving {
        Some((asked, at)) => {
            sleep_until(at).await;
            asked
        }
        None => std::future::pending().await,
    }
}

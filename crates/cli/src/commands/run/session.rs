//! One run: shows the program's output and forwards signals, until the program has ended.

use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_keeper::input::tty_guard::TtyGuard;
use paned_model::Time;
use paned_term::queries::{QueryFilter, QueryResponder};
use paned_term::reset::TerminalReset;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::super::is_unavailable;
use super::super::support::exit_status::ProgramExit;
use super::super::support::follow::{FollowedOutput, OutputFollower};
use super::super::support::tty::{self, CaughtSignal, EndSignal, SignalListener};
use super::keeper_follower::KeeperFollower;
use super::writer::{WriterJob, WriterThread};
use crate::client::ApiClient;
use crate::out::is_closed;

/// How often the keeper gets a heartbeat while the reader of our output is slow.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How long a program may take to end by itself once our output is closed.
const CLOSED_OUTPUT_GRACE: Duration = Duration::from_millis(500);
/// How long a program may take to end after SIGHUP.
const HANGUP_GRACE: Duration = Duration::from_secs(2);
/// How long after a signal to end we exit, whatever is left to print.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the output comes from.
pub(super) enum RunSource<'a> {
    /// From the keeper and its tape, complete.
    Keeper(KeeperFollower),
    /// From a server, mostly a remote one: output may be overwritten before we read it.
    Server(OutputFollower<'a>),
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum RunOutcome {
    /// With its program.
    Ended(Finish),
    /// A signal asked us to end, and the program did not end, or its output was not read, in time.
    Signalled(EndSignal),
    /// The reader of our output has closed it, and the program goes on.
    OutputClosed,
}

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finish {
    /// `None` when it is unknown.
    pub(super) ended: Option<ProgramExit>,
    pub(super) at: Option<Time>,
    /// How many bytes of its output were lost.
    pub(super) missed: u64,
}

/// A running program.
pub(super) struct RunSession<'a> {
    pub(super) client: ApiClient,
    pub(super) pane: String,
    pub(super) source: RunSource<'a>,
    pub(super) writer: WriterThread,
    /// Whether a terminal shows the program's bytes.
    pub(super) shows_bytes: bool,
    /// Removes queries that this terminal must not answer, unless every byte is to be shown.
    pub(super) questions: Option<QueryFilter>,
    /// Whether its terminal follows the size of ours.
    pub(super) follows_size: bool,
    pub(super) state: RunState,
    /// Restores our terminal if we die.
    pub(super) guard: Option<TtyGuard>,
}

/// The progress of a run.
#[derive(Default)]
pub(super) struct RunState {
    reset: TerminalReset,
    missed: u64,
    finish: Option<Finish>,
    /// The signal that asked us to end, and when we exit at the latest.
    leaving: Option<(EndSignal, Instant)>,
    /// When a program that got SIGHUP is killed.
    kill_at: Option<Instant>,
}

enum RunEvent {
    Piece(RunOutput),
    Printed(Result<()>),
    Signal(CaughtSignal),
    /// The server's reply to a request that a signal caused.
    Done(RunRequest, Result<Value>),
    Heartbeat,
    KillNow,
    LeaveTimeout(EndSignal),
}

/// The next output of the program.
#[derive(Debug)]
pub(super) enum RunOutput {
    Printed(Vec<u8>),
    /// This many bytes in between are lost.
    Missed(u64),
    /// How and when it ended, where that is known.
    Ended {
        ended: Option<ProgramExit>,
        at: Option<Time>,
    },
}

/// A request to the server.
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
    /// When our output cannot be printed, or the program's output can no longer be read.
    pub(super) async fn run(mut self, signals: &mut SignalListener) -> Result<RunOutcome> {
        let outcome = self.event_loop(signals).await;
        if self.state.finish.is_none() && self.writer.busy().is_none() {
            // We exit before the program, which has not restored our terminal.
            self.writer.print(WriterJob::Finish(self.reset_sequence()));
            let _ = timeout(CLOSED_OUTPUT_GRACE, self.writer.printed()).await;
        }
        outcome
    }

    async fn event_loop(&mut self, signals: &mut SignalListener) -> Result<RunOutcome> {
        let mut requests = PendingRunRequests::new();
        let mut beat = interval(HEARTBEAT_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_free = self.writer.busy().is_none();
            let kill_at = self.state.kill_at;
            let leaving = self.state.leaving;
            let event = tokio::select! {
                piece = self.source.next(), if is_free => RunEvent::Piece(piece?),
                printed = self.writer.printed(), if !is_free => RunEvent::Printed(printed),
                caught = signals.next() => RunEvent::Signal(caught),
                Some(reply) = requests.join_next() => {
                    let (request, reply) = reply.context("a signal was lost")?;
                    RunEvent::Done(request, reply)
                }
                _ = beat.tick(), if !is_free => RunEvent::Heartbeat,
                () = wait_until(kill_at) => RunEvent::KillNow,
                signal = leave_timeout(leaving) => RunEvent::LeaveTimeout(signal),
            };
            match event {
                RunEvent::Piece(piece) => self.show(piece),
                RunEvent::Printed(printed) => {
                    if let Some(outcome) = self.printed(printed).await? {
                        return Ok(outcome);
                    }
                }
                RunEvent::Signal(caught) => self.handle_signal(caught, &mut requests).await,
                RunEvent::Done(request, reply) => self.handle_reply(request, reply).await?,
                RunEvent::Heartbeat => self.source.heartbeat(self.writer.busy().unwrap_or(0)).await,
                RunEvent::KillNow => {
                    self.state.kill_at = None;
                    self.kill(&mut requests);
                }
                RunEvent::LeaveTimeout(signal) => return Ok(RunOutcome::Signalled(signal)),
            }
        }
    }

    /// A job was printed, or failed. Returns the outcome, if the run has ended.
    async fn printed(&mut self, printed: Result<()>) -> Result<Option<RunOutcome>> {
        let is_output_closed = match printed {
            Err(error) if is_closed(&error) => true,
            printed => printed.map(|()| false)?,
        };
        if let Some(finish) = self.state.finish {
            return Ok(Some(RunOutcome::Ended(finish)));
        }
        if is_output_closed {
            return Ok(Some(self.handle_closed_output().await));
        }
        self.source.acknowledge().await;
        Ok(None)
    }

    /// Our output is closed. A program that has just ended, or ends in a moment, still gets its own
    /// exit code.
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
                self.state.reset.observe(&bytes);
                self.tell_guard();
                WriterJob::Bytes(bytes)
            }
            RunOutput::Missed(bytes) => {
                self.state.missed += bytes;
                // A sequence that started before the gap does not continue after it.
                self.questions = self.questions.take().map(|_| QueryFilter::default());
                WriterJob::Missed(bytes)
            }
            RunOutput::Ended { ended, at } => {
                self.state.finish = Some(Finish { ended, at, missed: self.state.missed });
                // A program that was killed has not restored our terminal.
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

    /// The bytes that restore our terminal, if the program has changed it.
    fn reset_sequence(&self) -> Vec<u8> {
        let is_changed = self.shows_bytes && !self.state.reset.is_clean();
        if is_changed { self.state.reset.bytes() } else { Vec::new() }
    }

    /// Forwards a signal to the program; its output continues meanwhile.
    async fn handle_signal(&mut self, caught: CaughtSignal, requests: &mut PendingRunRequests) {
        let signal = match caught {
            CaughtSignal::End(signal) => signal,
            CaughtSignal::Stopped | CaughtSignal::Resumed => return,
            CaughtSignal::Resized => return self.resize(requests),
        };
        let must_exit =
            matches!(signal, EndSignal::Terminate | EndSignal::HangUp | EndSignal::Other(_));
        if must_exit && self.state.leaving.is_none() {
            self.state.leaving = Some((signal, Instant::now() + LEAVE_TIMEOUT));
        }
        match (signal, &mut self.source) {
            (
                EndSignal::Interrupt | EndSignal::Quit | EndSignal::User(_),
                RunSource::Keeper(keeper),
            ) => {
                keeper.signal(signal.number()).await;
            }
            (EndSignal::HangUp, RunSource::Keeper(keeper)) => {
                keeper.signal(signal.number()).await;
                self.state.kill_at = Some(Instant::now() + HANGUP_GRACE);
            }
            (EndSignal::Interrupt, RunSource::Server(_)) => self.press_key("ctrl+c", requests),
            (EndSignal::Quit, RunSource::Server(_)) => self.press_key("ctrl+\\", requests),
            // A server has no action for other signals.
            (EndSignal::User(_), RunSource::Server(_)) => {}
            (EndSignal::Terminate | EndSignal::Other(_), _)
            | (EndSignal::HangUp, RunSource::Server(_)) => {
                self.kill(requests);
            }
        }
    }

    fn resize(&self, requests: &mut PendingRunRequests) {
        if let Some(size) = tty::size().filter(|_| self.follows_size) {
            let params = json!({ "paneId": self.pane, "size": size });
            self.ask(RunRequest::Other, "pane:resize", params, requests);
        }
    }

    fn press_key(&self, key: &str, requests: &mut PendingRunRequests) {
        let params = json!({ "paneId": self.pane, "keys": [key] });
        self.ask(RunRequest::Other, "pane:keys", params, requests);
    }

    fn kill(&self, requests: &mut PendingRunRequests) {
        self.ask(RunRequest::Kill, "pane:kill", json!({ "paneId": self.pane }), requests);
    }

    fn ask(
        &self,
        request: RunRequest,
        action: &'static str,
        params: Value,
        requests: &mut PendingRunRequests,
    ) {
        let client = self.client.clone();
        requests.spawn(async move { (request, client.action(action, &params).await) });
    }

    /// Handles the reply to a request. If the server is down, the keeper kills the program instead.
    async fn handle_reply(&mut self, request: RunRequest, reply: Result<Value>) -> Result<()> {
        match (reply, request, &mut self.source) {
            (Err(error), RunRequest::Kill, RunSource::Keeper(keeper)) if is_unavailable(&error) => {
                keeper.kill().await;
            }
            (Err(error), _, RunSource::Server(_)) if is_unavailable(&error) => return Err(error),
            // A refusal means that the program has just ended, which the source reports.
            (Ok(_) | Err(_), _, _) => {}
        }
        Ok(())
    }
}

impl RunSource<'_> {
    /// Waits for the next output. Cancel-safe: nothing is lost.
    async fn next(&mut self) -> Result<RunOutput> {
        match self {
            Self::Keeper(keeper) => Ok(keeper.next().await?),
            Self::Server(follower) => Ok(match follower.next().await? {
                FollowedOutput::Printed(printed) => RunOutput::Printed(printed.bytes),
                FollowedOutput::Missed(bytes) => RunOutput::Missed(bytes),
                FollowedOutput::Ended(pane) => {
                    RunOutput::Ended { ended: ProgramExit::of(&pane), at: pane.ended_at }
                }
            }),
        }
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

async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn leave_timeout(leaving: Option<(EndSignal, Instant)>) -> EndSignal {
    match leaving {
        Some((signal, at)) => {
            sleep_until(at).await;
            signal
        }
        None => std::future::pending().await,
    }
}

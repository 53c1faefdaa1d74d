//! The course of one run: what the program prints is shown, signals are passed on, until it has ended.

use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_keeper::guard::Guard;
use paned_model::{PaneInfo, Time};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::super::ending::Ended;
use super::super::follow::{self, Follower};
use super::super::is_unavailable;
use super::super::window::{self, Asked, Caught, Signals};
use super::direct::{self, Direct};
use super::press::{Job, Press};
use crate::client::Client;
use crate::out::is_closed;
use paned_term::afterwards::Afterwards;
use paned_term::questions::{Answers, Questions};

/// How often the keeper hears that we are still there while whoever reads our output is slow.
const BEAT: Duration = Duration::from_secs(1);
/// How long a program may take to end by itself once nobody reads what it prints.
const UNREAD: Duration = Duration::from_millis(500);
/// How long a program may take to end after it was hung up.
const HUNG_UP: Duration = Duration::from_secs(2);
/// How long after somebody wanted us to end we go, whatever is left to be printed.
const LEAVE: Duration = Duration::from_secs(10);

/// Where the output comes from.
pub(super) enum Source<'a> {
    /// From the keeper and its tape, whole.
    Keeper(Direct),
    /// From a server elsewhere, which keeps what fits.
    Server(Follower<'a>),
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// With its program.
    Ended(Finish),
    /// Nobody took our output, or the program did not end, when we were asked to.
    Left(Asked),
    /// Whoever read our output has gone, and the program goes on.
    Unread,
}

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finish {
    /// Nothing where nobody knows.
    pub(super) ended: Option<Ended>,
    pub(super) at: Option<Time>,
    /// How many bytes of its output were lost.
    pub(super) missed: u64,
}

/// A program that runs.
pub(super) struct Course<'a> {
    pub(super) client: Client,
    pub(super) pane: String,
    pub(super) source: Source<'a>,
    pub(super) press: Press,
    /// Whether a terminal shows the program's bytes.
    pub(super) shows_bytes: bool,
    /// Takes out what is not to be answered by that terminal, unless all is to be shown.
    pub(super) questions: Option<Questions>,
    /// Whether its terminal is as large as ours.
    pub(super) follows_size: bool,
    pub(super) state: State,
    /// Puts our terminal back should we die.
    pub(super) guard: Option<Guard>,
}

/// How far it has come.
#[derive(Default)]
pub(super) struct State {
    afterwards: Afterwards,
    missed: u64,
    finish: Option<Finish>,
    /// Who wanted us to end, and when we go at the latest.
    leaving: Option<(Asked, Instant)>,
    /// When a program that was hung up is ended.
    kill_at: Option<Instant>,
}

enum Event {
    Piece(Piece),
    Printed(Result<()>),
    Caught(Caught),
    /// What a signal asked for was done, or refused.
    Done(Wish, Result<Value>),
    Beat,
    KillNow,
    Late(Asked),
}

enum Piece {
    Printed(Vec<u8>),
    Missed(u64),
    Ended { ended: Option<Ended>, at: Option<Time> },
}

/// What the server is asked for.
#[derive(Clone, Copy)]
enum Wish {
    Kill,
    Other,
}

type Asking = JoinSet<(Wish, Result<Value>)>;

impl Course<'_> {
    /// Runs to the end.
    ///
    /// # Errors
    /// When our output cannot be printed, or nothing can be known of the program any more.
    pub(super) async fn run(mut self, signals: &mut Signals) -> Result<Outcome> {
        let outcome = self.go_on(signals).await;
        if self.state.finish.is_none() && self.press.busy().is_none() {
            // We leave before the program, which has not put our terminal back.
            self.press.print(Job::Finish(self.undo()));
            let _ = timeout(UNREAD, self.press.printed()).await;
        }
        outcome
    }

    async fn go_on(&mut self, signals: &mut Signals) -> Result<Outcome> {
        let mut asking = Asking::new();
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_free = self.press.busy().is_none();
            let (kill_at, leaving) = (self.state.kill_at, self.state.leaving);
            let event = tokio::select! {
                piece = self.source.next(), if is_free => Event::Piece(piece?),
                printed = self.press.printed(), if !is_free => Event::Printed(printed),
                caught = signals.next() => Event::Caught(caught),
                Some(done) = asking.join_next() => {
                    let (wish, done) = done.context("a signal was lost")?;
                    Event::Done(wish, done)
                }
                _ = beat.tick(), if !is_free => Event::Beat,
                () = until(kill_at) => Event::KillNow,
                asked = late(leaving) => Event::Late(asked),
            };
            match event {
                Event::Piece(piece) => self.show(piece),
                Event::Printed(printed) => {
                    if let Some(outcome) = self.printed(printed).await? {
                        return Ok(outcome);
                    }
                }
                Event::Caught(caught) => self.pass_on(caught, &mut asking).await,
                Event::Done(wish, done) => self.heard(wish, done).await?,
                Event::Beat => self.source.is_here(self.press.busy().unwrap_or(0)).await,
                Event::KillNow => {
                    self.state.kill_at = None;
                    self.kill(&mut asking);
                }
                Event::Late(asked) => return Ok(Outcome::Left(asked)),
            }
        }
    }

    /// Something was printed, or could not be. Answers how the run ended, if it did.
    async fn printed(&mut self, printed: Result<()>) -> Result<Option<Outcome>> {
        let is_unread = match printed {
            Err(error) if is_closed(&error) => true,
            printed => printed.map(|()| false)?,
        };
        if let Some(finish) = self.state.finish {
            return Ok(Some(Outcome::Ended(finish)));
        }
        if is_unread {
            return Ok(Some(self.unread().await));
        }
        self.source.took().await;
        Ok(None)
    }

    /// Nobody reads what the program prints. One that has just ended, or is about to, is not to blame for that.
    async fn unread(&mut self) -> Outcome {
        let missed = self.state.missed;
        let end = async {
            loop {
                match self.source.next().await {
                    Ok(Piece::Ended { ended, at }) => return Some(Finish { ended, at, missed }),
                    Ok(Piece::Printed(_) | Piece::Missed(_)) => self.source.took().await,
                    Err(_) => return None,
                }
            }
        };
        timeout(UNREAD, end).await.ok().flatten().map_or(Outcome::Unread, Outcome::Ended)
    }

    fn show(&mut self, piece: Piece) {
        let job = match piece {
            Piece::Printed(bytes) => {
                let bytes = match &mut self.questions {
                    Some(questions) => questions.take_out(&bytes, Answers::Elsewhere),
                    None => bytes,
                };
                self.state.afterwards.saw(&bytes);
                self.tell_guard();
                Job::Bytes(bytes)
            }
            Piece::Missed(bytes) => {
                self.state.missed += bytes;
                // Whatever had begun before the gap does not go on behind it.
                self.questions = self.questions.take().map(|_| Questions::default());
                Job::Missed(bytes)
            }
            Piece::Ended { ended, at } => {
                self.state.finish = Some(Finish { ended, at, missed: self.state.missed });
                // A program that was ended has not put our terminal back.
                Job::Finish(self.undo())
            }
        };
        self.press.print(job);
    }

    fn tell_guard(&mut self) {
        let undo = self.undo();
        if let Some(guard) = &mut self.guard {
            guard.tell(undo);
        }
    }

    /// What puts our terminal back, if a program has used it.
    fn undo(&self) -> Vec<u8> {
        let is_left = self.shows_bytes && !self.state.afterwards.is_plain();
        if is_left { self.state.afterwards.bytes() } else { Vec::new() }
    }

    /// Does for the program what a signal asks for; its output goes on meanwhile.
    async fn pass_on(&mut self, caught: Caught, asking: &mut Asking) {
        let asked = match caught {
            Caught::Asked(asked) => asked,
            Caught::Stopped | Caught::Resumed => return,
            Caught::Resized => return self.resize(asking),
        };
        let leaves = matches!(asked, Asked::Terminate | Asked::HangUp | Asked::Other(_));
        if leaves && self.state.leaving.is_none() {
            self.state.leaving = Some((asked, Instant::now() + LEAVE));
        }
        match (asked, &mut self.source) {
            (Asked::Interrupt | Asked::Quit | Asked::User(_), Source::Keeper(keeper)) => {
                keeper.signal(asked.number()).await;
            }
            (Asked::HangUp, Source::Keeper(keeper)) => {
                keeper.signal(asked.number()).await;
                self.state.kill_at = Some(Instant::now() + HUNG_UP);
            }
            (Asked::Interrupt, Source::Server(_)) => self.press_key("ctrl+c", asking),
            (Asked::Quit, Source::Server(_)) => self.press_key("ctrl+\\", asking),
            // Its server knows no other signals.
            (Asked::User(_), Source::Server(_)) => {}
            (Asked::Terminate | Asked::Other(_), _) | (Asked::HangUp, Source::Server(_)) => {
                self.kill(asking);
            }
        }
    }

    fn resize(&self, asking: &mut Asking) {
        if let Some(size) = window::size().filter(|_| self.follows_size) {
            let params = json!({ "paneId": self.pane, "size": size });
            self.ask(Wish::Other, "pane:resize", params, asking);
        }
    }

    fn press_key(&self, key: &str, asking: &mut Asking) {
        let params = json!({ "paneId": self.pane, "keys": [key] });
        self.ask(Wish::Other, "pane:keys", params, asking);
    }

    fn kill(&self, asking: &mut Asking) {
        self.ask(Wish::Kill, "pane:kill", json!({ "paneId": self.pane }), asking);
    }

    fn ask(&self, wish: Wish, action: &'static str, params: Value, asking: &mut Asking) {
        let client = self.client.clone();
        asking.spawn(async move { (wish, client.action(action, &params).await) });
    }

    /// What the server made of it. Where it is away, the keeper does what must be done.
    async fn heard(&mut self, wish: Wish, done: Result<Value>) -> Result<()> {
        match (done, wish, &mut self.source) {
            (Err(error), Wish::Kill, Source::Keeper(keeper)) if is_unavailable(&error) => {
                keeper.kill().await;
            }
            (Err(error), _, Source::Server(_)) if is_unavailable(&error) => return Err(error),
            // Refused where the program has just ended, which we hear by itself.
            (Ok(_) | Err(_), _, _) => {}
        }
        Ok(())
    }
}

impl Source<'_> {
    /// What comes next. May be dropped and called again: nothing is lost.
    async fn next(&mut self) -> Result<Piece> {
        Ok(match self {
            Self::Keeper(keeper) => match keeper.next().await? {
                direct::Piece::Printed(bytes) => Piece::Printed(bytes),
                direct::Piece::Missed(bytes) => Piece::Missed(bytes),
                direct::Piece::Ended(ending) => {
                    Piece::Ended { ended: Some(Ended::from(ending)), at: Some(ending.at) }
                }
                direct::Piece::Lost => Piece::Ended { ended: None, at: None },
            },
            Self::Server(follower) => match follower.next().await? {
                follow::Piece::Printed(bytes) => Piece::Printed(bytes),
                follow::Piece::Missed(bytes) => Piece::Missed(bytes),
                follow::Piece::Ended(pane) => ended(&pane),
            },
        })
    }

    async fn took(&mut self) {
        match self {
            Self::Keeper(keeper) => keeper.took().await,
            Self::Server(_) => {}
        }
    }

    async fn is_here(&mut self, behind: usize) {
        match self {
            Self::Keeper(keeper) => keeper.is_here(behind).await,
            Self::Server(_) => {}
        }
    }
}

fn ended(pane: &PaneInfo) -> Piece {
    Piece::Ended { ended: Ended::of(pane), at: pane.ended_at }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn late(leaving: Option<(Asked, Instant)>) -> Asked {
    match leaving {
        Some((asked, at)) => {
            sleep_until(at).await;
            asked
        }
        None => std::future::pending().await,
    }
}

//! The task that owns the connection to one tmux server. It does one thing after the other, so that what was asked
//! still holds when it is acted on.

use std::collections::BTreeMap;
use std::time::Duration;

use paned_model::{PaneId, Refusal, ViewState};
use paned_policy::layout::Queue;
use paned_substrate::tmux::{self, Client, Fact, Facts, Place};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::back::Before;
use super::look::Seen;
use super::session::Kept;
use super::{Ask, Showing};
use crate::Kernel;

/// How soon sessions come back after their tmux server died, and how much longer each time it dies again.
const SOON: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(30);
/// How long a tmux server of our own that was started for something is kept while that does not come.
const IDLE: Duration = Duration::from_secs(2);

pub(super) struct Task {
    pub(super) kernel: Kernel,
    pub(super) place: Place,
    line: Option<Line>,
    /// Sessions that were started and not stopped.
    pub(super) kept: BTreeMap<String, Kept>,
    pub(super) seen: Seen,
    pub(super) queue: Queue,
    /// What those in the queue wish, by pane.
    pub(super) waiting: BTreeMap<PaneId, Showing>,
    /// What was here before our server was started, until we have looked.
    pub(super) before: Vec<Before>,
    restore_at: Option<Instant>,
    look_at: Option<Instant>,
    /// When our tmux server ends for want of anything to show, or this task does at a server that is not ours.
    idle_at: Option<Instant>,
    is_over: bool,
    pause: Duration,
}

struct Line {
    client: Client,
    facts: Facts,
}

enum Event {
    Asked(Option<Ask>),
    Fact(Option<Fact>),
    Late,
}

impl Task {
    pub(super) fn new(kernel: Kernel, place: Place, kept: BTreeMap<String, Kept>) -> Self {
        let stage = kernel.setup().stage.as_ref();
        let queue = stage.map(|stage| Queue::new(stage.waiting, stage.patience));
        let mut task = Self {
            queue: queue.unwrap_or_default(),
            kernel,
            place,
            line: None,
            kept,
            seen: Seen::default(),
            waiting: BTreeMap::new(),
            before: Vec::new(),
            restore_at: None,
            look_at: None,
            idle_at: None,
            is_over: false,
            pause: SOON,
        };
        task.before = task.remembered();
        task
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Ask>) {
        if !self.kept.is_empty() || !self.before.is_empty() {
            self.reconnect().await;
            self.rest();
        }
        loop {
            if self.is_over {
                // What is in the inbox is still done; later requests get a new task.
                inbox.close();
            }
            let deadline = self.deadline();
            let event = tokio::select! {
                asked = inbox.recv() => Event::Asked(asked),
                fact = next(&mut self.line) => Event::Fact(fact),
                () = until(deadline) => Event::Late,
            };
            match event {
                Event::Asked(Some(ask)) => self.obey(ask).await,
                Event::Asked(None) => return,
                Event::Fact(Some(fact)) => self.hear(fact).await,
                Event::Fact(None) => self.line = None,
                Event::Late => {
                    self.late().await;
                    continue;
                }
            }
            self.rest();
        }
    }

    /// Something was done; if that leaves our tmux server without anything to show, its time is short. At a server that
    /// is not ours it is looked after a while whether anything of us is shown there.
    fn rest(&mut self) {
        if !self.place.is_own() {
            self.idle_at.get_or_insert(Instant::now() + IDLE);
            return;
        }
        let is_idle = self.place.is_own() && self.kept.is_empty() && self.line.is_some();
        self.idle_at = is_idle.then(|| Instant::now() + IDLE);
    }

    /// The connection, made when it is first needed.
    pub(super) async fn client(&mut self) -> Result<Client, Refusal> {
        if let Some(line) = &self.line {
            return Ok(line.client.clone());
        }
        let (client, facts) = tmux::connect(self.place.clone()).await?;
        self.line = Some(Line { client: client.clone(), facts });
        Ok(client)
    }

    /// We have nothing more to say; the next one who needs tmux connects anew.
    pub(super) fn hang_up(&mut self) {
        self.line = None;
        self.seen = Seen::default();
    }

    /// The connection, if it is there.
    pub(super) fn client_now(&self) -> Result<Client, Refusal> {
        let line = self.line.as_ref().ok_or_else(|| Refusal::internal("no connection to tmux"))?;
        Ok(line.client.clone())
    }

    async fn obey(&mut self, ask: Ask) {
        match ask {
            Ask::Ready(answer) => {
                let ready = self.client().await.map(drop);
                let _ = answer.send(ready);
            }
            Ask::Show(showing, answer) => {
                let placed = self.show(&showing).await;
                if placed.is_err() {
                    self.set_state(&showing.pane, ViewState::Hidden);
                }
                let _ = answer.send(placed);
            }
            Ask::Plan(spot, panes, replace_ok, answer) => {
                let _ = answer.send(self.plan(&spot, &panes, replace_ok).await);
            }
            Ask::Shoot(spot, answer) => drop(answer.send(self.shoot(&spot).await)),
            Ask::Arrange(spot, saved, answer) => {
                let _ = answer.send(self.arrange(&spot, &saved).await);
            }
            Ask::Sessions(answer) => drop(answer.send(self.sessions().await)),
            Ask::Stop(request, answer) => drop(answer.send(self.stop(&request).await)),
            Ask::Activate(pane, answer) => drop(answer.send(self.activate(&pane).await)),
            Ask::Hide(pane, answer) => drop(answer.send(self.hide(&pane).await)),
            Ask::Stirred(pane) => self.stirred(&pane).await,
        }
    }

    async fn hear(&mut self, fact: Fact) {
        match fact {
            Fact::Connected(server) => self.met(server.pid).await,
            Fact::Notice(_) | Fact::Changed | Fact::Resync => {
                // One look is as good as many.
                if !self.is_more_coming() {
                    self.look().await;
                }
            }
            Fact::ClientLost(why) => tracing::warn!(%why, "lost sight of tmux"),
            Fact::ServerGone(why) => {
                tracing::warn!(%why, "the tmux server is gone; programs live on");
                self.dark();
                if self.kept.is_empty() && self.place.is_own() {
                    // Any question would start it again, for nothing.
                    self.hang_up();
                } else if !self.kept.is_empty() {
                    self.restore_at = Some(Instant::now() + self.pause);
                    self.pause = (self.pause * 2).min(LATEST);
                }
            }
        }
    }

    fn is_more_coming(&self) -> bool {
        self.line.as_ref().is_some_and(|line| !line.facts.is_empty())
    }

    /// Whatever has its time.
    async fn late(&mut self) {
        for entry in self.queue.expire(self.kernel.now()) {
            let waited = entry.age(self.kernel.now()).as_secs();
            let reason = format!("it waited for {waited} seconds: {}", entry.reason);
            self.gave_up(&entry.request.pane, &reason);
        }
        if self.look_at.is_some_and(|at| at <= Instant::now()) {
            self.look_at = None;
            self.look().await;
            self.close_ended().await;
        }
        if self.restore_at.is_some_and(|at| at <= Instant::now()) {
            self.restore_at = None;
            self.reconnect().await;
        }
        if self.idle_at.is_some_and(|at| at <= Instant::now()) {
            self.idle_at = None;
            if !self.place.is_own() {
                self.is_over = self.remembered().is_empty() && self.waiting.is_empty();
                return;
            }
            if let Ok(client) = self.client_now() {
                self.leave_nothing(&client).await;
            }
        }
    }

    /// Asking wakes a server of our own; what follows is told as a fact.
    async fn reconnect(&mut self) {
        let asked = match self.client().await {
            Ok(client) => client.sessions().await.map(drop).map_err(Refusal::from),
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = asked {
            tracing::warn!(%refusal, "cannot bring sessions back yet");
            self.dark();
            if !self.place.is_own() {
                return;
            }
            self.restore_at = Some(Instant::now() + self.pause);
            self.pause = (self.pause * 2).min(LATEST);
        }
    }

    /// Looks again in a moment: tmux does not tell of everything on servers that are not ours.
    pub(super) fn look_soon(&mut self) {
        self.look_at.get_or_insert(Instant::now() + SOON);
    }

    /// All is well again.
    pub(super) fn calm(&mut self) {
        self.pause = SOON;
    }

    fn deadline(&self) -> Option<Instant> {
        let now = self.kernel.now();
        let expires = self.queue.next_deadline().map(|at| {
            // A millisecond more, so that it has passed when we look.
            Instant::now() + Duration::from_millis(at.since(now) + 1)
        });
        let deadlines = [expires, self.restore_at, self.look_at, self.idle_at];
        deadlines.into_iter().flatten().min()
    }
}

async fn next(line: &mut Option<Line>) -> Option<Fact> {
    match line {
        Some(line) => line.facts.recv().await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

//! One socket. Its task owns it: `select!` picks, `match` handles.

use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::Error;
use axum::extract::ws::Message;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use paned_kernel::journal::{Batch, Entry};
use paned_kernel::{Feed, Printed};
use paned_model::{Offset, PaneId};
use serde::Deserialize;
use tokio::task::unconstrained;
use tokio::time::timeout;

use super::ask::{Ask, Reply};
use super::say::{Say, wrong};
use super::subscriptions::{Subscriptions, Told};
use crate::doors::opencode_pty::NAME;
use crate::doors::opencode_pty::info::Info;
use crate::doors::opencode_pty::sessions::Sessions;
use crate::doors::opencode_pty::sockets::{Mark, Registered};
use crate::ws::farewell::{Farewell, Over, over};
use crate::ws::wire::{Heard, Wire};

/// What every socket hears of: sessions that begin, end and are forgotten.
const TOLD: &str = "pane:created,pane:exited,pane:lost,pane:removed";
/// The most events pulled at once.
const BATCH: usize = 64;
/// How much may be asked before some of it is done.
const MAX_JOBS: usize = 64;
/// How long what is left may take when the client is gone.
const WIND_UP: Duration = Duration::from_secs(5);

/// A socket while it lives.
pub(super) struct Session {
    sessions: Sessions,
    wire: Wire,
    heard: Heard,
    subscriptions: Subscriptions,
    /// What is under way, in the order in which it was asked: typed text must not overtake itself.
    jobs: VecDeque<BoxFuture<'static, Reply>>,
    feed: Option<Feed>,
    /// Sessions of which something was or may have been told: when one is forgotten, that is told too.
    known: BTreeSet<PaneId>,
    /// Sessions started here, whose beginning is told before anything else of them.
    own: BTreeSet<PaneId>,
    /// Sessions whose end is told when everything they printed was.
    ending: BTreeSet<PaneId>,
    registered: Registered,
    /// Those who wait until what was said so far is sent.
    marks: Vec<Mark>,
    over: Over,
}

enum Event {
    Over(Farewell),
    Done(Reply),
    Heard(Option<Result<Message, Error>>),
    Told(Told),
    Facts(Batch),
    Marked(Option<Mark>),
    Flushed(Result<(), Error>),
}

type Flow = ControlFlow<Farewell>;

impl Session {
    pub(super) fn new(sessions: Sessions, wire: Wire, heard: Heard) -> Self {
        let over = over(sessions.shared.clone(), sessions.caller.clone());
        let told = TOLD.parse().unwrap_or_default();
        // Whoever may not read hears nothing unasked.
        let feed = sessions.shared.kernel.events(None, told, &sessions.caller).ok();
        let registered = sessions.shared.opencode_pty.register();
        let (subscriptions, jobs, known, own, ending, marks) = Default::default();
        Self {
            sessions,
            wire,
            heard,
            subscriptions,
            jobs,
            feed,
            known,
            own,
            ending,
            registered,
            marks,
            over,
        }
    }

    /// Talks until either side has enough.
    pub(super) async fn run(mut self) {
        let shared = self.sessions.shared.clone();
        let _counted = shared.metrics.socket();
        let _slot = match shared.kernel.stream(&self.sessions.caller) {
            Ok(slot) => slot,
            Err(refusal) => {
                return Farewell::Refused(None, refusal).say(self.wire, self.heard).await;
            }
        };
        let known = self.sessions.list().await.unwrap_or_default();
        self.known.extend(known.iter().filter_map(|session| session.id().parse().ok()));
        let farewell = loop {
            if !self.wire.is_dirty() && self.ending.is_empty() {
                self.marks.clear();
            }
            let event = self.next().await;
            match self.handle(event) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(farewell) => break farewell,
            }
        };
        match farewell {
            // What they asked for is done though they are gone.
            Farewell::Left | Farewell::Broken(_) => {
                tokio::join!(farewell.say(self.wire, self.heard), wind_up(self.jobs));
            }
            Farewell::Refused(..) | Farewell::ShutOut | Farewell::Stopping => {
                farewell.say(self.wire, self.heard).await;
            }
        }
    }

    async fn next(&mut self) -> Event {
        let may_ask = !self.wire.is_stuffed() && self.jobs.len() < MAX_JOBS;
        let may_pull = !self.wire.is_full();
        tokio::select! {
            biased;
            farewell = &mut self.over => Event::Over(farewell),
            mark = self.registered.next() => Event::Marked(mark),
            reply = first(&mut self.jobs) => Event::Done(reply),
            heard = self.heard.next(), if may_ask => Event::Heard(heard),
            batch = facts(&mut self.feed), if may_pull => Event::Facts(batch),
            told = self.subscriptions.next(), if may_pull => Event::Told(told),
            flushed = self.wire.flush(), if self.wire.is_dirty() => Event::Flushed(flushed),
        }
    }

    fn handle(&mut self, event: Event) -> Flow {
        match event {
            Event::Over(farewell) => return Flow::Break(farewell),
            Event::Done(reply) => {
                self.jobs.pop_front();
                self.tell(reply);
            }
            Event::Heard(Some(Ok(message))) => return self.hear(&message),
            Event::Heard(Some(Err(error))) | Event::Flushed(Err(error)) => {
                return Flow::Break(Farewell::Broken(error));
            }
            Event::Heard(None) => return Flow::Break(Farewell::Left),
            Event::Told(told) => self.pass_on(told),
            Event::Facts(batch) => self.learn(batch),
            Event::Marked(mark) => self.catch_up(mark),
            Event::Flushed(Ok(())) => {}
        }
        Flow::Continue(())
    }

    fn hear(&mut self, message: &Message) -> Flow {
        let most = self.sessions.shared.limits.body_bytes;
        let ask = match message {
            Message::Text(text) if text.len() <= most => Ask::read(text),
            Message::Text(_) => Ask::Wrong(format!("a message may have at most {most} bytes")),
            Message::Binary(_) => Ask::Wrong("Binary messages are not supported".to_owned()),
            // The socket answers a ping by itself.
            Message::Ping(_) | Message::Pong(_) => return Flow::Continue(()),
            Message::Close(_) => return Flow::Break(Farewell::Left),
        };
        if let Ask::Spawn { id, .. } = &ask {
            self.own.insert(id.clone());
        }
        self.jobs.push_back(Box::pin(ask.run(self.sessions.clone())));
        Flow::Continue(())
    }

    fn tell(&mut self, reply: Reply) {
        match reply {
            Reply::Nothing => {}
            Reply::Say(message) => self.wire.say(message),
            Reply::Subscribe(pane, reader) => self.subscribe(pane, reader),
            Reply::Unsubscribe(id) => {
                self.subscriptions.close(&id);
                self.say(&Say::Unsubscribed { session_id: &id });
                if let Ok(pane) = id.parse() {
                    self.conclude(&pane);
                }
            }
            Reply::Spawned(pane, reader) => {
                self.show(&pane);
                if let Some(reader) = reader {
                    self.subscribe(pane, reader);
                }
            }
            Reply::NotSpawned(id, sentence) => {
                self.own.remove(&id);
                self.wire.say(wrong(&sentence));
            }
        }
    }

    fn subscribe(&mut self, pane: PaneId, reader: Printed) {
        self.say(&Say::Subscribed { session_id: pane.as_str() });
        self.subscriptions.open(pane, reader);
    }

    fn pass_on(&mut self, told: Told) {
        match told {
            Told::Printed(session, text) => {
                self.say(&Say::RawData { session: &session, raw_data: &text });
            }
            Told::Lost(pane, bytes) => self.wire.say(wrong(&format!(
                "Session {pane}: {bytes} bytes of output were lost, as it printed faster than this socket was read"
            ))),
            Told::Ended(pane, last) => {
                if let Some((session, text)) = last {
                    self.say(&Say::RawData { session: &session, raw_data: &text });
                }
                self.conclude(&pane);
            }
            Told::Failed(pane, refusal) => {
                self.wire.say(wrong(&format!("Session {pane}: {}", refusal.sentence)));
                self.conclude(&pane);
            }
        }
    }

    /// Tells of a session's end, if that waited for the last of its output.
    fn conclude(&mut self, pane: &PaneId) {
        if self.ending.remove(pane) {
            self.show(pane);
        }
    }

    /// Tells everything that has happened, for somebody who waits for that. Whoever does not keep up is not waited for.
    fn catch_up(&mut self, mark: Option<Mark>) {
        if self.wire.is_full() {
            return;
        }
        while let Some(batch) = unconstrained(facts(&mut self.feed)).now_or_never() {
            self.learn(batch);
        }
        self.marks.extend(mark);
    }

    fn learn(&mut self, batch: Batch) {
        match batch {
            Batch::Entries(entries) => entries.iter().for_each(|entry| self.update(entry)),
            Batch::Gap { .. } => {}
            // The server stops, and the socket will hear of it.
            Batch::Closed => self.feed = None,
        }
    }

    /// Tells of a session that began or ended; nothing of one that is forgotten already.
    fn update(&mut self, entry: &Arc<Entry>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct About {
            pane_id: PaneId,
        }
        let Ok(About { pane_id }) = serde_json::from_str(&entry.payload) else { return };
        match entry.name.as_str() {
            "pane:created" if self.own.remove(&pane_id) => {}
            "pane:exited" | "pane:lost" if self.subscriptions.is_open(&pane_id) => {
                self.ending.insert(pane_id);
            }
            "pane:removed" if self.known.remove(&pane_id) => {
                self.ending.remove(&pane_id);
                self.say(&Say::SessionRemoved { session_id: pane_id.as_str() });
            }
            "pane:removed" => {}
            _ => self.show(&pane_id),
        }
    }

    /// Tells how a session is now, so that nothing late can take back what was told before.
    fn show(&mut self, pane: &PaneId) {
        let Sessions { shared, caller } = &self.sessions;
        let Ok(reader) = shared.kernel.output(pane, Offset(0), caller) else { return };
        let info = reader.info();
        if info.tags.iter().any(|tag| tag == NAME) {
            self.known.insert(pane.clone());
            let session = Info::new(info, reader.is_inside_line());
            self.say(&Say::SessionUpdate { session: &session });
        }
    }

    fn say(&mut self, say: &Say<'_>) {
        self.wire.say(say.frame());
    }
}

/// Does what is left to do, though nobody wants to hear of it.
async fn wind_up(jobs: VecDeque<BoxFuture<'static, Reply>>) {
    let rest = async {
        for job in jobs {
            job.await;
        }
    };
    if timeout(WIND_UP, rest).await.is_err() {
        tracing::warn!("what a socket asked for last was not done in time");
    }
}

/// The first job's reply. Dropping the future loses nothing.
async fn first(jobs: &mut VecDeque<BoxFuture<'static, Reply>>) -> Reply {
    match jobs.front_mut() {
        Some(job) => job.await,
        None => pending().await,
    }
}

/// The next events, if any are followed. Dropping the future loses nothing.
async fn facts(feed: &mut Option<Feed>) -> Batch {
    match feed {
        Some(feed) => feed.next(BATCH).await,
        None => pending().await,
    }
}

//! One socket. Its task owns it: `select!` picks, `match` handles.

use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::Error;
use axum::extract::ws::Message;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use paned_kernel::journal::{Batch, Entry};
use paned_kernel::{Feed, Printed};
use paned_model::{Offset, PaneId, PaneInfo};
use serde::Deserialize;

use super::ask::{Ask, Reply};
use super::say::{Say, wrong};
use super::subscriptions::Subscriptions;
use crate::doors::opencode_pty::NAME;
use crate::doors::opencode_pty::info::Info;
use crate::doors::opencode_pty::sessions::Sessions;
use crate::ws::farewell::{Farewell, over};
use crate::ws::wire::{Heard, Wire};

/// What every socket hears of: sessions that begin and end.
const TOLD: &str = "pane:created,pane:exited,pane:lost";
/// The most events pulled at once.
const BATCH: usize = 64;
/// How much may be asked before some of it is done.
const MAX_JOBS: usize = 64;

/// A socket while it lives.
pub(super) struct Session {
    sessions: Sessions,
    wire: Wire,
    heard: Heard,
    subscriptions: Subscriptions,
    /// What is under way, in the order in which it was asked: typed text must not overtake itself.
    jobs: VecDeque<BoxFuture<'static, Reply>>,
    feed: Option<Feed>,
    /// Sessions started here, whose beginning is told before anything else of them.
    own: BTreeSet<PaneId>,
    over: BoxFuture<'static, Farewell>,
}

enum Event {
    Over(Farewell),
    Done(Reply),
    Heard(Option<Result<Message, Error>>),
    Printed(Box<PaneInfo>, String),
    Facts(Batch),
    Flushed(Result<(), Error>),
}

type Flow = ControlFlow<Farewell>;

impl Session {
    pub(super) fn new(sessions: Sessions, wire: Wire, heard: Heard) -> Self {
        let over = Box::pin(over(sessions.shared.clone(), sessions.caller.clone()));
        let told = TOLD.parse().unwrap_or_default();
        // Whoever may not read hears nothing unasked.
        let feed = sessions.shared.kernel.events(None, told, &sessions.caller).ok();
        let (subscriptions, jobs, own) = Default::default();
        Self { sessions, wire, heard, subscriptions, jobs, feed, own, over }
    }

    /// Talks until either side has enough.
    pub(super) async fn run(mut self) {
        let shared = self.sessions.shared.clone();
        let _counted = shared.metrics.socket();
        let farewell = loop {
            let event = self.next().await;
            match self.handle(event) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(farewell) => break farewell,
            }
        };
        farewell.say(self.wire, self.heard).await;
    }

    async fn next(&mut self) -> Event {
        let may_ask = !self.wire.is_stuffed() && self.jobs.len() < MAX_JOBS;
        let may_pull = !self.wire.is_full();
        tokio::select! {
            biased;
            farewell = &mut self.over => Event::Over(farewell),
            reply = first(&mut self.jobs) => Event::Done(reply),
            heard = self.heard.next(), if may_ask => Event::Heard(heard),
            batch = facts(&mut self.feed), if may_pull => Event::Facts(batch),
            (pane, text) = self.subscriptions.next(), if may_pull => {
                Event::Printed(Box::new(pane), text)
            }
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
            Event::Printed(pane, text) => {
                self.say(&Say::RawData { session: &(*pane).into(), raw_data: &text });
            }
            Event::Facts(batch) => self.learn(batch),
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
        if entry.name == "pane:created" && self.own.remove(&pane_id) {
            return;
        }
        self.show(&pane_id);
    }

    /// Tells how a session is now, so that nothing late can take back what was told before.
    fn show(&mut self, pane: &PaneId) {
        let Sessions { shared, caller } = &self.sessions;
        let Ok(reader) = shared.kernel.output(pane, Offset(0), caller) else { return };
        let pane = reader.info();
        if pane.tags.iter().any(|tag| tag == NAME) {
            self.say(&Say::SessionUpdate { session: &Info::from(pane) });
        }
    }

    fn say(&mut self, say: &Say<'_>) {
        self.wire.say(say.frame());
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

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
use paned_kernel::journal::{JournalEntry, JournalRead};
use paned_kernel::{EventFeed, PaneOutput};
use paned_model::{Offset, PaneId};
use serde::Deserialize;
use tokio::task::unconstrained;
use tokio::time::timeout;

use super::message::{PtyCompatMessage, error_message};
use super::request::{PtyCompatReply, PtyCompatRequest};
use super::subscriptions::{PtyCompatOutput, Subscriptions};
use crate::compat::opencode_pty::NAME;
use crate::compat::opencode_pty::info::PtyCompatInfo;
use crate::compat::opencode_pty::sessions::PtyCompatSessions;
use crate::compat::opencode_pty::sockets::{FlushWaiter, PtyCompatRegistration};
use crate::ws::close::{CloseReason, SessionEnd, session_end};
use crate::ws::outbound::{WsInbound, WsOutbound};

/// What every socket hears of: sessions that begin, end and are forgotten.
const EVENT_FILTER: &str = "pane:created,pane:exited,pane:lost,pane:removed";
/// The most events pulled at once.
const BATCH: usize = 64;
/// How much may be asked before some of it is done.
const MAX_JOBS: usize = 64;
/// How long what is left may take when the client is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A socket while it lives.
pub(super) struct PtyCompatSocket {
    sessions: PtyCompatSessions,
    outbound: WsOutbound,
    inbound: WsInbound,
    subscriptions: Subscriptions,
    /// What is under way, in the order in which it was asked: typed text must not overtake itself.
    jobs: VecDeque<BoxFuture<'static, PtyCompatReply>>,
    feed: Option<EventFeed>,
    /// Sessions of which something was or may have been told: when one is forgotten, that is told too.
    announced: BTreeSet<PaneId>,
    /// Sessions started here, whose beginning is told before anything else of them.
    spawned_here: BTreeSet<PaneId>,
    /// Sessions whose end is told when everything they printed was.
    pending_exits: BTreeSet<PaneId>,
    registration: PtyCompatRegistration,
    /// Those who wait until what was said so far is sent.
    flush_waiters: Vec<FlushWaiter>,
    end: SessionEnd,
}

enum PtyCompatSocketEvent {
    Ended(CloseReason),
    JobDone(PtyCompatReply),
    Received(Option<Result<Message, Error>>),
    Output(PtyCompatOutput),
    Events(JournalRead),
    FlushRequested(Option<FlushWaiter>),
    Flushed(Result<(), Error>),
}

type PtyCompatFlow = ControlFlow<CloseReason>;

impl PtyCompatSocket {
    pub(super) fn new(
        sessions: PtyCompatSessions,
        outbound: WsOutbound,
        inbound: WsInbound,
    ) -> Self {
        let end = session_end(sessions.shared.clone(), sessions.caller.clone());
        let told = EVENT_FILTER.parse().unwrap_or_default();
        // Whoever may not read hears nothing unasked.
        let feed = sessions.shared.kernel.events(None, told, &sessions.caller).ok();
        let registration = sessions.shared.opencode_pty.register();
        let (subscriptions, jobs, announced, spawned_here, pending_exits, flush_waiters) =
            Default::default();
        Self {
            sessions,
            outbound,
            inbound,
            subscriptions,
            jobs,
            feed,
            announced,
            spawned_here,
            pending_exits,
            registration,
            flush_waiters,
            end,
        }
    }

    /// Talks until either side has enough.
    pub(super) async fn run(mut self) {
        let shared = self.sessions.shared.clone();
        let _counted = shared.metrics.socket();
        let _slot = match shared.kernel.stream(&self.sessions.caller) {
            Ok(slot) => slot,
            Err(refusal) => {
                return CloseReason::Refused(None, refusal).send(self.outbound, self.inbound).await;
            }
        };
        let known = self.sessions.list().await.unwrap_or_default();
        self.announced.extend(known.iter().filter_map(|session| session.id().parse().ok()));
        let farewell = loop {
            if !self.outbound.is_dirty() && self.pending_exits.is_empty() {
                self.flush_waiters.clear();
            }
            let event = self.next().await;
            match self.handle(event) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(farewell) => break farewell,
            }
        };
        match farewell {
            // What they asked for is done though they are gone.
            CloseReason::ClientClosed | CloseReason::Broken(_) => {
                tokio::join!(farewell.send(self.outbound, self.inbound), drain_jobs(self.jobs));
            }
            CloseReason::Refused(..) | CloseReason::GrantEnded | CloseReason::ServerStopping => {
                farewell.send(self.outbound, self.inbound).await;
            }
        }
    }

    async fn next(&mut self) -> PtyCompatSocketEvent {
        let may_ask = !self.outbound.is_over_limit() && self.jobs.len() < MAX_JOBS;
        let may_pull = !self.outbound.is_full();
        tokio::select! {
            biased;
            farewell = &mut self.end => PtyCompatSocketEvent::Ended(farewell),
            mark = self.registration.next() => PtyCompatSocketEvent::FlushRequested(mark),
            reply = first_reply(&mut self.jobs) => PtyCompatSocketEvent::JobDone(reply),
            heard = self.inbound.next(), if may_ask => PtyCompatSocketEvent::Received(heard),
            batch = next_events(&mut self.feed), if may_pull => PtyCompatSocketEvent::Events(batch),
            told = self.subscriptions.next(), if may_pull => PtyCompatSocketEvent::Output(told),
            flushed = self.outbound.flush(), if self.outbound.is_dirty() => PtyCompatSocketEvent::Flushed(flushed),
        }
    }

    fn handle(&mut self, event: PtyCompatSocketEvent) -> PtyCompatFlow {
        match event {
            PtyCompatSocketEvent::Ended(farewell) => return PtyCompatFlow::Break(farewell),
            PtyCompatSocketEvent::JobDone(reply) => {
                self.jobs.pop_front();
                self.on_reply(reply);
            }
            PtyCompatSocketEvent::Received(Some(Ok(message))) => return self.on_message(&message),
            PtyCompatSocketEvent::Received(Some(Err(error)))
            | PtyCompatSocketEvent::Flushed(Err(error)) => {
                return PtyCompatFlow::Break(CloseReason::Broken(error));
            }
            PtyCompatSocketEvent::Received(None) => {
                return PtyCompatFlow::Break(CloseReason::ClientClosed);
            }
            PtyCompatSocketEvent::Output(told) => self.on_output(told),
            PtyCompatSocketEvent::Events(batch) => self.on_events(batch),
            PtyCompatSocketEvent::FlushRequested(mark) => self.on_flush_requested(mark),
            PtyCompatSocketEvent::Flushed(Ok(())) => {}
        }
        PtyCompatFlow::Continue(())
    }

    fn on_message(&mut self, message: &Message) -> PtyCompatFlow {
        let most = self.sessions.shared.limits.body_bytes;
        let ask = match message {
            Message::Text(text) if text.len() <= most => PtyCompatRequest::read(text),
            Message::Text(_) => {
                PtyCompatRequest::Invalid(format!("a message may have at most {most} bytes"))
            }
            Message::Binary(_) => {
                PtyCompatRequest::Invalid("Binary messages are not supported".to_owned())
            }
            // The socket answers a ping by itself.
            Message::Ping(_) | Message::Pong(_) => return PtyCompatFlow::Continue(()),
            Message::Close(_) => return PtyCompatFlow::Break(CloseReason::ClientClosed),
        };
        if let PtyCompatRequest::Spawn { id, .. } = &ask {
            self.spawned_here.insert(id.clone());
        }
        self.jobs.push_back(Box::pin(ask.run(self.sessions.clone())));
        PtyCompatFlow::Continue(())
    }

    fn on_reply(&mut self, reply: PtyCompatReply) {
        match reply {
            PtyCompatReply::Nothing => {}
            PtyCompatReply::Send(message) => self.outbound.send(message),
            PtyCompatReply::Subscribe(pane, reader) => self.subscribe(pane, reader),
            PtyCompatReply::Unsubscribe(id) => {
                self.subscriptions.close(&id);
                self.send(&PtyCompatMessage::Unsubscribed { session_id: &id });
                if let Ok(pane) = id.parse() {
                    self.send_pending_exit(&pane);
                }
            }
            PtyCompatReply::Spawned(pane, reader) => {
                self.send_session_update(&pane);
                if let Some(reader) = reader {
                    self.subscribe(pane, reader);
                }
            }
            PtyCompatReply::NotSpawned(id, sentence) => {
                self.spawned_here.remove(&id);
                self.outbound.send(error_message(&sentence));
            }
        }
    }

    fn subscribe(&mut self, pane: PaneId, reader: PaneOutput) {
        self.send(&PtyCompatMessage::Subscribed { session_id: pane.as_str() });
        self.subscriptions.open(pane, reader);
    }

    fn on_output(&mut self, told: PtyCompatOutput) {
        match told {
            PtyCompatOutput::Printed(session, text) => {
                self.send(&PtyCompatMessage::RawData { session: &session, raw_data: &text });
            }
            PtyCompatOutput::Lost(pane, bytes) => self.outbound.send(error_message(&format!(
                "Session {pane}: {bytes} bytes of output were lost, as it printed faster than this socket was read"
            ))),
            PtyCompatOutput::Ended(pane, last) => {
                if let Some((session, text)) = last {
                    self.send(&PtyCompatMessage::RawData { session: &session, raw_data: &text });
                }
                self.send_pending_exit(&pane);
            }
            PtyCompatOutput::Failed(pane, refusal) => {
                self.outbound.send(error_message(&format!("Session {pane}: {}", refusal.sentence)));
                self.send_pending_exit(&pane);
            }
        }
    }

    /// Tells of a session's end, if that waited for the last of its output.
    fn send_pending_exit(&mut self, pane: &PaneId) {
        if self.pending_exits.remove(pane) {
            self.send_session_update(pane);
        }
    }

    /// Tells everything that has happened, for somebody who waits for that. Whoever does not keep up is not waited for.
    fn on_flush_requested(&mut self, mark: Option<FlushWaiter>) {
        if self.outbound.is_full() {
            return;
        }
        while let Some(batch) = unconstrained(next_events(&mut self.feed)).now_or_never() {
            self.on_events(batch);
        }
        self.flush_waiters.extend(mark);
    }

    fn on_events(&mut self, batch: JournalRead) {
        match batch {
            JournalRead::Entries(entries) => entries.iter().for_each(|entry| self.on_event(entry)),
            JournalRead::Gap { .. } => {}
            // The server stops, and the socket will hear of it.
            JournalRead::Closed => self.feed = None,
        }
    }

    /// Tells of a session that began or ended; nothing of one that is forgotten already.
    fn on_event(&mut self, entry: &Arc<JournalEntry>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct PtyCompatPaneRef {
            pane_id: PaneId,
        }
        let Ok(PtyCompatPaneRef { pane_id }) = serde_json::from_str(&entry.payload) else { return };
        match entry.name.as_str() {
            "pane:created" if self.spawned_here.remove(&pane_id) => {}
            "pane:exited" | "pane:lost" if self.subscriptions.is_open(&pane_id) => {
                self.pending_exits.insert(pane_id);
            }
            "pane:removed" if self.announced.remove(&pane_id) => {
                self.pending_exits.remove(&pane_id);
                self.send(&PtyCompatMessage::SessionRemoved { session_id: pane_id.as_str() });
            }
            "pane:removed" => {}
            _ => self.send_session_update(&pane_id),
        }
    }

    /// Tells how a session is now, so that nothing late can take back what was told before.
    fn send_session_update(&mut self, pane: &PaneId) {
        let PtyCompatSessions { shared, caller } = &self.sessions;
        let Ok(reader) = shared.kernel.output(pane, Offset(0), caller) else { return };
        let info = reader.info();
        if info.tags.iter().any(|tag| tag == NAME) {
            self.announced.insert(pane.clone());
            let session = PtyCompatInfo::new(info, reader.is_inside_line());
            self.send(&PtyCompatMessage::SessionUpdate { session: &session });
        }
    }

    fn send(&mut self, say: &PtyCompatMessage<'_>) {
        self.outbound.send(say.frame());
    }
}

/// Does what is left to do, though nobody wants to hear of it.
async fn drain_jobs(jobs: VecDeque<BoxFuture<'static, PtyCompatReply>>) {
    let rest = async {
        for job in jobs {
            job.await;
        }
    };
    if timeout(DRAIN_TIMEOUT, rest).await.is_err() {
        tracing::warn!("what a socket asked for last was not done in time");
    }
}

/// The first job's reply. Dropping the future loses nothing.
async fn first_reply(jobs: &mut VecDeque<BoxFuture<'static, PtyCompatReply>>) -> PtyCompatReply {
    match jobs.front_mut() {
        Some(job) => job.await,
        None => pending().await,
    }
}

/// The next events, if any are followed. Dropping the future loses nothing.
async fn next_events(feed: &mut Option<EventFeed>) -> JournalRead {
    match feed {
        Some(feed) => feed.next(BATCH).await,
        None => pending().await,
    }
}

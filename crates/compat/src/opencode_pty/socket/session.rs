//! The session of one socket. Its task owns the socket: `select!` picks, `match` handles.

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
use paned_server::compat_api::{CloseReason, SessionEnd, WsInbound, WsOutbound, session_end};
use serde::Deserialize;
use tokio::task::unconstrained;
use tokio::time::timeout;

use super::protocol::{PtyCompatMessage, PtyCompatReply, PtyCompatRequest, error_message};
use super::subscriptions::{PtyCompatOutput, Subscriptions};
use crate::client::KernelClient;
use crate::opencode_pty::NAME;
use crate::opencode_pty::info::PtyCompatInfo;
use crate::opencode_pty::sessions::PtyCompatSessions;
use crate::opencode_pty::sockets::{FlushWaiter, PtyCompatRegistration};

/// The events that every socket follows: sessions that start, end and are removed.
const EVENT_FILTER: &str = "pane:created,pane:exited,pane:lost,pane:removed";
/// The most events pulled at once.
const BATCH: usize = 64;
/// How many requests may be in progress before reading stops.
const MAX_JOBS: usize = 64;
/// How long the remaining requests may take when the client is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// An open socket.
pub(super) struct PtyCompatSocket {
    sessions: PtyCompatSessions,
    outbound: WsOutbound,
    inbound: WsInbound,
    subscriptions: Subscriptions,
    /// Requests in progress, in order: typed text must not be reordered.
    jobs: VecDeque<BoxFuture<'static, PtyCompatReply>>,
    feed: Option<EventFeed>,
    /// Whether events were lost that the client should have been told.
    has_gap: bool,
    /// Sessions that the client knows or may know: their removal is reported.
    announced: BTreeSet<PaneId>,
    /// Sessions that this client is starting. Their `pane:created` event is skipped, as the reply
    /// to the request reports them.
    spawned_here: BTreeSet<PaneId>,
    /// Sessions whose exit is reported once all of their output was sent.
    pending_exits: BTreeSet<PaneId>,
    registration: PtyCompatRegistration,
    /// Dropped when everything queued so far is sent, which releases those who wait.
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
        let KernelClient { shared, caller } = sessions.client.clone();
        let filter = EVENT_FILTER.parse().unwrap_or_default();
        // A caller that may not read gets no events.
        let feed = shared.kernel.events(None, filter, &caller).ok();
        let end = session_end(shared, caller);
        let registration = sessions.sockets.register();
        Self {
            sessions,
            outbound,
            inbound,
            subscriptions: Subscriptions::default(),
            jobs: VecDeque::new(),
            feed,
            has_gap: false,
            announced: BTreeSet::new(),
            spawned_here: BTreeSet::new(),
            pending_exits: BTreeSet::new(),
            registration,
            flush_waiters: Vec::new(),
            end,
        }
    }

    /// Runs until either side closes.
    pub(super) async fn run(mut self) {
        let KernelClient { shared, caller } = self.sessions.client.clone();
        let _counted = shared.metrics.socket();
        let _slot = match shared.kernel.stream(&caller) {
            Ok(slot) => slot,
            Err(refusal) => {
                return CloseReason::Refused(None, refusal).send(self.outbound, self.inbound).await;
            }
        };
        self.announced = ids(&self.sessions.list().await.unwrap_or_default());
        let reason = loop {
            if std::mem::take(&mut self.has_gap) {
                self.resynchronise().await;
            }
            if !self.outbound.is_dirty() && self.pending_exits.is_empty() {
                self.flush_waiters.clear();
            }
            let event = self.next().await;
            match self.handle(event) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(reason) => break reason,
            }
        };
        match reason {
            // The requests of a disconnected client are still finished.
            CloseReason::ClientClosed | CloseReason::Broken(_) => {
                tokio::join!(reason.send(self.outbound, self.inbound), drain_jobs(self.jobs));
            }
            CloseReason::Refused(..) | CloseReason::GrantEnded | CloseReason::ServerStopping => {
                reason.send(self.outbound, self.inbound).await;
            }
        }
    }

    async fn next(&mut self) -> PtyCompatSocketEvent {
        let may_read = !self.outbound.is_over_limit() && self.jobs.len() < MAX_JOBS;
        let may_pull = !self.outbound.is_full();
        tokio::select! {
            biased;
            reason = &mut self.end => PtyCompatSocketEvent::Ended(reason),
            waiter = self.registration.next() => PtyCompatSocketEvent::FlushRequested(waiter),
            reply = first_reply(&mut self.jobs) => PtyCompatSocketEvent::JobDone(reply),
            message = self.inbound.next(), if may_read => PtyCompatSocketEvent::Received(message),
            batch = next_events(&mut self.feed), if may_pull => PtyCompatSocketEvent::Events(batch),
            output = self.subscriptions.next(), if may_pull => PtyCompatSocketEvent::Output(output),
            flushed = self.outbound.flush(), if self.outbound.is_dirty() => PtyCompatSocketEvent::Flushed(flushed),
        }
    }

    fn handle(&mut self, event: PtyCompatSocketEvent) -> PtyCompatFlow {
        match event {
            PtyCompatSocketEvent::Ended(reason) => return PtyCompatFlow::Break(reason),
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
            PtyCompatSocketEvent::Output(output) => self.on_output(output),
            PtyCompatSocketEvent::Events(batch) => self.on_events(batch),
            PtyCompatSocketEvent::FlushRequested(waiter) => self.on_flush_requested(waiter),
            PtyCompatSocketEvent::Flushed(Ok(())) => {}
        }
        PtyCompatFlow::Continue(())
    }

    fn on_message(&mut self, message: &Message) -> PtyCompatFlow {
        let max = self.sessions.client.shared.limits.body_bytes;
        let request = match message {
            Message::Text(text) if text.len() <= max => PtyCompatRequest::read(text),
            Message::Text(_) => PtyCompatRequest::Invalid(format!(
                "the message is larger than the limit of {max} \
                    bytes"
            )),
            Message::Binary(_) => {
                PtyCompatRequest::Invalid("Binary messages are not supported".to_owned())
            }
            // The WebSocket library answers a ping.
            Message::Ping(_) | Message::Pong(_) => return PtyCompatFlow::Continue(()),
            Message::Close(_) => return PtyCompatFlow::Break(CloseReason::ClientClosed),
        };
        if let PtyCompatRequest::Spawn { id, .. } = &request {
            self.spawned_here.insert(id.clone());
        }
        self.jobs.push_back(Box::pin(request.run(self.sessions.clone())));
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

    fn on_output(&mut self, output: PtyCompatOutput) {
        match output {
            PtyCompatOutput::Printed(session, text) => {
                self.send(&PtyCompatMessage::RawData { session: &session, raw_data: &text });
            }
            PtyCompatOutput::Lost(pane, bytes) => self.outbound.send(error_message(&format!(
                "Session {pane}: {bytes} bytes of output were lost because this socket was read \
                too slowly"
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

    /// Reports a session's exit, if that waited for the last of its output.
    fn send_pending_exit(&mut self, pane: &PaneId) {
        if self.pending_exits.remove(pane) {
            self.send_session_update(pane);
        }
    }

    /// Queues all events so far and keeps the waiter until they are sent. If the client does not
    /// keep up, the waiter is released at once.
    fn on_flush_requested(&mut self, waiter: Option<FlushWaiter>) {
        if self.outbound.is_full() {
            return;
        }
        while let Some(batch) = unconstrained(next_events(&mut self.feed)).now_or_never() {
            self.on_events(batch);
        }
        self.flush_waiters.extend(waiter);
    }

    fn on_events(&mut self, batch: JournalRead) {
        match batch {
            JournalRead::Entries(entries) => entries.iter().for_each(|entry| self.on_event(entry)),
            JournalRead::Gap { .. } => self.has_gap = true,
            // The server stops; the session ends by its own signal.
            JournalRead::Closed => self.feed = None,
        }
    }

    /// Sends all sessions, as events about some were lost. Nothing else is sent meanwhile, so that
    /// no message about a session that is not on the list comes before it.
    async fn resynchronise(&mut self) {
        // A caller that may no longer read is disconnected.
        let Ok(sessions) = self.sessions.list().await else { return };
        self.announced = ids(&sessions);
        // Their `pane:created` may be among the lost events.
        self.spawned_here.retain(|pane| !self.announced.contains(pane));
        self.send(&PtyCompatMessage::SessionList { sessions: &sessions });
    }

    /// Reports a session that was started, has ended or was removed.
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

    /// Sends a session's current state, so that a late event cannot revert a newer state. Sends
    /// nothing if the pane is removed already or is not a session.
    fn send_session_update(&mut self, pane: &PaneId) {
        let KernelClient { shared, caller } = &self.sessions.client;
        let Ok(reader) = shared.kernel.output(pane, Offset(0), caller) else { return };
        let info = reader.info();
        if info.tags.iter().any(|tag| tag == NAME) {
            self.announced.insert(pane.clone());
            let session = PtyCompatInfo::new(info, reader.is_inside_line());
            self.send(&PtyCompatMessage::SessionUpdate { session: &session });
        }
    }

    fn send(&mut self, message: &PtyCompatMessage<'_>) {
        self.outbound.send(message.frame());
    }
}

fn ids(sessions: &[PtyCompatInfo]) -> BTreeSet<PaneId> {
    sessions.iter().filter_map(|session| session.id().parse().ok()).collect()
}

/// Finishes the remaining requests of a disconnected client; their replies are dropped.
async fn drain_jobs(jobs: VecDeque<BoxFuture<'static, PtyCompatReply>>) {
    let rest = async {
        for job in jobs {
            job.await;
        }
    };
    if timeout(DRAIN_TIMEOUT, rest).await.is_err() {
        tracing::warn!("the last requests of a closed socket did not finish in time");
    }
}

/// The first job's reply. Cancel-safe.
async fn first_reply(jobs: &mut VecDeque<BoxFuture<'static, PtyCompatReply>>) -> PtyCompatReply {
    match jobs.front_mut() {
        Some(job) => job.await,
        None => pending().await,
    }
}

/// The next events, if any are followed. Cancel-safe.
async fn next_events(feed: &mut Option<EventFeed>) -> JournalRead {
    match feed {
        Some(feed) => feed.next(BATCH).await,
        None => pending().await,
    }
}

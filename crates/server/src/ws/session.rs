//! The session of an authenticated socket. Its task owns the socket: `select!` picks, `match`
//! handles.
//!
//! Only the flush waits for the client, and it is an event like the others: while it waits,
//! requests are read and grants may end, and nothing is pulled that could not be sent.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::Error;
use axum::extract::ws::Message;
use futures_util::StreamExt;
use paned_kernel::{Caller, PaneActivity};
use paned_model::{Code, Offset, Refusal, Size};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::PROTOCOL;
use super::channels::{ChannelOutput, Channels};
use super::jobs::{ConcurrentAction, WsJob, WsJobResult, WsJobs};
use super::outbound::{CloseReason, SessionEnd, WsInbound, WsOutbound, session_end};
use super::protocol::{
    WsEnvelope, WsExitInfo, WsFrameKind, WsMessage, WsRequest, WsRequestId, binary, event,
};
use super::subscribe::{self, WsActivity, WsEventFeed, WsFeedItem, WsSubscription};
use crate::state::ServerState;

/// An open socket.
pub(super) struct WsSession {
    shared: Arc<ServerState>,
    caller: Caller,
    outbound: WsOutbound,
    inbound: WsInbound,
    channels: Channels,
    jobs: WsJobs,
    events: WsEventFeed,
    activity: WsActivity,
    end: SessionEnd,
}

enum WsSessionEvent {
    Ended(CloseReason),
    JobDone(WsJobResult),
    Received(Option<Result<Message, Error>>),
    Output(ChannelOutput),
    EventsReady,
    Printed(Vec<PaneActivity>),
    Flushed(Result<(), Error>),
}

/// Whether to continue, or why to close.
type WsFlow = ControlFlow<CloseReason>;

impl WsSession {
    pub(super) fn new(
        shared: Arc<ServerState>,
        caller: Caller,
        outbound: WsOutbound,
        inbound: WsInbound,
    ) -> Self {
        let end = session_end(shared.clone(), caller.clone());
        Self {
            shared,
            caller,
            outbound,
            inbound,
            channels: Channels::default(),
            jobs: WsJobs::default(),
            events: WsEventFeed::default(),
            activity: WsActivity::default(),
            end,
        }
    }

    /// Runs until either side closes. `auth_id` is the `id` of the client's `auth` message, if any.
    pub(super) async fn run(mut self, auth_id: Option<WsRequestId>) {
        self.send_welcome(auth_id.as_deref());
        let reason = loop {
            let event = self.next().await;
            match self.handle(event) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(reason) => break reason,
            }
        };
        if let Some(client) = &self.caller.client {
            client.disconnect();
        }
        match reason {
            CloseReason::ClientClosed | CloseReason::Broken(_) => {
                tokio::join!(reason.send(self.outbound, self.inbound), self.jobs.drain());
            }
            CloseReason::Refused(..) | CloseReason::GrantEnded | CloseReason::ServerStopping => {
                reason.send(self.outbound, self.inbound).await;
            }
        }
    }

    /// The next event. The order matters: a flood must not outlive its grant, and everything that
    /// is ready is queued before it is flushed.
    async fn next(&mut self) -> WsSessionEvent {
        let may_read = !self.outbound.is_over_limit() && !self.jobs.is_full();
        let may_pull = !self.outbound.is_full();
        tokio::select! {
            biased;
            reason = &mut self.end => WsSessionEvent::Ended(reason),
            done = self.jobs.next() => WsSessionEvent::JobDone(done),
            message = self.inbound.next(), if may_read => WsSessionEvent::Received(message),
            output = self.channels.next(), if may_pull => WsSessionEvent::Output(output),
            () = self.events.ready(), if may_pull => WsSessionEvent::EventsReady,
            panes = self.activity.next(), if may_pull => WsSessionEvent::Printed(panes),
            flushed = self.outbound.flush(), if self.outbound.is_dirty() => WsSessionEvent::Flushed(flushed),
        }
    }

    fn handle(&mut self, event: WsSessionEvent) -> WsFlow {
        match event {
            WsSessionEvent::Ended(reason) => return WsFlow::Break(reason),
            WsSessionEvent::JobDone(done) => self.on_job_done(done),
            WsSessionEvent::Received(Some(Ok(message))) => return self.on_message(&message),
            WsSessionEvent::Received(Some(Err(error))) | WsSessionEvent::Flushed(Err(error)) => {
                return WsFlow::Break(CloseReason::Broken(error));
            }
            WsSessionEvent::Received(None) => return WsFlow::Break(CloseReason::ClientClosed),
            WsSessionEvent::Output(output) => self.on_output(output),
            WsSessionEvent::EventsReady => self.send_events(),
            WsSessionEvent::Printed(panes) => self.send(&WsMessage::Activity { panes: &panes }),
            WsSessionEvent::Flushed(Ok(())) => {}
        }
        WsFlow::Continue(())
    }

    fn send_welcome(&mut self, id: Option<&RawValue>) {
        let scopes = self.caller.grant.scopes.iter().copied().collect();
        let version = self.shared.kernel.setup().version;
        self.send(&WsMessage::Welcome { id, version, protocol: PROTOCOL, scopes });
    }

    fn on_message(&mut self, message: &Message) -> WsFlow {
        match message {
            Message::Text(text) if text.len() <= self.shared.limits.body_bytes => {
                self.on_text(text)
            }
            Message::Text(_) => {
                let max = self.shared.limits.body_bytes;
                let sentence = format!("the message is larger than the limit of {max} bytes");
                self.send_error(None, &Refusal::new(Code::Limit, sentence));
            }
            Message::Binary(_) => {
                let sentence = "clients must send JSON in text frames, not binary frames";
                self.send_error(None, &Refusal::invalid(sentence));
            }
            // The WebSocket library answers a ping.
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return WsFlow::Break(CloseReason::ClientClosed),
        }
        WsFlow::Continue(())
    }

    fn on_text(&mut self, text: &str) {
        let WsEnvelope { id, request } = WsEnvelope::read(text);
        match request {
            Ok(request) => self.handle_request(id, request),
            Err(refusal) => self.send_error(id.as_deref(), &refusal),
        }
    }

    fn handle_request(&mut self, id: Option<WsRequestId>, request: WsRequest<'_>) {
        let result = match request {
            WsRequest::Subscribe(subscribe) => {
                let opened = subscribe::open(self.shared.clone(), self.caller.clone(), subscribe);
                let job = async move { WsJobResult::Subscribe(id, opened.await) };
                return self.jobs.enqueue(Box::pin(job));
            }
            WsRequest::Input(input) => return self.enqueue_action(id, "pane:write", &input),
            WsRequest::Keys { pane, keys } => {
                let params = json!({ "paneId": pane, "keys": keys });
                return self.enqueue_action(id, "pane:keys", &params);
            }
            WsRequest::Resize { pane, cols, rows, force } => {
                let size = Size { cols, rows };
                let params = json!({ "paneId": pane, "size": size, "force": force == Some(true) });
                return self.enqueue_action(id, "pane:resize", &params);
            }
            WsRequest::Release { pane } => {
                return self.enqueue_action(id, "pane:release", &json!({ "paneId": pane }));
            }
            WsRequest::Action { name, params } => return self.run_concurrent(id, name, params),
            WsRequest::Ping {} => return self.send(&WsMessage::Pong { id: id.as_deref() }),
            WsRequest::Unsubscribe { channel } => self.channels.close(channel),
            WsRequest::Ack { channel, offset } => self.channels.acknowledge(channel, offset),
            WsRequest::Events { include, since } => {
                self.events.follow(&self.shared.kernel, &self.caller, &include, since)
            }
            WsRequest::Activity { on } => self.activity.set(on, &self.shared.kernel, &self.caller),
            WsRequest::Auth { .. } => {
                Err(Refusal::new(Code::Conflict, "this socket is already authenticated"))
            }
        };
        match result {
            Ok(()) => self.send_ok(id.as_deref(), None),
            Err(refusal) => self.send_error(id.as_deref(), &refusal),
        }
    }

    fn enqueue_action(
        &mut self,
        id: Option<WsRequestId>,
        name: &'static str,
        params: &impl Serialize,
    ) {
        let params = serde_json::to_vec(params).unwrap_or_default();
        self.jobs.enqueue(self.action_job(id, name.into(), params));
    }

    fn run_concurrent(&mut self, id: Option<WsRequestId>, name: String, params: Option<&RawValue>) {
        // An unknown action is refused at once, so it counts as a brief one.
        let definition = self.shared.kernel.action(&name);
        let kind = definition.map_or(paned_kernel::ActionKind::Event, |definition| definition.kind);
        let params = params.map_or("{}", RawValue::get).as_bytes().to_vec();
        let bytes = params.len();
        let job = self.action_job(id.clone(), name.into(), params);
        self.jobs.start(kind, ConcurrentAction { id, bytes, job });
    }

    fn action_job(
        &self,
        id: Option<WsRequestId>,
        name: Cow<'static, str>,
        params: Vec<u8>,
    ) -> WsJob {
        let shared = self.shared.clone();
        let caller = self.caller.clone();
        Box::pin(async move {
            WsJobResult::Action(id, shared.kernel.dispatch(&name, &params, &caller).await)
        })
    }

    fn on_job_done(&mut self, done: WsJobResult) {
        match done {
            WsJobResult::Action(id, Ok(answer)) => self.send_ok(id.as_deref(), Some(&answer)),
            WsJobResult::Subscribe(id, Ok(subscription)) => {
                self.open_channel(id.as_deref(), *subscription)
            }
            WsJobResult::Action(id, Err(refusal)) | WsJobResult::Subscribe(id, Err(refusal)) => {
                self.send_error(id.as_deref(), &refusal);
            }
        }
    }

    fn open_channel(&mut self, id: Option<&RawValue>, subscription: WsSubscription) {
        let WsSubscription { pane, reader, window, offset, size, status, created_at, screen } =
            subscription;
        match self.channels.open(reader, window) {
            Ok(channel) => {
                let pane = &pane;
                self.send(&WsMessage::Subscribed {
                    id,
                    channel,
                    pane,
                    offset,
                    size,
                    status,
                    created_at,
                });
                if let Some(screen) = screen {
                    self.outbound.send(binary(WsFrameKind::Screen, channel, offset, &screen));
                }
            }
            Err(refusal) => self.send_error(id, &refusal),
        }
    }

    fn on_output(&mut self, output: ChannelOutput) {
        match output {
            ChannelOutput::Bytes(channel, offset, bytes) => {
                self.outbound.send(binary(WsFrameKind::Output, channel, offset, &bytes));
            }
            ChannelOutput::Gap(channel, from, to) => {
                self.send(&WsMessage::Gap { channel, from, to })
            }
            ChannelOutput::End(channel, pane) => {
                let offset = Offset(pane.bytes);
                let ending = WsExitInfo::of(&pane);
                self.send(&WsMessage::Exit { channel, offset, ending });
            }
            ChannelOutput::Failed(channel, refusal) => {
                self.send(&WsMessage::Error {
                    id: None,
                    channel: Some(channel),
                    refusal: &refusal,
                });
            }
        }
    }

    fn send_events(&mut self) {
        match self.events.take() {
            Some(WsFeedItem::Events(batch)) => {
                batch.iter().for_each(|entry| self.outbound.send(event(entry)));
            }
            Some(WsFeedItem::Missed { first, last }) => {
                self.send(&WsMessage::Missed { first, last })
            }
            None => {}
        }
    }

    /// Reports success, if the request has an `id`.
    fn send_ok(&mut self, id: Option<&RawValue>, answer: Option<&RawValue>) {
        if let Some(id) = id {
            self.send(&WsMessage::Ok { id, answer });
        }
    }

    fn send_error(&mut self, id: Option<&RawValue>, refusal: &Refusal) {
        self.send(&WsMessage::Error { id, channel: None, refusal });
    }

    fn send(&mut self, message: &WsMessage<'_>) {
        self.outbound.send(message.frame());
    }
}

//! `/events`: all messages and the agent's status, and then their changes.
//!
//! The only state for a client is what it was sent last: a change is what differs from that.

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use paned_kernel::journal::JournalRead;
use paned_kernel::{EventFeed, PaneOutput, PaneOutputChunk, StreamSlot};
use paned_model::{EventFilter, Offset, Refusal};
use paned_server::compat_api::{Call, EVENT_STREAM, GaugeGuard, HEARTBEAT, HandlerResult};
use serde_json::{Value, json};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep};

use super::agent::{AgentapiAgent, AgentapiMessage, AgentapiStatus};
use crate::client::KernelClient;

/// How long changes are gathered before they are sent.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How much output is read at once, only to notice that there was some.
const CHUNK_BYTES: usize = 64 << 10;

/// Opens a stream.
pub(super) async fn follow(client: KernelClient, mut call: Call) -> HandlerResult {
    let agent = AgentapiAgent::of(client, &mut call).await?;
    let mut live = AgentapiStream::new(agent)?;
    let first = live.changes().await?;
    let chunks = stream::once(ready(first)).chain(stream::unfold(live, async |mut live| {
        let chunk = live.next().await?;
        Some((chunk, live))
    }));
    let body = Body::from_stream(chunks.map(Ok::<_, Infallible>));
    Ok(([(CONTENT_TYPE, EVENT_STREAM)], body).into_response())
}

/// An open stream.
struct AgentapiStream {
    agent: AgentapiAgent,
    /// What the client was sent last.
    messages: Vec<AgentapiMessage>,
    status: Option<AgentapiStatus>,
    /// Events that may change the messages or the status.
    feed: EventFeed,
    output: PaneOutput,
    has_ended: bool,
    heartbeat: Interval,
    /// Completes when the caller's grant is revoked or expires, or when the server stops.
    end: BoxFuture<'static, ()>,
    _counted: GaugeGuard,
    _slot: StreamSlot,
}

enum AgentapiNext {
    Changed,
    Heartbeat,
    Ended,
}

impl AgentapiStream {
    fn new(agent: AgentapiAgent) -> Result<Self, Refusal> {
        let KernelClient { shared, caller } = agent.client.clone();
        let include = "agent:state,agent:delivered,pane:exited".parse::<EventFilter>();
        let include = include.map_err(Refusal::internal)?;
        let feed = shared.kernel.events(None, include, &caller)?;
        let output = shared.kernel.output(&agent.pane, Offset(u64::MAX), &caller)?;
        let period = shared.limits.heartbeat;
        let mut heartbeat = interval_at(Instant::now() + period, period);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let counted = shared.metrics.count_stream();
        let slot = shared.kernel.stream(&caller)?;
        let end = async move {
            tokio::select! {
                () = shared.kernel.wait_revoked(&caller) => {}
                () = shared.closed() => {}
            }
        };
        Ok(Self {
            agent,
            messages: Vec::new(),
            status: None,
            feed,
            output,
            has_ended: false,
            heartbeat,
            end: Box::pin(end),
            _counted: counted,
            _slot: slot,
        })
    }

    /// The next chunk to send; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.has_ended {
                return None;
            }
            let next = tokio::select! {
                // First, so that a flood cannot outlive a grant.
                biased;
                () = &mut self.end => AgentapiNext::Ended,
                ended = wait_for_change(&mut self.feed, &mut self.output) => {
                    self.has_ended = ended;
                    AgentapiNext::Changed
                }
                _ = self.heartbeat.tick() => AgentapiNext::Heartbeat,
            };
            match next {
                AgentapiNext::Ended => return None,
                AgentapiNext::Heartbeat => {
                    return Some(Bytes::from_static(HEARTBEAT.as_bytes()));
                }
                AgentapiNext::Changed => {}
            }
            sleep(DEBOUNCE).await;
            // If the agent is gone, the stream ends.
            let changes = self.changes().await.ok()?;
            if !changes.is_empty() {
                self.heartbeat.reset();
                return Some(changes);
            }
        }
    }

    /// Encodes what differs from what was sent last.
    async fn changes(&mut self) -> Result<Bytes, Refusal> {
        let messages = self.agent.messages().await?;
        let mut out = String::new();
        for (index, message) in messages.iter().enumerate() {
            if self.messages.get(index) != Some(message) {
                frame(&mut out, "message_update", &update(message));
            }
        }
        self.messages = messages;
        // An agent that has ended has no status any more, and the stream ends.
        let status = self.agent.status().await.ok();
        if let Some(status) = status.as_ref().filter(|_| status != self.status) {
            frame(&mut out, "status_change", &json!(status));
        }
        self.status = status;
        Ok(Bytes::from(out))
    }
}

/// Waits until something may have changed. Returns whether the agent has ended.
async fn wait_for_change(feed: &mut EventFeed, output: &mut PaneOutput) -> bool {
    tokio::select! {
        batch = feed.next(1) => matches!(batch, JournalRead::Closed),
        piece = output.next(CHUNK_BYTES) => matches!(piece, Ok(PaneOutputChunk::End) | Err(_)),
    }
}

fn update(message: &AgentapiMessage) -> Value {
    let AgentapiMessage { id, content, role, time } = message;
    json!({ "id": id, "message": content, "role": role, "time": time })
}

fn frame(out: &mut String, event: &str, data: &Value) {
    out.push_str(&format!("event: {event}\ndata: {data}\n\n"));
}

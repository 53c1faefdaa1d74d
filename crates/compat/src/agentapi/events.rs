//! `/events`: all messages and the agent's status, and then their changes.
//!
//! The only state for a client is what it was sent last: a change is what differs from that.

use std::time::Duration;

use bytes::Bytes;
use paned_kernel::journal::JournalRead;
use paned_kernel::{EventFeed, PaneOutput, PaneOutputChunk};
use paned_model::{EventFilter, Offset, Refusal};
use paned_server::compat_api::{Call, HandlerResult, SseSource, stream_response};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::agent::{AgentapiAgent, AgentapiMessage, AgentapiStatus};
use crate::client::KernelClient;

/// How long changes are gathered before they are sent.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How much output is read at once, only to notice that there was some.
const CHUNK_BYTES: usize = 64 << 10;

/// Opens a stream.
pub(super) async fn follow(client: KernelClient, mut call: Call) -> HandlerResult {
    let agent = AgentapiAgent::of(client, &mut call).await?;
    let mut changes = AgentapiChanges::new(agent)?;
    let first = changes.take().await?;
    stream_response(&call, first, changes)
}

/// The changes of one agent.
struct AgentapiChanges {
    agent: AgentapiAgent,
    /// What the client was sent last.
    messages: Vec<AgentapiMessage>,
    status: Option<AgentapiStatus>,
    /// Events that may change the messages or the status.
    feed: EventFeed,
    output: PaneOutput,
    /// When something may have changed since then.
    changed_at: Option<Instant>,
    has_ended: bool,
}

impl AgentapiChanges {
    fn new(agent: AgentapiAgent) -> Result<Self, Refusal> {
        let KernelClient { shared, caller } = &agent.client;
        let include = "agent:state,agent:delivered,pane:exited".parse::<EventFilter>();
        let feed = shared.kernel.events(None, include.map_err(Refusal::internal)?, caller)?;
        let output = shared.kernel.output(&agent.pane, Offset(u64::MAX), caller)?;
        Ok(Self {
            agent,
            messages: Vec::new(),
            status: None,
            feed,
            output,
            changed_at: None,
            has_ended: false,
        })
    }

    /// Encodes what differs from what was sent last. Cancel-safe.
    async fn take(&mut self) -> Result<Bytes, Refusal> {
        let messages = self.agent.messages().await?;
        // An agent that has ended has no status any more, and the stream ends.
        let status = self.agent.status().await.ok();
        let mut out = String::new();
        for (index, message) in messages.iter().enumerate() {
            if self.messages.get(index) != Some(message) {
                frame(&mut out, "message_update", &update(message));
            }
        }
        if let Some(status) = status.as_ref().filter(|_| status != self.status) {
            frame(&mut out, "status_change", &json!(status));
        }
        self.messages = messages;
        self.status = status;
        self.changed_at = None;
        Ok(Bytes::from(out))
    }

    /// Waits until something may have changed. Returns when that was. Cancel-safe.
    async fn wait(&mut self) -> Instant {
        let has_ended = tokio::select! {
            batch = self.feed.next(1) => matches!(batch, JournalRead::Closed),
            piece = self.output.next(CHUNK_BYTES) => {
                matches!(piece, Ok(PaneOutputChunk::End) | Err(_))
            }
        };
        self.has_ended = has_ended;
        *self.changed_at.insert(Instant::now())
    }
}

impl SseSource for AgentapiChanges {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let changed_at = match self.changed_at {
                Some(at) => at,
                None if self.has_ended => return None,
                None => self.wait().await,
            };
            sleep_until(changed_at + DEBOUNCE).await;
            // If the agent is gone, the stream ends.
            let changes = self.take().await.ok()?;
            if !changes.is_empty() {
                return Some(changes);
            }
        }
    }
}

fn update(message: &AgentapiMessage) -> Value {
    let AgentapiMessage { id, content, role, time } = message;
    json!({ "id": id, "message": content, "role": role, "time": time })
}

fn frame(out: &mut String, event: &str, data: &Value) {
    out.push_str(&format!("event: {event}\ndata: {data}\n\n"));
}

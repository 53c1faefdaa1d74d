//! Follows a pane's output, until it ends and across restarts of the server.
//!
//! Nothing is polled: each request waits at the server until there is more. Only a server that is
//! down is retried at intervals.

use anyhow::Result;
use paned_model::PaneInfo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::output::{PaneReadReply, TimedBytes};
use crate::client::{ApiClient, RETRY_INTERVAL};
use crate::commands::is_unavailable;
use crate::out::Out;

/// As many bytes as the server returns at once.
const PIECE: u64 = 1 << 20;
/// The longest wait that the server accepts: a day.
const MAX_WAIT_MS: u64 = 24 * 60 * 60 * 1000;

/// The next output of a pane.
#[derive(Debug)]
pub(crate) enum FollowedOutput {
    /// Bytes that it printed.
    Printed(TimedBytes),
    /// This many bytes in between are no longer kept.
    Missed(u64),
    /// All output was read, and the program has ended.
    Ended(Box<PaneInfo>),
}

/// A pane's output, and how far it was read.
pub(crate) struct OutputFollower<'a> {
    client: &'a ApiClient,
    out: Out,
    pane: &'a str,
    /// The offset of the next byte.
    at: u64,
    /// Whether to ask when it was printed.
    has_times: bool,
    /// Whether the server has answered before: then calls are retried while it is down.
    is_known: bool,
    /// Whether the user has seen a note that the server is down.
    is_away: bool,
}

/// What `pane:wait` answers, as far as it matters here.
#[derive(Deserialize)]
struct FollowWaitReply {
    met: Option<String>,
    pane: Box<PaneInfo>,
}

impl<'a> OutputFollower<'a> {
    /// Follows a pane from an offset on.
    pub(crate) fn new(client: &'a ApiClient, out: Out, pane: &'a str, at: u64) -> Self {
        Self { client, out, pane, at, has_times: false, is_known: false, is_away: false }
    }

    /// The same with the times of its lines.
    pub(crate) fn with_times(self, has_times: bool) -> Self {
        Self { has_times, ..self }
    }

    /// Waits for the next output. Cancel-safe: nothing is lost.
    ///
    /// # Errors
    /// When the server refuses.
    pub(crate) async fn next(&mut self) -> Result<FollowedOutput> {
        loop {
            if let Some(piece) = self.printed().await? {
                return Ok(piece);
            }
            let request = json!({
                "paneId": self.pane, "pattern": "", "exit": true, "since": self.at, "timeoutMs": MAX_WAIT_MS,
            });
            let waited: FollowWaitReply = self.call_with_retry("pane:wait", &request).await?;
            if waited.met.as_deref() == Some("exit") {
                return Ok(FollowedOutput::Ended(waited.pane));
            }
        }
    }

    async fn printed(&mut self) -> Result<Option<FollowedOutput>> {
        let request = json!({
            "paneId": self.pane, "view": "raw", "since": self.at, "limit": PIECE, "times": self.has_times,
        });
        let printed: PaneReadReply = self.call_with_retry("pane:read", &request).await?;
        let bytes = printed.bytes()?;
        let first = printed.next - bytes.len() as u64;
        if self.at < first {
            let missed = first - self.at;
            self.at = first;
            return Ok(Some(FollowedOutput::Missed(missed)));
        }
        self.at = printed.next;
        let printed = TimedBytes { first, bytes, times: printed.times };
        Ok((!printed.bytes.is_empty()).then_some(FollowedOutput::Printed(printed)))
    }

    /// Calls the server; retries while it is down.
    async fn call_with_retry<T: DeserializeOwned>(
        &mut self,
        action: &str,
        params: &Value,
    ) -> Result<T> {
        loop {
            match self.client.call(action, params).await {
                Err(error) if is_unavailable(&error) && self.is_known => {}
                other => {
                    self.is_known = true;
                    self.is_away = false;
                    return other;
                }
            }
            // Once for each outage, also when the caller has dropped this future meanwhile.
            if !std::mem::replace(&mut self.is_away, true) {
                self.out.note("paned: lost the connection to the server; waiting for it")?;
            }
            sleep(RETRY_INTERVAL).await;
        }
    }
}

//! Following what a pane prints, up to its end and across restarts of the server.
//!
//! Nothing is polled: the server is asked to wait until there is more. Only a server that is away is knocked
//! at now and then.

use std::time::Duration;

use anyhow::Result;
use paned_model::PaneInfo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::line_splitter::last_lines;
use super::output::PaneReadReply;
use super::{is_unavailable, read};
use crate::client::ApiClient;
use crate::out::Out;

/// As many bytes as the server answers at once.
const PIECE: u64 = 1 << 20;
/// As long as the server waits at most: a day.
const MAX_WAIT_MS: u64 = 24 * 60 * 60 * 1000;
/// How long to wait before knocking again at a server that is away.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// What comes next of a pane.
#[derive(Debug)]
pub(super) enum FollowedOutput {
    /// It printed this.
    Printed(Vec<u8>),
    /// So many bytes in between are no longer kept.
    Missed(u64),
    /// It printed everything and has ended.
    Ended(Box<PaneInfo>),
}

/// A pane's output, and how far it was read.
pub(super) struct OutputFollower<'a> {
    client: &'a ApiClient,
    out: Out,
    pane: &'a str,
    /// The offset of the next byte.
    at: u64,
    /// Whether the server has answered before: then one that is away will come back.
    is_known: bool,
    /// Whether it was said that the server is away.
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
    pub(super) fn new(client: &'a ApiClient, out: Out, pane: &'a str, at: u64) -> Self {
        Self { client, out, pane, at, is_known: false, is_away: false }
    }

    /// Moves to where the last so many lines begin.
    ///
    /// # Errors
    /// When the server refuses.
    pub(super) async fn seek_last_lines(&mut self, count: usize) -> Result<()> {
        let mut wanted = 64 << 10;
        loop {
            let request = json!({
                "paneId": self.pane, "view": "raw", "tail": wanted, "limit": wanted,
            });
            let tail: PaneReadReply = read(self.call_with_retry("pane:read", &request).await?)?;
            let bytes = tail.bytes()?;
            let begin = last_lines(&bytes, count);
            let first = tail.next - bytes.len() as u64;
            self.at = first + begin as u64;
            let is_enough = 0 < begin || Some(first) <= tail.dropped || PIECE <= wanted;
            if is_enough {
                return Ok(());
            }
            wanted *= 4;
        }
    }

    /// What comes next; waits for it. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// When the server refuses.
    pub(super) async fn next(&mut self) -> Result<FollowedOutput> {
        loop {
            if let Some(piece) = self.printed().await? {
                return Ok(piece);
            }
            let request = json!({
                "paneId": self.pane, "pattern": "", "exit": true, "since": self.at, "timeoutMs": MAX_WAIT_MS,
            });
            let waited: FollowWaitReply = read(self.call_with_retry("pane:wait", &request).await?)?;
            if waited.met.as_deref() == Some("exit") {
                return Ok(FollowedOutput::Ended(waited.pane));
            }
        }
    }

    async fn printed(&mut self) -> Result<Option<FollowedOutput>> {
        let request = json!({
            "paneId": self.pane, "view": "raw", "since": self.at, "limit": PIECE,
        });
        let printed: PaneReadReply = read(self.call_with_retry("pane:read", &request).await?)?;
        let bytes = printed.bytes()?;
        let first = printed.next - bytes.len() as u64;
        if self.at < first {
            let missed = first - self.at;
            self.at = first;
            return Ok(Some(FollowedOutput::Missed(missed)));
        }
        self.at = printed.next;
        Ok((!bytes.is_empty()).then_some(FollowedOutput::Printed(bytes)))
    }

    /// Asks the server; one that is away is waited for.
    async fn call_with_retry(&mut self, action: &str, params: &Value) -> Result<Value> {
        loop {
            match self.client.action(action, params).await {
                Err(error) if is_unavailable(&error) && self.is_known => {}
                other => {
                    (self.is_known, self.is_away) = (true, false);
                    return other;
                }
            }
            // Once for each time, also where whoever asks was called away meanwhile.
            if !std::mem::replace(&mut self.is_away, true) {
                self.out.note("paned: the server is away; waiting for it")?;
            }
            sleep(RETRY_INTERVAL).await;
        }
    }
}

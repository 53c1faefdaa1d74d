//! Waits for panes that survive a restart of the server.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::{ApiClient, RETRY_INTERVAL, is_connection_lost};
use crate::commands::is_unavailable;
use crate::out::Out;
use crate::out::progress::Progress;

/// Calls `pane:wait`. When the server exits during the call, the wait is sent again to the next
/// server, with the time that is left. No output is missed, because the keeper stores the position
/// of the last input. A wait for output from now on is not repeated: its position is lost.
///
/// # Errors
/// When the server refuses, cannot be reached at first, or does not return in time.
pub(crate) async fn wait(
    client: &ApiClient,
    (out, progress): (Out, &Progress),
    mut params: Value,
    limit: Duration,
) -> Result<Value> {
    let deadline = Instant::now() + limit;
    let is_repeatable = params["since"] != "now";
    let mut was_lost = false;
    loop {
        let error = match client.action("pane:wait", &params).await {
            Err(error) if is_repeatable => error,
            answer => return answer,
        };
        let is_away = is_connection_lost(&error) || was_lost && is_unavailable(&error);
        if !is_away || deadline <= Instant::now() {
            return Err(error);
        }
        if !std::mem::replace(&mut was_lost, true) {
            progress.print_above(|| out.note("paned: the server is away; waiting for it"))?;
        }
        sleep(RETRY_INTERVAL).await;
        let left = deadline.saturating_duration_since(Instant::now());
        params["timeoutMs"] = json!(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    }
}

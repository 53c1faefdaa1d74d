//! `/health`: the server's status in opencode-pty's format.

use std::time::Instant;

use paned_model::Time;
use paned_server::compat_api::{Call, HandlerResult, JSON, resident_bytes};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::sessions::PtyCompatSessions;
use crate::client::KernelClient;
use crate::routes::json_of;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PtyCompatHealth {
    status: &'static str,
    timestamp: Time,
    /// Seconds.
    uptime: f64,
    sessions: PtyCompatSessionCount,
    websocket: PtyCompatSocketCount,
    memory: PtyCompatMemory,
    /// Milliseconds.
    response_time: u64,
}

#[derive(Serialize)]
struct PtyCompatSessionCount {
    total: usize,
    active: usize,
}

#[derive(Serialize)]
struct PtyCompatSocketCount {
    connections: u64,
}

/// Bytes. There are no figures of a heap, so these are the resident size.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PtyCompatMemory {
    rss: u64,
    heap_used: u64,
    heap_total: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PtyCompatStatusReply {
    uptime_ms: u64,
}

/// Answers with the server's status.
pub(super) async fn show(sessions: PtyCompatSessions, _: Call) -> HandlerResult {
    let began = Instant::now();
    let KernelClient { shared, caller } = &sessions.client;
    let status: PtyCompatStatusReply = sessions.client.act("server:status", json!({})).await?;
    let all = sessions.list().await?;
    // Only grants over all panes see what is counted over all callers.
    let is_wide = caller.reaches_all();
    let rss = resident_bytes().unwrap_or_default();
    json_of(
        JSON,
        &PtyCompatHealth {
            status: "healthy",
            timestamp: (shared.kernel.setup().now)(),
            uptime: status.uptime_ms as f64 / 1000.0,
            sessions: PtyCompatSessionCount {
                total: all.len(),
                active: all.iter().filter(|session| session.is_active()).count(),
            },
            websocket: PtyCompatSocketCount {
                connections: if is_wide { shared.metrics.sockets() } else { 0 },
            },
            memory: PtyCompatMemory { rss, heap_used: rss, heap_total: rss },
            response_time: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        },
    )
}

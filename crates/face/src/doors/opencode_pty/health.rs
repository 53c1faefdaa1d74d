//! `/health`: how the server is, in opencode-pty's words.

use std::time::Instant;

use paned_model::Time;
use serde::Serialize;

use super::rest::{json_of, sessions};
use crate::call::Call;
use crate::reply::Outcome;
use crate::{health, process};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Health {
    status: &'static str,
    timestamp: Time,
    /// Seconds.
    uptime: f64,
    sessions: Counted,
    websocket: Sockets,
    memory: Memory,
    /// Milliseconds.
    response_time: u64,
}

#[derive(Serialize)]
struct Counted {
    total: usize,
    active: usize,
}

#[derive(Serialize)]
struct Sockets {
    connections: u64,
}

/// Bytes. There is no other heap than what is resident.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Memory {
    rss: u64,
    heap_used: u64,
    heap_total: u64,
}

/// Shows it.
pub(super) async fn show(call: Call) -> Outcome {
    let began = Instant::now();
    let status = health::status(&call.shared, &call.caller).await?;
    let all = sessions(&call).list().await?;
    // What is counted over all callers is for grants over all panes.
    let is_wide = call.caller.reaches_all();
    let rss = process::resident_bytes().unwrap_or_default();
    json_of(&Health {
        status: "healthy",
        timestamp: (call.shared.kernel.setup().now)(),
        uptime: status.uptime_ms as f64 / 1000.0,
        sessions: Counted {
            total: all.len(),
            active: all.iter().filter(|session| session.is_active()).count(),
        },
        websocket: Sockets { connections: if is_wide { call.shared.metrics.sockets() } else { 0 } },
        memory: Memory { rss, heap_used: rss, heap_total: rss },
        response_time: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

//! `GET /health`: that the server is up, for anyone; its status, for callers that may read.

use std::collections::BTreeMap;
use std::sync::Arc;

use paned_kernel::Caller;
use paned_model::{Code, EventId, Refusal};
use serde::{Deserialize, Serialize};

use crate::http::reply::{HandlerResult, json};
use crate::state::ServerState;

/// The part of `server:status` that the HTTP server shows.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HealthStatus {
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) uptime_ms: u64,
    pub(crate) panes: BTreeMap<String, u64>,
    pub(crate) last_event: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<String>,
}

#[derive(Serialize)]
struct HealthResponse {
    status: &'static str,
    #[serde(flatten)]
    details: Option<HealthStatus>,
}

/// Answers that the server is up, with details for callers that may read.
pub(crate) async fn health(shared: Arc<ServerState>, caller: Option<Caller>) -> HandlerResult {
    let details = match caller {
        Some(caller) => details(&shared, &caller).await?,
        None => None,
    };
    let health = serde_json::to_vec(&HealthResponse { status: "ok", details });
    Ok(json(health.map_err(Refusal::internal)?))
}

/// The details; `None` for a grant that may not read.
async fn details(shared: &ServerState, caller: &Caller) -> Result<Option<HealthStatus>, Refusal> {
    match status(shared, caller).await {
        Ok(status) => Ok(Some(status)),
        Err(refusal) if refusal.code == Code::Forbidden => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Asks the kernel for the server's status.
pub(crate) async fn status(shared: &ServerState, caller: &Caller) -> Result<HealthStatus, Refusal> {
    let answer = shared.dispatch("server:status", "{}", caller).await?;
    serde_json::from_slice(&answer).map_err(Refusal::internal)
}

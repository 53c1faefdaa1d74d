//! `GET /health`: that the server lives, for anyone; how it is, for whoever may read.

use std::collections::BTreeMap;
use std::sync::Arc;

use paned_kernel::Caller;
use paned_model::{Code, EventId, Refusal};
use serde::{Deserialize, Serialize};

use crate::reply::{Outcome, json};
use crate::shared::Shared;

/// How the server is, as `server:status` says it: the part that this face shows.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) uptime_ms: u64,
    pub(crate) panes: BTreeMap<String, u64>,
    pub(crate) last_event: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<String>,
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    #[serde(flatten)]
    details: Option<Status>,
}

/// Says that the server lives.
pub(crate) async fn health(shared: Arc<Shared>, caller: Option<Caller>) -> Outcome {
    let details = match caller {
        Some(caller) => details(&shared, &caller).await?,
        None => None,
    };
    let health = serde_json::to_vec(&Health { status: "ok", details });
    Ok(json(health.map_err(Refusal::internal)?))
}

/// The details; none for a grant that may not read.
async fn details(shared: &Shared, caller: &Caller) -> Result<Option<Status>, Refusal> {
    match status(shared, caller).await {
        Ok(status) => Ok(Some(status)),
        Err(refusal) if refusal.code == Code::Forbidden => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Asks the kernel how the server is.
pub(crate) async fn status(shared: &Shared, caller: &Caller) -> Result<Status, Refusal> {
    let answer = shared.dispatch("server:status", "{}", caller).await?;
    serde_json::from_slice(&answer).map_err(Refusal::internal)
}

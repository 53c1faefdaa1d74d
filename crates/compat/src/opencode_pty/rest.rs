//! `/api/sessions`, `/health` and the index page.

use std::time::Instant;

use axum::extract::{FromRequestParts, Query};
use axum::http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use axum::response::IntoResponse;
use paned_model::{Code, Refusal};
use paned_server::compat_api::{Call, HandlerResult, Rejection, resident_bytes, text};
use serde_json::{Value, json};

use super::plain_text::strip;
use super::sessions::PtyCompatSessions;
use super::spawn::{PtyCompatSpawn, fresh_id};
use super::{HTML, PARENT_QUERY};
use crate::client::KernelClient;
use crate::routes::JsonResult;

/// The page for a browser: static, without scripts.
const PAGE: &str = "<!doctype html><title>opencode-pty</title><p>paned serves clients of \
                   opencode-pty here: <code>/api/sessions</code>, <code>/ws</code>, \
                   <code>/health</code>.";

/// Lists all sessions, or those of a session of opencode.
pub(super) async fn list(sessions: PtyCompatSessions, mut call: Call) -> JsonResult {
    let parent = parent(&mut call).await?;
    Ok(json!(sessions.list_of(parent.as_deref()).await?))
}

/// Starts a session.
pub(super) async fn create(sessions: PtyCompatSessions, mut call: Call) -> JsonResult {
    let spawn = PtyCompatSpawn::read(body(&mut call).await?)?.titled_by_description();
    Ok(json!(sessions.spawn(&fresh_id(), spawn).await?))
}

/// Ends and removes all sessions, or those of a session of opencode: what its plugin does when
/// that is deleted.
pub(super) async fn clear(sessions: PtyCompatSessions, mut call: Call) -> JsonResult {
    let parent = parent(&mut call).await?;
    success_or(sessions.clear(parent.as_deref()).await, "Failed to kill session")
}

/// The session of opencode that a request is limited to.
async fn parent(call: &mut Call) -> Result<Option<String>, Rejection> {
    let query = Query::<Vec<(String, String)>>::from_request_parts(&mut call.parts, &()).await;
    let Query(query) = query.map_err(|error| Refusal::invalid(error.body_text()))?;
    let named = query.into_iter().find(|(key, _)| key == PARENT_QUERY).map(|(_, id)| id);
    if named.as_ref().is_some_and(String::is_empty) {
        // It must not mean all of them.
        let sentence = format!("{PARENT_QUERY} is empty; name a session, or leave it out for all");
        return Err(Refusal::invalid(sentence).into());
    }
    Ok(named)
}

/// Shows a session.
pub(super) async fn get(sessions: PtyCompatSessions, call: Call) -> JsonResult {
    let id = call.name()?;
    Ok(json!(sessions.info(sessions.get(&id).await?)))
}

/// Ends a session's program.
pub(super) async fn kill(sessions: PtyCompatSessions, call: Call) -> JsonResult {
    let id = call.name()?;
    success_or(sessions.kill(&id).await, "Failed to kill session")
}

/// Ends a session's program and removes the session.
pub(super) async fn cleanup(sessions: PtyCompatSessions, call: Call) -> JsonResult {
    let id = call.name()?;
    success_or(sessions.close(&id).await, "Failed to kill session")
}

/// Types into a session.
pub(super) async fn input(sessions: PtyCompatSessions, mut call: Call) -> JsonResult {
    let id = call.name()?;
    let body = body(&mut call).await?;
    let data = body["data"].as_str().filter(|data| !data.is_empty());
    let data =
        data.ok_or_else(|| Refusal::invalid("Data field is required and must be a string"))?;
    success_or(sessions.write(&id, data).await, "Failed to write to session")
}

/// A session's output, with its length in UTF-16 units, as JavaScript counts it.
pub(super) async fn raw(sessions: PtyCompatSessions, call: Call) -> JsonResult {
    let id = call.name()?;
    let raw = sessions.output(&id).await?;
    Ok(json!({ "raw": raw, "byteLength": raw.encode_utf16().count() }))
}

/// A session's output without escape sequences, with its length in bytes.
pub(super) async fn plain(sessions: PtyCompatSessions, call: Call) -> JsonResult {
    let id = call.name()?;
    let plain = strip(&sessions.output(&id).await?);
    Ok(json!({ "plain": plain, "byteLength": plain.len() }))
}

/// The server's status.
pub(super) async fn health(sessions: PtyCompatSessions, _: Call) -> JsonResult {
    let began = Instant::now();
    let KernelClient { shared, caller } = &sessions.client;
    let status: Value = sessions.client.act("server:status", json!({})).await?;
    let uptime_ms = status["uptimeMs"].as_u64().unwrap_or_default();
    let all = sessions.list().await?;
    // Only grants over all panes see what is counted over all callers.
    let sockets = if caller.reaches_all() { shared.metrics.sockets() } else { 0 };
    // There are no figures of a heap, so these are the resident size.
    let rss = resident_bytes().unwrap_or_default();
    Ok(json!({
        "status": "healthy",
        "timestamp": (shared.kernel.setup().now)(),
        "uptime": uptime_ms as f64 / 1000.0,
        "sessions": {
            "total": all.len(),
            "active": all.iter().filter(|session| session.is_active()).count(),
        },
        "websocket": { "connections": sockets },
        "memory": { "rss": rss, "heapUsed": rss, "heapTotal": rss },
        "responseTime": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

/// Shows the page.
pub(super) async fn page(_: PtyCompatSessions, _: Call) -> HandlerResult {
    let headers = [(X_FRAME_OPTIONS, "DENY"), (CONTENT_SECURITY_POLICY, "default-src 'self'")];
    Ok((headers, text(HTML, PAGE)).into_response())
}

async fn body(call: &mut Call) -> Result<Value, Rejection> {
    let body = call.body().await?;
    let read = serde_json::from_slice(&body);
    Ok(read.map_err(|_| Refusal::invalid("Invalid JSON in request body"))?)
}

/// Success, or the error text and status that clients expect.
fn success_or(done: Result<(), Refusal>, sentence: &str) -> JsonResult {
    match done {
        Ok(()) => Ok(json!({ "success": true })),
        Err(refusal) if matches!(refusal.code, Code::Unauthorized | Code::Forbidden) => {
            Err(refusal.into())
        }
        Err(refusal) => {
            let cause = json!({ "cause": refusal.sentence });
            Err(Refusal::invalid(sentence).with_details(cause).into())
        }
    }
}

//! `/api/sessions` and the index page.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use axum::response::{IntoResponse, Response};
use paned_model::{Code, Refusal};
use paned_server::compat_api::{Call, HandlerResult, JSON, Rejection, text};
use serde_json::{Value, json};

use super::HTML;
use super::plain_text::strip;
use super::sessions::PtyCompatSessions;
use super::spawn::{PtyCompatSpawn, fresh_id};
use crate::routes::json_of;

const TEXT: &str = "text/plain; charset=utf-8";
/// The page for a browser: static, without scripts.
const PAGE: &str = "<!doctype html><title>opencode-pty</title><p>This is paned's door for clients of \
                    opencode-pty: <code>/api/sessions</code>, <code>/ws</code>, <code>/health</code>.";

/// Lists all sessions.
pub(super) async fn list(sessions: PtyCompatSessions, _: Call) -> HandlerResult {
    json_of(JSON, &sessions.list().await?)
}

/// Starts a session.
pub(super) async fn create(sessions: PtyCompatSessions, mut call: Call) -> HandlerResult {
    let spawn = PtyCompatSpawn::read(body(&mut call).await?)?.titled_by_description();
    json_of(JSON, &sessions.spawn(&fresh_id(), spawn).await?)
}

/// Ends and removes all sessions.
pub(super) async fn clear(sessions: PtyCompatSessions, _: Call) -> HandlerResult {
    success_or(sessions.clear().await, "Failed to kill session")
}

/// Shows a session.
pub(super) async fn get(sessions: PtyCompatSessions, call: Call) -> HandlerResult {
    let id = call.name()?;
    json_of(JSON, &sessions.info(sessions.get(&id).await?))
}

/// Ends a session's program.
pub(super) async fn kill(sessions: PtyCompatSessions, call: Call) -> HandlerResult {
    let id = call.name()?;
    success_or(sessions.kill(&id).await, "Failed to kill session")
}

/// Ends a session's program and removes the session.
pub(super) async fn cleanup(sessions: PtyCompatSessions, call: Call) -> HandlerResult {
    let id = call.name()?;
    success_or(sessions.close(&id).await, "Failed to kill session")
}

/// Types into a session.
pub(super) async fn input(sessions: PtyCompatSessions, mut call: Call) -> HandlerResult {
    let id = call.name()?;
    let body = body(&mut call).await?;
    let data = body["data"].as_str().filter(|data| !data.is_empty());
    let data =
        data.ok_or_else(|| Refusal::invalid("Data field is required and must be a string"))?;
    success_or(sessions.write(&id, data).await, "Failed to write to session")
}

/// A session's output, with its length in UTF-16 units, as JavaScript counts it.
pub(super) async fn raw(sessions: PtyCompatSessions, call: Call) -> HandlerResult {
    let id = call.name()?;
    let raw = sessions.output(&id).await?;
    json_of(JSON, &json!({ "raw": raw, "byteLength": raw.encode_utf16().count() }))
}

/// A session's output without escape sequences, with its length in bytes.
pub(super) async fn plain(sessions: PtyCompatSessions, call: Call) -> HandlerResult {
    let id = call.name()?;
    let plain = strip(&sessions.output(&id).await?);
    json_of(JSON, &json!({ "plain": plain, "byteLength": plain.len() }))
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
fn success_or(done: Result<(), Refusal>, sentence: &str) -> HandlerResult {
    match done {
        Ok(()) => json_of(JSON, &json!({ "success": true })),
        Err(refusal) if matches!(refusal.code, Code::Unauthorized | Code::Forbidden) => {
            Err(refusal.into())
        }
        Err(refusal) => {
            let cause = json!({ "cause": refusal.sentence });
            Err(Refusal::invalid(sentence).with_details(cause).into())
        }
    }
}

/// The plain-text response to a request that is not upgraded, as clients expect it.
pub(super) fn no_socket(status: StatusCode, sentence: &str) -> Response {
    (status, text(TEXT, sentence.to_owned())).into_response()
}

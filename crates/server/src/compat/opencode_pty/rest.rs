//! `/api/sessions` and the index page.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use axum::response::{IntoResponse, Response};
use paned_model::{Code, Refusal};
use serde::Serialize;
use serde_json::{Value, json};

use super::HTML;
use super::plain_text::strip;
use super::sessions::PtyCompatSessions;
use super::spawn::{PtyCompatSpawn, fresh_id};
use crate::http::call::Call;
use crate::http::reply;
use crate::http::reply::{HandlerResult, Rejection};

const TEXT: &str = "text/plain; charset=utf-8";
/// The page for a browser: static, without scripts.
const PAGE: &str = "<!doctype html><title>opencode-pty</title><p>This is paned's door for clients of \
                    opencode-pty: <code>/api/sessions</code>, <code>/ws</code>, <code>/health</code>.";

/// Lists all sessions.
pub(super) async fn list(call: Call) -> HandlerResult {
    json_of(&sessions(&call).list().await?)
}

/// Starts a session.
pub(super) async fn create(mut call: Call) -> HandlerResult {
    let spawn = PtyCompatSpawn::read(body(&mut call).await?)?.titled_by_description();
    json_of(&sessions(&call).spawn(&fresh_id(), spawn).await?)
}

/// Ends and removes all sessions.
pub(super) async fn clear(call: Call) -> HandlerResult {
    success_or(sessions(&call).clear().await, "Failed to kill session")
}

/// Shows a session.
pub(super) async fn get(call: Call) -> HandlerResult {
    let id = call.name()?;
    let sessions = sessions(&call);
    json_of(&sessions.info(sessions.get(&id).await?))
}

/// Ends a session's program.
pub(super) async fn kill(call: Call) -> HandlerResult {
    let id = call.name()?;
    success_or(sessions(&call).kill(&id).await, "Failed to kill session")
}

/// Ends a session's program and removes the session.
pub(super) async fn cleanup(call: Call) -> HandlerResult {
    let id = call.name()?;
    success_or(sessions(&call).close(&id).await, "Failed to kill session")
}

/// Types into a session.
pub(super) async fn input(mut call: Call) -> HandlerResult {
    let id = call.name()?;
    let body = body(&mut call).await?;
    let data = body["data"].as_str().filter(|data| !data.is_empty());
    let data =
        data.ok_or_else(|| Refusal::invalid("Data field is required and must be a string"))?;
    success_or(sessions(&call).write(&id, data).await, "Failed to write to session")
}

/// A session's output, with its length in UTF-16 units, as JavaScript counts it.
pub(super) async fn raw(call: Call) -> HandlerResult {
    let id = call.name()?;
    let raw = sessions(&call).output(&id).await?;
    json_of(&json!({ "raw": raw, "byteLength": raw.encode_utf16().count() }))
}

/// A session's output without escape sequences, with its length in bytes.
pub(super) async fn plain(call: Call) -> HandlerResult {
    let id = call.name()?;
    let plain = strip(&sessions(&call).output(&id).await?);
    json_of(&json!({ "plain": plain, "byteLength": plain.len() }))
}

/// Shows the page.
pub(super) async fn page(_: Call) -> HandlerResult {
    let headers = [(X_FRAME_OPTIONS, "DENY"), (CONTENT_SECURITY_POLICY, "default-src 'self'")];
    Ok((headers, reply::text(HTML, PAGE)).into_response())
}

/// The caller's sessions.
pub(super) fn sessions(call: &Call) -> PtyCompatSessions {
    PtyCompatSessions { shared: call.shared.clone(), caller: call.caller.clone() }
}

/// A value as a JSON response.
pub(super) fn json_of(value: &impl Serialize) -> HandlerResult {
    Ok(reply::json(serde_json::to_vec(value).map_err(Refusal::internal)?))
}

async fn body(call: &mut Call) -> Result<Value, Rejection> {
    let body = call.body().await?;
    let read = serde_json::from_slice(&body);
    Ok(read.map_err(|_| Refusal::invalid("Invalid JSON in request body"))?)
}

/// Success, or the error text and status that clients expect.
fn success_or(done: Result<(), Refusal>, text: &str) -> HandlerResult {
    match done {
        Ok(()) => json_of(&json!({ "success": true })),
        Err(refusal) if matches!(refusal.code, Code::Unauthorized | Code::Forbidden) => {
            Err(refusal.into())
        }
        Err(refusal) => {
            let cause = json!({ "cause": refusal.sentence });
            Err(Refusal::invalid(text).with_details(cause).into())
        }
    }
}

/// The plain-text response to a request that is not upgraded, as clients expect it.
pub(super) fn no_socket(status: StatusCode, sentence: &str) -> Response {
    (status, reply::text(TEXT, sentence.to_owned())).into_response()
}

//! The endpoints of agentmux.

use axum::extract::{FromRequestParts, Query};
use axum::http::{Method, StatusCode};
use jiff::tz::TimeZone;
use paned_model::{Code, Delivery, Refusal};
use paned_server::compat_api::{Call, OtherMethod, Rejection};
use serde_json::{Value, json};

use super::body::{self, AgentmuxBody};
use super::content_length;
use super::session::AgentmuxSession;
use super::sessions::{AgentmuxSessions, MAX_SESSIONS};
use crate::routes::JsonResult;

/// The health of all sessions.
pub(super) async fn health(sessions: AgentmuxSessions, _: Call) -> JsonResult {
    let all = sessions.list().await?;
    let active = all.last().map(|session| session.name.as_str());
    let zone = TimeZone::system();
    let health =
        |session: &AgentmuxSession| session.health(&zone, Some(session.name.as_str()) == active);
    Ok(json!({
        "ok": true,
        "agent": sessions.api.config.agent,
        "active_session": active,
        "total_sessions": all.len(),
        "sessions": all.iter().map(health).collect::<Vec<_>>(),
    }))
}

/// Lists all sessions.
pub(super) async fn sessions(sessions: AgentmuxSessions, _: Call) -> JsonResult {
    let all = sessions.list().await?;
    let zone = TimeZone::system();
    Ok(json!({
        "sessions": all.iter().map(|session| session.summary(&zone)).collect::<Vec<_>>(),
        "active": all.last().map_or("", |session| &session.name),
    }))
}

/// Whether the active session's agent takes a prompt.
pub(super) async fn idle(sessions: AgentmuxSessions, _: Call) -> JsonResult {
    let active = sessions.require_active().await?;
    if !active.is_alive() {
        // An error, or a client that polls until it is idle would poll forever.
        let sentence = format!("session '{}' has ended", active.name);
        return Err(Refusal::internal(sentence).into());
    }
    let activity = active.activity();
    Ok(json!({
        "idle": activity.idle,
        "ctx_percent": activity.ctx_percent,
        "session": active.name,
    }))
}

/// The last lines of a session.
pub(super) async fn capture(sessions: AgentmuxSessions, mut call: Call) -> JsonResult {
    let query = Query::<Vec<(String, String)>>::from_request_parts(&mut call.parts, &()).await;
    let Query(query) = query.map_err(|error| Refusal::invalid(error.body_text()))?;
    let param =
        |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let lines = body::lines(param("lines"))?;
    let (session, target) = sessions.resolve(param("target").and_then(body::non_blank)).await?;
    let content = sessions.capture(&session, lines).await?;
    Ok(json!({ "target": target, "lines": lines, "content": content }))
}

/// Sends a text to a session's agent.
pub(super) async fn send(sessions: AgentmuxSessions, mut call: Call) -> JsonResult {
    let body = read_body(&mut call).await?;
    let text = body.required("text")?;
    let (session, target) = sessions.resolve(body.target()?).await?;
    let outcome = sessions.send(&session, text).await?;
    let done = json!({ "ok": true, "action": "send", "target": target });
    Ok(with_outcome(done, outcome))
}

/// Starts an agent and sends it a text.
pub(super) async fn run(
    sessions: AgentmuxSessions,
    mut call: Call,
) -> Result<(StatusCode, Value), Rejection> {
    let body = read_body(&mut call).await?;
    let text = body.required("text")?;
    let permit = sessions.spawn_permit().await?;
    let one_at_a_time = sessions.api.config.one_at_a_time;
    if let Some(busy) = sessions.active().await?.filter(|_| one_at_a_time).filter(is_busy) {
        return Ok((StatusCode::CONFLICT, busy_answer(&busy)));
    }
    make_room(&sessions).await?;
    let session = sessions.start().await?;
    // Other requests need not wait until this one is ready, unless they would be refused then.
    let _permit = one_at_a_time.then_some(permit);
    let outcome = send_first(&sessions, &session, text).await?;
    let done = json!({
        "ok": true,
        "action": "run",
        "session": session.name,
        "target": session.target(),
    });
    Ok((StatusCode::OK, with_outcome(done, outcome)))
}

/// Presses a key.
pub(super) async fn key(sessions: AgentmuxSessions, mut call: Call) -> JsonResult {
    let fields = read_body(&mut call).await?;
    let name = fields.required("key")?;
    let repeat = fields.repeat()?;
    let (session, target) = sessions.resolve(fields.target()?).await?;
    sessions.press(&session, body::key(name)?, repeat).await?;
    Ok(json!({ "ok": true, "action": "key", "target": target, "key": name }))
}

/// Replaces the active session.
pub(super) async fn restart(sessions: AgentmuxSessions, mut call: Call) -> JsonResult {
    read_body(&mut call).await?;
    let name = replace_active(&sessions).await?;
    let target = format!("{name}:0.0");
    Ok(json!({
        "ok": true, "action": "restart", "session": name, "target": target, "ready": true,
    }))
}

/// Closes idle sessions.
pub(super) async fn cleanup(sessions: AgentmuxSessions, mut call: Call) -> JsonResult {
    read_body(&mut call).await?;
    let killed = sessions.clean_up().await?;
    Ok(json!({ "ok": true, "action": "cleanup", "killed": killed }))
}

/// Closes a session.
pub(super) async fn kill(sessions: AgentmuxSessions, mut call: Call) -> JsonResult {
    let body = read_body(&mut call).await?;
    let name = body.required("session")?;
    if !sessions.list().await?.iter().any(|session| session.name == name) {
        return Err(Refusal::not_found(format!("session '{name}' not found")).into());
    }
    sessions.close(name).await?;
    Ok(json!({ "ok": true, "action": "kill", "session": name }))
}

/// Answers where there is no endpoint. A body is read first, as its clients expect: they also know
/// only 404 for a GET or POST of the wrong path. The server adds `Allow` to a 405.
pub(super) async fn unknown(mut call: Call) -> JsonResult {
    let is_other_method = call.parts.extensions.get::<OtherMethod>().is_some();
    match call.parts.method {
        Method::POST => drop(read_body(&mut call).await?),
        Method::GET | Method::HEAD => {}
        other if is_other_method => {
            let sentence = format!("agentmux takes GET and POST, not {other}");
            return Err(Rejection::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, sentence));
        }
        _ => {}
    }
    Err(Refusal::not_found("not found").into())
}

/// Parses a request's body.
async fn read_body(call: &mut Call) -> Result<AgentmuxBody, Rejection> {
    if content_length::has_bad_length(&call.parts.headers) {
        return Err(Refusal::invalid("invalid Content-Length").into());
    }
    Ok(AgentmuxBody::read(&call.body().await?)?)
}

/// Whether a client that runs agents one at a time must wait for this one.
fn is_busy(session: &AgentmuxSession) -> bool {
    session.is_alive() && !session.is_idle()
}

fn busy_answer(busy: &AgentmuxSession) -> Value {
    json!({
        "ok": false,
        "busy": true,
        "error": "Agent is busy, previous task still running",
        "session": busy.name,
    })
}

/// Makes room for one more session.
async fn make_room(sessions: &AgentmuxSessions) -> Result<(), Rejection> {
    if sessions.list().await?.len() < MAX_SESSIONS {
        return Ok(());
    }
    sessions.clean_up().await?;
    if sessions.list().await?.len() < MAX_SESSIONS {
        return Ok(());
    }
    let sentence = format!("session limit ({MAX_SESSIONS}) reached");
    Err(Refusal::new(Code::Conflict, sentence).into())
}

/// Sends a new agent its first text, once it takes a prompt. An agent that got none is closed
/// again.
async fn send_first(
    sessions: &AgentmuxSessions,
    session: &AgentmuxSession,
    text: &str,
) -> Result<Delivery, Rejection> {
    let sent = match sessions.wait_ready(&session.name).await {
        Ok(true) => sessions.send(session, text).await,
        Ok(false) => Err(Refusal::new(Code::Unavailable, "new session did not become ready")),
        Err(refusal) => Err(refusal),
    };
    // An agent that may be working on the text is kept.
    if sent.as_ref().is_err_and(|refusal| refusal.code != Code::Internal) {
        sessions.close(&session.name).await?;
    }
    Ok(sent?)
}

/// Replaces the active session by a fresh one, or starts the first. Returns its name.
async fn replace_active(sessions: &AgentmuxSessions) -> Result<String, Rejection> {
    let unready = || Refusal::new(Code::Unavailable, "replacement session did not become ready");
    let active = sessions.active().await?;
    if let Some(active) = active.as_ref().filter(|active| active.is_alive()) {
        return sessions.replace(active).await.map_err(|refusal| match refusal.code {
            Code::Timeout | Code::Unavailable | Code::Gone => unready().into(),
            _ => refusal.into(),
        });
    }
    let session = sessions.start().await?;
    if !sessions.wait_ready(&session.name).await? {
        sessions.close(&session.name).await?;
        return Err(unready().into());
    }
    if let Some(ended) = active {
        sessions.close(&ended.name).await?;
    }
    Ok(session.name)
}

/// Adds the outcome of a text that is not submitted yet.
fn with_outcome(mut done: Value, outcome: Delivery) -> Value {
    if outcome != Delivery::Submitted {
        done["outcome"] = json!(outcome);
    }
    done
}

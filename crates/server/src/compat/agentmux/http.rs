//! The endpoints: requests in, agentmux's answers and texts out.

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use jiff::tz::TimeZone;
use paned_model::{Code, Delivery, Refusal};
use serde::Serialize;
use serde_json::{Value, json};

use super::body::{self, AgentmuxBody};
use super::content_length;
use super::session::AgentmuxSession;
use super::sessions::{AgentmuxSessions, MAX_SESSIONS};
use crate::call::Call;
use crate::reply::{self, ErrorFormat, HandlerResult, JSON_UTF8, Rejection};

/// How everything is.
pub(super) async fn health(call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let all = AgentmuxSessions::of(&call).list().await?;
        let active = all.last().map(|session| session.name.as_str());
        let zone = TimeZone::system();
        let known = |session: &AgentmuxSession| {
            session.health(&zone, Some(session.name.as_str()) == active)
        };
        json_of(&json!({
            "ok": true,
            "agent": call.shared.agentmux.agent,
            "active_session": active,
            "total_sessions": all.len(),
            "sessions": all.iter().map(known).collect::<Vec<_>>(),
        }))
    })
    .await
}

/// Every session.
pub(super) async fn sessions(call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let all = AgentmuxSessions::of(&call).list().await?;
        let zone = TimeZone::system();
        json_of(&json!({
            "sessions": all.iter().map(|session| session.summary(&zone)).collect::<Vec<_>>(),
            "active": all.last().map_or("", |session| &session.name),
        }))
    })
    .await
}

/// Whether the active session's agent takes a prompt.
pub(super) async fn idle(call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let active = AgentmuxSessions::of(&call).require_active().await?;
        if !active.is_alive() {
            // Nobody who waits for it to be idle should wait for ever.
            let sentence = format!("session '{}' has ended", active.name);
            return Err(Refusal::internal(sentence).into());
        }
        let live = active.activity();
        json_of(&json!({
            "idle": live.idle,
            "ctx_percent": live.ctx_percent,
            "session": active.name,
        }))
    })
    .await
}

/// The last lines of a session.
pub(super) async fn capture(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let query = Query::<Vec<(String, String)>>::from_request_parts(&mut call.parts, &()).await;
        let Query(query) = query.map_err(|error| Refusal::invalid(error.body_text()))?;
        let said =
            |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let lines = body::lines(said("lines"))?;
        let sessions = AgentmuxSessions::of(&call);
        let (session, target) = sessions.resolve(said("target").and_then(body::non_blank)).await?;
        let content = sessions.capture(&session, lines).await?;
        json_of(&json!({ "target": target, "lines": lines, "content": content }))
    })
    .await
}

/// Hands over a text.
pub(super) async fn send(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let asked = read_body(&mut call).await?;
        let text = asked.required("text")?;
        let sessions = AgentmuxSessions::of(&call);
        let (session, target) = sessions.resolve(asked.target()?).await?;
        let outcome = sessions.send(&session, text).await?;
        let done = json!({ "ok": true, "action": "send", "target": target });
        json_of(&with_outcome(done, outcome))
    })
    .await
}

/// Starts an agent and hands it a text.
pub(super) async fn run(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let asked = read_body(&mut call).await?;
        let text = asked.required("text")?;
        let sessions = AgentmuxSessions::of(&call);
        let turn = sessions.spawn_permit().await?;
        let alone = call.shared.agentmux.one_at_a_time;
        if let Some(busy) = sessions.active().await?.filter(|_| alone).filter(is_busy) {
            return answer_busy(&busy);
        }
        make_room(&sessions).await?;
        let session = sessions.start().await?;
        // Others need not wait until this one is ready, unless they would be turned away then.
        let _turn = alone.then_some(turn);
        let outcome = send_first(&sessions, &session, text).await?;
        let (name, target) = (&session.name, session.target());
        let done = json!({ "ok": true, "action": "run", "session": name, "target": target });
        json_of(&with_outcome(done, outcome))
    })
    .await
}

/// Presses a key.
pub(super) async fn key(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let asked = read_body(&mut call).await?;
        let name = asked.required("key")?;
        let repeat = asked.repeat()?;
        let sessions = AgentmuxSessions::of(&call);
        let (session, target) = sessions.resolve(asked.target()?).await?;
        sessions.press(&session, body::key(name)?, repeat).await?;
        json_of(&json!({ "ok": true, "action": "key", "target": target, "key": name }))
    })
    .await
}

/// Replaces the active session.
pub(super) async fn restart(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        read_body(&mut call).await?;
        let sessions = AgentmuxSessions::of(&call);
        let name = replace_active(&sessions).await?;
        let target = format!("{name}:0.0");
        json_of(&json!({
            "ok": true, "action": "restart", "session": name, "target": target, "ready": true,
        }))
    })
    .await
}

/// Closes what is idle.
pub(super) async fn cleanup(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        read_body(&mut call).await?;
        let killed = AgentmuxSessions::of(&call).clean_up().await?;
        json_of(&json!({ "ok": true, "action": "cleanup", "killed": killed }))
    })
    .await
}

/// Closes one.
pub(super) async fn kill(mut call: Call) -> HandlerResult {
    with_bare_errors(async move {
        let asked = read_body(&mut call).await?;
        let name = asked.required("session")?;
        let sessions = AgentmuxSessions::of(&call);
        if !sessions.list().await?.iter().any(|session| session.name == name) {
            return Err(Refusal::not_found(format!("session '{name}' not found")).into());
        }
        sessions.close(name).await?;
        json_of(&json!({ "ok": true, "action": "kill", "session": name }))
    })
    .await
}

/// What a request's body says.
pub(super) async fn read_body(call: &mut Call) -> Result<AgentmuxBody, Rejection> {
    if content_length::has_bad_length(&call.parts.headers) {
        return Err(Refusal::invalid("invalid Content-Length").into());
    }
    Ok(AgentmuxBody::read(&call.body().await?)?)
}

/// Whether somebody who wants the agents one after the other must wait for this one.
fn is_busy(session: &AgentmuxSession) -> bool {
    session.is_alive() && !session.is_idle()
}

fn answer_busy(busy: &AgentmuxSession) -> HandlerResult {
    let busy = json!({
        "ok": false,
        "busy": true,
        "error": "Agent is busy, previous task still running",
        "session": busy.name,
    });
    Ok((StatusCode::CONFLICT, json_of(&busy)?).into_response())
}

/// Sees to it that one more session may be made.
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

/// Hands a new agent its first text, once it takes one. An agent that got none is closed again.
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
    // One that may be at work on the text stays.
    if sent.as_ref().is_err_and(|refusal| refusal.code != Code::Internal) {
        sessions.close(&session.name).await?;
    }
    Ok(sent?)
}

/// A fresh session in place of the active one, or the first; answers its name.
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

/// The same with what became of a text that is not with its agent yet.
fn with_outcome(mut done: Value, outcome: Delivery) -> Value {
    if outcome != Delivery::Submitted {
        done["outcome"] = json!(outcome);
    }
    done
}

fn json_of(value: &impl Serialize) -> HandlerResult {
    Ok(reply::text(JSON_UTF8, serde_json::to_vec(value).map_err(Refusal::internal)?))
}

/// Refusals as its clients know them.
async fn with_bare_errors(answer: impl Future<Output = HandlerResult>) -> HandlerResult {
    answer.await.map_err(|rejection| rejection.with_format(ErrorFormat::Bare))
}

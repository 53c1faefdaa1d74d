//! The endpoints of agentapi.

use paned_model::Refusal;
use serde::Serialize;
use serde_json::json;

use super::agent::AgentapiAgent;
use super::input::AgentapiInput;
use crate::http::call::Call;
use crate::http::reply;
use crate::http::reply::{ErrorFormat, HandlerResult};

/// The agent's status.
pub(super) async fn status(mut call: Call) -> HandlerResult {
    with_problem_errors(async move {
        let status = AgentapiAgent::of(&mut call).await?.status().await?;
        json_of(&json!({
            "agent_type": status.agent_type,
            "status": status.status,
            "transport": "pty",
        }))
    })
    .await
}

/// All messages.
pub(super) async fn messages(mut call: Call) -> HandlerResult {
    with_problem_errors(async move {
        let messages = AgentapiAgent::of(&mut call).await?.messages().await?;
        json_of(&json!({ "messages": messages }))
    })
    .await
}

/// Sends a message.
pub(super) async fn message(mut call: Call) -> HandlerResult {
    with_problem_errors(async move {
        let agent = AgentapiAgent::of(&mut call).await?;
        let input = AgentapiInput::read(&call.body().await?)?;
        agent.send(input).await?;
        json_of(&json!({ "ok": true }))
    })
    .await
}

/// Refuses uploads, which are not supported.
pub(super) async fn upload(_: Call) -> HandlerResult {
    let sentence =
        "files are not taken here: put it where the agent can read it, and name the path";
    with_problem_errors(async { Err(Refusal::not_found(sentence).into()) }).await
}

fn json_of(value: &impl Serialize) -> HandlerResult {
    Ok(reply::json(serde_json::to_vec(value).map_err(Refusal::internal)?))
}

/// Encodes refusals as agentapi's clients expect them.
pub(super) async fn with_problem_errors(
    answer: impl Future<Output = HandlerResult>,
) -> HandlerResult {
    answer.await.map_err(|rejection| rejection.with_format(ErrorFormat::Problem))
}

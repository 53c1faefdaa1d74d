//! The endpoints: requests in, agentapi's answers out.

use paned_model::Refusal;
use serde::Serialize;
use serde_json::json;

use super::agent::AgentapiAgent;
use super::input::AgentapiInput;
use crate::call::Call;
use crate::reply::{self, ErrorFormat, HandlerResult};

/// Whether the agent works.
pub(super) async fn status(mut call: Call) -> HandlerResult {
    with_problem_errors(async move {
        let status = AgentapiAgent::of(&mut call).await?.status().await?;
        let (status, agent) = (status.status, status.agent_type);
        json_of(&json!({ "agent_type": agent, "status": status, "transport": "pty" }))
    })
    .await
}

/// What was said.
pub(super) async fn messages(mut call: Call) -> HandlerResult {
    with_problem_errors(async move {
        let messages = AgentapiAgent::of(&mut call).await?.messages().await?;
        json_of(&json!({ "messages": messages }))
    })
    .await
}

/// Says something.
pub(super) async fn message(mut call: Call) -> HandlerResult {
    with_problem_errors(async move {
        let agent = AgentapiAgent::of(&mut call).await?;
        let said = AgentapiInput::read(&call.body().await?)?;
        agent.send(said).await?;
        json_of(&json!({ "ok": true }))
    })
    .await
}

/// What is not offered.
pub(super) async fn upload(_: Call) -> HandlerResult {
    let sentence =
        "files are not taken here: put it where the agent can read it, and name the path";
    with_problem_errors(async { Err(Refusal::not_found(sentence).into()) }).await
}

fn json_of(value: &impl Serialize) -> HandlerResult {
    Ok(reply::json(serde_json::to_vec(value).map_err(Refusal::internal)?))
}

/// Refusals as its clients know them.
pub(super) async fn with_problem_errors(
    answer: impl Future<Output = HandlerResult>,
) -> HandlerResult {
    answer.await.map_err(|rejection| rejection.with_format(ErrorFormat::Problem))
}

//! The endpoints: requests in, agentapi's answers out.

use paned_model::Refusal;
use serde::Serialize;
use serde_json::json;

use super::agent::Agent;
use super::said::Said;
use crate::call::Call;
use crate::reply::{self, Form, Outcome};

/// Whether the agent works.
pub(super) async fn status(mut call: Call) -> Outcome {
    problem(async move {
        let status = Agent::of(&mut call).await?.status().await?;
        let (status, agent) = (status.status, status.agent_type);
        json_of(&json!({ "agent_type": agent, "status": status, "transport": "pty" }))
    })
    .await
}

/// What was said.
pub(super) async fn messages(mut call: Call) -> Outcome {
    problem(async move {
        let messages = Agent::of(&mut call).await?.messages().await?;
        json_of(&json!({ "messages": messages }))
    })
    .await
}

/// Says something.
pub(super) async fn message(mut call: Call) -> Outcome {
    problem(async move {
        let agent = Agent::of(&mut call).await?;
        let said = Said::read(&call.body().await?)?;
        agent.tell(said).await?;
        json_of(&json!({ "ok": true }))
    })
    .await
}

/// What is not offered.
pub(super) async fn upload(_: Call) -> Outcome {
    let sentence =
        "files are not taken here: put it where the agent can read it, and name the path";
    problem(async { Err(Refusal::not_found(sentence).into()) }).await
}

fn json_of(value: &impl Serialize) -> Outcome {
    Ok(reply::json(serde_json::to_vec(value).map_err(Refusal::internal)?))
}

/// Refusals as its clients know them.
pub(super) async fn problem(answer: impl Future<Output = Outcome>) -> Outcome {
    answer.await.map_err(|rejection| rejection.written(Form::Problem))
}

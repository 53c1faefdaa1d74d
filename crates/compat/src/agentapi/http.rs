//! The endpoints of agentapi.

use paned_model::Refusal;
use paned_server::compat_api::{Call, HandlerResult, JSON};
use serde_json::json;

use super::agent::AgentapiAgent;
use super::input::AgentapiInput;
use crate::client::KernelClient;
use crate::routes::json_of;

/// The agent's status.
pub(super) async fn status(client: KernelClient, mut call: Call) -> HandlerResult {
    let status = AgentapiAgent::of(client, &mut call).await?.status().await?;
    json_of(
        JSON,
        &json!({
            "agent_type": status.agent_type,
            "status": status.status,
            "transport": "pty",
        }),
    )
}

/// All messages.
pub(super) async fn messages(client: KernelClient, mut call: Call) -> HandlerResult {
    let messages = AgentapiAgent::of(client, &mut call).await?.messages().await?;
    json_of(JSON, &json!({ "messages": messages }))
}

/// Sends a message.
pub(super) async fn message(client: KernelClient, mut call: Call) -> HandlerResult {
    let agent = AgentapiAgent::of(client, &mut call).await?;
    let input = AgentapiInput::read(&call.body().await?)?;
    agent.send(input).await?;
    json_of(JSON, &json!({ "ok": true }))
}

/// Refuses uploads, which are not supported.
pub(super) async fn upload(_: KernelClient, _: Call) -> HandlerResult {
    let sentence =
        "files are not taken here: put it where the agent can read it, and name the path";
    Err(Refusal::not_found(sentence).into())
}

//! The compat API for clients of agentapi: one agent's messages and status.
//!
//! | file | idea |
//! |---|---|
//! | `input` | parses a message, with agentapi's error texts |
//! | `agent` | the agent that a request is about, accessed by actions of the kernel |
//! | `events` | the stream of changes |
//! | `shapes` | its bodies and answers as JSON Schema |
//!
//! Every agent has the endpoints under its pane's name. Without a name they are about the
//! listener's own agent, or the newest.

mod agent;
mod events;
mod input;
mod shapes;

use std::sync::Arc;

use paned_model::Refusal;
use paned_server::compat_api::{Call, CompatApi, EVENT_STREAM, ErrorFormat, JSON};
use paned_server::{AcceptedBody, ParamLocation, Route, RouteParam};
use serde_json::json;

use crate::client::KernelClient;
use crate::routes::{JsonResult, RouteBuilder};
use agent::AgentapiAgent;
use input::AgentapiInput;

/// The name of this API.
pub(crate) const NAME: &str = "agentapi";

const AGENT: &[RouteParam] = &[RouteParam {
    location: ParamLocation::Path,
    name: "pane",
    doc: "The agent's pane.",
    schema: shapes::pane,
}];
const STATUS: &str = "Show whether an agent is working.";
const MESSAGES: &str = "Show an agent's conversation.";
const MESSAGE: &str = "Send a message to an agent, or type into its terminal.";
const EVENTS: &str = "Stream an agent's messages and status.";
const UPLOAD: &str = "Refuse a file: uploads are not supported.";

/// The API.
#[derive(Debug, Default)]
pub(crate) struct Agentapi;

impl CompatApi for Agentapi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let json = RouteBuilder {
            context: Arc::new(KernelClient::of),
            path_param: AGENT,
            takes: AcceptedBody::Json,
            answers: JSON,
            errors: ErrorFormat::Problem,
        };
        let stream = RouteBuilder { context: json.context.clone(), answers: EVENT_STREAM, ..json };
        // Its clients upload no JSON.
        let any =
            RouteBuilder { context: json.context.clone(), takes: AcceptedBody::Anything, ..json };
        vec![
            json.route("GET /compat/agentapi/status", STATUS, shapes::STATUS, status),
            json.route("GET /compat/agentapi/messages", MESSAGES, shapes::MESSAGES, messages),
            json.route("POST /compat/agentapi/message", MESSAGE, shapes::MESSAGE, message),
            stream.route("GET /compat/agentapi/events", EVENTS, shapes::EVENTS, events::follow),
            any.route("POST /compat/agentapi/upload", UPLOAD, shapes::UPLOAD, upload),
            json.route("GET /compat/agentapi/{pane}/status", STATUS, shapes::STATUS, status),
            json.route(
                "GET /compat/agentapi/{pane}/messages",
                MESSAGES,
                shapes::MESSAGES,
                messages,
            ),
            json.route("POST /compat/agentapi/{pane}/message", MESSAGE, shapes::MESSAGE, message),
            stream.route(
                "GET /compat/agentapi/{pane}/events",
                EVENTS,
                shapes::EVENTS,
                events::follow,
            ),
            any.route("POST /compat/agentapi/{pane}/upload", UPLOAD, shapes::UPLOAD, upload),
        ]
    }
}

/// The agent's status.
async fn status(client: KernelClient, mut call: Call) -> JsonResult {
    let status = AgentapiAgent::of(client, &mut call).await?.status().await?;
    Ok(json!({
        "agent_type": status.agent_type,
        "status": status.status,
        "transport": "pty",
    }))
}

/// All messages.
async fn messages(client: KernelClient, mut call: Call) -> JsonResult {
    let messages = AgentapiAgent::of(client, &mut call).await?.messages().await?;
    Ok(json!({ "messages": messages }))
}

/// Sends a message.
async fn message(client: KernelClient, mut call: Call) -> JsonResult {
    let agent = AgentapiAgent::of(client, &mut call).await?;
    let input = AgentapiInput::read(&call.body().await?)?;
    agent.send(input).await?;
    Ok(json!({ "ok": true }))
}

/// Refuses uploads, which are not supported.
async fn upload(_: KernelClient, _: Call) -> JsonResult {
    let sentence =
        "uploads are not supported: put the file where the agent can read it and send its path";
    Err(Refusal::not_found(sentence).into())
}

//! The compat API for clients of agentapi: one agent's messages and status.
//!
//! | file | idea |
//! |---|---|
//! | `input` | parses a message, with agentapi's error texts |
//! | `agent` | the agent that a request is about, accessed by actions of the kernel |
//! | `http` | the endpoints |
//! | `events` | the stream of changes |
//!
//! Every agent has the endpoints under its pane's name. Without a name they are about the
//! listener's own agent, or the newest.

mod agent;
mod events;
mod http;
mod input;

use std::sync::Arc;

use paned_server::compat_api::{CompatApi, EVENT_STREAM, ErrorFormat, JSON};
use paned_server::{AcceptedBody, ParamLocation, Route, RouteParam};

use crate::client::KernelClient;
use crate::routes::RouteBuilder;

/// The name of this API.
pub(crate) const NAME: &str = "agentapi";

const AGENT: &[RouteParam] =
    &[RouteParam { location: ParamLocation::Path, name: "pane", doc: "The agent's pane." }];
const STATUS: &str = "Say whether an agent works.";
const MESSAGES: &str = "Show what was said to an agent and by it.";
const MESSAGE: &str = "Hand a message to an agent, or type into its terminal.";
const EVENTS: &str = "Follow an agent's messages and whether it works.";
const UPLOAD: &str = "Say that files are not taken here.";

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
            json.get("/doors/agentapi/status", STATUS, http::status),
            json.get("/doors/agentapi/messages", MESSAGES, http::messages),
            json.post("/doors/agentapi/message", MESSAGE, http::message),
            stream.get("/doors/agentapi/events", EVENTS, events::follow),
            any.post("/doors/agentapi/upload", UPLOAD, http::upload),
            json.get("/doors/agentapi/{pane}/status", STATUS, http::status),
            json.get("/doors/agentapi/{pane}/messages", MESSAGES, http::messages),
            json.post("/doors/agentapi/{pane}/message", MESSAGE, http::message),
            stream.get("/doors/agentapi/{pane}/events", EVENTS, events::follow),
            any.post("/doors/agentapi/{pane}/upload", UPLOAD, http::upload),
        ]
    }
}

//! The door for clients of agentapi: one agent's messages and whether it works.
//!
//! | file | idea |
//! |---|---|
//! | `input` | what a request says, and the texts for what it must not say |
//! | `agent` | the agent that is meant, asked by actions of the kernel |
//! | `http` | the endpoints |
//! | `events` | what changes, as it changes |
//!
//! Every agent has the endpoints under its pane's name. Without a name the listener's own agent is meant, or the
//! newest.

mod agent;
mod events;
mod http;
mod input;

use axum::http::Method;
use paned_policy::guard::AcceptedBody;

use crate::events::MEDIA_TYPE;
use crate::reply::JSON;
use crate::routes::{ParamLocation, Route, RouteHandler, RouteParam};

/// The door's name.
pub(crate) const NAME: &str = "agentapi";
/// What the paths of its routes begin with.
pub(crate) const PREFIX: &str = "/doors/agentapi";

const AGENT: &[RouteParam] =
    &[RouteParam { location: ParamLocation::Path, name: "pane", doc: "The agent's pane." }];

const fn get(
    path: &'static str,
    doc: &'static str,
    inputs: &'static [RouteParam],
    entry: RouteHandler,
) -> Route {
    Route {
        method: Method::GET,
        path,
        doc,
        params: inputs,
        takes: AcceptedBody::Json,
        answers: JSON,
        handler: entry,
    }
}

const fn post(
    path: &'static str,
    doc: &'static str,
    inputs: &'static [RouteParam],
    entry: RouteHandler,
) -> Route {
    Route {
        method: Method::POST,
        path,
        doc,
        params: inputs,
        takes: AcceptedBody::Json,
        answers: JSON,
        handler: entry,
    }
}

const fn stream(path: &'static str, inputs: &'static [RouteParam]) -> Route {
    Route {
        method: Method::GET,
        path,
        doc: "Follow an agent's messages and whether it works.",
        params: inputs,
        takes: AcceptedBody::Json,
        answers: MEDIA_TYPE,
        handler: RouteHandler::Grant(|call| Box::pin(events::follow(call))),
    }
}

/// What is not offered; its clients send no JSON there.
const fn upload(path: &'static str, inputs: &'static [RouteParam]) -> Route {
    Route {
        method: Method::POST,
        path,
        doc: "Say that files are not taken here.",
        params: inputs,
        takes: AcceptedBody::Anything,
        answers: JSON,
        handler: RouteHandler::Grant(|call| Box::pin(http::upload(call))),
    }
}

const STATUS: &str = "Say whether an agent works.";
const MESSAGES: &str = "Show what was said to an agent and by it.";
const MESSAGE: &str = "UpgradeSlot a message to an agent, or type into its terminal.";

/// Its rows of the one table.
pub(crate) const ROUTES: [Route; 10] = [
    get(
        "/doors/agentapi/status",
        STATUS,
        &[],
        RouteHandler::Grant(|call| Box::pin(http::status(call))),
    ),
    get(
        "/doors/agentapi/messages",
        MESSAGES,
        &[],
        RouteHandler::Grant(|call| Box::pin(http::messages(call))),
    ),
    post(
        "/doors/agentapi/message",
        MESSAGE,
        &[],
        RouteHandler::Grant(|call| Box::pin(http::message(call))),
    ),
    stream("/doors/agentapi/events", &[]),
    upload("/doors/agentapi/upload", &[]),
    get(
        "/doors/agentapi/{pane}/status",
        STATUS,
        AGENT,
        RouteHandler::Grant(|call| Box::pin(http::status(call))),
    ),
    get(
        "/doors/agentapi/{pane}/messages",
        MESSAGES,
        AGENT,
        RouteHandler::Grant(|call| Box::pin(http::messages(call))),
    ),
    post(
        "/doors/agentapi/{pane}/message",
        MESSAGE,
        AGENT,
        RouteHandler::Grant(|call| Box::pin(http::message(call))),
    ),
    stream("/doors/agentapi/{pane}/events", AGENT),
    upload("/doors/agentapi/{pane}/upload", AGENT),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_under_the_prefix() {
        assert_eq!(PREFIX, format!("/doors/{NAME}"));
        assert!(ROUTES.iter().all(|route| route.path.starts_with(PREFIX)));
    }
}

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

use axum::http::Method;
use paned_policy::guard::AcceptedBody;

use crate::http::events::MEDIA_TYPE;
use crate::http::reply::JSON;
use crate::http::routes::{ParamLocation, Route, RouteHandler, RouteParam};

/// The name of this API.
pub(crate) const NAME: &str = "agentapi";
/// The prefix of its paths.
pub(crate) const PREFIX: &str = "/doors/agentapi";

const AGENT: &[RouteParam] =
    &[RouteParam { location: ParamLocation::Path, name: "pane", doc: "The agent's pane." }];

const fn get(
    path: &'static str,
    doc: &'static str,
    params: &'static [RouteParam],
    handler: RouteHandler,
) -> Route {
    Route {
        method: Method::GET,
        path,
        doc,
        params,
        takes: AcceptedBody::Json,
        answers: JSON,
        handler,
    }
}

const fn post(
    path: &'static str,
    doc: &'static str,
    params: &'static [RouteParam],
    handler: RouteHandler,
) -> Route {
    Route {
        method: Method::POST,
        path,
        doc,
        params,
        takes: AcceptedBody::Json,
        answers: JSON,
        handler,
    }
}

const fn stream(path: &'static str, params: &'static [RouteParam]) -> Route {
    Route {
        method: Method::GET,
        path,
        doc: "Follow an agent's messages and whether it works.",
        params,
        takes: AcceptedBody::Json,
        answers: MEDIA_TYPE,
        handler: RouteHandler::Grant(|call| Box::pin(events::follow(call))),
    }
}

/// Uploads are not supported. The route takes any body, as its clients send no JSON there.
const fn upload(path: &'static str, params: &'static [RouteParam]) -> Route {
    Route {
        method: Method::POST,
        path,
        doc: "Say that files are not taken here.",
        params,
        takes: AcceptedBody::Anything,
        answers: JSON,
        handler: RouteHandler::Grant(|call| Box::pin(http::upload(call))),
    }
}

const STATUS: &str = "Say whether an agent works.";
const MESSAGES: &str = "Show what was said to an agent and by it.";
const MESSAGE: &str = "Hand a message to an agent, or type into its terminal.";

/// Its routes.
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

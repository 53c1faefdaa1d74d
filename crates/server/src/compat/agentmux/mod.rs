//! The compat API for clients of agentmux: its endpoints, its body rules, its error texts.
//!
//! | file | idea |
//! |---|---|
//! | `body` | parses a request, with agentmux's error texts |
//! | `session` | a session as its clients see it |
//! | `sessions` | operations on sessions, by actions of the kernel |
//! | `http` | the endpoints |
//! | `access` | authentication, and the answer where there is no endpoint |
//! | `content_length` | an invalid `Content-Length` |
//!
//! A session is an agent's pane with our tag, and its name is the pane's. The active one is the
//! newest: there is no state of its own, so nothing is lost when the server restarts.

mod access;
mod body;
mod content_length;
mod http;
mod session;
mod sessions;

use std::time::Duration;

use axum::http::Method;
use paned_policy::guard::AcceptedBody;

use crate::http::reply::JSON_UTF8;
use crate::http::routes::{ParamLocation, Route, RouteHandler, RouteParam};

pub(crate) use access::{authenticate, fallback};
pub(crate) use content_length::ContentLengthRewriter;

/// The name of this API, which is also the tag of its panes.
pub(crate) const NAME: &str = "agentmux";
/// The prefix of its paths.
pub(crate) const PREFIX: &str = "/doors/agentmux";

/// The settings of agentmux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentmuxConfig {
    /// The profile of its agents; `claude` if there is no such profile.
    pub agent: String,
    /// The prefix of its sessions' names.
    pub prefix: String,
    /// The working directory of its agents; the user's home by default.
    pub workdir: Option<String>,
    /// The command to use instead of the profile's own.
    pub argv: Option<Vec<String>>,
    /// How long an agent may take until it accepts a prompt.
    pub ready_timeout: Duration,
    /// Whether `run` is refused while the active session is busy.
    pub one_at_a_time: bool,
    /// Whether any pane may be a target, and not only agentmux's own.
    pub any_target: bool,
}

impl Default for AgentmuxConfig {
    fn default() -> Self {
        Self {
            agent: "claude".to_owned(),
            prefix: NAME.to_owned(),
            workdir: None,
            argv: None,
            ready_timeout: Duration::from_secs(30),
            one_at_a_time: false,
            any_target: false,
        }
    }
}

const fn route(
    method: Method,
    path: &'static str,
    doc: &'static str,
    params: &'static [RouteParam],
    handler: RouteHandler,
) -> Route {
    // Its clients send JSON with any content type; see `AcceptedBody::Anything` for what is checked
    // instead.
    Route { method, path, doc, params, takes: AcceptedBody::Anything, answers: JSON_UTF8, handler }
}

const CAPTURE: &[RouteParam] = &[
    RouteParam {
        location: ParamLocation::Query,
        name: "lines",
        doc: "How many lines above the screen, 10 to 500.",
    },
    RouteParam {
        location: ParamLocation::Query,
        name: "target",
        doc: "Another session than the active one.",
    },
];

/// Its routes.
pub(crate) const ROUTES: [Route; 10] = [
    route(
        Method::GET,
        "/doors/agentmux/health",
        "Say how agentmux's sessions are.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::health(call))),
    ),
    route(
        Method::GET,
        "/doors/agentmux/sessions",
        "Show agentmux's sessions, and which is the active one.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::sessions(call))),
    ),
    route(
        Method::GET,
        "/doors/agentmux/idle",
        "Say whether the active session's agent takes a prompt.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::idle(call))),
    ),
    route(
        Method::GET,
        "/doors/agentmux/capture",
        "Show the last lines of a session and its screen.",
        CAPTURE,
        RouteHandler::Grant(|call| Box::pin(http::capture(call))),
    ),
    route(
        Method::POST,
        "/doors/agentmux/send",
        "Hand a text to a session's agent.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::send(call))),
    ),
    route(
        Method::POST,
        "/doors/agentmux/run",
        "Start an agent in a new session and hand it a text.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::run(call))),
    ),
    route(
        Method::POST,
        "/doors/agentmux/key",
        "Press a key in a session.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::key(call))),
    ),
    route(
        Method::POST,
        "/doors/agentmux/restart",
        "Replace the active session by a fresh one, once that is ready.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::restart(call))),
    ),
    route(
        Method::POST,
        "/doors/agentmux/cleanup",
        "Close the sessions that are idle, but for the active one.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::cleanup(call))),
    ),
    route(
        Method::POST,
        "/doors/agentmux/kill",
        "Close a session.",
        &[],
        RouteHandler::Grant(|call| Box::pin(http::kill(call))),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_under_the_prefix_and_takes_what_old_clients_send() {
        assert_eq!(PREFIX, format!("/doors/{NAME}"));
        for route in ROUTES {
            assert!(route.path.starts_with(PREFIX));
            assert_eq!(route.takes, AcceptedBody::Anything, "{}", route.path);
        }
    }
}

//! The compat API for clients of opencode-pty: its REST API, WebSocket, health and error texts.
//!
//! | file | idea |
//! |---|---|
//! | `info`, `spawn`, `health` | a session as clients see it, a spawn request, the server's status
//! |
//! | `sessions` | operations on sessions, by actions of the kernel |
//! | `rest`, `socket` | the two transports |
//! | `sockets` | all open sockets, and the wait until they have flushed |
//! | `plain_text`, `decode` | terminal bytes as text |
//!
//! A session is a pane with our tag. There is no second store: what the kernel has no field for is
//! in the pane's meta.

mod decode;
mod health;
mod info;
mod plain_text;
mod rest;
mod sessions;
mod socket;
mod sockets;
mod spawn;

use axum::http::Method;
use paned_policy::guard::AcceptedBody;

pub(crate) use sockets::PtyCompatSockets;

use crate::http::reply::JSON;
use crate::http::routes::{ParamLocation, Route, RouteHandler, RouteParam};

/// The name of this API, which is also the tag of its panes.
pub(crate) const NAME: &str = "opencode-pty";
/// The prefix of its paths.
pub(crate) const PREFIX: &str = "/doors/opencode-pty";

const HTML: &str = "text/html; charset=utf-8";
const SESSION: &[RouteParam] =
    &[RouteParam { location: ParamLocation::Path, name: "id", doc: "The session's id." }];

const fn route(
    method: Method,
    path: &'static str,
    doc: &'static str,
    params: &'static [RouteParam],
    handler: RouteHandler,
) -> Route {
    Route { method, path, doc, params, takes: AcceptedBody::Json, answers: JSON, handler }
}

/// Its routes.
pub(crate) const ROUTES: [Route; 12] = [
    route(
        Method::GET,
        "/doors/opencode-pty/api/sessions",
        "Show every session of opencode-pty's clients.",
        &[],
        RouteHandler::Grant(|call| Box::pin(rest::list(call))),
    ),
    route(
        Method::POST,
        "/doors/opencode-pty/api/sessions",
        "Start a program in a new session.",
        &[],
        RouteHandler::Grant(|call| Box::pin(rest::create(call))),
    ),
    route(
        Method::DELETE,
        "/doors/opencode-pty/api/sessions",
        "End and forget every session.",
        &[],
        RouteHandler::Grant(|call| Box::pin(rest::clear(call))),
    ),
    route(
        Method::GET,
        "/doors/opencode-pty/api/sessions/{id}",
        "Show one session.",
        SESSION,
        RouteHandler::Grant(|call| Box::pin(rest::get(call))),
    ),
    route(
        Method::DELETE,
        "/doors/opencode-pty/api/sessions/{id}",
        "End a session's program; its output stays.",
        SESSION,
        RouteHandler::Grant(|call| Box::pin(rest::kill(call))),
    ),
    route(
        Method::DELETE,
        "/doors/opencode-pty/api/sessions/{id}/cleanup",
        "End a session's program and forget the session.",
        SESSION,
        RouteHandler::Grant(|call| Box::pin(rest::cleanup(call))),
    ),
    route(
        Method::POST,
        "/doors/opencode-pty/api/sessions/{id}/input",
        "Type exactly this text into a session.",
        SESSION,
        RouteHandler::Grant(|call| Box::pin(rest::input(call))),
    ),
    route(
        Method::GET,
        "/doors/opencode-pty/api/sessions/{id}/buffer/raw",
        "Show what a session printed, as it is.",
        SESSION,
        RouteHandler::Grant(|call| Box::pin(rest::raw(call))),
    ),
    route(
        Method::GET,
        "/doors/opencode-pty/api/sessions/{id}/buffer/plain",
        "Show what a session printed, without escape sequences.",
        SESSION,
        RouteHandler::Grant(|call| Box::pin(rest::plain(call))),
    ),
    route(
        Method::GET,
        "/doors/opencode-pty/health",
        "Say how the server is, in opencode-pty's words.",
        &[],
        RouteHandler::Grant(|call| Box::pin(health::show(call))),
    ),
    route(
        Method::GET,
        "/doors/opencode-pty/ws",
        "Open a WebSocket that speaks opencode-pty's protocol.",
        &[],
        RouteHandler::Grant(|call| Box::pin(socket::open(call))),
    ),
    Route {
        method: Method::GET,
        path: "/doors/opencode-pty/index.html",
        doc: "Show the door's page.",
        params: &[],
        takes: AcceptedBody::Json,
        answers: HTML,
        handler: RouteHandler::Grant(|call| Box::pin(rest::page(call))),
    },
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

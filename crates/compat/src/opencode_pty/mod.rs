//! The compat API for clients of opencode-pty: its REST API, WebSocket, health and error texts.
//!
//! | file | idea |
//! |---|---|
//! | `info`, `spawn` | a session as clients see it, a spawn request |
//! | `sessions` | operations on sessions, by actions of the kernel |
//! | `rest`, `socket` | the two transports |
//! | `sockets` | all open sockets, and the wait until they have flushed |
//! | `shapes` | its bodies and answers as JSON Schema |
//! | `plain_text`, `decode` | terminal bytes as text |
//!
//! A session is a pane with our tag. There is no second store: what the kernel has no field for is
//! in the pane's meta.

mod decode;
mod info;
mod plain_text;
mod rest;
mod sessions;
mod shapes;
mod socket;
mod sockets;
mod spawn;

use std::sync::Arc;

use paned_server::compat_api::{CompatApi, ErrorFormat, JSON};
use paned_server::{AcceptedBody, ParamLocation, Route, RouteParam};

use crate::client::KernelClient;
use crate::routes::RouteBuilder;
use sessions::PtyCompatSessions;
use sockets::PtyCompatSockets;

/// The name of this API, which is also the tag of its panes.
pub(crate) const NAME: &str = "opencode-pty";

const HTML: &str = "text/html; charset=utf-8";
const SESSION: &[RouteParam] = &[RouteParam {
    location: ParamLocation::Path,
    name: "id",
    doc: "The session's id.",
    schema: shapes::text,
}];

/// The query parameter that limits a request to the sessions of one session of opencode.
const PARENT_QUERY: &str = "parentSessionId";
const PARENT: &[RouteParam] = &[RouteParam {
    location: ParamLocation::Query,
    name: PARENT_QUERY,
    doc: "Only sessions that were started for this session of opencode.",
    schema: shapes::filled_text,
}];

/// The API.
#[derive(Debug, Default)]
pub(crate) struct OpencodePty {
    sockets: Arc<PtyCompatSockets>,
}

impl CompatApi for OpencodePty {
    fn name(&self) -> &'static str {
        NAME
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let context = move |call: &_| PtyCompatSessions {
            client: KernelClient::of_opencode(call),
            sockets: self.sockets.clone(),
        };
        let json = RouteBuilder {
            context: Arc::new(context),
            path_param: SESSION,
            takes: AcceptedBody::Json,
            answers: JSON,
            errors: ErrorFormat::Coded,
        };
        let html = RouteBuilder { context: json.context.clone(), answers: HTML, ..json };
        let of_parent = |mut route: Route| {
            route.params = PARENT;
            route
        };
        let mut routes = vec![
            of_parent(json.route(
                "GET /compat/opencode-pty/api/sessions",
                "List the sessions of opencode-pty clients.",
                shapes::LIST,
                rest::list,
            )),
            json.route(
                "POST /compat/opencode-pty/api/sessions",
                "Start a program in a new session.",
                shapes::CREATE,
                rest::create,
            ),
            of_parent(json.route(
                "DELETE /compat/opencode-pty/api/sessions",
                "Stop and delete every session.",
                shapes::DONE,
                rest::clear,
            )),
            json.route(
                "GET /compat/opencode-pty/health",
                "Show the server's status in opencode-pty's format.",
                shapes::HEALTH,
                rest::health,
            ),
            json.route(
                "GET /compat/opencode-pty/ws",
                "Open a WebSocket with opencode-pty's protocol.",
                shapes::SOCKET,
                socket::open,
            ),
            html.route(
                "GET /compat/opencode-pty/index.html",
                "Show the start page.",
                shapes::PAGE,
                rest::page,
            ),
        ];
        routes.extend(session_routes(&json));
        routes
    }
}

/// The routes about one session.
fn session_routes(json: &RouteBuilder<PtyCompatSessions>) -> [Route; 6] {
    [
        json.route(
            "GET /compat/opencode-pty/api/sessions/{id}",
            "Show one session.",
            shapes::INFO,
            rest::get,
        ),
        json.route(
            "DELETE /compat/opencode-pty/api/sessions/{id}",
            "Stop a session's program and keep its output.",
            shapes::DONE,
            rest::kill,
        ),
        json.route(
            "DELETE /compat/opencode-pty/api/sessions/{id}/cleanup",
            "Stop a session's program and delete the session.",
            shapes::DONE,
            rest::cleanup,
        ),
        json.route(
            "POST /compat/opencode-pty/api/sessions/{id}/input",
            "Type the exact text into a session.",
            shapes::INPUT,
            rest::input,
        ),
        json.route(
            "GET /compat/opencode-pty/api/sessions/{id}/buffer/raw",
            "Return a session's raw output.",
            shapes::RAW,
            rest::raw,
        ),
        json.route(
            "GET /compat/opencode-pty/api/sessions/{id}/buffer/plain",
            "Return a session's output without escape sequences.",
            shapes::PLAIN,
            rest::plain,
        ),
    ]
}

//! The compat API for clients of agentmux: its endpoints, its body rules, its error texts.
//!
//! | file | idea |
//! |---|---|
//! | `body` | parses a request, with agentmux's error texts |
//! | `session` | a session as its clients see it |
//! | `sessions` | operations on sessions, by actions of the kernel |
//! | `launch` | the command that a session runs, and the profile that judges it |
//! | `http` | the endpoints, and the answer where there is none |
//! | `shapes` | its bodies and answers as JSON Schema |
//! | `content_length` | an invalid `Content-Length` |
//! | `request_log` | a line of the log for each request |
//!
//! A session is an agent's pane with our tag, and its name is the pane's. The active one is the
//! newest: there is no state of its own, so nothing is lost when the server restarts.

mod body;
mod content_length;
mod http;
mod launch;
mod request_log;
mod session;
mod sessions;
mod shapes;

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use paned_model::{Code, Refusal};
use paned_server::compat_api::{
    Call, CallHandler, CompatApi, ConnStream, ErrorFormat, JSON_UTF8, Rejection, authorization,
};
use paned_server::{AcceptedBody, ListenerAuth, ParamLocation, Route, RouteParam, Secret};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use crate::client::KernelClient;
use crate::routes::{RouteBuilder, respond};
use content_length::ContentLengthRewriter;
pub use request_log::REQUEST_LOG;
use sessions::AgentmuxSessions;

/// The name of this API, which is also the tag of its panes.
pub(crate) const NAME: &str = "agentmux";

/// The header in which its clients may send the secret, besides `Authorization`.
const BRIDGE_TOKEN_HEADER: &str = "x-bridge-token";

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
    /// Whether its agents ask before they act.
    pub permissions: AgentmuxPermissions,
}

/// Whether the agents of agentmux ask before they act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentmuxPermissions {
    /// As agentmux started them: claude in the user's own mode, codex in a sandbox around its
    /// folder, outside of which it asks.
    #[default]
    AsAgentmux,
    /// They ask.
    Ask,
    /// They act without asking. The user must request this by name.
    Auto,
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
            permissions: AgentmuxPermissions::AsAgentmux,
        }
    }
}

const CAPTURE: &[RouteParam] = &[
    RouteParam {
        location: ParamLocation::Query,
        name: "lines",
        doc: "How many lines above the screen: at least 10 and at most 500 are shown.",
        schema: shapes::lines,
    },
    RouteParam {
        location: ParamLocation::Query,
        name: "target",
        doc: "The session; defaults to the active one.",
        schema: shapes::text,
    },
];

/// The API.
#[derive(Debug)]
pub(crate) struct Agentmux {
    config: AgentmuxConfig,
    /// Held while the sessions are counted and one more is spawned.
    spawn_lock: Semaphore,
}

impl Agentmux {
    pub(crate) fn new(config: AgentmuxConfig) -> Self {
        Self { config, spawn_lock: Semaphore::new(1) }
    }
}

impl CompatApi for Agentmux {
    fn name(&self) -> &'static str {
        NAME
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let context =
            move |call: &_| AgentmuxSessions { api: self.clone(), client: KernelClient::of(call) };
        let json = RouteBuilder {
            context: Arc::new(context),
            path_param: &[],
            // Its clients send JSON with any content type; see `AcceptedBody::Anything` for what is
            // checked instead.
            takes: AcceptedBody::Anything,
            answers: JSON_UTF8,
            errors: ErrorFormat::Bare,
        };
        let mut capture = json.route(
            "GET /compat/agentmux/capture",
            "Show the last lines of a session and its screen.",
            shapes::CAPTURE,
            http::capture,
        );
        capture.params = CAPTURE;
        let routes = vec![
            json.route(
                "GET /compat/agentmux/health",
                "Show the status of agentmux sessions.",
                shapes::HEALTH,
                http::health,
            ),
            json.route(
                "GET /compat/agentmux/sessions",
                "List agentmux sessions and the active one.",
                shapes::SESSIONS,
                http::sessions,
            ),
            json.route(
                "GET /compat/agentmux/idle",
                "Check whether the active session's agent accepts a prompt.",
                shapes::IDLE,
                http::idle,
            ),
            capture,
            json.route(
                "POST /compat/agentmux/send",
                "Send a text to a session's agent.",
                shapes::SEND,
                http::send,
            ),
            json.route(
                "POST /compat/agentmux/run",
                "Start an agent in a new session and send it a text.",
                shapes::RUN,
                http::run,
            ),
            json.route(
                "POST /compat/agentmux/key",
                "Press a key in a session.",
                shapes::KEY,
                http::key,
            ),
            json.route(
                "POST /compat/agentmux/restart",
                "Replace the active session with a new one, once that is ready.",
                shapes::RESTART,
                http::restart,
            ),
            json.route(
                "POST /compat/agentmux/cleanup",
                "Close idle sessions except the active one.",
                shapes::CLEANUP,
                http::cleanup,
            ),
            json.route("POST /compat/agentmux/kill", "Close a session.", shapes::KILL, http::kill),
        ];
        routes.into_iter().map(|route| route.map_handler(request_log::logged)).collect()
    }

    fn fallback(self: Arc<Self>) -> Option<CallHandler> {
        let unknown = |call: Call| respond(JSON_UTF8, ErrorFormat::Bare, http::unknown(call));
        Some(request_log::logged(Arc::new(unknown)))
    }

    /// On an open listener any credentials are ignored.
    fn authenticate(
        &self,
        auth: &ListenerAuth,
        headers: &HeaderMap,
    ) -> Option<Result<(), Rejection>> {
        match auth {
            ListenerAuth::Grants => None,
            ListenerAuth::Anyone => Some(Ok(())),
            ListenerAuth::Secret(secret) if presents_secret(headers, secret) => Some(Ok(())),
            ListenerAuth::Secret(_) => {
                let forbidden = Rejection::from(Refusal::new(Code::Forbidden, "forbidden"));
                tracing::debug!(target: REQUEST_LOG, "403: the token is missing or wrong");
                Some(Err(forbidden.with_format(ErrorFormat::Bare)))
            }
        }
    }

    fn wrap(&self, stream: Box<dyn ConnStream>) -> Box<dyn ConnStream> {
        Box::new(ContentLengthRewriter::new(stream))
    }
}

fn presents_secret(headers: &HeaderMap, secret: &Secret) -> bool {
    let bearer = headers.get_all("authorization").iter().filter_map(authorization);
    let plain = headers.get_all(BRIDGE_TOKEN_HEADER).iter().filter_map(|value| value.to_str().ok());
    bearer.chain(plain).any(|token| token.as_bytes().ct_eq(secret.0.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn every_row_takes_what_old_clients_send() {
        for route in Arc::new(Agentmux::new(AgentmuxConfig::default())).routes() {
            assert_eq!(route.takes, AcceptedBody::Anything, "{}", route.path);
        }
    }

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], auth: &ListenerAuth, expect: Option<bool>) {
        let pairs = headers.iter().map(|(name, value)| {
            let name: HeaderName = name.parse().unwrap();
            (name, HeaderValue::from_static(value))
        });
        let api = Agentmux::new(AgentmuxConfig::default());
        let result = api.authenticate(auth, &HeaderMap::from_iter(pairs));
        assert_eq!(result.map(|result| result.is_ok()), expect, "{headers:?}");
    }

    #[test]
    fn what_was_agreed_on_lets_in_and_nothing_else_does() {
        let secret = ListenerAuth::Secret(Secret("s3cret".to_owned()));
        for good in [
            ("Authorization", "Bearer s3cret"),
            ("authorization", "bearer s3cret"),
            ("X-Bridge-Token", "s3cret"),
            ("x-bridge-token", "s3cret"),
        ] {
            check(&[good], &secret, Some(true));
        }
        for bad in [
            ("authorization", "Bearer s3cre"),
            ("authorization", "Bearer s3cretx"),
            ("authorization", "s3cret"),
            ("authorization", "Basic s3cret"),
            ("x-bridge-token", "Bearer s3cret"),
            ("x-bridge-token", ""),
        ] {
            check(&[bad], &secret, Some(false));
        }
        check(&[], &secret, Some(false));
        check(&[], &ListenerAuth::Grants, None);
        check(&[("authorization", "Bearer anything")], &ListenerAuth::Anyone, Some(true));
    }
}

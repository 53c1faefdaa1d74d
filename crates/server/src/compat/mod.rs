//! Compat APIs: the protocols of other tools, each a small layer over the kernel's actions. They
//! hold no state of their own beyond a connection.

pub(crate) mod agentapi;
pub(crate) mod agentmux;
pub(crate) mod opencode_pty;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;

use crate::http::reply::{HandlerResult, Rejection};
use crate::http::request::RequestContext;
use crate::http::routes::Route;
use crate::state::ServerState;
use crate::transport::listener::ListenerAuth;

/// A protocol of another tool. The main API has it under `/doors/<name>`, and it may have a
/// listener of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompatProtocol {
    /// HTTP and SSE of agentapi.
    Agentapi,
    /// HTTP of agentmux.
    Agentmux,
    /// REST and WebSocket of opencode-pty.
    OpencodePty,
}

/// Answers where a compat API has no route.
type FallbackHandler =
    fn(Arc<ServerState>, RequestContext, Request) -> BoxFuture<'static, HandlerResult>;

impl CompatProtocol {
    /// All compat protocols.
    pub const ALL: [Self; 3] = [Self::Agentapi, Self::Agentmux, Self::OpencodePty];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agentapi => agentapi::NAME,
            Self::Agentmux => agentmux::NAME,
            Self::OpencodePty => opencode_pty::NAME,
        }
    }

    /// The prefix of its paths.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::Agentapi => agentapi::PREFIX,
            Self::Agentmux => agentmux::PREFIX,
            Self::OpencodePty => opencode_pty::PREFIX,
        }
    }

    /// Its routes.
    pub(crate) fn routes(self) -> Vec<Route> {
        match self {
            Self::Agentapi => agentapi::ROUTES.into(),
            Self::Agentmux => agentmux::ROUTES.into(),
            Self::OpencodePty => opencode_pty::ROUTES.into(),
        }
    }

    /// The compat API of a path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let matches = |protocol: &Self| {
            path.strip_prefix(protocol.prefix()).is_some_and(|rest| rest.starts_with('/'))
        };
        Self::ALL.into_iter().find(matches)
    }

    /// The handler for paths without a route, if its clients expect an answer of their own format.
    pub(crate) fn fallback(self) -> Option<FallbackHandler> {
        match self {
            Self::Agentmux => Some(|shared, context, request| {
                Box::pin(agentmux::fallback(shared, context, request))
            }),
            Self::Agentapi | Self::OpencodePty => None,
        }
    }

    /// Authenticates a client of its own listener without a grant; `None` if only grants count.
    pub(crate) fn authenticate(
        self,
        auth: &ListenerAuth,
        headers: &HeaderMap,
    ) -> Option<Result<(), Rejection>> {
        match self {
            Self::Agentmux => agentmux::authenticate(auth, headers),
            Self::Agentapi | Self::OpencodePty => None,
        }
    }
}

impl fmt::Display for CompatProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CompatProtocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no door `{}`; there is {names}", text.escape_debug())
        })
    }
}

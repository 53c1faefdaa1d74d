//! Doors: the protocols of other tools, each a small router over the kernel's doors. They keep nothing.

pub(crate) mod agentapi;
pub(crate) mod agentmux;
pub(crate) mod opencode_pty;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;

use crate::listener::ListenerAuth;
use crate::reply::{HandlerResult, Rejection};
use crate::request::RequestContext;
use crate::routes::Route;
use crate::state::ServerState;

/// A protocol of another tool. It is under `/doors/<name>` wherever everything is shown, and may have a
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

/// Who answers where a door has no route.
type FallbackHandler =
    fn(Arc<ServerState>, RequestContext, Request) -> BoxFuture<'static, HandlerResult>;

impl CompatProtocol {
    /// Every door.
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

    /// What the paths of its routes begin with.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::Agentapi => agentapi::PREFIX,
            Self::Agentmux => agentmux::PREFIX,
            Self::OpencodePty => opencode_pty::PREFIX,
        }
    }

    /// Its rows of the one table.
    pub(crate) fn routes(self) -> Vec<Route> {
        match self {
            Self::Agentapi => agentapi::ROUTES.into(),
            Self::Agentmux => agentmux::ROUTES.into(),
            Self::OpencodePty => opencode_pty::ROUTES.into(),
        }
    }

    /// The door that a path leads to.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let leads = |door: &Self| {
            path.strip_prefix(door.prefix()).is_some_and(|rest| rest.starts_with('/'))
        };
        Self::ALL.into_iter().find(leads)
    }

    /// Who answers where the door has no route, when its clients expect that in their own words.
    pub(crate) fn fallback(self) -> Option<FallbackHandler> {
        match self {
            Self::Agentmux => {
                Some(|shared, guest, request| Box::pin(agentmux::fallback(shared, guest, request)))
            }
            Self::Agentapi | Self::OpencodePty => None,
        }
    }

    /// Whether somebody at the door's own listener is let in without a token of ours; nothing when only
    /// that counts.
    pub(crate) fn authenticate(
        self,
        admits: &ListenerAuth,
        headers: &HeaderMap,
    ) -> Option<Result<(), Rejection>> {
        match self {
            Self::Agentmux => agentmux::authenticate(admits, headers),
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
        let found = Self::ALL.into_iter().find(|door| door.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no door `{}`; there is {names}", text.escape_debug())
        })
    }
}

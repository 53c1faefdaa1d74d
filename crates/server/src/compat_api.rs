//! Compat APIs: the protocols of other tools. Each implements [`CompatApi`] in another crate, with
//! what this module exports; the server only serves them.

use std::fmt;
use std::sync::Arc;

use axum::http::HeaderMap;

pub use crate::http::auth::authorization;
pub use crate::http::call::Call;
pub use crate::http::events::{MEDIA_TYPE as EVENT_STREAM, SseSource, stream_response};
pub use crate::http::metrics::{GaugeGuard, Metrics};
pub use crate::http::process::resident_bytes;
pub use crate::http::reply::{ErrorFormat, HandlerResult, JSON, JSON_UTF8, Rejection, text};
pub use crate::http::router::OtherMethod;
pub use crate::http::routes::CallHandler;
pub use crate::state::ServerState;
pub use crate::transport::listener::ConnStream;
pub use crate::ws::outbound::{CloseReason, SessionEnd, WsInbound, WsOutbound, session_end};
pub use crate::ws::{PROTOCOL, UpgradeSlot, run_on_upgrade};
use crate::{ListenerAuth, Route};

/// The protocol of another tool. The main API has it under `/compat/<name>`, and it may have
/// listeners of its own.
pub trait CompatApi: fmt::Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Its routes, with the paths that they have in the main API.
    fn routes(self: Arc<Self>) -> Vec<Route>;

    /// The handler of requests without a route, if its clients expect an answer of their own
    /// format. It takes any body.
    fn fallback(self: Arc<Self>) -> Option<CallHandler> {
        None
    }

    /// What to try instead of a path of its own listener that has no route. Without it, clients are
    /// redirected to the API's index page.
    fn unknown_path_hint(&self) -> Option<&'static str> {
        None
    }

    /// Authenticates a client of its own listener without a grant; `None` if only grants count.
    fn authenticate(
        &self,
        _auth: &ListenerAuth,
        _headers: &HeaderMap,
    ) -> Option<Result<(), Rejection>> {
        None
    }

    /// Whether the pane that a client of its own listener names in a header is a label, unless the
    /// client has that pane's grant. Otherwise a claim that is not proven is refused.
    fn takes_pane_labels(&self) -> bool {
        false
    }

    /// Wraps a connection of its own listener, before any request is read.
    fn wrap(&self, stream: Box<dyn ConnStream>) -> Box<dyn ConnStream> {
        stream
    }
}

impl dyn CompatApi {
    /// The rest of a path in the main API, if it is one of this API's.
    pub(crate) fn strip_prefix<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix("/compat/")?.strip_prefix(self.name())?;
        rest.starts_with('/').then_some(rest)
    }
}

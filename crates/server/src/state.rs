//! The state that all requests share.

use std::sync::Arc;

use bytes::Bytes;
use paned_kernel::{Caller, Kernel};
use paned_model::Refusal;
use paned_policy::guard::RequestTransport;
use tokio::sync::{Semaphore, watch};

use crate::compat::agentmux::AgentmuxConfig;
use crate::compat::opencode_pty::PtyCompatSockets;
use crate::http::api_reference::ActionDocument;
use crate::http::metrics::Metrics;
use crate::transport::conn_limit::ConnLimit;
use crate::transport::listener::{Ingress, ListenerAuth};
use crate::transport::login_limit::LoginLimit;
use crate::{HttpServerConfig, ServerLimits};

/// The state that all requests share: the kernel, and the server's own state.
pub(crate) struct ServerState {
    pub(crate) kernel: Kernel,
    pub(crate) limits: ServerLimits,
    pub(crate) agentmux: AgentmuxConfig,
    /// Held while the sessions of agentmux are counted and one more is spawned.
    pub(crate) agentmux_spawn_lock: Semaphore,
    /// The sockets of opencode-pty's clients.
    pub(crate) opencode_pty: Arc<PtyCompatSockets>,
    pub(crate) metrics: Metrics,
    /// Rate limit for wrong tokens over TCP.
    pub(crate) login_limit: LoginLimit,
    conn_pools: ConnPools,
    /// The list of actions.
    pub(crate) actions: ActionDocument,
    /// The OpenAPI document.
    pub(crate) openapi: ActionDocument,
    closing: watch::Sender<bool>,
}

/// Separate connection limits for classes of clients that must not crowd each other out.
struct ConnPools {
    /// For the owner, over the Unix socket.
    owner: Arc<ConnLimit>,
    /// For TCP clients that need a token or a secret.
    token: Arc<ConnLimit>,
    /// For clients of an open listener.
    open: Arc<ConnLimit>,
}

impl ConnPools {
    fn new(max: usize) -> Self {
        Self { owner: ConnLimit::new(max), token: ConnLimit::new(max), open: ConnLimit::new(max) }
    }
}

impl ServerState {
    pub(crate) fn new(
        kernel: Kernel,
        HttpServerConfig { limits, agentmux }: HttpServerConfig,
    ) -> Self {
        Self {
            kernel,
            limits,
            agentmux,
            agentmux_spawn_lock: Semaphore::new(1),
            opencode_pty: Arc::default(),
            metrics: Metrics::new(),
            login_limit: LoginLimit::default(),
            conn_pools: ConnPools::new(limits.connections),
            actions: ActionDocument::default(),
            openapi: ActionDocument::default(),
            closing: watch::Sender::new(false),
        }
    }

    /// The server stops: no new connections, no more events, and idle connections are closed.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Waits until the server stops.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut closing = self.closing.subscribe();
        async move {
            // An error means that the sender is gone, which is the end too.
            let _ = closing.wait_for(|closing| *closing).await;
        }
    }

    /// The number of open connections.
    pub(crate) fn connections(&self) -> usize {
        let ConnPools { owner, token, open } = &self.conn_pools;
        [owner, token, open].iter().map(|limit| limit.in_use()).sum()
    }

    /// Evicts an unauthenticated connection to make room for a new one. Returns whether there was
    /// one.
    pub(crate) fn evict(&self) -> bool {
        self.conn_pools.open.evict() || self.conn_pools.token.evict()
    }

    /// The connection limit for clients of this listener.
    pub(crate) fn conn_limit(&self, ingress: &Ingress) -> &Arc<ConnLimit> {
        match (&ingress.transport, &ingress.auth) {
            (RequestTransport::Unix, _) => &self.conn_pools.owner,
            (RequestTransport::Tcp(_), ListenerAuth::Grants | ListenerAuth::Secret(_)) => {
                &self.conn_pools.token
            }
            (RequestTransport::Tcp(_), ListenerAuth::Anyone) => &self.conn_pools.open,
        }
    }

    /// Runs an action in the kernel.
    pub(crate) async fn dispatch(
        &self,
        name: &str,
        params: impl Into<Bytes>,
        caller: &Caller,
    ) -> Result<Bytes, Refusal> {
        let answer = self.kernel.dispatch(name, &params.into(), caller).await?;
        Ok(Bytes::from(String::from(Box::<str>::from(answer))))
    }
}

//! What all requests share.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use paned_kernel::{Caller, Kernel};
use paned_model::Refusal;
use paned_policy::guard::RequestTransport;
use tokio::sync::{Semaphore, watch};

use crate::compat::agentmux::AgentmuxConfig;
use crate::compat::opencode_pty::PtyCompatSockets;
use crate::conn_limit::ConnLimit;
use crate::listener::{Ingress, ListenerAuth};
use crate::login_limit::LoginLimit;
use crate::metrics::Metrics;
use crate::{HttpServerConfig, ServerLimits};

/// What all requests share: the kernel, and what this face knows of itself.
pub(crate) struct ServerState {
    pub(crate) kernel: Kernel,
    pub(crate) limits: ServerLimits,
    pub(crate) agentmux: AgentmuxConfig,
    /// Held by whoever counts the sessions of agentmux and makes one more.
    pub(crate) agentmux_spawn_lock: Semaphore,
    /// The sockets of opencode-pty's clients.
    pub(crate) opencode_pty: Arc<PtyCompatSockets>,
    pub(crate) metrics: Metrics,
    /// Wrong tokens over TCP.
    pub(crate) login_limit: LoginLimit,
    conn_pools: ConnPools,
    /// The list of actions, once somebody asked for it.
    pub(crate) actions: OnceLock<Bytes>,
    /// The OpenAPI document, once somebody asked for it.
    pub(crate) openapi: OnceLock<Bytes>,
    closing: watch::Sender<bool>,
}

/// Seats, apart for those who must not be able to take each other's.
struct ConnPools {
    /// For the owner, over the socket.
    owner: Arc<ConnLimit>,
    /// For whoever needs a token.
    token: Arc<ConnLimit>,
    /// For whoever comes by a listener that is open.
    open: Arc<ConnLimit>,
}

impl ConnPools {
    fn new(most: usize) -> Self {
        Self {
            owner: ConnLimit::new(most),
            token: ConnLimit::new(most),
            open: ConnLimit::new(most),
        }
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
            actions: OnceLock::new(),
            openapi: OnceLock::new(),
            closing: watch::Sender::new(false),
        }
    }

    /// The server stops: no more connections, no more events, goodbye to whoever is idle.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Waits until the server stops.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut closing = self.closing.subscribe();
        async move {
            // An error means that everything is gone, which is the end too.
            let _ = closing.wait_for(|closing| *closing).await;
        }
    }

    /// Connections that are open.
    pub(crate) fn connections(&self) -> usize {
        let ConnPools { owner, token: guests, open: anyone } = &self.conn_pools;
        [owner, guests, anyone].iter().map(|seats| seats.in_use()).sum()
    }

    /// Has a stranger give way to whoever knocks; whether there is one.
    pub(crate) fn evict(&self) -> bool {
        self.conn_pools.open.evict() || self.conn_pools.token.evict()
    }

    /// The seats for whoever comes over this threshold.
    pub(crate) fn conn_limit(&self, threshold: &Ingress) -> &Arc<ConnLimit> {
        match (&threshold.transport, &threshold.auth) {
            (RequestTransport::Unix, _) => &self.conn_pools.owner,
            (RequestTransport::Tcp(_), ListenerAuth::Grants | ListenerAuth::Secret(_)) => {
                &self.conn_pools.token
            }
            (RequestTransport::Tcp(_), ListenerAuth::Anyone) => &self.conn_pools.open,
        }
    }

    /// Has the kernel run an action.
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

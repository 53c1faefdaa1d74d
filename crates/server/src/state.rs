//! The state that all requests share.

use std::sync::Arc;

use bytes::Bytes;
use paned_kernel::{Caller, Kernel};
use paned_model::Refusal;
use paned_policy::guard::RequestTransport;
use tokio::sync::watch;

use crate::compat_api::CompatApi;
use crate::http::api_reference::ActionDocument;
use crate::http::metrics::Metrics;
use crate::http::routes::{Route, routes};
use crate::transport::conn_limit::ConnLimit;
use crate::transport::listener::{Ingress, ListenerAuth};
use crate::transport::login_limit::LoginLimit;
use crate::{HttpServerConfig, PageBundle, ServerLimits};

/// The state that all requests share: the kernel, and the server's own state.
pub struct ServerState {
    /// The kernel.
    pub kernel: Kernel,
    /// Limits and time-outs.
    pub limits: ServerLimits,
    pub(crate) compat: Vec<Arc<dyn CompatApi>>,
    /// The web page.
    pub(crate) page: PageBundle,
    /// All routes, those of the compat APIs too.
    pub(crate) routes: Vec<Arc<Route>>,
    /// The counters of `/metrics`.
    pub metrics: Metrics,
    login_limits: LoginLimits,
    conn_pools: ConnPools,
    /// The list of actions.
    pub(crate) actions: ActionDocument,
    /// The OpenAPI document.
    pub(crate) openapi: ActionDocument,
    closing: watch::Sender<bool>,
}

/// Rate limits for wrong tokens over TCP. Other machines cannot use up that of this one.
struct LoginLimits {
    local: Arc<LoginLimit>,
    remote: Arc<LoginLimit>,
}

/// Separate connection limits for classes of clients that must not crowd each other out.
struct ConnPools {
    /// For the owner, over the Unix socket.
    owner: Arc<ConnLimit>,
    /// For TCP clients that need a token or a secret.
    token: Arc<ConnLimit>,
    /// For clients of an open listener.
    open: Arc<ConnLimit>,
    /// For clients of a listener with TLS, which may be on other machines.
    remote: Arc<ConnLimit>,
}

impl ConnPools {
    fn new(max: usize) -> Self {
        let [owner, token, open] = [0; 3].map(|_| ConnLimit::new(max));
        Self { owner, token, open, remote: ConnLimit::new(max.div_ceil(4)) }
    }
}

impl ServerState {
    pub(crate) fn new(
        kernel: Kernel,
        HttpServerConfig { limits, compat, page, names: _ }: HttpServerConfig,
    ) -> Self {
        let routes = routes(page, &compat);
        Self {
            kernel,
            limits,
            compat,
            page,
            metrics: Metrics::new(routes.clone()),
            routes,
            login_limits: LoginLimits {
                local: Arc::new(LoginLimit::local()),
                remote: Arc::new(LoginLimit::remote()),
            },
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
    pub fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut closing = self.closing.subscribe();
        async move {
            // An error means that the sender is gone, which is the end too.
            let _ = closing.wait_for(|closing| *closing).await;
        }
    }

    /// The number of open connections.
    pub(crate) fn connections(&self) -> usize {
        let ConnPools { owner, token, open, remote } = &self.conn_pools;
        [owner, token, open, remote].iter().map(|limit| limit.in_use()).sum()
    }

    /// Evicts an unauthenticated connection to make room for a new one. Returns whether there was
    /// one.
    pub(crate) fn evict(&self) -> bool {
        let ConnPools { owner: _, token, open, remote } = &self.conn_pools;
        remote.evict() || open.evict() || token.evict()
    }

    /// The connection limit for clients of this listener.
    pub(crate) fn conn_limit(&self, ingress: &Ingress) -> &Arc<ConnLimit> {
        match (&ingress.transport, &ingress.auth) {
            (RequestTransport::Unix, _) => &self.conn_pools.owner,
            (RequestTransport::Tcp(_), _) if ingress.is_remote => &self.conn_pools.remote,
            (RequestTransport::Tcp(_), ListenerAuth::Grants | ListenerAuth::Secret(_)) => {
                &self.conn_pools.token
            }
            (RequestTransport::Tcp(_), ListenerAuth::Anyone) => &self.conn_pools.open,
        }
    }

    /// The rate limit for wrong tokens from clients of this listener.
    pub(crate) fn login_limit(&self, ingress: &Ingress) -> &Arc<LoginLimit> {
        if ingress.is_remote { &self.login_limits.remote } else { &self.login_limits.local }
    }

    /// Runs an action in the kernel.
    ///
    /// # Errors
    /// If the action is refused.
    pub async fn dispatch(
        &self,
        name: &str,
        params: impl Into<Bytes>,
        caller: &Caller,
    ) -> Result<Bytes, Refusal> {
        let answer = self.kernel.dispatch(name, &params.into(), caller).await?;
        Ok(Bytes::from(String::from(Box::<str>::from(answer))))
    }
}

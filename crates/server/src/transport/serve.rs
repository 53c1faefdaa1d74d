//! The server's life: accept connections, serve them, and shut down gracefully.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use paned_kernel::{Kernel, SelfWake};
use paned_model::{Code, Refusal};
use paned_policy::guard::RequestTransport;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::compat_api::CompatApi;
use crate::http::router::{ListenerRouter, router};
use crate::state::ServerState;
use crate::transport::connection;
use crate::transport::connection::ConnContext;
use crate::transport::listener::{AcceptedConn, AcceptedStream, Ingress, ServedApi};
use crate::{Listener, PageBundle, ServerLimits};

/// How many refused connections are answered at once; further ones are closed without an answer.
const MAX_REJECTING: usize = 256;
/// How many connections the system queues until they are accepted.
const LISTEN_BACKLOG: i32 = 1024;
/// How long to wait for the descriptor of an evicted connection.
const EVICT_DELAY: Duration = Duration::from_millis(1);
/// How long to wait when the system has no descriptor left and no connection can be evicted.
const NO_DESCRIPTOR_DELAY: Duration = Duration::from_millis(100);

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Tokens could be read on the network.
    #[error("cannot serve on {0}: without TLS, paned listens on loopback addresses only")]
    NotLoopback(SocketAddr),
    /// Other machines could use it without a token.
    #[error("a listener that other machines can reach must ask for a token")]
    OpenToOthers,
    /// A listener does not work.
    #[error("cannot listen: {0}")]
    Listener(io::Error),
}

/// The configuration of the server.
#[derive(Clone, Debug, Default)]
pub struct HttpServerConfig {
    /// Limits and time-outs.
    pub limits: ServerLimits,
    /// The protocols of other tools that are served beside our own.
    pub compat: Vec<Arc<dyn CompatApi>>,
    /// The web page.
    pub page: PageBundle,
    /// Names by which clients may address the server besides its addresses: `HOST` or `HOST:PORT`.
    pub names: Vec<String>,
}

/// Serves the kernel until `shutdown`. Then no connection is accepted any more, streams of events
/// end, and requests in progress have [`ServerLimits::shutdown_grace`] to finish.
///
/// # Errors
/// If a listener is open to other machines, or does not work.
pub async fn serve(
    kernel: Kernel,
    listeners: Vec<(Listener, ServedApi)>,
    config: HttpServerConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let limits = config.limits;
    let names: Arc<[String]> = config.names.clone().into();
    let shared = Arc::new(ServerState::new(kernel, config));
    let mut accept_loops = JoinSet::new();
    for (listener, api) in listeners {
        let ingress = Arc::new(Ingress::new(&listener, &api, &names)?);
        listener.set_backlog(LISTEN_BACKLOG).map_err(Error::Listener)?;
        let accept_loop = AcceptLoop {
            shared: shared.clone(),
            router: router(shared.clone(), ingress.compat.clone()),
            ingress,
            connections: JoinSet::new(),
        };
        accept_loops.spawn(accept_loop.run(listener));
    }
    shutdown.await;
    shared.close();
    let finished = async { while accept_loops.join_next().await.is_some() {} };
    if timeout(limits.shutdown_grace, finished).await.is_err() {
        tracing::warn!("requests still in progress were aborted");
    }
    Ok(())
}

/// One listener and its connections, which end with it.
struct AcceptLoop {
    shared: Arc<ServerState>,
    router: ListenerRouter,
    ingress: Arc<Ingress>,
    connections: JoinSet<()>,
}

enum AcceptEvent {
    Accepted(io::Result<AcceptedConn>),
    ConnectionEnded,
    Closing,
}

impl AcceptLoop {
    async fn run(mut self, listener: Listener) {
        let mut closed = Box::pin(self.shared.closed());
        loop {
            let event = tokio::select! {
                accepted = listener.accept() => AcceptEvent::Accepted(accepted),
                Some(_) = self.connections.join_next() => AcceptEvent::ConnectionEnded,
                () = &mut closed => AcceptEvent::Closing,
            };
            match event {
                AcceptEvent::Accepted(Ok(accepted)) => self.start_connection(accepted),
                AcceptEvent::Accepted(Err(error)) => self.handle_accept_error(error).await,
                AcceptEvent::ConnectionEnded => {}
                AcceptEvent::Closing => break,
            }
        }
        drop(listener);
        while self.connections.join_next().await.is_some() {}
    }

    fn start_connection(
        &mut self,
        AcceptedConn { stream, local, loopback, refusal }: AcceptedConn,
    ) {
        let slot = self.shared.conn_limit(&self.ingress).acquire();
        match (refusal, slot) {
            (None, Some(slot)) => {
                // The system has checked the user id: it is the owner.
                if self.ingress.transport == RequestTransport::Unix {
                    slot.mark_authenticated(&self.shared.kernel.owner(None).grant);
                }
                let at = |local| Arc::new(self.ingress.at(local));
                let context = ConnContext {
                    shared: self.shared.clone(),
                    router: self.router.clone(),
                    ingress: local.map_or_else(|| self.ingress.clone(), at),
                    loopback,
                };
                let connection = connection::talk(context, stream, slot);
                self.connections.spawn(SelfWake::new(connection));
            }
            (Some(refusal), _) => self.reject(stream, *refusal),
            (None, None) => self.reject(stream, all_connections_taken(&self.shared.limits)),
        }
    }

    /// The client may be gone, or there is no descriptor for it; the loop goes on in both cases.
    /// Unauthenticated connections are evicted to free a descriptor.
    async fn handle_accept_error(&mut self, error: io::Error) {
        tracing::warn!(%error, "cannot accept a connection");
        let pause = if self.shared.evict() { EVICT_DELAY } else { NO_DESCRIPTOR_DELAY };
        sleep(pause).await;
        while self.connections.try_join_next().is_some() {}
    }

    /// A client that expects TLS cannot read a reason.
    fn reject(&mut self, stream: AcceptedStream, refusal: Refusal) {
        self.shared.metrics.count_refused();
        let AcceptedStream::Plain(stream) = stream else { return };
        if self.connections.len() < self.shared.limits.connections + MAX_REJECTING {
            self.connections.spawn(connection::reject(stream, refusal));
        }
    }
}

fn all_connections_taken(limits: &ServerLimits) -> Refusal {
    let max = limits.connections;
    Refusal::new(
        Code::Unavailable,
        format!("all {max} connections are in use; close some and try again"),
    )
}

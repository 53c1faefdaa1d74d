//! Serving: accept, talk, and stop without cutting anybody short who is nearly done.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use paned_kernel::{Kernel, SelfWake};
use paned_model::{Code, Refusal};
use paned_policy::guard::RequestTransport;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::compat::agentmux::AgentmuxConfig;
use crate::connection::{self, ConnContext};
use crate::listener::{AcceptedConn, Ingress, ServedApi};
use crate::router::ListenerRouter;
use crate::state::ServerState;
use crate::{Listener, ServerLimits};

/// How many of those who find no seat are told so at once; more are only closed.
const MAX_REJECTING: usize = 256;
/// How many may knock before they are let in.
const LISTEN_BACKLOG: i32 = 1024;
/// How long to wait for the descriptor of a connection that is closed for whoever knocks.
const EVICT_DELAY: Duration = Duration::from_millis(1);
/// How long to wait when the system has no descriptor left, and all who are connected are known.
const NO_DESCRIPTOR_DELAY: Duration = Duration::from_millis(100);

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Others could read the tokens on the way.
    #[error("cannot serve on {0}: only this machine's own addresses are served without TLS")]
    NotLoopback(SocketAddr),
    /// A listener is no use.
    #[error("cannot listen: {0}")]
    Listener(io::Error),
}

/// What is served by, whoever calls.
#[derive(Clone, Debug, Default)]
pub struct HttpServerConfig {
    /// What is refused beyond this.
    pub limits: ServerLimits,
    /// What the clients of agentmux were promised.
    pub agentmux: AgentmuxConfig,
}

/// Serves the kernel's doors until `shutdown`. Then no one else is let in, streams of events end, and requests
/// under way have [`ServerLimits::farewell`] to end by themselves.
///
/// # Errors
/// When a listener is open to other machines, or no use.
pub async fn serve(
    kernel: Kernel,
    listeners: Vec<(Listener, ServedApi)>,
    rules: HttpServerConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let limits = rules.limits;
    let shared = Arc::new(ServerState::new(kernel, rules));
    let mut gates = JoinSet::new();
    for (listener, face) in listeners {
        let threshold = Arc::new(Ingress::new(&listener, &face)?);
        listener.set_backlog(LISTEN_BACKLOG).map_err(Error::Listener)?;
        let (shared, map) = (shared.clone(), Arc::new(router(&face)));
        let gate =
            AcceptLoop { shared, router: map, ingress: threshold, connections: JoinSet::new() };
        gates.spawn(gate.run(listener));
    }
    shutdown.await;
    shared.close();
    let goodbye = async { while gates.join_next().await.is_some() {} };
    if timeout(limits.shutdown_grace, goodbye).await.is_err() {
        tracing::warn!("requests still under way were cut short");
    }
    Ok(())
}

/// What is shown by this face.
fn router(face: &ServedApi) -> ListenerRouter {
    match face {
        ServedApi::Main => ListenerRouter::whole(),
        ServedApi::Compat { door, .. } => ListenerRouter::of(*door),
    }
}

/// One listener and the connections that came by it, which end with it.
struct AcceptLoop {
    shared: Arc<ServerState>,
    router: Arc<ListenerRouter>,
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
                came = listener.accept() => AcceptEvent::Accepted(came),
                Some(_) = self.connections.join_next() => AcceptEvent::ConnectionEnded,
                () = &mut closed => AcceptEvent::Closing,
            };
            match event {
                AcceptEvent::Accepted(Ok(arrival)) => self.start_connection(arrival),
                AcceptEvent::Accepted(Err(error)) => self.handle_accept_error(error).await,
                AcceptEvent::ConnectionEnded => {}
                AcceptEvent::Closing => break,
            }
        }
        drop(listener);
        while self.connections.join_next().await.is_some() {}
    }

    fn start_connection(&mut self, AcceptedConn { stream, refusal }: AcceptedConn) {
        let seat = self.shared.conn_limit(&self.ingress).acquire();
        match (refusal, seat) {
            (None, Some(seat)) => {
                // The system has said that it is the owner.
                if self.ingress.transport == RequestTransport::Unix {
                    seat.mark_authenticated(&self.shared.kernel.owner(None).grant);
                }
                let (shared, map) = (self.shared.clone(), self.router.clone());
                let threshold = self.ingress.clone();
                let talk =
                    connection::talk(ConnContext { shared, map, ingress: threshold }, stream, seat);
                self.connections.spawn(SelfWake::new(talk));
            }
            (Some(refusal), _) => self.reject(stream, refusal),
            (None, None) => self.reject(stream, all_connections_taken(&self.shared.limits)),
        }
    }

    /// The one who knocked may be gone, or there is no descriptor for them: neither is the end. Strangers who only sit there
    /// give theirs.
    async fn handle_accept_error(&mut self, error: io::Error) {
        tracing::warn!(%error, "a connection could not be accepted");
        let pause = if self.shared.evict() { EVICT_DELAY } else { NO_DESCRIPTOR_DELAY };
        sleep(pause).await;
        while self.connections.try_join_next().is_some() {}
    }

    fn reject(&mut self, stream: Box<dyn crate::listener::ConnStream>, refusal: Refusal) {
        self.shared.metrics.count_refused();
        if self.connections.len() < self.shared.limits.connections + MAX_REJECTING {
            self.connections.spawn(connection::reject(stream, refusal));
        }
    }
}

fn all_connections_taken(limits: &ServerLimits) -> Refusal {
    let most = limits.connections;
    Refusal::new(
        Code::Unavailable,
        format!("all {most} connections are taken; close some and try again"),
    )
}

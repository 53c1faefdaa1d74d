//! Serving: accept, talk, and stop without cutting anybody short who is nearly done.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use paned_kernel::{AtOnce, Kernel};
use paned_model::{Code, Refusal};
use paned_policy::guard::Way;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::{self, Talk};
use crate::doors::agentmux::Agentmux;
use crate::listener::{Arrival, Face, Threshold};
use crate::map::Map;
use crate::shared::Shared;
use crate::{Limits, Listener};

/// How many of those who find no seat are told so at once; more are only closed.
const CROWD: usize = 256;
/// How many may knock before they are let in.
const QUEUE: i32 = 1024;
/// How long to wait for the descriptor of a connection that is closed for whoever knocks.
const SOON: Duration = Duration::from_millis(1);
/// How long to wait when the system has no descriptor left, and all who are connected are known.
const BREATH: Duration = Duration::from_millis(100);

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
pub struct Rules {
    /// What is refused beyond this.
    pub limits: Limits,
    /// What the clients of agentmux were promised.
    pub agentmux: Agentmux,
}

/// Serves the kernel's doors until `shutdown`. Then no one else is let in, streams of events end, and requests
/// under way have [`Limits::farewell`] to end by themselves.
///
/// # Errors
/// When a listener is open to other machines, or no use.
pub async fn serve(
    kernel: Kernel,
    listeners: Vec<(Listener, Face)>,
    rules: Rules,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let limits = rules.limits;
    let shared = Arc::new(Shared::new(kernel, rules));
    let mut gates = JoinSet::new();
    for (listener, face) in listeners {
        let threshold = Arc::new(Threshold::new(&listener, &face)?);
        listener.widen(QUEUE).map_err(Error::Listener)?;
        let (shared, map) = (shared.clone(), Arc::new(map(&face)));
        let gate = Gate { shared, map, threshold, talks: JoinSet::new() };
        gates.spawn(gate.run(listener));
    }
    shutdown.await;
    shared.close();
    let goodbye = async { while gates.join_next().await.is_some() {} };
    if timeout(limits.farewell, goodbye).await.is_err() {
        tracing::warn!("requests still under way were cut short");
    }
    Ok(())
}

/// What is shown by this face.
fn map(face: &Face) -> Map {
    match face {
        Face::Main => Map::whole(),
        Face::Door { door, .. } => Map::of(*door),
    }
}

/// One listener and the connections that came by it, which end with it.
struct Gate {
    shared: Arc<Shared>,
    map: Arc<Map>,
    threshold: Arc<Threshold>,
    talks: JoinSet<()>,
}

enum Event {
    Came(io::Result<Arrival>),
    Left,
    Closing,
}

impl Gate {
    async fn run(mut self, listener: Listener) {
        let mut closed = Box::pin(self.shared.closed());
        loop {
            let event = tokio::select! {
                came = listener.accept() => Event::Came(came),
                Some(_) = self.talks.join_next() => Event::Left,
                () = &mut closed => Event::Closing,
            };
            match event {
                Event::Came(Ok(arrival)) => self.welcome(arrival),
                Event::Came(Err(error)) => self.complain(error).await,
                Event::Left => {}
                Event::Closing => break,
            }
        }
        drop(listener);
        while self.talks.join_next().await.is_some() {}
    }

    fn welcome(&mut self, Arrival { stream, refusal }: Arrival) {
        let seat = self.shared.seats(&self.threshold).take();
        match (refusal, seat) {
            (None, Some(seat)) => {
                // The system has said that it is the owner.
                if self.threshold.way == Way::Unix {
                    seat.let_in(&self.shared.kernel.owner(None).grant);
                }
                let (shared, map) = (self.shared.clone(), self.map.clone());
                let threshold = self.threshold.clone();
                let talk = connection::talk(Talk { shared, map, threshold }, stream, seat);
                self.talks.spawn(AtOnce::new(talk));
            }
            (Some(refusal), _) => self.turn_away(stream, refusal),
            (None, None) => self.turn_away(stream, full(&self.shared.limits)),
        }
    }

    /// The one who knocked may be gone, or there is no descriptor for them: neither is the end. Strangers who only sit there
    /// give theirs.
    async fn complain(&mut self, error: io::Error) {
        tracing::warn!(%error, "a connection could not be accepted");
        let pause = if self.shared.evict() { SOON } else { BREATH };
        sleep(pause).await;
        while self.talks.try_join_next().is_some() {}
    }

    fn turn_away(&mut self, stream: Box<dyn crate::listener::Stream>, refusal: Refusal) {
        self.shared.metrics.turned_away();
        if self.talks.len() < self.shared.limits.connections + CROWD {
            self.talks.spawn(connection::turn_away(stream, refusal));
        }
    }
}

fn full(limits: &Limits) -> Refusal {
    let most = limits.connections;
    Refusal::new(
        Code::Unavailable,
        format!("all {most} connections are taken; close some and try again"),
    )
}

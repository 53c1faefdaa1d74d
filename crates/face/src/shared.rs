//! What all requests share.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use paned_kernel::{Caller, Kernel};
use paned_model::Refusal;
use paned_policy::guard::Way;
use tokio::sync::{Semaphore, watch};

use crate::doors::agentmux::Agentmux;
use crate::doors::opencode_pty::Sockets;
use crate::listener::{Admits, Threshold};
use crate::login_limit::LoginLimit;
use crate::metrics::Metrics;
use crate::seats::Seats;
use crate::{Limits, Rules};

/// What all requests share: the kernel, and what this face knows of itself.
pub(crate) struct Shared {
    pub(crate) kernel: Kernel,
    pub(crate) limits: Limits,
    pub(crate) agentmux: Agentmux,
    /// Held by whoever counts the sessions of agentmux and makes one more.
    pub(crate) agentmux_turn: Semaphore,
    /// The sockets of opencode-pty's clients.
    pub(crate) opencode_pty: Arc<Sockets>,
    pub(crate) metrics: Metrics,
    /// Wrong tokens over TCP.
    pub(crate) logins: LoginLimit,
    rooms: Rooms,
    /// The list of actions, once somebody asked for it.
    pub(crate) actions: OnceLock<Bytes>,
    /// The OpenAPI document, once somebody asked for it.
    pub(crate) openapi: OnceLock<Bytes>,
    closing: watch::Sender<bool>,
}

/// Seats, apart for those who must not be able to take each other's.
struct Rooms {
    /// For the owner, over the socket.
    owner: Arc<Seats>,
    /// For whoever needs a token.
    guests: Arc<Seats>,
    /// For whoever comes by a listener that is open.
    anyone: Arc<Seats>,
}

impl Rooms {
    fn new(most: usize) -> Self {
        Self { owner: Seats::new(most), guests: Seats::new(most), anyone: Seats::new(most) }
    }
}

impl Shared {
    pub(crate) fn new(kernel: Kernel, Rules { limits, agentmux }: Rules) -> Self {
        Self {
            kernel,
            limits,
            agentmux,
            agentmux_turn: Semaphore::new(1),
            opencode_pty: Arc::default(),
            metrics: Metrics::new(),
            logins: LoginLimit::default(),
            rooms: Rooms::new(limits.connections),
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
        let Rooms { owner, guests, anyone } = &self.rooms;
        [owner, guests, anyone].iter().map(|seats| seats.taken()).sum()
    }

    /// Has a stranger give way to whoever knocks; whether there is one.
    pub(crate) fn evict(&self) -> bool {
        self.rooms.anyone.evict() || self.rooms.guests.evict()
    }

    /// The seats for whoever comes over this threshold.
    pub(crate) fn seats(&self, threshold: &Threshold) -> &Arc<Seats> {
        match (&threshold.way, &threshold.admits) {
            (Way::Unix, _) => &self.rooms.owner,
            (Way::Tcp(_), Admits::Grants | Admits::Secret(_)) => &self.rooms.guests,
            (Way::Tcp(_), Admits::Anyone) => &self.rooms.anyone,
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

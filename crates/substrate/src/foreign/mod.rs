//! Panes of somebody's tmux: found, and adopted as they are.
//!
//! Their output comes by way of a scribe that tmux starts (`pipe-pane`), which is a keeper to everybody: it makes the
//! tape, outlives the server and is found again. What is typed goes through tmux, behind a guard that names server,
//! pane and process, so that nothing ever reaches a pane that was not adopted. `pipe-pane -I` would do that too, but
//! crashes a tmux (3.3a) whose pane has just ended.

mod ear;
mod hand;
pub mod list;
mod servers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use paned_model::{PaneId, Refusal};
use tokio::sync::{mpsc, watch};

pub use self::servers::Server;
use self::servers::Servers;
use crate::native::Places;
use crate::native::scribe::{Desk, Task};
use crate::tmux::foreign::Known;
use crate::{Carrier, Link};

/// Facts on their way: one wake-up, one ending and one loss always fit.
const FACTS: usize = 16;
const COMMANDS: usize = 64;

/// The way to panes of other people's tmux servers.
#[derive(Clone, Debug)]
pub struct Foreign {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    places: Places,
    program: PathBuf,
    servers: Servers,
}

/// Where a pane of somebody's is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The server's socket.
    pub socket: PathBuf,
    /// By what the pane is known again.
    pub known: Known,
}

/// A pane to adopt. Everything in it has been checked.
#[derive(Clone, Debug)]
pub struct Order {
    /// Its name with us.
    pub id: PaneId,
    /// Where it is.
    pub spot: Spot,
    /// How many bytes of its output to keep.
    pub capacity: u64,
    /// What the kernel wants to know again when it finds the pane later.
    pub record: String,
}

/// What has become of an adopted pane, as its two tasks tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// It is watched.
    Fast,
    /// It was let go; what becomes of it is not ours to tell.
    LetGo,
    /// It has ended, or is lost.
    Over,
}

impl Foreign {
    /// Adopted panes in this state folder, with scribes from this program of ours.
    #[must_use]
    pub fn new(state: &Path, program: PathBuf) -> Self {
        let (places, servers) = (Places::new(state), Servers::default());
        Self { inner: Arc::new(Inner { places, program, servers }) }
    }

    /// The connection to a server. It is never started.
    ///
    /// # Errors
    /// When nobody answers at this socket, or it is another user's.
    pub async fn server(&self, socket: &Path) -> Result<Arc<Server>, Refusal> {
        Ok(self.inner.servers.open(socket).await?)
    }

    /// Adopts a pane: what it shows and all that it prints from now on is on its tape.
    ///
    /// # Errors
    /// When it is not there any more or has a pipe already; then nothing was changed.
    pub async fn adopt(&self, order: Order) -> Result<Link, Refusal> {
        let Inner { places, program, servers } = &*self.inner;
        let server = servers.open(&order.spot.socket).await?;
        let desk = Desk::make(places, &order.id, &order.record).await?;
        let known = order.spot.known;
        let (program, socket) = (program.to_string_lossy(), desk.socket().to_string_lossy());
        let opened = server.client().open_pipe(&known, &[&program, "scribe", &socket]).await;
        let (before, size) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                desk.clear().await;
                return Err(error.into());
            }
        };
        let size = size.check().unwrap_or_default();
        let task = Task { pid: known.pid, size, capacity: order.capacity, before };
        match desk.meet(task).await {
            Ok(link) => Ok(self.hold(&order.id, link, order.spot, Some(server))),
            Err(error) => {
                let _ = server.client().close_pipe(&known).await;
                desk.clear().await;
                Err(error.into())
            }
        }
    }

    /// Goes on with an adopted pane whose scribe was found again.
    #[must_use]
    pub fn resume(&self, id: &PaneId, scribe: Link, spot: Spot) -> Link {
        self.hold(id, scribe, spot, None)
    }

    /// Starts the tasks that look after an adopted pane, over a connection that is there or is made.
    fn hold(&self, id: &PaneId, scribe: Link, spot: Spot, server: Option<Arc<Server>>) -> Link {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (outbox, facts) = mpsc::channel(FACTS);
        let hold = watch::Sender::new(Hold::Fast);
        let (counter, typed) = watch::channel(Some(0));
        let hand = hand::Hand {
            foreign: self.clone(),
            spot: spot.clone(),
            folder: self.inner.places.folder(id),
            scribe: scribe.commands.clone(),
            output: scribe.output.clone(),
            typed: counter,
            hold: hold.clone(),
        };
        let ear = ear::Ear {
            foreign: self.clone(),
            spot,
            scribe: scribe.commands,
            outbox,
            hold,
            size: scribe.output.size(),
            connections: 0,
        };
        tokio::spawn(scribe.carrier);
        tokio::spawn(hand.run(inbox));
        tokio::spawn(ear.run(scribe.facts, server));
        Link {
            pid: scribe.pid,
            keeper: scribe.keeper,
            started: scribe.started,
            output: scribe.output,
            commands,
            facts,
            typed,
            news: scribe.news,
            // Hand and ear carry, in tasks of their own.
            carrier: Carrier::default(),
        }
    }
}

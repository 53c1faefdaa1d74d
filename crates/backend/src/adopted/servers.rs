//! Connections to tmux servers that we did not start: one for each server, while it is in use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::time::Instant;

use crate::tmux::{self, ControlClient, Error, TmuxEvent, TmuxEvents, TmuxServerAddr};

/// A connection shared by all who watch panes on that server. It closes with the last of them.
#[derive(Debug)]
pub struct SharedTmuxClient {
    client: ControlClient,
    changes: watch::Receiver<ServerChanges>,
}

/// Counters of what has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerChanges {
    /// How often we connected.
    pub(super) connections: u64,
    /// How many other events tmux caused.
    pub(super) notices: u64,
}

impl SharedTmuxClient {
    /// The connection.
    #[must_use]
    pub fn client(&self) -> &ControlClient {
        &self.client
    }

    /// A counter that rises whenever a pane may have changed.
    pub(super) fn changes(&self) -> watch::Receiver<ServerChanges> {
        self.changes.clone()
    }
}

/// The connection to one server. Its lock is held while a task connects.
#[derive(Debug, Default)]
struct ClientSlot {
    client: Weak<SharedTmuxClient>,
    /// When the last attempt to connect failed, and why.
    failure: Option<(Instant, Error)>,
}

#[derive(Debug, Default)]
pub(super) struct SharedTmuxClients {
    slots: Mutex<HashMap<PathBuf, Arc<AsyncMutex<ClientSlot>>>>,
}

impl SharedTmuxClients {
    /// The connection to the server at this socket. Callers that come while one of them connects
    /// share its result: tmux never sees clients of ours that come and go at once.
    pub(super) async fn open(&self, socket: &Path) -> Result<Arc<SharedTmuxClient>, Error> {
        let asked = Instant::now();
        let slot = self.slot(socket);
        let mut slot = slot.lock().await;
        if let Some(client) = slot.client.upgrade() {
            return Ok(client);
        }
        if let Some((at, error)) = &slot.failure
            && asked < *at
        {
            return Err(error.clone());
        }
        let connected = tmux::connect(TmuxServerAddr::foreign(socket, None)).await;
        let (client, events) =
            connected.inspect_err(|error| slot.failure = Some((Instant::now(), error.clone())))?;
        let (sender, changes) = watch::channel(ServerChanges { connections: 1, notices: 0 });
        tokio::spawn(count_changes(events, sender));
        let client = Arc::new(SharedTmuxClient { client, changes });
        slot.client = Arc::downgrade(&client);
        Ok(client)
    }

    fn slot(&self, socket: &Path) -> Arc<AsyncMutex<ClientSlot>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| {
            let is_unused = slot.try_lock().is_ok_and(|slot| slot.client.strong_count() == 0);
            !is_unused || 1 < Arc::strong_count(slot)
        });
        slots.entry(socket.to_owned()).or_default().clone()
    }
}

/// Turns events into a counter, so that one check covers many events.
async fn count_changes(mut events: TmuxEvents, sender: watch::Sender<ServerChanges>) {
    while let Some(event) = events.recv().await {
        sender.send_modify(|changes| match event {
            TmuxEvent::Connected(_) => changes.connections += 1,
            TmuxEvent::ClientLost(_)
            | TmuxEvent::ServerGone(_)
            | TmuxEvent::Notice(_)
            | TmuxEvent::Changed
            | TmuxEvent::Resync => changes.notices += 1,
        });
    }
}

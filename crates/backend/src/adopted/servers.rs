//! Connections to tmux servers that we did not start: one for each server, while it is in use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

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

#[derive(Debug, Default)]
pub(super) struct SharedTmuxClients {
    open: Mutex<HashMap<PathBuf, Weak<SharedTmuxClient>>>,
}

impl SharedTmuxClients {
    /// The connection to the server at this socket.
    pub(super) async fn open(&self, socket: &Path) -> Result<Arc<SharedTmuxClient>, Error> {
        let found = self.lock().get(socket).and_then(Weak::upgrade);
        if let Some(server) = found {
            return Ok(server);
        }
        let (client, events) = tmux::connect(TmuxServerAddr::foreign(socket, None)).await?;
        let (sender, changes) = watch::channel(ServerChanges { connections: 1, notices: 0 });
        tokio::spawn(count_changes(events, sender));
        let server = Arc::new(SharedTmuxClient { client, changes });
        let mut open = self.lock();
        open.retain(|_, server| 0 < server.strong_count());
        // Another task may have connected meanwhile; then its connection is used, and ours closes
        // here.
        if let Some(found) = open.get(socket).and_then(Weak::upgrade) {
            return Ok(found);
        }
        open.insert(socket.to_owned(), Arc::downgrade(&server));
        Ok(server)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Weak<SharedTmuxClient>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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

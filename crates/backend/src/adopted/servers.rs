//! Connections to other people's tmux servers: one for each, as long as somebody needs it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

use crate::tmux::{self, ControlClient, Error, TmuxEvent, TmuxEvents, TmuxServerAddr};

/// A connection that is shared by all who watch panes there. It ends with the last of them.
#[derive(Debug)]
pub struct SharedTmuxClient {
    client: ControlClient,
    changes: watch::Receiver<ServerChanges>,
}

/// How often something has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerChanges {
    /// We were connected.
    pub(super) connections: u64,
    /// tmux said something.
    pub(super) notices: u64,
}

impl SharedTmuxClient {
    /// The connection.
    #[must_use]
    pub fn client(&self) -> &ControlClient {
        &self.client
    }

    /// A level that rises whenever a pane may have changed.
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
        let (client, facts) = tmux::connect(TmuxServerAddr::foreign(socket, None)).await?;
        let (tell, news) = watch::channel(ServerChanges { connections: 1, notices: 0 });
        tokio::spawn(count_changes(facts, tell));
        let server = Arc::new(SharedTmuxClient { client, changes: news });
        let mut open = self.lock();
        open.retain(|_, server| 0 < server.strong_count());
        // Somebody else may have been faster; then theirs is used, and ours ends here.
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

/// Turns facts into a level, so that one look is as good as many.
async fn count_changes(mut facts: TmuxEvents, tell: watch::Sender<ServerChanges>) {
    while let Some(fact) = facts.recv().await {
        tell.send_modify(|news| match fact {
            TmuxEvent::Connected(_) => news.connections += 1,
            TmuxEvent::ClientLost(_)
            | TmuxEvent::ServerGone(_)
            | TmuxEvent::Notice(_)
            | TmuxEvent::Changed
            | TmuxEvent::Resync => news.notices += 1,
        });
    }
}

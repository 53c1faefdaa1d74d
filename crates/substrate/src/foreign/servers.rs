//! Connections to other people's tmux servers: one for each, as long as somebody needs it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

use crate::tmux::{self, Client, Error, Fact, Facts, Place};

/// A connection that is shared by all who watch panes there. It ends with the last of them.
#[derive(Debug)]
pub struct Server {
    client: Client,
    news: watch::Receiver<News>,
}

/// How often something has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// We were connected.
    pub(super) connections: u64,
    /// tmux said something.
    pub(super) notices: u64,
}

impl Server {
    /// The connection.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A level that rises whenever a pane may have changed.
    pub(super) fn news(&self) -> watch::Receiver<News> {
        self.news.clone()
    }
}

#[derive(Debug, Default)]
pub(super) struct Servers {
    open: Mutex<HashMap<PathBuf, Weak<Server>>>,
}

impl Servers {
    /// The connection to the server at this socket.
    pub(super) async fn open(&self, socket: &Path) -> Result<Arc<Server>, Error> {
        let found = self.lock().get(socket).and_then(Weak::upgrade);
        if let Some(server) = found {
            return Ok(server);
        }
        let (client, facts) = tmux::connect(Place::foreign(socket, None)).await?;
        let (tell, news) = watch::channel(News { connections: 1, notices: 0 });
        tokio::spawn(hear(facts, tell));
        let server = Arc::new(Server { client, news });
        let mut open = self.lock();
        open.retain(|_, server| 0 < server.strong_count());
        // Somebody else may have been faster; then theirs is used, and ours ends here.
        if let Some(found) = open.get(socket).and_then(Weak::upgrade) {
            return Ok(found);
        }
        open.insert(socket.to_owned(), Arc::downgrade(&server));
        Ok(server)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Weak<Server>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Turns facts into a level, so that one look is as good as many.
async fn hear(mut facts: Facts, tell: watch::Sender<News>) {
    while let Some(fact) = facts.recv().await {
        tell.send_modify(|news| match fact {
            Fact::Connected(_) => news.connections += 1,
            Fact::ClientLost(_)
            | Fact::ServerGone(_)
            | Fact::Notice(_)
            | Fact::Changed
            | Fact::Resync => news.notices += 1,
        });
    }
}

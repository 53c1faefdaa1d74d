//! What is done to an adopted pane: through tmux, one thing after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use paned_keeper::watched::Watched;
use paned_model::frame::{Guard, Refused, Survivor};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::{Foreign, Hold, Spot};
use crate::tmux::Error;
use crate::{ANSWER, Command, Output, Typed};

pub(super) struct Hand {
    pub(super) foreign: Foreign,
    pub(super) spot: Spot,
    /// The pane's folder.
    pub(super) folder: PathBuf,
    pub(super) scribe: mpsc::Sender<Command>,
    pub(super) output: Arc<dyn Output>,
    /// How often somebody has typed, as far as it went through us.
    pub(super) typed: watch::Sender<Option<u64>>,
    pub(super) hold: watch::Sender<Hold>,
}

impl Hand {
    pub(super) async fn run(self, mut inbox: mpsc::Receiver<Command>) {
        while let Some(command) = inbox.recv().await {
            match command {
                Command::Took(_) => drop(self.scribe.send(command).await),
                Command::Input(parts, reply) => {
                    self.typed.send_modify(|typed| *typed = Some(typed.unwrap_or(0) + 1));
                    let _ = reply.send(self.type_all(&parts).await);
                }
                Command::Guarded(bytes, guard, reply) => {
                    let _ = reply.send(self.type_if(guard, &bytes).await);
                }
                // tmux decides how large its panes are.
                Command::Resize(_, reply) => drop(reply.send(Err(Refused::Held.into()))),
                // Its program prints as fast as tmux lets it.
                Command::Breaks(_) | Command::Release(_) => {}
                Command::Kill(grace, reply) => drop(reply.send(self.kill(grace).await)),
                Command::LetGo(reply) => {
                    self.let_go().await;
                    let _ = reply.send(());
                }
            }
        }
    }

    /// tmux is no referee: the look is a moment before the write, and what a person types in that tmux is not
    /// counted.
    async fn type_if(&self, guard: Guard, bytes: &[u8]) -> Result<Typed, Refused> {
        let stands = guard.end.is_none_or(|end| end == self.output.end());
        if !stands || guard.typed.is_some_and(|typed| Some(typed) != *self.typed.borrow()) {
            return Err(Refused::Moved);
        }
        self.type_in(bytes).await
    }

    /// One part after the other: we do one thing at a time, so nothing of ours comes between.
    async fn type_all(&self, parts: &[Vec<u8>]) -> Result<Typed, Refused> {
        let mut typed = Typed::default();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            typed = self.type_in(part).await?;
        }
        Ok(typed)
    }

    async fn type_in(&self, bytes: &[u8]) -> Result<Typed, Refused> {
        if *self.hold.borrow() != Hold::Fast {
            return Err(Refused::Gone);
        }
        let typed = match self.foreign.inner.servers.open(&self.spot.socket).await {
            Ok(server) => server.client().type_into(&self.spot.known, bytes, &self.folder).await,
            Err(error) => Err(error),
        };
        typed.map(|()| Typed::default()).map_err(|error| match error {
            Error::SessionNotFound(_) => Refused::Gone,
            error => {
                tracing::warn!(pane = %self.spot.known.pane, %error, "tmux did not take what was typed");
                Refused::Failed
            }
        })
    }

    /// Ends the tmux pane; answers its process, should that not go.
    async fn kill(&self, grace: Duration) -> Vec<Survivor> {
        let known = &self.spot.known;
        let process = Watched::new(known.pid);
        if let Ok(server) = self.foreign.inner.servers.open(&self.spot.socket).await {
            let _ = server.client().kill_known(known).await;
        }
        let mut hold = self.hold.subscribe();
        let _ = timeout(grace, hold.wait_for(|hold| *hold != Hold::Fast)).await;
        let survivor = Survivor { pid: known.pid, command: format!("tmux {}", known.pane) };
        Some(survivor).filter(|_| !process.has_ended()).into_iter().collect()
    }

    /// Watches it no more. The pipe is closed while the scribe still has it: then it cannot be somebody else's.
    async fn let_go(&self) {
        self.hold.send_if_modified(|hold| {
            let held = *hold == Hold::Fast;
            if held {
                *hold = Hold::LetGo;
            }
            held
        });
        if !self.scribe.is_closed()
            && let Ok(server) = self.foreign.inner.servers.open(&self.spot.socket).await
        {
            let _ = server.client().close_pipe(&self.spot.known).await;
            let _ = server.client().unwatch_size(self.spot.known.pane).await;
        }
        let (reply, answer) = oneshot::channel();
        if self.scribe.send(Command::Kill(Duration::ZERO, reply)).await.is_ok() {
            let _ = timeout(ANSWER, answer).await;
        }
    }
}

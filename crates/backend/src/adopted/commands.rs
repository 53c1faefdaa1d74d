//! Commands to an adopted pane, done through tmux one after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use paned_keeper::process::process_watch::ProcessWatch;
use paned_model::frame::{InputGuard, RefusalReason, Survivor};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::{AdoptedLocation, AdoptedPanes, AdoptionState};
use crate::tmux::Error;
use crate::{InputReport, Output, PaneCommand, REPLY_TIMEOUT};

pub(super) struct AdoptedCommands {
    pub(super) foreign: AdoptedPanes,
    pub(super) location: AdoptedLocation,
    /// The pane's folder.
    pub(super) folder: PathBuf,
    pub(super) recorder: mpsc::Sender<PaneCommand>,
    pub(super) output: Arc<dyn Output>,
    /// How often input was typed, as far as it went through us.
    pub(super) typed: watch::Sender<Option<u64>>,
    pub(super) state: watch::Sender<AdoptionState>,
}

impl AdoptedCommands {
    pub(super) async fn run(self, mut inbox: mpsc::Receiver<PaneCommand>) {
        while let Some(command) = inbox.recv().await {
            match command {
                PaneCommand::Ack(_) => drop(self.recorder.send(command).await),
                PaneCommand::Input(parts, reply) => {
                    self.typed.send_modify(|typed| *typed = Some(typed.unwrap_or(0) + 1));
                    let _ = reply.send(self.type_all(&parts).await);
                }
                PaneCommand::GuardedInput(bytes, guard, reply) => {
                    let _ = reply.send(self.type_guarded(guard, &bytes).await);
                }
                // tmux decides how large its panes are.
                PaneCommand::Resize(_, reply) => drop(reply.send(Err(RefusalReason::Held.into()))),
                // Its program prints as fast as tmux lets it.
                PaneCommand::Throttle(_) | PaneCommand::Release(_) => {}
                PaneCommand::Kill(grace, reply) => drop(reply.send(self.kill(grace).await)),
                PaneCommand::Detach(reply) => {
                    self.detach().await;
                    let _ = reply.send(());
                }
            }
        }
    }

    /// tmux cannot check a guard and type in one step: the check is a moment before the write, and
    /// what a user types in that tmux is not counted.
    async fn type_guarded(
        &self,
        guard: InputGuard,
        bytes: &[u8],
    ) -> Result<InputReport, RefusalReason> {
        let holds = guard.end.is_none_or(|end| end == self.output.end());
        if !holds || guard.typed.is_some_and(|typed| Some(typed) != *self.typed.borrow()) {
            return Err(RefusalReason::Stale);
        }
        self.type_in(bytes).await
    }

    /// One part after the other. This task does one command at a time, so no other input of ours
    /// comes between.
    async fn type_all(&self, parts: &[Vec<u8>]) -> Result<InputReport, RefusalReason> {
        let mut typed = InputReport::default();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            typed = self.type_in(part).await?;
        }
        Ok(typed)
    }

    async fn type_in(&self, bytes: &[u8]) -> Result<InputReport, RefusalReason> {
        if *self.state.borrow() != AdoptionState::Watched {
            return Err(RefusalReason::Gone);
        }
        let typed = match self.foreign.inner.servers.open(&self.location.socket).await {
            Ok(server) => {
                server.client().type_into(&self.location.identity, bytes, &self.folder).await
            }
            Err(error) => Err(error),
        };
        typed.map(|()| InputReport::default()).map_err(|error| match error {
            Error::SessionNotFound(_) => RefusalReason::Gone,
            error => {
                tracing::warn!(pane = %self.location.identity.pane, %error, "tmux rejected the \
                    input");
                RefusalReason::Failed
            }
        })
    }

    /// Kills the tmux pane; returns its process if that survives.
    async fn kill(&self, grace: Duration) -> Vec<Survivor> {
        let identity = &self.location.identity;
        let process = ProcessWatch::new(identity.pid);
        if let Ok(server) = self.foreign.inner.servers.open(&self.location.socket).await {
            let _ = server.client().kill_guarded(identity).await;
        }
        let mut state = self.state.subscribe();
        let _ = timeout(grace, state.wait_for(|state| *state != AdoptionState::Watched)).await;
        let survivor = Survivor { pid: identity.pid, command: format!("tmux {}", identity.pane) };
        Some(survivor).filter(|_| !process.has_ended()).into_iter().collect()
    }

    /// Stops watching. The pipe is closed while the recorder still has it: so it cannot be the pipe
    /// of another program.
    async fn detach(&self) {
        self.state.send_if_modified(|state| {
            let is_watched = *state == AdoptionState::Watched;
            if is_watched {
                *state = AdoptionState::Detached;
            }
            is_watched
        });
        if !self.recorder.is_closed()
            && let Ok(server) = self.foreign.inner.servers.open(&self.location.socket).await
        {
            let _ = server.client().close_pipe(&self.location.identity).await;
            let _ = server.client().unwatch_size(self.location.identity.pane).await;
        }
        let (reply, answer) = oneshot::channel();
        if self.recorder.send(PaneCommand::Kill(Duration::ZERO, reply)).await.is_ok() {
            let _ = timeout(REPLY_TIMEOUT, answer).await;
        }
    }
}

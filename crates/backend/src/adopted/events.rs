//! What happens to an adopted pane: heard from its scribe and from tmux, told as facts.

use std::sync::Arc;
use std::time::Duration;

use paned_keeper::time;
use paned_model::frame::ExitRecord;
use paned_model::{Exit, Size};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::servers::{ServerChanges, SharedTmuxClient};
use super::{AdoptedLocation, AdoptedPanes, AdoptionState};
use crate::tmux::query::TmuxExit;
use crate::{PaneCommand, PaneEvent, SizeRequest};

/// How long tmux may take to say how a program ended.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_millis(400);
/// How often a server that does not answer is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

pub(super) struct AdoptedWatcher {
    pub(super) foreign: AdoptedPanes,
    pub(super) location: AdoptedLocation,
    pub(super) recorder: mpsc::Sender<PaneCommand>,
    pub(super) outbox: mpsc::Sender<PaneEvent>,
    pub(super) state: watch::Sender<AdoptionState>,
    pub(super) size: Size,
    pub(super) connections: u64,
}

/// The connection, once it is there.
struct WatchedServer {
    server: Arc<SharedTmuxClient>,
    changes: watch::Receiver<ServerChanges>,
}

impl WatchedServer {
    /// What has happened before counts as news.
    fn new(server: Arc<SharedTmuxClient>) -> Self {
        let mut changes = server.changes();
        changes.mark_changed();
        Self { server, changes }
    }
}

enum AdoptedWatcherEvent {
    Recorder(Option<PaneEvent>),
    ServerChanged(bool),
    Retry,
}

impl AdoptedWatcher {
    pub(super) async fn run(
        mut self,
        mut scribe: mpsc::Receiver<PaneEvent>,
        server: Option<Arc<SharedTmuxClient>>,
    ) {
        let mut line = match server {
            Some(server) => Some(WatchedServer::new(server)),
            None => self.connect().await,
        };
        loop {
            let event = tokio::select! {
                fact = scribe.recv() => AdoptedWatcherEvent::Recorder(fact),
                news = next(&mut line) => AdoptedWatcherEvent::ServerChanged(news),
                () = sleep(RETRY_INTERVAL), if line.is_none() => AdoptedWatcherEvent::Retry,
            };
            match event {
                AdoptedWatcherEvent::Recorder(Some(PaneEvent::Printed)) => {
                    self.emit(PaneEvent::Printed).await
                }
                AdoptedWatcherEvent::Recorder(Some(PaneEvent::Exited(ending))) => {
                    self.exited(ending, &line).await
                }
                AdoptedWatcherEvent::Recorder(Some(
                    fact @ (PaneEvent::Lost | PaneEvent::Detached),
                )) => {
                    self.recorder_lost(fact, &line).await;
                }
                // Nobody but tmux sets its size, and we told the scribe.
                AdoptedWatcherEvent::Recorder(Some(
                    PaneEvent::Resized(_) | PaneEvent::SizeHolder(_) | PaneEvent::KeysPressed(_),
                )) => {}
                AdoptedWatcherEvent::Recorder(None) => return,
                AdoptedWatcherEvent::ServerChanged(true) => self.check_size(&line).await,
                AdoptedWatcherEvent::ServerChanged(false) => line = None,
                AdoptedWatcherEvent::Retry => line = self.connect().await,
            }
        }
    }

    async fn connect(&self) -> Option<WatchedServer> {
        let server = self.foreign.inner.servers.open(&self.location.socket).await;
        server.ok().map(WatchedServer::new)
    }

    /// Looks whether its size is another.
    async fn check_size(&mut self, line: &Option<WatchedServer>) {
        let Some(WatchedServer { server, changes: news }) = line else { return };
        let (client, pane) = (server.client(), self.location.identity.pane);
        let connections = news.borrow().connections;
        let Ok(Some(now)) = client.snapshot_pane(pane).await else { return };
        if now.identity != Some(self.location.identity) {
            return;
        }
        if self.connections != connections && client.watch_size(pane).await.is_ok() {
            self.connections = connections;
        }
        if now.size != self.size && now.size.check().is_ok() {
            self.resized(now.size).await;
        }
    }

    async fn resized(&mut self, size: Size) {
        self.size = size;
        let (reply, answer) = oneshot::channel();
        let resizing = SizeRequest { size, holder: None, force: true };
        let sent = self.recorder.send(PaneCommand::Resize(resizing, reply)).await;
        // On the tape before it is told: whoever looks then sees it there.
        if sent.is_ok() && matches!(answer.await, Ok(Ok(()))) {
            self.emit(PaneEvent::Resized(size)).await;
        }
    }

    /// Its program has ended; tmux may know how.
    async fn exited(&self, ending: ExitRecord, line: &Option<WatchedServer>) {
        let exit = match line {
            Some(line) => {
                timeout(
                    EXIT_STATUS_TIMEOUT,
                    line.server.client().exit_status(&self.location.identity),
                )
                .await
            }
            None => Ok(None),
        };
        let exit = exit.ok().flatten().map(exit_of);
        self.finish(PaneEvent::Exited(ExitRecord { exit, ..ending })).await;
    }

    /// The scribe is gone, or about to go. If the pane is gone too, that is its end; how it ended nobody knows.
    async fn recorder_lost(&self, fact: PaneEvent, line: &Option<WatchedServer>) {
        let known = self.location.identity;
        let is_gone = match line {
            Some(line) => {
                match timeout(EXIT_STATUS_TIMEOUT, line.server.client().snapshot_pane(known.pane))
                    .await
                {
                    Ok(Ok(now)) => now.is_none_or(|now| now.identity != Some(known)),
                    Ok(Err(_)) | Err(_) => false,
                }
            }
            None => false,
        };
        let ending = ExitRecord { exit: None, killed: false, timed_out: false, at: time::now() };
        self.finish(if is_gone { PaneEvent::Exited(ending) } else { fact }).await;
        if let Some(line) = line {
            let _ = line.server.client().unwatch_size(known.pane).await;
        }
    }

    /// Tells the end, unless it is no longer ours to tell.
    async fn finish(&self, fact: PaneEvent) {
        let held = self.state.send_if_modified(|hold| {
            let held = *hold == AdoptionState::Watched;
            if held {
                *hold = AdoptionState::Ended;
            }
            held
        });
        if held {
            self.emit(fact).await;
        }
    }

    async fn emit(&self, fact: PaneEvent) {
        let _ = self.outbox.send(fact).await;
    }
}

fn exit_of(ended: TmuxExit) -> Exit {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match ended {
        TmuxExit::Code(code) => Exit::Code(byte(code)),
        TmuxExit::Signal(signal) => Exit::Signal(byte(signal)),
    }
}

/// Whether there is news; false when there will be none any more.
async fn next(line: &mut Option<WatchedServer>) -> bool {
    match line {
        Some(line) => line.changes.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

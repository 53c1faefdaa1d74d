//! Events of an adopted pane, from its recorder and from tmux.

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

/// An open connection and its change counter.
struct WatchedServer {
    server: Arc<SharedTmuxClient>,
    changes: watch::Receiver<ServerChanges>,
}

impl WatchedServer {
    /// Starts out as changed: what happened before must be checked, too.
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
        mut recorder_events: mpsc::Receiver<PaneEvent>,
        server: Option<Arc<SharedTmuxClient>>,
    ) {
        let mut watched = match server {
            Some(server) => Some(WatchedServer::new(server)),
            None => self.connect().await,
        };
        loop {
            let event = tokio::select! {
                event = recorder_events.recv() => AdoptedWatcherEvent::Recorder(event),
                changed = next(&mut watched) => AdoptedWatcherEvent::ServerChanged(changed),
                () = sleep(RETRY_INTERVAL), if watched.is_none() => AdoptedWatcherEvent::Retry,
            };
            match event {
                AdoptedWatcherEvent::Recorder(Some(PaneEvent::Printed)) => {
                    self.emit(PaneEvent::Printed).await
                }
                AdoptedWatcherEvent::Recorder(Some(PaneEvent::Exited(ending))) => {
                    self.exited(ending, &watched).await
                }
                AdoptedWatcherEvent::Recorder(Some(
                    event @ (PaneEvent::Lost | PaneEvent::Detached),
                )) => {
                    self.recorder_lost(event, &watched).await;
                }
                // Only tmux sets its size, and we passed that on to the recorder ourselves.
                AdoptedWatcherEvent::Recorder(Some(
                    PaneEvent::Resized(_) | PaneEvent::SizeHolder(_) | PaneEvent::KeysPressed(_),
                )) => {}
                AdoptedWatcherEvent::Recorder(None) => return,
                AdoptedWatcherEvent::ServerChanged(true) => self.check_size(&watched).await,
                AdoptedWatcherEvent::ServerChanged(false) => watched = None,
                AdoptedWatcherEvent::Retry => watched = self.connect().await,
            }
        }
    }

    async fn connect(&self) -> Option<WatchedServer> {
        let server = self.foreign.inner.servers.open(&self.location.socket).await;
        server.ok().map(WatchedServer::new)
    }

    /// Checks whether its size has changed.
    async fn check_size(&mut self, watched: &Option<WatchedServer>) {
        let Some(WatchedServer { server, changes }) = watched else { return };
        let client = server.client();
        let pane = self.location.identity.pane;
        let connections = changes.borrow().connections;
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
        let request = SizeRequest { size, holder: None, force: true };
        let sent = self.recorder.send(PaneCommand::Resize(request, reply)).await;
        // The size is on the tape before the event is sent, so a reader of the event finds it
        // there.
        if sent.is_ok() && matches!(answer.await, Ok(Ok(()))) {
            self.emit(PaneEvent::Resized(size)).await;
        }
    }

    /// Its program has ended; tmux may know how.
    async fn exited(&self, ending: ExitRecord, watched: &Option<WatchedServer>) {
        let exit = match watched {
            Some(watched) => {
                timeout(
                    EXIT_STATUS_TIMEOUT,
                    watched.server.client().exit_status(&self.location.identity),
                )
                .await
            }
            None => Ok(None),
        };
        let exit = exit.ok().flatten().map(exit_of);
        self.finish(PaneEvent::Exited(ExitRecord { exit, ..ending })).await;
    }

    /// The recorder is gone or about to go. If the pane is gone too, that is its end; its exit
    /// status is unknown.
    async fn recorder_lost(&self, event: PaneEvent, watched: &Option<WatchedServer>) {
        let identity = self.location.identity;
        let is_gone = match watched {
            Some(watched) => {
                match timeout(
                    EXIT_STATUS_TIMEOUT,
                    watched.server.client().snapshot_pane(identity.pane),
                )
                .await
                {
                    Ok(Ok(now)) => now.is_none_or(|now| now.identity != Some(identity)),
                    Ok(Err(_)) | Err(_) => false,
                }
            }
            None => false,
        };
        let ending = ExitRecord { exit: None, killed: false, timed_out: false, at: time::now() };
        self.finish(if is_gone { PaneEvent::Exited(ending) } else { event }).await;
        if let Some(watched) = watched {
            let _ = watched.server.client().unwatch_size(identity.pane).await;
        }
    }

    /// Reports the end, unless the pane was detached or has ended already.
    async fn finish(&self, event: PaneEvent) {
        let was_watched = self.state.send_if_modified(|state| {
            let was_watched = *state == AdoptionState::Watched;
            if was_watched {
                *state = AdoptionState::Ended;
            }
            was_watched
        });
        if was_watched {
            self.emit(event).await;
        }
    }

    async fn emit(&self, event: PaneEvent) {
        let _ = self.outbox.send(event).await;
    }
}

fn exit_of(ended: TmuxExit) -> Exit {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match ended {
        TmuxExit::Code(code) => Exit::Code(byte(code)),
        TmuxExit::Signal(signal) => Exit::Signal(byte(signal)),
    }
}

/// Waits for a change; false when none can come any more.
async fn next(watched: &mut Option<WatchedServer>) -> bool {
    match watched {
        Some(watched) => watched.changes.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

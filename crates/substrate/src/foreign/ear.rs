//! What happens to an adopted pane: heard from its scribe and from tmux, told as facts.

use std::sync::Arc;
use std::time::Duration;

use paned_keeper::clock;
use paned_model::frame::Ending;
use paned_model::{Exit, Size};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::servers::{News, Server};
use super::{Foreign, Hold, Spot};
use crate::tmux::query::Ended;
use crate::{Command, Fact, Resizing};

/// How long tmux may take to say how a program ended.
const HOW: Duration = Duration::from_millis(400);
/// How often a server that does not answer is tried again.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) struct Ear {
    pub(super) foreign: Foreign,
    pub(super) spot: Spot,
    pub(super) scribe: mpsc::Sender<Command>,
    pub(super) outbox: mpsc::Sender<Fact>,
    pub(super) hold: watch::Sender<Hold>,
    pub(super) size: Size,
    pub(super) connections: u64,
}

/// The connection, once it is there.
struct Line {
    server: Arc<Server>,
    news: watch::Receiver<News>,
}

impl Line {
    /// What has happened before counts as news.
    fn new(server: Arc<Server>) -> Self {
        let mut news = server.news();
        news.mark_changed();
        Self { server, news }
    }
}

enum Event {
    Scribe(Option<Fact>),
    News(bool),
    Again,
}

impl Ear {
    pub(super) async fn run(
        mut self,
        mut scribe: mpsc::Receiver<Fact>,
        server: Option<Arc<Server>>,
    ) {
        let mut line = match server {
            Some(server) => Some(Line::new(server)),
            None => self.connect().await,
        };
        loop {
            let event = tokio::select! {
                fact = scribe.recv() => Event::Scribe(fact),
                news = next(&mut line) => Event::News(news),
                () = sleep(AGAIN), if line.is_none() => Event::Again,
            };
            match event {
                Event::Scribe(Some(Fact::Wrote)) => self.tell(Fact::Wrote).await,
                Event::Scribe(Some(Fact::Exited(ending))) => self.exited(ending, &line).await,
                Event::Scribe(Some(fact @ (Fact::Lost | Fact::Parted))) => {
                    self.parted(fact, &line).await;
                }
                // Nobody but tmux sets its size, and we told the scribe.
                Event::Scribe(Some(Fact::Resized(_) | Fact::Held(_) | Fact::Pressed(_))) => {}
                Event::Scribe(None) => return,
                Event::News(true) => self.look(&line).await,
                Event::News(false) => line = None,
                Event::Again => line = self.connect().await,
            }
        }
    }

    async fn connect(&self) -> Option<Line> {
        let server = self.foreign.inner.servers.open(&self.spot.socket).await;
        server.ok().map(Line::new)
    }

    /// Looks whether its size is another.
    async fn look(&mut self, line: &Option<Line>) {
        let Some(Line { server, news }) = line else { return };
        let (client, pane) = (server.client(), self.spot.known.pane);
        let connections = news.borrow().connections;
        let Ok(Some(now)) = client.glimpse(pane).await else { return };
        if now.known != Some(self.spot.known) {
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
        let resizing = Resizing { size, holder: None, force: true };
        let sent = self.scribe.send(Command::Resize(resizing, reply)).await;
        // On the tape before it is told: whoever looks then sees it there.
        if sent.is_ok() && matches!(answer.await, Ok(Ok(()))) {
            self.tell(Fact::Resized(size)).await;
        }
    }

    /// Its program has ended; tmux may know how.
    async fn exited(&self, ending: Ending, line: &Option<Line>) {
        let exit = match line {
            Some(line) => timeout(HOW, line.server.client().how_ended(&self.spot.known)).await,
            None => Ok(None),
        };
        let exit = exit.ok().flatten().map(exit_of);
        self.over(Fact::Exited(Ending { exit, ..ending })).await;
    }

    /// The scribe is gone, or about to go. If the pane is gone too, that is its end; how it ended nobody knows.
    async fn parted(&self, fact: Fact, line: &Option<Line>) {
        let known = self.spot.known;
        let is_gone = match line {
            Some(line) => match timeout(HOW, line.server.client().glimpse(known.pane)).await {
                Ok(Ok(now)) => now.is_none_or(|now| now.known != Some(known)),
                Ok(Err(_)) | Err(_) => false,
            },
            None => false,
        };
        let ending = Ending { exit: None, killed: false, timed_out: false, at: clock::now() };
        self.over(if is_gone { Fact::Exited(ending) } else { fact }).await;
        if let Some(line) = line {
            let _ = line.server.client().unwatch_size(known.pane).await;
        }
    }

    /// Tells the end, unless it is no longer ours to tell.
    async fn over(&self, fact: Fact) {
        let held = self.hold.send_if_modified(|hold| {
            let held = *hold == Hold::Fast;
            if held {
                *hold = Hold::Over;
            }
            held
        });
        if held {
            self.tell(fact).await;
        }
    }

    async fn tell(&self, fact: Fact) {
        let _ = self.outbox.send(fact).await;
    }
}

fn exit_of(ended: Ended) -> Exit {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match ended {
        Ended::Code(code) => Exit::Code(byte(code)),
        Ended::Signal(signal) => Exit::Signal(byte(signal)),
    }
}

/// Whether there is news; false when there will be none any more.
async fn next(line: &mut Option<Line>) -> bool {
    match line {
        Some(line) => line.news.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

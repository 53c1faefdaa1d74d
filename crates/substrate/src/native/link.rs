//! The connection to one keeper, and the task that owns it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use paned_model::frame::{
    Done, FromKeeper, Kill, Refused, Release, RequestId, Resize, Survivor, ToKeeper, Welcome,
};
use tokio::sync::{mpsc, oneshot};

use super::wire::Wire;
use crate::{Command, Fact, Link, NotResized, Output, Resizing, Typed};

/// One wake-up, one ending and one loss always fit; of sizes that change faster than they are heard, some
/// go unheard, and the tape has the last.
const FACTS: usize = 16;
/// How many of these are kept for what must not go unheard.
const URGENT: usize = 4;
const COMMANDS: usize = 64;

/// Starts the task that owns the connection.
pub(super) fn start(wire: Wire, welcome: Welcome, output: Arc<dyn Output>) -> Link {
    let (commands, inbox) = mpsc::channel(COMMANDS);
    let (outbox, facts) = mpsc::channel(FACTS);
    let task = Task {
        wire,
        output: output.clone(),
        outbox,
        waiting: HashMap::new(),
        requests: 0,
        exited: false,
    };
    tokio::spawn(task.run(inbox));
    Link { pid: welcome.pid, started: welcome.started, output, commands, facts }
}

struct Task {
    wire: Wire,
    output: Arc<dyn Output>,
    outbox: mpsc::Sender<Fact>,
    waiting: HashMap<RequestId, Waiting>,
    requests: RequestId,
    exited: bool,
}

/// Somebody who waits for an answer.
enum Waiting {
    Typing(oneshot::Sender<Result<Typed, Refused>>),
    Consent(oneshot::Sender<Result<(), NotResized>>),
    Survivors(oneshot::Sender<Vec<Survivor>>),
}

enum Event {
    Said(io::Result<FromKeeper>),
    Asked(Option<Command>),
}

impl Task {
    async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        loop {
            let event = tokio::select! {
                said = self.wire.hear() => Event::Said(said),
                asked = inbox.recv() => Event::Asked(asked),
            };
            match event {
                Event::Said(Ok(message)) => self.hear(message),
                Event::Said(Err(_)) => return self.part(),
                Event::Asked(Some(command)) => self.ask(command),
                // The kernel lets the pane go; the keeper goes on without us.
                Event::Asked(None) => return,
            }
        }
    }

    fn hear(&mut self, message: FromKeeper) {
        match message {
            FromKeeper::Wrote(_) => self.tell(Fact::Wrote),
            FromKeeper::Resized(size) => self.tell(Fact::Resized(size)),
            FromKeeper::Held(held) => self.tell(Fact::Held(held.holder)),
            FromKeeper::Exited(ending) if !self.exited => {
                self.exited = true;
                self.tell(Fact::Exited(ending));
            }
            FromKeeper::Done(done) => self.answer(done),
            FromKeeper::Exited(_) | FromKeeper::Welcome(_) | FromKeeper::Stillborn(_) => {}
        }
    }

    /// The keeper is gone: with its work done, or killed. The tape knows which.
    fn part(&mut self) {
        match self.output.ending() {
            Some(_) if self.exited => {}
            Some(ending) => self.tell(Fact::Exited(ending)),
            None => self.tell(Fact::Lost),
        }
    }

    fn tell(&self, fact: Fact) {
        let can_wait = matches!(fact, Fact::Resized(_) | Fact::Held(_));
        if URGENT < self.outbox.capacity() || !can_wait {
            let _ = self.outbox.try_send(fact);
        }
    }

    fn ask(&mut self, command: Command) {
        self.requests += 1;
        let id = self.requests;
        let message = match command {
            Command::Took(offset) => ToKeeper::Took(offset),
            Command::Input(bytes, reply) => {
                self.waiting.insert(id, Waiting::Typing(reply));
                ToKeeper::Input(id, bytes)
            }
            Command::Resize(Resizing { size, holder, force }, reply) => {
                self.waiting.insert(id, Waiting::Consent(reply));
                ToKeeper::Resize(Resize { id, size, holder, force })
            }
            // It is nobody else's: dropping the answer says so.
            Command::LetGo(_) => return,
            Command::Release(holder) => ToKeeper::Release(Release { holder }),
            Command::Kill(grace, reply) => {
                self.waiting.insert(id, Waiting::Survivors(reply));
                let grace_ms = grace.as_millis().try_into().unwrap_or(u64::MAX);
                ToKeeper::Kill(Kill { id, grace_ms })
            }
        };
        self.wire.say(&message);
    }

    fn answer(&mut self, done: Done) {
        // Whoever asked may have stopped waiting.
        match self.waiting.remove(&done.id) {
            Some(Waiting::Typing(reply)) => {
                let typed = Typed { long_line: done.long_line };
                let _ = reply.send(done.refused.map_or(Ok(typed), Err));
            }
            Some(Waiting::Consent(reply)) => {
                let holder = done.holder;
                let _ =
                    reply.send(done.refused.map_or(Ok(()), |why| Err(NotResized { why, holder })));
            }
            Some(Waiting::Survivors(reply)) => {
                let _ = reply.send(done.survivors);
            }
            None => {}
        }
    }
}

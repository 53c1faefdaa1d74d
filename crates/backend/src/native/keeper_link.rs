//! The connection of the server to one keeper, and the task that owns it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use paned_model::Size;
use paned_model::frame::{
    EMPTY_WINDOW, FromKeeper, KeeperResponse, Kill, NOTIFY_WINDOW, NotifyWindow, RefusalReason,
    Release, RequestId, Resize, Survivor, ToKeeper, Welcome,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Sleep, sleep_until};

use super::keeper_conn::KeeperConn;
use crate::{
    Driver, InputReport, Output, OutputFlag, PaneCommand, PaneEvent, PaneHandle, REPLY_TIMEOUT,
    ResizeError, SizeRequest,
};

/// One `Printed`, one exit and one loss always fit. Of sizes, holders and keys that come faster
/// than they are read, some are dropped, but never the last size and the last holder.
const MAX_EVENTS: usize = 16;
/// How many of these are reserved for events that must not be dropped.
const RESERVED_EVENTS: usize = 4;
const MAX_COMMANDS: usize = 64;

/// A handle over a connection.
pub(super) fn start(conn: KeeperConn, welcome: Welcome, output: Arc<dyn Output>) -> PaneHandle {
    let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
    let (outbox, events) = mpsc::channel(MAX_EVENTS);
    let (typed_count, typed) = watch::channel(welcome.typed);
    let output_flag = Arc::new(OutputFlag::new(false, welcome.guarded));
    let task = KeeperLinkTask {
        conn,
        output: output.clone(),
        outbox,
        typed: typed_count,
        waiting: HashMap::new(),
        deadlines: VecDeque::new(),
        requests: 0,
        exited: false,
        window_frames: welcome.frames,
        unacked: EMPTY_WINDOW,
        notified_end: 0,
        output_flag: output_flag.clone(),
        deferred: DeferredEvents::default(),
    };
    let driver = Driver::new(task.run(inbox));
    PaneHandle {
        pid: welcome.pid,
        keeper: welcome.keeper,
        started: welcome.started,
        cwd: None,
        output,
        commands,
        events,
        typed,
        output_flag,
        driver,
    }
}

struct KeeperLinkTask {
    conn: KeeperConn,
    output: Arc<dyn Output>,
    outbox: mpsc::Sender<PaneEvent>,
    /// How often input was typed; `None` if the keeper is a pipe recorder, which types nothing.
    typed: watch::Sender<Option<u64>>,
    waiting: HashMap<RequestId, PendingReply>,
    /// The deadlines of requests, earliest first. Some of them may be answered already.
    deadlines: VecDeque<(Instant, RequestId)>,
    requests: RequestId,
    exited: bool,
    /// How many notifications the keeper sends ahead of our acknowledgements.
    window_frames: u32,
    /// What it has sent since the last acknowledgement, and up to which offset.
    unacked: NotifyWindow,
    notified_end: u64,
    output_flag: Arc<OutputFlag>,
    deferred: DeferredEvents,
}

/// The last size and the last holder that found no room in the channel.
#[derive(Default, PartialEq, Eq)]
struct DeferredEvents {
    size: Option<Size>,
    holder: Option<Option<String>>,
}

/// A caller that waits for a response.
enum PendingReply {
    Input(oneshot::Sender<Result<InputReport, RefusalReason>>),
    Resize(oneshot::Sender<Result<(), ResizeError>>),
    Survivors(oneshot::Sender<Vec<Survivor>>),
    /// Only checks that the keeper answers.
    Probe,
}

enum KeeperLinkEvent {
    Message(io::Result<FromKeeper>),
    Command(Option<PaneCommand>),
    /// There is room for the deferred events.
    DeferredRoom,
    /// The first deadline has passed.
    Deadline,
}

impl KeeperLinkTask {
    async fn run(mut self, mut inbox: mpsc::Receiver<PaneCommand>) {
        // Reset only when it has fired: most requests are answered long before, and a timer for
        // each would cost more than the request.
        let mut timer: Pin<Box<Sleep>> = Box::pin(sleep_until(Instant::now()));
        loop {
            let has_deferred = self.deferred != DeferredEvents::default();
            let has_deadline = !self.deadlines.is_empty();
            let event = tokio::select! {
                message = self.conn.recv() => KeeperLinkEvent::Message(message),
                command = inbox.recv() => KeeperLinkEvent::Command(command),
                _ = self.outbox.reserve_many(RESERVED_EVENTS + 1), if has_deferred => KeeperLinkEvent::DeferredRoom,
                () = &mut timer, if has_deadline => KeeperLinkEvent::Deadline,
            };
            match event {
                KeeperLinkEvent::Message(Ok(message)) => self.handle_message(message),
                KeeperLinkEvent::Message(Err(_)) => return self.on_disconnect(),
                KeeperLinkEvent::Command(Some(command)) => self.send_command(command),
                // The kernel dropped its handle; the keeper keeps running.
                KeeperLinkEvent::Command(None) => return,
                KeeperLinkEvent::DeferredRoom => self.emit_deferred(),
                KeeperLinkEvent::Deadline => {
                    if let Some(next) = self.expire(Instant::now()) {
                        timer.as_mut().reset(next);
                    }
                }
            }
        }
    }

    fn handle_message(&mut self, message: FromKeeper) {
        self.output_flag.set_unresponsive(false);
        match message {
            FromKeeper::TapeEnd(end) => {
                self.wrote(end);
                if self.output_flag.should_notify() {
                    self.emit(PaneEvent::Printed);
                }
            }
            FromKeeper::Resized(size) => self.emit(PaneEvent::Resized(size)),
            FromKeeper::SizeHolder(holder) => self.emit(PaneEvent::SizeHolder(holder.holder)),
            FromKeeper::Exited(ending) if !self.exited => {
                self.exited = true;
                self.emit(PaneEvent::Exited(ending));
            }
            FromKeeper::Response(response) => self.answer(response),
            FromKeeper::Typed(count) => self.count(Some(count)),
            FromKeeper::KeysPressed(keys) => self.emit(PaneEvent::KeysPressed(keys)),
            FromKeeper::Exited(_)
            | FromKeeper::Welcome(_)
            | FromKeeper::SpawnFailed(_)
            | FromKeeper::ServerPresent(_) => {}
        }
    }

    /// Fails requests that were not answered in time, and cancels those that were not sent; returns
    /// the next deadline.
    fn expire(&mut self, now: Instant) -> Option<Instant> {
        while let Some((deadline, id)) = self.deadlines.front().copied() {
            let is_answered = !self.waiting.contains_key(&id);
            if !is_answered && now < deadline {
                return Some(deadline);
            }
            self.deadlines.pop_front();
            if !is_answered {
                self.give_up(id);
            }
        }
        None
    }

    fn give_up(&mut self, id: RequestId) {
        let reason =
            if self.conn.cancel(id) { RefusalReason::Cancelled } else { RefusalReason::TimedOut };
        match self.waiting.remove(&id) {
            Some(PendingReply::Input(reply)) => drop(reply.send(Err(reason))),
            Some(PendingReply::Resize(reply)) => drop(reply.send(Err(reason.into()))),
            Some(PendingReply::Survivors(_) | PendingReply::Probe) | None => {}
        }
        if !self.output_flag.is_unresponsive() {
            self.output_flag.set_unresponsive(true);
            self.probe();
        }
    }

    /// Sends a request that changes nothing, so that the keeper answers as soon as it can.
    fn probe(&mut self) {
        self.requests += 1;
        self.waiting.insert(self.requests, PendingReply::Probe);
        self.conn.queue(&ToKeeper::Input(self.requests, Vec::new()));
    }

    /// An acknowledgement costs a keeper as much as a notification, so the keeper sends several
    /// without one. After a restart, the next server processes again what was not acknowledged.
    fn wrote(&mut self, end: u64) {
        let NotifyWindow { bytes, frames } = &mut self.unacked;
        *bytes += end.saturating_sub(self.notified_end);
        *frames += 1;
        if NOTIFY_WINDOW.bytes / 2 <= *bytes || self.window_frames / 2 <= *frames {
            self.output_flag.set_ack_due(true);
        }
        self.notified_end = end;
    }

    /// The connection is closed. The keeper has finished or was killed: the tape says which. Or it
    /// is alive and serves another server.
    fn on_disconnect(&mut self) {
        let has_live_keeper = self.output.has_live_keeper();
        match self.output.ending() {
            Some(ending) if !self.exited => self.emit(PaneEvent::Exited(ending)),
            None if !has_live_keeper => self.emit(PaneEvent::Lost),
            Some(_) | None => {}
        }
        if has_live_keeper {
            self.emit(PaneEvent::Detached);
        }
    }

    fn emit(&mut self, event: PaneEvent) {
        let has_room = RESERVED_EVENTS < self.outbox.capacity();
        match event {
            PaneEvent::Resized(size) if !has_room || self.deferred.size.is_some() => {
                self.deferred.size = Some(size);
            }
            PaneEvent::SizeHolder(holder) if !has_room || self.deferred.holder.is_some() => {
                self.deferred.holder = Some(holder);
            }
            PaneEvent::KeysPressed(_) if !has_room => {}
            event => drop(self.outbox.try_send(event)),
        }
    }

    fn emit_deferred(&mut self) {
        let DeferredEvents { size, holder } = std::mem::take(&mut self.deferred);
        let deferred =
            size.map(PaneEvent::Resized).into_iter().chain(holder.map(PaneEvent::SizeHolder));
        deferred.for_each(|event| drop(self.outbox.try_send(event)));
    }

    fn send_command(&mut self, command: PaneCommand) {
        self.requests += 1;
        let id = self.requests;
        let message = match command {
            PaneCommand::Ack(offset) => {
                self.unacked = EMPTY_WINDOW;
                self.output_flag.set_ack_due(false);
                ToKeeper::Ack(offset)
            }
            PaneCommand::Throttle(time) => ToKeeper::Throttle(millis(time)),
            PaneCommand::Input(parts, reply) => {
                self.waiting.insert(id, PendingReply::Input(reply));
                input_message(id, parts)
            }
            PaneCommand::GuardedInput(bytes, guard, reply) => {
                self.waiting.insert(id, PendingReply::Input(reply));
                ToKeeper::GuardedInput(id, guard, bytes)
            }
            PaneCommand::Resize(SizeRequest { size, holder, force }, reply) => {
                self.waiting.insert(id, PendingReply::Resize(reply));
                ToKeeper::Resize(Resize { id, size, holder, force })
            }
            // This pane was not adopted: dropping the reply says so.
            PaneCommand::Detach(_) => return,
            PaneCommand::Release(holder) => ToKeeper::Release(Release { holder }),
            PaneCommand::Kill(grace, reply) => {
                self.waiting.insert(id, PendingReply::Survivors(reply));
                ToKeeper::Kill(Kill { id, grace_ms: millis(grace) })
            }
        };
        match self.waiting.get(&id) {
            // A kill takes as long as the program's grace, and has a deadline of its own.
            Some(PendingReply::Survivors(_)) | None => self.conn.queue(&message),
            Some(_) => {
                self.conn.queue_request(id, &message);
                self.deadlines.push_back((Instant::now() + REPLY_TIMEOUT, id));
            }
        }
    }

    fn count(&self, typed: Option<u64>) {
        self.typed.send_if_modified(|known| {
            let has_grown = known.is_some() && typed.is_some() && *known < typed;
            if has_grown {
                *known = typed;
            }
            has_grown
        });
    }

    fn answer(&mut self, response: KeeperResponse) {
        self.count(response.typed);
        self.output_flag.set_guarded(response.guarded);
        // The caller may have stopped waiting.
        match self.waiting.remove(&response.id) {
            Some(PendingReply::Input(reply)) => {
                let report = InputReport { long_line: response.long_line, guard_atomic: true };
                let _ = reply.send(response.refused.map_or(Ok(report), Err));
            }
            Some(PendingReply::Resize(reply)) => {
                let holder = response.holder;
                let _ = reply
                    .send(response.refused.map_or(Ok(()), |why| Err(ResizeError { why, holder })));
            }
            Some(PendingReply::Survivors(reply)) => {
                let _ = reply.send(response.survivors);
            }
            Some(PendingReply::Probe) | None => {}
        }
    }
}

fn input_message(id: RequestId, parts: Vec<Vec<u8>>) -> ToKeeper {
    match 1 < parts.len() {
        true => ToKeeper::InputParts(id, parts),
        false => ToKeeper::Input(id, parts.concat()),
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

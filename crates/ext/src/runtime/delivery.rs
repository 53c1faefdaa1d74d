//! Sends events to one extension: in order, a window of them at once, from its own place in the
//! journal. It reads when the extension is ready for more, so a slow one holds up no other.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use paned_kernel::journal::{JournalEntry, JournalRead};
use paned_kernel::{BoxedFuture, EventFeed};
use paned_model::{EventFilter, EventId};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::calls::Session;
use super::window::EventWindow;
use crate::rpc::connection::{CallError, PendingReply, QueueSlot};

/// How often the place in the journal is written to its file while it changes.
const SAVE_INTERVAL: Duration = Duration::from_millis(250);

/// The events of one life of a program.
pub(crate) struct EventDelivery {
    session: Arc<Session>,
    /// Set when no more events are sent.
    stopping: watch::Receiver<bool>,
    window: EventWindow,
    replies: FuturesUnordered<BoxedFuture<'static, EventReply>>,
    /// Events that were read and not sent.
    unsent: VecDeque<OutgoingEvent>,
    /// Everything up to here was read.
    position: EventId,
    save_at: Option<Instant>,
    timeout: Duration,
}

struct EventReply {
    request: u64,
    event: String,
    outcome: Result<Box<RawValue>, CallError>,
}

/// An event as it is sent.
struct OutgoingEvent {
    id: EventId,
    name: String,
    /// The parameters of `handleEvent`, as JSON.
    params: String,
}

enum Step {
    Read(JournalRead),
    Reserved(Result<QueueSlot, CallError>),
    Reply(EventReply),
    FirstIsLate,
    NewFilter,
    Save,
    Stop,
}

impl EventDelivery {
    /// Begins after the last event that is handled; at first, with the start of the server.
    pub(crate) fn new(
        session: Arc<Session>,
        stopping: watch::Receiver<bool>,
        first: EventId,
        timeout: Duration,
    ) -> Self {
        let position = session.shared.place.handled().unwrap_or(EventId(first.0.saturating_sub(1)));
        Self {
            session,
            stopping,
            window: EventWindow::new(timeout, Instant::now()),
            replies: FuturesUnordered::new(),
            unsent: VecDeque::new(),
            position,
            save_at: None,
            timeout,
        }
    }

    /// Sends events until the connection ends.
    pub(crate) async fn run(mut self) {
        let mut filters = self.session.filter();
        let mut feed = self.feed(&filters.borrow_and_update().clone());
        while let Some(step) = self.step(&mut feed, &mut filters).await {
            match step {
                Step::Read(read) => self.read(read, feed.as_ref()),
                Step::Reserved(slot) => self.send(slot),
                Step::Reply(reply) => self.handled(reply, feed.as_ref()),
                Step::FirstIsLate => self.skip_first(feed.as_ref()),
                Step::NewFilter => {
                    // Events that were left out so far stay left out.
                    self.position = feed.as_ref().map_or(self.position, EventFeed::seen);
                    feed = self.feed(&filters.borrow_and_update().clone());
                }
                Step::Save => self.save().await,
                Step::Stop => {
                    feed = None;
                    self.unsent.clear();
                }
            }
        }
        self.save().await;
    }

    fn feed(&self, filter: &EventFilter) -> Option<EventFeed> {
        if filter.is_empty() {
            return None;
        }
        // Own calls are left out afterwards.
        let feed =
            self.session.kernel.events(Some(self.position), filter.clone(), self.session.caller());
        feed.inspect_err(|refusal| {
            self.session.shared.log.note(&format!("no events: {refusal}"));
        })
        .ok()
    }

    /// The next thing to do; nothing once the connection has ended.
    async fn step(
        &mut self,
        feed: &mut Option<EventFeed>,
        filters: &mut watch::Receiver<EventFilter>,
    ) -> Option<Step> {
        let room = self.window.room();
        let is_stopping = *self.stopping.borrow();
        if is_stopping && self.replies.is_empty() {
            return None;
        }
        let read = async {
            match feed {
                Some(feed) => feed.next(room).await,
                None => pending().await,
            }
        };
        let length = self.unsent.front().map_or(0, |event| event.params.len());
        let late = at(self.window.deadline());
        let step = tokio::select! {
            Some(reply) = self.replies.next() => Step::Reply(reply),
            changed = self.stopping.changed() => { changed.ok()?; Step::Stop }
            slot = self.session.connection.reserve(length), if !self.unsent.is_empty() => {
                Step::Reserved(slot)
            }
            read = read, if self.unsent.is_empty() && 0 < room && !is_stopping => Step::Read(read),
            changed = filters.changed(), if !is_stopping => { changed.ok()?; Step::NewFilter }
            () = late => Step::FirstIsLate,
            () = at(self.save_at) => Step::Save,
        };
        Some(step)
    }

    fn read(&mut self, read: JournalRead, feed: Option<&EventFeed>) {
        match read {
            JournalRead::Entries(batch) => {
                let own = format!("ext:{}", self.session.shared.name);
                let others = batch.iter().filter(|entry| !is_own_call(entry, &own));
                self.unsent.extend(others.map(|entry| OutgoingEvent::of(entry)));
            }
            JournalRead::Gap { first, last } => {
                let now = self.session.kernel.time();
                let id = EventId(first.0.saturating_sub(1));
                let payload = format!(r#"{{"firstAvailable":{first},"lastAvailable":{last}}}"#);
                let entry = JournalEntry::new(id, now, "gap".to_owned(), payload);
                self.unsent.push_back(OutgoingEvent::of(&entry));
            }
            JournalRead::Closed => {}
        }
        if let Some(feed) = feed {
            self.position = feed.seen();
        }
        self.note_place(None, feed);
    }

    fn send(&mut self, slot: Result<QueueSlot, CallError>) {
        let Some(event) = self.unsent.pop_front() else { return };
        let sent =
            slot.and_then(|slot| self.session.connection.send(slot, "handleEvent", &event.params));
        match sent {
            Ok(reply) => {
                self.window.push(event.id, event.name.clone(), reply.id, Instant::now());
                self.replies.push(Box::pin(answered(reply, event.name)));
            }
            Err(CallError::TooLong) => self.report(&event.name, "it is too long for a message"),
            // The program ended: the supervisor knows.
            Err(CallError::Closed | CallError::Refused(_)) => self.unsent.clear(),
        }
    }

    fn handled(&mut self, reply: EventReply, feed: Option<&EventFeed>) {
        match reply.outcome {
            Ok(_) => {}
            Err(CallError::Refused(error)) => self.report(&reply.event, &error.message),
            // Not answered, because the program ended or its time passed.
            Err(CallError::Closed | CallError::TooLong) => return,
        }
        let handled = self.window.answer(reply.request, Instant::now());
        self.note_place(handled, feed);
    }

    /// The first event was not handled in time: it is not waited for any longer.
    fn skip_first(&mut self, feed: Option<&EventFeed>) {
        let Some((request, event)) = self.window.first() else { return };
        let event = event.to_owned();
        let connection = self.session.connection.clone();
        connection.note_miss();
        connection.cancel(request);
        self.report(&event, &format!("no answer within {} ms", self.timeout.as_millis()));
        let handled = self.window.answer(request, Instant::now());
        self.note_place(handled, feed);
    }

    /// Events up to this one are handled. With nothing on its way, so is all that was read.
    fn note_place(&mut self, handled: Option<EventId>, feed: Option<&EventFeed>) {
        let is_idle = self.window.is_empty() && self.unsent.is_empty();
        let read = feed.filter(|_| is_idle).map(EventFeed::seen);
        if let Some(event) = read.or(handled) {
            self.session.shared.place.set_handled(event);
            self.save_at.get_or_insert_with(|| Instant::now() + SAVE_INTERVAL);
        }
    }

    fn report(&self, event: &str, error: &str) {
        let shared = &self.session.shared;
        shared.log.note(&format!("event `{event}`: {error}"));
        // Otherwise an extension that fails on these would cause the next one.
        if event != "handler:error" {
            self.session.kernel.report_handler_error(&shared.name, event, error);
        }
    }

    async fn save(&mut self) {
        self.save_at = None;
        save_place(&self.session).await;
    }
}

/// Writes the place to its file, if it changed.
pub(crate) async fn save_place(session: &Session) {
    let shared = session.shared.clone();
    if !shared.place.is_changed() {
        return;
    }
    let saved = tokio::task::spawn_blocking(move || shared.place.save()).await;
    if let Ok(Err(error)) = saved {
        tracing::warn!(%error, "cannot save the place of an extension in the journal");
    }
}

async fn answered(reply: PendingReply, event: String) -> EventReply {
    let request = reply.id;
    EventReply { request, event, outcome: reply.await }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

impl OutgoingEvent {
    fn of(entry: &JournalEntry) -> Self {
        let JournalEntry { id, time, name, payload, .. } = entry;
        let quoted = serde_json::to_string(name).unwrap_or_default();
        let params =
            format!(r#"{{"id":{id},"name":{quoted},"time":"{time}","payload":{payload}}}"#);
        Self { id: *id, name: name.clone(), params }
    }
}

/// Whether this is `action:*` of a call by this caller.
fn is_own_call(entry: &JournalEntry, own: &str) -> bool {
    #[derive(Deserialize)]
    struct ActionCaller {
        caller: String,
    }
    entry.name.starts_with("action:")
        && entry.payload.contains(own)
        && serde_json::from_str::<ActionCaller>(&entry.payload).is_ok_and(|by| by.caller == own)
}

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;

    #[test]
    fn only_the_calls_of_the_extension_itself_are_its_own() {
        let check = |name: &str, payload: &str| {
            let entry = JournalEntry::new(EventId(1), Time(0), name.into(), payload.into());
            is_own_call(&entry, "ext:a")
        };
        assert!(check("action:start", r#"{"actionName":"x:y","caller":"ext:a","params":{}}"#));
        assert!(!check("action:start", r#"{"caller":"ext:ab","params":{"a":"ext:a"}}"#));
        assert!(!check("action:start", r#"{"caller":"owner","params":{"caller":"ext:a"}}"#));
        assert!(!check("a:b", r#"{"caller":"ext:a"}"#));
    }
}

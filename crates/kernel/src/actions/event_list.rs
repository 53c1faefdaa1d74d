//! `event:list`

use std::collections::VecDeque;

use paned_model::{Event, EventFilter, EventId, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::AccessRequest;
use crate::journal::{JournalEntry, JournalRead};
use crate::registry::{Action, ActionContext, ActionKind};

/// How many events are listed when the request names no number.
const USUAL: u16 = 100;
/// How many are listed at most, and about how many bytes of payload.
const MOST: u16 = 1000;
const MOST_BYTES: usize = 4 << 20;
/// How many events one step back reads.
const STEP: u64 = 2048;
/// How many one call reads at most: what it looks for may be rare.
const MOST_READ: u64 = 100_000;
/// How many events one read takes.
const BATCH: usize = 512;

pub(super) struct EventList;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The events to list, as for `GET /events`: names, `prefix:*` or `*`, separated by commas; all
    /// when omitted.
    #[serde(default = "all")]
    #[schemars(regex(pattern = r"^[^*,]*(\*\s*)?(,[^*,]*(\*\s*)?)*$"))]
    include: String,
    /// Only events about this pane, or of actions on it.
    pane_id: Option<PaneId>,
    /// Events before the one with this id; without it, the newest ones.
    before: Option<EventId>,
    /// How many at most, 1 to 1000; 100 when omitted.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u16>,
}

fn all() -> String {
    "*".to_owned()
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventListOutput {
    /// The events, oldest first.
    pub(super) events: Vec<Event>,
    /// `before` of the next request. There may be older events, even if this answer has none. None
    /// when everything was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<EventId>,
    /// The first event that is still kept, if older ones are not and the list has reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_available: Option<EventId>,
}

impl Action for EventList {
    const NAME: &'static str = "event:list";
    const DOC: &'static str = "List past events, newest page first: the same events that the \
                              caller would see in the stream.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = EventListOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: Params) -> Result<EventListOutput, Refusal> {
        let limit = params.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Refusal::invalid(format!("`limit` is a number from 1 to {MOST}")));
        }
        let include = params.include.parse::<EventFilter>();
        let include = include.map_err(|error| Refusal::invalid(error.to_string()))?;
        let last = context.kernel.journal().last();
        let before = params.before.unwrap_or(last.next());
        let end = EventId(before.0.saturating_sub(1)).min(last);
        let page = EventPage::new(&context, include, params.pane_id, usize::from(limit));
        Ok(page.read(end).await)
    }
}

/// A page that is read backwards.
pub(super) struct EventPage<'a> {
    context: &'a ActionContext,
    include: EventFilter,
    pane: Option<PaneId>,
    limit: usize,
    /// Nothing before this time is wanted.
    since: Time,
    is_oldest: bool,
    events: VecDeque<Event>,
    bytes: usize,
    first_available: Option<EventId>,
}

impl<'a> EventPage<'a> {
    pub(super) fn new(
        context: &'a ActionContext,
        include: EventFilter,
        pane: Option<PaneId>,
        limit: usize,
    ) -> Self {
        Self {
            context,
            include,
            pane,
            limit,
            since: Time(0),
            is_oldest: false,
            events: VecDeque::new(),
            bytes: 0,
            first_available: None,
        }
    }

    /// Only events from this time on.
    pub(super) fn since(self, since: Time) -> Self {
        Self { since, ..self }
    }

    /// Reads back from an event, which is included.
    pub(super) async fn read(mut self, end: EventId) -> EventListOutput {
        let mut floor = end;
        while 0 < floor.0 && end.0 - floor.0 < MOST_READ {
            let from = EventId(floor.0.saturating_sub(STEP));
            let found = self.step(from, floor).await;
            if !self.add(found) {
                let before = self.events.front().map(|event| event.id);
                return EventListOutput {
                    events: self.events.into(),
                    before,
                    first_available: None,
                };
            }
            let is_oldest = self.is_oldest || self.first_available.is_some();
            floor = if is_oldest { EventId(0) } else { from };
        }
        let before = (0 < floor.0).then(|| floor.next());
        EventListOutput {
            events: self.events.into(),
            before,
            first_available: self.first_available,
        }
    }

    /// Adds older events, newest first. Returns false when the page is full.
    fn add(&mut self, older: Vec<Event>) -> bool {
        for event in older.into_iter().rev() {
            let bytes = event.payload.to_string().len();
            let is_full = self.limit <= self.events.len()
                || MOST_BYTES < self.bytes + bytes && !self.events.is_empty();
            if is_full {
                return false;
            }
            self.bytes += bytes;
            self.events.push_front(event);
        }
        true
    }

    /// The wanted events in a range, which are all committed, oldest first.
    async fn step(&mut self, after: EventId, upto: EventId) -> Vec<Event> {
        let mut found = Vec::new();
        // Every event is read: a reader with a filter would wait for the next one that passes.
        let mut reader = self.context.kernel.journal().read_past(after);
        while reader.seen() < upto {
            let batch = match reader.next(BATCH).await {
                JournalRead::Entries(batch) => batch,
                // Older events are no longer kept.
                JournalRead::Gap { first, .. } => {
                    self.first_available = Some(first);
                    if upto < first {
                        break;
                    }
                    continue;
                }
                JournalRead::Closed => break,
            };
            for entry in batch.iter().take_while(|entry| entry.id <= upto) {
                self.is_oldest |= entry.time < self.since;
                found.extend(self.wanted(entry));
            }
        }
        found
    }

    fn wanted(&self, entry: &JournalEntry) -> Option<Event> {
        let ActionContext { kernel, caller, .. } = self.context;
        if entry.time < self.since
            || !self.include.matches(&entry.name)
            || !kernel.sees_event(entry, caller)
        {
            return None;
        }
        let payload: Value = serde_json::from_str(&entry.payload).unwrap_or_default();
        let is_of = |pane: &PaneId| {
            let name = |value: &Value| value["paneId"].as_str() == Some(pane.as_str());
            name(&payload) || name(&payload["params"])
        };
        let is_wanted = self.pane.as_ref().is_none_or(is_of);
        is_wanted.then(|| Event {
            id: entry.id,
            time: entry.time,
            name: entry.name.to_string(),
            payload,
        })
    }
}

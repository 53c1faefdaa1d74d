//! The task that follows the events and delivers notifications.
//!
//! An event is handled once all its notifications are delivered or given up; the place in the
//! journal then moves past it. After a crash the events behind that place are read again, and the
//! journal says which of their notifications were delivered.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use paned_kernel::journal::{JournalEntry, JournalRead};
use paned_kernel::{Caller, EventFeed, Kernel};
use paned_model::{EventFilter, EventId, PaneId, PaneInfo};
use paned_policy::notify::{
    NotifyAdmission, NotifyChannel, NotifyFact, NotifyOccurrence, NotifyRule, NotifyRules,
    NotifySubject, NotifyThrottle, NotifyTracker,
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::channels::{self, ChannelSetup, DeliveryError};
use crate::line_watch::{LineMatch, LineWatches};
use crate::notice::Notice;
use crate::place::{NotifyPlace, PlaceFile};

/// The events that matter here.
const FOLLOWED: &str = "agent:state,pane:killed,pane:exited,pane:removed,pane:created,pane:found,\
                        pane:restarted,approval:asked";
/// The events that say what was delivered before a crash, and where this run begins.
const DELIVERED: &str = "notify:*,server:started";
/// How many deliveries run at once.
const MAX_RUNNING: usize = 8;
/// How many events may wait for their deliveries before no more are read.
const MAX_WAITING: usize = 1000;
/// How many events are read at once.
const BATCH: usize = 64;
/// How often the place is written while it changes.
const SAVE_INTERVAL: Duration = Duration::from_millis(250);
/// The pauses between the attempts of a delivery.
const RETRY_PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
];

pub(crate) struct NotifyTask {
    kernel: Kernel,
    caller: Caller,
    rules: Arc<NotifyRules>,
    channels: Arc<ChannelSetup>,
    /// The turns of agents after all events that were read.
    tracker: NotifyTracker,
    throttle: NotifyThrottle,
    /// Events that were read and are not handled, in order.
    waiting: VecDeque<WaitingEvent>,
    /// Deliveries that ended in an earlier run of the server.
    delivered: HashSet<String>,
    running: JoinSet<FinishedDelivery>,
    slots: Arc<Semaphore>,
    lines: LineWatches,
    matches: mpsc::Receiver<LineMatch>,
    place: NotifyPlace,
    file: PlaceFile,
    first_event: EventId,
    save_at: Option<Instant>,
}

/// An event with notifications under way.
struct WaitingEvent {
    entry: Arc<JournalEntry>,
    unfinished: usize,
}

/// A delivery that was made or given up.
struct FinishedDelivery {
    notice: Notice,
    channel: NotifyChannel,
    error: Option<String>,
}

enum Step {
    Read(JournalRead),
    Matched(LineMatch),
    Finished(Box<FinishedDelivery>),
    Save,
    Stop,
}

impl NotifyTask {
    pub(crate) fn new(
        kernel: Kernel,
        rules: Arc<NotifyRules>,
        channels: Arc<ChannelSetup>,
        place: &Path,
        first_event: EventId,
    ) -> Self {
        let caller = kernel.owner(None);
        let (file, mut place) = PlaceFile::read(place);
        place.handled.get_or_insert(EventId(first_event.0.saturating_sub(1)));
        let (found, matches) = mpsc::channel(BATCH);
        let lines = LineWatches::new(kernel.clone(), &rules, place.lines.clone(), found);
        Self {
            tracker: place.tracker.clone(),
            throttle: NotifyThrottle::default(),
            waiting: VecDeque::new(),
            delivered: HashSet::new(),
            running: JoinSet::new(),
            slots: Arc::new(Semaphore::new(MAX_RUNNING)),
            lines,
            matches,
            place,
            file,
            first_event,
            save_at: None,
            kernel,
            caller,
            rules,
            channels,
        }
    }

    /// Notifies until it is stopped.
    pub(crate) async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        // The first run must be known to the second, even if nothing happens in it.
        self.save();
        self.read_delivered().await;
        self.resume().await;
        let Some(mut feed) = self.feed(FOLLOWED) else { return };
        loop {
            match self.step(&mut feed, &mut stopped).await {
                Step::Read(JournalRead::Entries(batch)) => {
                    for entry in batch.iter() {
                        self.handle(entry).await;
                    }
                }
                // Events that are no longer kept cannot be told.
                Step::Read(JournalRead::Gap { .. }) => {}
                Step::Matched(found) => self.matched(found).await,
                Step::Finished(finished) => self.finished(&finished),
                Step::Save => self.save(),
                Step::Read(JournalRead::Closed) | Step::Stop => break,
            }
            self.advance();
        }
        self.running.shutdown().await;
        self.save();
    }

    fn feed(&self, filter: &str) -> Option<EventFeed> {
        let filter: EventFilter = filter.parse().ok()?;
        let feed = self.kernel.events(self.place.handled, filter, &self.caller);
        feed.inspect_err(|refusal| tracing::error!(%refusal, "notifications cannot follow events"))
            .ok()
    }

    async fn step(&mut self, feed: &mut EventFeed, stopped: &mut watch::Receiver<bool>) -> Step {
        let room = MAX_WAITING.saturating_sub(self.waiting.len());
        let save_at = self.save_at;
        let save = async {
            match save_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = stopped.changed() => Step::Stop,
            Some(Ok(finished)) = self.running.join_next() => Step::Finished(Box::new(finished)),
            Some(found) = self.matches.recv() => Step::Matched(found),
            () = save => Step::Save,
            read = feed.next(room.min(BATCH)), if 0 < room => Step::Read(read),
        }
    }

    /// Reads which notifications about events after our place were delivered before the server
    /// ended.
    async fn read_delivered(&mut self) {
        let Some(mut feed) = self.feed(DELIVERED) else { return };
        while let JournalRead::Entries(batch) = feed.next(BATCH).await {
            for entry in batch.iter() {
                if self.first_event <= entry.id {
                    return;
                }
                let payload: Value = serde_json::from_str(&entry.payload).unwrap_or_default();
                self.delivered.extend(payload["delivery"].as_str().map(str::to_owned));
            }
        }
    }

    /// Begins with the panes that there are.
    async fn resume(&mut self) {
        for pane in self.panes().await {
            self.lines.add(&pane, false);
        }
    }

    async fn panes(&self) -> Vec<PaneInfo> {
        let answer = self.kernel.dispatch("pane:list", b"{}", &self.caller).await;
        answer.ok().and_then(|answer| serde_json::from_str(answer.get()).ok()).unwrap_or_default()
    }

    async fn handle(&mut self, entry: &Arc<JournalEntry>) {
        let payload: Value = serde_json::from_str(&entry.payload).unwrap_or_default();
        let fact = NotifyFact { time: entry.time, name: &entry.name, payload: &payload };
        let occurrence = self.tracker.fold(fact);
        let pane = payload["paneId"].as_str().unwrap_or_default().to_owned();
        self.follow_pane(&entry.name, &pane).await;
        let mut notices = Vec::new();
        if let Some(occurrence) = occurrence {
            let reference = json!({ "paneId": payload["paneId"], "instance": payload["instance"] });
            let origin = NoticeOrigin { occurrence, reference, event: Some(entry.id) };
            notices = self.notices(&origin, &pane).await;
        }
        self.waiting.push_back(WaitingEvent { entry: entry.clone(), unfinished: notices.len() });
        for (notice, rule, channel) in notices {
            self.deliver(notice, rule, channel);
        }
    }

    async fn follow_pane(&mut self, event: &str, pane: &str) {
        match event {
            "pane:created" | "pane:found" | "pane:restarted" if self.lines.is_wanted() => {
                if let Some(info) = self.pane(pane).await {
                    self.lines.add(&info, true);
                }
            }
            "pane:removed" => self.throttle.forget(pane),
            _ => {}
        }
    }

    async fn pane(&self, pane: &str) -> Option<PaneInfo> {
        let params = json!({ "paneId": pane }).to_string();
        let answer = self.kernel.dispatch("pane:get", params.as_bytes(), &self.caller).await;
        serde_json::from_str(answer.ok()?.get()).ok()
    }

    async fn matched(&mut self, found: LineMatch) {
        let LineMatch { rule, pane, line, offset, next } = found;
        let origin = NoticeOrigin {
            occurrence: NotifyOccurrence::Pattern { line },
            reference: json!({ "paneId": pane.id, "instance": pane.instance }),
            event: None,
        };
        let subject = subject(&pane);
        if let Some(rule) = self.rules.0.iter().find(|it| it.name == rule).cloned()
            && let Some(left_out) = self.admit(&rule, &subject, pane.id.as_str()).await
        {
            for channel in &rule.to {
                let cause = format!("{}.{offset}", pane.instance.0);
                let notice = self.notice(&origin, &rule, *channel, &subject, &cause, left_out);
                if !self.delivered.contains(&notice.delivery) {
                    self.deliver(notice, rule.clone(), *channel);
                }
            }
        }
        let searched = self.place.lines.entry(rule).or_default();
        searched.insert(pane.instance.0.to_string(), next);
        self.schedule_save();
    }

    /// The notifications about an occurrence, one for each rule and channel.
    async fn notices(
        &mut self,
        origin: &NoticeOrigin,
        pane: &str,
    ) -> Vec<(Notice, NotifyRule, NotifyChannel)> {
        let subject = match self.pane(pane).await {
            Some(info) => subject(&info),
            None => NotifySubject { pane: pane.to_owned(), ..NotifySubject::default() },
        };
        let cause = origin.event.map(|event| event.to_string()).unwrap_or_default();
        let mut notices = Vec::new();
        let rules = self.rules.clone();
        for rule in rules.0.iter().filter(|rule| rule.covers(&origin.occurrence, &subject)) {
            let Some(left_out) = self.admit(rule, &subject, pane).await else { continue };
            for channel in &rule.to {
                let notice = self.notice(origin, rule, *channel, &subject, &cause, left_out);
                if !self.delivered.contains(&notice.delivery) {
                    notices.push((notice, rule.clone(), *channel));
                }
            }
        }
        notices
    }

    /// How many were left out before this one; nothing if it is left out as well.
    async fn admit(
        &mut self,
        rule: &NotifyRule,
        subject: &NotifySubject,
        pane: &str,
    ) -> Option<u32> {
        if !rule.even_if_watched && self.is_looked_at(pane).await {
            return None;
        }
        match self.throttle.admit(rule, &subject.pane, self.kernel.time()) {
            NotifyAdmission::Deliver { left_out } => Some(left_out),
            NotifyAdmission::TooSoon => None,
        }
    }

    async fn is_looked_at(&self, pane: &str) -> bool {
        match pane.parse::<PaneId>() {
            Ok(pane) => self.kernel.is_looked_at(&pane).await,
            Err(_) => false,
        }
    }

    fn notice(
        &self,
        origin: &NoticeOrigin,
        rule: &NotifyRule,
        channel: NotifyChannel,
        subject: &NotifySubject,
        cause: &str,
        left_out: u32,
    ) -> Notice {
        Notice {
            delivery: format!("{cause}.{}.{}", rule.name, channel.as_str()),
            rule: rule.name.clone(),
            occurrence: origin.occurrence.clone(),
            subject: subject.clone(),
            reference: origin.reference.clone(),
            event: origin.event,
            time: self.kernel.time(),
            left_out,
        }
    }

    fn deliver(&mut self, notice: Notice, rule: NotifyRule, channel: NotifyChannel) {
        let channels = self.channels.clone();
        let slots = self.slots.clone();
        self.running.spawn(async move {
            let outcome = deliver_with_retries(&channels, &slots, &rule, channel, &notice).await;
            FinishedDelivery { notice, channel, error: outcome.err() }
        });
    }

    fn finished(&mut self, finished: &FinishedDelivery) {
        let FinishedDelivery { notice, channel, error } = finished;
        if let Some(error) = error {
            tracing::warn!(rule = notice.rule, channel = channel.as_str(), error, "not notified");
        }
        self.kernel.record_notification(&notice.record(*channel, error.clone()));
        if let Some(event) = notice.event {
            let waiting = self.waiting.iter_mut().find(|waiting| waiting.entry.id == event);
            if let Some(waiting) = waiting {
                waiting.unfinished -= 1;
            }
        }
    }

    /// Moves the place past the events that are handled.
    fn advance(&mut self) {
        while self.waiting.front().is_some_and(|waiting| waiting.unfinished == 0) {
            let Some(WaitingEvent { entry, .. }) = self.waiting.pop_front() else { break };
            let payload: Value = serde_json::from_str(&entry.payload).unwrap_or_default();
            let fact = NotifyFact { time: entry.time, name: &entry.name, payload: &payload };
            self.place.tracker.fold(fact);
            self.place.handled = Some(entry.id);
            self.schedule_save();
        }
    }

    fn schedule_save(&mut self) {
        self.save_at.get_or_insert_with(|| Instant::now() + SAVE_INTERVAL);
    }

    fn save(&mut self) {
        self.save_at = None;
        self.lines.forget_gone(&mut self.place.lines);
        if let Err(error) = self.file.save(&self.place) {
            tracing::warn!(%error, "the place of notifications in the journal is not stored");
        }
    }
}

/// What a notification is about, before a rule covers it.
struct NoticeOrigin {
    occurrence: NotifyOccurrence,
    reference: Value,
    event: Option<EventId>,
}

fn subject(pane: &PaneInfo) -> NotifySubject {
    NotifySubject { pane: pane.id.to_string(), title: pane.title.clone(), tags: pane.tags.clone() }
}

/// Delivers a notification, and again after a pause when the failure may pass.
async fn deliver_with_retries(
    channels: &ChannelSetup,
    slots: &Semaphore,
    rule: &NotifyRule,
    channel: NotifyChannel,
    notice: &Notice,
) -> Result<(), String> {
    let mut pauses = RETRY_PAUSES.iter();
    loop {
        let error = {
            let _slot = slots.acquire().await.map_err(|error| error.to_string())?;
            match channels::deliver(channels, rule, channel, notice).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            }
        };
        let DeliveryError { sentence, is_temporary } = error;
        match pauses.next() {
            Some(pause) if is_temporary => sleep(*pause).await,
            Some(_) | None => return Err(sentence),
        }
    }
}

//! What a client hears while a call runs, and how it ends one.

use std::future::pending;
use std::time::Duration;

use paned_kernel::EventFeed;
use paned_kernel::journal::JournalRead;
use paned_model::EventFilter;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use serde::Deserialize;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::api::ClientContext;

/// When the first notice of progress is sent.
const FIRST_NOTICE: Duration = Duration::from_secs(1);
/// How often one is sent after that: clients give up on calls that are silent for a minute.
const NOTICE_INTERVAL: Duration = Duration::from_secs(5);

/// How many events are read at once.
const EVENTS: usize = 16;

/// The client of one call.
pub(crate) struct CallProgress {
    context: RequestContext<RoleServer>,
    token: Option<ProgressToken>,
}

/// What a person is asked about calls of one caller: such a call waits for the answer.
struct ApprovalFeed {
    /// None where there is no reader for what it says.
    events: Option<EventFeed>,
    caller: String,
}

/// The payload of the events of approvals.
#[derive(Deserialize)]
struct ApprovalEvent {
    caller: String,
    #[serde(default)]
    subject: String,
}

impl CallProgress {
    pub(crate) fn new(context: RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { context, token }
    }

    /// Runs a call until it is done or the client cancels it. A client that asked for it hears how
    /// long the call has run, and whether it waits for a person.
    pub(crate) async fn run<T>(
        &self,
        client: &ClientContext,
        call: impl Future<Output = T>,
    ) -> Option<T> {
        let began = Instant::now();
        let mut notices = notices(began);
        let mut approvals = ApprovalFeed::of(client, self.token.is_some());
        let mut call = std::pin::pin!(call);
        loop {
            let message = tokio::select! {
                biased;
                () = self.context.ct.cancelled() => return None,
                answer = &mut call => return Some(answer),
                approval = approvals.next() => approval,
                now = notices.tick(), if self.token.is_some() => {
                    format!("still waiting after {} s", (now - began).as_secs())
                }
            };
            let Some(token) = &self.token else { continue };
            let sent = notify(&self.context.peer, token, began.elapsed(), message);
            // A client that does not read its notices must not hold up the call.
            tokio::select! {
                biased;
                answer = &mut call => return Some(answer),
                () = self.context.ct.cancelled() => return None,
                () = sent => {}
            }
        }
    }
}

impl ApprovalFeed {
    fn of(client: &ClientContext, is_wanted: bool) -> Self {
        let caller = client.caller.label();
        let include = "approval:asked,approval:answered".parse::<EventFilter>();
        let include = include.ok().filter(|_| is_wanted);
        // A caller that may not read events hears only that its call still runs.
        let events =
            include.and_then(|include| client.kernel.events(None, include, &client.caller).ok());
        Self { events, caller }
    }

    /// The next thing that a person was asked, or has answered, as a sentence.
    async fn next(&mut self) -> String {
        loop {
            let Some(events) = &mut self.events else { return pending().await };
            let batch = match events.next(EVENTS).await {
                JournalRead::Entries(batch) => batch,
                JournalRead::Gap { .. } => continue,
                JournalRead::Closed => return pending().await,
            };
            let mut told = batch.iter().filter_map(|entry| {
                let event: ApprovalEvent = serde_json::from_str(&entry.payload).ok()?;
                let is_own = event.caller == self.caller;
                let is_asked = entry.name == "approval:asked";
                let what = if is_asked { "waiting for approval" } else { "approval answered" };
                is_own.then(|| format!("{what}: {}", event.subject))
            });
            if let Some(message) = told.next_back() {
                return message;
            }
        }
    }
}

fn notices(began: Instant) -> Interval {
    let mut notices = interval_at(began + FIRST_NOTICE, NOTICE_INTERVAL);
    notices.set_missed_tick_behavior(MissedTickBehavior::Delay);
    notices
}

async fn notify(
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
    elapsed: Duration,
    message: String,
) {
    let notice = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64());
    // An error means that the client is gone, which cancels the call.
    let _ = peer.notify_progress(notice.with_message(message)).await;
}

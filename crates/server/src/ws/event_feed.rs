//! The events that a socket follows. They are pulled; at most one batch is held.

use std::future::pending;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use paned_kernel::EventFeed;
use paned_kernel::journal::{EventBatch, JournalRead};
use paned_model::EventId;

/// The most events pulled at once.
const BATCH: usize = 512;

/// The events that a socket follows, if it follows any.
#[derive(Default)]
pub(super) struct WsEventFeed {
    batches: Option<BoxStream<'static, JournalRead>>,
    /// Pulled and not sent yet.
    next: Option<WsFeedItem>,
}

/// Something to send.
pub(super) enum WsFeedItem {
    /// A batch of events.
    Events(Arc<EventBatch>),
    /// The events from `first` to `last` are missing.
    Missed { first: EventId, last: EventId },
}

impl WsEventFeed {
    /// Replaces the feed, or stops following with `None`.
    pub(super) fn follow(&mut self, feed: Option<EventFeed>) {
        let batches = feed.map(batches);
        *self = Self { batches, next: None };
    }

    /// Waits until there is something to send. Cancel-safe.
    pub(super) async fn ready(&mut self) {
        while self.next.is_none() {
            let Some(batches) = &mut self.batches else { return pending().await };
            match batches.next().await {
                Some(JournalRead::Entries(batch)) => self.next = Some(WsFeedItem::Events(batch)),
                Some(JournalRead::Gap { first, last }) => {
                    self.next = Some(WsFeedItem::Missed { first, last })
                }
                // The server stops; the session ends by its own signal.
                Some(JournalRead::Closed) | None => self.batches = None,
            }
        }
    }

    /// The next thing to send, if it was pulled already.
    pub(super) fn take(&mut self) -> Option<WsFeedItem> {
        self.next.take()
    }
}

/// Pulls one batch after the other.
fn batches(feed: EventFeed) -> BoxStream<'static, JournalRead> {
    let pull = |mut feed: EventFeed| async move { Some((feed.next(BATCH).await, feed)) };
    stream::unfold(feed, pull).boxed()
}

//! The events that a socket follows. It pulls them, and keeps none but those of the last pull.

use std::future::pending;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use paned_kernel::EventFeed;
use paned_kernel::journal::{EventBatch, JournalRead};
use paned_model::EventId;

use crate::poll_on_wake::PollOnWake;

/// The most events pulled at once.
const BATCH: usize = 512;

/// The events that a socket follows, if it follows any.
#[derive(Default)]
pub(super) struct WsEventFeed {
    batches: Option<PollOnWake<BoxStream<'static, JournalRead>>>,
    /// Pulled and not told yet.
    next: Option<WsFeedItem>,
}

/// Something to tell.
pub(super) enum WsFeedItem {
    /// Events happened.
    Events(Arc<EventBatch>),
    /// Events between these are missing.
    Missed { first: EventId, last: EventId },
}

impl WsEventFeed {
    /// Follows these from now on, or none.
    pub(super) fn follow(&mut self, feed: Option<EventFeed>) {
        let batches = feed.map(|feed| PollOnWake::new(batches(feed)));
        *self = Self { batches, next: None };
    }

    /// Waits until there is something to tell. Dropping the future loses nothing.
    pub(super) async fn ready(&mut self) {
        while self.next.is_none() {
            let Some(batches) = &mut self.batches else { return pending().await };
            match batches.next().await {
                Some(JournalRead::Entries(portion)) => {
                    self.next = Some(WsFeedItem::Events(portion))
                }
                Some(JournalRead::Gap { first, last }) => {
                    self.next = Some(WsFeedItem::Missed { first, last })
                }
                // The server stops, and the socket will hear of it.
                Some(JournalRead::Closed) | None => self.batches = None,
            }
        }
    }

    /// The next thing to tell, if it was pulled already.
    pub(super) fn take(&mut self) -> Option<WsFeedItem> {
        self.next.take()
    }
}

/// Pulls one batch after the other.
fn batches(feed: EventFeed) -> BoxStream<'static, JournalRead> {
    let pull = |mut feed: EventFeed| async move { Some((feed.next(BATCH).await, feed)) };
    stream::unfold(feed, pull).boxed()
}

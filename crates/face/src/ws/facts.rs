//! The events that a socket follows. It pulls them, and keeps none but those of the last pull.

use std::future::pending;
use std::sync::Arc;

use paned_kernel::Feed;
use paned_kernel::journal::{Batch, Portion};
use paned_model::EventId;

/// The most events pulled at once.
const BATCH: usize = 512;

/// The events that a socket follows, if it follows any.
#[derive(Default)]
pub(super) struct Facts {
    feed: Option<Feed>,
    /// Pulled and not told yet.
    next: Option<Fact>,
}

/// Something to tell.
pub(super) enum Fact {
    /// Events happened.
    Events(Arc<Portion>),
    /// Events between these are missing.
    Missed { first: EventId, last: EventId },
}

impl Facts {
    /// Follows these from now on, or none.
    pub(super) fn follow(&mut self, feed: Option<Feed>) {
        *self = Self { feed, next: None };
    }

    /// Waits until there is something to tell. Dropping the future loses nothing.
    pub(super) async fn ready(&mut self) {
        while self.next.is_none() {
            let Some(feed) = &mut self.feed else { return pending().await };
            match feed.next(BATCH).await {
                Batch::Entries(portion) => self.next = Some(Fact::Events(portion)),
                Batch::Gap { first, last } => self.next = Some(Fact::Missed { first, last }),
                // The server stops, and the socket will hear of it.
                Batch::Closed => self.feed = None,
            }
        }
    }

    /// The next thing to tell, if it was pulled already.
    pub(super) fn take(&mut self) -> Option<Fact> {
        self.next.take()
    }
}

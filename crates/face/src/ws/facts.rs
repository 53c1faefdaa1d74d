//! The events that a socket follows. It pulls them, and keeps none but those of the last pull.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;

use axum::extract::ws::Message;
use paned_kernel::Feed;
use paned_kernel::journal::{Batch, Entry};
use paned_model::EventId;

use super::say::{Say, event};

/// The most events pulled at once.
const BATCH: usize = 512;

/// The events that a socket follows, if it follows any.
#[derive(Default)]
pub(super) struct Facts {
    feed: Option<Feed>,
    /// Pulled and not told yet.
    backlog: VecDeque<Fact>,
}

enum Fact {
    Event(Arc<Entry>),
    /// Events between these are missing.
    Missed(EventId, EventId),
}

impl Facts {
    /// Follows these from now on, or none.
    pub(super) fn follow(&mut self, feed: Option<Feed>) {
        *self = Self { feed, backlog: VecDeque::new() };
    }

    /// Waits until there is something to tell. Dropping the future loses nothing.
    pub(super) async fn ready(&mut self) {
        while self.backlog.is_empty() {
            let Some(feed) = &mut self.feed else { return pending().await };
            match feed.next(BATCH).await {
                Batch::Entries(entries) => {
                    self.backlog.extend(entries.into_iter().map(Fact::Event))
                }
                Batch::Gap { first, last } => self.backlog.push_back(Fact::Missed(first, last)),
                // The server stops, and the socket will hear of it.
                Batch::Closed => self.feed = None,
            }
        }
    }

    /// The next thing to tell, if it was pulled already.
    pub(super) fn pop(&mut self) -> Option<Message> {
        Some(match self.backlog.pop_front()? {
            Fact::Event(entry) => event(&entry),
            Fact::Missed(first, last) => Say::Missed { first, last }.frame(),
        })
    }
}

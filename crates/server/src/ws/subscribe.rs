//! What a client subscribes to: the output of a pane, with the screen for a late joiner, and
//! events. Events are pulled; at most one batch is held.

use std::future::pending;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use paned_kernel::journal::{EventBatch, JournalRead};
use paned_kernel::{ActivityFeed, Caller, EventFeed, Kernel, PaneActivity, PaneOutput};
use paned_model::{
    Code, EventFilter, EventId, Offset, PaneId, PaneInfo, PaneStatus, Refusal, Size, Time,
};

use super::channels::SendWindow;
use super::protocol::{SubscribeSince, WsSubscribe};
use crate::state::ServerState;

/// The most events pulled at once.
const BATCH: usize = 512;

/// A channel that can be opened.
pub(super) struct WsSubscription {
    pub(super) pane: PaneId,
    pub(super) reader: PaneOutput,
    pub(super) window: SendWindow,
    /// Where its bytes begin.
    pub(super) offset: Offset,
    pub(super) size: Size,
    pub(super) status: PaneStatus,
    pub(super) created_at: Time,
    /// The bytes that draw the screen as it was at the offset, for a late joiner.
    pub(super) screen: Option<Vec<u8>>,
}

/// Finds the offset at which a channel begins, and a reader there.
///
/// # Errors
/// If there is no such pane or offset, or the caller may not see the pane.
pub(super) async fn open(
    shared: Arc<ServerState>,
    caller: Caller,
    WsSubscribe { pane, since, history, window, created_at }: WsSubscribe,
) -> Result<Box<WsSubscription>, Refusal> {
    let kernel = &shared.kernel;
    kernel.wait_started(&pane, &caller).await?;
    let info = kernel.output(&pane, Offset(0), &caller)?.info();
    check_created_at(created_at, &info)?;
    let since = since.unwrap_or_default();
    if history.is_some() && since != SubscribeSince::Screen {
        return Err(Refusal::invalid("`history` is only possible with `since`: \"screen\""));
    }
    let (offset, size, screen) = match since {
        SubscribeSince::Screen => {
            let dump = kernel.dump_with_history(&pane, history.unwrap_or(0), &caller).await?;
            (dump.offset, dump.size, Some(dump.bytes))
        }
        SubscribeSince::Start => (Offset(info.dropped), info.size, None),
        SubscribeSince::Now => (Offset(info.bytes), info.size, None),
        SubscribeSince::Offset(offset) => (check_offset(offset, &info)?, info.size, None),
    };
    let reader = kernel.output(&pane, offset, &caller)?;
    // The pane may have been replaced while its screen was drawn.
    check_created_at(Some(info.created_at), &reader.info())?;
    Ok(Box::new(WsSubscription {
        pane,
        reader,
        window: SendWindow::new(window, offset),
        offset,
        size,
        status: info.status,
        created_at: info.created_at,
        screen,
    }))
}

/// Checks that the pane is the one that the client knows: its offsets mean nothing in a later pane
/// of the same name.
fn check_created_at(expected: Option<Time>, pane: &PaneInfo) -> Result<(), Refusal> {
    let id = &pane.id;
    let actual = pane.created_at;
    match expected {
        Some(expected) if expected != actual => Err(Refusal::new(
            Code::Gone,
            format!(
                "pane `{id}` of {expected} is gone; the current pane `{id}` was created at \
                {actual}"
            ),
        )),
        Some(_) | None => Ok(()),
    }
}

/// Refuses an offset beyond the output: it belongs to another pane of this name.
fn check_offset(offset: Offset, pane: &PaneInfo) -> Result<Offset, Refusal> {
    if offset.0 <= pane.bytes {
        return Ok(offset);
    }
    let id = &pane.id;
    let bytes = pane.bytes;
    let sentence = format!(
        "offset {offset} is beyond the output of pane `{id}`, which has \
                           {bytes} bytes"
    );
    Err(Refusal::invalid(sentence))
}

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
    /// Follows the events of this filter after this one, in place of those followed before.
    ///
    /// # Errors
    /// If there is no such filter, or the caller may not see events.
    pub(super) fn follow(
        &mut self,
        kernel: &Kernel,
        caller: &Caller,
        include: &str,
        since: Option<EventId>,
    ) -> Result<(), Refusal> {
        let include = include.parse::<EventFilter>();
        let include = include.map_err(|error| Refusal::invalid(error.to_string()))?;
        let is_empty = include.is_empty();
        let feed = kernel.events(since, include, caller)?;
        *self = Self { batches: (!is_empty).then(|| batches(feed)), next: None };
        Ok(())
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

/// Which panes print, if the socket follows that.
#[derive(Default)]
pub(super) struct WsActivity(Option<ActivityFeed>);

impl WsActivity {
    /// Begins to follow, or stops. Beginning again changes nothing.
    ///
    /// # Errors
    /// If the caller may not read.
    pub(super) fn set(
        &mut self,
        on: bool,
        kernel: &Kernel,
        caller: &Caller,
    ) -> Result<(), Refusal> {
        match (on, &self.0) {
            (false, _) => self.0 = None,
            (true, Some(_)) => {}
            (true, None) => self.0 = Some(kernel.activity(caller)?),
        }
        Ok(())
    }

    /// The panes that have printed. Cancel-safe.
    pub(super) async fn next(&mut self) -> Vec<PaneActivity> {
        match &mut self.0 {
            Some(feed) => feed.next().await,
            None => pending().await,
        }
    }
}

/// Pulls one batch after the other.
fn batches(feed: EventFeed) -> BoxStream<'static, JournalRead> {
    let pull = |mut feed: EventFeed| async move { Some((feed.next(BATCH).await, feed)) };
    stream::unfold(feed, pull).boxed()
}

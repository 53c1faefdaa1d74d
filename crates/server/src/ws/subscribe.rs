//! Opens a subscription: finds the pane's output and, for a late joiner, its screen.

use std::sync::Arc;

use paned_kernel::{Caller, PaneOutput};
use paned_model::{Code, Offset, PaneId, PaneInfo, PaneStatus, Refusal, Size, Time};

use super::request::{SubscribeFrom, WsSubscribe};
use super::window::SendWindow;
use crate::state::ServerState;

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
    WsSubscribe { pane, from, window, created_at }: WsSubscribe,
) -> Result<Box<WsSubscription>, Refusal> {
    let kernel = &shared.kernel;
    kernel.wait_started(&pane, &caller).await?;
    let info = kernel.output(&pane, Offset(0), &caller)?.info();
    check_created_at(created_at, &info)?;
    let (offset, size, screen) = match from.unwrap_or_default() {
        SubscribeFrom::Screen => {
            let dump = kernel.dump(&pane, &caller).await?;
            (dump.offset, dump.size, Some(dump.bytes))
        }
        SubscribeFrom::Start => (Offset(info.dropped), info.size, None),
        SubscribeFrom::Now => (Offset(info.bytes), info.size, None),
        SubscribeFrom::Offset(offset) => (check_offset(offset, &info)?, info.size, None),
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
                "the pane `{id}` of {expected} is gone; the one of this name was made at {actual}"
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
    let sentence = format!("pane `{id}` has printed {bytes} bytes, so none at {offset}");
    Err(Refusal::invalid(sentence))
}

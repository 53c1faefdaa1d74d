//! Where a channel begins: finds the pane's output and, for a late joiner, its screen.

use std::sync::Arc;

use paned_kernel::{Caller, Printed};
use paned_model::{Code, Offset, PaneId, PaneInfo, Refusal, Size, Status, Time};

use super::ask::{From, Subscribe};
use super::window::Window;
use crate::shared::Shared;

/// A channel that can be opened.
pub(super) struct Opened {
    pub(super) pane: PaneId,
    pub(super) reader: Printed,
    pub(super) window: Window,
    /// Where its bytes begin.
    pub(super) offset: Offset,
    pub(super) size: Size,
    pub(super) status: Status,
    pub(super) created_at: Time,
    /// What draws the screen as it was at the offset, for a late joiner.
    pub(super) screen: Option<Vec<u8>>,
}

/// Finds where a channel begins.
///
/// # Errors
/// When there is no such pane or place, or the caller may not see it.
pub(super) async fn open(
    shared: Arc<Shared>,
    caller: Caller,
    Subscribe { pane, from, window, created_at: meant }: Subscribe,
) -> Result<Box<Opened>, Refusal> {
    let kernel = &shared.kernel;
    kernel.started(&pane, &caller).await?;
    let info = kernel.output(&pane, Offset(0), &caller)?.info();
    check_made(meant, &info)?;
    let (offset, size, screen) = match from {
        From::Screen => {
            let dump = kernel.dump(&pane, &caller).await?;
            (dump.offset, dump.size, Some(dump.bytes))
        }
        From::Start => (Offset(info.dropped), info.size, None),
        From::Now => (Offset(info.bytes), info.size, None),
        From::Offset(offset) => (check(offset, &info)?, info.size, None),
    };
    let reader = kernel.output(&pane, offset, &caller)?;
    // It may have been replaced while its screen was drawn.
    check_made(Some(info.created_at), &reader.info())?;
    let (window, status, created_at) = (Window::new(window, offset), info.status, info.created_at);
    Ok(Box::new(Opened { pane, reader, window, offset, size, status, created_at, screen }))
}

/// Offsets into one pane mean nothing in another of the same name.
fn check_made(meant: Option<Time>, pane: &PaneInfo) -> Result<(), Refusal> {
    let (id, made) = (&pane.id, pane.created_at);
    match meant {
        Some(meant) if meant != made => Err(Refusal::new(
            Code::Gone,
            format!("the pane `{id}` of {meant} is gone; the one of this name was made at {made}"),
        )),
        Some(_) | None => Ok(()),
    }
}

/// An offset that was never reached belongs to another pane of this name.
fn check(offset: Offset, pane: &PaneInfo) -> Result<Offset, Refusal> {
    if offset.0 <= pane.bytes {
        return Ok(offset);
    }
    let (id, bytes) = (&pane.id, pane.bytes);
    let sentence = format!("pane `{id}` has printed {bytes} bytes, so none at {offset}");
    Err(Refusal::invalid(sentence))
}

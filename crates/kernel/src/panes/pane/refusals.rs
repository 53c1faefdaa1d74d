//! Why a pane cannot be read or typed into.

use std::io;

use paned_backend::REPLY_TIMEOUT;
use paned_model::{Code, PaneId, PaneStatus, Refusal};
use serde_json::json;

pub(super) fn starting(id: &PaneId) -> Refusal {
    Refusal::new(Code::Busy, format!("pane `{id}` is still starting; try again"))
}

/// The refusal because a keeper has not answered in time. A request that was not sent to it was
/// withdrawn.
pub(crate) fn late(id: &PaneId, what: &str, taken_back: bool) -> Refusal {
    let outcome = match taken_back {
        true => format!("{what} was withdrawn"),
        false => format!("{what} may still take effect"),
    };
    let sentence = format!(
        "the keeper of pane `{id}` did not respond within {} s; {outcome}",
        REPLY_TIMEOUT.as_secs()
    );
    Refusal::new(Code::Timeout, sentence).with_details(json!({ "takenBack": taken_back }))
}

pub(super) fn keeper_unresponsive(id: &PaneId, keeper: Option<u32>) -> Refusal {
    let process = keeper.map(|keeper| format!(" (process {keeper})")).unwrap_or_default();
    let sentence = format!(
        "the keeper of pane `{id}`{process} is alive but does not respond: it may be suspended, \
        or the machine overloaded; its output can still be read; to stop the pane, use \
        `pane:kill` with `force`",
    );
    Refusal::new(Code::Unavailable, sentence)
}

/// The refusal to show output that cannot be read: the disk refuses, or its file is damaged.
pub(crate) fn unreadable(error: io::Error) -> Refusal {
    match error.kind() {
        // Ours, such as a panic on another thread.
        io::ErrorKind::Other => Refusal::internal(error),
        // The budget for drawing.
        io::ErrorKind::TimedOut => Refusal::new(Code::Limit, error.to_string()),
        _ => {
            let sentence = format!("cannot read the output of the pane: {error}");
            Refusal::new(Code::Unavailable, sentence)
        }
    }
}

/// The refusal to do something to a pane that has ended.
pub(crate) fn pane_gone(id: &PaneId, status: PaneStatus) -> Refusal {
    let sentence = match status {
        PaneStatus::Killed => format!("pane `{id}` was killed"),
        PaneStatus::Lost => format!("pane `{id}` is lost: its keeper died"),
        // The exit of a live one is not recorded yet.
        PaneStatus::Exited | PaneStatus::Starting | PaneStatus::Running => {
            format!("pane `{id}` has exited")
        }
    };
    Refusal::new(Code::Gone, sentence)
}

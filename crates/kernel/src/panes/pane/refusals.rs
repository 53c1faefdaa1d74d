//! Why a pane cannot be read or typed into.

use std::io;

use paned_backend::REPLY_TIMEOUT;
use paned_model::{Code, PaneId, PaneStatus, Refusal};
use serde_json::json;

pub(super) fn starting(id: &PaneId) -> Refusal {
    Refusal::new(Code::Busy, format!("the pane `{id}` is being started; try again"))
}

/// The refusal because a keeper has not answered in time. A request that was not sent to it was
/// withdrawn.
pub(crate) fn late(id: &PaneId, what: &str, taken_back: bool) -> Refusal {
    let outcome = match taken_back {
        true => format!("{what} was taken back"),
        false => format!("{what} may still arrive"),
    };
    let sentence = format!(
        "the keeper of pane `{id}` has not answered for {} s; {outcome}",
        REPLY_TIMEOUT.as_secs()
    );
    Refusal::new(Code::Timeout, sentence).with_details(json!({ "takenBack": taken_back }))
}

pub(super) fn keeper_unresponsive(id: &PaneId, keeper: Option<u32>) -> Refusal {
    let process = keeper.map(|keeper| format!(" (process {keeper})")).unwrap_or_default();
    let sentence = format!(
        "the keeper of pane `{id}`{process} lives but does not answer; its output can be read, and all else works again \
         once it answers: it may be stopped, or the machine too busy; `pane:kill` with `force` ends it",
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
            let sentence = format!("the output of the pane cannot be read: {error}");
            Refusal::new(Code::Unavailable, sentence)
        }
    }
}

/// The refusal to do something to a pane that has ended.
pub(crate) fn pane_gone(id: &PaneId, status: PaneStatus) -> Refusal {
    // Its exit may not be recorded yet.
    let how = if status.is_live() { "it has just ended".to_owned() } else { status.to_string() };
    Refusal::new(Code::Gone, format!("the program in pane `{id}` is not running any more ({how})"))
}

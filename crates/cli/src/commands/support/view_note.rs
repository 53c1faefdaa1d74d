//! Says where a new pane is shown in tmux, where that is not obvious.

use std::io;

use paned_model::{PaneId, PaneInfo, PaneView, ViewState};

use crate::out::Out;

/// Prints it on standard error.
pub(crate) fn print(out: Out, pane: &PaneInfo) -> io::Result<()> {
    let sentence = pane.view.as_ref().and_then(|view| sentence(&pane.id, view));
    sentence.map_or(Ok(()), |sentence| out.note(sentence.as_str()))
}

/// The sentence for a pane that has a window of its own, or is not shown.
fn sentence(id: &PaneId, view: &PaneView) -> Option<String> {
    match (view.state, view.window, &view.reason) {
        (ViewState::Shown, Some(window), _) => Some(new_window(view.session.as_deref(), window)),
        (ViewState::Waiting, _, Some(reason)) => Some(waiting(id.as_str(), reason)),
        (ViewState::Hidden, _, Some(reason)) => {
            Some(format!("not shown: {reason}; `paned attach {id}` shows it"))
        }
        _ => None,
    }
}

/// Says that a pane got a window of its own, in a session of ours or in the user's tmux.
pub(crate) fn new_window(session: Option<&str>, window: u32) -> String {
    match session {
        Some(session) => format!("shown in a new window of session {session} (window {window})"),
        None => format!("shown in a new window of your tmux session (window {window})"),
    }
}

/// Says that a pane waits for room, and where it can be seen.
pub(crate) fn waiting(id: &str, reason: &str) -> String {
    format!("waiting for room: {reason}; `paned attach {id}` shows it now")
}

/// Where a pane is shown, or why it is not, in a few words.
pub(crate) fn summary(view: &PaneView) -> Option<String> {
    let place = match (&view.session, &view.beside) {
        (Some(session), _) => format!("in session {session}"),
        (None, Some(beside)) => format!("beside {beside} in your tmux"),
        (None, None) => return None,
    };
    match (view.state, view.window, &view.reason) {
        (ViewState::Shown, Some(window), _) => Some(format!("{place}, window {window}")),
        (ViewState::Shown, None, _) => Some(place),
        (ViewState::Waiting, _, Some(reason)) => Some(format!("waiting for room: {reason}")),
        (ViewState::Waiting, _, None) => Some("waiting for room".to_owned()),
        (ViewState::Hidden, _, Some(reason)) => Some(format!("not shown: {reason}")),
        (ViewState::Hidden, _, None) => None,
    }
}

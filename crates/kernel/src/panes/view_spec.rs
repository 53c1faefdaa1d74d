//! Where a pane is to be shown. Stored with the pane, so that it is shown again when tmux is back.

use std::path::PathBuf;

use paned_model::{PaneView, ViewState};
use paned_policy::layout::NoRoom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a pane is to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ViewSpec {
    pub(crate) location: ViewLocation,
    pub(crate) on_closed: OnViewClosed,
    pub(crate) state: ViewState,
    /// Whether the pane was made to be shown there; then it ends with its session.
    #[serde(default = "yes")]
    pub(crate) is_made_for: bool,
    /// What is done if there is no room.
    #[serde(default = "wait")]
    pub(crate) no_room: NoRoom,
    /// The number of the tmux window that it has to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<u32>,
    /// Whether it was shown until its program ended: it is shown again if that is started again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shown_until_exit: bool,
    /// Why it is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

// The defaults are for records of earlier versions.

fn yes() -> bool {
    true
}

fn wait() -> NoRoom {
    NoRoom::Wait
}

/// Where to show it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ViewLocation {
    /// In a session of our own tmux server.
    Session { name: String },
    /// In the window of a user's tmux pane, beside it.
    Beside { socket: PathBuf, pane: u32 },
}

/// What happens to a pane when a user closes the tmux pane that shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OnViewClosed {
    /// Its program is stopped, and the pane is deleted.
    #[default]
    Close,
    /// It keeps running hidden.
    Detach,
}

impl ViewSpec {
    pub(crate) fn new(
        location: ViewLocation,
        on_closed: OnViewClosed,
        is_made_for: bool,
        no_room: NoRoom,
    ) -> Self {
        let state = ViewState::Waiting;
        Self {
            location,
            on_closed,
            state,
            is_made_for,
            no_room,
            window: None,
            shown_until_exit: false,
            reason: None,
        }
    }

    /// Whether the next run of its program is to be shown.
    pub(crate) fn is_wanted_again(&self) -> bool {
        self.state != ViewState::Hidden || self.shown_until_exit
    }

    /// Whether the pane ends when its session is stopped.
    pub(crate) fn ends_with_session(&self) -> bool {
        self.is_made_for && self.on_closed == OnViewClosed::Close
    }
}

impl From<&ViewSpec> for PaneView {
    fn from(spec: &ViewSpec) -> Self {
        let (session, socket, beside) = match &spec.location {
            ViewLocation::Session { name } => (Some(name.clone()), None, None),
            ViewLocation::Beside { socket, pane } => {
                (None, Some(socket.display().to_string()), Some(format!("%{pane}")))
            }
        };
        let ViewSpec { state, window, reason, .. } = spec.clone();
        Self { session, socket, beside, state, window, reason }
    }
}

impl ViewLocation {
    /// The name of the session, where it is one of ours.
    pub(crate) fn session(&self) -> Option<&str> {
        match self {
            Self::Session { name } => Some(name),
            Self::Beside { .. } => None,
        }
    }
}

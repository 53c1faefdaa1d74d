//! The state of an agent at one moment.

use paned_model::frame::InputGuard;
use paned_model::{AgentState, Dialog, Time};
use paned_term::ScreenView;

use super::text_match;
use crate::agent::Composer;

/// The state of an agent at one moment, all from one snapshot.
#[derive(Clone, Debug)]
pub struct AgentObservation<'a> {
    /// What it does.
    pub state: AgentState,
    /// Whether that is only inferred from what was typed.
    pub inferred: bool,
    /// The question on its screen.
    pub dialog: Option<&'a Dialog>,
    /// What the composer holds.
    pub composer: &'a Composer,
    /// Whether that is the program's placeholder for a paste.
    pub placeholder: bool,
    /// The whole screen.
    pub view: &'a ScreenView,
    /// The offset in the output at which this screen was taken.
    pub end: u64,
    /// The count of typed inputs before the snapshot; `None` if they are not counted.
    pub typed: Option<u64>,
    /// When a user or a client last typed.
    pub typed_at: Option<Time>,
    /// Whether the program's own record of the conversation holds the text by now.
    pub recorded: bool,
    /// Whether the kernel holds a typed line that the program has not read: what the screen shows
    /// of it is the kernel's echo.
    pub has_unread_line: bool,
}

impl AgentObservation<'_> {
    /// Whether a question is on the screen, or may be.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.asks() || matches!(self.state, AgentState::Unknown | AgentState::Starting)
    }

    /// Whether a question is on the screen.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.dialog.is_some() || self.state == AgentState::Blocked
    }

    /// The guard that holds while nothing has happened since this snapshot.
    #[must_use]
    pub fn guard(&self) -> InputGuard {
        InputGuard { end: Some(self.end), typed: self.typed }
    }

    /// How much of this text the composer shows.
    pub(super) fn text_visibility(&self, text: &str) -> TextVisibility {
        match self.composer {
            Composer::Draft(_) if self.placeholder => TextVisibility::Whole,
            Composer::Draft(draft) => text_match::in_draft(draft, text),
            // A composer that does not fit on the screen is not found; it ends at the cursor.
            Composer::Hidden if text_match::at_cursor(self.view, text) => TextVisibility::Whole,
            Composer::Hidden | Composer::Empty => TextVisibility::Nothing,
        }
    }

    /// Whether the text is on the screen outside the composer.
    pub(super) fn is_in_conversation(&self, text: &str) -> bool {
        let drafted = matches!(self.composer, Composer::Draft(_));
        !drafted
            && !text_match::at_cursor(self.view, text)
            && text_match::on_screen(self.view, text)
    }
}

/// How much of a text the composer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextVisibility {
    /// Not at all.
    Nothing,
    /// Some other text.
    Other,
    /// A part of it.
    Part,
    /// Its end, or the program's placeholder for it.
    Whole,
}

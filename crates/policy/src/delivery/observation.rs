//! What is known of an agent at one moment.

use paned_model::frame::InputGuard;
use paned_model::{AgentState, Dialog, Time};
use paned_term::ScreenView;

use super::text_match;
use crate::agent::Composer;

/// What is known of an agent at one moment: all of it from one look.
#[derive(Clone, Debug)]
pub struct AgentObservation<'a> {
    /// What it does.
    pub state: AgentState,
    /// Whether that is only surmised from what was typed.
    pub inferred: bool,
    /// The question on its screen.
    pub dialog: Option<&'a Dialog>,
    /// What stands where a person types.
    pub composer: &'a Composer,
    /// Whether that is the program's stand-in for a paste.
    pub placeholder: bool,
    /// The whole screen.
    pub view: &'a ScreenView,
    /// Where the output ended that this screen was made of.
    pub end: u64,
    /// How often somebody had typed before the look; nothing if nobody counts.
    pub typed: Option<u64>,
    /// When somebody last typed.
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

    /// That nothing has happened since this look.
    #[must_use]
    pub fn guard(&self) -> InputGuard {
        InputGuard { end: Some(self.end), typed: self.typed }
    }

    /// How far the screen shows this text where a person types.
    pub(super) fn text_visibility(&self, text: &str) -> TextVisibility {
        match self.composer {
            Composer::Draft(_) if self.placeholder => TextVisibility::Whole,
            Composer::Draft(draft) => text_match::in_draft(draft, text),
            // A composer that does not fit on the screen cannot be found; its end is where the cursor is.
            Composer::Hidden if text_match::at_cursor(self.view, text) => TextVisibility::Whole,
            Composer::Hidden | Composer::Empty => TextVisibility::Nothing,
        }
    }

    /// Whether the text stands on the screen, and not where a person types.
    pub(super) fn is_in_conversation(&self, text: &str) -> bool {
        let drafted = matches!(self.composer, Composer::Draft(_));
        !drafted
            && !text_match::at_cursor(self.view, text)
            && text_match::on_screen(self.view, text)
    }
}

/// How far a text is seen where a person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextVisibility {
    /// Not at all.
    Nothing,
    /// Something else is.
    Other,
    /// A part of it is.
    Part,
    /// Its end is, or the program's stand-in for it.
    Whole,
}

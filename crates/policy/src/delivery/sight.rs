//! What is known of an agent at one moment.

use paned_model::frame::Guard;
use paned_model::{AgentState, Dialog, Time};
use paned_term::View;

use super::recognise;
use crate::agent::Composer;

/// What is known of an agent at one moment: all of it from one look.
#[derive(Clone, Debug)]
pub struct Sight<'a> {
    /// What it does.
    pub state: AgentState,
    /// Whether that is only surmised from what was typed.
    pub surmised: bool,
    /// The question on its screen.
    pub dialog: Option<&'a Dialog>,
    /// What stands where a person types.
    pub composer: &'a Composer,
    /// Whether that is the program's stand-in for a paste.
    pub placeholder: bool,
    /// The whole screen.
    pub view: &'a View,
    /// Where the output ended that this screen was made of.
    pub end: u64,
    /// How often somebody had typed before the look; nothing if nobody counts.
    pub typed: Option<u64>,
    /// When somebody last typed.
    pub typed_at: Option<Time>,
    /// Whether the program's own record of the conversation holds the text by now.
    pub recorded: bool,
}

impl Sight<'_> {
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
    pub fn guard(&self) -> Guard {
        Guard { end: Some(self.end), typed: self.typed }
    }

    /// How far the screen shows this text where a person types.
    pub(super) fn shows(&self, text: &str) -> Shown {
        match self.composer {
            Composer::Draft(_) if self.placeholder => Shown::Whole,
            Composer::Draft(draft) => recognise::in_draft(draft, text),
            // A composer that does not fit on the screen cannot be found; its end is where the cursor is.
            Composer::Hidden if recognise::at_cursor(self.view, text) => Shown::Whole,
            Composer::Hidden | Composer::Empty => Shown::Nothing,
        }
    }

    /// Whether the text stands on the screen, and not where a person types.
    pub(super) fn tells(&self, text: &str) -> bool {
        let drafted = matches!(self.composer, Composer::Draft(_));
        !drafted && !recognise::at_cursor(self.view, text) && recognise::on_screen(self.view, text)
    }
}

/// How far a text is seen where a person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    /// Not at all.
    Nothing,
    /// Something else is.
    Other,
    /// A part of it is.
    Part,
    /// Its end is, or the program's stand-in for it.
    Whole,
}

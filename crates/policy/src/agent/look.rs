//! An agent's screen at one moment, as its profile reads it.

use paned_term::{Screen, View};

use super::Profile;

/// A screen at one moment. Cheap to keep for a while, and equal when nothing moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The words on it, and where the cursor is.
    pub view: View,
}

/// What stands where a person types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Composer {
    /// There is none on the screen, or it cannot be found.
    Hidden,
    /// It is there, and empty (a placeholder is not a draft).
    Empty,
    /// Somebody's words stand in it, as far as they can be read.
    Draft(String),
}

impl Look {
    /// What a screen shows now.
    #[must_use]
    pub fn of(screen: &Screen) -> Self {
        Self { view: screen.view() }
    }

    /// What stands in the composer.
    #[must_use]
    pub fn composer(&self, _profile: &Profile) -> Composer {
        Composer::Hidden
    }
}

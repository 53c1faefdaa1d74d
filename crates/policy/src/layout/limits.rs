//! Minimum pane sizes and the capacity of a window: the one formula that everything else uses.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cell::LayoutDirection;

/// The minimum size of a pane that a person asked to see.
const PERSON_MIN_WIDTH: u16 = 40;
const PERSON_MIN_HEIGHT: u16 = 8;

/// How a window is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutKind {
    /// The main pane on the left, the others stacked on its right; a further column when the height
    /// is used up.
    #[default]
    Vertical,
    /// The main pane on top, the others side by side below; a further row when the width is used
    /// up.
    Horizontal,
    /// The main pane on the left, the others beside it in the grid that leaves each of them the
    /// most space.
    Grid,
}

/// The limits for dividing a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LayoutLimits {
    /// How a window is divided.
    pub layout: LayoutKind,
    /// The main pane's share of the window, in percent of its width (of its height when
    /// horizontal). It shrinks for more agent panes, down to its minimum.
    pub main_pane_size: u16,
    /// The main pane's minimum width in columns. In a window that is too narrow for it and one
    /// agent pane, the minimum of an agent pane counts for both.
    pub main_pane_min_width: u16,
    /// An agent pane's minimum width in columns.
    pub agent_pane_min_width: u16,
    /// The minimum height of every pane in rows.
    pub min_height: u16,
}

/// A limit outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitError {
    /// Its name.
    pub name: &'static str,
    /// Its configured value.
    pub value: u16,
    /// The least it may be.
    pub least: u16,
    /// The most it may be.
    pub most: u16,
}

/// How many agent panes fit, as full columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capacity {
    /// Panes side by side.
    pub columns: u16,
    /// Panes one above another.
    pub rows: u16,
}

impl Default for LayoutLimits {
    fn default() -> Self {
        Self {
            layout: LayoutKind::Vertical,
            main_pane_size: 60,
            main_pane_min_width: 100,
            agent_pane_min_width: 52,
            min_height: 11,
        }
    }
}

impl LayoutLimits {
    /// Checks that every limit is within its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), LimitError> {
        let limits = [
            ("main_pane_size", self.main_pane_size, 20, 80),
            ("main_pane_min_width", self.main_pane_min_width, 40, 1000),
            ("agent_pane_min_width", self.agent_pane_min_width, 20, 1000),
            ("min_height", self.min_height, 3, 1000),
        ];
        let bad =
            limits.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value));
        bad.map_or(Ok(()), |(name, value, least, most)| {
            Err(LimitError { name, value, least, most })
        })
    }

    /// The limits for panes that a person asked to see: smaller ones will do before another window
    /// is opened.
    #[must_use]
    pub fn for_person(&self) -> Self {
        Self {
            main_pane_min_width: self.main_pane_min_width.min(PERSON_MIN_WIDTH),
            agent_pane_min_width: self.agent_pane_min_width.min(PERSON_MIN_WIDTH),
            min_height: self.min_height.min(PERSON_MIN_HEIGHT),
            ..self.clone()
        }
    }

    /// The minimum width of a main pane that is made of this many columns. Where its own minimum
    /// and one agent pane do not fit side by side, it gives way down to an agent pane's minimum.
    pub(super) fn main_floor(&self, cols: u16) -> u16 {
        let both = u32::from(self.main_pane_min_width) + 1 + u32::from(self.agent_pane_min_width);
        if both <= u32::from(cols) { self.main_pane_min_width } else { self.main_least() }
    }

    /// The minimum width of a main pane in the narrowest window that is split.
    pub(super) fn main_least(&self) -> u16 {
        self.main_pane_min_width.min(self.agent_pane_min_width)
    }

    /// The minimum size of the main pane in the direction in which agent panes take space from it.
    pub(super) fn main_min(&self) -> u16 {
        match self.layout {
            LayoutKind::Vertical | LayoutKind::Grid => self.main_pane_min_width,
            LayoutKind::Horizontal => self.min_height,
        }
    }

    /// The minimum size of an agent pane in a direction.
    pub(super) fn agent_min(&self, direction: LayoutDirection) -> u16 {
        match direction {
            LayoutDirection::Right => self.agent_pane_min_width,
            LayoutDirection::Down => self.min_height,
        }
    }

    /// The main pane's preferred size, from the window's size in the direction in which it is
    /// divided.
    pub(super) fn main_share(&self, size: u16) -> u16 {
        let share = u32::from(size.saturating_sub(1)) * u32::from(self.main_pane_size) / 100;
        u16::try_from(share).unwrap_or(u16::MAX)
    }
}

impl LayoutKind {
    /// The direction in which agent panes lie from the main pane; their lines follow one another in
    /// it too.
    pub(super) fn beside(self) -> LayoutDirection {
        match self {
            Self::Vertical | Self::Grid => LayoutDirection::Right,
            Self::Horizontal => LayoutDirection::Down,
        }
    }
}

impl Capacity {
    /// How many agent panes fit into an area: each needs its minimum, plus a divider before the
    /// next.
    ///
    /// `columns = ⌊(width + 1) / (agent_pane_min_width + 1)⌋`,
    /// `rows = ⌊(height + 1) / (min_height + 1)⌋`.
    #[must_use]
    pub fn of_area(width: u16, height: u16, limits: &LayoutLimits) -> Self {
        let fit = |size: u16, least: u16| (u32::from(size) + 1) / (u32::from(least) + 1);
        let fit = |size, least| u16::try_from(fit(size, least)).unwrap_or(u16::MAX);
        Self {
            columns: fit(width, limits.agent_pane_min_width),
            rows: fit(height, limits.min_height),
        }
    }

    /// The total number of panes.
    #[must_use]
    pub fn total(self) -> usize {
        usize::from(self.columns) * usize::from(self.rows)
    }

    /// How many panes follow one another in a direction.
    pub(super) fn along(self, direction: LayoutDirection) -> usize {
        usize::from(match direction {
            LayoutDirection::Right => self.columns,
            LayoutDirection::Down => self.rows,
        })
    }
}

/// How many agent panes fit into a window beside its main pane: what fits into the area that is
/// left when the main pane shrinks to its minimum.
///
/// `vertical` and `grid`:
/// `columns = ⌊(cols − main_pane_min_width) / (agent_pane_min_width + 1)⌋`,
/// `rows = ⌊(rows + 1) / (min_height + 1)⌋`. Where that is no column, there is still one from
/// `2 · agent_pane_min_width + 1` columns on: the main pane gives way for it.
///
/// `horizontal`:
/// `columns = ⌊(cols + 1) / (agent_pane_min_width + 1)⌋`,
/// `rows = ⌊(rows − min_height) / (min_height + 1)⌋`.
#[must_use]
pub fn capacity(cols: u16, rows: u16, limits: &LayoutLimits) -> Capacity {
    let left = |size: u16| size.checked_sub(limits.main_min() + 1);
    let agent = limits.agent_pane_min_width;
    let area = match limits.layout.beside() {
        LayoutDirection::Right => {
            let beside = left(cols).filter(|width| agent <= *width);
            let is_split = u32::from(cols) > 2 * u32::from(agent);
            beside.or(is_split.then_some(agent)).map(|width| (width, rows))
        }
        LayoutDirection::Down => left(rows).map(|rows| (cols, rows)),
    };
    let none = Capacity { columns: 0, rows: 0 };
    area.map_or(none, |(width, height)| Capacity::of_area(width, height, limits))
}

impl fmt::Display for LayoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vertical => "vertical",
            Self::Horizontal => "horizontal",
            Self::Grid => "grid",
        })
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, least, most } = self;
        write!(f, "`{name}` must be from {least} to {most}, not {value}")
    }
}

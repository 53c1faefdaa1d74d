//! The reasons of decisions, as numbers and as a sentence.

use std::fmt;

use serde::{Serialize, Serializer};

use super::cell::TmuxPaneId;
use super::limits::{Capacity, LayoutKind, LayoutLimits};
use super::owners::{Blockers, ManagedPaneState};

/// Why a pane is not shown now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotShownReason {
    /// The window has no main pane to put others beside.
    NoMain,
    /// It is shown already, in this pane.
    AlreadyShown(TmuxPaneId),
    /// The window is too small for even one agent pane.
    TooSmall {
        /// The window's columns.
        cols: u16,
        /// The window's rows.
        rows: u16,
        /// What was needed.
        limits: LayoutLimits,
    },
    /// The window already shows as many panes as fit.
    Full {
        /// The window's columns.
        cols: u16,
        /// The window's rows.
        rows: u16,
        /// How many are shown.
        shown: usize,
        /// How many fit.
        capacity: Capacity,
        /// Why none of them may be replaced.
        kept: Blockers,
    },
    /// Foreign panes take the space, and they are not touched.
    Crowded {
        /// The main pane's columns.
        width: u16,
        /// The main pane's rows.
        height: u16,
        /// How many managed panes are shown.
        shown: usize,
        /// What was needed.
        limits: LayoutLimits,
        /// Why none of the managed panes may be replaced.
        kept: Blockers,
    },
}

/// Why this pane is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaceReason {
    /// The pane.
    pub victim: TmuxPaneId,
    /// Its state: idle, exited or quiet.
    pub state: ManagedPaneState,
}

impl fmt::Display for NotShownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMain => f.write_str("the main pane is not in this window"),
            Self::AlreadyShown(pane) => write!(f, "it is already shown in {pane}"),
            Self::TooSmall { cols, rows, limits } => too_small(f, (*cols, *rows), limits),
            Self::Full { cols, rows, shown, capacity, kept } => {
                let Capacity { columns, rows: high } = capacity;
                write!(
                    f,
                    "the window is {cols}x{rows} and holds {} agent panes",
                    capacity.total()
                )?;
                write!(f, " ({columns} across, {high} down); {shown} are shown and {kept}")
            }
            Self::Crowded { width, height, shown, limits, kept } => {
                let agent = limits.agent_pane_min_width;
                let high = limits.min_height;
                write!(f, "the window also contains panes that paned does not manage; ")?;
                write!(f, "the main pane is {width}x{height} and ")?;
                match limits.layout {
                    LayoutKind::Vertical | LayoutKind::Grid => {
                        let main = limits.main_least();
                        write!(f, "cannot give {agent} columns and keep {main}")?;
                    }
                    LayoutKind::Horizontal => write!(f, "cannot give {high} rows and keep {high}")?,
                }
                write!(
                    f,
                    "; {shown} agent panes are shown, none large enough to be split, and \
                          {kept}"
                )
            }
        }
    }
}

fn too_small(f: &mut fmt::Formatter<'_>, size: (u16, u16), limits: &LayoutLimits) -> fmt::Result {
    let main = limits.main_least();
    let agent = limits.agent_pane_min_width;
    let high = limits.min_height;
    let (cols, rows) = size;
    write!(f, "the window is {cols}x{rows}; ")?;
    let wide = match limits.layout {
        LayoutKind::Vertical | LayoutKind::Grid => main + 1 + agent,
        LayoutKind::Horizontal => agent,
    };
    match limits.layout {
        LayoutKind::Vertical | LayoutKind::Grid if cols < wide && main == agent => {
            write!(f, "a main pane and one agent pane of {agent} columns each need {wide} columns")
        }
        LayoutKind::Vertical | LayoutKind::Grid if cols < wide => {
            write!(f, "a main pane of {main} and one agent pane of {agent} need {wide} columns")
        }
        LayoutKind::Horizontal if cols >= wide => {
            write!(
                f,
                "a main pane and one agent pane of {high} rows each need {} rows",
                2 * high + 1
            )
        }
        LayoutKind::Horizontal => write!(f, "an agent pane needs {agent} columns"),
        LayoutKind::Vertical | LayoutKind::Grid => write!(f, "an agent pane needs {high} rows"),
    }
}

impl fmt::Display for ReplaceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state {
            ManagedPaneState::Exited => write!(f, "the program in {} has exited", self.victim),
            ManagedPaneState::Quiet => write!(f, "{} has been quiet the longest", self.victim),
            _ => write!(f, "{} has been idle the longest", self.victim),
        }
    }
}

impl Serialize for NotShownReason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for ReplaceReason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

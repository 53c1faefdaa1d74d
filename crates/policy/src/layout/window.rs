//! A tmux window as a value: its layout, its active pane, and the effect of each step on it.

use serde::Serialize;

use super::cell::{LayoutCell, LayoutDirection, LayoutError, TmuxPaneId};
use super::text::{LayoutParseError, LayoutTree};

/// A window, as `#{window_layout}`, `#{pane_id}` of the active pane and `#{window_zoomed_flag}`
/// report it.
///
/// tmux reports the layout of a zoomed window as it is without the zoom; plans are made on that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutWindow {
    layout: LayoutTree,
    /// The pane that has the focus within the window.
    pub active: Option<TmuxPaneId>,
    /// Whether that pane covers the others.
    pub zoomed: bool,
    /// Whether `pane-border-status` is on, which takes a line from the outer panes.
    pub titled: bool,
}

/// One pane of a window: where it is and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutTile {
    /// The pane; `None` for one that is not created yet.
    pub pane: Option<TmuxPaneId>,
    /// The leftmost column.
    pub left: u16,
    /// The topmost row.
    pub top: u16,
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

/// One tmux command. Send several in one command line: programs then see only the last size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutStep {
    /// `split-window -d -h|-v -t target`; the new pane follows its target in tmux's list.
    Split {
        /// The pane to split.
        target: TmuxPaneId,
        /// Where the new one goes.
        direction: LayoutDirection,
    },
    /// `kill-pane -t pane`.
    Close(TmuxPaneId),
    /// `swap-pane -d -s a -t b`: both keep their programs and swap positions, in the list too.
    Swap(TmuxPaneId, TmuxPaneId),
    /// `select-layout`, with this text.
    Arrange(LayoutTree),
    /// `resize-pane -Z -t pane`: tmux ends a zoom with every layout change, so the zoom is set
    /// again.
    Zoom(TmuxPaneId),
}

impl LayoutWindow {
    /// A window with this layout, neither zoomed nor titled.
    #[must_use]
    pub fn new(layout: LayoutTree, active: Option<TmuxPaneId>) -> Self {
        Self { layout, active, zoomed: false, titled: false }
    }

    /// Parses `#{window_layout}`.
    ///
    /// # Errors
    /// When the text is not a layout.
    pub fn parse(layout: &str, active: Option<TmuxPaneId>) -> Result<Self, LayoutParseError> {
        Ok(Self::new(layout.parse()?, active))
    }

    /// Its layout.
    #[must_use]
    pub fn layout(&self) -> &LayoutTree {
        &self.layout
    }

    /// The cell of the whole window.
    #[must_use]
    pub fn root(&self) -> &LayoutCell {
        self.layout.root()
    }

    /// Columns.
    #[must_use]
    pub fn cols(&self) -> u16 {
        self.root().width
    }

    /// Rows.
    #[must_use]
    pub fn rows(&self) -> u16 {
        self.root().height
    }

    /// The panes, in tmux's order.
    #[must_use]
    pub fn panes(&self) -> Vec<TmuxPaneId> {
        self.root().panes().into_iter().flatten().collect()
    }

    /// The panes with their positions, in tmux's order.
    #[must_use]
    pub fn tiles(&self) -> Vec<LayoutTile> {
        let tile = |leaf: &LayoutCell| LayoutTile {
            pane: leaf.id(),
            left: leaf.left,
            top: leaf.top,
            width: leaf.width,
            height: leaf.height,
        };
        self.root().leaves().into_iter().map(tile).collect()
    }

    /// The window after a pane was split. The new pane does not get the focus.
    ///
    /// # Errors
    /// When there is no such pane, or it is too small.
    pub fn split(
        &self,
        target: TmuxPaneId,
        direction: LayoutDirection,
        size: Option<u16>,
        new: Option<TmuxPaneId>,
    ) -> Result<Self, LayoutError> {
        self.changed(|root| root.split(target, direction, size, new))
    }

    /// The window after a pane was closed. If that pane had the focus, no pane is active.
    ///
    /// # Errors
    /// When there is no such pane, or it is the only one.
    pub fn close(&self, pane: TmuxPaneId) -> Result<Self, LayoutError> {
        let mut after = self.changed(|root| root.close(pane))?;
        after.active = after.active.filter(|active| *active != pane);
        Ok(after)
    }

    /// The window after its terminal was resized; it stays larger if its panes cannot shrink
    /// further.
    #[must_use]
    pub fn resized(&self, cols: u16, rows: u16) -> Self {
        let zoomed = self.zoomed;
        let changed = self.changed(|root| {
            root.resize(cols, rows);
            Ok(())
        });
        Self { zoomed, ..changed.unwrap_or_else(|_| self.clone()) }
    }

    /// The window after one step; `new` is the id that a new pane gets.
    ///
    /// # Errors
    /// When tmux would refuse the step.
    pub fn step(&self, step: &LayoutStep, new: Option<TmuxPaneId>) -> Result<Self, LayoutError> {
        match step {
            LayoutStep::Split { target, direction } => self.split(*target, *direction, None, new),
            LayoutStep::Close(pane) => self.close(*pane),
            LayoutStep::Swap(a, b) => self.swapped(*a, *b),
            LayoutStep::Arrange(layout) => self.arranged(layout),
            LayoutStep::Zoom(pane) => {
                self.root().find(*pane).ok_or(LayoutError::NoPane(*pane))?;
                Ok(Self { active: Some(*pane), zoomed: true, ..self.clone() })
            }
        }
    }

    /// The window after several steps; every new pane takes the next id.
    ///
    /// # Errors
    /// When tmux would refuse one of them.
    pub fn apply(&self, steps: &[LayoutStep], mut next: TmuxPaneId) -> Result<Self, LayoutError> {
        let mut window = self.clone();
        for step in steps {
            window = window.step(step, Some(next))?;
            next.0 += u32::from(matches!(step, LayoutStep::Split { .. }));
        }
        Ok(window)
    }

    fn arranged(&self, layout: &LayoutTree) -> Result<Self, LayoutError> {
        let mut root = layout.root().clone();
        let cells = root.leaves().len();
        let panes = self.root().panes();
        if cells != panes.len() {
            return Err(LayoutError::WrongPaneCount(cells, panes.len()));
        }
        self.changed(|own| {
            root.assign(&mut panes.into_iter());
            *own = root;
            Ok(())
        })
    }

    fn swapped(&self, a: TmuxPaneId, b: TmuxPaneId) -> Result<Self, LayoutError> {
        for pane in [a, b] {
            self.root().find(pane).ok_or(LayoutError::NoPane(pane))?;
        }
        let swap = |pane| match pane {
            Some(pane) if pane == a => Some(b),
            Some(pane) if pane == b => Some(a),
            other => other,
        };
        let panes: Vec<_> = self.root().panes().into_iter().map(swap).collect();
        self.changed(|root| {
            root.assign(&mut panes.into_iter());
            Ok(())
        })
    }

    /// The window with a changed tree. Like every layout change in tmux, this ends a zoom.
    fn changed(
        &self,
        change: impl FnOnce(&mut LayoutCell) -> Result<(), LayoutError>,
    ) -> Result<Self, LayoutError> {
        let mut root = self.root().clone();
        change(&mut root)?;
        root.place(0, 0);
        let layout = LayoutTree::new(root).map_err(|_| LayoutError::Inconsistent)?;
        Ok(Self { layout, zoomed: false, ..self.clone() })
    }
}

/// The swaps that bring panes from one order into another; panes that are in only one of the two
/// stay where they are.
#[must_use]
pub fn reorder(from: &[TmuxPaneId], to: &[TmuxPaneId]) -> Vec<LayoutStep> {
    let mut order: Vec<TmuxPaneId> =
        from.iter().copied().filter(|pane| to.contains(pane)).collect();
    let wanted = to.iter().copied().filter(|pane| from.contains(pane));
    let mut steps = Vec::new();
    for (at, pane) in wanted.enumerate() {
        let Some(now) = order.iter().position(|it| *it == pane) else { continue };
        if now != at {
            steps.push(LayoutStep::Swap(order[at], pane));
            order.swap(at, now);
        }
    }
    steps
}

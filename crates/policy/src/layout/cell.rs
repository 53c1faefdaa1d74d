//! The tree of cells that a tmux window is divided into, and what tmux does to it.
//!
//! A cell holds one pane, or at least two cells side by side or one above the other, with one line
//! or column between neighbours. Sizes change here exactly as tmux 3.3a changes them, checked
//! against `tests/tmux-3.3a.txt`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The smallest size of anything in tmux.
const TMUX_MINIMUM: u16 = 1;

/// A pane's id within one tmux server, written `%3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TmuxPaneId(pub u32);

/// The direction in which cells follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutDirection {
    /// From left to right: `split-window -h`, `{…}` in a layout.
    Right,
    /// From top to bottom: `split-window -v`, `[…]` in a layout.
    Down,
}

/// A rectangle of the window, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutCell {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
    /// The leftmost column.
    pub left: u16,
    /// The topmost row.
    pub top: u16,
    /// What it holds.
    pub content: CellContent,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellContent {
    /// A pane; `None` for one that is not created yet.
    Pane(Option<TmuxPaneId>),
    /// At least two cells, one after another.
    Cells(LayoutDirection, Vec<LayoutCell>),
}

/// Why tmux would refuse an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// No such pane in the window.
    NoPane(TmuxPaneId),
    /// The pane is too small to be split.
    NoSpace(TmuxPaneId),
    /// It is the only pane; closing it would close the window.
    LastPane(TmuxPaneId),
    /// The layout's number of cells differs from the window's number of panes.
    WrongPaneCount(usize, usize),
    /// A new pane would reuse the id of an existing one, or the cells would not fit together.
    Inconsistent,
}

impl LayoutDirection {
    /// The other one.
    #[must_use]
    pub fn across(self) -> Self {
        match self {
            Self::Right => Self::Down,
            Self::Down => Self::Right,
        }
    }
}

impl LayoutCell {
    /// One pane of a size, at the top left.
    #[must_use]
    pub fn pane(pane: Option<TmuxPaneId>, width: u16, height: u16) -> Self {
        Self { width, height, left: 0, top: 0, content: CellContent::Pane(pane) }
    }

    /// A parent cell just large enough for these cells in a row; a single cell is returned as it
    /// is.
    #[must_use]
    pub fn chain(direction: LayoutDirection, mut cells: Vec<LayoutCell>) -> Self {
        if cells.len() == 1 {
            return cells.remove(0);
        }
        let along =
            cells.iter().map(|cell| cell.size(direction) + 1).sum::<u16>().saturating_sub(1);
        let across = cells.first().map_or(0, |cell| cell.size(direction.across()));
        let (width, height) = match direction {
            LayoutDirection::Right => (along, across),
            LayoutDirection::Down => (across, along),
        };
        Self { width, height, left: 0, top: 0, content: CellContent::Cells(direction, cells) }
    }

    /// Its size in a direction.
    #[must_use]
    pub fn size(&self, direction: LayoutDirection) -> u16 {
        match direction {
            LayoutDirection::Right => self.width,
            LayoutDirection::Down => self.height,
        }
    }

    fn size_mut(&mut self, direction: LayoutDirection) -> &mut u16 {
        match direction {
            LayoutDirection::Right => &mut self.width,
            LayoutDirection::Down => &mut self.height,
        }
    }

    /// The cells that hold panes, in the order in which tmux lists the panes.
    #[must_use]
    pub fn leaves(&self) -> Vec<&LayoutCell> {
        match &self.content {
            CellContent::Pane(_) => vec![self],
            CellContent::Cells(_, cells) => cells.iter().flat_map(LayoutCell::leaves).collect(),
        }
    }

    /// The panes, in the order in which tmux lists them.
    #[must_use]
    pub fn panes(&self) -> Vec<Option<TmuxPaneId>> {
        self.leaves().iter().map(|leaf| leaf.id()).collect()
    }

    /// The pane in this cell itself, not in its children.
    #[must_use]
    pub fn id(&self) -> Option<TmuxPaneId> {
        match self.content {
            CellContent::Pane(pane) => pane,
            CellContent::Cells(..) => None,
        }
    }

    /// The cell of a pane.
    #[must_use]
    pub fn find(&self, pane: TmuxPaneId) -> Option<&LayoutCell> {
        self.leaves().into_iter().find(|leaf| leaf.id() == Some(pane))
    }

    /// Moves the cell's top left corner here, and its children with it.
    #[must_use]
    pub fn at(mut self, left: u16, top: u16) -> Self {
        self.place(left, top);
        self
    }

    pub(super) fn place(&mut self, left: u16, top: u16) {
        self.left = left;
        self.top = top;
        let CellContent::Cells(direction, cells) = &mut self.content else { return };
        let mut x = left;
        let mut y = top;
        for cell in cells {
            cell.place(x, y);
            match direction {
                LayoutDirection::Right => x += cell.width + 1,
                LayoutDirection::Down => y += cell.height + 1,
            }
        }
    }

    /// Assigns these panes to the leaves, in order.
    pub(super) fn assign(&mut self, panes: &mut impl Iterator<Item = Option<TmuxPaneId>>) {
        match &mut self.content {
            CellContent::Pane(pane) => *pane = panes.next().flatten(),
            CellContent::Cells(_, cells) => cells.iter_mut().for_each(|cell| cell.assign(panes)),
        }
    }

    /// Whether the children fill the cell exactly, each in its place.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let CellContent::Cells(direction, cells) = &self.content else {
            return self.width >= TMUX_MINIMUM && self.height >= TMUX_MINIMUM;
        };
        let along = |cell: &LayoutCell| u32::from(cell.size(*direction)) + 1;
        let mut at = match direction {
            LayoutDirection::Right => u32::from(self.left),
            LayoutDirection::Down => u32::from(self.top),
        };
        let end = at + along(self);
        for cell in cells {
            let (here, side) = match direction {
                LayoutDirection::Right => (cell.left, cell.top == self.top),
                LayoutDirection::Down => (cell.top, cell.left == self.left),
            };
            let across = direction.across();
            let fits = side && u32::from(here) == at && cell.size(across) == self.size(across);
            if !fits || !cell.is_consistent() {
                return false;
            }
            at += along(cell);
        }
        cells.len() >= 2 && at == end
    }

    /// `split-window -t pane -l size`, the new pane after the old one; half the size by default.
    pub(super) fn split(
        &mut self,
        pane: TmuxPaneId,
        direction: LayoutDirection,
        size: Option<u16>,
        new: Option<TmuxPaneId>,
    ) -> Result<(), LayoutError> {
        if self.id() == Some(pane) {
            let halves = self.halves(direction, size, new).ok_or(LayoutError::NoSpace(pane))?;
            self.content = CellContent::Cells(direction, halves.into());
            return Ok(());
        }
        let CellContent::Cells(own, cells) = &mut self.content else {
            return Err(LayoutError::NoPane(pane));
        };
        let here = cells.iter().position(|cell| cell.find(pane).is_some());
        let at = here.ok_or(LayoutError::NoPane(pane))?;
        if *own != direction || cells[at].id().is_none() {
            return cells[at].split(pane, direction, size, new);
        }
        let halves = cells[at].halves(direction, size, new).ok_or(LayoutError::NoSpace(pane))?;
        cells.splice(at..=at, halves);
        Ok(())
    }

    /// This pane and a new one, both inside the pane's old area.
    fn halves(
        &self,
        direction: LayoutDirection,
        size: Option<u16>,
        new: Option<TmuxPaneId>,
    ) -> Option<[LayoutCell; 2]> {
        let all = self.size(direction);
        if all < 2 * TMUX_MINIMUM + 1 {
            return None;
        }
        let second = size.unwrap_or(all.div_ceil(2).saturating_sub(1));
        let second = second.clamp(TMUX_MINIMUM, all - 2);
        let mut halves = [self.clone(), Self { content: CellContent::Pane(new), ..self.clone() }];
        *halves[0].size_mut(direction) = all - 1 - second;
        *halves[1].size_mut(direction) = second;
        Some(halves)
    }

    /// `kill-pane -t pane`: its space goes to the cell before it, or to the next one if it is the
    /// first.
    pub(super) fn close(&mut self, pane: TmuxPaneId) -> Result<(), LayoutError> {
        let CellContent::Cells(direction, cells) = &mut self.content else {
            let last = self.id() == Some(pane);
            return Err(if last { LayoutError::LastPane(pane) } else { LayoutError::NoPane(pane) });
        };
        let Some(at) = cells.iter().position(|cell| cell.id() == Some(pane)) else {
            let within = cells.iter_mut().find(|cell| cell.find(pane).is_some());
            return within.ok_or(LayoutError::NoPane(pane))?.close(pane);
        };
        let freed = i32::from(cells.remove(at).size(*direction)) + 1;
        cells[at.saturating_sub(1)].adjust(*direction, freed);
        if cells.len() == 1 {
            *self = cells.remove(0);
        }
        Ok(())
    }

    /// Resizes the window. No cell gets smaller than tmux allows, so the window may stay larger
    /// than asked.
    pub(super) fn resize(&mut self, width: u16, height: u16) {
        for (direction, size) in [(LayoutDirection::Right, width), (LayoutDirection::Down, height)]
        {
            let change = i32::from(size) - i32::from(self.size(direction));
            self.adjust(direction, change.max(-i32::from(self.slack(direction))));
        }
    }

    /// How much it can shrink.
    fn slack(&self, direction: LayoutDirection) -> u16 {
        match &self.content {
            CellContent::Pane(_) => self.size(direction).saturating_sub(TMUX_MINIMUM),
            CellContent::Cells(own, cells) => {
                let each = cells.iter().map(|cell| cell.slack(direction));
                if *own == direction { each.sum() } else { each.min().unwrap_or(0) }
            }
        }
    }

    /// Grows or shrinks it by an amount that is known to be possible, one line at a time to each
    /// cell in turn.
    fn adjust(&mut self, direction: LayoutDirection, change: i32) {
        let size = i32::from(self.size(direction)) + change;
        *self.size_mut(direction) = u16::try_from(size).unwrap_or(TMUX_MINIMUM);
        let CellContent::Cells(own, cells) = &mut self.content else { return };
        if *own != direction {
            cells.iter_mut().for_each(|cell| cell.adjust(direction, change));
            return;
        }
        let mut left = change.unsigned_abs();
        let step = change.signum();
        while left > 0 {
            let before = left;
            for cell in cells.iter_mut() {
                if left > 0 && (step > 0 || cell.slack(direction) > 0) {
                    cell.adjust(direction, step);
                    left -= 1;
                }
            }
            if left == before {
                return;
            }
        }
    }
}

impl fmt::Display for TmuxPaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl FromStr for TmuxPaneId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix('%').filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
        let id = number.and_then(|number| number.parse().ok()).map(Self);
        id.ok_or_else(|| format!("invalid tmux pane `{text}`: write it as `%3`"))
    }
}

impl Serialize for TmuxPaneId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TmuxPaneId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPane(pane) => write!(f, "pane {pane} is not in this window"),
            Self::NoSpace(pane) => write!(f, "pane {pane} is too small to be split"),
            Self::LastPane(pane) => write!(f, "pane {pane} is the only one in its window"),
            Self::WrongPaneCount(cells, panes) => {
                write!(f, "the layout has {cells} cells and the window {panes} panes")
            }
            Self::Inconsistent => f.write_str("the cells do not add up to the window"),
        }
    }
}

//! The tree of cells that a tmux window is divided into, and what tmux does to it.
//!
//! A cell holds one pane, or at least two cells side by side or one above the other, with one line or column
//! between neighbours. Sizes change here exactly as tmux 3.3a changes them, which `tests/tmux-3.3a.txt` proves.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The smallest size of anything in tmux.
const TMUX_MINIMUM: u16 = 1;

/// A pane's id within one tmux server, written `%3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TmuxId(pub u32);

/// Which way cells follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From left to right: `split-window -h`, `{…}` in a layout.
    Right,
    /// From top to bottom: `split-window -v`, `[…]` in a layout.
    Down,
}

/// A rectangle of the window, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
    /// The leftmost column.
    pub left: u16,
    /// The topmost row.
    pub top: u16,
    /// What it holds.
    pub inside: Inside,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A pane; none where it is still to be made.
    Pane(Option<TmuxId>),
    /// At least two cells, one after another.
    Cells(Direction, Vec<Cell>),
}

/// Why tmux would not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No such pane in the window.
    NoPane(TmuxId),
    /// The pane has no room for two.
    NoSpace(TmuxId),
    /// It is the only pane, and the window goes with it.
    LastPane(TmuxId),
    /// The layout has this many cells, the window that many panes.
    Count(usize, usize),
    /// A new pane would have the id of one that is there, or the cells would not fit together.
    Unsound,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub fn across(self) -> Self {
        match self {
            Self::Right => Self::Down,
            Self::Down => Self::Right,
        }
    }
}

impl Cell {
    /// One pane of a size, at the top left.
    #[must_use]
    pub fn pane(pane: Option<TmuxId>, width: u16, height: u16) -> Self {
        Self { width, height, left: 0, top: 0, inside: Inside::Pane(pane) }
    }

    /// Cells one after another, in a cell just large enough; a single one is itself.
    #[must_use]
    pub fn chain(direction: Direction, mut cells: Vec<Cell>) -> Self {
        if cells.len() == 1 {
            return cells.remove(0);
        }
        let along =
            cells.iter().map(|cell| cell.size(direction) + 1).sum::<u16>().saturating_sub(1);
        let across = cells.first().map_or(0, |cell| cell.size(direction.across()));
        let (width, height) = match direction {
            Direction::Right => (along, across),
            Direction::Down => (across, along),
        };
        Self { width, height, left: 0, top: 0, inside: Inside::Cells(direction, cells) }
    }

    /// Its size in a direction.
    #[must_use]
    pub fn size(&self, direction: Direction) -> u16 {
        match direction {
            Direction::Right => self.width,
            Direction::Down => self.height,
        }
    }

    fn size_mut(&mut self, direction: Direction) -> &mut u16 {
        match direction {
            Direction::Right => &mut self.width,
            Direction::Down => &mut self.height,
        }
    }

    /// The cells that hold panes, in the order in which tmux lists the panes.
    #[must_use]
    pub fn leaves(&self) -> Vec<&Cell> {
        match &self.inside {
            Inside::Pane(_) => vec![self],
            Inside::Cells(_, cells) => cells.iter().flat_map(Cell::leaves).collect(),
        }
    }

    /// The panes, in the order in which tmux lists them.
    #[must_use]
    pub fn panes(&self) -> Vec<Option<TmuxId>> {
        self.leaves().iter().map(|leaf| leaf.id()).collect()
    }

    /// The pane it holds itself.
    #[must_use]
    pub fn id(&self) -> Option<TmuxId> {
        match self.inside {
            Inside::Pane(pane) => pane,
            Inside::Cells(..) => None,
        }
    }

    /// The cell of a pane.
    #[must_use]
    pub fn find(&self, pane: TmuxId) -> Option<&Cell> {
        self.leaves().into_iter().find(|leaf| leaf.id() == Some(pane))
    }

    /// The same cell with its top left corner here, and everything within where it belongs.
    #[must_use]
    pub fn at(mut self, left: u16, top: u16) -> Self {
        self.place(left, top);
        self
    }

    pub(super) fn place(&mut self, left: u16, top: u16) {
        (self.left, self.top) = (left, top);
        let Inside::Cells(direction, cells) = &mut self.inside else { return };
        let (mut x, mut y) = (left, top);
        for cell in cells {
            cell.place(x, y);
            match direction {
                Direction::Right => x += cell.width + 1,
                Direction::Down => y += cell.height + 1,
            }
        }
    }

    /// Puts other panes into the cells, in order.
    pub(super) fn assign(&mut self, panes: &mut impl Iterator<Item = Option<TmuxId>>) {
        match &mut self.inside {
            Inside::Pane(pane) => *pane = panes.next().flatten(),
            Inside::Cells(_, cells) => cells.iter_mut().for_each(|cell| cell.assign(panes)),
        }
    }

    /// Whether the cells within fill it, each in its place.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let Inside::Cells(direction, cells) = &self.inside else {
            return self.width >= TMUX_MINIMUM && self.height >= TMUX_MINIMUM;
        };
        let along = |cell: &Cell| u32::from(cell.size(*direction)) + 1;
        let mut at = match direction {
            Direction::Right => u32::from(self.left),
            Direction::Down => u32::from(self.top),
        };
        let end = at + along(self);
        for cell in cells {
            let (here, side) = match direction {
                Direction::Right => (cell.left, cell.top == self.top),
                Direction::Down => (cell.top, cell.left == self.left),
            };
            let across = direction.across();
            let fits = side && u32::from(here) == at && cell.size(across) == self.size(across);
            if !fits || !cell.is_sound() {
                return false;
            }
            at += along(cell);
        }
        cells.len() >= 2 && at == end
    }

    /// `split-window -t pane -l size`, the new pane behind; half without a size.
    pub(super) fn split(
        &mut self,
        pane: TmuxId,
        direction: Direction,
        size: Option<u16>,
        new: Option<TmuxId>,
    ) -> Result<(), Misfit> {
        if self.id() == Some(pane) {
            let halves = self.halves(direction, size, new).ok_or(Misfit::NoSpace(pane))?;
            self.inside = Inside::Cells(direction, halves.into());
            return Ok(());
        }
        let Inside::Cells(own, cells) = &mut self.inside else { return Err(Misfit::NoPane(pane)) };
        let here = cells.iter().position(|cell| cell.find(pane).is_some());
        let at = here.ok_or(Misfit::NoPane(pane))?;
        if *own != direction || cells[at].id().is_none() {
            return cells[at].split(pane, direction, size, new);
        }
        let halves = cells[at].halves(direction, size, new).ok_or(Misfit::NoSpace(pane))?;
        cells.splice(at..=at, halves);
        Ok(())
    }

    /// This pane and a new one in its place.
    fn halves(
        &self,
        direction: Direction,
        size: Option<u16>,
        new: Option<TmuxId>,
    ) -> Option<[Cell; 2]> {
        let all = self.size(direction);
        if all < 2 * TMUX_MINIMUM + 1 {
            return None;
        }
        let second = size.unwrap_or(all.div_ceil(2).saturating_sub(1));
        let second = second.clamp(TMUX_MINIMUM, all - 2);
        let mut halves = [self.clone(), Self { inside: Inside::Pane(new), ..self.clone() }];
        *halves[0].size_mut(direction) = all - 1 - second;
        *halves[1].size_mut(direction) = second;
        Some(halves)
    }

    /// `kill-pane -t pane`: its room goes to the cell before it, or after it when it is the first.
    pub(super) fn close(&mut self, pane: TmuxId) -> Result<(), Misfit> {
        let Inside::Cells(direction, cells) = &mut self.inside else {
            let last = self.id() == Some(pane);
            return Err(if last { Misfit::LastPane(pane) } else { Misfit::NoPane(pane) });
        };
        let Some(at) = cells.iter().position(|cell| cell.id() == Some(pane)) else {
            let within = cells.iter_mut().find(|cell| cell.find(pane).is_some());
            return within.ok_or(Misfit::NoPane(pane))?.close(pane);
        };
        let room = i32::from(cells.remove(at).size(*direction)) + 1;
        cells[at.saturating_sub(1)].adjust(*direction, room);
        if cells.len() == 1 {
            *self = cells.remove(0);
        }
        Ok(())
    }

    /// The window gets another size. Nothing gets smaller than tmux allows, so it may stay larger than asked.
    pub(super) fn resize(&mut self, width: u16, height: u16) {
        for (direction, size) in [(Direction::Right, width), (Direction::Down, height)] {
            let change = i32::from(size) - i32::from(self.size(direction));
            self.adjust(direction, change.max(-i32::from(self.slack(direction))));
        }
    }

    /// By how much it can shrink.
    fn slack(&self, direction: Direction) -> u16 {
        match &self.inside {
            Inside::Pane(_) => self.size(direction).saturating_sub(TMUX_MINIMUM),
            Inside::Cells(own, cells) => {
                let each = cells.iter().map(|cell| cell.slack(direction));
                if *own == direction { each.sum() } else { each.min().unwrap_or(0) }
            }
        }
    }

    /// Grows or shrinks it by what is known to be possible, one line at a time to each cell in turn.
    fn adjust(&mut self, direction: Direction, change: i32) {
        let size = i32::from(self.size(direction)) + change;
        *self.size_mut(direction) = u16::try_from(size).unwrap_or(TMUX_MINIMUM);
        let Inside::Cells(own, cells) = &mut self.inside else { return };
        if *own != direction {
            cells.iter_mut().for_each(|cell| cell.adjust(direction, change));
            return;
        }
        let (mut left, step) = (change.unsigned_abs(), change.signum());
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

impl fmt::Display for TmuxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl FromStr for TmuxId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix('%').filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
        let id = number.and_then(|number| number.parse().ok()).map(Self);
        id.ok_or_else(|| format!("`{text}` is no tmux pane: write it as `%3`"))
    }
}

impl Serialize for TmuxId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TmuxId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPane(pane) => write!(f, "the pane {pane} is not in this window"),
            Self::NoSpace(pane) => write!(f, "the pane {pane} is too small to be split"),
            Self::LastPane(pane) => write!(f, "the pane {pane} is the only one of its window"),
            Self::Count(cells, panes) => {
                write!(f, "the layout has {cells} cells and the window {panes} panes")
            }
            Self::Unsound => f.write_str("the cells of the window would not fit together"),
        }
    }
}

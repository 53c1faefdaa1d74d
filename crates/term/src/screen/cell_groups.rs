//! Splits a row into groups of cells that can be printed at once, and classifies those that need
//! more. Writes nothing.

use alacritty_terminal::term::cell::{Cell, Flags};

use super::dump_writer::same_style;

/// One or two cells that are written together.
#[derive(Clone, Copy)]
pub(super) struct CellGroup {
    pub(super) kind: CellGroupKind,
    pub(super) col: usize,
    pub(super) width: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CellGroupKind {
    /// A character of one column, or a wide one with its spacer.
    Whole,
    /// A wide character whose spacer is gone.
    LoneWide,
    /// A spacer whose wide character is gone.
    LoneSpacer,
    /// The last cell of a row, left free because a wide character did not fit.
    Leading,
}

impl CellGroup {
    pub(super) fn at(cells: &[Cell], col: usize) -> Self {
        let flags = cells[col].flags;
        let (kind, width) = if flags.contains(Flags::WIDE_CHAR) {
            if is_pair(cells, col) {
                (CellGroupKind::Whole, 2)
            } else {
                (CellGroupKind::LoneWide, 1)
            }
        } else if flags.contains(Flags::WIDE_CHAR_SPACER) {
            (CellGroupKind::LoneSpacer, 1)
        } else if flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
            (CellGroupKind::Leading, 1)
        } else {
            (CellGroupKind::Whole, 1)
        };
        Self { kind, col, width }
    }

    /// The groups of a row, without trailing blanks.
    pub(super) fn all(cells: &[Cell]) -> Vec<Self> {
        let used = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
        let mut groups: Vec<Self> = Vec::new();
        while let Some(col) = Some(groups.last().map_or(0, Self::end)).filter(|&col| col < used) {
            groups.push(Self::at(cells, col));
        }
        groups
    }

    pub(super) fn end(&self) -> usize {
        self.col + self.width
    }

    pub(super) fn is_lone(&self) -> bool {
        matches!(self.kind, CellGroupKind::LoneWide | CellGroupKind::LoneSpacer)
    }

    pub(super) fn wraps(&self, cells: &[Cell]) -> bool {
        cells[self.end() - 1].flags.contains(Flags::WRAPLINE)
    }

    /// Whether printing its characters at the cursor is enough.
    pub(super) fn is_simple(&self, cells: &[Cell]) -> bool {
        let is_text = cells[self.col..self.end()].iter().all(|cell| cell.c != '\t');
        let at_end = self.end() == cells.len();
        self.kind == CellGroupKind::Whole && is_text && (at_end || !self.wraps(cells))
    }
}

/// Whether a cell is as on a fresh screen. A cell that lost its marks may keep the allocation for
/// them, and is blank too.
fn is_blank(cell: &Cell) -> bool {
    let blank = Cell::default();
    let is_unmarked = |cell: &Cell| cell.zerowidth().is_none_or(<[char]>::is_empty);
    *cell == blank
        || (cell.c == ' ' && cell.flags.is_empty() && is_unmarked(cell) && same_style(cell, &blank))
}

fn is_pair(cells: &[Cell], col: usize) -> bool {
    cells.get(col + 1).is_some_and(|spacer| {
        spacer.flags.contains(Flags::WIDE_CHAR_SPACER)
            && same_style(&cells[col], spacer)
            && !cells[col].flags.contains(Flags::WRAPLINE)
    })
}

/// Whether no output can produce this row: it has half a character at both ends, half a character
/// in the middle with the wrap flag, or it is the last one and left a cell free for a wide
/// character (in a row of two columns, or beside groups that need more than printing).
pub(super) fn is_unreachable(cells: &[Cell], is_last: bool) -> bool {
    let groups = CellGroup::all(cells);
    let has_leading = groups.iter().any(|group| group.kind == CellGroupKind::Leading);
    let is_odd =
        |group: &CellGroup| group.kind != CellGroupKind::Leading && !group.is_simple(cells);
    let is_torn =
        |group: &CellGroup| group.is_lone() && group.wraps(cells) && group.end() < cells.len();
    (is_shifted(&groups, cells.len()) && groups[0].is_lone())
        || groups.iter().any(is_torn)
        || (is_last && has_leading && (cells.len() == 2 || groups.iter().any(is_odd)))
}

/// Whether a row can be written by printing on from the end of the row above.
pub(super) fn starts_simply(cells: &[Cell]) -> bool {
    let groups = CellGroup::all(cells);
    let is_shifted = is_shifted(&groups, cells.len());
    groups.first().is_some_and(|first| !is_shifted && first.is_simple(cells))
}

/// Whether the last column holds half a character, which can only get there by shifting from the
/// left.
pub(super) fn is_shifted(groups: &[CellGroup], cols: usize) -> bool {
    groups.last().is_some_and(|last| last.is_lone() && last.end() == cols)
}

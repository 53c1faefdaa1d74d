//! Lays panes out evenly: in an area of their own, or beside a main pane.
//!
//! Even means: lines differ by at most one pane and by at most one cell in size, and so do the
//! panes within a line.

use super::cell::{LayoutCell, LayoutDirection, TmuxPaneId};
use super::limits::{Capacity, LayoutKind, LayoutLimits, capacity};

/// Panes in an area of their own; `None` if they do not fit.
pub(super) fn area(
    (width, height): (u16, u16),
    panes: &[Option<TmuxPaneId>],
    limits: &LayoutLimits,
) -> Option<LayoutCell> {
    let most = Capacity::of_area(width, height, limits);
    let lines = fewest_lines(panes.len(), most, limits)?;
    let lines = match limits.layout {
        LayoutKind::Vertical | LayoutKind::Horizontal => lines,
        LayoutKind::Grid => roomiest(lines..=most.along(LayoutDirection::Right), |columns| {
            tightest((width, height), panes.len(), columns, limits)
        }),
    };
    Some(fill_kind((width, height), panes, lines, limits.layout))
}

/// A whole window: the main pane first, the others beside it; `None` if they do not fit.
pub(super) fn window(
    (cols, rows): (u16, u16),
    main: TmuxPaneId,
    panes: &[Option<TmuxPaneId>],
    limits: &LayoutLimits,
) -> Option<LayoutCell> {
    if panes.is_empty() {
        return Some(LayoutCell::pane(Some(main), cols, rows));
    }
    let fewest = fewest_lines(panes.len(), capacity(cols, rows, limits), limits)?;
    let direction = limits.layout.beside();
    let size = if direction == LayoutDirection::Right { cols } else { rows };
    let room = |lines: usize| room_beside(size, lines, limits);
    let sized = |lines| {
        if direction == LayoutDirection::Right { (room(lines), rows) } else { (cols, room(lines)) }
    };
    let lines = match limits.layout {
        LayoutKind::Vertical | LayoutKind::Horizontal => fewest,
        // More columns than needed must not reduce the main pane's share.
        LayoutKind::Grid => {
            let unforced = Capacity::of_area(room(1), rows, limits).along(direction);
            roomiest(fewest..=fewest.max(unforced.min(panes.len())), |columns| {
                tightest(sized(columns), panes.len(), columns, limits)
            })
        }
    };
    let main_size = size - 1 - room(lines);
    let main = match direction {
        LayoutDirection::Right => LayoutCell::pane(Some(main), main_size, rows),
        LayoutDirection::Down => LayoutCell::pane(Some(main), cols, main_size),
    };
    let others = fill_kind(sized(lines), panes, lines, limits.layout);
    Some(join(direction, main, others).at(0, 0))
}

/// The size left beside the main pane. The main pane gets its share, unless that is below its
/// minimum or these lines need more.
pub(super) fn room_beside(size: u16, lines: usize, limits: &LayoutLimits) -> u16 {
    let each = limits.agent_min(limits.layout.beside()) + 1;
    let lines = u16::try_from(lines).unwrap_or(u16::MAX);
    let needed = lines.saturating_mul(each).saturating_sub(1);
    let main = limits.main_share(size).max(limits.main_min());
    size.saturating_sub(1).saturating_sub(main).max(needed)
}

/// The fewest lines that hold this many panes; `None` if the area cannot hold them.
fn fewest_lines(panes: usize, most: Capacity, limits: &LayoutLimits) -> Option<usize> {
    let direction = limits.layout.beside();
    let in_line = most.along(direction.across());
    (panes <= most.total() && panes > 0).then(|| panes.div_ceil(in_line))
}

/// The number of columns that gives the tightest pane the most space; of equals, the fewest.
fn roomiest(columns: std::ops::RangeInclusive<usize>, room: impl Fn(usize) -> u32) -> usize {
    let fewest = *columns.start();
    columns.rev().max_by_key(|columns| room(*columns)).unwrap_or(fewest)
}

/// The ratio of the tightest pane's size to the minimum, in its tighter direction, in thousandths.
fn tightest(
    (width, height): (u16, u16),
    panes: usize,
    columns: usize,
    limits: &LayoutLimits,
) -> u32 {
    let smallest = |size: u16, count: usize| {
        let dividers = u32::try_from(count).unwrap_or(u32::MAX).saturating_sub(1);
        u32::from(size).saturating_sub(dividers) / dividers.saturating_add(1)
    };
    let high = smallest(height, panes.div_ceil(columns.max(1)));
    room(smallest(width, columns), high, limits)
}

/// The ratio of a pane's size to the minimum, in its tighter direction, in thousandths.
pub(super) fn room(width: u32, height: u32, limits: &LayoutLimits) -> u32 {
    let ratio = |size: u32, least: u16| size * 1000 / u32::from(least.max(1));
    ratio(width, limits.agent_pane_min_width).min(ratio(height, limits.min_height))
}

/// Fills an area with this many lines of a layout; those of a grid are its columns, but the panes
/// are put in row by row.
fn fill_kind(
    size: (u16, u16),
    panes: &[Option<TmuxPaneId>],
    lines: usize,
    kind: LayoutKind,
) -> LayoutCell {
    match kind {
        LayoutKind::Vertical | LayoutKind::Horizontal => fill(size, panes, lines, kind.beside()),
        LayoutKind::Grid => {
            fill(size, panes, panes.len().div_ceil(lines.max(1)), LayoutDirection::Down)
        }
    }
}

/// Fills an area with this many lines, which follow one another in `direction`; the panes within
/// each line follow the other direction.
fn fill(
    (width, height): (u16, u16),
    panes: &[Option<TmuxPaneId>],
    lines: usize,
    direction: LayoutDirection,
) -> LayoutCell {
    let (along, across) = match direction {
        LayoutDirection::Right => (width, height),
        LayoutDirection::Down => (height, width),
    };
    let mut rest = panes;
    let mut cells = Vec::new();
    for (size, count) in evenly(along, lines).into_iter().zip(counts(panes.len(), lines)) {
        let (line, after) = rest.split_at(count);
        rest = after;
        let pane = |(pane, length): (&Option<TmuxPaneId>, u16)| match direction {
            LayoutDirection::Right => LayoutCell::pane(*pane, size, length),
            LayoutDirection::Down => LayoutCell::pane(*pane, length, size),
        };
        let line = line.iter().zip(evenly(across, count)).map(pane).collect();
        cells.push(LayoutCell::chain(direction.across(), line));
    }
    LayoutCell::chain(direction, cells)
}

/// Joins two cells; merges the second into the chain if it has the same direction.
fn join(direction: LayoutDirection, first: LayoutCell, rest: LayoutCell) -> LayoutCell {
    let mut cells = vec![first];
    cells.extend(spliced(direction, rest));
    LayoutCell::chain(direction, cells)
}

/// The children of a cell that is split in this direction, otherwise the cell itself.
pub(super) fn spliced(direction: LayoutDirection, cell: LayoutCell) -> Vec<LayoutCell> {
    match cell.content {
        super::cell::CellContent::Cells(own, cells) if own == direction => cells,
        _ => vec![cell],
    }
}

/// Divides a size among this many cells with a divider between each two; the first cells get the
/// remainder.
fn evenly(size: u16, count: usize) -> Vec<u16> {
    let parts = u16::try_from(count.max(1)).unwrap_or(u16::MAX);
    let room = size.saturating_sub(parts - 1);
    (0..parts).map(|at| room / parts + u16::from(at < room % parts)).collect()
}

/// Divides panes among this many lines; the first lines get the remainder.
fn counts(panes: usize, lines: usize) -> Vec<usize> {
    (0..lines).map(|at| panes / lines + usize::from(at < panes % lines)).collect()
}

//! Panes laid out evenly: in an area of their own, or beside a main pane.
//!
//! Even means: lines differ by at most one pane, and their sizes by at most one cell; so do panes within a line.

use super::cell::{LayoutCell, LayoutDirection, TmuxPaneId};
use super::limits::{Capacity, LayoutKind, LayoutLimits, capacity};

/// Panes in an area of their own, or nothing when they do not fit.
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
    Some(fill((width, height), panes, lines, limits.layout.beside()))
}

/// A whole window: the main pane first, the others beside it; nothing when they do not fit.
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
        // More columns than are needed may not cost the main pane its share.
        LayoutKind::Grid => {
            let unpushed = Capacity::of_area(room(1), rows, limits).along(direction);
            roomiest(fewest..=fewest.max(unpushed.min(panes.len())), |columns| {
                tightest(sized(columns), panes.len(), columns, limits)
            })
        }
    };
    let main_size = size - 1 - room(lines);
    let main = match direction {
        LayoutDirection::Right => LayoutCell::pane(Some(main), main_size, rows),
        LayoutDirection::Down => LayoutCell::pane(Some(main), cols, main_size),
    };
    Some(join(direction, main, fill(sized(lines), panes, lines, direction)).at(0, 0))
}

/// What is left beside the main pane: it has its share, unless that is below its minimum or these lines need more.
pub(super) fn room_beside(size: u16, lines: usize, limits: &LayoutLimits) -> u16 {
    let each = limits.agent_min(limits.layout.beside()) + 1;
    let lines = u16::try_from(lines).unwrap_or(u16::MAX);
    let needed = lines.saturating_mul(each).saturating_sub(1);
    let main = limits.main_share(size).max(limits.main_min());
    size.saturating_sub(1).saturating_sub(main).max(needed)
}

/// How many lines are needed for so many panes, if there are enough.
fn fewest_lines(panes: usize, most: Capacity, limits: &LayoutLimits) -> Option<usize> {
    let direction = limits.layout.beside();
    let in_line = most.along(direction.across());
    (panes <= most.total() && panes > 0).then(|| panes.div_ceil(in_line))
}

/// The number of columns that leaves the tightest pane the most room; the fewest of equals.
fn roomiest(columns: std::ops::RangeInclusive<usize>, room: impl Fn(usize) -> u32) -> usize {
    let fewest = *columns.start();
    columns.rev().max_by_key(|columns| room(*columns)).unwrap_or(fewest)
}

/// How much more than the minimum the tightest pane has, in its tighter direction; in thousandths.
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
    let ratio = |size: u32, least: u16| size * 1000 / u32::from(least.max(1));
    let wide = ratio(smallest(width, columns), limits.agent_pane_min_width);
    let high = ratio(smallest(height, panes.div_ceil(columns.max(1))), limits.min_height);
    wide.min(high)
}

/// So many lines, following one another in this direction, in each of which the panes go the other way.
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

/// A first cell and what follows, as one chain where that goes the same way.
fn join(direction: LayoutDirection, first: LayoutCell, rest: LayoutCell) -> LayoutCell {
    let mut cells = vec![first];
    cells.extend(spliced(direction, rest));
    LayoutCell::chain(direction, cells)
}

/// The cells of a cell that goes this way, or the cell itself.
pub(super) fn spliced(direction: LayoutDirection, cell: LayoutCell) -> Vec<LayoutCell> {
    match cell.content {
        super::cell::CellContent::Cells(own, cells) if own == direction => cells,
        _ => vec![cell],
    }
}

/// A size divided among so many, a line between each two; the first get what is over.
fn evenly(size: u16, count: usize) -> Vec<u16> {
    let parts = u16::try_from(count.max(1)).unwrap_or(u16::MAX);
    let room = size.saturating_sub(parts - 1);
    (0..parts).map(|at| room / parts + u16::from(at < room % parts)).collect()
}

/// Panes divided among so many lines; the first get what is over.
fn counts(panes: usize, lines: usize) -> Vec<usize> {
    (0..lines).map(|at| panes / lines + usize::from(at < panes % lines)).collect()
}

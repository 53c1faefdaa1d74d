//! The parts of a window that are ours alone, between panes that are not to be touched.

use super::cell::{Cell, Direction, Inside, TmuxId};
use super::even::spliced;
use super::owners::Owners;

/// Neighbouring panes of ours that fill a rectangle.
pub(super) struct Region {
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) panes: Vec<TmuxId>,
}

/// The largest rectangles that hold nothing but our panes.
pub(super) fn regions(cell: &Cell, owners: &Owners) -> Vec<Region> {
    if is_ours(cell, owners) {
        return vec![region(Direction::Right, std::slice::from_ref(cell))];
    }
    let Inside::Cells(direction, cells) = &cell.inside else { return Vec::new() };
    let mut found = Vec::new();
    for run in runs(cells, owners) {
        match run {
            [other] if !is_ours(other, owners) => found.extend(regions(other, owners)),
            ours => found.push(region(*direction, ours)),
        }
    }
    found
}

/// The same cells with other ones, of the same size, in the region that holds this pane.
pub(super) fn refill(cell: &Cell, owners: &Owners, of: TmuxId, with: &Cell) -> Cell {
    if is_ours(cell, owners) {
        return if cell.find(of).is_some() { with.clone() } else { cell.clone() };
    }
    let Inside::Cells(direction, cells) = &cell.inside else { return cell.clone() };
    let mut filled = Vec::new();
    for run in runs(cells, owners) {
        match run {
            [other] if !is_ours(other, owners) => filled.push(refill(other, owners, of, with)),
            ours if ours.iter().any(|cell| cell.find(of).is_some()) => {
                filled.extend(spliced(*direction, with.clone()));
            }
            ours => filled.extend_from_slice(ours),
        }
    }
    Cell { inside: Inside::Cells(*direction, filled), ..cell.clone() }
}

fn runs<'a>(cells: &'a [Cell], owners: &'a Owners) -> impl Iterator<Item = &'a [Cell]> {
    cells.chunk_by(|a, b| is_ours(a, owners) && is_ours(b, owners))
}

fn is_ours(cell: &Cell, owners: &Owners) -> bool {
    cell.panes().into_iter().all(|pane| pane.is_some_and(|pane| owners.ours(pane).is_some()))
}

fn region(direction: Direction, cells: &[Cell]) -> Region {
    let whole = Cell::chain(direction, cells.to_vec());
    let panes = whole.panes().into_iter().flatten().collect();
    Region { width: whole.width, height: whole.height, panes }
}

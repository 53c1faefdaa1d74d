//! The regions of a window that hold only managed panes, between foreign panes that must not be
//! touched.

use super::balance::spliced;
use super::cell::{CellContent, LayoutCell, LayoutDirection, TmuxPaneId};
use super::owners::PaneOwners;

/// Adjacent managed panes that fill a rectangle.
pub(super) struct ManagedRegion {
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) panes: Vec<TmuxPaneId>,
}

/// The largest rectangles that hold only managed panes.
pub(super) fn regions(cell: &LayoutCell, owners: &PaneOwners) -> Vec<ManagedRegion> {
    if is_ours(cell, owners) {
        return vec![region(LayoutDirection::Right, std::slice::from_ref(cell))];
    }
    let CellContent::Cells(direction, cells) = &cell.content else { return Vec::new() };
    let mut found = Vec::new();
    for run in runs(cells, owners) {
        match run {
            [other] if !is_ours(other, owners) => found.extend(regions(other, owners)),
            ours => found.push(region(*direction, ours)),
        }
    }
    found
}

/// Replaces the content of the region that holds this pane by cells of the same total size.
pub(super) fn refill(
    cell: &LayoutCell,
    owners: &PaneOwners,
    of: TmuxPaneId,
    with: &LayoutCell,
) -> LayoutCell {
    if is_ours(cell, owners) {
        return if cell.find(of).is_some() { with.clone() } else { cell.clone() };
    }
    let CellContent::Cells(direction, cells) = &cell.content else { return cell.clone() };
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
    LayoutCell { content: CellContent::Cells(*direction, filled), ..cell.clone() }
}

fn runs<'a>(
    cells: &'a [LayoutCell],
    owners: &'a PaneOwners,
) -> impl Iterator<Item = &'a [LayoutCell]> {
    cells.chunk_by(|a, b| is_ours(a, owners) && is_ours(b, owners))
}

fn is_ours(cell: &LayoutCell, owners: &PaneOwners) -> bool {
    cell.panes().into_iter().all(|pane| pane.is_some_and(|pane| owners.managed(pane).is_some()))
}

fn region(direction: LayoutDirection, cells: &[LayoutCell]) -> ManagedRegion {
    let whole = LayoutCell::chain(direction, cells.to_vec());
    let panes = whole.panes().into_iter().flatten().collect();
    ManagedRegion { width: whole.width, height: whole.height, panes }
}

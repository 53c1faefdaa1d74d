//! How the panes of a session share its size. Pure: splits and live panes in, sizes out.
//!
//! Each split halves a pane; when a pane ends, its neighbour gets its half. One cell lies between
//! two halves, and the older one gets the odd cell, as in tmux.

use std::collections::{BTreeMap, BTreeSet};

use paned_model::Size;

use super::{Error, SplitOrientation};

/// A pane's number within its session; the first is 0.
pub(super) type PaneNumber = u32;

/// The split that made a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SplitRecord {
    /// The pane that was split.
    pub(super) of: PaneNumber,
    pub(super) direction: SplitOrientation,
}

#[derive(Clone, Debug)]
enum SplitNode {
    Pane(PaneNumber),
    Halves(SplitOrientation, Box<(SplitNode, SplitNode)>),
}

/// The older and the newer half of a pane, if each is large enough for a terminal.
pub(super) fn halve(size: Size, direction: SplitOrientation) -> Result<(Size, Size), Error> {
    let (older, newer) = halves(size, direction);
    match (older.check(), newer.check()) {
        (Ok(older), Ok(newer)) => Ok((older, newer)),
        (Err(_), _) | (_, Err(_)) => {
            let side = match direction {
                SplitOrientation::Horizontal => "columns",
                SplitOrientation::Vertical => "rows",
            };
            Err(Error::PaneLimit(format!("a pane of {size} has too few {side} to be split")))
        }
    }
}

fn halves(size: Size, direction: SplitOrientation) -> (Size, Size) {
    let cut = |side: u16| {
        let newer = side.saturating_add(1) / 2;
        let newer = newer.saturating_sub(1);
        (side.saturating_sub(newer + 1), newer)
    };
    match direction {
        SplitOrientation::Horizontal => {
            let (older, newer) = cut(size.cols);
            (Size { cols: older, ..size }, Size { cols: newer, ..size })
        }
        SplitOrientation::Vertical => {
            let (older, newer) = cut(size.rows);
            (Size { rows: older, ..size }, Size { rows: newer, ..size })
        }
    }
}

/// The size of each live pane. In a window too small for its panes, each gets the smallest size of
/// a terminal.
pub(super) fn sizes(
    window: Size,
    splits: &BTreeMap<PaneNumber, SplitRecord>,
    living: &BTreeSet<PaneNumber>,
) -> BTreeMap<PaneNumber, Size> {
    let mut tree = SplitNode::Pane(0);
    for (number, split) in splits {
        tree.split(*number, *split);
    }
    let mut sizes = BTreeMap::new();
    if let Some(tree) = tree.prune(living) {
        tree.share(window, &mut sizes);
    }
    sizes
}

impl SplitNode {
    fn split(&mut self, number: PaneNumber, split: SplitRecord) {
        match self {
            Self::Pane(pane) if *pane == split.of => {
                let halves = (Self::Pane(split.of), Self::Pane(number));
                *self = Self::Halves(split.direction, Box::new(halves));
            }
            Self::Pane(_) => {}
            Self::Halves(_, halves) => {
                halves.0.split(number, split);
                halves.1.split(number, split);
            }
        }
    }

    fn prune(self, living: &BTreeSet<PaneNumber>) -> Option<Self> {
        match self {
            Self::Pane(pane) => living.contains(&pane).then_some(self),
            Self::Halves(direction, halves) => {
                match (halves.0.prune(living), halves.1.prune(living)) {
                    (Some(older), Some(newer)) => {
                        Some(Self::Halves(direction, Box::new((older, newer))))
                    }
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn share(&self, room: Size, sizes: &mut BTreeMap<PaneNumber, Size>) {
        match self {
            Self::Pane(pane) => {
                let size = Size { cols: room.cols.max(2), rows: room.rows.max(1) };
                sizes.insert(*pane, size);
            }
            Self::Halves(direction, nodes) => {
                let (older, newer) = halves(room, *direction);
                nodes.0.share(older, sizes);
                nodes.1.share(newer, sizes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1h0` is pane 1, split off pane 0 to the right; `v` is below.
    #[track_caller]
    fn check(window: &str, splits: &str, living: &[PaneNumber], expect: &str) {
        let read = |split: &str| {
            let (number, of) = split.split_once(['h', 'v']).unwrap();
            let direction = match split.contains('h') {
                true => SplitOrientation::Horizontal,
                false => SplitOrientation::Vertical,
            };
            (number.parse().unwrap(), SplitRecord { of: of.parse().unwrap(), direction })
        };
        let splits = splits.split_whitespace().map(read).collect();
        let living = living.iter().copied().collect();
        let sizes = sizes(window.parse().unwrap(), &splits, &living);
        let sizes: Vec<String> =
            sizes.iter().map(|(number, size)| format!("{number}:{size}")).collect();
        assert_eq!(sizes.join(" "), expect);
    }

    #[test]
    fn a_split_halves_and_leaves_a_cell() {
        check("200x50", "", &[0], "0:200x50");
        check("200x50", "1h0", &[0, 1], "0:100x50 1:99x50");
        check("200x50", "1v0", &[0, 1], "0:200x25 1:200x24");
        check("200x50", "1h0 2v1", &[0, 1, 2], "0:100x50 1:99x25 2:99x24");
        check("201x50", "1h0 2h0", &[0, 1, 2], "0:50x50 1:100x50 2:49x50");
    }

    #[test]
    fn who_ends_leaves_its_half_to_its_neighbour() {
        check("200x50", "1h0", &[1], "1:200x50");
        check("200x50", "1h0 2v1", &[0, 2], "0:100x50 2:99x50");
        check("200x50", "1h0 2v1", &[1, 2], "1:200x25 2:200x24");
        check("200x50", "1h0 2h0", &[0, 2], "0:100x50 2:99x50");
        check("200x50", "1h0", &[], "");
    }

    #[test]
    fn a_window_too_small_gives_the_least() {
        check("3x2", "1h0 2v1", &[0, 1, 2], "0:2x2 1:2x1 2:2x1");
    }

    #[test]
    fn too_small_a_half_is_refused() {
        let size = |cols, rows| Size { cols, rows };
        let horizontal = |cols| {
            halve(size(cols, 9), SplitOrientation::Horizontal).map(|(a, b)| (a.cols, b.cols))
        };
        assert_eq!(horizontal(5), Ok((2, 2)));
        let says = "a pane of 4x9 has too few columns to be split".to_owned();
        assert_eq!(horizontal(4), Err(Error::PaneLimit(says)));
        let vertical =
            |rows| halve(size(9, rows), SplitOrientation::Vertical).map(|(a, b)| (a.rows, b.rows));
        assert_eq!(vertical(3), Ok((1, 1)));
        assert!(matches!(vertical(2), Err(Error::PaneLimit(_))));
    }
}

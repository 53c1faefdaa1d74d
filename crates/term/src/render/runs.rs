//! Groups adjacent cells that share a property, so that they can be drawn at once. Draws nothing.

use crate::screen::styled_screen::StyledCell;

/// Cells of one row, from the first to the last of a kind.
#[derive(Debug, PartialEq)]
pub(super) struct CellRun<'a, K> {
    pub(super) kind: K,
    pub(super) cells: &'a [StyledCell],
}

/// How a run treats cells without a kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RunGap {
    /// The run ends.
    Ends,
    /// The run continues after them.
    Bridged,
}

impl<K> CellRun<'_, K> {
    /// The column where it begins.
    pub(super) fn col(&self) -> u16 {
        self.cells.first().map_or(0, |cell| cell.col)
    }

    /// How many columns it takes.
    pub(super) fn cols(&self) -> u16 {
        self.cells.iter().map(|cell| cell.cols).sum()
    }
}

/// Splits a row into runs of a kind.
pub(super) fn runs<K: PartialEq>(
    cells: &[StyledCell],
    gap: RunGap,
    kind: impl Fn(&StyledCell) -> Option<K>,
) -> Vec<CellRun<'_, K>> {
    let mut runs: Vec<CellRun<'_, K>> = Vec::new();
    // The start of the last run, and the cell after it.
    let mut start = 0;
    let mut end = 0;
    for (at, cell) in cells.iter().enumerate() {
        let Some(kind) = kind(cell) else {
            continue;
        };
        match runs.last_mut() {
            Some(last) if last.kind == kind && (gap == RunGap::Bridged || end == at) => {
                last.cells = &cells[start..=at];
            }
            Some(_) | None => {
                start = at;
                runs.push(CellRun { kind, cells: &cells[at..=at] });
            }
        }
        end = at + 1;
    }
    runs
}

#[cfg(test)]
mod tests {
    use paned_model::Size;

    use super::*;
    use crate::Screen;

    /// The runs of equal characters, each as its column and its width.
    #[track_caller]
    fn check(output: &str, gap: RunGap, expect: &str) {
        let mut screen = Screen::new(Size { cols: 12, rows: 1 });
        screen.feed(output.as_bytes());
        let row = &screen.styled().rows[0];
        let runs = runs(row, gap, |cell| Some(cell.c).filter(|c| *c != ' '));
        let told = runs.iter().map(|run| format!("{}{}+{}", run.kind, run.col(), run.cols()));
        assert_eq!(told.collect::<Vec<_>>().join(" "), expect, "{output:?}");
    }

    #[test]
    fn a_run_ends_at_another_kind_or_a_gap() {
        check("aab a a", RunGap::Ends, "a0+2 b2+1 a4+1 a6+1");
        check("", RunGap::Ends, "");
    }

    #[test]
    fn a_bridged_run_ends_only_at_another_kind() {
        check(" aab a a ", RunGap::Bridged, "a1+2 b3+1 a5+3");
    }

    #[test]
    fn wide_characters_count_twice() {
        check("日日x", RunGap::Ends, "日0+4 x4+1");
    }
}

//! Tables: columns aligned by their widest cell, and fitted to the width of a terminal.
//!
//! In a terminal no row is ever wrapped: columns are left out in an order that each table gives,
//! then the last column is cut. Pipes get every column that is not for `--wide` alone, uncut.

use super::text::{StyledLine, TextStyle};
use super::width;

/// Between two columns.
const GAP: usize = 2;
/// The last column is rather kept this wide than another column is shown beside it.
const LAST_COLUMN: usize = 20;

/// Rows under a header. The last column is not padded.
pub(crate) struct TextTable {
    head: &'static [&'static str],
    rows: Vec<Vec<StyledLine>>,
    /// Columns that may be left out, the first of them first.
    dropped: &'static [&'static str],
    /// Columns that only `--wide` shows.
    wide: &'static [&'static str],
}

/// What a table may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableWidth {
    /// At most this many columns of a terminal.
    Fit(usize),
    /// As much as it needs, without the columns for `--wide`.
    Full,
    /// As much as it needs, with every column.
    Wide,
}

/// A column that is shown, and how wide it is.
#[derive(Clone, Copy)]
struct Column {
    index: usize,
    width: usize,
}

impl TextTable {
    /// A table with these columns, and one row of cells for each item.
    pub(crate) fn new<const N: usize, T>(
        head: &'static [&'static str; N],
        items: impl IntoIterator<Item = T>,
        row: impl Fn(T) -> [StyledLine; N],
    ) -> Self {
        let rows = items.into_iter().map(|item| row(item).into()).collect();
        Self { head, rows, dropped: &[], wide: &[] }
    }

    /// The same, leaving out these columns where there is no room, the first of them first.
    #[must_use]
    pub(crate) fn dropping(self, columns: &'static [&'static str]) -> Self {
        Self { dropped: columns, ..self }
    }

    /// The same, with these columns only in a wide table.
    #[must_use]
    pub(crate) fn only_wide(self, columns: &'static [&'static str]) -> Self {
        Self { wide: columns, ..self }
    }

    /// The lines of the table, the head first.
    pub(crate) fn lines(&self, width: TableWidth, colour: bool) -> Vec<String> {
        let columns = self.columns(width);
        let head: Vec<_> =
            self.head.iter().map(|name| StyledLine::new(TextStyle::Faint, name)).collect();
        let rows = std::iter::once(&head).chain(&self.rows);
        let lines = rows.map(|row| line(row, &columns));
        match width {
            TableWidth::Fit(most) => lines.map(|line| line.cut(most).render(colour)).collect(),
            TableWidth::Full | TableWidth::Wide => lines.map(|line| line.render(colour)).collect(),
        }
    }

    /// The columns to show.
    fn columns(&self, width: TableWidth) -> Vec<Column> {
        let is_shown = |name: &&str| width == TableWidth::Wide || !self.wide.contains(name);
        let names = self.head.iter().enumerate().filter(|(_, name)| is_shown(name));
        let mut columns: Vec<Column> =
            names.map(|(index, _)| Column { index, width: self.width(index) }).collect();
        if let TableWidth::Fit(most) = width {
            self.drop_columns(&mut columns, most);
            shrink(&mut columns, most);
        }
        columns
    }

    /// Leaves out columns until the last one has room, or none may be left out.
    fn drop_columns(&self, columns: &mut Vec<Column>, most: usize) {
        for name in self.dropped {
            if least(columns) <= most {
                return;
            }
            columns.retain(|column| self.head[column.index] != *name);
        }
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(StyledLine::width);
        cells.fold(width::of(self.head[column]), usize::max)
    }
}

/// The width that these columns take, without what can be cut off the last one.
fn least(columns: &[Column]) -> usize {
    let Some((last, others)) = columns.split_last() else { return 0 };
    others.iter().map(|column| column.width + GAP).sum::<usize>() + last.width.min(LAST_COLUMN)
}

/// Makes columns narrower until they fit: first the last one, then the widest.
fn shrink(columns: &mut [Column], most: usize) {
    let total = |columns: &[Column]| {
        columns.iter().map(|column| column.width + GAP).sum::<usize>().saturating_sub(GAP)
    };
    let Some((last, others)) = columns.split_last_mut() else { return };
    let before: usize = others.iter().map(|column| column.width + GAP).sum();
    // A quarter of a narrow terminal.
    let room = most.saturating_sub(before).max(last.width.min(LAST_COLUMN.min(most / 4)));
    last.width = last.width.min(room);
    while most < total(columns) {
        let Some(widest) = columns.iter_mut().max_by_key(|column| column.width) else { return };
        if widest.width <= 1 {
            return;
        }
        widest.width -= 1;
    }
}

/// One row, its cells cut and padded to the columns.
fn line(row: &[StyledLine], columns: &[Column]) -> StyledLine {
    let mut line = StyledLine::default();
    let mut owed = 0;
    for Column { index, width } in columns {
        let Some(cell) = row.get(*index) else { continue };
        let cell = cell.clone().cut(*width);
        let taken = cell.width();
        // Padding is written before the next text, so that no line ends with blanks.
        if 0 < taken {
            line = line.then(TextStyle::Plain, &" ".repeat(owed)).with(cell);
            owed = 0;
        }
        owed += width - taken + GAP;
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table() -> TextTable {
        let rows = [
            ["a".into(), StyledLine::new(TextStyle::Good, "running"), "80x24".into(), "top".into()],
            ["build-1".into(), "exited 1".into(), "".into(), "a\nb 漢字 and more".into()],
        ];
        TextTable::new(&["ID", "STATUS", "SIZE", "TITLE"], rows, |row| row).dropping(&["SIZE"])
    }

    #[track_caller]
    fn check(width: TableWidth, expect: [&str; 3]) {
        assert_eq!(table().lines(width, false), expect);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        check(
            TableWidth::Full,
            [
                "ID       STATUS    SIZE   TITLE",
                "a        running   80x24  top",
                "build-1  exited 1         a\\nb 漢字 and more",
            ],
        );
    }

    #[test]
    fn a_narrow_terminal_loses_columns_before_text() {
        check(
            TableWidth::Fit(40),
            [
                "ID       STATUS    TITLE",
                "a        running   top",
                "build-1  exited 1  a\\nb 漢字 and more",
            ],
        );
        check(
            TableWidth::Fit(30),
            [
                "ID       STATUS    TITLE",
                "a        running   top",
                "build-1  exited 1  a\\nb 漢字…",
            ],
        );
    }

    #[test]
    fn a_long_column_leaves_a_quarter_of_the_terminal_to_the_last() {
        let status = "exited 1  5m ago, restarts in 59s (the third time of at most five)";
        let row =
            ["web".into(), status.into(), "80x24".into(), "a title of thirty characters".into()];
        let table = TextTable::new(&["ID", "STATUS", "SIZE", "TITLE"], [row], |row| row);
        let lines = table.dropping(&["SIZE"]).lines(TableWidth::Fit(80), false);
        assert!(lines[1].ends_with("…  a title of thirty c…"), "{}", lines[1]);
    }

    #[test]
    fn columns_for_wide_tables_are_shown_there_only() {
        let table = table().only_wide(&["SIZE"]);
        assert_eq!(table.lines(TableWidth::Full, false)[0], "ID       STATUS    TITLE");
        assert_eq!(table.lines(TableWidth::Wide, false)[0], "ID       STATUS    SIZE   TITLE");
    }

    #[test]
    fn colour_does_not_move_columns() {
        let row = [StyledLine::new(TextStyle::Good, "x"), "y".into()];
        let table = TextTable::new(&["A", "B"], [row], |row| row);
        assert_eq!(table.lines(TableWidth::Full, true)[1], "\x1b[32mx\x1b[0m  y");
    }

    fn any_cell() -> impl Strategy<Value = String> {
        let piece =
            prop::sample::select(vec!["abc", " ", "漢字", "🦀", "e\u{301}", "❤\u{fe0f}", "\x1b["]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec([any_cell(), any_cell(), any_cell(), any_cell()], 0..6),
            most in 1_usize..120,
        ) {
            let rows = rows.into_iter().map(|row| row.map(StyledLine::from));
            let table = TextTable::new(&["ID", "STATUS", "SIZE", "TITLE"], rows, |row| row);
            let table = table.dropping(&["SIZE"]);
            for line in table.lines(TableWidth::Fit(most), false) {
                prop_assert!(width::of(&line) <= most, "{line:?} in {most}");
            }
        }
    }
}

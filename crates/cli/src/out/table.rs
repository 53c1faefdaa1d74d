//! Tables: columns aligned by their widest cell.

use super::text::{StyledLine, TextStyle};

/// Rows under a header. The last column is not padded.
pub(crate) struct TextTable {
    head: &'static [&'static str],
    rows: Vec<Vec<StyledLine>>,
}

impl TextTable {
    /// A table with these columns, and one row of cells for each item.
    pub(crate) fn new<const N: usize, T>(
        head: &'static [&'static str; N],
        items: impl IntoIterator<Item = T>,
        row: impl Fn(T) -> [StyledLine; N],
    ) -> Self {
        let rows = items.into_iter().map(|item| row(item).into()).collect();
        Self { head, rows }
    }

    /// The lines of the table, the head first.
    pub(crate) fn lines(&self, colour: bool) -> Vec<String> {
        let head: Vec<_> =
            self.head.iter().map(|name| StyledLine::new(TextStyle::Faint, name)).collect();
        let widths: Vec<_> = (0..self.head.len()).map(|column| self.width(column)).collect();
        let rows = std::iter::once(&head).chain(&self.rows);
        rows.map(|row| line(row, &widths, colour)).collect()
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(StyledLine::width);
        cells.fold(self.head[column].len(), usize::max)
    }
}

fn line(row: &[StyledLine], widths: &[usize], colour: bool) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line += &cell.render(colour);
        line += &" ".repeat(width - cell.width() + 2);
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            ["a".into(), StyledLine::new(TextStyle::Good, "running"), "top".into()],
            ["build-1".into(), "exited 1".into(), "a\nb".into()],
        ];
        let table = TextTable::new(&["ID", "STATUS", "TITLE"], rows, |row| row);
        let lines =
            ["ID       STATUS    TITLE", "a        running   top", "build-1  exited 1  a\\nb"];
        assert_eq!(table.lines(false), lines);
    }

    #[test]
    fn colour_does_not_move_columns() {
        let row = [StyledLine::new(TextStyle::Good, "x"), "y".into()];
        let table = TextTable::new(&["A", "B"], [row], |row| row);
        assert_eq!(table.lines(true)[1], "\x1b[32mx\x1b[0m  y");
    }
}

//! Tables: columns aligned by their widest cell.

use super::text::{StyledLine, TextStyle};

/// Rows under a header. The last column is not padded.
pub(crate) struct TextTable {
    head: &'static [&'static str],
    rows: Vec<Vec<StyledLine>>,
}

impl TextTable {
    /// A table with these columns.
    pub(crate) fn new(head: &'static [&'static str]) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// Adds a row, one cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<StyledLine>) {
        debug_assert_eq!(cells.len(), self.head.len());
        self.rows.push(cells);
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
        let mut table = TextTable::new(&["ID", "STATUS", "TITLE"]);
        table.row(vec!["a".into(), StyledLine::new(TextStyle::Good, "running"), "top".into()]);
        table.row(vec!["build-1".into(), "exited 1".into(), "a\nb".into()]);
        let lines =
            ["ID       STATUS    TITLE", "a        running   top", "build-1  exited 1  a\\nb"];
        assert_eq!(table.lines(false), lines);
    }

    #[test]
    fn colour_does_not_move_columns() {
        let mut table = TextTable::new(&["A", "B"]);
        table.row(vec![StyledLine::new(TextStyle::Good, "x"), "y".into()]);
        assert_eq!(table.lines(true)[1], "\x1b[32mx\x1b[0m  y");
    }
}

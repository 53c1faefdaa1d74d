//! What every picture shows, whatever draws it: the cells of a screen in their final colours, and the cursor.

use super::palette::{Paint, Palette};
use crate::Screen;
use crate::screen::Picture;
use crate::screen::picture::{Cell, Rgb};
use crate::screen::view::Shape;

/// A screen in its colours.
pub(super) struct Scene {
    pub(super) picture: Picture,
    pub(super) palette: Palette,
}

/// A cursor that is drawn over its cell.
pub(super) struct Stroke<'a> {
    pub(super) row: u16,
    pub(super) cell: &'a Cell,
    pub(super) colour: Rgb,
}

impl Scene {
    pub(super) fn of(screen: &Screen) -> Self {
        let picture = screen.picture();
        let palette = Palette::of(&picture);
        Self { picture, palette }
    }

    /// All cells, row by row.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u16, &Cell)> {
        let rows = (0..).zip(&self.picture.rows);
        rows.flat_map(|(row, cells)| cells.iter().map(move |cell| (row, cell)))
    }

    /// The colours of a cell, also under a cursor that fills it.
    pub(super) fn paint(&self, row: u16, cell: &Cell) -> Paint {
        let paint = self.palette.paint(&cell.look);
        if self.picture.cursor.shape == Shape::Block && self.has_cursor(row, cell) {
            return self.palette.under_cursor(paint);
        }
        paint
    }

    /// The cursor, if it is one that does not fill its cell.
    pub(super) fn stroke(&self) -> Option<Stroke<'_>> {
        if self.picture.cursor.shape == Shape::Block {
            return None;
        }
        let (row, cell) = self.cells().find(|(row, cell)| self.has_cursor(*row, cell))?;
        let colour = self.palette.cursor(self.palette.paint(&cell.look));
        Some(Stroke { row, cell, colour })
    }

    fn has_cursor(&self, row: u16, cell: &Cell) -> bool {
        let cursor = self.picture.cursor;
        cursor.visible && cursor.row == row && cell.span().contains(&cursor.col)
    }
}

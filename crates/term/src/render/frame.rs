//! The content of every picture, independent of the output format: the cells of a screen in their
//! final colours, and the cursor.

use super::palette::{CellPaint, Palette};
use crate::Screen;
use crate::screen::StyledScreen;
use crate::screen::styled_screen::{Rgb, StyledCell};
use crate::screen::view::ScreenCursorShape;

/// A screen with its colours resolved.
pub(super) struct RenderFrame {
    pub(super) screen: StyledScreen,
    pub(super) palette: Palette,
}

/// A cursor that is drawn over its cell.
pub(super) struct CursorStroke<'a> {
    pub(super) row: u16,
    pub(super) cell: &'a StyledCell,
    pub(super) colour: Rgb,
}

impl RenderFrame {
    pub(super) fn of(screen: &Screen) -> Self {
        let screen = screen.styled();
        let palette = Palette::of(&screen);
        Self { screen, palette }
    }

    /// All cells, row by row.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u16, &StyledCell)> {
        let rows = (0..).zip(&self.screen.rows);
        rows.flat_map(|(row, cells)| cells.iter().map(move |cell| (row, cell)))
    }

    /// The colours of a cell, including the effect of a block cursor.
    pub(super) fn paint(&self, row: u16, cell: &StyledCell) -> CellPaint {
        let paint = self.palette.paint(&cell.look);
        if self.screen.cursor.shape == ScreenCursorShape::Block && self.has_cursor(row, cell) {
            return self.palette.under_cursor(paint);
        }
        paint
    }

    /// The cursor, if it is not a block.
    pub(super) fn cursor_stroke(&self) -> Option<CursorStroke<'_>> {
        if self.screen.cursor.shape == ScreenCursorShape::Block {
            return None;
        }
        let (row, cell) = self.cells().find(|(row, cell)| self.has_cursor(*row, cell))?;
        let colour = self.palette.cursor(self.palette.paint(&cell.look));
        Some(CursorStroke { row, cell, colour })
    }

    fn has_cursor(&self, row: u16, cell: &StyledCell) -> bool {
        let cursor = self.screen.cursor;
        cursor.visible && cursor.row == row && cell.span().contains(&cursor.col)
    }
}

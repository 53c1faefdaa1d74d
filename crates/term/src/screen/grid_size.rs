//! A size in the form that the emulator needs.

use alacritty_terminal::grid::Dimensions;
use paned_model::Size;

/// A size in the form that the emulator needs: without scrollback rows.
pub(super) struct GridSize(pub(super) Size);

impl Dimensions for GridSize {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        self.0.rows.into()
    }

    fn columns(&self) -> usize {
        self.0.cols.into()
    }
}

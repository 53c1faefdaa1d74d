//! The size of a cell, and the lines within it. Knows nothing of screens.

use super::outline::Outline;

/// The size of one column and one row, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellSize {
    pub(super) width: u16,
    pub(super) height: u16,
}

impl CellSize {
    /// A cell of this height. Two of them side by side are a square.
    pub(super) const fn with_height(height: u16) -> Self {
        Self { width: height / 2, height }
    }

    /// The baseline of letters.
    pub(super) fn baseline(self) -> f32 {
        (f32::from(self.height) * 0.79).round()
    }

    /// The thickness of a light line.
    pub(super) fn light(self) -> u16 {
        (self.height / 14).max(1)
    }

    /// The thickness of a heavy line.
    pub(super) fn heavy(self) -> u16 {
        self.light() * 2
    }

    /// The width of this many columns.
    pub(super) fn span(self, cols: u16) -> f32 {
        f32::from(self.width) * f32::from(cols)
    }

    /// The rectangle of this many columns in one row.
    pub(super) fn outline(self, cols: u16) -> Outline {
        Outline::rect(0.0, 0.0, self.span(cols), self.height.into())
    }
}

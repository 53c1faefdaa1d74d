//! How large a cell is, and where in it things stand. Knows no screen.

use super::outline::Outline;

/// The size of one column and one row, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellSize {
    pub(super) width: u16,
    pub(super) height: u16,
}

impl CellSize {
    /// A cell this high. Two of them side by side are a square.
    pub(super) const fn with_height(height: u16) -> Self {
        Self { width: height / 2, height }
    }

    /// Where letters stand.
    pub(super) fn baseline(self) -> f32 {
        (f32::from(self.height) * 0.79).round()
    }

    /// How thick a thin line is.
    pub(super) fn light(self) -> u16 {
        (self.height / 14).max(1)
    }

    /// How thick a thick line is.
    pub(super) fn heavy(self) -> u16 {
        self.light() * 2
    }

    /// How wide so many columns are.
    pub(super) fn span(self, cols: u16) -> f32 {
        f32::from(self.width) * f32::from(cols)
    }

    /// So many columns of one row.
    pub(super) fn outline(self, cols: u16) -> Outline {
        Outline::rect(0.0, 0.0, self.span(cols), self.height.into())
    }
}

//! How a character is drawn in its cell: by geometry, from a font, or as missing. Knows nothing of
//! screens.

use super::cell_size::CellSize;
use super::font::GlyphId;
use super::font_set::{FontFace, FontSet};
use super::geometry::{self, GlyphShape};
use super::outline::Outline;
use crate::screen::styled_screen::{Rgb, StyledCell};

/// A character with its width and style.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GlyphRequest {
    pub(super) c: char,
    pub(super) cols: u16,
    pub(super) bold: bool,
    pub(super) italic: bool,
}

/// Where the shape of a character comes from.
pub(super) enum GlyphSource {
    /// Our own geometry.
    Shape(GlyphShape),
    /// A glyph of a font.
    Face(&'static FontFace, GlyphId),
    /// No font has it.
    Missing,
}

/// One shape of a character.
pub(super) struct Layer {
    pub(super) outline: Outline,
    /// Its own colour; `None` for that of the text.
    pub(super) colour: Option<Rgb>,
    /// From 0 to 1.
    pub(super) opacity: f32,
}

impl GlyphRequest {
    /// The character of a cell.
    pub(super) fn of(cell: &StyledCell) -> Self {
        let look = &cell.look;
        Self { c: cell.c, cols: cell.cols, bold: look.bold, italic: look.italic }
    }

    /// The glyphs to draw in a cell: its character, and those combining marks that have a shape.
    pub(super) fn all(cell: &StyledCell) -> impl Iterator<Item = Self> {
        let first = Self::of(cell);
        let mark = move |&c: &char| Self { c, ..first };
        let has_shape = |mark: &Self| FontSet::get().text(mark.bold).font.glyph(mark.c).is_some();
        let marks = cell.marks.iter().map(mark).filter(has_shape);
        Some(first).filter(|first| first.c != ' ').into_iter().chain(marks)
    }

    pub(super) fn source(self, cell: CellSize) -> GlyphSource {
        let shape = Some(self).filter(|it| it.cols == 1).and_then(|it| geometry::shape(it.c, cell));
        let face = || FontSet::get().find(self).map(|(face, glyph)| GlyphSource::Face(face, glyph));
        shape.map(GlyphSource::Shape).or_else(face).unwrap_or(GlyphSource::Missing)
    }

    pub(super) fn layers(self, cell: CellSize) -> Vec<Layer> {
        let plain = |outline| Layer { outline, colour: None, opacity: 1.0 };
        match self.source(cell) {
            GlyphSource::Shape(GlyphShape { outline, opacity }) => {
                vec![Layer { opacity, ..plain(outline) }]
            }
            GlyphSource::Face(face, glyph) => face.layers(glyph, self, cell),
            GlyphSource::Missing => vec![plain(geometry::missing_glyph(cell, self.cols))],
        }
    }
}

//! The compiled-in fonts, and which of them draws a character. See `fonts/README.md` for their
//! origin.
//!
//! No file is read at run time, and only the header of each face is parsed ahead: glyphs are looked
//! up in place.

use std::sync::OnceLock;

use super::cell_size::CellSize;
use super::font::{Font, GlyphId};
use super::glyph::{GlyphRequest, Layer};
use super::outline::{Outline, Point};

/// The shift of a slanted letter for each pixel of height.
const SLANT: f32 = 0.2;

/// A font and its drawn size.
pub(super) struct FontFace {
    pub(super) font: Font<'static>,
    /// The height of its em square, in columns.
    em: f32,
}

/// The faces; later ones cover characters that earlier ones lack.
pub(super) struct FontSet {
    pub(super) regular: FontFace,
    pub(super) bold: FontFace,
    pub(super) symbols: FontFace,
    pub(super) cjk: FontFace,
    emoji: FontFace,
}

impl FontSet {
    /// The faces, parsed once.
    pub(super) fn get() -> &'static Self {
        static FACES: OnceLock<FontSet> = OnceLock::new();
        FACES.get_or_init(Self::read)
    }

    fn read() -> Self {
        Self {
            // Its advance width is one column.
            regular: face(include_bytes!("../../fonts/DejaVuSansMono.ttf"), 2048.0 / 1233.0),
            bold: face(include_bytes!("../../fonts/DejaVuSansMono-Bold.ttf"), 2048.0 / 1233.0),
            symbols: face(include_bytes!("../../fonts/symbols.ttf"), 2048.0 / 1233.0),
            cjk: face(include_bytes!("../../fonts/cjk.ttf"), 1.9),
            emoji: face(include_bytes!("../../fonts/emoji.ttf"), 1.8),
        }
    }

    /// The face of most text.
    pub(super) fn text(&self, is_bold: bool) -> &FontFace {
        if is_bold { &self.bold } else { &self.regular }
    }

    /// The face that draws a character, and its glyph there.
    pub(super) fn find(&self, wanted: GlyphRequest) -> Option<(&FontFace, GlyphId)> {
        let text = self.text(wanted.bold);
        let order = match wanted.cols {
            2 => [&self.cjk, &self.emoji, text, &self.regular, &self.symbols],
            _ => [text, &self.regular, &self.symbols, &self.cjk, &self.emoji],
        };
        order.into_iter().find_map(|face| Some((face, face.font.glyph(wanted.c)?)))
    }
}

fn face(bytes: &'static [u8], em: f32) -> FontFace {
    let font = Font::parse(bytes).expect("a test reads every face");
    FontFace { font, em }
}

impl FontFace {
    /// Whether all its glyphs are as wide as a cell.
    pub(super) fn is_mono(&self) -> bool {
        self.font.is_mono()
    }

    /// Whether its glyphs have their own colours.
    pub(super) fn is_coloured(&self) -> bool {
        self.font.is_coloured()
    }

    /// The outlines of a glyph, placed in a cell.
    pub(super) fn layers(
        &self,
        glyph: GlyphId,
        wanted: GlyphRequest,
        cell: CellSize,
    ) -> Vec<Layer> {
        let layer =
            |glyph, colour| Layer { outline: self.font.outline(glyph), colour, opacity: 1.0 };
        let layers: Vec<Layer> = match self.font.colours(glyph) {
            Some(layers) => layers.iter().map(|(glyph, rgb)| layer(*glyph, Some(*rgb))).collect(),
            None => vec![layer(glyph, None)],
        };
        let place = self.place(glyph, wanted, cell);
        let is_faux_bold = wanted.bold && !self.font.is_bold() && !self.is_coloured();
        let placed = |layer: Layer| {
            let outline = layer.outline.map(&place);
            let outline = if is_faux_bold { embolden(outline, cell) } else { outline };
            Layer { outline, ..layer }
        };
        layers.into_iter().map(placed).collect()
    }

    /// The transformation from font units to a cell. A glyph that is too wide is scaled down.
    fn place(
        &self,
        glyph: GlyphId,
        wanted: GlyphRequest,
        cell: CellSize,
    ) -> impl Fn(Point) -> Point {
        let width = cell.span(wanted.cols);
        let advance = f32::from(self.font.advance(glyph)).max(1.0);
        let em = self.em * f32::from(cell.width) / f32::from(self.font.units_per_em());
        let scale = em.min(width / advance);
        let left = (width - advance * scale) / 2.0;
        let baseline = cell.baseline();
        let slant = if wanted.italic { SLANT } else { 0.0 };
        // Keeps the middle of a slanted letter in place.
        let lean = slant * baseline * -0.35;
        move |Point { x, y }| Point {
            x: left + lean + (x + y * slant) * scale,
            y: baseline - y * scale,
        }
    }
}

/// Synthetic bold for a face without a bold variant: the outline twice, slightly shifted.
fn embolden(outline: Outline, cell: CellSize) -> Outline {
    let shift = f32::from(cell.width) * 0.08;
    outline.clone().and(outline.map(|Point { x, y }| Point { x: x + shift, y }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_face_can_be_read() {
        let FontSet { regular, bold, symbols, cjk, emoji } = FontSet::read();
        assert!(regular.is_mono() && bold.is_mono() && bold.font.is_bold());
        assert!(!symbols.is_mono() && !cjk.is_mono());
        assert!(emoji.is_coloured());
    }

    /// The face that draws a character of this many columns.
    #[track_caller]
    fn check(c: char, cols: u16, expect: &str) {
        let faces = FontSet::get();
        let named = [
            (&faces.regular, "regular"),
            (&faces.symbols, "symbols"),
            (&faces.cjk, "cjk"),
            (&faces.emoji, "emoji"),
        ];
        let found = faces.find(GlyphRequest { c, cols, bold: false, italic: false }).map(|it| it.0);
        let name = named.iter().find(|it| found.is_some_and(|found| std::ptr::eq(found, it.0)));
        assert_eq!(name.map_or("none", |it| it.1), expect, "{c}");
    }

    #[test]
    fn each_character_has_its_face() {
        check('a', 1, "regular");
        check('☰', 1, "symbols");
        check('日', 2, "cjk");
        check('🦀', 2, "emoji");
        check('⚠', 1, "regular");
        check('한', 2, "cjk");
        check('ᄒ', 2, "cjk");
        check('鷗', 2, "cjk");
        check('ש', 1, "symbols");
        check('ก', 1, "none");
    }
}

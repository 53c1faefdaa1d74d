//! One font file: the glyph of a character, its width, and its outline. The only user of the font
//! library in this crate.

use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::pen::PathStyle;
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, MetadataProvider, OutlineGlyphCollection, Tag};

pub(super) use skrifa::GlyphId;

use super::outline::Outline;
use crate::screen::styled_screen::Rgb;

/// The palette entry that means the colour of the text.
const TEXT_COLOUR: u16 = 0xffff;
/// From this weight on a font is bold.
const BOLD: f32 = 600.0;

/// A font. Glyphs are looked up in place.
pub(super) struct Font<'a> {
    file: FontRef<'a>,
    characters: Charmap<'a>,
    outlines: OutlineGlyphCollection<'a>,
}

impl<'a> Font<'a> {
    /// `None` if the bytes are not a font.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let file = FontRef::new(bytes).ok()?;
        Some(Self { characters: file.charmap(), outlines: file.outline_glyphs(), file })
    }

    /// The glyph that draws a character.
    pub(super) fn glyph(&self, c: char) -> Option<GlyphId> {
        self.characters.map(c).filter(|glyph| glyph.to_u32() != 0)
    }

    /// The advance width of a glyph, in font units.
    pub(super) fn advance(&self, glyph: GlyphId) -> u16 {
        self.file.hmtx().ok().and_then(|table| table.advance(glyph)).unwrap_or(0)
    }

    /// The left side bearing of a glyph.
    pub(super) fn bearing(&self, glyph: GlyphId) -> i16 {
        self.file.hmtx().ok().and_then(|table| table.side_bearing(glyph)).unwrap_or(0)
    }

    /// The outline of a glyph, in font units, with the font's direction of y.
    pub(super) fn outline(&self, glyph: GlyphId) -> Outline {
        let mut outline = Outline::default();
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default())
            .with_path_style(PathStyle::HarfBuzz);
        if let Some(shape) = self.outlines.get(glyph) {
            // A glyph that cannot be drawn is blank.
            let _ = shape.draw(settings, &mut outline);
        }
        outline
    }

    /// The layers of a coloured glyph, the lowest first; `None` for one in the text's colour.
    /// Version 0 of `COLR` has only outlines in plain colours, and our font uses only that.
    pub(super) fn colours(&self, glyph: GlyphId) -> Option<Vec<(GlyphId, Rgb)>> {
        let table = self.file.colr().ok()?;
        let layer = |index: usize| {
            let (glyph, colour) = table.v0_layer(index)?;
            Some((GlyphId::from(glyph), self.colour(colour)))
        };
        Some(table.v0_base_glyph(glyph)?.filter_map(layer).collect())
    }

    /// An entry of the first palette.
    fn colour(&self, entry: u16) -> Rgb {
        let black = Rgb(0, 0, 0);
        let find = || {
            let palettes = self.file.cpal().ok().filter(|_| entry != TEXT_COLOUR)?;
            let first = palettes.color_record_indices().first()?.get();
            let colours = palettes.color_records_array()?.ok()?;
            let colour = colours.get(usize::from(first) + usize::from(entry))?;
            Some(Rgb(colour.red(), colour.green(), colour.blue()))
        };
        find().unwrap_or(black)
    }

    /// The size of the em square, in font units.
    pub(super) fn units_per_em(&self) -> u16 {
        self.file.head().map_or(1000, |table| table.units_per_em())
    }

    /// Whether all glyphs are equally wide.
    pub(super) fn is_mono(&self) -> bool {
        self.file.post().is_ok_and(|table| table.is_fixed_pitch() != 0)
    }

    pub(super) fn is_bold(&self) -> bool {
        BOLD <= self.file.attributes().weight.value()
    }

    /// Whether glyphs have their own colours.
    pub(super) fn is_coloured(&self) -> bool {
        self.file.colr().is_ok()
    }

    /// The raw bytes of a table; empty if there is none.
    pub(super) fn table(&self, tag: [u8; 4]) -> &'a [u8] {
        self.file.table_data(Tag::new(&tag)).map_or(&[], |data| data.as_bytes())
    }
}

/// Builds an outline in font units; see [`Outline::map`].
impl OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.begin(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.line(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.curve(x1, y1, x, y);
    }

    /// TrueType has no cubic curves, and all our fonts are TrueType.
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        self.line(x, y);
    }

    fn close(&mut self) {
        self.end();
    }
}

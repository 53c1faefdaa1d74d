//! One font file: which glyph draws a character, how wide it is, and its shape. All that this crate asks of a font library.

use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::pen::PathStyle;
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, MetadataProvider, OutlineGlyphCollection, Tag};

pub(super) use skrifa::GlyphId;

use super::outline::Outline;
use crate::screen::styled_screen::Rgb;

/// The palette entry that stands for the colour of the text.
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
    /// Nothing where the bytes are no font.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let file = FontRef::new(bytes).ok()?;
        Some(Self { characters: file.charmap(), outlines: file.outline_glyphs(), file })
    }

    /// The glyph that draws a character.
    pub(super) fn glyph(&self, c: char) -> Option<GlyphId> {
        self.characters.map(c).filter(|glyph| glyph.to_u32() != 0)
    }

    /// How wide a glyph is, in the units of the font.
    pub(super) fn advance(&self, glyph: GlyphId) -> u16 {
        self.file.hmtx().ok().and_then(|table| table.advance(glyph)).unwrap_or(0)
    }

    /// Where a glyph begins.
    pub(super) fn bearing(&self, glyph: GlyphId) -> i16 {
        self.file.hmtx().ok().and_then(|table| table.side_bearing(glyph)).unwrap_or(0)
    }

    /// The shape of a glyph, in the units and the direction of the font.
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

    /// The layers of a coloured glyph, the lowest first; nothing for one that takes the colour of the text. Version 0 of
    /// `COLR` has nothing but outlines in plain colours, and that is what our font has.
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

    /// The side of the em square, in the units of the font.
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

    /// Whether glyphs bring their own colours.
    pub(super) fn is_coloured(&self) -> bool {
        self.file.colr().is_ok()
    }

    /// A table as it is in the file; empty where there is none.
    pub(super) fn table(&self, tag: [u8; 4]) -> &'a [u8] {
        self.file.table_data(Tag::new(&tag)).map_or(&[], |data| data.as_bytes())
    }
}

/// Builds in the units and the direction of a font; see [`Outline::map`].
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

    /// TrueType has no such curve, and all our fonts are TrueType.
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        self.line(x, y);
    }

    fn close(&mut self) {
        self.end();
    }
}

//! Subsets a font to the glyphs that a picture shows, so that the picture can embed it. TrueType
//! in, TrueType out; hints and layout tables are dropped.

use std::collections::BTreeSet;
use std::ops::Range;

use super::font::{Font, GlyphId};

/// Flags of a component of a composite glyph.
const WORDS: u16 = 1 << 0;
const SCALE: u16 = 1 << 3;
const MORE: u16 = 1 << 5;
const TWO_SCALES: u16 = 1 << 6;
const MATRIX: u16 = 1 << 7;
const HINTS: u16 = 1 << 8;

/// The font with only these characters. Characters that it lacks are skipped.
pub(super) fn subset(font: &Font<'static>, characters: &BTreeSet<char>) -> Vec<u8> {
    let mut subset = Subset { font, glyphs: vec![GlyphId::NOTDEF] };
    let mapped: Vec<(char, u16)> =
        characters.iter().filter_map(|&c| Some((c, subset.number(font.glyph(c)?)))).collect();
    let (glyf, loca) = subset.outlines();
    file(&[
        (*b"OS/2", subset.table(b"OS/2").to_vec()),
        (*b"cmap", cmap(&mapped)),
        (*b"glyf", glyf),
        // Offsets are long now. Readers do not check the checksum of the whole file.
        (*b"head", with_word(subset.table(b"head"), 50, 1)),
        (*b"hhea", with_word(subset.table(b"hhea"), 34, subset.count())),
        (*b"hmtx", subset.advances()),
        (*b"loca", loca),
        (*b"maxp", with_word(subset.table(b"maxp"), 4, subset.count())),
        (*b"name", vec![0, 0, 0, 0, 0, 6]),
        // Version 3: glyphs have no names.
        (*b"post", [&[0, 3, 0, 0][..], &[0; 28]].concat()),
    ])
}

/// The glyphs that are kept, in their new order.
struct Subset<'a> {
    font: &'a Font<'static>,
    glyphs: Vec<GlyphId>,
}

impl Subset<'_> {
    /// The new id of a glyph.
    fn number(&mut self, glyph: GlyphId) -> u16 {
        let known = self.glyphs.iter().position(|&it| it == glyph);
        let number = known.unwrap_or_else(|| {
            self.glyphs.push(glyph);
            self.glyphs.len() - 1
        });
        u16::try_from(number).unwrap_or(0)
    }

    fn count(&self) -> u16 {
        u16::try_from(self.glyphs.len()).unwrap_or(u16::MAX)
    }

    /// All outlines, and the offset of each. Components of composite glyphs are appended to the
    /// list.
    fn outlines(&mut self) -> (Vec<u8>, Vec<u8>) {
        let mut glyf = Vec::new();
        let mut loca = vec![0; 4];
        let mut next = 0;
        while let Some(&glyph) = self.glyphs.get(next) {
            glyf.extend(self.outline(glyph).unwrap_or_default());
            glyf.resize(glyf.len().next_multiple_of(4), 0);
            loca.extend(u32::try_from(glyf.len()).unwrap_or(u32::MAX).to_be_bytes());
            next += 1;
        }
        (glyf, loca)
    }

    /// The outline of a glyph with new ids and without hints; `None` for a blank one.
    fn outline(&mut self, glyph: GlyphId) -> Option<Vec<u8>> {
        let data = self.table(b"glyf").get(self.range(glyph)?)?;
        let contours = word(data, 0)?.cast_signed();
        match usize::try_from(contours) {
            Ok(contours) => simple(data, contours),
            Err(_) => self.composed(data),
        }
    }

    fn composed(&mut self, data: &[u8]) -> Option<Vec<u8>> {
        let mut outline = data.to_vec();
        let mut at = 10;
        loop {
            let flags = word(data, at)?;
            let number = self.number(GlyphId::from(word(data, at + 2)?));
            put(&mut outline, at, flags & !HINTS);
            put(&mut outline, at + 2, number);
            at += part_length(flags);
            if flags & MORE == 0 {
                break;
            }
        }
        outline.truncate(at);
        Some(outline)
    }

    /// The position of a glyph's outline.
    fn range(&self, glyph: GlyphId) -> Option<Range<usize>> {
        let loca = self.table(b"loca");
        let glyph = usize::try_from(glyph.to_u32()).ok()?;
        let is_long = word(self.table(b"head"), 50)? == 1;
        let offset = |index: usize| {
            if is_long {
                let high = word(loca, index * 4)?;
                let low = word(loca, index * 4 + 2)?;
                return Some(usize::from(high) << 16 | usize::from(low));
            }
            Some(usize::from(word(loca, index * 2)?) * 2)
        };
        Some(offset(glyph)?..offset(glyph + 1)?)
    }

    /// The advance width and bearing of each glyph.
    fn advances(&self) -> Vec<u8> {
        let entry = |&glyph: &GlyphId| {
            let advance = self.font.advance(glyph).to_be_bytes();
            let bearing = self.font.bearing(glyph).to_be_bytes();
            [advance, bearing].concat()
        };
        self.glyphs.iter().flat_map(entry).collect()
    }

    fn table(&self, tag: &[u8; 4]) -> &'static [u8] {
        self.font.table(*tag)
    }
}

/// A simple glyph, without hints.
fn simple(data: &[u8], contours: usize) -> Option<Vec<u8>> {
    let at = 10 + 2 * contours;
    let hints = usize::from(word(data, at)?);
    Some([data.get(..at)?, &[0, 0], data.get(at + 2 + hints..)?].concat())
}

/// The length of a component's record.
fn part_length(flags: u16) -> usize {
    let offsets = if flags & WORDS == 0 { 2 } else { 4 };
    let scales = [(SCALE, 2), (TWO_SCALES, 4), (MATRIX, 8)];
    let scale = scales.into_iter().find(|(flag, _)| flags & flag != 0).map_or(0, |it| it.1);
    4 + offsets + scale
}

/// The character map: one group for each character, in format 12, which can hold all characters.
fn cmap(mapped: &[(char, u16)]) -> Vec<u8> {
    let count = u32::try_from(mapped.len()).unwrap_or(0);
    let mut table = vec![0, 0, 0, 1, 0, 3, 0, 10, 0, 0, 0, 12, 0, 12, 0, 0];
    for number in [16 + 12 * count, 0, count] {
        table.extend(number.to_be_bytes());
    }
    for &(c, glyph) in mapped {
        for number in [u32::from(c), u32::from(c), glyph.into()] {
            table.extend(number.to_be_bytes());
        }
    }
    table
}

/// A copy of a table with one number changed.
fn with_word(old: &[u8], at: usize, number: u16) -> Vec<u8> {
    let mut table = old.to_vec();
    put(&mut table, at, number);
    table
}

/// A font file of these tables, which are ordered by tag.
fn file(tables: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = u16::try_from(tables.len()).unwrap_or(0);
    let fitting = count.ilog2();
    let search = 16u16 << fitting;
    let mut file = vec![0, 1, 0, 0];
    for number in [count, search, fitting as u16, 16 * count - search] {
        file.extend(number.to_be_bytes());
    }
    let mut data = Vec::new();
    for (tag, table) in tables {
        let offset = 12 + 16 * tables.len() + data.len();
        file.extend(tag);
        for number in [checksum(table), length(offset), length(table.len())] {
            file.extend(number.to_be_bytes());
        }
        data.extend(table);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    file.extend(data);
    file
}

fn checksum(table: &[u8]) -> u32 {
    let words = table.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_be_bytes(word)
    });
    words.fold(0, u32::wrapping_add)
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn word(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*data.get(at..)?.first_chunk()?))
}

fn put(data: &mut [u8], at: usize, number: u16) {
    if let Some(target) = data.get_mut(at..at + 2) {
        target.copy_from_slice(&number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::font_set::FontSet;
    use super::*;

    /// The glyphs of these characters come out as they went in.
    #[track_caller]
    fn check(text: &str) {
        let font = &FontSet::get().regular.font;
        let bytes = subset(font, &text.chars().collect());
        let small = Font::parse(&bytes).unwrap();
        for c in text.chars() {
            let (old, new) = (font.glyph(c).unwrap(), small.glyph(c).unwrap());
            assert_eq!(small.outline(new), font.outline(old), "{c}");
            assert_eq!(small.advance(new), font.advance(old), "{c}");
        }
        assert!(bytes.len() < 2000 + 500 * text.len(), "{} bytes", bytes.len());
    }

    #[test]
    fn glyphs_stay_what_they_are() {
        check("Hello, world");
    }

    #[test]
    fn composed_glyphs_bring_their_parts() {
        check("éüÅñ→");
    }

    #[test]
    fn unknown_characters_are_left_out() {
        let font = &FontSet::get().regular.font;
        let bytes = subset(font, &['a', '日'].into());
        assert_eq!(Font::parse(&bytes).unwrap().glyph('日'), None);
    }
}

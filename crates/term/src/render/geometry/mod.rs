//! Characters that are drawn by geometry, not from a font: lines and blocks that must meet those of
//! the next cell exactly, and a few symbols that our fonts lack.

mod blocks;
mod boxes;
pub(super) mod strokes;
mod symbols;

use super::cell_size::CellSize;
use super::outline::Outline;

/// The shape of a character in its cell.
pub(super) struct GlyphShape {
    pub(super) outline: Outline,
    /// From 0 to 1; less than 1 for the shades.
    pub(super) opacity: f32,
}

impl From<Outline> for GlyphShape {
    fn from(outline: Outline) -> Self {
        Self { outline, opacity: 1.0 }
    }
}

/// Draws a character of one column; `None` if it comes from a font.
pub(super) fn shape(c: char, cell: CellSize) -> Option<GlyphShape> {
    match c {
        '\u{2500}'..='\u{257f}' => boxes::outline(c, cell).map(GlyphShape::from),
        '\u{2580}'..='\u{259f}' => Some(blocks::shape(c, cell)),
        '\u{2800}'..='\u{28ff}' => Some(blocks::braille(c, cell).into()),
        _ => symbols::outline(c, cell).map(GlyphShape::from),
    }
}

/// The replacement for a character that no font has: an empty frame.
pub(super) fn missing_glyph(cell: CellSize, cols: u16) -> Outline {
    let width = cell.span(cols);
    let height = f32::from(cell.height);
    let thick = f32::from(cell.light());
    let left = width * 0.1;
    let right = width * 0.9;
    let top = (height * 0.15).round();
    let bottom = cell.baseline();
    Outline::rect(left, top, right, top + thick)
        .and(Outline::rect(left, bottom - thick, right, bottom))
        .and(Outline::rect(left, top, left + thick, bottom))
        .and(Outline::rect(right - thick, top, right, bottom))
}

#[cfg(test)]
mod tests {
    use super::super::raster::Mask;
    use super::*;

    const CELL: CellSize = CellSize::with_height(14);

    /// The covered pixels of a character, row by row.
    fn drawn(c: char) -> Vec<String> {
        let GlyphShape { outline, .. } = shape(c, CELL).unwrap();
        let mask = Mask::fill(&outline, CELL.width.into(), CELL.height.into());
        let mark = |cover: &u8| if *cover < 128 { '.' } else { '#' };
        mask.cover.chunks(mask.width).map(|row| row.iter().map(mark).collect()).collect()
    }

    /// Two characters side by side: the last column of one and the first of the other.
    #[track_caller]
    fn check_beside(left: char, right: char) {
        let (left_edge, right_edge): (Vec<_>, Vec<_>) = drawn(left)
            .iter()
            .zip(drawn(right))
            .map(|(a, b)| (a.ends_with('#'), b.starts_with('#')))
            .unzip();
        assert_eq!(left_edge, right_edge, "{left}{right}");
        assert!(left_edge.contains(&true), "{left}{right}");
    }

    #[track_caller]
    fn check_below(top: char, bottom: char) {
        let edge = drawn(top)[drawn(top).len() - 1].clone();
        assert_eq!(edge, drawn(bottom)[0], "{top} over {bottom}");
        assert!(edge.contains('#'), "{top} over {bottom}");
    }

    #[test]
    fn lines_meet_those_of_the_next_cell() {
        for (left, right) in "─┌╭╰├┼━═╔╠▀".chars().zip("─┐╮╯┤─┓╗═╣▀".chars())
        {
            check_beside(left, right);
        }
        for (top, bottom) in "│┌╭╮┬┏║╦█".chars().zip("│└╰╯┴┗╚╩█".chars())
        {
            check_below(top, bottom);
        }
    }

    #[test]
    fn double_lines_turn_inside_the_corner() {
        let rows = drawn('╗');
        assert_eq!(rows[4..9], [".......", "#####..", "....#..", "###.#..", "..#.#.."]);
        assert_eq!(drawn('╬')[5..8], ["###.###", ".......", "###.###"]);
    }

    #[test]
    fn a_line_ends_at_the_wall_or_goes_through() {
        assert_eq!(drawn('╢')[6], "###.#..");
        assert_eq!(drawn('╫')[6], "#######");
        assert_eq!(drawn('╳')[7], "...#...");
    }

    #[test]
    fn blocks_fill_their_part() {
        let filled = |c: char| drawn(c).concat().matches('#').count();
        assert_eq!((filled('█'), filled('▄'), filled('▌')), (98, 49, 56));
        assert_eq!((filled('⠀'), filled('⣿')), (0, 8));
    }

    #[test]
    fn every_character_of_the_blocks_is_drawn() {
        for c in ('\u{2500}'..='\u{259f}').chain('\u{2801}'..='\u{28ff}') {
            assert!(!shape(c, CELL).unwrap().outline.is_empty(), "{c}");
        }
    }
}

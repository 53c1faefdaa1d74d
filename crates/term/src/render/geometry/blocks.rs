//! Block elements, U+2580 to U+259F, and braille, U+2800 to U+28FF: parts of a cell, filled.

use super::super::cell_size::CellSize;
use super::super::outline::Outline;
use super::GlyphShape;

/// Which quarters are filled, from U+2596: upper left, upper right, lower left, lower right.
const QUARTERS: [[bool; 4]; 10] = {
    const O: bool = false;
    const X: bool = true;
    [
        [O, O, X, O],
        [O, O, O, X],
        [X, O, O, O],
        [X, O, X, X],
        [X, O, O, X],
        [X, X, X, O],
        [X, X, O, X],
        [O, X, O, O],
        [O, X, X, O],
        [O, X, X, X],
    ]
};

/// The column and row of each dot of braille, in the order of the bits.
const DOTS: [(u16, u16); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];

/// A part of a cell in eighths: left, upper, right, lower edge.
type Eighths = [u16; 4];

/// Draws a block element.
pub(super) fn shape(c: char, cell: CellSize) -> GlyphShape {
    let n = u16::try_from(c as u32 & 0x1f).unwrap_or(0);
    let eighths = match n {
        0x00 => [0, 0, 8, 4],
        0x01..=0x08 => [0, 8 - n, 8, 8],
        0x09..=0x0f => [0, 0, 16 - n, 8],
        0x10 => [4, 0, 8, 8],
        0x11..=0x13 => {
            return GlyphShape { outline: cell.outline(1), opacity: f32::from(n - 0x10) / 4.0 };
        }
        0x14 => [0, 0, 8, 1],
        0x15 => [7, 0, 8, 8],
        _ => return quarters(QUARTERS[usize::from(n - 0x16)], cell).into(),
    };
    part(eighths, cell).into()
}

/// Draws the dots of braille.
pub(super) fn braille(c: char, cell: CellSize) -> Outline {
    let size = (cell.width / 5).max(1);
    let dot = |(col, row): (u16, u16)| {
        let left = cell.width * (2 * col + 1) / 4 - size / 2;
        let top = cell.height * (2 * row + 1) / 8 - size / 2;
        Outline::rect(left.into(), top.into(), (left + size).into(), (top + size).into())
    };
    let is_set = |bit: &usize| c as u32 >> bit & 1 == 1;
    (0..8).filter(is_set).map(|bit| dot(DOTS[bit])).fold(Outline::default(), Outline::and)
}

fn quarters(filled: [bool; 4], cell: CellSize) -> Outline {
    let quarters = [[0, 0, 4, 4], [4, 0, 8, 4], [0, 4, 4, 8], [4, 4, 8, 8]];
    let filled = quarters.into_iter().zip(filled).filter(|(_, filled)| *filled);
    filled.map(|(quarter, _)| part(quarter, cell)).fold(Outline::default(), Outline::and)
}

/// Rounded to whole pixels, so that no seam shows between two parts.
fn part([left, top, right, bottom]: Eighths, cell: CellSize) -> Outline {
    let at = |eighths: u16, length: u16| f32::from((eighths * length + 4) / 8);
    Outline::rect(
        at(left, cell.width),
        at(top, cell.height),
        at(right, cell.width),
        at(bottom, cell.height),
    )
}

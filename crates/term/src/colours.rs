//! The colour palette: sixteen colours of our own that read well on a dark background, and the cube
//! and greys of xterm.
//!
//! Replies to colour queries and rendered pictures use the same table.

use crate::screen::styled_screen::Rgb;

/// The default text colour.
pub(crate) const FOREGROUND: Rgb = Rgb(0xd4, 0xd7, 0xdd);
/// The default background.
pub(crate) const BACKGROUND: Rgb = Rgb(0x14, 0x16, 0x1b);

/// The eight named colours, then their bright variants.
const NAMED: [Rgb; 16] = [
    Rgb(0x1d, 0x20, 0x27),
    Rgb(0xc9, 0x46, 0x4e),
    Rgb(0x56, 0xb3, 0x5f),
    Rgb(0xd0, 0xa7, 0x40),
    Rgb(0x3a, 0x72, 0xd0),
    Rgb(0xa8, 0x60, 0xca),
    Rgb(0x35, 0xa7, 0xb8),
    Rgb(0xc9, 0xcd, 0xd4),
    Rgb(0x6b, 0x72, 0x80),
    Rgb(0xff, 0x7b, 0x80),
    Rgb(0x8b, 0xe5, 0x8a),
    Rgb(0xf7, 0xd7, 0x74),
    Rgb(0x7f, 0xb0, 0xff),
    Rgb(0xd9, 0xa6, 0xf7),
    Rgb(0x7c, 0xe0, 0xea),
    Rgb(0xf5, 0xf7, 0xfa),
];

/// The colour at an index below 256.
pub(crate) fn indexed(index: usize) -> Rgb {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match index {
        0..16 => NAMED[index],
        16..232 => {
            let cube = index - 16;
            Rgb(STEPS[cube / 36], STEPS[cube / 6 % 6], STEPS[cube % 6])
        }
        _ => {
            let level = u8::try_from(8 + 10 * (index - 232)).unwrap_or(u8::MAX);
            Rgb(level, level, level)
        }
    }
}

//! The fast path for `CSI m`: applies the common parameters to the style of what is printed next.

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

const FOREGROUND: Color = Color::Named(NamedColor::Foreground);
const BACKGROUND: Color = Color::Named(NamedColor::Background);

/// The colours that have a parameter of their own.
const NAMED: [NamedColor; 16] = [
    NamedColor::Black,
    NamedColor::Red,
    NamedColor::Green,
    NamedColor::Yellow,
    NamedColor::Blue,
    NamedColor::Magenta,
    NamedColor::Cyan,
    NamedColor::White,
    NamedColor::BrightBlack,
    NamedColor::BrightRed,
    NamedColor::BrightGreen,
    NamedColor::BrightYellow,
    NamedColor::BrightBlue,
    NamedColor::BrightMagenta,
    NamedColor::BrightCyan,
    NamedColor::BrightWhite,
];

/// Applies the parameters to the cell's style; returns whether all of them were common. If not, the
/// cell is unchanged.
pub(super) fn apply_sgr(cell: &mut Cell, params: &[u16]) -> bool {
    let mut style = SgrStyle { fg: cell.fg, bg: cell.bg, flags: cell.flags, resets: false };
    if style.read(params).is_none() {
        return false;
    }
    let SgrStyle { fg, bg, flags, resets } = style;
    cell.fg = fg;
    cell.bg = bg;
    cell.flags = flags;
    if resets && cell.extra.is_some() {
        cell.set_underline_color(None);
    }
    true
}

struct SgrStyle {
    fg: Color,
    bg: Color,
    flags: Flags,
    /// Whether everything was reset, including what the cell stores apart from its style.
    resets: bool,
}

impl SgrStyle {
    /// Applies all parameters, if each of them is common.
    fn read(&mut self, mut params: &[u16]) -> Option<()> {
        while let [first, rest @ ..] = params {
            params = rest;
            let index = usize::from(first % 10);
            match first {
                0 => {
                    *self =
                        Self { fg: FOREGROUND, bg: BACKGROUND, flags: Flags::empty(), resets: true }
                }
                1 => self.flags.insert(Flags::BOLD),
                2 => self.flags.insert(Flags::DIM),
                3 => self.flags.insert(Flags::ITALIC),
                4 => {
                    self.flags.remove(Flags::ALL_UNDERLINES);
                    self.flags.insert(Flags::UNDERLINE);
                }
                7 => self.flags.insert(Flags::INVERSE),
                9 => self.flags.insert(Flags::STRIKEOUT),
                22 => self.flags.remove(Flags::BOLD | Flags::DIM),
                23 => self.flags.remove(Flags::ITALIC),
                24 => self.flags.remove(Flags::ALL_UNDERLINES),
                27 => self.flags.remove(Flags::INVERSE),
                29 => self.flags.remove(Flags::STRIKEOUT),
                30..=37 => self.fg = Color::Named(NAMED[index]),
                38 => (self.fg, params) = colour(rest)?,
                39 => self.fg = FOREGROUND,
                40..=47 => self.bg = Color::Named(NAMED[index]),
                48 => (self.bg, params) = colour(rest)?,
                49 => self.bg = BACKGROUND,
                90..=97 => self.fg = Color::Named(NAMED[8 + index]),
                100..=107 => self.bg = Color::Named(NAMED[8 + index]),
                _ => return None,
            }
        }
        Some(())
    }
}

/// An indexed or RGB colour, and the parameters after it.
fn colour(params: &[u16]) -> Option<(Color, &[u16])> {
    let part = |value: u16| u8::try_from(value).ok();
    match *params {
        [5, index, ref rest @ ..] => Some((Color::Indexed(part(index)?), rest)),
        [2, r, g, b, ref rest @ ..] => {
            Some((Color::Spec(Rgb { r: part(r)?, g: part(g)?, b: part(b)? }), rest))
        }
        _ => None,
    }
}

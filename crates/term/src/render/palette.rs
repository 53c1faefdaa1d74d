//! The colours of one screen: the default palette, the program's changes, and how a cell's style
//! combines them.

use crate::colours::{BACKGROUND, FOREGROUND, indexed};
use crate::screen::StyledScreen;
use crate::screen::styled_screen::{CellStyle, Colour, PaletteSlot, Rgb};

/// The opacity of dim text.
const DIM: u8 = 153;

/// The colours of one screen: the default palette with the program's changes.
pub(super) struct Palette {
    indexed: [Rgb; 256],
    /// The colours of a cell without colours of its own.
    foreground: Rgb,
    behind: Rgb,
    /// The screen's background, and the default colour of the cursor; both account for reverse
    /// video.
    pub(super) background: Rgb,
    usual_cursor: Rgb,
    cursor: Option<Rgb>,
}

/// The colours of a cell's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellPaint {
    /// Of the character.
    pub(super) foreground: Rgb,
    /// Behind it.
    pub(super) background: Rgb,
    /// Of the line under it.
    pub(super) underline: Rgb,
}

impl Palette {
    pub(super) fn of(picture: &StyledScreen) -> Self {
        let mut palette = Self {
            indexed: std::array::from_fn(indexed),
            foreground: FOREGROUND,
            behind: BACKGROUND,
            background: BACKGROUND,
            usual_cursor: FOREGROUND,
            cursor: None,
        };
        for &(slot, colour) in &picture.palette_changes {
            match slot {
                PaletteSlot::Indexed(index) => palette.indexed[usize::from(index)] = colour,
                PaletteSlot::Foreground => palette.foreground = colour,
                PaletteSlot::Background => palette.behind = colour,
                PaletteSlot::Cursor => palette.cursor = Some(colour),
            }
        }
        let fg = palette.foreground;
        let bg = palette.behind;
        (palette.usual_cursor, palette.background) =
            if picture.reversed { (bg, fg) } else { (fg, bg) };
        palette
    }

    pub(super) fn paint(&self, style: &CellStyle) -> CellPaint {
        let fg = self.colour(style.fg, self.foreground);
        let bg = self.colour(style.bg, self.behind);
        let (foreground, background) = if style.inverse { (bg, fg) } else { (fg, bg) };
        let foreground = if style.dim { mix(background, foreground, DIM) } else { foreground };
        let underline =
            style.underline_colour.map_or(foreground, |colour| self.colour(colour, foreground));
        CellPaint { foreground, background, underline }
    }

    /// A cell under a block cursor.
    pub(super) fn under_cursor(&self, paint: CellPaint) -> CellPaint {
        CellPaint {
            foreground: paint.background,
            background: self.cursor(paint),
            underline: paint.background,
        }
    }

    /// The cursor's colour over a cell. It is visible on every background, whatever the program
    /// chose.
    pub(super) fn cursor(&self, paint: CellPaint) -> Rgb {
        let colour = self.cursor.unwrap_or(self.usual_cursor);
        if colour == paint.background { paint.foreground } else { colour }
    }

    fn colour(&self, colour: Colour, default: Rgb) -> Rgb {
        match colour {
            Colour::Default => default,
            Colour::Indexed(index) => self.indexed[usize::from(index)],
            Colour::Rgb(rgb) => rgb,
        }
    }
}

/// Blends the second colour over the first; opacity 0 is none of it, 255 is only it.
pub(super) fn mix(under: Rgb, over: Rgb, opacity: u8) -> Rgb {
    let opacity = u32::from(opacity);
    let transparency = 255 - opacity;
    // The result is never larger than the larger of the two.
    let mix = |under: u8, over: u8| {
        ((u32::from(under) * transparency + u32::from(over) * opacity + 127) / 255) as u8
    };
    Rgb(mix(under.0, over.0), mix(under.1, over.1), mix(under.2, over.2))
}

#[cfg(test)]
mod tests {
    use paned_model::Size;

    use super::*;
    use crate::Screen;

    /// Ink and background of the first cell, as `#rrggbb on #rrggbb`.
    #[track_caller]
    fn check(output: &str, expect: &str) {
        let mut screen = Screen::new(Size { cols: 4, rows: 1 });
        screen.feed(output.as_bytes());
        let picture = screen.styled();
        let paint = Palette::of(&picture).paint(&picture.rows[0][0].look);
        let hex = |Rgb(r, g, b): Rgb| format!("#{r:02x}{g:02x}{b:02x}");
        assert_eq!(
            format!("{} on {}", hex(paint.foreground), hex(paint.background)),
            expect,
            "{output:?}"
        );
    }

    #[test]
    fn names_indexes_and_exact_colours_are_found() {
        check("x", "#d4d7dd on #14161b");
        check("\x1b[31;104mx", "#c9464e on #7fb0ff");
        check("\x1b[38;5;208;48;5;232mx", "#ff8700 on #080808");
        check("\x1b[38;2;1;2;3;48;5;255mx", "#010203 on #eeeeee");
    }

    #[test]
    fn inverse_swaps_and_dim_fades() {
        check("\x1b[7mx", "#14161b on #d4d7dd");
        check("\x1b[2;38;2;100;100;100;48;2;0;0;0mx", "#3c3c3c on #000000");
    }

    #[test]
    fn a_reversed_screen_swaps_the_colours_of_every_cell_and_behind_them() {
        check("\x1b[?5hx", "#14161b on #d4d7dd");
        check("\x1b[?5h\x1b[7mx", "#d4d7dd on #14161b");
        check("\x1b[?5h\x1b[38;2;1;2;3;48;2;4;5;6mx", "#040506 on #010203");
        check("\x1b[?5hx\x1b[?5l", "#d4d7dd on #14161b");
        check("\x1b[?5h\x1bcx", "#d4d7dd on #14161b");
        let mut screen = Screen::new(Size { cols: 4, rows: 1 });
        screen.feed(b"\x1b]10;#010203\x07\x1b[?5h");
        assert_eq!(Palette::of(&screen.styled()).background, Rgb(1, 2, 3));
    }

    #[test]
    fn colours_that_the_program_changed_are_used() {
        check("\x1b]4;1;#010203\x07\x1b]11;#040506\x07\x1b[31mx", "#010203 on #040506");
    }
}

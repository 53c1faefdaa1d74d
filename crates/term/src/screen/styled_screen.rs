//! What a user would see, with colours: a screen as cells. The plain text is in
//! [`ScreenView`](super::ScreenView).

use std::ops::Range;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::cell::{self, Flags};
use alacritty_terminal::vte::ansi::{self, NamedColor};
use paned_model::Size;

use super::handler::TermHandler;
use super::view::Cursor;
use super::{Screen, rows, view};

/// A snapshot of a screen, cell by cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledScreen {
    /// Its size.
    pub size: Size,
    /// Each row from left to right; the columns of its cells add up to the columns of the screen.
    pub rows: Vec<Vec<StyledCell>>,
    /// The cursor.
    pub cursor: Cursor,
    /// The window title that the program has set; empty if none.
    pub title: String,
    /// The colours that the program has changed.
    pub palette_changes: Vec<(PaletteSlot, Rgb)>,
    /// Whether foreground and background are swapped on the whole screen. The styles of the cells
    /// already include it.
    pub reversed: bool,
}

/// A character, its combining marks and its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledCell {
    /// Its first column.
    pub col: u16,
    /// How many columns it takes: one or two.
    pub cols: u16,
    /// The character; a space for a blank cell and for half of a wide one.
    pub c: char,
    /// The zero-width characters that follow it.
    pub marks: Vec<char>,
    /// How it is drawn.
    pub look: CellStyle,
}

/// How a cell is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellStyle {
    /// The colour of the character.
    pub fg: Colour,
    /// The colour behind it.
    pub bg: Colour,
    /// The line under it.
    pub underline: Underline,
    /// The colour of that line, if it is not the character's.
    pub underline_colour: Option<Colour>,
    /// Whether it is bold.
    pub bold: bool,
    /// Whether it is faint.
    pub dim: bool,
    /// Whether it is italic.
    pub italic: bool,
    /// Whether the two colours are swapped.
    pub inverse: bool,
    /// Whether only its background is shown.
    pub hidden: bool,
    /// Whether it is struck through.
    pub strike: bool,
}

/// A colour as programs set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// The default colour.
    #[default]
    Default,
    /// An index into the palette.
    Indexed(u8),
    /// An RGB colour.
    Rgb(Rgb),
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// A colour that a program can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaletteSlot {
    /// An index into the palette.
    Indexed(u8),
    /// The default text colour.
    Foreground,
    /// The default background.
    Background,
    /// The cursor's colour.
    Cursor,
}

/// A line under a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Underline {
    /// None.
    #[default]
    None,
    /// A line.
    Single,
    /// Two lines.
    Double,
    /// A wave.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

impl Screen {
    /// What a user would see, with colours.
    #[must_use]
    pub fn styled(&self) -> StyledScreen {
        let view::ScreenView { size, cursor, title, .. } = self.view();
        let reversed = self.handler.reversed;
        let mut rows: Vec<_> =
            (0..size.rows.into()).map(|row| row_at(&self.handler, row)).collect();
        if reversed {
            rows.iter_mut().flatten().for_each(|cell: &mut StyledCell| cell.look.inverse ^= true);
        }
        StyledScreen {
            size,
            rows,
            cursor,
            title,
            palette_changes: palette_changes(&self.handler),
            reversed,
        }
    }
}

impl Screen {
    /// The column of each character of each row, and what `describe` returns for its style. The
    /// characters are those of the rows in [`ScreenView`](super::ScreenView). Cheaper than a
    /// [`StyledScreen`]: `describe` is called once for neighbours with the same colours and flags.
    pub fn char_styles<T: Copy>(&self, describe: impl Fn(&CellStyle) -> T) -> Vec<Vec<(u16, T)>> {
        let rows = self.handler.term.grid().screen_lines();
        (0..rows).map(|row| drawn(rows::cells(self.handler.term.grid(), row), &describe)).collect()
    }
}

fn drawn<T: Copy>(cells: &[cell::Cell], describe: impl Fn(&CellStyle) -> T) -> Vec<(u16, T)> {
    let mut row = Vec::new();
    let mut last: Option<(&cell::Cell, T)> = None;
    for (col, cell) in view::text_cells(cells) {
        let is_alike =
            |old: &cell::Cell| old.fg == cell.fg && old.bg == cell.bg && old.flags == cell.flags;
        let value = match last.filter(|(old, _)| is_alike(old)) {
            Some((_, value)) => value,
            None => describe(&style_of(cell)),
        };
        last = Some((cell, value));
        let col = u16::try_from(col).unwrap_or(u16::MAX);
        let marks = cell.zerowidth().map_or(0, <[char]>::len);
        row.extend(std::iter::repeat_n((col, value), 1 + marks));
    }
    row
}

impl StyledCell {
    /// The columns that it covers.
    #[must_use]
    pub fn span(&self) -> Range<u16> {
        self.col..self.col + self.cols
    }
}

fn row_at(handler: &TermHandler, row: usize) -> Vec<StyledCell> {
    let cells = rows::cells(handler.term.grid(), row);
    let mut row: Vec<StyledCell> = Vec::with_capacity(cells.len());
    let mut col = 0;
    while let Some(cell) = cells.get(col) {
        row.push(cell_at(cell, cells.get(col + 1), col));
        col += usize::from(row[row.len() - 1].cols);
    }
    row
}

fn cell_at(cell: &cell::Cell, next: Option<&cell::Cell>, col: usize) -> StyledCell {
    let has_spacer = next.is_some_and(|next| next.flags.contains(Flags::WIDE_CHAR_SPACER));
    let is_wide = cell.flags.contains(Flags::WIDE_CHAR);
    let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
    let is_half = cell.flags.intersects(spacers) || (is_wide && !has_spacer);
    let is_blank = is_half || cell.c == '\t';
    let marks = cell.zerowidth().filter(|_| !is_half).unwrap_or_default();
    StyledCell {
        col: u16::try_from(col).unwrap_or(u16::MAX),
        cols: if is_wide && has_spacer { 2 } else { 1 },
        c: if is_blank { ' ' } else { cell.c },
        marks: marks.to_vec(),
        look: style_of(cell),
    }
}

fn style_of(cell: &cell::Cell) -> CellStyle {
    let has = |flag| cell.flags.contains(flag);
    CellStyle {
        fg: colour(cell.fg),
        bg: colour(cell.bg),
        underline: underline(cell.flags),
        underline_colour: cell.underline_color().map(colour),
        bold: has(Flags::BOLD),
        dim: has(Flags::DIM),
        italic: has(Flags::ITALIC),
        inverse: has(Flags::INVERSE),
        hidden: has(Flags::HIDDEN),
        strike: has(Flags::STRIKEOUT),
    }
}

fn underline(flags: Flags) -> Underline {
    let kinds = [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ];
    kinds.into_iter().find(|(flag, _)| flags.contains(*flag)).map_or(Underline::None, |it| it.1)
}

/// Besides the defaults, cells contain only the sixteen named colours.
fn colour(colour: ansi::Color) -> Colour {
    match colour {
        ansi::Color::Named(name) => {
            u8::try_from(name as usize).map_or(Colour::Default, Colour::Indexed)
        }
        ansi::Color::Indexed(index) => Colour::Indexed(index),
        ansi::Color::Spec(ansi::Rgb { r, g, b }) => Colour::Rgb(Rgb(r, g, b)),
    }
}

fn palette_changes(handler: &TermHandler) -> Vec<(PaletteSlot, Rgb)> {
    let colours = handler.term.colors();
    let named = [
        (PaletteSlot::Foreground, NamedColor::Foreground),
        (PaletteSlot::Background, NamedColor::Background),
        (PaletteSlot::Cursor, NamedColor::Cursor),
    ];
    let indexed =
        (0..=u8::MAX).map(|index| (PaletteSlot::Indexed(index), colours[usize::from(index)]));
    let named = named.into_iter().map(|(slot, name)| (slot, colours[name]));
    let set = |(slot, colour): (PaletteSlot, Option<ansi::Rgb>)| {
        colour.map(|ansi::Rgb { r, g, b }| (slot, Rgb(r, g, b)))
    };
    indexed.chain(named).filter_map(set).collect()
}

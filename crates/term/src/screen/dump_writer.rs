//! Writes escape bytes, and tracks the state of the terminal that reads them.

use alacritty_terminal::grid::Charsets;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, Color, NamedColor, StandardCharset};

/// The attributes that SGR sets, each with its parameter.
const STYLES: [(Flags, &str); 11] = [
    (Flags::BOLD, ";1"),
    (Flags::DIM, ";2"),
    (Flags::ITALIC, ";3"),
    (Flags::UNDERLINE, ";4"),
    (Flags::DOUBLE_UNDERLINE, ";4:2"),
    (Flags::UNDERCURL, ";4:3"),
    (Flags::DOTTED_UNDERLINE, ";4:4"),
    (Flags::DASHED_UNDERLINE, ";4:5"),
    (Flags::INVERSE, ";7"),
    (Flags::HIDDEN, ";8"),
    (Flags::STRIKEOUT, ";9"),
];

const SETS: [(CharsetIndex, char); 4] = [
    (CharsetIndex::G0, '('),
    (CharsetIndex::G1, ')'),
    (CharsetIndex::G2, '*'),
    (CharsetIndex::G3, '+'),
];

/// The bytes so far, and the state they leave a fresh terminal in.
#[derive(Default)]
pub(super) struct DumpWriter {
    out: Vec<u8>,
    style: Cell,
    charsets: Charsets,
}

impl DumpWriter {
    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn print(&mut self, c: char) {
        self.push(c.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn goto(&mut self, row: usize, col: usize) {
        self.push(&format!("\x1b[{};{}H", row + 1, col + 1));
    }

    /// Sets the style of this cell for what is printed next.
    pub(super) fn set_style(&mut self, cell: &Cell) {
        if same_style(cell, &self.style) {
            return;
        }
        self.push(&sgr(cell));
        if cell.hyperlink() != self.style.hyperlink() {
            self.push(&link(cell));
        }
        self.style = cell.clone();
    }

    /// Resets the style. Erasing would fill with the background of the current style.
    pub(super) fn reset_style(&mut self) {
        self.set_style(&Cell::default());
    }

    pub(super) fn designate(&mut self, charsets: Charsets) {
        for (index, mark) in SETS {
            if charsets[index] == self.charsets[index] {
                continue;
            }
            let set = match charsets[index] {
                StandardCharset::Ascii => 'B',
                StandardCharset::SpecialCharacterAndLineDrawing => '0',
            };
            self.push(&format!("\x1b{mark}{set}"));
        }
        self.charsets = charsets;
    }
}

/// Whether two cells have the same style, whatever they hold.
pub(super) fn same_style(a: &Cell, b: &Cell) -> bool {
    let styles = |cell: &Cell| STYLES.map(|(flag, _)| cell.flags.contains(flag));
    (a.fg, a.bg, a.underline_color()) == (b.fg, b.bg, b.underline_color())
        && styles(a) == styles(b)
        && a.hyperlink() == b.hyperlink()
}

fn sgr(cell: &Cell) -> String {
    let mut text = String::from("\x1b[0");
    let styles = STYLES.iter().filter(|(flag, _)| cell.flags.contains(*flag));
    styles.for_each(|(_, param)| text.push_str(param));
    if cell.fg != Color::Named(NamedColor::Foreground) {
        text.push_str(&colour(cell.fg, 30));
    }
    if cell.bg != Color::Named(NamedColor::Background) {
        text.push_str(&colour(cell.bg, 40));
    }
    if let Some(underline) = cell.underline_color() {
        text.push_str(&colour(underline, 50));
    }
    text.push('m');
    text
}

/// A colour as SGR writes it for text (30), background (40) and underline (50).
fn colour(colour: Color, base: usize) -> String {
    match colour {
        Color::Named(name) if (name as usize) < 8 => format!(";{}", base + name as usize),
        Color::Named(name) => format!(";{}", base + 60 + name as usize % 8),
        Color::Indexed(index) => format!(";{};5;{index}", base + 8),
        Color::Spec(rgb) => format!(";{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b),
    }
}

fn link(cell: &Cell) -> String {
    match cell.hyperlink() {
        Some(link) => format!("\x1b]8;id={};{}\x1b\\", link.id(), link.uri()),
        None => "\x1b]8;;\x1b\\".into(),
    }
}

//! A screen as text with colours, for `cat`: no cursor moves, no modes, nothing that outlives its line.

use std::iter;

use crate::Screen;
use crate::screen::styled_screen::{CellStyle, Colour, Rgb, StyledCell, Underline};

const RESET: &str = "\x1b[0m";

/// The visible rows with their colours and styles. Each row ends as plain as it began.
#[must_use]
pub fn ansi(screen: &Screen) -> String {
    let rows: Vec<String> = screen.styled().rows.iter().map(|row| line(row)).collect();
    rows.join("\n")
}

fn line(cells: &[StyledCell]) -> String {
    let used = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    let mut line = String::new();
    let mut worn = CellStyle::default();
    for cell in &cells[..used] {
        if cell.look != worn {
            line.push_str(&sgr(&cell.look));
            worn = cell.look;
        }
        line.extend(iter::once(cell.c).chain(cell.marks.iter().copied()));
    }
    if worn != CellStyle::default() {
        line.push_str(RESET);
    }
    line
}

/// Whether a cell is as a fresh screen has it.
fn is_blank(cell: &StyledCell) -> bool {
    cell.c == ' ' && cell.marks.is_empty() && cell.look == CellStyle::default()
}

fn sgr(look: &CellStyle) -> String {
    let styles = [
        (look.bold, ";1"),
        (look.dim, ";2"),
        (look.italic, ";3"),
        (look.inverse, ";7"),
        (look.hidden, ";8"),
        (look.strike, ";9"),
    ];
    let mut params = String::from("0");
    styles.iter().filter(|(is_on, _)| *is_on).for_each(|(_, param)| params.push_str(param));
    params.push_str(underline(look.underline));
    params.push_str(&colour(look.fg, 30));
    params.push_str(&colour(look.bg, 40));
    if let Some(line) = look.underline_colour {
        params.push_str(&underline_colour(line));
    }
    format!("\x1b[{params}m")
}

fn underline(kind: Underline) -> &'static str {
    match kind {
        Underline::None => "",
        Underline::Single => ";4",
        Underline::Double => ";4:2",
        Underline::Curly => ";4:3",
        Underline::Dotted => ";4:4",
        Underline::Dashed => ";4:5",
    }
}

/// A colour for the text (30) or behind it (40).
fn colour(colour: Colour, base: u8) -> String {
    match colour {
        Colour::Default => String::new(),
        Colour::Indexed(index @ 0..8) => format!(";{}", base + index),
        Colour::Indexed(index @ 8..16) => format!(";{}", base + 52 + index),
        Colour::Indexed(index) => format!(";{};5;{index}", base + 8),
        Colour::Rgb(Rgb(r, g, b)) => format!(";{};2;{r};{g};{b}", base + 8),
    }
}

/// Names have no short form here, and would be taken for something else.
fn underline_colour(colour: Colour) -> String {
    match colour {
        Colour::Default => String::new(),
        Colour::Indexed(index) => format!(";58;5;{index}"),
        Colour::Rgb(Rgb(r, g, b)) => format!(";58;2;{r};{g};{b}"),
    }
}

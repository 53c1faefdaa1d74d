//! Renders a screen as text with colours, for `cat`: no cursor moves, no modes, nothing that
//! outlasts its line.

use std::iter;

use crate::Screen;
use crate::screen::styled_screen::{CellStyle, Colour, Rgb, StyledCell, Underline};

const RESET: &str = "\x1b[0m";

/// The visible rows with their colours and styles. The style is reset at the end of each row.
#[must_use]
pub fn ansi(screen: &Screen) -> String {
    let rows: Vec<String> = screen.styled().rows.iter().map(|row| line(row)).collect();
    rows.join("\n")
}

fn line(cells: &[StyledCell]) -> String {
    let used = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    let mut line = String::new();
    let mut style = CellStyle::default();
    for cell in &cells[..used] {
        if cell.look != style {
            line.push_str(&sgr(&cell.look));
            style = cell.look;
        }
        line.extend(iter::once(cell.c).chain(cell.marks.iter().copied()));
    }
    if style != CellStyle::default() {
        line.push_str(RESET);
    }
    line
}

/// Whether a cell is blank and unstyled, as on a fresh screen.
fn is_blank(cell: &StyledCell) -> bool {
    cell.c == ' ' && cell.marks.is_empty() && cell.look == CellStyle::default()
}

fn sgr(style: &CellStyle) -> String {
    let styles = [
        (style.bold, ";1"),
        (style.dim, ";2"),
        (style.italic, ";3"),
        (style.inverse, ";7"),
        (style.hidden, ";8"),
        (style.strike, ";9"),
    ];
    let mut params = String::from("0");
    styles.iter().filter(|(is_on, _)| *is_on).for_each(|(_, param)| params.push_str(param));
    params.push_str(underline(style.underline));
    params.push_str(&colour(style.fg, 30));
    params.push_str(&colour(style.bg, 40));
    if let Some(line) = style.underline_colour {
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

/// A colour for the foreground (30) or background (40).
fn colour(colour: Colour, base: u8) -> String {
    match colour {
        Colour::Default => String::new(),
        Colour::Indexed(index @ 0..8) => format!(";{}", base + index),
        Colour::Indexed(index @ 8..16) => format!(";{}", base + 52 + index),
        Colour::Indexed(index) => format!(";{};5;{index}", base + 8),
        Colour::Rgb(Rgb(r, g, b)) => format!(";{};2;{r};{g};{b}", base + 8),
    }
}

/// Underline colours have no short form for the 16 named ones.
fn underline_colour(colour: Colour) -> String {
    match colour {
        Colour::Default => String::new(),
        Colour::Indexed(index) => format!(";58;5;{index}"),
        Colour::Rgb(Rgb(r, g, b)) => format!(";58;2;{r};{g};{b}"),
    }
}

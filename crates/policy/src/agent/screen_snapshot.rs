//! An agent's screen at one moment, as its profile interprets it.

use std::ops::Range;

use paned_model::Dialog;
use paned_term::screen::styled_screen::{self, Colour, Rgb};
use paned_term::{Screen, ScreenView};

use super::profile::Hue;
use super::{Profile, regions};

/// A screen at one moment. Cheap to keep for a while, and equal if nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenSnapshot {
    /// The text on it, and where the cursor is.
    pub view: ScreenView,
    /// All output before this offset is on it.
    pub end: u64,
    /// How many inputs the pane had received before; `None` if they are not counted.
    pub typed: Option<u64>,
    /// How each character of each row is drawn.
    pub(super) styles: Vec<Vec<CharStyle>>,
    /// How many characters of its row are before the cursor; blanks at the row's end count.
    pub(super) cursor: usize,
}

/// The attributes of a character that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CharStyle {
    /// Whether it is faint or grey.
    pub(super) faint: bool,
    pub(super) hue: Option<Hue>,
    pub(super) inverse: bool,
    /// Its background; zero is the default.
    pub(super) background: u32,
}

/// What the composer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Composer {
    /// There is none on the screen, or it cannot be found.
    Hidden,
    /// It is there, and empty (a placeholder is not a draft).
    Empty,
    /// It holds a draft, as far as that can be read.
    Draft(String),
}

impl ScreenSnapshot {
    /// The current content of a screen.
    #[must_use]
    pub fn of(screen: &Screen) -> Self {
        let mut view = screen.view();
        view.rows.iter_mut().for_each(plain_blanks);
        let drawn = screen.char_styles(shade);
        let cursor = drawn.get(usize::from(view.cursor.row)).map_or(0, |row| before(row, &view));
        let styles =
            drawn.iter().map(|row| row.iter().map(|(_, shade)| *shade).collect()).collect();
        Self { view, end: 0, typed: None, styles, cursor }
    }

    /// What the composer holds.
    #[must_use]
    pub fn composer(&self, profile: &Profile) -> Composer {
        regions::RegionMap::of(self, profile).composer(self, profile)
    }

    /// The question on the screen. The same text always has the same id;
    /// [`Engine::judgement`](super::Engine::judgement) also distinguishes repetitions.
    #[must_use]
    pub fn dialog(&self, profile: &Profile) -> Option<Dialog> {
        regions::RegionMap::of(self, profile).dialog
    }

    /// The rows of the last turn: from below the last row that begins like a message of the user
    /// down to the composer, or to the bottom if there is none. It begins with row 0 if its
    /// beginning is not on the screen.
    #[must_use]
    pub fn last_turn(&self, profile: &Profile) -> Range<usize> {
        let region_map = regions::RegionMap::of(self, profile);
        let end = region_map.composer.as_ref().map_or(region_map.end, |composer| composer.start);
        regions::turn(self, profile, end)..end
    }

    pub(super) fn row(&self, row: usize) -> &str {
        self.view.rows.get(row).map_or("", String::as_str)
    }

    /// The style of one character of a row.
    pub(super) fn style_from(&self, row: usize, at: usize) -> CharStyle {
        self.styles.get(row).and_then(|row| row.get(at)).copied().unwrap_or_default()
    }

    /// The last row with anything on it.
    pub(super) fn bottom(&self) -> Option<usize> {
        self.view.rows.iter().rposition(|row| !row.trim().is_empty())
    }
}

/// Turns every blank into an ordinary space, so that patterns need not know which one a program
/// prints: Claude Code puts a no-break space after its prompt sign. The number of characters stays
/// the same.
fn plain_blanks(row: &mut String) {
    let is_odd = |c: char| c != ' ' && c.is_whitespace();
    if row.contains(is_odd) {
        *row = row.replace(is_odd, " ");
    }
}

/// How many characters of its row are before the cursor.
fn before<T>(row: &[(u16, T)], view: &ScreenView) -> usize {
    let col = view.cursor.col;
    let count = row.iter().take_while(|(at, _)| *at < col).count();
    let beyond = if count == row.len() { row.last().map_or(0, |(at, _)| at + 1) } else { col };
    count + usize::from(col.saturating_sub(beyond))
}

fn shade(style: &styled_screen::CellStyle) -> CharStyle {
    let behind = if style.inverse { style.fg } else { style.bg };
    CharStyle {
        faint: style.dim || is_grey(style.fg, style.bg),
        hue: hue(style.fg),
        inverse: style.inverse,
        background: code(behind) + u32::from(style.inverse),
    }
}

fn code(colour: Colour) -> u32 {
    match colour {
        Colour::Default => 0,
        Colour::Indexed(index) => 0x100_0000 + 2 * u32::from(index),
        Colour::Rgb(Rgb(r, g, b)) => 0x200_0000 + 2 * u32::from_be_bytes([0, r, g, b]),
    }
}

/// Whether a colour is a grey with little contrast to its background.
fn is_grey(colour: Colour, behind: Colour) -> bool {
    let Rgb(r, g, b) = match colour {
        Colour::Default => return false,
        Colour::Indexed(index) => return index == 8 || (236..=247).contains(&index),
        Colour::Rgb(rgb) => rgb,
    };
    let low = r.min(g).min(b);
    let high = r.max(g).max(b);
    if 24 < high - low {
        return false;
    }
    let light = |Rgb(r, g, b): Rgb| (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    match behind {
        Colour::Rgb(behind) => light(Rgb(r, g, b)).abs_diff(light(behind)) < 140,
        Colour::Default | Colour::Indexed(_) => (64..185).contains(&light(Rgb(r, g, b))),
    }
}

fn hue(colour: Colour) -> Option<Hue> {
    let Rgb(r, g, b) = match colour {
        Colour::Default => return None,
        Colour::Indexed(1 | 9 | 124 | 160 | 196 | 203 | 204 | 167) => return Some(Hue::Red),
        Colour::Indexed(3 | 11 | 178 | 184 | 208 | 214 | 220 | 226) => return Some(Hue::Yellow),
        Colour::Indexed(_) => return None,
        Colour::Rgb(rgb) => rgb,
    };
    let r = i16::from(r);
    let g = i16::from(g);
    let b = i16::from(b);
    if 60 < r - g && 50 < r - b && (g - b).abs() < 60 {
        return Some(Hue::Red);
    }
    (60 < r - b && 40 < g - b).then_some(Hue::Yellow)
}

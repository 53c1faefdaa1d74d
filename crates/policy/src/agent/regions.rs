//! The regions of an agent's screen: its composer, the rows above and below it, and the start of
//! the last turn.

use std::ops::Range;

use paned_model::{AgentState, Dialog};

use super::profile::{ComposerShape, Profile, ProfilePattern, ScreenCondition, ScreenRegion};
use super::screen_snapshot::ScreenSnapshot;
use super::{Composer, dialog, generic};

/// How many non-blank rows the bottom of a screen has if there is no composer.
const BOTTOM: usize = 8;
/// How many rows above the composer still belong to the bottom.
const ABOVE: usize = 6;

/// The regions of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RegionMap {
    /// The composer with its borders.
    pub(super) composer: Option<Range<usize>>,
    /// Its rows that hold text.
    text: Range<usize>,
    /// The first row after the last non-blank one.
    pub(super) end: usize,
    /// Where the last turn begins.
    turn: usize,
    /// The question at the bottom; if there is one, there is no composer.
    pub(super) dialog: Option<Dialog>,
}

impl RegionMap {
    pub(super) fn of(look: &ScreenSnapshot, profile: &Profile) -> Self {
        let end = look.bottom().map_or(0, |bottom| bottom + 1);
        let found = profile.composer.as_ref().and_then(|shape| find(look, shape, end));
        let composer_rows = found.as_ref().map(|(whole, _)| whole.clone());
        let dialog = match profile.is_generic() {
            true => generic::dialog(look, profile, composer_rows, end),
            false => dialog::find(look, profile, composer_rows, end),
        };
        let (composer, text) = match found.filter(|_| dialog.is_none()) {
            Some((whole, text)) => (Some(whole), text),
            None => (None, 0..0),
        };
        let below = composer.as_ref().map_or(end, |composer| composer.start);
        Self { composer, text, end, turn: turn(look, profile, below), dialog }
    }

    /// The rows of a region, those nearest to the composer (or to the bottom) first.
    pub(super) fn rows(
        &self,
        look: &ScreenSnapshot,
        region: ScreenRegion,
        most: usize,
    ) -> Vec<usize> {
        let start = self.composer.as_ref().map_or(self.end, |composer| composer.start);
        let below = self.composer.as_ref().map_or(self.end, |composer| composer.end);
        let is_ink = |row: &usize| !look.row(*row).trim().is_empty();
        let rows: Vec<usize> = match region {
            ScreenRegion::Footer if self.composer.is_some() => {
                (below..self.end).filter(is_ink).collect()
            }
            ScreenRegion::Footer => (0..self.end).rev().filter(is_ink).take(4).collect(),
            ScreenRegion::Above => (0..start).rev().filter(is_ink).collect(),
            ScreenRegion::Composer => self.composer.clone().unwrap_or_default().collect(),
            ScreenRegion::Live if self.composer.is_some() => {
                let above = (0..start).rev().filter(is_ink).take(ABOVE);
                above.chain((start..self.end).filter(is_ink)).collect()
            }
            ScreenRegion::Live => (0..self.end).rev().filter(is_ink).take(BOTTOM).collect(),
            ScreenRegion::Turn => (self.turn..start).rev().filter(is_ink).collect(),
            ScreenRegion::Cursor => {
                let cursor = usize::from(look.view.cursor.row);
                // Some programs ask above the row in which they read the answer.
                let above = (cursor.saturating_sub(most)..cursor).rev().find(is_ink);
                let asked = above.filter(|_| 1 < most && !is_ink(&cursor));
                vec![asked.unwrap_or(cursor)]
            }
        };
        rows.into_iter().take(most).collect()
    }

    /// Whether the user's last message is the last text above the composer: it has no answer yet.
    pub(super) fn is_unanswered(&self, look: &ScreenSnapshot, profile: &Profile) -> bool {
        let Some(start) = self.composer.as_ref().map(|composer| composer.start) else {
            return false;
        };
        let is_frame = |row: usize| {
            let text = look.row(row);
            let bare = |c: char| c.is_whitespace() || ('\u{2500}'..='\u{259f}').contains(&c);
            text.chars().all(bare)
        };
        profile.messages.unanswered && 0 < self.turn && (self.turn..start).all(is_frame)
    }

    /// What the composer holds.
    pub(super) fn composer(&self, look: &ScreenSnapshot, profile: &Profile) -> Composer {
        let Some(shape) = profile.composer.as_ref().filter(|_| self.composer.is_some()) else {
            return Composer::Hidden;
        };
        let first = look.row(self.text.start);
        if shape.mode.as_ref().is_some_and(|mode| mode.is_in(first)) {
            return Composer::Draft(first.trim().to_owned());
        }
        let is_rule = |whole: &Range<usize>| generic::is_rule(look.row(whole.start));
        let is_framed = self.composer.as_ref().is_some_and(is_rule);
        let parts: Vec<ComposerRow> = self
            .text
            .clone()
            .map(|row| part(look, shape, row, row == self.text.start, is_framed))
            .collect();
        let all = joined(parts.iter().map(|part| part.all.as_str()));
        if all.is_empty() {
            return Composer::Empty;
        }
        let solid = joined(parts.iter().map(|part| part.solid.as_str()));
        let cursor = usize::from(look.view.cursor.row);
        let first = parts.first().map_or(0, |part| part.from);
        let in_text = self.text.contains(&cursor);
        let is_drawn = look.style_from(self.text.start, first).inverse
            || shape.by_cursor
                && !look.view.cursor.visible
                && generic::has_drawn_cursor(look, self.text.start)
            || parts.first().is_some_and(|part| part.is_at_cursor);
        let at_start = is_drawn || cursor == self.text.start && look.cursor <= first + 1;
        let is_placeholder = shape.placeholders.iter().any(|pattern| pattern.is_in(&all));
        // Faint text with the cursor before it is not a draft. A known placeholder is not a draft
        // either if the cursor is outside the composer.
        if (solid.is_empty() && at_start) || (is_placeholder && (at_start || !in_text)) {
            return Composer::Empty;
        }
        Composer::Draft(if solid.is_empty() { all } else { solid })
    }
}

/// The text of one row of a composer.
struct ComposerRow {
    /// Where it begins, in characters.
    from: usize,
    all: String,
    /// Without the faint text at its end.
    solid: String,
    /// Whether it begins with a cursor that the program draws as a character.
    is_at_cursor: bool,
}

fn part(
    look: &ScreenSnapshot,
    shape: &ComposerShape,
    row: usize,
    is_first: bool,
    is_framed: bool,
) -> ComposerRow {
    let whole = look.row(row);
    let text = shape
        .end
        .as_ref()
        .map_or(whole, |end| end.find(whole).map_or(whole, |found| &whole[..found.start]));
    let mut cut = after(shape.inside.as_ref(), text, 0);
    if is_first || shape.bottom.is_none() && shape.top.is_some() {
        let end = |prompt| match shape.by_cursor {
            true => generic::text_start(look, prompt, text, cut, is_framed),
            false => prompt_end(prompt, text, cut),
        };
        cut = shape.prompt.as_ref().and_then(end).unwrap_or(cut);
    } else if let Some(prompt) = shape.prompt.as_ref().filter(|_| shape.inside.is_none()) {
        cut = indent(look.row(row), width(prompt, look, row));
    }
    let from = whole[..cut].chars().count();
    let all = &text[cut..];
    let is_glyph =
        |c: char| shape.by_cursor && !look.view.cursor.visible && generic::is_drawn_cursor(c);
    let is_solid = |at: &usize| {
        let is_blank = all.chars().nth(*at).is_none_or(|c| c.is_whitespace() || is_glyph(c));
        // A program that draws its own cursor shows it as an inverse cell, also over the first
        // letter of a placeholder.
        let cell = look.style_from(row, from + at);
        let is_cursor = cell.inverse && look.style_from(row, from + at + 1).faint;
        !is_blank && !cell.faint && !is_cursor
    };
    let count = all.chars().count();
    let solid = (0..count).rev().find(is_solid).map_or(0, |at| at + 1);
    let is_at_cursor = all.starts_with(is_glyph);
    let solid = all.chars().take(solid).collect();
    ComposerRow { from, all: all.replace(is_glyph, "").trim_end().to_owned(), solid, is_at_cursor }
}

/// How far text is indented, up to `most`.
fn indent(text: &str, most: usize) -> usize {
    text.chars().take(most).take_while(|c| *c == ' ').count()
}

/// How many characters a prompt takes: later rows of a draft are indented by that much.
fn width(prompt: &ProfilePattern, look: &ScreenSnapshot, below: usize) -> usize {
    let found = (0..below).rev().find_map(|row| {
        let text = look.row(row);
        prompt_end(prompt, text, 0).map(|end| text[..end].chars().count())
    });
    found.unwrap_or(0)
}

/// Where the text begins in a row that begins with a prompt. The blank after a prompt may be beyond
/// the row's text.
pub(super) fn prompt_end(prompt: &ProfilePattern, row: &str, from: usize) -> Option<usize> {
    let padded = format!("{} ", &row[from..]);
    let found = prompt.find(&padded).filter(|found| found.start == 0)?;
    Some((from + found.end).min(row.len()))
}

/// Where the text continues after a pattern.
fn after(pattern: Option<&ProfilePattern>, text: &str, from: usize) -> usize {
    let found = pattern.and_then(|pattern| pattern.find(&text[from..]));
    found.filter(|found| found.start == 0).map_or(from, |found| from + found.end)
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.collect::<Vec<_>>().join("\n").trim_matches('\n').trim_end().to_owned()
}

/// The composer with its borders, and its rows that hold text.
fn find(
    look: &ScreenSnapshot,
    shape: &ComposerShape,
    end: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    if shape.by_cursor {
        return generic::composer(look, shape, end);
    }
    let (whole, text) = match &shape.bottom {
        Some(bottom) => boxed(look, shape, bottom, end)?,
        None => prompted(look, shape, end)?,
    };
    let starts = shape.prompt.as_ref().is_none_or(|prompt| {
        let row = look.row(text.start);
        prompt_end(prompt, row, after(shape.inside.as_ref(), row, 0)).is_some()
    });
    let holds = shape.needs.iter().all(|need| need.holds(look, &whole));
    (starts && holds && end <= whole.end + shape.reach).then_some((whole, text))
}

/// A composer between two borders, or above one border if each row has a mark.
fn boxed(
    look: &ScreenSnapshot,
    shape: &ComposerShape,
    bottom: &ProfilePattern,
    end: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let bottom = (0..end).rev().find(|row| bottom.is_in(look.row(*row)))?;
    let is_inside = |row: &usize| {
        shape.inside.as_ref().is_none_or(|inside| after(Some(inside), look.row(*row), 0) != 0)
    };
    let top = match &shape.top {
        Some(top) => {
            let top = (0..bottom).rev().find(|row| top.is_in(look.row(*row)))?;
            (top + 1..bottom).all(|row| is_inside(&row)).then_some(top)?
        }
        None => {
            let inner = (0..bottom).rev().take_while(is_inside).count();
            (bottom - inner).checked_sub(1)?
        }
    };
    let first = top + 1 + shape.above;
    let last = bottom.checked_sub(shape.below)?;
    let whole = if shape.top.is_some() { top..bottom + 1 } else { top + 1..bottom + 1 };
    (first < last).then_some((whole, first..last))
}

/// A composer from a prompt downwards.
fn prompted(
    look: &ScreenSnapshot,
    shape: &ComposerShape,
    end: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let prompt = shape.prompt.as_ref()?;
    let cursor = usize::from(look.view.cursor.row);
    // A line that is being edited begins at the cursor or above it.
    let below =
        if shape.needs.contains(&ScreenCondition::Cursor) { end.min(cursor + 1) } else { end };
    let is_prompt = |row: &usize| prompt_end(prompt, look.row(*row), 0).is_some();
    let lowest = (0..below.max(1)).rev().find(is_prompt)?;
    // If the profile names the row above it, each line of a draft may begin with the prompt.
    let top =
        shape.top.as_ref().and_then(|top| (0..lowest).rev().find(|row| top.is_in(look.row(*row))));
    let start = top.map(|top| top + 1).filter(is_prompt).unwrap_or(lowest);
    let is_blank = |row: &usize| look.row(*row).trim().is_empty();
    let gap = if shape.footer { (start + 1..end).rev().find(is_blank) } else { None };
    let mut last = gap.unwrap_or(end);
    while start + 1 < last && is_blank(&(last - 1)) {
        last -= 1;
    }
    if shape.needs.contains(&ScreenCondition::Cursor) {
        last = last.max((cursor + 1).min(look.view.rows.len()));
    }
    let last = last.max(start + 1);
    Some((start..last, start..last))
}

/// Where the last turn begins: after the user's last message.
pub(super) fn turn(look: &ScreenSnapshot, profile: &Profile, below: usize) -> usize {
    let tinted = profile.messages.tinted;
    let is_users = |row: &usize| is_users(look, profile, *row, tinted);
    (0..below).rev().find(is_users).map_or(0, |row| row + 1)
}

/// Whether a row begins a message of the user in the conversation; if `tinted`, it must have a
/// background of its own.
pub(super) fn is_users(look: &ScreenSnapshot, profile: &Profile, row: usize, tinted: bool) -> bool {
    let Some(found) = profile.messages.user.as_ref().and_then(|user| user.find(look.row(row)))
    else {
        return false;
    };
    let last = look.row(row)[..found.end].chars().count().saturating_sub(1);
    !tinted || look.style_from(row, last).background != 0
}

impl ScreenCondition {
    /// Whether it holds; `rows` are the rows of the element that needs it.
    pub(super) fn holds(self, look: &ScreenSnapshot, rows: &Range<usize>) -> bool {
        let cursor = look.view.cursor;
        match self {
            Self::Paste => look.view.modes.bracketed_paste,
            Self::NoPaste => !look.view.modes.bracketed_paste,
            Self::Cursor => rows.contains(&usize::from(cursor.row)),
            Self::Line => is_one_line(look, rows),
            Self::Shown => cursor.visible,
            Self::Hidden => !cursor.visible,
        }
    }
}

/// Whether the cursor is in the line that begins in the first of these rows: each row before the
/// cursor's row is full.
fn is_one_line(look: &ScreenSnapshot, rows: &Range<usize>) -> bool {
    let cursor = usize::from(look.view.cursor.row);
    let cols = usize::from(look.view.size.cols);
    let is_full = |row: usize| cols <= look.row(row).chars().count() + 1;
    rows.contains(&cursor) && (rows.start..cursor).all(is_full)
}

/// The state that a missing composer means.
pub(super) fn absent(profile: &Profile) -> Option<AgentState> {
    profile.composer.as_ref().and_then(|shape| shape.absent)
}

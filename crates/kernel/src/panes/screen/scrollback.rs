//! The rows above a pane's screen. No screen keeps them, so they are drawn again on request.

use std::io;

use memchr::memchr;
use paned_backend::{Output, ReplayedScreen};

use super::live_screen::{DrawBudget, ScreenHints};

/// How much of the output is drawn for them at most. Rows that scrolled off before that are not
/// found.
const MAX_REPLAY: u64 = 512 << 10;
/// The most bytes that draw them.
const MAX_DUMP: usize = 4 << 20;
/// How far to search for the start of a line.
const SOON: usize = 64 << 10;

/// A screen and the rows above it.
pub(crate) struct ScreenWithScrollback {
    /// The rows above it, oldest first. The alternate screen has none.
    pub(crate) scrollback: Vec<String>,
    /// How many rows came before those, where that is known.
    pub(crate) rows_before: Option<u64>,
    /// Its own rows.
    pub(crate) rows: Vec<String>,
    /// Where the output ended at that time.
    pub(crate) end: u64,
}

/// At most this number of rows above the screen, oldest first.
pub(crate) fn scrollback(
    output: &dyn Output,
    hints: &ScreenHints,
    rows: usize,
) -> io::Result<Vec<String>> {
    screen_with_scrollback(output, hints, rows).map(|drawn| drawn.scrollback)
}

/// The same when the output ended at an offset.
pub(crate) fn scrollback_at(
    output: &dyn Output,
    hints: &ScreenHints,
    rows: usize,
    end: u64,
) -> io::Result<Vec<String>> {
    let (_, drawn) = replay(output, hints, rows, end)?;
    Ok(drawn.screen().history())
}

/// The screen with at most this number of rows above it.
pub(crate) fn screen_with_scrollback(
    output: &dyn Output,
    hints: &ScreenHints,
    rows: usize,
) -> io::Result<ScreenWithScrollback> {
    let end = output.end();
    let (begin, drawn) = replay(output, hints, rows, end)?;
    let screen = drawn.screen();
    let is_alternate = screen.modes().alternate_screen;
    let rows_before = screen.history_dropped().filter(|_| is_alternate || is_whole(output, begin));
    Ok(ScreenWithScrollback {
        scrollback: screen.history(),
        rows_before,
        rows: screen.view().rows,
        end,
    })
}

/// The bytes that give a fresh terminal the rows that were above the screen when the output ended
/// at an offset; see [`paned_term::Screen::dump_history`].
pub(crate) fn scrollback_dump(
    output: &dyn Output,
    hints: &ScreenHints,
    rows: usize,
    end: u64,
) -> io::Result<Vec<u8>> {
    let (_, drawn) = replay(output, hints, rows, end)?;
    Ok(drawn.screen().dump_history(rows, MAX_DUMP))
}

/// Draws the last part of the output up to an offset, with scrollback. Also returns where that
/// begins.
fn replay(
    output: &dyn Output,
    hints: &ScreenHints,
    rows: usize,
    end: u64,
) -> io::Result<(u64, ReplayedScreen)> {
    let mut from = output.first().max(end.saturating_sub(MAX_REPLAY)).min(end);
    let budget = DrawBudget::new();
    loop {
        let begin = line_after(output, from, end)?;
        let mut drawn = hints.blank_screen(output, begin, rows);
        let mut goes_on = || !budget.is_spent(0);
        let caught_up = drawn.catch_up_while(output, end, 0, &mut goes_on);
        let left = end.saturating_sub(drawn.at());
        match caught_up.map_err(|error| out_of_budget(error, left))? {
            Ok(()) => {
                drawn.screen_mut().flush_update();
                return Ok((begin, drawn));
            }
            // The ring has overwritten it: restart with what is kept.
            Err(gap) => from = gap.first.min(end),
        }
    }
}

fn out_of_budget(error: io::Error, left: u64) -> io::Error {
    match error.kind() {
        io::ErrorKind::TimedOut => DrawBudget::error(left),
        _ => error,
    }
}

/// Whether nothing is missing before an offset: no output, and no size.
fn is_whole(output: &dyn Output, begin: u64) -> bool {
    begin == 0 && output.sizes(0).first().is_some_and(|mark| mark.n == 1)
}

/// The start of the first line after an offset, if there is one soon: in the middle of a line, the
/// cursor's column is not known.
fn line_after(output: &dyn Output, from: u64, end: u64) -> io::Result<u64> {
    if from == 0 {
        return Ok(0);
    }
    let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(SOON).min(SOON)];
    let Ok(read) = output.read(from, &mut bytes)? else { return Ok(from) };
    Ok(memchr(b'\n', &bytes[..read]).map_or(from, |at| from + at as u64 + 1))
}

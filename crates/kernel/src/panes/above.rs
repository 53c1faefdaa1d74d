//! The rows above a pane's screen: no screen keeps them, so they are drawn anew when somebody asks.

use std::io;

use memchr::memchr;
use paned_substrate::Output;

use super::lens::{Budget, Known};

/// How much of the output is drawn for them at most. What scrolled off before that is not found.
const REACH: u64 = 512 << 10;
/// How far a line is looked for whose beginning is known.
const SOON: usize = 64 << 10;

/// A screen and what is above it.
pub(crate) struct Drawn {
    /// The rows above it, oldest first. The alternate screen has none.
    pub(crate) above: Vec<String>,
    /// How many there were before those, where that can be told.
    pub(crate) gone: Option<u64>,
    /// Its own rows.
    pub(crate) rows: Vec<String>,
    /// Where the output ended then.
    pub(crate) end: u64,
}

/// Up to so many rows above the screen, oldest first.
pub(crate) fn above(output: &dyn Output, known: &Known, rows: usize) -> io::Result<Vec<String>> {
    drawn(output, known, rows).map(|drawn| drawn.above)
}

/// The screen with up to so many rows above it.
pub(crate) fn drawn(output: &dyn Output, known: &Known, rows: usize) -> io::Result<Drawn> {
    let end = output.end();
    let mut from = output.first().max(end.saturating_sub(REACH));
    let budget = Budget::new();
    loop {
        let begin = line_after(output, from, end)?;
        let mut drawn = known.blank(output, begin, rows);
        let mut goes_on = || !budget.is_spent(0);
        let caught_up = drawn.catch_up_while(output, end, 0, &mut goes_on);
        match caught_up.map_err(|error| out_of_budget(error, end - drawn.at()))? {
            Ok(()) => {
                drawn.screen_mut().settle();
                let screen = drawn.screen();
                let is_alternate = screen.modes().alternate_screen;
                let gone = screen.gone().filter(|_| is_alternate || is_whole(output, begin));
                let (above, rows) = (screen.history(), screen.view().rows);
                return Ok(Drawn { above, gone, rows, end });
            }
            // The ring was faster: begin anew with what is kept.
            Err(gap) => from = gap.first,
        }
    }
}

fn out_of_budget(error: io::Error, left: u64) -> io::Error {
    match error.kind() {
        io::ErrorKind::TimedOut => Budget::error(left),
        _ => error,
    }
}

/// Whether nothing came before an offset: no output, and no size that is no longer known.
fn is_whole(output: &dyn Output, begin: u64) -> bool {
    begin == 0 && output.sizes(0).first().is_some_and(|mark| mark.n == 1)
}

/// Where the first line after an offset begins, if one does soon: in the middle of a line nobody knows where it stands.
fn line_after(output: &dyn Output, from: u64, end: u64) -> io::Result<u64> {
    if from == 0 {
        return Ok(0);
    }
    let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(SOON).min(SOON)];
    let Ok(read) = output.read(from, &mut bytes)? else { return Ok(from) };
    Ok(memchr(b'\n', &bytes[..read]).map_or(from, |at| from + at as u64 + 1))
}

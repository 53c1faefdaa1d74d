//! The rows above a pane's screen: no screen keeps them, so they are drawn anew when somebody asks.

use std::io;

use paned_substrate::Output;
use paned_term::Screen;

use super::lens::Known;

/// How much of the output is drawn for them at most. What scrolled off before that is not found.
const REACH: u64 = 512 << 10;

/// A screen and what is above it.
pub(crate) struct Drawn {
    /// The rows above it, oldest first. The alternate screen has none.
    pub(crate) above: Vec<String>,
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
    let mut at = output.first().max(output.end().saturating_sub(REACH));
    loop {
        match draw(output, known, rows, at)? {
            Ok(drawn) => return Ok(drawn),
            // The ring was faster: begin anew with what is kept.
            Err(first) => at = first,
        }
    }
}

/// Draws the output from an offset on; the first offset that is kept when that one is not.
fn draw(
    output: &dyn Output,
    known: &Known,
    rows: usize,
    from: u64,
) -> io::Result<Result<Drawn, u64>> {
    let mut bytes = vec![0; usize::try_from(output.end().saturating_sub(from)).unwrap_or(0)];
    let mut filled = 0;
    while filled < bytes.len() {
        match output.read(from + filled as u64, &mut bytes[filled..])? {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(gap) => return Ok(Err(gap.first)),
        }
    }
    let mut screen = Screen::with_history(known.size, rows);
    let mut shown = &bytes[..filled];
    if 0 < from {
        // In the middle of a line nobody knows where it stands.
        shown = shown.iter().position(|byte| *byte == b'\n').map_or(shown, |end| &shown[end + 1..]);
        screen.feed(&known.preamble);
    }
    screen.feed(shown);
    screen.settle();
    let end = from + filled as u64;
    Ok(Ok(Drawn { above: screen.history(), rows: screen.view().rows, end }))
}

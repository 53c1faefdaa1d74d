//! Reading a tape: its last lines, its screen, its modes. Waits for the disk, and for nothing else.

use std::io;

use paned_keeper::tape::TapeReader;
use paned_term::OutputScanner;
use paned_term::screen::view::ScreenModes;

use crate::CaptureStyle;
use crate::text::{self, OutputExtent};
use paned_backend::ReplayedScreen;

/// How much is read in one go.
const PIECE: usize = 64 << 10;

/// The last lines, looked for in ever larger parts of the end.
pub(super) fn last_lines(tape: &TapeReader, count: usize) -> io::Result<Vec<String>> {
    let mut wanted = PIECE as u64;
    loop {
        let (end, first) = (tape.end(), tape.first());
        let start = end.saturating_sub(wanted).max(first);
        let bytes = read(tape, start, end)?;
        let extent = if start == 0 { OutputExtent::Whole } else { OutputExtent::Tail };
        match text::last_lines(&bytes, extent, count) {
            Some(lines) => return Ok(lines),
            // What was overwritten is not kept; the first line that is may be half a line.
            None if start == first => {
                let whole = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let lines = text::last_lines(&bytes[whole..], OutputExtent::Whole, count);
                return Ok(lines.unwrap_or_default());
            }
            None => wanted *= 4,
        }
    }
}

/// What is kept between two offsets.
fn read(tape: &TapeReader, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(0)];
    match tape.read(start, &mut bytes)? {
        Ok(read) => {
            bytes.truncate(read);
            Ok(bytes)
        }
        // The ring was faster.
        Err(gap) => read(tape, gap.first, tape.end()),
    }
}

/// The rows of the screen.
pub(super) fn rows(tape: &TapeReader, style: CaptureStyle) -> io::Result<Vec<String>> {
    let (mut drawn, end) = (ReplayedScreen::new(tape, tape.first(), b""), tape.end());
    while let Err(gap) = drawn.catch_up(tape, end)? {
        // The ring was faster.
        drawn = ReplayedScreen::new(tape, gap.first, b"");
    }
    // A synchronized update that nobody ends would hide what was drawn.
    drawn.screen_mut().flush_update();
    Ok(text::rows(drawn.screen(), style))
}

/// The modes the program has switched its terminal to.
pub(super) fn modes(tape: &TapeReader) -> io::Result<ScreenModes> {
    let mut signals = OutputScanner::new();
    each(tape, tape.first(), tape.end(), |bytes| signals.feed(bytes, |_| {}))?;
    Ok(text::modes(&signals))
}

/// What is kept from one offset to another, in pieces; answers where it stopped.
pub(super) fn each(
    tape: &TapeReader,
    mut at: u64,
    end: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<u64> {
    let mut buffer = vec![0; PIECE];
    while at < end {
        let wanted = PIECE.min(usize::try_from(end - at).unwrap_or(PIECE));
        match tape.read(at, &mut buffer[..wanted])? {
            Ok(0) => break,
            Ok(read) => {
                take(&buffer[..read]);
                at += read as u64;
            }
            // The ring was faster.
            Err(gap) => at = gap.first,
        }
    }
    Ok(at)
}

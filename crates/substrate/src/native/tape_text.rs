//! Reading a tape: its last lines, its screen, its modes. Blocks on the disk only.

use std::io;

use paned_keeper::tape::TapeReader;
use paned_term::OutputScanner;
use paned_term::screen::view::ScreenModes;

use crate::CaptureStyle;
use crate::text::{self, OutputExtent};
use paned_backend::ReplayedScreen;

/// How much is read at once.
const PIECE: usize = 64 << 10;

/// The last lines, searched in ever larger parts of the end.
pub(super) fn last_lines(tape: &TapeReader, count: usize) -> io::Result<Vec<String>> {
    let mut wanted = PIECE as u64;
    loop {
        let end = tape.end();
        let first = tape.first();
        let start = end.saturating_sub(wanted).max(first);
        let bytes = read(tape, start, end)?;
        let extent = if start == 0 { OutputExtent::Whole } else { OutputExtent::Tail };
        match text::last_lines(&bytes, extent, count) {
            Some(lines) => return Ok(lines),
            // Earlier output was overwritten, and the first line that is kept may be cut.
            None if start == first => {
                let whole = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let lines = text::last_lines(&bytes[whole..], OutputExtent::Whole, count);
                return Ok(lines.unwrap_or_default());
            }
            None => wanted *= 4,
        }
    }
}

/// The kept output between two offsets.
fn read(tape: &TapeReader, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(0)];
    match tape.read(start, &mut bytes)? {
        Ok(read) => {
            bytes.truncate(read);
            Ok(bytes)
        }
        // The ring was overwritten meanwhile.
        Err(gap) => read(tape, gap.first, tape.end()),
    }
}

/// The rows of the screen.
pub(super) fn rows(tape: &TapeReader, style: CaptureStyle) -> io::Result<Vec<String>> {
    let mut replayed = ReplayedScreen::new(tape, tape.first(), b"");
    let end = tape.end();
    while let Err(gap) = replayed.catch_up(tape, end)? {
        // The ring was overwritten meanwhile.
        replayed = ReplayedScreen::new(tape, gap.first, b"");
    }
    // A synchronized update without an end would hide what was drawn.
    replayed.screen_mut().flush_update();
    Ok(text::rows(replayed.screen(), style))
}

/// The modes the program has switched its terminal to.
pub(super) fn modes(tape: &TapeReader) -> io::Result<ScreenModes> {
    let mut scanner = OutputScanner::new();
    each(tape, tape.first(), tape.end(), |bytes| scanner.feed(bytes, |_| {}))?;
    Ok(text::modes(&scanner))
}

/// Passes the kept output between two offsets in pieces; returns where it stopped.
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
            // The ring was overwritten meanwhile.
            Err(gap) => at = gap.first,
        }
    }
    Ok(at)
}

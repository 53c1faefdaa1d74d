//! A pane's screen as bytes, for clients that attach later: they write the bytes to a terminal and
//! continue from the offset.
//!
//! The offset never lies inside a character or an escape sequence: one that is cut would be lost,
//! or shown as text.

use std::io;

use paned_backend::{Output, ReplayedScreen};
use paned_model::{Offset, PaneId, Refusal, Size};
use paned_term::OutputScanner;
use paned_term::vt::ESC;

use crate::panes::screen::live_screen::ScreenHints;
use crate::panes::screen::live_screen::visible_screen;
use crate::panes::unreadable;
use crate::{Caller, Kernel};

/// How far back a sequence may have begun; the screen abandons longer ones, too.
const FAR: u64 = 1 << 20;
/// How far back most have begun.
const NEAR: u64 = 4 << 10;

/// A pane's screen as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenDump {
    /// The escape bytes that make a fresh terminal of this size show what the pane shows.
    pub bytes: Vec<u8>,
    /// Output after this offset continues from that screen.
    pub offset: Offset,
    /// How large the pane's terminal is.
    pub size: Size,
}

impl Kernel {
    /// A pane's screen as bytes, as everything it printed up to now makes it.
    ///
    /// # Errors
    /// When there is no such pane, or the caller may not see it.
    pub async fn dump(&self, pane: &PaneId, caller: &Caller) -> Result<ScreenDump, Refusal> {
        let pane = self.readable_pane(pane, caller)?;
        let output = pane.readable()?;
        let dump = pane.with_screen(output.clone(), output.end(), ScreenDump::of);
        let dump = dump.await.map_err(unreadable)?;
        align_offset(dump, output.as_ref()).map_err(unreadable)
    }
}

impl ScreenDump {
    fn of(seen: &mut ReplayedScreen, known: &ScreenHints) -> Self {
        let bytes = visible_screen(seen, known).dump();
        let drawn = seen.at().saturating_sub(seen.screen().pending_bytes() as u64);
        Self { bytes, offset: Offset(drawn), size: seen.size() }
    }
}

/// Moves the offset to the start of the sequence it lies in. Of a string too long for that, the
/// dump opens such a string again, so that its rest is not shown as text.
fn align_offset(mut dump: ScreenDump, output: &dyn Output) -> io::Result<ScreenDump> {
    let sequence = last_sequence(output, dump.offset.0)?;
    let mut scanner = OutputScanner::new();
    scanner.feed(&sequence, |_| {});
    dump.offset.0 -= scanner.pending() as u64;
    dump.bytes.extend(scanner.string_opener());
    Ok(dump)
}

/// The output from the last ESC before an offset up to the offset; nothing when that ESC is too far
/// back.
fn last_sequence(output: &dyn Output, end: u64) -> io::Result<Vec<u8>> {
    for back in [NEAR, FAR] {
        let mut bytes = read(output, end.saturating_sub(back).max(output.first()), end)?;
        if let Some(begin) = bytes.iter().rposition(|byte| *byte == ESC) {
            bytes.drain(..begin);
            return Ok(bytes);
        }
    }
    Ok(Vec::new())
}

/// The bytes between two offsets; fewer, or none, when they are no longer kept.
fn read(output: &dyn Output, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(0)];
    let mut filled = 0;
    while filled < bytes.len() {
        match output.read(from + filled as u64, &mut bytes[filled..])? {
            Ok(0) | Err(_) => return Ok(Vec::new()),
            Ok(read) => filled += read,
        }
    }
    Ok(bytes)
}

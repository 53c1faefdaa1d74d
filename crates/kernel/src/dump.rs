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
use crate::panes::{scrollback_dump, unreadable};
use crate::{Caller, Kernel};

/// The most rows above the screen that a dump has.
const MAX_HISTORY: usize = 1000;
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
        self.dump_with_history(pane, 0, caller).await
    }

    /// The same after at most so many rows that scrolled off the top: the terminal then has them in
    /// its scrollback.
    ///
    /// # Errors
    /// When there is no such pane, the caller may not see it, or there are too many rows.
    pub async fn dump_with_history(
        &self,
        pane: &PaneId,
        rows: usize,
        caller: &Caller,
    ) -> Result<ScreenDump, Refusal> {
        let pane = self.readable_pane(pane, caller)?;
        if MAX_HISTORY < rows {
            return Err(Refusal::invalid(format!("`history` must be at most {MAX_HISTORY}")));
        }
        let output = pane.readable()?;
        let dump = pane.with_screen(output.clone(), output.end(), ScreenDump::of);
        let mut dump = dump.await.map_err(unreadable)?;
        if 0 < rows {
            let hints = pane.screen_hints(output.as_ref());
            let tape = output.clone();
            // The rows above this very screen: it may have scrolled on meanwhile.
            let end = dump.offset.0;
            let draw = move || scrollback_dump(tape.as_ref(), &hints, rows, end);
            let drawn = tokio::task::spawn_blocking(draw).await.map_err(Refusal::internal)?;
            let mut bytes = drawn.map_err(unreadable)?;
            bytes.append(&mut dump.bytes);
            dump.bytes = bytes;
        }
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
pub(crate) fn align_offset(mut dump: ScreenDump, output: &dyn Output) -> io::Result<ScreenDump> {
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

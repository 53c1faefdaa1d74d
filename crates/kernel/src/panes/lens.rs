//! A pane's screen, made when somebody looks: the emulator is the dearest part of a pane, so one that
//! nobody watches has none.

use std::io;

use paned_model::{Offset, Size};
use paned_substrate::Output;
use paned_term::Screen;

use crate::Dump;

/// How much is parsed in one go.
const PIECE: usize = 64 << 10;

/// What is known of a pane without parsing it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// How large its terminal is.
    pub(crate) size: Size,
    /// What a fresh screen must hear first when the beginning of the output is no longer kept.
    pub(crate) preamble: Vec<u8>,
    /// Up to here, since the very beginning, no escape sequence was printed.
    pub(crate) plain_until: u64,
}

/// A pane's screen up to some offset, if there is one.
#[derive(Default)]
pub(crate) struct Lens {
    seen: Option<Seen>,
}

struct Seen {
    screen: Screen,
    size: Size,
    at: u64,
}

impl Lens {
    /// How many bytes lie between the screen and the end of the output.
    pub(crate) fn behind(&self, output: &dyn Output) -> u64 {
        let at = self.seen.as_ref().map_or(output.first(), |seen| seen.at);
        output.end().saturating_sub(at)
    }

    /// The screen as the output up to now makes it.
    pub(crate) fn screen(&mut self, output: &dyn Output, known: &Known) -> io::Result<&Screen> {
        self.catch_up(output, known, output.end())?;
        Ok(&self.seen(output, known).screen)
    }

    /// What a terminal would have answered to the bytes from `from` on; older questions were answered
    /// in their time.
    pub(crate) fn replies(
        &mut self,
        output: &dyn Output,
        known: &Known,
        from: u64,
    ) -> io::Result<Vec<u8>> {
        let end = output.end();
        self.catch_up(output, known, from)?;
        drop(self.seen(output, known).screen.take_replies());
        self.catch_up(output, known, end)?;
        Ok(self.seen(output, known).screen.take_replies())
    }

    /// The screen as bytes, once somebody has looked at it: how large it is, and up to where it is drawn.
    pub(crate) fn dump(&self) -> Option<Dump> {
        let Seen { screen, size, at } = self.seen.as_ref()?;
        let drawn = at.saturating_sub(screen.undrawn() as u64);
        Some(Dump { bytes: screen.dump(), offset: Offset(drawn), size: *size })
    }

    fn seen(&mut self, output: &dyn Output, known: &Known) -> &mut Seen {
        self.seen.get_or_insert_with(|| Seen::fresh(output.first(), known))
    }

    fn catch_up(&mut self, output: &dyn Output, known: &Known, end: u64) -> io::Result<()> {
        let seen = self.seen(output, known);
        seen.resize(known.size);
        // Mostly it is up to date already, or nearly.
        let behind = usize::try_from(end.saturating_sub(seen.at)).unwrap_or(PIECE);
        let mut buffer = vec![0; PIECE.min(behind)];
        if PIECE as u64 * 2 < end.saturating_sub(seen.at) {
            seen.skip_plain(output, known)?;
        }
        while seen.at < end {
            let wanted = buffer.len().min(usize::try_from(end - seen.at).unwrap_or(PIECE));
            match output.read(seen.at, &mut buffer[..wanted])? {
                Ok(0) => break,
                Ok(read) => {
                    seen.screen.feed(&buffer[..read]);
                    seen.at += read as u64;
                }
                // The ring was faster: begin anew with what is kept.
                Err(gap) => *seen = Seen::fresh(gap.first, known),
            }
        }
        Ok(())
    }
}

impl Seen {
    fn fresh(at: u64, known: &Known) -> Self {
        let mut screen = Screen::new(known.size);
        if 0 < at {
            screen.feed(&known.preamble);
        }
        Self { screen, size: known.size, at }
    }

    /// Where there was nothing but plain lines since the beginning, the last screenful of them is all that
    /// shows: what came before is not parsed.
    fn skip_plain(&mut self, output: &dyn Output, known: &Known) -> io::Result<()> {
        let mut bytes = vec![0; PIECE];
        let from = known.plain_until.saturating_sub(PIECE as u64);
        if from <= self.at {
            return Ok(());
        }
        let Ok(read) = output.read(from, &mut bytes)? else { return Ok(()) };
        let plain = read.min(usize::try_from(known.plain_until - from).unwrap_or(read));
        if let Some(start) = last_screenful(&bytes[..plain], usize::from(known.size.rows)) {
            *self = Self::fresh(from + start as u64, known);
        }
        Ok(())
    }

    fn resize(&mut self, size: Size) {
        if self.size != size {
            self.screen.resize(size);
            self.size = size;
        }
    }
}

/// Where the last screenful of plain lines begins: after a line end that brings the cursor to the left.
fn last_screenful(plain: &[u8], rows: usize) -> Option<usize> {
    let start = memchr::memrchr_iter(b'\n', plain).nth(rows)?;
    plain[..start].ends_with(b"\r").then_some(start + 1)
}

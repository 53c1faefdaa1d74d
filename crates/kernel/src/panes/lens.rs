//! A pane's screen, made when somebody looks: the emulator is the dearest part of a pane, so one that
//! nobody watches has none.

use std::io;

use paned_model::{Offset, Size};
use paned_substrate::Output;
use paned_term::Screen;

use crate::Dump;

/// How much is parsed in one go.
const PIECE: usize = 64 << 10;

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

    /// The screen as the output up to now makes it. `preamble` is what a fresh screen must hear when the
    /// beginning of the output is no longer kept.
    pub(crate) fn screen(
        &mut self,
        output: &dyn Output,
        size: Size,
        preamble: &[u8],
    ) -> io::Result<&Screen> {
        let end = output.end();
        self.catch_up(output, size, preamble, end)?;
        Ok(&self.seen(output, size, preamble).screen)
    }

    /// What a terminal would have answered to the bytes from `from` on; older questions were answered
    /// in their time.
    pub(crate) fn replies(
        &mut self,
        output: &dyn Output,
        size: Size,
        from: u64,
    ) -> io::Result<Vec<u8>> {
        let end = output.end();
        self.catch_up(output, size, &[], from)?;
        drop(self.seen(output, size, &[]).screen.take_replies());
        self.catch_up(output, size, &[], end)?;
        Ok(self.seen(output, size, &[]).screen.take_replies())
    }

    /// The screen as bytes, once somebody has looked at it: how large it is, and up to where it is drawn.
    pub(crate) fn dump(&self) -> Option<Dump> {
        let Seen { screen, size, at } = self.seen.as_ref()?;
        let drawn = at.saturating_sub(screen.undrawn() as u64);
        Some(Dump { bytes: screen.dump(), offset: Offset(drawn), size: *size })
    }

    fn seen(&mut self, output: &dyn Output, size: Size, preamble: &[u8]) -> &mut Seen {
        self.seen.get_or_insert_with(|| Seen::fresh(output.first(), size, preamble))
    }

    fn catch_up(
        &mut self,
        output: &dyn Output,
        size: Size,
        preamble: &[u8],
        end: u64,
    ) -> io::Result<()> {
        let mut buffer = vec![0; PIECE];
        let seen = self.seen(output, size, preamble);
        seen.resize(size);
        while seen.at < end {
            let wanted = PIECE.min(usize::try_from(end - seen.at).unwrap_or(PIECE));
            match output.read(seen.at, &mut buffer[..wanted])? {
                Ok(0) => break,
                Ok(read) => {
                    seen.screen.feed(&buffer[..read]);
                    seen.at += read as u64;
                }
                // The ring was faster: begin anew with what is kept.
                Err(gap) => *seen = Seen::fresh(gap.first, size, preamble),
            }
        }
        Ok(())
    }
}

impl Seen {
    fn fresh(at: u64, size: Size, preamble: &[u8]) -> Self {
        let mut screen = Screen::new(size);
        if 0 < at {
            screen.feed(preamble);
        }
        Self { screen, size, at }
    }

    fn resize(&mut self, size: Size) {
        if self.size != size {
            self.screen.resize(size);
            self.size = size;
        }
    }
}

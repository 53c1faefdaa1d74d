//! A pane's screen, made when somebody looks: the emulator is the dearest part of a pane, so one that
//! nobody watches has none.

use std::io;

use paned_model::Offset;
use paned_substrate::{Drawn, Output};
use paned_term::Screen;

use crate::Dump;

/// What is known of a pane without parsing it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// What a fresh screen must hear first when the beginning of the output is no longer kept.
    pub(crate) preamble: Vec<u8>,
    /// Up to here, since the very beginning, no escape sequence was printed.
    pub(crate) plain_until: u64,
    /// A synchronized update that began up to here and has not ended is shown: its program takes too long, or has gone.
    pub(crate) stale_until: u64,
}

impl Known {
    /// A blank screen that goes on from an offset.
    pub(crate) fn blank(&self, output: &dyn Output, at: u64, history: usize) -> Drawn {
        let preamble = if 0 < at { &self.preamble[..] } else { &[] };
        Drawn::with_history(output, at, preamble, history)
    }
}

/// A pane's screen up to some offset, if there is one.
#[derive(Default)]
pub(crate) struct Lens {
    seen: Option<Drawn>,
}

impl Lens {
    /// How many bytes lie between the screen and the end of the output.
    pub(crate) fn behind(&self, output: &dyn Output) -> u64 {
        let at = self.seen.as_ref().map_or(output.first(), Drawn::at);
        output.end().saturating_sub(at)
    }

    /// The screen as the output up to now makes it.
    pub(crate) fn screen(&mut self, output: &dyn Output, known: &Known) -> io::Result<&Screen> {
        let seen = self.catch_up(output, known, output.end())?;
        let drawn = seen.at().saturating_sub(seen.screen().undrawn() as u64);
        if drawn <= known.stale_until {
            seen.screen_mut().settle();
        }
        Ok(seen.screen())
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
        drop(self.catch_up(output, known, from)?.screen_mut().take_replies());
        Ok(self.catch_up(output, known, end)?.screen_mut().take_replies())
    }

    /// The screen as bytes, once somebody has looked at it: how large it is, and up to where it is drawn.
    pub(crate) fn dump(&self) -> Option<Dump> {
        let seen = self.seen.as_ref()?;
        let drawn = seen.at().saturating_sub(seen.screen().undrawn() as u64);
        Some(Dump { bytes: seen.screen().dump(), offset: Offset(drawn), size: seen.size() })
    }

    fn catch_up(&mut self, output: &dyn Output, known: &Known, end: u64) -> io::Result<&mut Drawn> {
        let seen = self.seen.get_or_insert_with(|| known.blank(output, output.first(), 0));
        while let Err(gap) = seen.catch_up_from(output, end, known.plain_until)? {
            // The ring was faster: begin anew with what is kept.
            *seen = known.blank(output, gap.first, 0);
        }
        Ok(seen)
    }
}

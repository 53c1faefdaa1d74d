//! A pane's screen, made when somebody looks: the emulator is the dearest part of a pane, so one that
//! nobody watches has none.

use std::io;
use std::sync::Arc;

use paned_substrate::{Drawn, Output};
use paned_term::Screen;

use super::Pane;

/// So little is drawn at once, wherever one is.
const LITTLE: u64 = 16 << 10;
/// How much is drawn in one go.
const PIECE: u64 = 64 << 10;

/// What is known of a pane without parsing it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// What a fresh screen must hear first when the beginning of the output is no longer kept.
    pub(crate) preamble: Vec<u8>,
    /// Up to here, since the very beginning, no escape sequence was printed.
    pub(crate) plain_until: u64,
    /// A synchronized update that began up to here and has not ended is shown: its program takes too long, or has gone.
    pub(crate) stale_until: u64,
    /// What was asked before this offset nobody wants to know any more.
    pub(crate) asked_before: u64,
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
    /// What was asked before this offset was answered in its time.
    answered: u64,
}

impl Lens {
    /// How many bytes lie between the screen and an offset.
    fn behind(&self, output: &dyn Output, until: u64) -> u64 {
        let at = self.seen.as_ref().map_or(output.first(), Drawn::at);
        until.saturating_sub(at)
    }

    /// Draws on towards an offset that is known to be written, at most a piece. The screen, once it is there, and what is
    /// known of it.
    fn draw(
        &mut self,
        pane: &Pane,
        output: &dyn Output,
        until: u64,
    ) -> io::Result<Option<(&mut Drawn, Known)>> {
        let known = pane.known(output);
        let seen = self.seen.get_or_insert_with(|| {
            self.answered = output.taken();
            known.blank(output, output.first(), 0)
        });
        self.answered = self.answered.max(known.asked_before);
        let begun = seen.at();
        // Plain lines are one piece, however many.
        let mut end = (begun + PIECE).max(known.plain_until);
        if begun < self.answered {
            end = end.min(self.answered);
        }
        if let Err(gap) = seen.catch_up_from(output, end.min(until), known.plain_until)? {
            // The ring was faster: begin anew with what is kept, and with what is known by now of what is not.
            *seen = pane.known(output).blank(output, gap.first, 0);
        }
        if seen.at() <= self.answered {
            drop(seen.screen_mut().take_replies());
        }
        let is_there = until <= seen.at() || seen.at() == begun;
        Ok(is_there.then_some((seen, known)))
    }
}

/// The screen as a person sees it, who does not wait for updates that never end.
pub(crate) fn settled<'a>(seen: &'a mut Drawn, known: &Known) -> &'a Screen {
    let drawn = seen.at().saturating_sub(seen.screen().undrawn() as u64);
    if drawn <= known.stale_until {
        seen.screen_mut().settle();
    }
    seen.screen()
}

impl Pane {
    /// Looks through its lens once that shows at least everything up to an offset. A little is drawn here. Much is drawn
    /// on another thread, a piece at a time, so that nobody else who wants the lens waits for all of it.
    pub(crate) async fn focus<T: Send + 'static>(
        self: &Arc<Self>,
        output: Arc<dyn Output>,
        until: u64,
        look: impl FnOnce(&mut Drawn, &Known) -> T + Send + 'static,
    ) -> io::Result<T> {
        let mut lens = self.lens.lock().await;
        if lens.behind(output.as_ref(), until) <= LITTLE {
            loop {
                if let Some((seen, known)) = lens.draw(self, output.as_ref(), until)? {
                    return Ok(look(seen, &known));
                }
            }
        }
        drop(lens);
        let pane = self.clone();
        let draw = move || loop {
            let mut lens = pane.lens.blocking_lock();
            if let Some((seen, known)) = lens.draw(&pane, output.as_ref(), until)? {
                return Ok(look(seen, &known));
            }
        };
        tokio::task::spawn_blocking(draw).await.map_err(io::Error::other)?
    }
}

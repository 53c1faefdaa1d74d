//! A pane's screen, created when it is first read: the emulator is the most expensive part of a
//! pane, so a pane that no client watches has none.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use paned_backend::{Output, ReplayedScreen, thread_time};
use paned_term::Screen;

use crate::panes::Pane;

/// A backlog up to this size is drawn inline, on the caller's thread.
const INLINE_BYTES: u64 = 16 << 10;
/// How much is drawn at a time.
const PIECE: u64 = 64 << 10;
/// How long to draw inline; the rest is drawn on a blocking thread.
const INLINE_TIME: Duration = Duration::from_millis(2);
/// How long one caller may hold the screen's lock while others wait for it.
const LOCK_TIME: Duration = Duration::from_millis(20);

/// How much CPU time a thread may spend on drawing for one caller. Output that fills a large screen
/// again and again costs milliseconds a byte; most output costs ten nanoseconds. A caller that has
/// drawn much gets more time, because it makes progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawBudget {
    begun: Duration,
}

impl DrawBudget {
    const LEAST: Duration = Duration::from_secs(2);
    const MOST: Duration = Duration::from_secs(10);
    /// The budget grows by one second for this number of bytes drawn.
    const SECOND: u64 = 1 << 20;

    /// A budget for this thread, from now on.
    pub(crate) fn new() -> Self {
        Self { begun: thread_time() }
    }

    /// Whether a caller that has drawn so many bytes has used it up.
    pub(crate) fn is_spent(&self, drawn: u64) -> bool {
        let more = Duration::from_secs(drawn / Self::SECOND);
        Self::MOST.min(Self::LEAST + more) <= thread_time().saturating_sub(self.begun)
    }

    /// The error of a caller that has used it up.
    pub(crate) fn error(left: u64) -> io::Error {
        let sentence = format!(
            "the program's output takes too long to render; {left} bytes are still to be \
            rendered; retry to continue"
        );
        io::Error::new(ErrorKind::TimedOut, sentence)
    }
}

/// What is known of a pane without parsing its output.
#[derive(Clone, Debug)]
pub(crate) struct ScreenHints {
    /// Bytes to feed to a new screen first when the start of the output is no longer kept.
    pub(crate) preamble: Vec<u8>,
    /// Up to here, from the very start, no escape sequence was printed.
    pub(crate) plain_until: u64,
    /// A synchronized update that began up to here and has not ended is shown anyway: its program
    /// takes too long, or has exited.
    pub(crate) stale_until: u64,
    /// Terminal queries before this offset get no reply any more.
    pub(crate) ignore_queries_before: u64,
}

impl ScreenHints {
    /// A blank screen that starts at an offset.
    pub(crate) fn blank_screen(
        &self,
        output: &dyn Output,
        at: u64,
        history: usize,
    ) -> ReplayedScreen {
        let preamble = if 0 < at { &self.preamble[..] } else { &[] };
        ReplayedScreen::with_history(output, at, preamble, history)
    }
}

/// A pane's screen up to some offset, if there is one.
#[derive(Default)]
pub(crate) struct LiveScreen {
    replayed: Option<ReplayedScreen>,
    /// Terminal queries before this offset were answered already.
    answered_until: u64,
}

impl LiveScreen {
    /// How many bytes lie between the screen and an offset.
    fn behind(&self, output: &dyn Output, until: u64) -> u64 {
        let at = self.replayed.as_ref().map_or(output.first(), ReplayedScreen::at);
        until.saturating_sub(at)
    }

    /// Draws on towards an offset that is known to be written, at most one piece and for about
    /// `turn`. Returns the screen and its hints once it is there.
    fn draw(
        &mut self,
        pane: &Pane,
        output: &dyn Output,
        until: u64,
        turn: Duration,
    ) -> io::Result<Option<(&mut ReplayedScreen, ScreenHints)>> {
        let hints = pane.screen_hints(output);
        let replayed = self.replayed.get_or_insert_with(|| {
            self.answered_until = output.taken();
            hints.blank_screen(output, output.first(), 0)
        });
        self.answered_until = self.answered_until.max(hints.ignore_queries_before);
        let begun = replayed.at();
        // Plain lines count as one piece, however many there are.
        let mut end = (begun + PIECE).max(hints.plain_until);
        if begun < self.answered_until {
            end = end.min(self.answered_until);
        }
        let turn_ends = Instant::now() + turn;
        let mut goes_on = || Instant::now() < turn_ends;
        match replayed.catch_up_while(output, end.min(until), hints.plain_until, &mut goes_on) {
            Ok(Ok(())) => {}
            // The ring has overwritten it: restart with what is kept, and with new hints about what
            // is not.
            Ok(Err(gap)) => {
                *replayed = pane.screen_hints(output).blank_screen(output, gap.first, 0)
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(None),
            Err(error) => return Err(error),
        }
        if replayed.at() <= self.answered_until {
            drop(replayed.screen_mut().take_replies());
        }
        let is_there = until <= replayed.at() || replayed.at() == begun;
        Ok(is_there.then_some((replayed, hints)))
    }
}

/// The screen as a user sees it: an update that never ends is shown unfinished.
pub(crate) fn visible_screen<'a>(
    replayed: &'a mut ReplayedScreen,
    hints: &ScreenHints,
) -> &'a Screen {
    let drawn = replayed.at().saturating_sub(replayed.screen().pending_bytes() as u64);
    if drawn <= hints.stale_until {
        replayed.screen_mut().flush_update();
    }
    replayed.screen()
}

/// Stops the drawing thread when the caller's future is dropped: its client has hung up.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Pane {
    /// Calls `look` with the screen once that shows at least everything up to an offset. A little
    /// is drawn inline. More is drawn on a blocking thread, a piece at a time, so that no other
    /// caller waits for all of it. That ends when the budget is used up, or the client has hung up;
    /// the next call continues from there.
    pub(crate) async fn with_screen<T: Send + 'static>(
        self: &Arc<Self>,
        output: Arc<dyn Output>,
        until: u64,
        look: impl FnOnce(&mut ReplayedScreen, &ScreenHints) -> T + Send + 'static,
    ) -> io::Result<T> {
        let mut live = self.live_screen.lock().await;
        if live.behind(output.as_ref(), until) <= INLINE_BYTES {
            let begun = Instant::now();
            while begun.elapsed() < INLINE_TIME {
                if let Some((replayed, hints)) =
                    live.draw(self, output.as_ref(), until, INLINE_TIME)?
                {
                    return Ok(look(replayed, &hints));
                }
            }
        }
        drop(live);
        let pane = self.clone();
        let cancel = CancelOnDrop(Arc::default());
        let is_cancelled = cancel.0.clone();
        let draw = move || {
            pane.draw_within(DrawBudget::new(), &is_cancelled, output.as_ref(), until, look)
        };
        let drawn = tokio::task::spawn_blocking(draw).await.map_err(io::Error::other)?;
        drop(cancel);
        drawn
    }

    /// Draws up to an offset and calls `look`, unless the budget is used up before.
    fn draw_within<T>(
        &self,
        budget: DrawBudget,
        is_cancelled: &AtomicBool,
        output: &dyn Output,
        until: u64,
        look: impl FnOnce(&mut ReplayedScreen, &ScreenHints) -> T,
    ) -> io::Result<T> {
        let before = self.live_screen.blocking_lock().behind(output, until);
        loop {
            let mut live = self.live_screen.blocking_lock();
            if let Some((replayed, hints)) = live.draw(self, output, until, LOCK_TIME)? {
                return Ok(look(replayed, &hints));
            }
            let left = live.behind(output, until);
            if is_cancelled.load(Ordering::Relaxed) || budget.is_spent(before.saturating_sub(left))
            {
                return Err(DrawBudget::error(left));
            }
        }
    }
}

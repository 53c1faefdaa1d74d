//! A pane's screen, made when somebody looks: the emulator is the dearest part of a pane, so one that
//! nobody watches has none.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use paned_backend::{Output, ReplayedScreen, thread_time};
use paned_term::Screen;

use super::Pane;

/// So little is drawn at once, wherever one is.
const INLINE_BYTES: u64 = 16 << 10;
/// How much is drawn in one go.
const PIECE: u64 = 64 << 10;
/// How long is drawn where one is; the rest is drawn on another thread.
const INLINE_TIME: Duration = Duration::from_millis(2);
/// How long one look has the lens while others wait for it.
const LOCK_TIME: Duration = Duration::from_millis(20);

/// How long a thread may draw for one look, in time that it works. What fills a large screen again and again costs milliseconds a byte; most output costs ten
/// nanoseconds. A look that has drawn much may take longer, for it has come far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawBudget {
    begun: Duration,
}

impl DrawBudget {
    const LEAST: Duration = Duration::from_secs(2);
    const MOST: Duration = Duration::from_secs(10);
    /// For each so many bytes that were drawn there is a second more.
    const SECOND: u64 = 1 << 20;

    /// A budget for this thread, from now on.
    pub(crate) fn new() -> Self {
        Self { begun: thread_time() }
    }

    /// Whether it is used up by a look that has drawn so many bytes.
    pub(crate) fn is_spent(&self, drawn: u64) -> bool {
        let more = Duration::from_secs(drawn / Self::SECOND);
        Self::MOST.min(Self::LEAST + more) <= thread_time().saturating_sub(self.begun)
    }

    /// The error of a look that has used it up.
    pub(crate) fn error(left: u64) -> io::Error {
        let sentence = format!(
            "what the program prints takes too long to draw, and {left} bytes of it are not drawn yet; \
             the next look goes on from there"
        );
        io::Error::new(ErrorKind::TimedOut, sentence)
    }
}

/// What is known of a pane without parsing it.
#[derive(Clone, Debug)]
pub(crate) struct ScreenHints {
    /// What a fresh screen must hear first when the beginning of the output is no longer kept.
    pub(crate) preamble: Vec<u8>,
    /// Up to here, since the very beginning, no escape sequence was printed.
    pub(crate) plain_until: u64,
    /// A synchronized update that began up to here and has not ended is shown: its program takes too long, or has gone.
    pub(crate) stale_until: u64,
    /// What was asked before this offset nobody wants to know any more.
    pub(crate) ignore_queries_before: u64,
}

impl ScreenHints {
    /// A blank screen that goes on from an offset.
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
    /// What was asked before this offset was answered in its time.
    answered_until: u64,
}

impl LiveScreen {
    /// How many bytes lie between the screen and an offset.
    fn behind(&self, output: &dyn Output, until: u64) -> u64 {
        let at = self.replayed.as_ref().map_or(output.first(), ReplayedScreen::at);
        until.saturating_sub(at)
    }

    /// Draws on towards an offset that is known to be written, at most a piece and about so long. The screen, once it is
    /// there, and what is known of it.
    fn draw(
        &mut self,
        pane: &Pane,
        output: &dyn Output,
        until: u64,
        turn: Duration,
    ) -> io::Result<Option<(&mut ReplayedScreen, ScreenHints)>> {
        let known = pane.screen_hints(output);
        let seen = self.replayed.get_or_insert_with(|| {
            self.answered_until = output.taken();
            known.blank_screen(output, output.first(), 0)
        });
        self.answered_until = self.answered_until.max(known.ignore_queries_before);
        let begun = seen.at();
        // Plain lines are one piece, however many.
        let mut end = (begun + PIECE).max(known.plain_until);
        if begun < self.answered_until {
            end = end.min(self.answered_until);
        }
        let turn_ends = Instant::now() + turn;
        let mut goes_on = || Instant::now() < turn_ends;
        match seen.catch_up_while(output, end.min(until), known.plain_until, &mut goes_on) {
            Ok(Ok(())) => {}
            // The ring was faster: begin anew with what is kept, and with what is known by now of what is not.
            Ok(Err(gap)) => *seen = pane.screen_hints(output).blank_screen(output, gap.first, 0),
            Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(None),
            Err(error) => return Err(error),
        }
        if seen.at() <= self.answered_until {
            drop(seen.screen_mut().take_replies());
        }
        let is_there = until <= seen.at() || seen.at() == begun;
        Ok(is_there.then_some((seen, known)))
    }
}

/// The screen as a person sees it, who does not wait for updates that never end.
pub(crate) fn visible_screen<'a>(seen: &'a mut ReplayedScreen, known: &ScreenHints) -> &'a Screen {
    let drawn = seen.at().saturating_sub(seen.screen().pending_bytes() as u64);
    if drawn <= known.stale_until {
        seen.screen_mut().flush_update();
    }
    seen.screen()
}

/// Tells a thread that draws for a look when the look is dropped: its caller has hung up.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Pane {
    /// Looks through its lens once that shows at least everything up to an offset. A little is drawn here. Much is drawn
    /// on another thread, a piece at a time, so that nobody else who wants the lens waits for all of it. That ends when the
    /// budget is used up, or the caller has hung up; the next look goes on from there.
    pub(crate) async fn with_screen<T: Send + 'static>(
        self: &Arc<Self>,
        output: Arc<dyn Output>,
        until: u64,
        look: impl FnOnce(&mut ReplayedScreen, &ScreenHints) -> T + Send + 'static,
    ) -> io::Result<T> {
        let mut lens = self.live_screen.lock().await;
        if lens.behind(output.as_ref(), until) <= INLINE_BYTES {
            let begun = Instant::now();
            while begun.elapsed() < INLINE_TIME {
                if let Some((seen, known)) = lens.draw(self, output.as_ref(), until, INLINE_TIME)? {
                    return Ok(look(seen, &known));
                }
            }
        }
        drop(lens);
        let pane = self.clone();
        let asker = CancelOnDrop(Arc::default());
        let is_gone = asker.0.clone();
        let draw =
            move || pane.draw_within(DrawBudget::new(), &is_gone, output.as_ref(), until, look);
        let drawn = tokio::task::spawn_blocking(draw).await.map_err(io::Error::other)?;
        drop(asker);
        drawn
    }

    /// Draws up to an offset and looks, unless the budget is used up before.
    fn draw_within<T>(
        &self,
        budget: DrawBudget,
        is_gone: &AtomicBool,
        output: &dyn Output,
        until: u64,
        look: impl FnOnce(&mut ReplayedScreen, &ScreenHints) -> T,
    ) -> io::Result<T> {
        let before = self.live_screen.blocking_lock().behind(output, until);
        loop {
            let mut lens = self.live_screen.blocking_lock();
            if let Some((seen, known)) = lens.draw(self, output, until, LOCK_TIME)? {
                return Ok(look(seen, &known));
            }
            let left = lens.behind(output, until);
            if is_gone.load(Ordering::Relaxed) || budget.is_spent(before.saturating_sub(left)) {
                return Err(DrawBudget::error(left));
            }
        }
    }
}

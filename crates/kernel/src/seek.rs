//! A pane's screen at a kept moment: replayed from the tape, with checkpoints on the way, so that
//! the next seek in the same pane replays about a megabyte and not all of the tape.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};

use paned_backend::{Output, ReplayedScreen};
use paned_model::{Code, Instance, Offset, Refusal, Time};

use crate::Kernel;
use crate::dump::{ScreenDump, align_offset};
use crate::panes::screen::live_screen::{DrawBudget, ScreenHints};
use crate::panes::screen::screen_cache::ScreenMoment;
use crate::panes::text::moments;
use crate::panes::{Pane, unreadable};

/// How far apart checkpoints are.
const APART: u64 = 1 << 20;
/// The largest checkpoint that is kept.
const MAX_CHECKPOINT: usize = 256 << 10;
/// How many checkpoints one pane has, and for how many panes they are kept.
const MAX_CHECKPOINTS: usize = 64;
const MAX_PANES: usize = 8;

/// A moment in a pane's output, as a client names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// When so many bytes were printed.
    Offset(u64),
    /// At this time.
    Time(Time),
}

/// A screen that was drawn before, as bytes that draw it again.
#[derive(Clone)]
struct Checkpoint {
    offset: u64,
    dump: Arc<[u8]>,
}

/// The checkpoints of the panes that were seeked last.
#[derive(Default)]
pub(crate) struct SeekCache(Mutex<VecDeque<(Instance, Vec<Checkpoint>)>>);

impl SeekCache {
    /// The last checkpoint of a pane in a range.
    fn find(&self, pane: &Instance, first: u64, upto: u64) -> Option<Checkpoint> {
        let mut panes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = panes.iter().position(|(of, _)| of == pane)?;
        let entry = panes.remove(at)?;
        panes.push_front(entry);
        let kept = panes.front()?.1.iter();
        let usable = kept.filter(|it| first <= it.offset && it.offset <= upto);
        usable.max_by_key(|it| it.offset).cloned()
    }

    fn put(&self, pane: &Instance, first: u64, checkpoint: Checkpoint) {
        let mut panes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !panes.iter().any(|(of, _)| of == pane) {
            panes.push_front((pane.clone(), Vec::new()));
            panes.truncate(MAX_PANES);
        }
        let Some((_, kept)) = panes.iter_mut().find(|(of, _)| of == pane) else { return };
        kept.retain(|it| first <= it.offset);
        let is_near = |it: &Checkpoint| it.offset.abs_diff(checkpoint.offset) < APART / 2;
        if kept.len() < MAX_CHECKPOINTS && !kept.iter().any(is_near) {
            kept.push(checkpoint);
        }
    }
}

impl Kernel {
    /// Reads a pane's screen as it was at a moment.
    pub(crate) async fn screen_at<T: Send + 'static>(
        &self,
        pane: &Arc<Pane>,
        moment: Moment,
        read: impl FnOnce(&ReplayedScreen) -> T + Send + 'static,
    ) -> Result<(T, ScreenMoment), Refusal> {
        let output = pane.readable()?;
        let kernel = self.clone();
        let pane = pane.clone();
        let seek = move || {
            let found = find_moment(&pane, output.as_ref(), moment)?;
            let hints = pane.screen_hints(output.as_ref());
            let cache = &kernel.inner.seek_cache;
            let drawn = draw(cache, pane.instance(), output.as_ref(), &hints, found.offset.0);
            Ok((read(&drawn.map_err(unreadable)?), found))
        };
        tokio::task::spawn_blocking(seek).await.map_err(Refusal::internal)?
    }
}

/// The offset of a moment, or why there is none.
fn find_moment(pane: &Pane, output: &dyn Output, moment: Moment) -> Result<ScreenMoment, Refusal> {
    let first = output.first();
    let end = output.end();
    let id = &pane.id;
    let gone = |since: String| {
        let sentence = format!("the output of pane `{id}` is kept {since}; older output is gone");
        Err(Refusal::new(Code::Gone, sentence))
    };
    let offset = match moment {
        Moment::Offset(offset) if end < offset => {
            let sentence =
                format!("`at` is beyond the output of pane `{id}`, which has {end} bytes");
            return Err(Refusal::invalid(sentence));
        }
        Moment::Offset(offset) if offset < first => return gone(format!("from offset {first} on")),
        Moment::Offset(offset) => offset,
        Moment::Time(time) => {
            let offset = moments::offset_at(output, first, end, time).map_err(unreadable)?;
            if offset == first && 0 < first {
                let kept = output.time(first).map_err(unreadable)?;
                let since = kept.map_or_else(
                    |_| "from later on".to_owned(),
                    |kept| format!("from {} on", kept.time),
                );
                return gone(since);
            }
            offset
        }
    };
    let last = offset.checked_sub(1).filter(|last| first <= *last);
    let time = last.map(|last| output.time(last)).transpose().map_err(unreadable)?;
    let time = time.and_then(Result::ok).map(|printed| printed.time);
    Ok(ScreenMoment { offset: Offset(offset), time, truncated_start: 0 < first })
}

/// Draws the screen at an offset, from the last checkpoint before it, and makes new ones on the
/// way.
fn draw(
    cache: &SeekCache,
    pane: &Instance,
    output: &dyn Output,
    hints: &ScreenHints,
    until: u64,
) -> io::Result<ReplayedScreen> {
    let budget = DrawBudget::new();
    let mut first = output.first();
    loop {
        let mut drawn = match cache.find(pane, first, until) {
            Some(Checkpoint { offset, dump }) => ReplayedScreen::new(output, offset, &dump),
            None => hints.blank_screen(output, first.min(until), 0),
        };
        let begun = drawn.at();
        let mut restart = None;
        while drawn.at() < until && restart.is_none() {
            let step = (drawn.at() / APART + 1).saturating_mul(APART).min(until);
            let from = drawn.at();
            let mut goes_on = || !budget.is_spent(from - begun);
            match drawn.catch_up_while(output, step, hints.plain_until, &mut goes_on) {
                Ok(Ok(())) if drawn.at() == from => break,
                Ok(Ok(())) if step < until => remember(cache, pane, first, &drawn, output)?,
                Ok(Ok(())) => {}
                // The ring has overwritten it.
                Ok(Err(gap)) => restart = Some(gap.first),
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    return Err(DrawBudget::error(until - drawn.at()));
                }
                Err(error) => return Err(error),
            }
        }
        match restart.filter(|at| first < *at && *at <= until) {
            Some(at) => first = at,
            None => return Ok(drawn),
        }
    }
}

/// Keeps a checkpoint of what is drawn.
fn remember(
    cache: &SeekCache,
    pane: &Instance,
    first: u64,
    drawn: &ReplayedScreen,
    output: &dyn Output,
) -> io::Result<()> {
    let screen = drawn.screen();
    // A dump that does not restore all of the screen is no checkpoint.
    if screen.loss().is_some() || screen.is_update_held() {
        return Ok(());
    }
    let at = drawn.at().saturating_sub(screen.pending_bytes() as u64);
    let dump = ScreenDump { bytes: screen.dump(), offset: Offset(at), size: drawn.size() };
    let dump = align_offset(dump, output)?;
    if dump.bytes.len() <= MAX_CHECKPOINT {
        let checkpoint = Checkpoint { offset: dump.offset.0, dump: dump.bytes.into() };
        cache.put(pane, first, checkpoint);
    }
    Ok(())
}

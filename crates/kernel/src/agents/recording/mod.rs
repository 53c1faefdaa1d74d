//! The history of an agent, in bounded memory, and recordings made from it and from the output of
//! what has already happened.

mod asciicast;
mod output_history;

use std::collections::VecDeque;
use std::sync::Arc;

use paned_backend::Output;
use paned_model::{AgentState, BlockKind, Refusal, Size, Time};
use paned_term::Screen;

use self::asciicast::AsciicastWriter;
use super::{AgentHandle, AgentRequest};
use crate::panes::Pane;
use crate::panes::screen::live_screen::{DrawBudget, ScreenHints};

/// How many entries are kept; at one every 30 ms that is a quarter of an hour of work.
const MAX_ENTRIES: usize = 30_000;
/// How many bytes of one input are kept.
const LONGEST: usize = 4096;

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    pub(crate) at: Time,
    pub(crate) what: HistoryEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HistoryEvent {
    /// It printed, up to this offset.
    Printed(u64),
    /// A client typed this, at this offset of its output.
    Typed(u64, Vec<u8>),
    /// Its terminal got this size, at this offset of its output.
    Resized(u64, Size),
    /// It is in this state from now on.
    State(AgentState, Option<BlockKind>),
}

/// The last entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentHistory {
    entries: VecDeque<HistoryEntry>,
    /// The size before the first entry that is kept.
    base_size: Option<Size>,
    size: Option<Size>,
    state: Option<(AgentState, Option<BlockKind>)>,
}

impl AgentHistory {
    /// It has printed up to this offset, on a terminal of this size. Entries are not merged: a text
    /// that was shown only until Enter was pressed must be visible in one.
    pub(super) fn record_output(&mut self, at: Time, end: u64, size: Size) {
        self.base_size.get_or_insert(size);
        if self.size.replace(size).is_some_and(|before| before != size) {
            self.push(at, HistoryEvent::Resized(end, size));
        }
        let before = self.entries.iter().rev().find_map(|entry| match entry.what {
            HistoryEvent::Printed(upto) => Some(upto),
            HistoryEvent::Typed(..) | HistoryEvent::Resized(..) | HistoryEvent::State(..) => None,
        });
        if before != Some(end) {
            self.push(at, HistoryEvent::Printed(end));
        }
    }

    /// A client typed this when the agent had printed up to this offset. The call may come after
    /// the output that the input caused; the entry goes before it.
    pub(super) fn record_input(&mut self, at: Time, end: u64, bytes: &[u8]) {
        let is_before = |entry: &HistoryEntry| match entry.what {
            HistoryEvent::Printed(upto) => entry.at <= at && upto <= end,
            HistoryEvent::Typed(..) | HistoryEvent::Resized(..) | HistoryEvent::State(..) => {
                entry.at <= at
            }
        };
        let position = self.entries.iter().rposition(is_before).map_or(0, |before| before + 1);
        let typed = HistoryEvent::Typed(end, bytes[..bytes.len().min(LONGEST)].to_vec());
        self.push(at, typed);
        let last = self.entries.len() - 1;
        self.entries.make_contiguous()[position.min(last)..].rotate_right(1);
    }

    pub(super) fn record_state(&mut self, at: Time, state: AgentState, kind: Option<BlockKind>) {
        if self.state.replace((state, kind)) != Some((state, kind)) {
            self.push(at, HistoryEvent::State(state, kind));
        }
    }

    fn push(&mut self, at: Time, what: HistoryEvent) {
        if self.entries.len() == MAX_ENTRIES
            && let Some(HistoryEntry { what: HistoryEvent::Resized(_, size), .. }) =
                self.entries.pop_front()
        {
            self.base_size = Some(size);
        }
        self.entries.push_back(HistoryEntry { at, what });
    }

    /// The entries since this time.
    pub(super) fn since(&self, since: Time) -> HistorySlice {
        let first = self.entries.front().map(|entry| entry.at);
        let is_cut = self.entries.len() == MAX_ENTRIES && first.is_some_and(|first| since < first);
        let (before, kept): (Vec<&HistoryEntry>, Vec<&HistoryEntry>) =
            self.entries.iter().partition(|entry| entry.at < since);
        let size = before.iter().rev().find_map(|entry| match entry.what {
            HistoryEvent::Resized(_, size) => Some(size),
            HistoryEvent::Printed(_) | HistoryEvent::Typed(..) | HistoryEvent::State(..) => None,
        });
        HistorySlice {
            entries: kept.into_iter().cloned().collect(),
            size: size.or(self.base_size),
            is_cut,
        }
    }
}

/// A part of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HistorySlice {
    /// What happened, in order.
    pub(crate) entries: Vec<HistoryEntry>,
    /// The size of the terminal before the first entry.
    pub(crate) size: Option<Size>,
    /// Whether earlier entries of this time were dropped.
    pub(crate) is_cut: bool,
}

/// A recording.
pub(crate) struct AgentRecording {
    /// The recording in the asciicast v2 format.
    pub(crate) asciicast: String,
    /// The states, and when they began, in milliseconds from the start.
    pub(crate) states: Vec<(u64, AgentState, Option<BlockKind>)>,
    /// When the recording starts.
    pub(crate) start: Time,
    /// Whether a part of the requested time is missing.
    pub(crate) is_cut: bool,
}

/// Makes a recording since a time, of at most `most` bytes.
pub(crate) async fn record(
    agent: &AgentHandle,
    pane: &Arc<Pane>,
    since: Time,
    most: usize,
) -> Result<AgentRecording, Refusal> {
    let output = pane.readable()?;
    let history = agent.ask(|reply| AgentRequest::History(since, reply)).await;
    let history = history.unwrap_or_default();
    let hints = pane.screen_hints(output.as_ref());
    let make = move || write(output.as_ref(), &hints, since, &history, most);
    tokio::task::spawn_blocking(make).await.map_err(Refusal::internal)
}

/// Makes a recording of any pane since a time, from its output alone, of at most `most` bytes.
pub(crate) async fn record_output(
    pane: &Arc<Pane>,
    since: Time,
    most: usize,
) -> Result<AgentRecording, Refusal> {
    let output = pane.readable()?;
    let hints = pane.screen_hints(output.as_ref());
    let make = move || {
        let history = output_history::since(output.as_ref(), since)?;
        Ok(write(output.as_ref(), &hints, since, &history, most))
    };
    let made: std::io::Result<_> =
        tokio::task::spawn_blocking(make).await.map_err(Refusal::internal)?;
    made.map_err(|error| Refusal::internal(format!("the output cannot be read: {error}")))
}

fn write(
    output: &dyn Output,
    hints: &ScreenHints,
    since: Time,
    history: &HistorySlice,
    most: usize,
) -> AgentRecording {
    let entries = &history.entries;
    let start = entries.first().map_or(since, |entry| entry.at);
    let at = |entry: &HistoryEntry| match entry.what {
        HistoryEvent::Printed(end)
        | HistoryEvent::Typed(end, _)
        | HistoryEvent::Resized(end, _) => Some(end),
        HistoryEvent::State(..) => None,
    };
    // The output before the first entry is drawn as the initial screen.
    let begin = entries.iter().find_map(at).unwrap_or_else(|| output.end());
    let size = history.size.unwrap_or_else(|| output.size());
    let mut screen = screen_at(output, hints, begin).unwrap_or_else(|| Screen::new(size));
    if output.sizes(0).is_empty() {
        // The tape of an older version has no sizes; the history has one.
        screen.resize(size);
    }
    let size = screen.view().size;
    let read = |from: u64, to: u64| bytes(output, from, to);
    let (cast, is_cut) =
        AsciicastWriter::new(start, size, &screen.dump(), begin, &read).write(entries, most);
    let states = entries.iter().filter_map(|entry| match entry.what {
        HistoryEvent::State(state, kind) => Some((entry.at.since(start), state, kind)),
        HistoryEvent::Printed(_) | HistoryEvent::Typed(..) | HistoryEvent::Resized(..) => None,
    });
    AgentRecording {
        asciicast: cast,
        states: states.collect(),
        start,
        is_cut: is_cut || history.is_cut,
    }
}

/// The screen at an offset, as far as the kept output allows.
fn screen_at(output: &dyn Output, hints: &ScreenHints, at: u64) -> Option<Screen> {
    let mut drawn = hints.blank_screen(output, output.first(), 0);
    let budget = DrawBudget::new();
    let first = drawn.at();
    let mut goes_on = || !budget.is_spent(at.saturating_sub(first));
    while let Err(gap) = drawn.catch_up_while(output, at, 0, &mut goes_on).ok()? {
        drawn = hints.blank_screen(output, gap.first, 0);
    }
    Some(drawn.into_screen())
}

/// The bytes between two offsets that are still kept.
pub(super) fn bytes(output: &dyn Output, from: u64, to: u64) -> Vec<u8> {
    let mut from = from.max(output.first());
    let mut all = Vec::new();
    while from < to {
        let mut piece = vec![0; usize::try_from(to - from).unwrap_or_default()];
        match output.read(from, &mut piece) {
            Ok(Ok(0)) | Err(_) => break,
            Ok(Ok(read)) => {
                all.extend_from_slice(&piece[..read]);
                from += read as u64;
            }
            Ok(Err(gap)) => from = gap.first,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 80, rows: 24 };

    #[test]
    fn every_look_at_something_new_is_a_moment() {
        let mut log = AgentHistory::default();
        for (at, end) in [(0, 10), (3, 20), (100, 20), (200, 30)] {
            log.record_output(Time(at), end, SIZE);
        }
        let moments = log.since(Time(0)).entries;
        let expect = [
            (0, HistoryEvent::Printed(10)),
            (3, HistoryEvent::Printed(20)),
            (200, HistoryEvent::Printed(30)),
        ];
        assert_eq!(moments, expect.map(|(at, what)| HistoryEntry { at: Time(at), what }));
    }

    #[test]
    fn what_was_typed_comes_before_what_it_brought_about() {
        let mut log = AgentHistory::default();
        log.record_output(Time(0), 10, SIZE);
        log.record_output(Time(50), 20, SIZE);
        log.record_input(Time(49), 10, b"x");
        let moments = log.since(Time(0)).entries;
        let expect = [
            (0, HistoryEvent::Printed(10)),
            (49, HistoryEvent::Typed(10, b"x".to_vec())),
            (50, HistoryEvent::Printed(20)),
        ];
        assert_eq!(moments, expect.map(|(at, what)| HistoryEntry { at: Time(at), what }));
    }

    #[test]
    fn the_oldest_go_first_and_that_is_told() {
        let mut log = AgentHistory::default();
        for at in 0..=MAX_ENTRIES as u64 {
            log.record_output(Time(at * 10), at, SIZE);
        }
        let HistorySlice { entries: moments, is_cut, .. } = log.since(Time(0));
        assert_eq!((moments.len(), is_cut), (MAX_ENTRIES, true));
        assert!(!log.since(Time(10)).is_cut);
    }

    #[test]
    fn a_state_and_a_size_are_told_when_they_change() {
        let mut log = AgentHistory::default();
        log.record_output(Time(0), 0, SIZE);
        log.record_state(Time(1), AgentState::Ready, None);
        log.record_state(Time(2), AgentState::Ready, None);
        log.record_output(Time(20), 5, Size { cols: 90, rows: 24 });
        let HistorySlice { entries: moments, size, .. } = log.since(Time(1));
        assert_eq!(size, Some(SIZE));
        assert_eq!(log.since(Time(30)).size, Some(Size { cols: 90, rows: 24 }));
        let whats: Vec<HistoryEvent> = moments.into_iter().map(|moment| moment.what).collect();
        let resized = HistoryEvent::Resized(5, Size { cols: 90, rows: 24 });
        assert_eq!(
            whats,
            [HistoryEvent::State(AgentState::Ready, None), resized, HistoryEvent::Printed(5)]
        );
    }
}

//! A recording of an agent, made from its history and its output.

use std::sync::Arc;

use paned_backend::Output;
use paned_model::{AgentState, BlockKind, Refusal, Time};
use paned_term::Screen;

use super::asciicast::AsciicastWriter;
use super::history::{HistoryEntry, HistoryEvent, HistorySlice};
use super::{AgentHandle, AgentRequest};
use crate::panes::Pane;
use crate::panes::screen::live_screen::DrawBudget;
use crate::panes::screen::live_screen::ScreenHints;

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

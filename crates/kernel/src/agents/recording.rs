//! A recording of an agent, made of what is kept of it.

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
    /// It, as asciicast v2.
    pub(crate) asciicast: String,
    /// What it was taken to do, and when, in milliseconds from its beginning.
    pub(crate) states: Vec<(u64, AgentState, Option<BlockKind>)>,
    /// When it begins.
    pub(crate) start: Time,
    /// Whether some of what was asked for is not in it.
    pub(crate) is_cut: bool,
}

/// Records what an agent did since then, of at most so many bytes.
pub(crate) async fn record(
    agent: &AgentHandle,
    pane: &Arc<Pane>,
    since: Time,
    most: usize,
) -> Result<AgentRecording, Refusal> {
    let output = pane.readable()?;
    let recalled = agent.ask(|reply| AgentRequest::History(since, reply)).await;
    let recalled = recalled.unwrap_or_default();
    let known = pane.screen_hints(output.as_ref());
    let make = move || write(output.as_ref(), &known, since, &recalled, most);
    tokio::task::spawn_blocking(make).await.map_err(Refusal::internal)
}

fn write(
    output: &dyn Output,
    known: &ScreenHints,
    since: Time,
    recalled: &HistorySlice,
    most: usize,
) -> AgentRecording {
    let moments = &recalled.entries;
    let start = moments.first().map_or(since, |moment| moment.at);
    let at = |moment: &HistoryEntry| match moment.what {
        HistoryEvent::Printed(end)
        | HistoryEvent::Typed(end, _)
        | HistoryEvent::Resized(end, _) => Some(end),
        HistoryEvent::State(..) => None,
    };
    // The first output there is belongs to before: what it made is the screen to begin with.
    let begin = moments.iter().find_map(at).unwrap_or_else(|| output.end());
    let size = recalled.size.unwrap_or_else(|| output.size());
    let mut screen = screen_at(output, known, begin).unwrap_or_else(|| Screen::new(size));
    if output.sizes(0).is_empty() {
        // The tape of an older version knows less than we remember.
        screen.resize(size);
    }
    let size = screen.view().size;
    let read = |from: u64, to: u64| bytes(output, from, to);
    let (cast, is_cut) =
        AsciicastWriter::new(start, size, &screen.dump(), begin, &read).write(moments, most);
    let states = moments.iter().filter_map(|moment| match moment.what {
        HistoryEvent::State(state, kind) => Some((moment.at.since(start), state, kind)),
        HistoryEvent::Printed(_) | HistoryEvent::Typed(..) | HistoryEvent::Resized(..) => None,
    });
    AgentRecording {
        asciicast: cast,
        states: states.collect(),
        start,
        is_cut: is_cut || recalled.is_cut,
    }
}

/// What was to be seen at an offset, as far as that can still be told.
fn screen_at(output: &dyn Output, known: &ScreenHints, at: u64) -> Option<Screen> {
    let mut drawn = known.blank_screen(output, output.first(), 0);
    let budget = DrawBudget::new();
    let first = drawn.at();
    let mut goes_on = || !budget.is_spent(at.saturating_sub(first));
    while let Err(gap) = drawn.catch_up_while(output, at, 0, &mut goes_on).ok()? {
        drawn = known.blank_screen(output, gap.first, 0);
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

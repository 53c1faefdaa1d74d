//! What the agent shows, as rows of text; the header of `main.rs` describes it.

use std::time::Instant;

use crate::agent::{Agent, Dialog, State};

const SPINNER: [char; 8] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧'];
const FOOTER: &str = "fake-agent · ? for help";

/// A screen, and where the cursor stands on it, from 0.
pub(crate) struct FakeScreen {
    pub(crate) rows: Vec<String>,
    pub(crate) cursor: (usize, usize),
}

/// The title for what it does.
pub(crate) fn title(agent: &Agent) -> &'static str {
    match agent.state {
        State::Starting => "fake-agent",
        State::Ready => "fake-agent: ready",
        State::Busy { .. } => "fake-agent: working",
        State::Asking(_) => "fake-agent: asking",
    }
}

/// Its report by OSC 7501 for what it does.
pub(crate) fn status(agent: &Agent) -> String {
    let state = match &agent.state {
        State::Starting | State::Busy { .. } => "working",
        State::Ready => "idle",
        State::Asking(_) => "blocked:kind=permission",
    };
    format!("state={state}:app=fake-agent")
}

/// The screen in a terminal of this size.
pub(crate) fn paint(agent: &Agent, cols: usize, rows: usize, now: Instant) -> FakeScreen {
    let lower = lower(agent, now);
    let lower: Vec<String> = lower.iter().flat_map(|line| wrapped(line, cols)).collect();
    let lower = &lower[lower.len().saturating_sub(rows)..];
    let mut upper: Vec<String> =
        agent.transcript.iter().flat_map(|line| wrapped(line, cols)).collect();
    let room = rows - lower.len();
    upper.drain(..upper.len().saturating_sub(room));
    upper.resize(room, String::new());
    upper.extend_from_slice(lower);
    let composer = upper.len().saturating_sub(2);
    let column = upper.get(composer).map_or(0, |row| row.chars().count());
    FakeScreen { rows: upper, cursor: (composer, column.min(cols.saturating_sub(1))) }
}

fn lower(agent: &Agent, now: Instant) -> Vec<String> {
    match &agent.state {
        State::Starting => vec!["Starting…".to_owned()],
        State::Asking(dialog) => asking(dialog),
        State::Ready => composer(agent),
        State::Busy { since, .. } => {
            let time = now.saturating_duration_since(*since);
            let turn = SPINNER[(time.as_millis() / 100) as usize % SPINNER.len()];
            let status = format!("{turn} Working… ({}s · esc to interrupt)", time.as_secs());
            let queued = agent.queued.iter().map(|text| format!("queued: {text}"));
            let mut rows: Vec<String> = std::iter::once(status).chain(queued).collect();
            rows.extend(composer(agent));
            rows
        }
    }
}

fn asking(dialog: &Dialog) -> Vec<String> {
    let option = |chosen: bool, text: &str| format!("{} {text}", if chosen { '›' } else { ' ' });
    vec![
        dialog.question.to_owned(),
        format!("  {}", dialog.about),
        option(dialog.yes, "1. Yes"),
        option(!dialog.yes, "2. No"),
        "enter to confirm · esc to cancel".to_owned(),
    ]
}

fn composer(agent: &Agent) -> Vec<String> {
    let shown = agent.composer.iter().map(|piece| piece.shown.as_ref().unwrap_or(&piece.text));
    let text: String = shown.map(String::as_str).collect();
    let lines = text.split('\n').enumerate();
    let rows = lines.map(|(n, line)| format!("{}{line}", if n == 0 { "> " } else { "  " }));
    rows.chain([FOOTER.to_owned()]).collect()
}

fn wrapped(line: &str, cols: usize) -> Vec<String> {
    let line: Vec<char> = line.replace('\t', "    ").chars().filter(|c| !c.is_control()).collect();
    if line.is_empty() {
        return vec![String::new()];
    }
    line.chunks(cols.max(1)).map(|row| row.iter().collect()).collect()
}

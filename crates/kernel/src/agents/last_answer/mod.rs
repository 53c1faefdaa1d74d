//! The last answer of an agent: from the transcript of its program, else from its hook, else cut
//! from its screen. An answer from before the last turn does not count.

mod database;
mod transcript;
mod transcript_files;

use std::sync::Arc;
use std::time::Duration;

use paned_backend::Output;
use paned_model::{AgentState, Code, Refusal, Size, Time};
use paned_policy::agent::{Profile, ScreenSnapshot};
use paned_policy::transcript::{TranscriptAnswer, answer_from_screen, turn_on_screen};
use paned_term::Screen;
use schemars::JsonSchema;
use serde::Serialize;

use self::transcript::{TranscriptLookup, TranscriptQuery};
use super::{AgentInspection, AgentRequest};
use crate::Kernel;
use crate::panes::Pane;

/// The key of an agent's session id in the meta of its pane. Only `agent:set-state` may set it,
/// because it selects the files that are read.
pub(crate) const SESSION: &str = "agent.sessionId";
/// The longest session id.
const LONGEST_SESSION: usize = 128;

/// Whether a text is a valid session id.
pub(crate) fn is_session_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    (1..=LONGEST_SESSION).contains(&text.len())
        && text.chars().all(fits)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// How many rows are searched for an answer that has scrolled away.
const TALL: u16 = 1000;
/// How many bytes of output are drawn for that.
const FAR: u64 = 1 << 20;
/// The longest answer.
const LONGEST: usize = 1 << 20;

/// How long after its turn a program may take to write its transcript, in milliseconds. Claude Code
/// takes up to 100.
const LATE: u64 = 1500;
/// The same if a hook has reported the answer, or if there is no transcript.
const LATE_WITHOUT: u64 = 300;
/// The time between two reads of a late transcript.
const RETRY: Duration = Duration::from_millis(25);

/// Where an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerSource {
    /// In the program's transcript.
    Transcript,
    /// In a report of its hook.
    Hook,
    /// On its screen: lines may be broken and long answers cut.
    Screen,
}

/// An agent's last answer.
pub(crate) struct LastAnswer {
    pub(crate) text: String,
    pub(crate) source: AnswerSource,
    pub(crate) at: Option<Time>,
    pub(crate) is_cut: bool,
}

/// The answer of the agent in a pane to its last prompt, if it has given one.
pub(crate) async fn last(kernel: &Kernel, pane: &Arc<Pane>) -> Result<Option<LastAnswer>, Refusal> {
    let agent = kernel.agents().find(&pane.id);
    let start = agent.and_then(|agent| agent.seen().borrow().turns.start(kernel.now()));
    last_answer_since(kernel, pane, start).await
}

/// The last answer of the agent in a pane since its turn began; without a known turn, any last
/// answer.
pub(crate) async fn last_answer_since(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    turn: Option<Time>,
) -> Result<Option<LastAnswer>, Refusal> {
    let profile = kernel.agents().profile_of(pane)?;
    if let Some(query) = TranscriptQuery::new(kernel, pane, &profile, turn).await {
        let shown = visible_turn(kernel, pane, &profile).await?;
        if let Some(answer) = in_transcript(kernel, pane, query, shown).await? {
            return Ok(Some(LastAnswer::of(answer, AnswerSource::Transcript)));
        }
    }
    if let Some(answer) = by_hook(kernel, pane, turn).await {
        return Ok(Some(LastAnswer::of(answer, AnswerSource::Hook)));
    }
    check_done(pane)?;
    let screen = visible_turn(kernel, pane, &profile).await?;
    let answer = answer_from_screen((&screen.rows, screen.has_start), &profile.messages);
    Ok(answer.map(|text| LastAnswer::of(TranscriptAnswer { text, at: None }, AnswerSource::Screen)))
}

/// Reads the transcript, and retries while it may be late.
async fn in_transcript(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    query: TranscriptQuery,
    shown: VisibleTurn,
) -> Result<Option<TranscriptAnswer>, Refusal> {
    let turn = query.turn;
    let query = Arc::new(query);
    let shown = Arc::new(shown);
    loop {
        let query = query.clone();
        let shown = shown.clone();
        let found = tokio::task::spawn_blocking(move || query.look_up(&shown)).await;
        let late = match found.map_err(Refusal::internal)? {
            TranscriptLookup::Answer(answer) => return Ok(Some(answer)),
            TranscriptLookup::Outdated if by_hook(kernel, pane, turn).await.is_none() => LATE,
            TranscriptLookup::Outdated | TranscriptLookup::Missing => LATE_WITHOUT,
        };
        if turn.is_none() || !is_just_done(kernel, pane, late) {
            return Ok(None);
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Whether an agent's turn ended less than this many milliseconds ago.
fn is_just_done(kernel: &Kernel, pane: &Pane, late: u64) -> bool {
    let state = pane.lock();
    let Some(agent) = &state.agent else { return false };
    let is_done = agent.state.takes_prompts() || agent.state == AgentState::Limited;
    is_done && kernel.now().since(agent.since) < late
}

/// The answer that an agent's hook has reported since its turn began.
async fn by_hook(kernel: &Kernel, pane: &Pane, turn: Option<Time>) -> Option<TranscriptAnswer> {
    let answer = inspect(kernel, pane).await?.said?;
    Some(answer).filter(|answer| turn <= answer.at.map(|at| at.time))
}

async fn inspect(kernel: &Kernel, pane: &Pane) -> Option<AgentInspection> {
    kernel.agents().find(&pane.id)?.ask(AgentRequest::Inspect).await
}

/// Refuses to cut an answer from the screen of a busy agent: there may be half an answer, a spinner
/// or a question in its place.
fn check_done(pane: &Pane) -> Result<(), Refusal> {
    let state = pane.lock().agent.as_ref().map(|agent| agent.state);
    match state {
        Some(state @ (AgentState::Busy | AgentState::Blocked)) => {
            let sentence = format!(
                "the agent in pane `{}` is {state}, and its answer is not complete; `agent:wait` \
                with `done` waits until its turn is over",
                pane.id
            );
            Err(Refusal::new(Code::Busy, sentence))
        }
        Some(_) | None => Ok(()),
    }
}

impl LastAnswer {
    fn of(answer: TranscriptAnswer, source: AnswerSource) -> Self {
        let TranscriptAnswer { mut text, at } = answer;
        let is_cut = LONGEST < text.len();
        if is_cut {
            text.truncate(text.floor_char_boundary(LONGEST));
        }
        Self { text, source, at: at.map(|at| at.time), is_cut }
    }
}

/// The visible text of an agent that may contain an answer.
#[derive(Clone, Debug, Default)]
struct VisibleTurn {
    /// The rows of its last turn.
    rows: Vec<String>,
    /// Whether the start of the turn is among them.
    has_start: bool,
    /// The whole text, without whitespace.
    all_text: String,
}

/// The visible text of an agent. Without the alternate screen, an answer may have scrolled away:
/// the end of the output is then drawn again on a taller screen.
async fn visible_turn(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    profile: &Arc<Profile>,
) -> Result<VisibleTurn, Refusal> {
    let look = kernel.look(pane, ScreenSnapshot::of).await?;
    let look = match look.view.modes.alternate_screen {
        true => look,
        false => {
            let output = pane.readable()?;
            tokio::task::spawn_blocking(move || tall_screen(output.as_ref()))
                .await
                .map_err(Refusal::internal)?
        }
    };
    let prompt = inspect(kernel, pane).await.and_then(|agent| agent.prompt);
    let all = look.view.rows.iter().flat_map(|row| row.chars()).filter(|c| !c.is_whitespace());
    let turn = turn_on_screen(&look, profile, prompt.as_deref());
    let has_start = 0 < turn.start;
    Ok(VisibleTurn { all_text: all.collect(), rows: look.view.rows[turn].to_vec(), has_start })
}

/// Draws the end of the output on a tall screen.
fn tall_screen(output: &dyn Output) -> ScreenSnapshot {
    let size = Size { rows: TALL, ..output.size() };
    let mut screen = Screen::new(size);
    let from = output.end().saturating_sub(FAR).max(output.first());
    screen.feed(&super::recording::bytes(output, from, output.end()));
    screen.flush_update();
    ScreenSnapshot::of(&screen)
}

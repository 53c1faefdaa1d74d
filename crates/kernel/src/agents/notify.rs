//! What is brought back to whoever asked: the answer to a message, and the end of what they started.

use paned_model::{AgentState, PaneId, PaneRef, Refusal};
use paned_policy::delivery::WhenBusy;
use serde_json::json;

use super::last::{Last, last_since};
use super::letter::{Letter, Turn};
use super::post::Order;
use super::{Agent, Seen};
use crate::Kernel;
use crate::panes::notice::harmless;

/// How long after a message was handed over its turn is expected to begin, in milliseconds.
const TO_BEGIN: u64 = 10_000;

/// Waits until the turn that a message began is over; answers how the agent is then.
pub(crate) async fn over(kernel: &Kernel, agent: &Agent, turn: Option<Turn>) -> Option<AgentState> {
    let mut seen = agent.seen();
    loop {
        let state = seen.borrow_and_update().info.state;
        if is_over(&seen.borrow(), turn, kernel) {
            return Some(state);
        }
        let late = turn.map(|turn| TO_BEGIN.saturating_sub(kernel.now().since(turn.since)));
        let late = late.filter(|left| 0 < *left).map(std::time::Duration::from_millis);
        tokio::select! {
            changed = seen.changed() => changed.ok()?,
            () = sleep(late) => {}
        }
    }
}

fn is_over(seen: &Seen, turn: Option<Turn>, kernel: &Kernel) -> bool {
    let state = seen.info.state;
    if state == AgentState::Exited {
        return true;
    }
    let is_idle = state.takes_prompts() || state == AgentState::Limited;
    // Some turns are too short to be seen.
    let is_late = |turn: Turn| TO_BEGIN <= kernel.now().since(turn.since);
    is_idle && turn.is_none_or(|turn| turn.ends <= seen.turns.ended || is_late(turn))
}

async fn sleep(time: Option<std::time::Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// The answer of the agent in a pane to the prompt that began a turn, as far as it can be read.
pub(crate) async fn answer_of(
    kernel: &Kernel,
    pane: &PaneId,
    turn: Option<Turn>,
) -> Result<Last, Refusal> {
    let pane = kernel.panes().get(pane)?;
    let answer = last_since(kernel, &pane, turn.map(|turn| turn.since)).await?;
    answer.ok_or_else(|| Refusal::not_found("it has given none that can be read"))
}

/// Brings the answer to a message back, once.
pub(super) fn bring_back(kernel: &Kernel, letter: &Letter, turn: Option<Turn>) {
    let Some(to) = letter.notify.clone() else { return };
    let (kernel, from, id) = (kernel.clone(), letter.pane.clone(), letter.id());
    let number = letter.number;
    tokio::spawn(async move {
        let state = match kernel.agents().listener(&from) {
            Some(agent) => over(&kernel, &agent, turn).await,
            None => None,
        };
        let answer = match state {
            Some(AgentState::Exited) | None => "(its program has ended)".to_owned(),
            Some(_) => match answer_of(&kernel, &from, turn).await {
                Ok(answer) => answer.text,
                Err(refusal) => {
                    format!("(it is done, and its answer cannot be read: {})", refusal.sentence)
                }
            },
        };
        // Inside the tags: what another agent says is never taken for words of the person or of us.
        let answer = harmless(&answer);
        let text =
            format!("<agent_answer>\nFrom: {from}\nMessage: {id}\n\n{answer}\n</agent_answer>");
        tell(&kernel, &from, &to, text, format!("answer to {id}"));
        kernel.agents().post().brought_back(&kernel, &from, number);
    });
}

/// Hands a text to whoever asked for it: as a message to an agent, or as a notice to anybody else.
pub(crate) fn tell(kernel: &Kernel, from: &PaneId, to: &PaneRef, text: String, key: String) {
    if !hand(kernel, to, &text, key) {
        kernel.emit("pane:notice", &kernel.about(from, json!({ "to": to.id, "text": text })));
    }
}

/// Sends a text to the agent in a pane, if there is one; whether it was accepted.
pub(crate) fn hand(kernel: &Kernel, to: &PaneRef, text: &str, key: String) -> bool {
    if kernel.panes().find(to).is_none() {
        // It is gone, and its name may be another pane's.
        return false;
    }
    let (when_busy, notify) = (WhenBusy::Queue, None);
    let order =
        Order { pane: to.id.clone(), text: printable(text), key: Some(key), when_busy, notify };
    kernel.agents().send(kernel, order).is_ok()
}

/// A text without what could not be typed.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

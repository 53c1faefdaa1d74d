//! What is brought back to whoever asked: the answer to a message, and the end of what they started.

use paned_model::{AgentState, PaneId, PaneRef, Refusal};
use paned_policy::delivery::WhenBusy;
use serde_json::json;

use super::last_answer::{LastAnswer, last_answer_since};
use super::message::{MessageTurn, OutboxMessage};
use super::outbox::NewMessage;
use super::{AgentHandle, AgentStatus};
use crate::Kernel;
use crate::panes::exit_notice::escape_tags;

/// How long after a message was handed over its turn is expected to begin, in milliseconds.
const TO_BEGIN: u64 = 10_000;

/// Waits until the turn that a message began is over; answers how the agent is then.
pub(crate) async fn wait_turn_end(
    kernel: &Kernel,
    agent: &AgentHandle,
    turn: Option<MessageTurn>,
) -> Option<AgentState> {
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

fn is_over(seen: &AgentStatus, turn: Option<MessageTurn>, kernel: &Kernel) -> bool {
    let state = seen.info.state;
    if state == AgentState::Exited {
        return true;
    }
    let is_idle = state.takes_prompts() || state == AgentState::Limited;
    // Some turns are too short to be seen.
    let is_late = |turn: MessageTurn| TO_BEGIN <= kernel.now().since(turn.since);
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
    turn: Option<MessageTurn>,
) -> Result<LastAnswer, Refusal> {
    let pane = kernel.panes().get(pane)?;
    let answer = last_answer_since(kernel, &pane, turn.map(|turn| turn.since)).await?;
    answer.ok_or_else(|| Refusal::not_found("it has given none that can be read"))
}

/// Brings the answer to a message back, once.
pub(super) fn return_answer(kernel: &Kernel, letter: &OutboxMessage, turn: Option<MessageTurn>) {
    let Some(to) = letter.notify.clone() else { return };
    let (kernel, from, id) = (kernel.clone(), letter.pane.clone(), letter.id());
    let number = letter.number;
    tokio::spawn(async move {
        let state = match kernel.agents().find(&from) {
            Some(agent) => wait_turn_end(&kernel, &agent, turn).await,
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
        let answer = escape_tags(&answer);
        let text =
            format!("<agent_answer>\nFrom: {from}\nMessage: {id}\n\n{answer}\n</agent_answer>");
        deliver(&kernel, &from, &to, text, format!("answer to {id}"));
        kernel.agents().outbox().mark_answer_returned(&kernel, &from, number);
    });
}

/// Hands a text to whoever asked for it: as a message to an agent, or as a notice to anybody else.
pub(crate) fn deliver(kernel: &Kernel, from: &PaneId, to: &PaneRef, text: String, key: String) {
    if !send_to_agent(kernel, to, &text, key) {
        kernel
            .emit("pane:notice", &kernel.event_payload(from, json!({ "to": to.id, "text": text })));
    }
}

/// Sends a text to the agent in a pane, if there is one; whether it was accepted.
pub(crate) fn send_to_agent(kernel: &Kernel, to: &PaneRef, text: &str, key: String) -> bool {
    if kernel.panes().find(to).is_none() {
        // It is gone, and its name may be another pane's.
        return false;
    }
    let (when_busy, notify) = (WhenBusy::Queue, None);
    let order = NewMessage {
        pane: to.id.clone(),
        text: printable(text),
        key: Some(key),
        when_busy,
        notify,
    };
    kernel.agents().send(kernel, order).is_ok()
}

/// A text without what could not be typed.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

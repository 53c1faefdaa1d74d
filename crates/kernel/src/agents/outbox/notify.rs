//! Returns results to the pane that asked for them: the answer to a message, the exit of a program.

use std::time::Duration;

use paned_model::{AgentState, PaneId, PaneRef, Refusal};
use paned_policy::delivery::WhenBusy;
use serde_json::json;
use tokio::time::timeout;

use super::{Message, MessageTurn, NewMessage};
use crate::Kernel;
use crate::agents::handle::{AgentHandle, AgentStatus, TO_BEGIN};
use crate::agents::last_answer::{LastAnswer, last_answer_since};
use crate::panes::exit_notice::escape_tags;

/// Waits until the turn that a message began is over; returns the state of the agent then.
pub(crate) async fn wait_turn_end(
    kernel: &Kernel,
    agent: &AgentHandle,
    turn: Option<MessageTurn>,
) -> Option<AgentState> {
    let mut status = agent.seen();
    loop {
        let state = status.borrow_and_update().info.state;
        if is_over(&status.borrow(), turn, kernel) {
            return Some(state);
        }
        let late = turn.map(|turn| TO_BEGIN.saturating_sub(kernel.now().since(turn.since)));
        match late.filter(|left| 0 < *left).map(Duration::from_millis) {
            Some(late) => timeout(late, status.changed()).await.unwrap_or(Ok(())).ok()?,
            None => status.changed().await.ok()?,
        }
    }
}

fn is_over(status: &AgentStatus, turn: Option<MessageTurn>, kernel: &Kernel) -> bool {
    let state = status.info.state;
    if state == AgentState::Exited {
        return true;
    }
    let is_idle = state.takes_prompts() || state == AgentState::Limited;
    // Some turns are too short to be observed.
    let is_late = |turn: MessageTurn| TO_BEGIN <= kernel.now().since(turn.since);
    is_idle && turn.is_none_or(|turn| turn.ends <= status.turns.ended || is_late(turn))
}

/// The answer of the agent in a pane to the prompt that began a turn, if it can be read.
pub(crate) async fn answer_of(
    kernel: &Kernel,
    pane: &PaneId,
    turn: Option<MessageTurn>,
) -> Result<LastAnswer, Refusal> {
    let pane = kernel.panes().get(pane)?;
    let answer = last_answer_since(kernel, &pane, turn.map(|turn| turn.since)).await?;
    answer.ok_or_else(|| Refusal::not_found("no readable answer was found"))
}

/// Returns the answer to a message, once, to the pane that asked for it.
pub(super) fn return_answer(kernel: &Kernel, message: &Message, turn: Option<MessageTurn>) {
    let Some(to) = message.notify.clone() else { return };
    let kernel = kernel.clone();
    let from = message.pane.clone();
    let id = message.id();
    let number = message.number;
    tokio::spawn(async move {
        let state = match kernel.agents().find(&from) {
            Some(agent) => wait_turn_end(&kernel, &agent, turn).await,
            None => None,
        };
        let answer = match state {
            Some(AgentState::Exited) | None => "(its program has exited)".to_owned(),
            Some(_) => match answer_of(&kernel, &from, turn).await {
                Ok(answer) => answer.text,
                Err(refusal) => {
                    format!("(it is done, but its answer cannot be read: {})", refusal.sentence)
                }
            },
        };
        // The answer stays inside the tags: the receiving agent must not take the text of another
        // agent for text of the user or of this server.
        let answer = escape_tags(&answer);
        let text =
            format!("<agent_answer>\nFrom: {from}\nMessage: {id}\n\n{answer}\n</agent_answer>");
        deliver(&kernel, &from, &to, text, format!("answer to {id}"));
        kernel.agents().outbox().mark_answer_returned(&kernel, &from, number);
    });
}

/// Delivers a text to a pane: as a message if an agent runs there, else as a notice.
pub(crate) fn deliver(kernel: &Kernel, from: &PaneId, to: &PaneRef, text: String, key: String) {
    if !send_to_agent(kernel, to, &text, key) {
        kernel
            .emit("pane:notice", &kernel.event_payload(from, json!({ "to": to.id, "text": text })));
    }
}

/// Sends a text to the agent in a pane, if there is one; returns whether it was accepted.
pub(crate) fn send_to_agent(kernel: &Kernel, to: &PaneRef, text: &str, key: String) -> bool {
    if kernel.panes().find(to).is_none() {
        // The pane is gone, and its name may belong to another pane now.
        return false;
    }
    let message = NewMessage {
        pane: to.id.clone(),
        text: printable(text),
        key: Some(key),
        when_busy: WhenBusy::Queue,
        notify: None,
    };
    kernel.agents().send(kernel, message).is_ok()
}

/// A text without the control characters that cannot be typed.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

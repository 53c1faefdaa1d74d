//! `agent:message`

use std::time::Duration;

use paned_model::{AgentInfo, AgentState, Code, Delivery, Dialog, PaneId, Refusal, Scope};
use paned_policy::delivery::{Outcome, WhenBusy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::agents::agent;
use crate::actions::support::wait_limit::{DAY_MS, wait_limit};
use crate::agents::{
    self, AgentStatus, AnswerSource, LastAnswer, MessageTurn, NewMessage, Receipt,
};
use crate::registry::{Action, ActionContext, ActionKind};

/// How long to wait for the outcome of a message, or for the end of its turn, in milliseconds.
/// Longer than a message waits in the state `unknown`: its refusal is part of the answer.
const DEFAULT_TIMEOUT_MS: u64 = 65_000;
const DEFAULT_DONE_TIMEOUT_MS: u64 = 600_000;
/// How long an agent's task may take to check a new message.
const FIRST_CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a question may stay unanswered before a wait for the end of the turn reports it: a rule
/// or an extension may answer it.
const UNANSWERED_AFTER: Duration = Duration::from_secs(2);
const LONGEST_KEY: usize = 256;

pub(in crate::actions) struct AgentMessage;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// The message: up to 1 MiB of plain text, in any number of lines.
    text: String,
    /// A unique key: a retry with the same key and text does not type the message again.
    #[schemars(length(max = 256))]
    idempotency_key: Option<String>,
    /// What to do if the agent is busy; defaults to `queue`.
    #[serde(default)]
    when_busy: BusyPolicy,
    /// What to wait for; defaults to `submitted`. A queued message is answered at once.
    #[serde(default)]
    wait: MessageWait,
    /// How long to wait, in milliseconds: defaults to 65000, or 650000 with `wait` = `done`; up to
    /// a day.
    #[schemars(range(max = 86_400_000))]
    timeout_ms: Option<u64>,
    /// Whether the agent's answer is sent to the caller's pane when it is done.
    #[serde(default)]
    notify: bool,
}

/// What to do with a message to an agent that is busy.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BusyPolicy {
    /// Queue it until the agent is ready.
    #[default]
    Queue,
    /// Refuse it.
    Refuse,
    /// Type it anyway; the agent treats it like any other input while it is busy.
    Send,
}

/// What to wait for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MessageWait {
    /// Only for the first check of the agent: whether the message is refused at once, or why it
    /// waits. An event reports the outcome.
    None,
    /// Until the outcome is known, or the message is queued.
    #[default]
    Submitted,
    /// Until the turn that it begins is over, or the agent asks a question that stays unanswered
    /// for two seconds.
    Done,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentMessageOutput {
    /// The outcome.
    outcome: Delivery,
    /// Its id in events.
    message_id: String,
    /// The evidence for the outcome, in sentences.
    evidence: Vec<String>,
    /// The question that blocked it, or that its turn is waiting on.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Dialog>,
    /// Its position in the queue, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    /// The agent's answer to this message, if `wait` is `done` and one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Where the answer was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_source: Option<AnswerSource>,
    /// Whether the wait timed out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    /// The agent's current state.
    agent: AgentInfo,
}

impl Action for AgentMessage {
    const NAME: &'static str = "agent:message";
    const DOC: &'static str = "Send an agent a message and report whether it was accepted. It is never typed over a \
        draft or a question.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] =
        &["text", "answer", "dialog", "evidence", "agent.dialog"];
    type Params = Params;
    type Answer = AgentMessageOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentMessageOutput, Refusal> {
        let kernel = &context.kernel;
        let pane_id = params.pane_id.clone();
        let wait = params.wait;
        let default_ms =
            if wait == MessageWait::Done { DEFAULT_DONE_TIMEOUT_MS } else { DEFAULT_TIMEOUT_MS };
        let until = Instant::now() + wait_limit(params.timeout_ms, default_ms, DAY_MS)?;
        agent(&*kernel.panes().get(&pane_id)?)?;
        let mut receipts = kernel.agents().send(kernel, new_message(&context, params)?)?;
        let mut timed_out = match wait {
            MessageWait::None => {
                wait_first_check(&mut receipts).await;
                false
            }
            MessageWait::Submitted => {
                !wait_for_outcome(&mut receipts, |outcome| !outcome.transient, until).await
            }
            MessageWait::Done => {
                !wait_for_outcome(&mut receipts, |outcome| outcome.delivery.is_final(), until).await
            }
        };
        let Receipt { id: message_id, outcome, turn } = receipts.borrow().clone();
        let Outcome { delivery, evidence, mut dialog, .. } = outcome;
        let mut last = None;
        if wait == MessageWait::Done && delivery == Delivery::Submitted {
            match wait_answer(kernel, &pane_id, turn, until).await {
                Ok(found) => last = found,
                Err(TurnWaitError::Question(question)) => dialog = question,
                Err(TurnWaitError::TimedOut) => timed_out = true,
            }
        }
        let position = kernel.agents().outbox().position(&pane_id, &message_id);
        let agent = agent(&*kernel.panes().get(&pane_id)?)?;
        let answer_source = last.as_ref().map(|last| last.source);
        Ok(AgentMessageOutput {
            outcome: delivery,
            message_id,
            evidence,
            dialog,
            position,
            answer: last.map(|last| last.text),
            answer_source,
            timed_out,
            agent,
        })
    }
}

fn new_message(context: &ActionContext, params: Params) -> Result<NewMessage, Refusal> {
    let notify = match (params.notify, &context.caller.pane) {
        (false, _) => None,
        (true, Some(pane)) => Some(pane.clone()),
        (true, None) => {
            return Err(Refusal::invalid(
                "`notify` sends the answer to the caller's pane, but this request does not come \
                from a pane",
            ));
        }
    };
    if params.idempotency_key.as_ref().is_some_and(|key| LONGEST_KEY < key.len()) {
        let sentence = format!("`idempotencyKey` is longer than {LONGEST_KEY} bytes");
        return Err(Refusal::new(Code::Limit, sentence));
    }
    let when_busy = match params.when_busy {
        BusyPolicy::Queue => WhenBusy::Queue,
        BusyPolicy::Refuse => WhenBusy::Refuse,
        BusyPolicy::Send => WhenBusy::Send,
    };
    Ok(NewMessage {
        pane: params.pane_id,
        text: params.text,
        key: params.idempotency_key,
        when_busy,
        notify,
    })
}

/// Waits for an outcome; false when it timed out.
async fn wait_for_outcome(
    receipts: &mut watch::Receiver<Receipt>,
    matches: impl Fn(&Outcome) -> bool,
    until: Instant,
) -> bool {
    match timeout_at(until, receipts.wait_for(|receipt| matches(&receipt.outcome))).await {
        // The sender is gone: the pane was removed.
        Ok(found) => found.is_ok(),
        Err(_) => false,
    }
}

/// Waits until the agent's task has checked a new message once: a question on the screen refuses it
/// at once.
async fn wait_first_check(receipts: &mut watch::Receiver<Receipt>) {
    if receipts.borrow().outcome.transient {
        let _ = timeout(FIRST_CHECK_TIMEOUT, receipts.changed()).await;
    }
}

/// Why a turn is not over.
enum TurnWaitError {
    TimedOut,
    Question(Option<Dialog>),
}

/// Waits until the turn is over; returns the agent's answer, where that can be read.
async fn wait_answer(
    kernel: &Kernel,
    pane: &PaneId,
    turn: Option<MessageTurn>,
    until: Instant,
) -> Result<Option<LastAnswer>, TurnWaitError> {
    let Some(agent) = kernel.agents().find(pane) else { return Ok(None) };
    tokio::select! {
        _ = agents::wait_turn_end(kernel, &agent, turn) => Ok(agents::answer_of(kernel, pane, turn).await.ok()),
        question = wait_unanswered(agent.seen()) => Err(TurnWaitError::Question(question)),
        () = sleep_until(until) => Err(TurnWaitError::TimedOut),
    }
}

/// Waits until the agent asks a question that stays unanswered; returns it, where it can be read.
async fn wait_unanswered(mut status: watch::Receiver<AgentStatus>) -> Option<Dialog> {
    loop {
        if status.wait_for(|status| status.info.state == AgentState::Blocked).await.is_err() {
            // Its task has ended.
            return std::future::pending().await;
        }
        let question = status.borrow().info.dialog.clone();
        let is_answered = status.wait_for(|status| !is_asked(&status.info, question.as_ref()));
        if timeout(UNANSWERED_AFTER, is_answered).await.is_err() {
            return question;
        }
    }
}

fn is_asked(agent: &AgentInfo, question: Option<&Dialog>) -> bool {
    let id = |dialog: &Dialog| dialog.id.clone();
    agent.state == AgentState::Blocked && agent.dialog.as_ref().map(id) == question.map(id)
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;
    use crate::agents::Turns;

    /// An agent that asks a question with this id, or works.
    fn seen(question: Option<&str>) -> AgentStatus {
        let dialog = question
            .map(|id| json!({ "id": id, "kind": "permission", "text": "?", "options": [] }));
        let state = if question.is_some() { "blocked" } else { "busy" };
        let info = json!({
            "profile": "x", "state": state, "dialog": dialog, "since": "2026-01-01T00:00:00.000Z", "source": "screen", "confidence": 1.0,
        });
        AgentStatus { info: from_value(info).unwrap(), turns: Turns::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_answers_is_told_after_a_while() {
        let (_agent, seen) = watch::channel(seen(Some("one")));
        let start = Instant::now();
        let question = wait_unanswered(seen).await;
        assert_eq!((question.unwrap().id.as_str(), start.elapsed()), ("one", UNANSWERED_AFTER));
    }

    #[tokio::test(start_paused = true)]
    async fn questions_that_are_answered_are_not_told() {
        let (agent, now) = watch::channel(seen(None));
        let asked = tokio::spawn(wait_unanswered(now));
        for id in ["one", "two", "three"] {
            agent.send_replace(seen(Some(id)));
            tokio::time::sleep(UNANSWERED_AFTER / 2).await;
        }
        agent.send_replace(seen(None));
        assert!(timeout(UNANSWERED_AFTER * 9, asked).await.is_err());
    }
}

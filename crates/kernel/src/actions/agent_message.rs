//! `agent:message`

use std::time::Duration;

use paned_model::{AgentInfo, Code, Delivery, Dialog, PaneId, Refusal, Scope};
use paned_policy::delivery::WhenBusy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::agent::agent;
use super::patience::{A_DAY, patience};
use crate::Kernel;
use crate::agents::{self, From, Last, Order, Told};
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

/// How long to wait until it is known what became of a message, or until its turn is over, in milliseconds.
const PATIENCE: u64 = 60_000;
const PATIENCE_DONE: u64 = 600_000;
/// How long an agent's task may take to look at a new message.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LONGEST_KEY: usize = 256;

pub(super) struct AgentMessage;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// The message: up to 1 MiB of plain text, in as many lines as it takes.
    text: String,
    /// By what you know it again: sent once more with the same text, it is not typed once more.
    idempotency_key: Option<String>,
    /// What is done if the agent is busy; `queue` when left out.
    #[serde(default)]
    when_busy: Busy,
    /// What to wait for; `submitted` when left out. A message that has to wait its turn is answered at once.
    #[serde(default)]
    wait: Wait,
    /// How long to wait, in milliseconds (60000 when left out, 600000 for `done`, up to a day).
    #[schemars(range(max = 86_400_000))]
    timeout_ms: Option<u64>,
    /// Whether the agent's answer is sent to your own pane when it is done.
    #[serde(default)]
    notify: bool,
}

/// What is done with a message to an agent that is busy.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Busy {
    /// It waits until the agent is ready.
    #[default]
    Queue,
    /// It is refused.
    Refuse,
    /// It is typed all the same, and the agent does with it what it does with what people type then.
    Send,
}

/// What to wait for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Wait {
    /// Only the first look at the agent: whether it is refused at once, or why it waits. An event tells what becomes of it.
    None,
    /// Until it is known what became of it, or that it has to wait its turn.
    #[default]
    Submitted,
    /// Until the turn that it begins is over.
    Done,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    /// What became of it.
    outcome: Delivery,
    /// What events call it.
    message_id: String,
    /// What the outcome rests on, in sentences.
    evidence: Vec<String>,
    /// The question that was in its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Dialog>,
    /// Where it stands among the messages that wait, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    /// What the agent answered, if that was waited for. It is of the turn that the message began; nothing when no such answer
    /// can be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Where the answer was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_source: Option<From>,
    /// Whether time ran out before what was waited for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    /// The agent as it is now.
    agent: AgentInfo,
}

impl Action for AgentMessage {
    const NAME: &'static str = "agent:message";
    const DOC: &'static str =
        "Hand a message to an agent, never over a draft or a question, and say what became of it.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Change;
    const SECRETS: &'static [&'static str] =
        &["text", "answer", "dialog", "evidence", "agent.dialog"];
    type Params = Params;
    type Answer = Sent;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Sent, Refusal> {
        let kernel = &context.kernel;
        let (pane_id, wait) = (params.pane_id.clone(), params.wait);
        let usual = if wait == Wait::Done { PATIENCE_DONE } else { PATIENCE };
        let until = Instant::now() + patience(params.timeout_ms, usual, A_DAY)?;
        agent(&*kernel.panes().get(&pane_id)?)?;
        let receipt = kernel.agents().send(kernel, order(&context, params)?)?;
        let mut told = receipt.told;
        let mut timed_out = match wait {
            Wait::None => {
                first_look(&mut told).await;
                false
            }
            Wait::Submitted => !is_there(&mut told, |told| !told.passing, until).await,
            Wait::Done => !is_there(&mut told, |told| told.word.is_final(), until).await,
        };
        let now = told.borrow().clone();
        let mut last = None;
        if wait == Wait::Done && now.word == Delivery::Submitted {
            match done(kernel, &pane_id, &now, until).await {
                Ok(found) => last = found,
                Err(()) => timed_out = true,
            }
        }
        let position = kernel.agents().post().position(&pane_id, &receipt.id);
        let Told { word, evidence, dialog, .. } = now;
        let agent = agent(&*kernel.panes().get(&pane_id)?)?;
        let answer_source = last.as_ref().map(|last| last.from);
        Ok(Sent {
            outcome: word,
            message_id: receipt.id,
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

fn order(context: &Context, params: Params) -> Result<Order, Refusal> {
    let notify = match (params.notify, &context.caller.pane) {
        (false, _) => None,
        (true, Some(pane)) => Some(pane.clone()),
        (true, None) => {
            return Err(Refusal::invalid(
                "`notify` sends the answer to your own pane, and you do not speak from one",
            ));
        }
    };
    if params.idempotency_key.as_ref().is_some_and(|key| LONGEST_KEY < key.len()) {
        let sentence = format!("`idempotencyKey` may have {LONGEST_KEY} bytes at most");
        return Err(Refusal::new(Code::Limit, sentence));
    }
    let when_busy = match params.when_busy {
        Busy::Queue => WhenBusy::Queue,
        Busy::Refuse => WhenBusy::Refuse,
        Busy::Send => WhenBusy::Send,
    };
    let (pane, text, key) = (params.pane_id, params.text, params.idempotency_key);
    Ok(Order { pane, text, key, when_busy, notify })
}

/// Waits for a word; false when time ran out before.
async fn is_there(
    told: &mut watch::Receiver<Told>,
    is_it: impl FnMut(&Told) -> bool,
    until: Instant,
) -> bool {
    match timeout_at(until, told.wait_for(is_it)).await {
        // Nobody tells any more: the pane is forgotten.
        Ok(heard) => heard.is_ok(),
        Err(_) => false,
    }
}

/// Waits until the agent's task has looked at a new message once: a question on the screen refuses it at once.
async fn first_look(told: &mut watch::Receiver<Told>) {
    if told.borrow().passing {
        let _ = timeout(FIRST_LOOK, told.changed()).await;
    }
}

/// Waits until the turn is over; answers what the agent said, where that can be read.
async fn done(
    kernel: &Kernel,
    pane: &PaneId,
    told: &Told,
    until: Instant,
) -> Result<Option<Last>, ()> {
    let Some(agent) = kernel.agents().listener(pane) else { return Ok(None) };
    timeout_at(until, agents::over(kernel, &agent, told.turn)).await.map_err(|_| ())?;
    Ok(agents::answer_of(kernel, pane, told.turn).await.ok())
}

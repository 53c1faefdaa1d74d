//! `agent:answer`

use paned_model::{AgentInfo, PaneId, Refusal, Scope};
use paned_policy::delivery::Choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{agent, listener};
use crate::agents::{Answer, Ask, Errand};
use crate::panes::pane::gone;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// Which option: its number from 1, what it says, or `yes`, `no` or `always`.
    option: Which,
    /// Only if it is this question, as `agent:state` names it.
    dialog_id: Option<String>,
}

/// An option of a question.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Which {
    /// By its number, counted from 1.
    Number(usize),
    /// By what it says, or by what it means.
    Label(String),
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    /// The keys that were pressed.
    pressed: Vec<String>,
    /// Whether the question is gone from the screen.
    answered: bool,
    /// The agent as it is now.
    agent: AgentInfo,
}

impl Action for AgentAnswer {
    const NAME: &'static str = "agent:answer";
    const DOC: &'static str =
        "Answer the question on an agent's screen, if it is still that question.";
    const SCOPE: Scope = Scope::Approve;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    const SECRETS: &'static [&'static str] = &["option", "pressed", "agent.dialog"];
    type Params = Params;
    type Answer = Answered;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id).typing()
    }

    async fn run(context: Context, params: Params) -> Result<Answered, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let listener = listener(kernel, &pane)?;
        let choice = match params.option {
            Which::Number(number) => Choice::Number(number),
            Which::Label(label) => label.parse().map_or(Choice::Label(label), Choice::Number),
        };
        let dialog = params.dialog_id;
        let answer = |reply| Ask::Carry(Errand::Answer(Answer { choice, dialog, reply }));
        let answered = listener.ask(answer).await;
        let answered = answered.ok_or_else(|| gone(&pane.id, pane.lock().status()))??;
        let (pressed, answered) = (answered.pressed, answered.is_gone);
        Ok(Answered { pressed, answered, agent: agent(&pane)? })
    }
}

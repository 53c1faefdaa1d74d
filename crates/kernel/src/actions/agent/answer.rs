//! `agent:answer`

use paned_model::{AgentInfo, PaneId, Refusal, Scope};
use paned_policy::delivery::OptionChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::agents::{agent, agent_handle};
use crate::agents::{AgentRequest, DialogAnswer};
use crate::panes::pane::pane_gone;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// The option: its number from 1, its text, or `yes`, `no` or `always`.
    option: DialogOptionRef,
    /// Answer only if this question is still on the screen; its id is in the answer of
    /// `agent:state`.
    dialog_id: Option<String>,
}

/// An option of a question.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum DialogOptionRef {
    /// By its number, counted from 1.
    Number(usize),
    /// By its text or its meaning.
    Label(String),
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentAnswerOutput {
    /// The keys that were pressed.
    pressed: Vec<String>,
    /// Whether the question is gone from the screen.
    answered: bool,
    /// The agent's current state.
    agent: AgentInfo,
}

impl Action for AgentAnswer {
    const NAME: &'static str = "agent:answer";
    const DOC: &'static str = "Answer the question on an agent's screen, unless it has changed.";
    const SCOPE: Scope = Scope::Approve;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    const SECRETS: &'static [&'static str] = &["option", "pressed", "agent.dialog"];
    type Params = Params;
    type Answer = AgentAnswerOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).typing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentAnswerOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let agent_task = agent_handle(kernel, &pane)?;
        let choice = match params.option {
            DialogOptionRef::Number(number) => OptionChoice::Number(number),
            DialogOptionRef::Label(label) => {
                label.parse().map_or(OptionChoice::Label(label), OptionChoice::Number)
            }
        };
        let dialog = params.dialog_id;
        let answer = |reply| AgentRequest::Answer(DialogAnswer { choice, dialog, reply });
        let by = context.caller.label();
        let approval = kernel.begin_dialog_answer(&pane, &by);
        let outcome = agent_task.ask(answer).await;
        let outcome = outcome.ok_or_else(|| pane_gone(&pane.id, pane.lock().status()));
        let outcome = outcome.flatten();
        if let Some(approval) = approval {
            let is_answered = outcome.as_ref().is_ok_and(|outcome| outcome.is_gone);
            kernel.end_dialog_answer(&approval, &by, is_answered);
        }
        let outcome = outcome?;
        Ok(AgentAnswerOutput {
            pressed: outcome.pressed,
            answered: outcome.is_gone,
            agent: agent(&pane)?,
        })
    }
}

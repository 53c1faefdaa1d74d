//! `agent:last`

use paned_model::{Code, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::actions::support::agents::agent;
use crate::agents::{AnswerSource, last};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentLast;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentLastOutput {
    /// The answer.
    text: String,
    /// Where the answer was found.
    source: AnswerSource,
    /// When it was given, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Time>,
    /// Whether the text is cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl Action for AgentLast {
    const NAME: &'static str = "agent:last";
    const DOC: &'static str = "Show an agent's answer to its last prompt.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = PaneIdParams;
    type Answer = AgentLastOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<AgentLastOutput, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        agent(&pane)?;
        let found = last(&context.kernel, &pane).await?.ok_or_else(|| {
            let sentence =
                format!("no answer of the agent in pane `{pane_id}` to its last prompt was found");
            Refusal::new(Code::NotFound, sentence)
        })?;
        Ok(AgentLastOutput {
            text: found.text,
            source: found.source,
            at: found.at,
            truncated: found.is_cut,
        })
    }
}

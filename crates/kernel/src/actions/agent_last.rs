//! `agent:last`

use paned_model::{Code, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::OnPane;
use super::agent::agent;
use crate::agents::{From, last};
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentLast;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Said {
    /// What it said.
    text: String,
    /// Where that was found.
    source: From,
    /// When it was said, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Time>,
    /// Whether it is longer than what is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl Action for AgentLast {
    const NAME: &'static str = "agent:last";
    const DOC: &'static str = "Show an agent's answer to its last prompt.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = OnPane;
    type Answer = Said;

    fn touches(params: &OnPane) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<Said, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        agent(&pane)?;
        let found = last(&context.kernel, &pane).await?.ok_or_else(|| {
            let sentence = format!(
                "the agent in pane `{pane_id}` has given no answer to its last prompt that can be found"
            );
            Refusal::new(Code::NotFound, sentence)
        })?;
        Ok(Said { text: found.text, source: found.from, at: found.at, truncated: found.is_cut })
    }
}

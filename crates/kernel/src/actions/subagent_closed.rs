//! `subagent:closed`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::close;
use super::subagent_opened::check;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct SubagentClosed;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The sub-agent's session.
    id: String,
    /// Whether it is meant although it is the pane that this comes from.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Closed {
    /// The panes that showed it, which are forgotten.
    closed: Vec<PaneId>,
}

impl Action for SubagentClosed {
    const NAME: &'static str = "subagent:closed";
    const DOC: &'static str = "A sub-agent's session was deleted: close the pane that shows it.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = Closed;

    fn touches(_: &Params) -> Touches {
        Touches::reached()
    }

    async fn run(context: Context, Params { id, itself }: Params) -> Result<Closed, Refusal> {
        check(&id)?;
        let Context { kernel, caller, .. } = &context;
        let mut closed = Vec::new();
        let all = kernel.panes().list().into_iter();
        for pane in all.filter(|pane| kernel.reaches(&pane.id, caller)) {
            let shown = pane.lock().meta().get("subagent.id").and_then(Value::as_str) == Some(&id);
            if shown {
                kernel.check_end(&pane.id, caller, itself)?;
                close(kernel, &pane).await?;
                closed.push(pane.id.clone());
            }
        }
        Ok(Closed { closed })
    }
}

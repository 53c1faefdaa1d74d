//! `subagent:closed`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::close;
use super::subagent_opened::check;
use crate::registry::{Action, Context, Kind};

pub(super) struct SubagentClosed;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The sub-agent's session.
    id: String,
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
    type Params = Params;
    type Answer = Closed;

    async fn run(context: Context, Params { id }: Params) -> Result<Closed, Refusal> {
        check(&id)?;
        let kernel = &context.kernel;
        let mut closed = Vec::new();
        for pane in kernel.panes().list() {
            let shown = pane.lock().meta().get("subagent.id").and_then(Value::as_str) == Some(&id);
            if shown {
                close(kernel, &pane).await?;
                closed.push(pane.id.clone());
            }
        }
        Ok(Closed { closed })
    }
}

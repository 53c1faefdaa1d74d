//! `agent:cleanup`

use paned_model::{PaneId, Refusal, Scope};
use paned_policy::retire;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agents;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentCleanup;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Only agents that have been idle for so many milliseconds; all that are when left out.
    #[serde(default)]
    idle_ms: u64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Cleaned {
    /// The panes that are gone.
    closed: Vec<PaneId>,
    /// The agents that stay.
    kept: Vec<Kept>,
}

/// An agent that stays.
#[derive(Serialize, JsonSchema)]
pub(super) struct Kept {
    /// Its pane.
    id: PaneId,
    /// Why.
    why: String,
}

impl Action for AgentCleanup {
    const NAME: &'static str = "agent:cleanup";
    const DOC: &'static str = "Close the agents that wait for a prompt and that nobody looks at; never one that is busy, blocked or to be \
         left alone.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = Cleaned;

    fn touches(_: &Params) -> Touches {
        Touches::reached()
    }

    async fn run(context: Context, params: Params) -> Result<Cleaned, Refusal> {
        let Context { kernel, caller, .. } = context;
        let mut cleaned = Cleaned { closed: Vec::new(), kept: Vec::new() };
        for pane in kernel.panes().list() {
            if !kernel.reaches(&pane.id, &caller) {
                continue;
            }
            let Some(agent) = agents::candidate(&kernel, &pane) else { continue };
            let is_own = caller.pane.as_ref() == Some(&pane.this());
            let own = || Err("it is the one who asks".to_owned());
            let may_go = retire::may_go(&agent, params.idle_ms, kernel.now());
            match if is_own { own() } else { may_go } {
                Err(why) => cleaned.kept.push(Kept { id: agent.pane, why }),
                Ok(()) => match agents::retire(&kernel, &pane).await? {
                    true => cleaned.closed.push(agent.pane),
                    false => {
                        let why = "it went back to work, or does not go".to_owned();
                        cleaned.kept.push(Kept { id: agent.pane, why });
                    }
                },
            }
        }
        Ok(cleaned)
    }
}

//! `agent:interrupt`

use paned_model::{AgentInfo, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::agent::{agent, listener};
use super::patience::patience;
use crate::agents::{Ask, Errand};
use crate::panes::pane::gone;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

/// How long to wait until a turn is seen to be broken off, in milliseconds.
const PATIENCE: u64 = 30_000;
const LONGEST: u64 = 600_000;

pub(super) struct AgentInterrupt;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// How long to wait until it is seen to have stopped, in milliseconds (30000 when left out, up to 600000).
    #[schemars(range(max = 600_000))]
    timeout_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Interrupted {
    /// Whether a turn was broken off.
    interrupted: bool,
    /// What that rests on, in sentences.
    evidence: Vec<String>,
    /// The agent as it is now.
    agent: AgentInfo,
}

impl Action for AgentInterrupt {
    const NAME: &'static str = "agent:interrupt";
    const DOC: &'static str = "Break off an agent's turn, and see that it has stopped.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    const SECRETS: &'static [&'static str] = &["agent.dialog", "evidence"];
    type Params = Params;
    type Answer = Interrupted;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id).typing()
    }

    async fn run(context: Context, params: Params) -> Result<Interrupted, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let listener = listener(kernel, &pane)?;
        let patience = patience(params.timeout_ms, PATIENCE, LONGEST)?;
        let asked = listener.ask(|reply| Ask::Carry(Errand::Interrupt(reply)));
        let Ok(broken) = timeout(patience, asked).await else {
            let evidence = vec!["it was not seen to stop in time".to_owned()];
            return Ok(Interrupted { interrupted: false, evidence, agent: agent(&pane)? });
        };
        let broken = broken.ok_or_else(|| gone(&pane.id, pane.lock().status()))??;
        let (interrupted, evidence) = (broken.interrupted, broken.evidence);
        Ok(Interrupted { interrupted, evidence, agent: agent(&pane)? })
    }
}

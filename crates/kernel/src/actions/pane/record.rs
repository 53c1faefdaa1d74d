//! `pane:record`

use paned_model::{PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::at_most_one;
use crate::agents::{AgentRecording, record_output};
use crate::registry::{Action, ActionContext, ActionKind};

/// The most that a recording holds, in bytes.
const MAX_BYTES: usize = 16 << 20;

pub(in crate::actions) struct PaneRecordAction;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = at_most_one(&["since", "lastMs"]))]
pub(in crate::actions) struct Params {
    /// The pane; it may have ended.
    pane_id: PaneId,
    /// The start time; defaults to the first output that is retained.
    since: Option<Time>,
    /// Only the last milliseconds, this many.
    last_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneRecordOutput {
    /// The recording, as asciicast v2: what the program printed, and the sizes of its terminal.
    cast: String,
    /// When the recording begins.
    start: Time,
    /// Whether some of the requested span is no longer kept, or exceeds the size limit.
    truncated: bool,
}

impl Action for PaneRecordAction {
    const NAME: &'static str = "pane:record";
    const DOC: &'static str =
        "Make a recording of what a pane has printed, with the times at which it did.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = PaneRecordOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneRecordOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let since = match (params.since, params.last_ms) {
            (Some(since), None) => since,
            (None, Some(last)) => Time(kernel.now().0.saturating_sub(last)),
            (None, None) => Time(0),
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid("say `since` or `lastMs`, not both"));
            }
        };
        let AgentRecording { asciicast: cast, start, is_cut, .. } =
            record_output(&pane, since, MAX_BYTES).await?;
        Ok(PaneRecordOutput { cast, start, truncated: is_cut })
    }
}

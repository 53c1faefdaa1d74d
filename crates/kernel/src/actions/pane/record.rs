//! `pane:record`

use paned_model::{Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::support::recording::{MAX_BYTES, RecordingParams};
use crate::agents::{AgentRecording, record_output};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneRecordAction;

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
    type Params = RecordingParams;
    type Answer = PaneRecordOutput;

    fn access(params: &RecordingParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        params: RecordingParams,
    ) -> Result<PaneRecordOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let since = params.start(kernel.now(), None)?;
        let AgentRecording { asciicast: cast, start, is_cut, .. } =
            record_output(&pane, since, MAX_BYTES).await?;
        Ok(PaneRecordOutput { cast, start, truncated: is_cut })
    }
}

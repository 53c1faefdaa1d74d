//! `agent:record`

use paned_model::{AgentState, BlockKind, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::support::agents::no_agent;
use crate::actions::support::recording::{MAX_BYTES, RecordingParams};
use crate::agents::{AgentRecording, record};
use crate::registry::{Action, ActionContext, ActionKind};

/// How far back to record when nothing is given.
const DEFAULT_SPAN_MS: u64 = 600_000;

pub(in crate::actions) struct AgentRecordAction;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentRecordOutput {
    /// The recording, as asciicast v2. Input that was not echoed is masked with a star for each
    /// character.
    cast: String,
    /// The agent's detected states, in order of time.
    states: Vec<AgentStateSample>,
    /// When the recording begins.
    start: Time,
    /// Whether a part of the requested span is no longer retained, or exceeds the size limit.
    truncated: bool,
}

/// A change of an agent's detected state.
#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct AgentStateSample {
    /// The time in seconds since the start of the recording.
    t: f64,
    /// The state.
    state: AgentState,
    /// The kind of question it was waiting on.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<BlockKind>,
}

impl Action for AgentRecordAction {
    const NAME: &'static str = "agent:record";
    const DOC: &'static str =
        "Export a recording of an agent's recent output, with secrets in its input masked.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = RecordingParams;
    type Answer = AgentRecordOutput;

    fn access(params: &RecordingParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        params: RecordingParams,
    ) -> Result<AgentRecordOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        pane.check_responsive()?;
        let agent = kernel.agents().find(&pane.id).ok_or_else(|| no_agent(&pane.id))?;
        let since = params.start(kernel.now(), Some(DEFAULT_SPAN_MS))?;
        let AgentRecording { asciicast: cast, states, start, is_cut } =
            record(&agent, &pane, since, MAX_BYTES).await?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a recording lasts less than a million years"
        )]
        let sample =
            |(millis, state, kind)| AgentStateSample { t: millis as f64 / 1000.0, state, kind };
        let states = states.into_iter().map(sample).collect();
        Ok(AgentRecordOutput { cast, states, start, truncated: is_cut })
    }
}

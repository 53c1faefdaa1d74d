//! The parameters of actions that make a recording of a pane.

use paned_model::{PaneId, Refusal, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::param_rules::at_most_one;

/// The most that a recording holds, in bytes.
pub(in crate::actions) const MAX_BYTES: usize = 16 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = at_most_one(&["since", "lastMs"]))]
pub(in crate::actions) struct RecordingParams {
    /// The pane; it may have ended.
    pub(in crate::actions) pane_id: PaneId,
    /// The start time; defaults to the first output that is retained, and for `agent:record` to ten
    /// minutes ago.
    since: Option<Time>,
    /// Only the last N milliseconds.
    last_ms: Option<u64>,
}

impl RecordingParams {
    /// When the recording begins. `default` is how many milliseconds ago if nothing is given; None
    /// is the first output.
    ///
    /// # Errors
    /// When the start is given twice.
    pub(in crate::actions) fn start(
        &self,
        now: Time,
        default: Option<u64>,
    ) -> Result<Time, Refusal> {
        match (self.since, self.last_ms) {
            (Some(_), Some(_)) => Err(Refusal::invalid("pass `since` or `lastMs`, not both")),
            (Some(since), None) => Ok(since),
            (None, last) => {
                Ok(last.or(default).map_or(Time(0), |span| Time(now.0.saturating_sub(span))))
            }
        }
    }
}

//! What is needed to start a pane again and is stored nowhere else. It holds the environment, which
//! may hold secrets: so it is in a private file in the pane's folder, and never in the journal, in
//! events, in logs or in answers.

use paned_model::Refusal;
use serde::{Deserialize, Serialize};

use super::Pane;
use super::environment::EnvironmentSpec;
use crate::Kernel;

/// How a pane was started. The rest is in its [`super::PaneRecord`]. It has no `Debug`, so that it
/// cannot be logged.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchRecord {
    /// The command line.
    pub(crate) argv: Vec<String>,
    /// The requested folder; the user's home when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    /// Its environment, as requested.
    #[serde(flatten)]
    pub(crate) environment: EnvironmentSpec,
}

impl LaunchRecord {
    /// The record as JSON.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("our own types always become JSON")
    }

    /// The stored record of a pane; `None` for one that was adopted or started without one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) async fn of(kernel: &Kernel, pane: &Pane) -> Result<Option<Self>, Refusal> {
        let record = kernel.backend().launch_record(pane.id.clone()).await?;
        let unreadable = |_| {
            let id = &pane.id;
            Refusal::internal(format!("the launch record of pane `{id}` is damaged"))
        };
        record.map(|record| serde_json::from_str(&record).map_err(unreadable)).transpose()
    }
}

//! The kernel's actions, as every compat API runs them.

use std::sync::Arc;

use paned_kernel::Caller;
use paned_model::Refusal;
use paned_server::compat_api::{Call, ServerState};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Runs actions for one caller.
#[derive(Clone)]
pub(crate) struct KernelClient {
    pub(crate) shared: Arc<ServerState>,
    pub(crate) caller: Caller,
}

impl KernelClient {
    pub(crate) fn of(call: &Call) -> Self {
        Self { shared: call.shared.clone(), caller: call.caller.clone() }
    }

    /// Runs an action and parses its answer.
    pub(crate) async fn act<T: DeserializeOwned>(
        &self,
        name: &str,
        params: Value,
    ) -> Result<T, Refusal> {
        let answer = self.shared.dispatch(name, params.to_string(), &self.caller).await?;
        serde_json::from_slice(&answer).map_err(Refusal::internal)
    }
}

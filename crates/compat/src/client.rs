//! The kernel's actions, as every compat API runs them; and random numbers for names.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use paned_kernel::Caller;
use paned_model::{AgentInfo, Delivery, Refusal};
use paned_server::compat_api::{Call, ServerState};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

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

    /// The same for a client of opencode, to which OpenCode's permissions apply.
    pub(crate) fn of_opencode(call: &Call) -> Self {
        let mut client = Self::of(call);
        client.caller.is_opencode = true;
        client
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

    /// Runs an action whose answer does not matter.
    pub(crate) async fn run(&self, name: &str, params: Value) -> Result<(), Refusal> {
        self.act(name, params).await.map(|_: IgnoredAny| ())
    }

    /// Sends a message to the agent in a pane; `when_busy` says what becomes of it otherwise.
    pub(crate) async fn message(
        &self,
        pane: &str,
        text: &str,
        when_busy: &str,
    ) -> Result<DeliveryReply, Refusal> {
        let message = json!({ "paneId": pane, "text": text, "whenBusy": when_busy });
        self.act("agent:message", message).await
    }
}

/// The answer of `agent:message`.
#[derive(Deserialize)]
pub(crate) struct DeliveryReply {
    pub(crate) outcome: Delivery,
    #[serde(default)]
    pub(crate) evidence: Vec<String>,
    pub(crate) agent: AgentInfo,
}

/// A random number, for the names of new sessions.
pub(crate) fn random() -> u32 {
    // Each `RandomState` has its own keys, so this is as random as a hash map's seed.
    RandomState::new().build_hasher().finish() as u32
}

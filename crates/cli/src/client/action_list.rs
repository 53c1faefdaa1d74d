//! The actions a server has, as it describes them.

use anyhow::{Context as _, Result};
use paned_model::Refusal;
use serde::Deserialize;
use serde_json::Value;

use super::ApiClient;

/// One action, as the server describes it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ActionInfoReply {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) scope: String,
    /// The JSON Schema of its parameters.
    pub(crate) params: Value,
}

impl ApiClient {
    /// Every action the server has.
    ///
    /// # Errors
    /// When the server cannot be reached, or describes them in a way this program does not know.
    pub(crate) async fn actions(&self) -> Result<Vec<ActionInfoReply>> {
        let answer = self.get("/actions").await?;
        serde_json::from_value(answer).context("the server's list of actions is not understood")
    }

    /// One action.
    ///
    /// # Errors
    /// As [`ApiClient::actions`], or when there is none of this name.
    pub(crate) async fn describe(&self, name: &str) -> Result<ActionInfoReply> {
        let found = self.actions().await?.into_iter().find(|action| action.name == name);
        Ok(found.ok_or_else(|| {
            let name = name.escape_debug();
            Refusal::not_found(format!("no action `{name}`; `paned list` shows them all"))
        })?)
    }
}

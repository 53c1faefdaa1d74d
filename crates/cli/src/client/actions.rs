//! Actions: those that a server has, and calls of them with a command's arguments.

use anyhow::{Context as _, Result};
use hyper::Method;
use paned_model::Refusal;
use paned_model::near::{did_you_mean, nearest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::names::without_pane;
use super::{ApiClient, escape};

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
    /// Runs an action with these arguments as its parameters.
    ///
    /// # Errors
    /// As [`ApiClient::action`], or when the answer is of another type.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        args: &impl Serialize,
    ) -> Result<T> {
        read(self.action(name, &params(args)?.into()).await?)
    }

    /// Runs an action with these parameters. A name that is not exact is taken for what it
    /// means, if that is unambiguous.
    ///
    /// # Errors
    /// With the server's refusal, or one of ours when it cannot be reached.
    pub(crate) async fn action(&self, name: &str, params: &Value) -> Result<Value> {
        loop {
            let meant = self.names.apply(name, params);
            match self.exact_action(name, meant.as_ref().unwrap_or(params)).await {
                Err(error) => self.names.learn(without_pane(error, params))?,
                answer => return answer,
            }
        }
    }

    /// Runs an action with these parameters, unchanged.
    ///
    /// # Errors
    /// As [`ApiClient::action`].
    pub(crate) async fn exact_action(&self, name: &str, params: &Value) -> Result<Value> {
        self.request(Method::POST, &format!("/action/{}", escape(name)), Some(params)).await
    }

    /// Every action the server has.
    ///
    /// # Errors
    /// When the server cannot be reached, or describes them in a way this program does not know.
    pub(crate) async fn actions(&self) -> Result<Vec<ActionInfoReply>> {
        let answer = self.request(Method::GET, "/actions", None).await?;
        serde_json::from_value(answer).context("cannot parse the server's list of actions")
    }

    /// One action.
    ///
    /// # Errors
    /// As [`ApiClient::actions`], or when there is none of this name.
    pub(crate) async fn describe(&self, name: &str) -> Result<ActionInfoReply> {
        let actions = self.actions().await?;
        if let Some(found) = actions.iter().find(|action| action.name == name) {
            return Ok(found.clone());
        }
        let near = nearest(name, actions.iter().map(|action| action.name.as_str()));
        let hint = did_you_mean(&near).unwrap_or("`paned list` shows them all".to_owned());
        Err(Refusal::not_found(format!("no action `{}`; {hint}", name.escape_debug())).into())
    }
}

/// Arguments as parameters: those that were not given are left out.
///
/// # Errors
/// When an argument cannot be sent, as a folder relative to one that does not exist.
pub(crate) fn params(args: &impl Serialize) -> Result<Map<String, Value>> {
    Ok(match serde_json::to_value(args)? {
        Value::Object(given) => given.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    })
}

/// Deserializes an answer.
///
/// # Errors
/// When it is of another type.
pub(crate) fn read<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|error| {
        let sentence = format!(
            "cannot parse the server's answer ({error}); compare the versions with `paned doctor`"
        );
        Refusal::internal(sentence).into()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_not_said_is_not_sent() {
        let sent = params(&json!({ "id": "a", "cwd": null, "persist": false })).unwrap();
        assert_eq!(Value::from(sent), json!({ "id": "a", "persist": false }));
        assert!(params(&()).unwrap().is_empty());
    }
}

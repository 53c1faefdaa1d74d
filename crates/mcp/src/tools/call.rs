//! One call of a tool: runs actions for its client.

use paned_model::{Code, PaneId, Refusal};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::ClientContext;

/// A call of a tool.
#[derive(Clone)]
pub(crate) struct ToolCall {
    pub(crate) client: ClientContext,
}

impl ToolCall {
    /// Runs an action and parses its answer.
    ///
    /// # Errors
    /// If the action is refused.
    pub(crate) async fn act<T: DeserializeOwned>(
        &self,
        action: &str,
        params: Value,
    ) -> Result<T, Refusal> {
        let params = without_nulls(params).to_string();
        let kernel = &self.client.kernel;
        let answer = kernel.dispatch(action, params.as_bytes(), &self.client.caller).await?;
        serde_json::from_str(answer.get()).map_err(Refusal::internal)
    }

    /// Runs an action on the session that the model named. One that does not exist is refused in
    /// known words.
    ///
    /// # Errors
    /// If the action is refused.
    pub(crate) async fn act_on<T: DeserializeOwned>(
        &self,
        id: &str,
        action: &str,
        mut params: Value,
    ) -> Result<T, Refusal> {
        if id.parse::<PaneId>().is_err() {
            return Err(no_session(id));
        }
        params["paneId"] = Value::from(id);
        self.act(action, params).await.map_err(|refusal| match refusal.code {
            Code::NotFound if self.has_no(id) => no_session(id),
            _ => refusal,
        })
    }

    /// Whether there is no such pane, rather than something else that was not found in it.
    fn has_no(&self, id: &str) -> bool {
        let pane = id.parse::<PaneId>();
        let offset = paned_model::Offset(0);
        let found = pane.map(|id| self.client.kernel.output(&id, offset, &self.client.caller));
        !matches!(found, Ok(Ok(_)))
    }

    /// Whether the client runs in a pane, where it can be sent messages.
    pub(crate) fn is_in_pane(&self) -> bool {
        self.client.caller.pane.is_some()
    }

    /// A folder that the model named, made absolute.
    ///
    /// # Errors
    /// If it is relative and it is not known to what.
    pub(crate) fn folder(&self, named: Option<String>) -> Result<Option<String>, Refusal> {
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            return Ok(self.client.folder.clone());
        };
        if named.starts_with('/') {
            return Ok(Some(named));
        }
        let base = self.client.folder.as_deref().ok_or_else(|| {
            let sentence = format!("`workdir` must be an absolute path, and `{named}` is not");
            Refusal::invalid(sentence)
        })?;
        let joined = std::path::Path::new(base).join(named);
        Ok(Some(joined.to_string_lossy().into_owned()))
    }
}

fn no_session(id: &str) -> Refusal {
    let id = id.escape_debug();
    let sentence = format!("PTY session '{id}' not found. Use pty_list to see active sessions.");
    Refusal::not_found(sentence)
}

/// The parameters without those that were left out.
fn without_nulls(mut params: Value) -> Value {
    if let Some(fields) = params.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    params
}

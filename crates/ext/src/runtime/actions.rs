//! Actions that an extension registers.

use std::sync::Arc;

use paned_kernel::{
    AccessRequest, ActionHandler, ActionKind, ActionSpec, BoxedFuture, Caller, Kernel,
};
use paned_model::{Code, PaneId, Refusal, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shared::{CallerInfo, RegisteredAction, SharedHandle};
use crate::rpc::connection::CallError;

/// The parameters of `registerAction`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ActionOffer {
    pub(crate) name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Option<Value>,
    #[serde(default)]
    answer: Option<Value>,
    #[serde(default)]
    scope: Option<Scope>,
    #[serde(default)]
    kind: Option<OfferedKind>,
    #[serde(default)]
    secrets: Vec<String>,
}

/// Kinds of actions that extensions can have.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum OfferedKind {
    Question,
    Input,
    Change,
}

/// An action whose code is in the extension.
struct ExtensionAction {
    name: Arc<str>,
    shared: SharedHandle,
}

#[derive(Serialize)]
struct RunAction<'a> {
    action: &'a str,
    params: &'a Value,
    caller: CallerInfo<'a>,
}

impl ActionOffer {
    /// Registers this action. `name` is its full name.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(crate) fn register(
        self,
        name: &str,
        shared: &SharedHandle,
        kernel: &Kernel,
    ) -> Result<(), Refusal> {
        let definition = serde_json::to_string(&self).map_err(Refusal::internal)?;
        if shared.definition_of(name).is_some_and(|registered| registered == definition) {
            return Ok(());
        }
        // One of the program's earlier life.
        shared.remove_action(name);
        let action = ExtensionAction { name: name.into(), shared: shared.clone() };
        let spec = self.spec(name, &shared.name, Arc::new(action));
        let registration = kernel.register_action(spec)?;
        shared.add_action(name, RegisteredAction { definition, _registration: registration });
        Ok(())
    }

    fn spec(self, name: &str, extension: &str, handler: Arc<dyn ActionHandler>) -> ActionSpec {
        let kind = match self.kind {
            Some(OfferedKind::Question) => ActionKind::Question,
            Some(OfferedKind::Input) => ActionKind::Input,
            Some(OfferedKind::Change) | None => ActionKind::Change,
        };
        let default_scope = match kind {
            ActionKind::Question => Scope::Read,
            ActionKind::Input | ActionKind::Event | ActionKind::Change => Scope::Input,
        };
        let doc = self.description.filter(|text| !text.trim().is_empty());
        ActionSpec {
            name: name.to_owned(),
            doc: doc.unwrap_or_else(|| format!("An action of the extension `{extension}`.")),
            scope: self.scope.unwrap_or(default_scope),
            kind,
            params: object_schema(self.parameters),
            answer: self.answer.unwrap_or_else(|| json!({})),
            secrets: self.secrets,
            handler,
        }
    }
}

/// A schema of an object: parameters always are one, so a schema need not say it.
fn object_schema(schema: Option<Value>) -> Value {
    match schema {
        None | Some(Value::Null) => json!({ "type": "object" }),
        Some(Value::Object(mut fields)) => {
            fields.entry("type").or_insert_with(|| json!("object"));
            Value::Object(fields)
        }
        Some(other) => other,
    }
}

impl ActionHandler for ExtensionAction {
    /// A call that names a pane needs a grant that reaches it: the extension acts with a grant of
    /// its own, over all panes.
    fn access(&self, params: &Value) -> AccessRequest {
        let pane = params.get("paneId").and_then(Value::as_str);
        let pane: Option<PaneId> = pane.and_then(|id| id.parse().ok());
        AccessRequest::panes(&pane)
    }

    fn run(&self, caller: Caller, params: Value) -> BoxedFuture<'_, Result<Value, Refusal>> {
        Box::pin(self.call(caller, params))
    }
}

impl ExtensionAction {
    async fn call(&self, caller: Caller, params: Value) -> Result<Value, Refusal> {
        let connection = self.shared.connection()?;
        let caller = CallerInfo::new(&caller);
        let call = RunAction { action: &self.name, params: &params, caller };
        match connection.request("runAction", &call).await {
            Ok(answer) => serde_json::from_str(answer.get()).map_err(Refusal::internal),
            Err(CallError::Refused(error)) => Err(error.into_refusal()),
            Err(CallError::Closed) => Err(self.ended()),
            Err(CallError::TooLong) => {
                Err(Refusal::new(Code::Limit, "the parameters are longer than 8 MiB; send less"))
            }
        }
    }

    fn ended(&self) -> Refusal {
        let Self { name: action, shared } = self;
        let name = &shared.name;
        let sentence = format!(
            "the extension `{name}` ended before it answered `{action}`; what it did until then \
            is not known, see `paned ext logs {name}`"
        );
        Refusal::new(Code::Unavailable, sentence)
    }
}

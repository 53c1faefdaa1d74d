//! `GET /actions` and `GET /openapi.json`: what can be done here. Written once, then given as it is.

use bytes::Bytes;
use paned_kernel::{ActionKind, Registry};
use paned_model::{Refusal, Scope};
use serde::Serialize;
use serde_json::Value;

use crate::call::Call;
use crate::openapi;
use crate::reply::{HandlerResult, json};

/// One action as it is listed.
#[derive(Serialize)]
struct ActionListing {
    name: &'static str,
    doc: &'static str,
    scope: Scope,
    kind: ActionKind,
    params: Value,
    answer: Value,
}

/// Lists every action.
pub(crate) async fn actions(call: Call) -> HandlerResult {
    let shared = &call.shared;
    if let Some(list) = shared.actions.get() {
        return Ok(json(list.clone()));
    }
    let list = write(&list(shared.kernel.registry()))?;
    Ok(json(shared.actions.get_or_init(|| list).clone()))
}

/// Shows the OpenAPI document.
pub(crate) async fn openapi(call: Call) -> HandlerResult {
    let shared = &call.shared;
    if let Some(document) = shared.openapi.get() {
        return Ok(json(document.clone()));
    }
    let kernel = &shared.kernel;
    let document = write(&openapi::document(kernel.registry(), kernel.setup().version))?;
    Ok(json(shared.openapi.get_or_init(|| document).clone()))
}

fn write(value: &impl Serialize) -> Result<Bytes, Refusal> {
    serde_json::to_vec(value).map(Bytes::from).map_err(Refusal::internal)
}

fn list(registry: &Registry) -> Vec<ActionListing> {
    let listed = registry.iter().map(|action| {
        let (params, answer) = action.schemas();
        let (name, doc, scope, kind) = (action.name, action.doc, action.scope, action.kind);
        ActionListing { name, doc, scope, kind, params, answer }
    });
    listed.collect()
}

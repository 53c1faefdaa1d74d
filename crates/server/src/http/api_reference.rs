//! `GET /actions` and `GET /openapi.json`: the API reference. Built on the first request, then
//! cached.

use bytes::Bytes;
use paned_kernel::{ActionKind, Registry};
use paned_model::{Refusal, Scope};
use serde::Serialize;
use serde_json::Value;

use crate::http::call::Call;
use crate::http::openapi;
use crate::http::reply::{HandlerResult, json};

/// One entry of `GET /actions`.
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
    let version = kernel.setup().version;
    let document = write(&openapi::document(kernel.registry(), &shared.routes, version))?;
    Ok(json(shared.openapi.get_or_init(|| document).clone()))
}

fn write(value: &impl Serialize) -> Result<Bytes, Refusal> {
    serde_json::to_vec(value).map(Bytes::from).map_err(Refusal::internal)
}

fn list(registry: &Registry) -> Vec<ActionListing> {
    let listed = registry.iter().map(|action| {
        let (params, answer) = action.schemas();
        ActionListing {
            name: action.name,
            doc: action.doc,
            scope: action.scope,
            kind: action.kind,
            params,
            answer,
        }
    });
    listed.collect()
}

//! `GET /actions` and `GET /openapi.json`: the API reference. Built on the first request, then
//! cached until the actions change.

use std::sync::{Arc, Mutex, PoisonError};

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
struct ActionListing<'a> {
    name: &'a str,
    doc: &'a str,
    scope: Scope,
    kind: ActionKind,
    params: Value,
    answer: Value,
}

/// A document about the actions, with the actions that it is about.
#[derive(Default)]
pub(crate) struct ActionDocument(Mutex<Option<(Arc<Registry>, Bytes)>>);

impl ActionDocument {
    /// The document for the actions that there are now.
    fn get<T: Serialize>(
        &self,
        registry: Arc<Registry>,
        build: impl FnOnce(&Registry) -> T,
    ) -> HandlerResult {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, document)) = &*cached
            && Arc::ptr_eq(of, &registry)
        {
            return Ok(json(document.clone()));
        }
        let document = serde_json::to_vec(&build(&registry)).map_err(Refusal::internal)?;
        let document = Bytes::from(document);
        *cached = Some((registry, document.clone()));
        Ok(json(document))
    }
}

/// Lists every action.
pub(crate) async fn actions(call: Call) -> HandlerResult {
    let registry = call.shared.kernel.registry();
    call.shared.actions.get(registry.clone(), |_| list(&registry))
}

/// Shows the OpenAPI document.
pub(crate) async fn openapi(call: Call) -> HandlerResult {
    let shared = &call.shared;
    let kernel = &shared.kernel;
    let version = kernel.setup().version;
    let document = |registry: &Registry| openapi::document(registry, &shared.routes, version);
    shared.openapi.get(kernel.registry(), document)
}

fn list(registry: &Registry) -> Vec<ActionListing<'_>> {
    let listed = registry.iter().map(|action| {
        let (params, answer) = action.schemas();
        ActionListing {
            name: &action.name,
            doc: &action.doc,
            scope: action.scope,
            kind: action.kind,
            params,
            answer,
        }
    });
    listed.collect()
}

//! The compat API for clients of Poly. Our own HTTP API contains Poly's, so most routes are ours at
//! another path. What differs is for clients that know no tokens: the header `x-poly-pane` is a
//! label where no pane's grant comes with the request.

use std::sync::Arc;

use paned_model::PaneId;
use paned_server::compat_api::{Call, CompatApi, ErrorFormat, HandlerResult, JSON, text};
use paned_server::{AcceptedBody, ParamLocation, Route, RouteParam, RouteShape};
use serde_json::{Map, Value, json};

use crate::routes::RouteBuilder;

/// The name of this API.
pub(crate) const NAME: &str = "poly";

/// Its routes, for a client that looks for another one.
const ROUTES: &str = "Poly's routes are `POST /action/NAME`, `POST /emit/EVENT`, `GET /actions`, \
                      `GET /events` and `GET /health`";
/// The one action that is about the caller's own pane if it names none. Poly's hooks say which pane
/// that is in `x-poly-pane`.
const ABOUT_OWN_PANE: &str = "agent:set-state";

const ACTION: &[RouteParam] = &[RouteParam {
    location: ParamLocation::Path,
    name: "name",
    doc: "The action's name.",
    schema: || json!({ "type": "string" }),
}];

/// Parameters and answer are those of the action.
const ACTION_SHAPE: RouteShape =
    RouteShape::NOTHING.with_body(|| json!({})).with_answer(|| json!({}));

/// The API.
#[derive(Debug, Default)]
pub(crate) struct Poly;

impl CompatApi for Poly {
    fn name(&self) -> &'static str {
        NAME
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let action = RouteBuilder {
            context: Arc::new(|_: &_| ()),
            path_param: ACTION,
            takes: AcceptedBody::Json,
            answers: JSON,
            errors: ErrorFormat::Coded,
        };
        vec![
            action.route(
                "POST /compat/poly/action/{name}",
                "Run an action for a Poly client.",
                ACTION_SHAPE,
                act,
            ),
            Route::own_at("/emit/{event}", "/compat/poly/emit/{event}"),
            Route::own_at("/actions", "/compat/poly/actions"),
            Route::own_at("/events", "/compat/poly/events"),
            Route::own_at("/health", "/compat/poly/health"),
        ]
    }

    fn unknown_path_hint(&self) -> Option<&'static str> {
        Some(ROUTES)
    }

    fn takes_pane_labels(&self) -> bool {
        true
    }
}

/// Runs the action in the path with the body as its parameters.
async fn act((): (), mut call: Call) -> HandlerResult {
    let name = call.name()?;
    let mut params = call.body().await?.to_vec();
    if let Some(label) = call.default_pane.as_ref().filter(|_| name == ABOUT_OWN_PANE) {
        params = with_pane(params, label);
    }
    let answer = call.shared.dispatch(&name, params, &call.caller).await?;
    Ok(text(JSON, answer))
}

/// The parameters with this pane, unless they name one. What is no object is left to the action to
/// refuse.
fn with_pane(params: Vec<u8>, label: &PaneId) -> Vec<u8> {
    let is_empty = params.trim_ascii().is_empty();
    let parsed = if is_empty { Ok(Map::new()) } else { serde_json::from_slice(&params) };
    let Ok(mut fields) = parsed else { return params };
    if ["paneId", "pane", "pane_id"].iter().any(|name| fields.contains_key(*name)) {
        return params;
    }
    fields.insert("paneId".to_owned(), json!(label));
    Value::Object(fields).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(params: &str, expect: &str) {
        let label = "web".parse().unwrap();
        let params = with_pane(params.as_bytes().to_vec(), &label);
        assert_eq!(String::from_utf8(params).unwrap(), expect);
    }

    #[test]
    fn a_label_stands_for_a_pane_that_the_parameters_do_not_name() {
        check("", r#"{"paneId":"web"}"#);
        check(r#"{"status":"idle"}"#, r#"{"status":"idle","paneId":"web"}"#);
        check(r#"{"paneId": "b"}"#, r#"{"paneId": "b"}"#);
        check(r#"{"pane_id":"b"}"#, r#"{"pane_id":"b"}"#);
        check("[]", "[]");
        check("{", "{");
    }
}

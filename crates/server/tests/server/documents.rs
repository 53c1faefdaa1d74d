//! The server's documents: the list of actions, OpenAPI, health, metrics.

use std::collections::BTreeSet;
use std::sync::Arc;

use paned_kernel::{AccessRequest, ActionHandler, ActionKind, ActionSpec, BoxedFuture, Caller};
use paned_model::{Code, Refusal, Scope};
use paned_server::{RequiredAccess, routes};
use serde_json::{Value, json};

use crate::test_server::{PAGE, TestServer};

/// Every `$ref` in a document.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).map(str::to_owned);
            fields.values().flat_map(references).chain(own).collect()
        }
        Value::Array(values) => values.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn every_action_is_listed_and_documented_and_nothing_else_is() {
    let server = TestServer::new().await;
    let registered: BTreeSet<String> =
        server.kernel.registry().iter().map(|action| action.name.to_string()).collect();
    let list = server.get("/actions").await.json();
    let listed =
        list.as_array().unwrap().iter().map(|action| action["name"].as_str().unwrap().to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), registered);
    let document = server.get("/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap().keys();
    let documented = paths.filter_map(|path| path.strip_prefix("/action/")).map(str::to_owned);
    assert_eq!(documented.collect::<BTreeSet<_>>(), registered);
}

#[tokio::test]
async fn the_list_says_what_an_action_needs_and_means() {
    let server = TestServer::new().await;
    let list = server.get("/actions").await.json();
    let new = list.as_array().unwrap().iter().find(|action| action["name"] == "pane:new").unwrap();
    assert_eq!((&new["scope"], &new["kind"]), (&json!("spawn"), &json!("change")));
    assert!(new["doc"].is_string());
    assert_eq!(new["params"]["properties"]["id"]["pattern"], paned_model::PaneId::PATTERN);
    assert_eq!(new["answer"]["properties"]["argv"]["type"], "array");
    assert_eq!(references(&list), Vec::<String>::new());
}

#[tokio::test]
async fn every_route_is_documented_with_what_it_needs() {
    let server = TestServer::new().await;
    let document = server.get("/openapi.json").await.json();
    for route in
        routes(PAGE, &crate::compat_setup().0).iter().filter(|route| route.path != "/action/{name}")
    {
        let method = route.method.as_str().to_ascii_lowercase();
        let operation = &document["paths"][route.path][&method];
        assert_eq!(operation["summary"], route.doc);
        let responses = &operation["responses"];
        let is_answered = responses["200"]["content"][route.answers]["schema"].is_object();
        assert_eq!(is_answered, route.shape.answer.is_some(), "{}", route.path);
        assert_eq!(responses.get("101").is_some(), route.shape.upgrades, "{}", route.path);
        let reads = operation["requestBody"]["content"].is_object();
        assert_eq!(reads, route.shape.body.is_some(), "{}", route.path);
        assert_eq!(operation["parameters"].as_array().unwrap().len(), route.params.len());
        let open = operation.get("security").is_some();
        let needs_no_token = [RequiredAccess::Open, RequiredAccess::Code];
        assert_eq!(open, needs_no_token.contains(&route.required_access()), "{}", route.path);
    }
}

#[tokio::test]
async fn the_document_holds_together() {
    let server = TestServer::new().await;
    let document = server.get("/openapi.json").await.json();
    assert_eq!(
        (&document["openapi"], &document["info"]["version"]),
        (&json!("3.1.0"), &json!("1.2.3"))
    );
    let references = references(&document);
    assert!(references.iter().any(|to| to == "#/components/schemas/Refusal"), "{references:?}");
    for reference in references {
        let found = document.pointer(reference.strip_prefix('#').unwrap());
        assert!(found.is_some(), "nothing is at {reference}");
    }
    let operations = || {
        document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
    };
    let ids: BTreeSet<_> =
        operations().map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations().count(), "{ids:?}");
}

#[tokio::test]
async fn every_operation_documents_each_error_with_the_codes_it_can_have() {
    let server = TestServer::new().await;
    let document = server.get("/openapi.json").await.json();
    let action = &document["paths"]["/action/pane:new"]["post"]["responses"];
    for code in Code::ALL {
        let response = &action[code.http().to_string()]["$ref"];
        let response = document.pointer(&response.as_str().unwrap()[1..]).unwrap();
        let schema = &response["content"]["application/json"]["schema"];
        let codes = &schema["allOf"][1]["properties"]["code"]["enum"];
        assert!(codes.as_array().unwrap().contains(&json!(code)), "{code}: {response}");
    }
    let emit = &document["paths"]["/emit/{event}"]["post"]["parameters"][0]["schema"];
    let params = &document["paths"]["/action/event:emit"]["post"]["requestBody"];
    let name = &params["content"]["application/json"]["schema"]["properties"]["name"];
    assert_eq!(emit["pattern"], name["pattern"]);
}

#[tokio::test]
async fn health_is_one_word_for_anyone_and_more_for_a_grant() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let anonymous = server.send(&server.ask("GET", "/health").without("authorization")).await;
    assert_eq!(anonymous.json(), json!({ "status": "ok" }));
    let health = server.get("/health").await.json();
    assert_eq!((&health["status"], &health["version"]), (&json!("ok"), &json!("1.2.3")));
    assert_eq!(
        (&health["pid"], &health["panes"]),
        (&json!(std::process::id()), &json!({ "running": 1 }))
    );
    assert!(health["uptimeMs"].is_u64());
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let _stream = server.follow("*").await;
    server.get("/no/such").await;
    let page = server.get("/metrics").await;
    assert_eq!(page.head.get("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "paned_build_info{version=\"1.2.3\"} 1",
        "paned_panes{status=\"running\"} 1",
        "paned_sse_streams 1",
        "paned_http_requests_total{method=\"POST\",route=\"/action/{name}\",status=\"2xx\"} 1",
        "paned_http_requests_total{method=\"any\",route=\"unknown\",status=\"4xx\"} 1",
    ] {
        assert!(page.body.lines().any(|other| other == line), "no {line} in {}", page.body);
    }
}

#[tokio::test]
async fn metrics_for_a_narrow_grant_count_its_own_panes_alone() {
    let server = TestServer::new().await;
    for id in ["mine", "other"] {
        server.pane(id).await;
    }
    let (_, token) = server.grant(json!({ "scopes": ["read"], "panes": ["mine"] })).await;
    let page = server.send(&server.request_as(&token, "GET", "/metrics")).await;
    let page = page.body;
    assert!(page.contains("paned_panes{status=\"running\"} 1\n"), "{page}");
    for family in ["paned_events_total", "paned_connections", "paned_http_requests_total", "fds"] {
        assert!(!page.contains(family), "{family}: {page}");
    }
    let health = server.send(&server.request_as(&token, "GET", "/health")).await.json();
    assert_eq!(health["panes"], json!({ "running": 1 }), "{health}");
}

/// Answers with nothing.
struct EmptyHandler;

impl ActionHandler for EmptyHandler {
    fn access(&self, _: &Value) -> AccessRequest {
        AccessRequest::nothing()
    }

    fn run(&self, _: Caller, _: Value) -> BoxedFuture<'_, Result<Value, Refusal>> {
        Box::pin(async { Ok(json!({})) })
    }
}

#[tokio::test]
async fn an_action_of_an_extension_is_served_and_documented_while_it_is_there() {
    let server = TestServer::new().await;
    let listed = async || {
        let list = server.get("/actions").await.json();
        let document = server.get("/openapi.json").await.json();
        let in_list = list.as_array().unwrap().iter().any(|action| action["name"] == "build:run");
        (in_list, document["paths"]["/action/build:run"]["post"]["summary"].clone())
    };
    assert_eq!(listed().await, (false, Value::Null));
    let spec = ActionSpec {
        name: "build:run".into(),
        doc: "Build it.".into(),
        scope: Scope::Spawn,
        kind: ActionKind::Change,
        params: json!({ "type": "object" }),
        answer: json!({ "type": "object" }),
        secrets: Vec::new(),
        handler: Arc::new(EmptyHandler),
    };
    let registration = server.kernel.register_action(spec).unwrap();
    assert_eq!(listed().await, (true, json!("Build it.")));
    assert_eq!(server.act("build:run", json!({})).await, json!({}));
    drop(registration);
    assert_eq!(listed().await, (false, Value::Null));
    assert_eq!(server.send(&server.ask("POST", "/action/build:run")).await.status(), 404);
}

//! The audit says who did what, and never what was typed.

use paned_backend::fake::FakeBackend;
use paned_kernel::{ApprovalSetup, KernelSetup};
use paned_model::Code;
use serde_json::{Map, Value, json};

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code, setup};

/// In every text that the test sends.
const SECRET: &str = "S3CRET";

async fn audit(server: &TestKernel, params: Value) -> Vec<Value> {
    let answer = server.act("audit:list", params).await.unwrap();
    answer["records"].as_array().unwrap().clone()
}

/// Parameters that fit a schema as far as a machine can tell, with the secret in every text.
fn params(schema: &Value) -> Value {
    let mut params = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let value = match name.as_str() {
            "paneId" | "pane" => json!("a"),
            "id" => json!("x1"),
            "argv" => json!(["sh", SECRET]),
            "timeoutMs" | "timeoutSeconds" => json!(1),
            "panes" | "names" => continue,
            _ => sample(field),
        };
        params.insert(name.clone(), value);
    }
    Value::Object(params)
}

fn sample(field: &Value) -> Value {
    let kind = match &field["type"] {
        Value::Array(kinds) => kinds[0].as_str().unwrap_or("string"),
        kind => kind.as_str().unwrap_or("string"),
    };
    match kind {
        "boolean" => json!(true),
        "integer" | "number" => json!(1),
        "array" => json!([SECRET]),
        "object" => json!({ "KEY": SECRET }),
        _ => field["enum"].get(0).cloned().unwrap_or(json!(SECRET)),
    }
}

#[tokio::test(start_paused = true)]
async fn no_record_holds_what_was_sent_in_any_action() {
    let server = TestKernel::new().await;
    // A subscriber of the actions makes the kernel record questions and input, too.
    let _feed = server.feed("action:*");
    let made = json!({ "id": "a", "argv": ["sh", SECRET], "env": { "TOKEN": SECRET } });
    server.act("pane:new", made).await.unwrap();
    let (_, caller) = create_caller(&server, json!({ "scopes": ["admin"], "label": SECRET })).await;
    let sent = [
        ("pane:write", json!({ "paneId": "a", "text": SECRET })),
        ("pane:paste", json!({ "paneId": "a", "text": SECRET })),
        ("pane:set-meta", json!({ "paneId": "a", "key": SECRET, "value": SECRET })),
        ("pane:rename", json!({ "paneId": "a", "title": SECRET })),
        ("event:emit", json!({ "name": "x:y", "payload": { "text": SECRET } })),
        ("pane:get", json!({ "paneId": "a" })),
    ];
    for (name, params) in sent {
        server.act_as(&caller, name, params).await.unwrap();
    }
    let mut walked = 0;
    for action in server.kernel.registry().iter() {
        if action.name.starts_with("server:") || *action.name == *"audit:list" {
            continue;
        }
        let sent = params(&action.schemas().0).to_string();
        let asked = server.kernel.dispatch(&action.name, sent.as_bytes(), &caller);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), asked).await;
        walked += 1;
    }
    assert!(40 < walked, "{walked}");
    let answer = server.act("audit:list", json!({ "limit": 1000 })).await.unwrap();
    assert!(20 < answer["records"].as_array().unwrap().len());
    assert!(!answer.to_string().contains(SECRET), "{answer:#}");
    for record in answer["records"].as_array().unwrap() {
        for (name, value) in record.as_object().unwrap() {
            let is_short = value.as_str().is_none_or(|text| text.len() <= 64);
            assert!(is_short && !value.is_object() && !value.is_array(), "{name}: {value}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_says_who_did_what_and_what_allowed_it() {
    let approvals = ApprovalSetup { actions: vec!["pane:rename".into()], ..Default::default() };
    let setup = KernelSetup { approvals, ..setup() };
    let server = TestKernel::with_setup(setup, FakeBackend::default(), Vec::new()).await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let agent = server.kernel.authenticate(&server.token_in("a")).unwrap();
    let kernel = server.kernel.clone();
    let caller = agent.clone();
    let renaming = tokio::spawn(async move {
        let params = json!({ "paneId": "a", "title": "x" }).to_string();
        kernel.dispatch("pane:rename", params.as_bytes(), &caller).await
    });
    let asked = crate::test_kernel::next(&mut server.feed("approval:asked")).await;
    let asked: Value = serde_json::from_str(&asked.payload).unwrap();
    let answer = json!({ "id": asked["id"], "answer": "allow" });
    server.act("approval:answer", answer).await.unwrap();
    renaming.await.unwrap().unwrap();
    let missing = server.act("pane:kill", json!({ "paneId": "a", "nonsense": 1 })).await;
    assert!(missing.is_err());
    let of_agent = audit(&server, json!({ "caller": "pane:a" })).await;
    let outcomes: Vec<_> = of_agent.iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["asked", "allowed", "success"]);
    let renamed = &of_agent[2];
    assert_eq!(
        (&renamed["action"], &renamed["paneId"], &renamed["scope"], &renamed["answeredBy"]),
        (&json!("pane:rename"), &json!("a"), &json!("input"), &json!("owner"))
    );
    assert_eq!((&renamed["approval"], &renamed["grant"]), (&asked["id"], &json!(agent.grant.id)));
    let of_pane = audit(&server, json!({ "paneId": "a", "action": "pane:*" })).await;
    assert_eq!(of_pane.first().unwrap()["action"], "pane:new");
    let after = audit(&server, json!({ "after": of_agent[0]["id"], "limit": 1 })).await;
    assert_eq!((after.len(), &after[0]["id"]), (1, &of_agent[1]["id"]));
    let before = audit(&server, json!({ "before": of_agent[1]["id"], "limit": 1 })).await;
    assert_eq!(before[0]["id"], of_agent[0]["id"]);
    let narrow = server.act_as(&agent, "audit:list", json!({})).await;
    assert_eq!(code(narrow).0, Code::Forbidden);
}

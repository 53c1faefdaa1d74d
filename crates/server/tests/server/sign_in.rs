//! `POST /sign-in`: a code for a token.

use paned_model::Code;
use serde_json::{Value, json};

use crate::client::{RawRequest, RawResponse};
use crate::test_server::TestServer;

async fn code(server: &TestServer) -> String {
    let made = server.act("grant:create-code", json!({ "scopes": ["read", "input"] })).await;
    made["code"].as_str().unwrap().to_owned()
}

/// A request as a page sends it that has no token yet.
fn request(server: &TestServer, body: &Value) -> RawRequest {
    let origin = format!("http://{}", server.address);
    let ask = server.ask("POST", "/sign-in").without("authorization");
    ask.header("origin", &origin).json(body)
}

async fn sign_in(server: &TestServer, body: &Value) -> RawResponse {
    server.send(&request(server, body)).await
}

#[tokio::test]
async fn a_code_is_exchanged_once_for_a_token_that_works() {
    let server = TestServer::new().await;
    let body = json!({ "code": code(&server).await, "label": "phone" });
    let answer = sign_in(&server, &body).await;
    assert_eq!(answer.status(), 200, "{answer:?}");
    let signed_in = answer.json();
    assert_eq!(
        (&signed_in["scopes"], &signed_in["label"]),
        (&json!(["read", "input"]), &json!("phone"))
    );
    assert!(signed_in["expiresAt"].is_string(), "{signed_in}");
    let token = signed_in["token"].as_str().unwrap();
    let listed = server.request_as(token, "POST", "/action/pane:list").json(&json!({}));
    assert_eq!(server.send(&listed).await.status(), 200);
    let admin = server.request_as(token, "POST", "/action/grant:list").json(&json!({}));
    assert_eq!(server.send(&admin).await.status(), 403);

    let again = sign_in(&server, &body).await;
    assert_eq!((again.status(), again.refusal().code), (401, Code::Unauthorized));
}

#[tokio::test]
async fn a_request_from_elsewhere_does_not_use_the_code_up() {
    let server = TestServer::new().await;
    let body = json!({ "code": code(&server).await });
    let good = request(&server, &body);
    for (bad, status) in [
        (good.clone().without("origin").header("origin", "http://evil.example"), 403),
        (good.clone().without("host").header("host", "evil.example"), 421),
        (good.clone().without("content-type").header("content-type", "text/plain"), 415),
        (request(&server, &json!({ "code": body["code"], "extra": 1 })), 400),
        (request(&server, &json!({ "code": body["code"], "label": "x".repeat(101) })), 400),
        (request(&server, &json!({ "label": "phone" })), 400),
        (request(&server, &json!({ "code": "x".repeat(5000) })), 413),
    ] {
        assert_eq!(server.send(&bad).await.status(), status, "{bad:?}");
    }
    assert_eq!(server.send(&good).await.status(), 200);
}

#[tokio::test]
async fn wrong_codes_are_limited_and_a_right_one_is_still_taken() {
    let server = TestServer::new().await;
    let right = json!({ "code": code(&server).await });
    let wrong = request(&server, &json!({ "code": "wrong" }));
    let mut statuses = Vec::new();
    while statuses.len() < 3000 && statuses.last() != Some(&429) {
        statuses.push(server.send(&wrong).await.status());
    }
    assert_eq!((statuses[0], *statuses.last().unwrap()), (401, 429));
    assert_eq!(sign_in(&server, &right).await.status(), 200);
}

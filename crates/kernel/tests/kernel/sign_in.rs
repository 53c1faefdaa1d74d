//! One-use sign-in codes, and the devices that they sign in.

use std::sync::atomic::{AtomicU64, Ordering};

use paned_backend::fake::FakeBackend;
use paned_kernel::KernelSetup;
use paned_model::{Code, Time};
use serde_json::{Value, json};

use crate::test_kernel::{TestKernel, code, setup};

async fn create_code(server: &TestKernel, params: Value) -> String {
    let made = server.act("grant:create-code", params).await.unwrap();
    made["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_code_is_exchanged_once_for_a_device_that_is_listed_and_can_be_revoked() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let offer = json!({ "scopes": ["read"], "panes": ["a"], "expiresInSeconds": 60 });
    let code_text = create_code(&server, offer).await;
    let mut feed = server.feed("grant:*");
    let signed_in = server.kernel.sign_in(&code_text, Some("phone")).await.unwrap();
    assert_eq!(signed_in.grant.expires_at, Some(Time(61_000)));
    let told = crate::test_kernel::next(&mut feed).await;
    assert!(told.payload.contains("\"phone\""), "{told:?}");

    let caller = server.kernel.authenticate(&signed_in.token).unwrap();
    assert!(server.act_as(&caller, "pane:get", json!({ "paneId": "a" })).await.is_ok());
    assert_eq!(code(server.act_as(&caller, "grant:list", json!({})).await).0, Code::Forbidden);
    let listed = server.act("grant:list", json!({})).await.unwrap();
    let id = signed_in.grant.id.to_string();
    let device = listed.as_array().unwrap().iter().find(|grant| grant["id"] == *id).unwrap();
    assert_eq!((&device["device"], &device["label"]), (&json!(true), &json!("phone")));

    let again = server.kernel.sign_in(&code_text, None).await.unwrap_err();
    assert_eq!(again.code, Code::Unauthorized);
    server.act("grant:revoke", json!({ "id": id })).await.unwrap();
    assert_eq!(code(server.act_as(&caller, "pane:list", json!({})).await).0, Code::Unauthorized);
}

#[tokio::test]
async fn the_label_of_the_code_precedes_that_of_the_device() {
    let server = TestKernel::new().await;
    let code_text = create_code(&server, json!({ "scopes": ["read"], "label": "tablet" })).await;
    let refused = server.kernel.sign_in(&code_text, Some("a\u{1b}[2J")).await.unwrap_err();
    assert_eq!(refused.code, Code::Invalid);
    let signed_in = server.kernel.sign_in(&code_text, Some("phone")).await.unwrap();
    assert_eq!(signed_in.grant.label, "tablet");
}

#[tokio::test]
async fn a_code_ends_with_the_grant_that_made_it() {
    let server = TestKernel::new().await;
    let made = server.act("grant:create", json!({ "scopes": ["admin"] })).await.unwrap();
    let admin = server.kernel.authenticate(made["token"].as_str().unwrap()).unwrap();
    let params = json!({ "scopes": ["admin"] });
    let offered = server.act_as(&admin, "grant:create-code", params).await.unwrap();
    server.act("grant:revoke", json!({ "id": made["grant"]["id"] })).await.unwrap();
    let refused = server.kernel.sign_in(offered["code"].as_str().unwrap(), None).await;
    assert_eq!(refused.unwrap_err().code, Code::Unauthorized);
}

#[tokio::test]
async fn codes_and_devices_expire_and_expired_devices_do_not_add_up() {
    static CLOCK: AtomicU64 = AtomicU64::new(1_000);
    let setup = KernelSetup { now: || Time(CLOCK.load(Ordering::SeqCst)), ..setup() };
    let server = TestKernel::with_setup(setup, FakeBackend::default(), Vec::new()).await;
    let short = json!({ "scopes": ["read"], "expiresInSeconds": 100 });
    let late = create_code(&server, short.clone()).await;
    let used = create_code(&server, short.clone()).await;
    let token = server.kernel.sign_in(&used, None).await.unwrap().token;
    CLOCK.store(60_999, Ordering::SeqCst);
    let in_time = create_code(&server, short.clone()).await;
    CLOCK.store(61_000, Ordering::SeqCst);
    let refused = server.kernel.sign_in(&late, None).await.unwrap_err();
    assert_eq!(refused.code, Code::Unauthorized);
    assert!(server.kernel.authenticate(&token).is_ok());
    CLOCK.store(101_000, Ordering::SeqCst);
    assert_eq!(server.kernel.authenticate(&token).unwrap_err().code, Code::Unauthorized);
    server.kernel.sign_in(&in_time, None).await.unwrap();
    let listed = server.act("grant:list", json!({})).await.unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[tokio::test]
async fn what_a_code_cannot_be_is_refused() {
    let server = TestKernel::new().await;
    for (params, field) in [
        (json!({ "scopes": [] }), "scope"),
        (json!({ "scopes": ["read"], "codeExpiresInSeconds": 301 }), "codeExpiresInSeconds"),
        (json!({ "scopes": ["read"], "expiresInSeconds": 0 }), "expiresInSeconds"),
        (json!({ "scopes": ["read"], "label": "x".repeat(101) }), "label"),
    ] {
        let (refused, sentence) = code(server.act("grant:create-code", params).await);
        assert!(refused == Code::Invalid && sentence.contains(field), "{sentence}");
    }
}

#[tokio::test]
async fn only_so_many_codes_are_open_at_once() {
    let server = TestKernel::new().await;
    for _ in 0..64 {
        create_code(&server, json!({ "scopes": ["read"] })).await;
    }
    let more = server.act("grant:create-code", json!({ "scopes": ["read"] })).await;
    assert_eq!(code(more).0, Code::Limit);
}

#[tokio::test]
async fn no_event_shows_a_code() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("action:success");
    let code_text = create_code(&server, json!({ "scopes": ["read"] })).await;
    let told = crate::test_kernel::next(&mut feed).await;
    assert!(told.payload.contains("grant:create-code") && !told.payload.contains(&code_text));
}

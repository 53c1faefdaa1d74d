//! Waiting for ports and addresses.

use std::time::Duration;

use paned_model::{Code, Exit};
use serde_json::json;
use tokio::time::timeout;

use crate::grants::create_caller;
use crate::reading::printing;
use crate::test_kernel::code;
use crate::waiting::wait;

#[tokio::test]
async fn a_token_has_as_many_waits_for_ports_as_streams() {
    let server = printing("").await;
    let (_, caller) = create_caller(&server, json!({ "scopes": ["read", "spawn"] })).await;
    let open: Vec<_> = (0..64).map(|_| server.kernel.stream(&caller).unwrap()).collect();
    let wait = json!({ "port": 1, "timeoutMs": 10 });
    let refused = server.act_as(&caller, "pane:wait", wait.clone()).await;
    assert_eq!(code(refused).0, Code::Limit);
    drop(open);
    assert_eq!(server.act_as(&caller, "pane:wait", wait).await.unwrap()["timedOut"], true);
}

#[tokio::test]
async fn a_port_and_an_address_are_waited_for() {
    let server = printing("").await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let met = server.act("pane:wait", json!({ "port": port })).await.unwrap();
    assert_eq!(met, json!({ "met": "port", "timedOut": false, "evidence": [], "tail": [] }));
    // The port of a program that is not there is that of another program.
    let in_pane = json!({ "paneId": "a", "port": port, "timeoutMs": 50 });
    let missed = server.act("pane:wait", in_pane).await.unwrap();
    assert_eq!((&missed["timedOut"], &missed["met"]), (&json!(true), &json!(null)), "{missed}");
    let url = format!("http://127.0.0.1:{port}/health");
    let answer = async |status: &str| {
        let (mut stream, _) = listener.accept().await.unwrap();
        let answer = format!("HTTP/1.1 {status}\r\n\r\n");
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer.as_bytes()).await.unwrap();
        stream
    };
    // Of the two waits for the port.
    while timeout(Duration::from_millis(200), listener.accept()).await.is_ok() {}
    let waiting = server.act("pane:wait", json!({ "http": url }));
    let serving = async { (answer("503 Busy").await, answer("302 Found").await) };
    assert_eq!(tokio::join!(waiting, serving).0.unwrap()["met"], "http");
    drop(listener);
    let missed = server.act("pane:wait", json!({ "port": port, "timeoutMs": 50 })).await.unwrap();
    assert!(missed["timedOut"] == true && missed["why"][0].to_string().contains("no program"));
    let exited = json!({ "paneId": "a", "port": port });
    let exited = wait(&server, exited, async || server.pane("a").exit(Exit::Code(1))).await;
    assert_eq!((&exited["met"], &exited["timedOut"]), (&json!(null), &json!(false)), "{exited}");
}

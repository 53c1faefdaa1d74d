//! Who is let in at a port of agentmux's own, by its own names.

use std::fs;

use paned_e2e::{FakeAgent, wait_for};
use serde_json::json;

use super::CompatServer;

/// Waits until the log warns of exactly this many open listeners. One port may serve before the
/// warning of another is written.
#[track_caller]
fn are_open(house: &CompatServer, compat: usize) {
    let warned = || house.server.log().matches("this listener requires no token").count();
    wait_for("the warnings", || (compat <= warned()).then_some(()));
    assert_eq!(warned(), compat, "{}", house.server.log());
}

#[test]
fn agentmuxs_names_say_where_its_port_is_and_its_token_shuts_it() {
    let env =
        [("PANED_COMPAT_AGENTMUX", ""), ("AGENTMUX_PORT", "0"), ("AGENTMUX_TOKEN", "hunter2-mux")];
    let house = CompatServer::with(&["--work", "100"], "agentmux_serve = true", &env);
    let authority = house.authority("agentmux");
    assert!(authority.starts_with("127.0.0.1:"), "{authority}");
    for (method, path) in [("GET", "/health"), ("POST", "/run"), ("GET", "/nothing"), ("PUT", "/x")]
    {
        let refused = house.request("agentmux", method, path).over_tcp(&authority);
        assert_eq!((refused.status, refused.json()), (403, json!({ "error": "forbidden" })));
    }
    let shown = |name: &str, value: &str| {
        house.request("agentmux", "GET", "/health").header(name, value).over_tcp(&authority).status
    };
    assert_eq!(shown("authorization", "Bearer hunter2-mux"), 200);
    assert_eq!(shown("x-bridge-token", "hunter2-mux"), 200);
    assert_eq!(shown("X-BRIDGE-TOKEN", "hunter2"), 403);
    assert_eq!(shown("authorization", &format!("Bearer {}", house.server.token())), 403);
    // It is for nobody else's eyes.
    // That of agentapi alone.
    are_open(&house, 1);
    house.server.act("pane:new", json!({ "id": "env", "argv": ["env"] }));
    house.server.act("pane:wait", json!({ "paneId": "env", "exit": true }));
    assert!(!house.server.text("env").contains("hunter2-mux"));
    let served = fs::read_to_string(house.server.state().join("server.json")).expect("it is there");
    assert!(!served.contains("hunter2-mux") && !house.server.log().contains("hunter2-mux"));
}

#[test]
fn without_a_token_its_port_is_open_as_it_was_and_warned_about() {
    let env = [("PANED_COMPAT_AGENTMUX", ""), ("AGENTMUX_PORT", "0")];
    let house = CompatServer::with(&[], "agentmux_serve = true", &env);
    assert_eq!(house.get("/health")["ok"], true);
    are_open(&house, 2);
    let authority = house.authority("agentmux");
    let ask = |name: &str, value: &str| {
        let ask = house.request("agentmux", "POST", "/run").header(name, value);
        ask.body(r#"{"text":"x"}"#).over_tcp(&authority).status
    };
    assert_eq!(ask("origin", "http://evil.example"), 403);
    assert_eq!(ask("sec-fetch-site", "cross-site"), 403);
    assert_eq!(house.sessions(), [""; 0]);
}

#[test]
fn its_own_file_counts_and_opens_no_port() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config.json");
    let said = json!({ "agent": "fake-agent", "token": "from-file", "port": 1, "host": "0.0.0.0" });
    fs::write(&file, said.to_string()).expect("the folder is ours");
    let named = file.display().to_string();
    let env = [("AGENTMUX_CONFIG_FILE", named.as_str()), ("AGENTMUX_AGENT", "")];
    let house = CompatServer::with(&[], "", &env);
    let authority = house.authority("agentmux");
    assert_eq!(house.ask("GET", "/health", None).status, 403);
    let health = house.request("agentmux", "GET", "/health").header("x-bridge-token", "from-file");
    assert_eq!(health.over_tcp(&authority).json()["agent"], "fake-agent");
    let none = [("AGENTMUX_CONFIG_FILE", named.as_str()), ("PANED_COMPAT_AGENTMUX", "")];
    let house = CompatServer::over(FakeAgent::new(&[]), "", &none);
    assert_eq!(house.server.ready()["compat"].get("agentmux"), None);
}

//! The compat APIs as their clients use them, and the rules for every route over the whole table.
//! Servers and clients are those of the server's tests.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod access;
#[path = "../../../server/tests/server/access_control.rs"]
mod access_control;
mod agentmux;
#[path = "../../../server/tests/server/client.rs"]
#[allow(dead_code, reason = "the server's tests use the rest")]
mod client;
#[path = "../../../server/tests/server/documents.rs"]
mod documents;
mod rest;
mod socket;
#[path = "../../../server/tests/server/test_server.rs"]
#[allow(dead_code, reason = "the server's tests use the rest")]
mod test_server;
#[path = "../../../server/tests/server/ws/trimmed_backend.rs"]
mod trimmed_backend;
#[path = "../../../server/tests/server/ws/client.rs"]
#[allow(dead_code, reason = "the server's tests use the rest")]
mod ws_client;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use paned_compat::{AgentmuxConfig, CompatApis, CompatProtocol};
use paned_server::compat_api::CompatApi;
use paned_server::{ListenerAuth, Secret, ServedApi};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::client::{RawRequest, RawResponse, send};
use crate::test_server::TestServer;

/// The secret of agentmux's clients.
const SECRET: &str = "s3cret";

/// All compat APIs, and the listeners of their own.
fn compat_setup() -> (Vec<Arc<dyn CompatApi>>, Vec<ServedApi>) {
    let ready_timeout = Duration::from_millis(50);
    let apis = CompatApis::new(AgentmuxConfig { ready_timeout, ..AgentmuxConfig::default() });
    let served = |protocol, auth| ServedApi::Compat { api: apis.get(protocol), auth, pane: None };
    let secret = ListenerAuth::Secret(Secret(SECRET.to_owned()));
    let listeners = vec![
        served(CompatProtocol::OpencodePty, ListenerAuth::Anyone),
        served(CompatProtocol::OpencodePty, ListenerAuth::Grants),
        served(CompatProtocol::Agentmux, ListenerAuth::Anyone),
        served(CompatProtocol::Agentmux, secret),
    ];
    (apis.all(), listeners)
}

impl TestServer {
    /// The opencode-pty listener that is open to anyone.
    fn pty_open_addr(&self) -> SocketAddr {
        self.compat_addrs[0]
    }

    /// The opencode-pty listener that needs a token.
    fn pty_token_addr(&self) -> SocketAddr {
        self.compat_addrs[1]
    }

    /// The agentmux listener that is open to anyone.
    fn agentmux_addr(&self) -> SocketAddr {
        self.compat_addrs[2]
    }

    /// The agentmux listener that needs [`SECRET`].
    fn agentmux_secret_addr(&self) -> SocketAddr {
        self.compat_addrs[3]
    }

    /// A request to the open listener, as a client without a token sends it.
    fn pty_request(&self, method: &str, path: &str) -> RawRequest {
        RawRequest::new(method, path).header("host", &self.pty_open_addr().to_string())
    }

    async fn send_pty(&self, ask: &RawRequest) -> RawResponse {
        send(TcpStream::connect(self.pty_open_addr()).await.unwrap(), ask).await
    }

    /// Sends a request to the open listener.
    async fn listener(&self, method: &str, path: &str, body: Option<Value>) -> RawResponse {
        let ask = self.pty_request(method, path);
        self.send_pty(&body.map_or(ask.clone(), |body| ask.json(&body))).await
    }

    /// Starts a shell as a session. Returns its id.
    async fn session(&self) -> String {
        let created = self.listener("POST", "/api/sessions", Some(json!({ "command": "/bin/sh" })));
        created.await.json()["id"].as_str().unwrap().to_owned()
    }
}

//! The opencode-pty API as its clients use it, and agentmux's.

mod access;
mod agentmux;
mod rest;
mod socket;

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::client::{RawRequest, RawResponse, send};
use crate::test_server::TestServer;
use tokio::net::TcpStream;

impl TestServer {
    /// The opencode-pty listener that is open to anyone.
    pub(crate) fn pty_open_addr(&self) -> SocketAddr {
        self.compat_addrs[0]
    }

    /// The opencode-pty listener that needs a token.
    pub(crate) fn pty_token_addr(&self) -> SocketAddr {
        self.compat_addrs[1]
    }

    /// The agentmux listener that is open to anyone.
    pub(crate) fn agentmux_addr(&self) -> SocketAddr {
        self.compat_addrs[2]
    }

    /// The agentmux listener that needs [`SECRET`].
    pub(crate) fn agentmux_secret_addr(&self) -> SocketAddr {
        self.compat_addrs[3]
    }

    /// A request to the open listener, as a client without a token sends it.
    pub(crate) fn pty_request(&self, method: &str, path: &str) -> RawRequest {
        RawRequest::new(method, path).header("host", &self.pty_open_addr().to_string())
    }

    pub(crate) async fn send_pty(&self, ask: &RawRequest) -> RawResponse {
        send(TcpStream::connect(self.pty_open_addr()).await.unwrap(), ask).await
    }

    /// Sends a request to the open listener.
    pub(crate) async fn door(&self, method: &str, path: &str, body: Option<Value>) -> RawResponse {
        let ask = self.pty_request(method, path);
        self.send_pty(&body.map_or(ask.clone(), |body| ask.json(&body))).await
    }

    /// Starts a shell as a session. Returns its id.
    pub(crate) async fn session(&self) -> String {
        let created = self.door("POST", "/api/sessions", Some(json!({ "command": "/bin/sh" })));
        created.await.json()["id"].as_str().unwrap().to_owned()
    }
}

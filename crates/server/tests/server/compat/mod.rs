//! The opencode-pty API as its clients use it, and agentmux's.

mod access;
mod agentmux;
mod rest;
mod socket;

use serde_json::{Value, json};

use crate::client::{RawRequest, RawResponse, send};
use crate::test_server::TestServer;
use tokio::net::TcpStream;

impl TestServer {
    /// A request to the open listener, as a client without a token sends it.
    pub(crate) fn pty_request(&self, method: &str, path: &str) -> RawRequest {
        RawRequest::new(method, path).header("host", &self.pty_open_addr.to_string())
    }

    pub(crate) async fn send_pty(&self, ask: &RawRequest) -> RawResponse {
        send(TcpStream::connect(self.pty_open_addr).await.unwrap(), ask).await
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

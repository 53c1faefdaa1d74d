//! The door of opencode-pty, as its clients meet it.

mod agentmux;
mod entry;
mod rest;
mod socket;

use serde_json::{Value, json};

use crate::client::{Answer, Ask, send};
use crate::house::House;
use tokio::net::TcpStream;

impl House {
    /// A request to the open door, as a client that knows no token sends it.
    pub(crate) fn knock(&self, method: &str, path: &str) -> Ask {
        Ask::new(method, path).header("host", &self.open_door.to_string())
    }

    pub(crate) async fn send_door(&self, ask: &Ask) -> Answer {
        send(TcpStream::connect(self.open_door).await.unwrap(), ask).await
    }

    /// Asks the open door, with a body where there is one.
    pub(crate) async fn door(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let ask = self.knock(method, path);
        self.send_door(&body.map_or(ask.clone(), |body| ask.json(&body))).await
    }

    /// Starts a shell as a session; answers its id.
    pub(crate) async fn session(&self) -> String {
        let created = self.door("POST", "/api/sessions", Some(json!({ "command": "/bin/sh" })));
        created.await.json()["id"].as_str().unwrap().to_owned()
    }
}

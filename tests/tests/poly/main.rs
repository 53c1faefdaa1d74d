//! What Poly's clients, hooks and users do, as they did it with Poly: raw HTTP without a token, and
//! Poly's words on the command line.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli;
mod http;
mod ports;
mod sessions;

use paned_e2e::{Reply, Request, Server};
use serde_json::Value;

/// A server with a listener for Poly's clients.
struct PolyServer {
    server: Server,
    authority: String,
}

impl PolyServer {
    /// With a listener that takes clients without a token.
    fn open() -> Self {
        Self::with("poly=127.0.0.1:0,open")
    }

    fn with(listener: &str) -> Self {
        let server = Server::start_with(&["--compat", listener]);
        let url = server.ready()["compat"]["poly"].as_str().unwrap();
        let authority = url.strip_prefix("http://").unwrap().to_owned();
        Self { server, authority }
    }

    /// A request as Poly's clients write it.
    fn request(&self, method: &str, path: &str) -> Request {
        Request::new(method, path).header("host", &self.authority)
    }

    fn ask(&self, method: &str, path: &str) -> Reply {
        self.request(method, path).over_tcp(&self.authority)
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        self.request("POST", path).json(body).over_tcp(&self.authority)
    }

    /// Runs an action that must go well.
    #[track_caller]
    fn act(&self, name: &str, params: Value) -> Value {
        let reply = self.post(&format!("/action/{name}"), &params);
        assert_eq!(reply.status, 200, "{name}: {reply:?}");
        reply.json()
    }
}

/// Runs a program in a pane and waits for what it writes to a file.
#[track_caller]
fn file_of_a_pane(server: &Server, id: &str, script: &str) -> String {
    let file = server.home().join(id);
    let path = file.display();
    let script = format!("({script}) >{path}.new; mv {path}.new {path}; cat");
    server.act("pane:new", paned_e2e::script(id, &script));
    paned_e2e::wait_for("what the pane wrote", || std::fs::read_to_string(&file).ok())
}

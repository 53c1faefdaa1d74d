//! The real server in a temporary folder, and short ways to use it from tests.
//!
//! Everything here waits for facts with a deadline and says what it saw instead. A [`Server`] ends
//! every process it started when it is dropped, by its process id.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

pub mod chaos;
mod events;
mod fake;
mod http;
mod keeper_client;
mod process;
mod real_agent;
mod rng;
mod server;
mod socket;
mod tmux;
mod tmux_client;
mod user;
mod user_shell;
mod wait;

use std::time::Duration;

pub use events::{Events, ReceivedEvent};
pub use fake::FakeAgent;
pub use http::{Reply, Request};
pub use keeper_client::KeeperClient;
pub use process::{children_of, gone, is_alive, kill9, signal};
pub use real_agent::{Cli, RealAgent};
pub use rng::SeededRng;
pub use server::{Server, binary, decode_output};
pub use socket::{Frame, Socket};
pub use tmux::{TestTmuxPane, Tmux};
pub use tmux_client::AttachedTmuxClient;
pub use user::{OTHER_UID, as_user, become_user, can_switch_users};
pub use user_shell::UserShell;
pub use wait::{wait_for, wait_within};

/// How long a test waits for anything before it says that it did not come.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The parameters that start a shell script in a pane of this name.
#[must_use]
pub fn script(id: &str, script: &str) -> serde_json::Value {
    serde_json::json!({ "id": id, "argv": ["/bin/bash", "--norc", "-c", script] })
}

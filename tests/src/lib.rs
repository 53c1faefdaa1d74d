//! The real server in a temporary folder, and short ways to use it from tests.
//!
//! Everything here waits for facts with a deadline and says what it saw instead. A [`Server`] ends every
//! process it started when it is dropped, by its number.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

pub mod accuracy;
pub mod chaos;
mod dice;
mod events;
mod fake;
mod http;
pub mod model;
mod person;
mod process;
mod real;
pub mod record;
mod server;
mod socket;
mod tmux;
mod user;
mod visitor;
mod wait;

use std::time::Duration;

pub use dice::Dice;
pub use events::{Events, Told};
pub use fake::FakeAgent;
pub use http::{Reply, Request};
pub use model::Model;
pub use person::Person;
pub use process::{children_of, gone, is_alive, kill9, signal};
pub use real::{Cli, Real};
pub use server::{Server, binary, said};
pub use socket::{Frame, Socket};
pub use tmux::{Tile, Tmux};
pub use user::{STRANGER, as_user, become_user, can_play_users};
pub use visitor::Visitor;
pub use wait::{wait_for, wait_within};

/// How long a test waits for anything before it says that it did not come.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The parameters that start a shell script in a pane of this name.
#[must_use]
pub fn script(id: &str, script: &str) -> serde_json::Value {
    serde_json::json!({ "id": id, "argv": ["/bin/bash", "--norc", "-c", script] })
}

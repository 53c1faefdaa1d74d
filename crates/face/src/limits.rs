//! What is refused beyond this, and how long anything may take.

use std::time::Duration;

/// What is refused beyond this, and how long anything may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; one more is told so and closed.
    pub connections: usize,
    /// How long a client may take to say what it wants, and how long a connection may be idle.
    pub head: Duration,
    /// How long a body may take to arrive.
    pub body: Duration,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// How long a client may take nothing of what it is sent.
    pub stall: Duration,
    /// How long whoever opens a socket may take to say who they are.
    pub hello: Duration,
    /// How often a quiet stream of events says that it lives.
    pub heartbeat: Duration,
    /// How long requests under way may go on when the server stops.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            body_bytes: 1 << 20,
            stall: Duration::from_secs(30),
            hello: Duration::from_secs(5),
            heartbeat: Duration::from_secs(15),
            farewell: Duration::from_secs(2),
        }
    }
}

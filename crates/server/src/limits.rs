//! What is refused beyond this, and how long anything may take.

use std::time::Duration;

/// What is refused beyond this, and how long anything may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections at once; one more is told so and closed.
    pub connections: usize,
    /// How long a client may take to say what it wants, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// How long a client may take nothing of what it is sent.
    pub write_timeout: Duration,
    /// How long whoever opens a socket may take to say who they are.
    pub auth_timeout: Duration,
    /// How often a quiet stream of events says that it lives.
    pub heartbeat: Duration,
    /// How long requests under way may go on when the server stops.
    pub shutdown_grace: Duration,
}

/// How many descriptors are left for what is no connection: files, panes' sockets and tapes, programs that are started.
const RESERVED_FILES: u64 = 96;

impl ServerLimits {
    /// The same where the process can have so many files open: each of the three kinds of connections (the owner's, those
    /// with a token, those by an open listener) has a share of its own, and what else the server does has the rest.
    #[must_use]
    pub fn with_files(self, files: Option<u64>) -> Self {
        let Some(files) = files else { return self };
        let share = usize::try_from(files.saturating_sub(RESERVED_FILES) / 4).unwrap_or(usize::MAX);
        Self { connections: self.connections.min(share).max(8), ..self }
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            body_bytes: 1 << 20,
            write_timeout: Duration::from_secs(30),
            auth_timeout: Duration::from_secs(5),
            heartbeat: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_open_files_leave_room_for_what_is_no_connection() {
        let check = |files, connections| {
            assert_eq!(
                ServerLimits::default().with_files(files).connections,
                connections,
                "{files:?}"
            );
        };
        check(None, 1024);
        check(Some(1 << 20), 1024);
        check(Some(256), 40);
        check(Some(64), 8);
    }
}

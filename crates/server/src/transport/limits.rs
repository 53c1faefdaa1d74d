//! Limits and time-outs of the server.

use std::time::Duration;

/// Limits and time-outs of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Concurrent connections; one more is refused with an error and closed.
    pub connections: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// The most bytes of a body.
    pub body_bytes: usize,
    /// How long a write may make no progress because the client does not read.
    pub write_timeout: Duration,
    /// How long the client of a new WebSocket may take to authenticate.
    pub auth_timeout: Duration,
    /// How often an idle stream of events sends a heartbeat.
    pub heartbeat: Duration,
    /// How long requests in progress may go on when the server stops.
    pub shutdown_grace: Duration,
}

/// File descriptors reserved for everything but connections: files, panes' sockets and tapes, and
/// programs that are spawned.
const RESERVED_FILES: u64 = 96;

impl ServerLimits {
    /// The same limits for a process that may have `files` files open. Each of the three classes of
    /// connections (the owner's, those with a token, those on an open listener) gets a quarter of
    /// what is not reserved; the rest of the server gets the remainder.
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

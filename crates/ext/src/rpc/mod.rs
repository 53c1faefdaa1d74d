//! JSON-RPC 2.0 over two pipes, one message per line.

pub(crate) mod connection;
pub(crate) mod lines;
pub(crate) mod message;

/// The longest line in either direction.
pub(crate) const MAX_LINE: usize = 8 << 20;

//! The MCP server, over HTTP and on standard input and output, as clients use it.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bridge;
mod conformance;
mod sdk;
mod support;

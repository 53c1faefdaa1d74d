//! The MCP server: a few tools and resources over the kernel's actions, at `/mcp`.
//!
//! | file | idea |
//! |---|---|
//! | `api` | the routes, and what a request passes before the protocol sees it |
//! | `sessions` | the sessions of each grant: bounded, and ended with it |
//! | `reply` | responses that end with the grant and with the server |
//! | `handler` | the protocol's methods |
//! | `tier` | which tools a client may see |
//! | `tools` | the tools, one file each |
//! | `resources`, `watch` | panes' screens as resources, and their subscribers |
//! | `progress` | what a client hears while a call runs, and how it ends one |
//!
//! Nothing here decides what the kernel decides: every tool runs actions with the caller's grant.
#![forbid(unsafe_code)]

mod api;
mod handler;
mod progress;
mod reply;
mod resources;
mod sessions;
mod tier;
mod tools;
mod watch;

pub use api::McpApi;
pub use tier::Tier;
pub use tools::list_json;

//! HTTP, SSE and WebSocket: thin layers over the kernel's public API.
//!
//! A request passes the `Host` and `Origin` guard, is authenticated, and finds its route in the one
//! table ([`routes()`]). Handlers translate: they call the kernel and encode its answer. No
//! decision and no state lives here that another front end would need too.
#![forbid(unsafe_code)]

mod actions;
mod api_reference;
mod auth;
mod call;
mod compat;
mod conn_limit;
mod connection;
mod delegate_io;
mod events;
mod health;
mod limits;
mod listener;
mod login_limit;
mod metrics;
mod openapi;
mod process;
mod read_limit;
mod reclaim;
mod reply;
mod request;
mod router;
mod routes;
mod serve;
mod sse;
mod state;
mod write_timeout;
mod ws;

pub use compat::CompatProtocol;
pub use compat::agentmux::AgentmuxConfig;
pub use limits::ServerLimits;
pub use listener::{Listener, ListenerAuth, Secret, ServedApi};
pub use paned_policy::guard::AcceptedBody;
pub use routes::{ParamLocation, RequiredAccess, Route, RouteParam, routes};
pub use serve::{Error, HttpServerConfig, serve};

//! HTTP, SSE and WebSocket: thin faces over the kernel's four doors.
//!
//! A request passes the guard, then says who sends it, then finds its route in the one table ([`routes()`]).
//! Handlers translate: they ask the kernel and show what it says. Nothing is decided, kept or known here that
//! another door would need too.
#![forbid(unsafe_code)]

mod actions;
mod api_reference;
mod auth;
mod call;
mod compat;
mod conn_limit;
mod connection;
mod delegate_io;
mod error_rewriter;
mod events;
mod health;
mod http_timer;
mod lane;
mod limits;
mod listener;
mod login_limit;
mod metrics;
mod openapi;
mod poll_on_wake;
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

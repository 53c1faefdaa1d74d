//! HTTP, SSE and WebSocket: thin faces over the kernel's four doors.
//!
//! A request passes the guard, then says who sends it, then finds its route in the one table ([`routes()`]).
//! Handlers translate: they ask the kernel and show what it says. Nothing is decided, kept or known here that
//! another door would need too.
#![forbid(unsafe_code)]

mod actions;
mod alarm;
mod call;
mod catalogue;
mod connection;
mod doors;
mod entrance;
mod events;
mod health;
mod lane;
mod lent;
mod limits;
mod listener;
mod login_limit;
mod map;
mod metrics;
mod openapi;
mod pass;
mod patient;
mod process;
mod ration;
mod reply;
mod routes;
mod seats;
mod serve;
mod shared;
mod sse;
mod when_woken;
mod who;
mod worded;
mod ws;

pub use doors::Door;
pub use doors::agentmux::Agentmux;
pub use limits::Limits;
pub use listener::{Admits, Face, Listener, Secret};
pub use paned_policy::guard::Takes;
pub use routes::{Input, Needs, Place, Route, routes};
pub use serve::{Error, Rules, serve};

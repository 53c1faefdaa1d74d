//! HTTP: the table of routes, what every request passes, and the handlers.

pub(crate) mod actions;
pub(crate) mod api_reference;
pub(crate) mod auth;
pub(crate) mod call;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod openapi;
mod own_schemas;
pub(crate) mod page;
pub(crate) mod process;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod route_shape;
pub(crate) mod router;
pub(crate) mod routes;
pub(crate) mod sign_in;
pub(crate) mod sse;

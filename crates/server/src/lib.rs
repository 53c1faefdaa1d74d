//! HTTP, SSE and WebSocket: thin layers over the kernel's public API.
//!
//! A request passes the `Host` and `Origin` guard, is authenticated, and finds its route in the one
//! table ([`routes()`]). Handlers translate: they call the kernel and encode its answer. No
//! decision and no state lives here that another front end would need too.
#![forbid(unsafe_code)]

mod client_schemas;
pub mod compat_api;
mod http;
mod page;
mod state;
mod transport;
mod ws;

pub use client_schemas::{ClientSchema, client_schemas};
pub use http::route_shape::{RouteSchema, RouteShape};
pub use http::routes::{ParamLocation, RequiredAccess, Route, RouteParam, routes};
pub use page::{PageBundle, PageContent, PageFile};
pub use paned_policy::guard::AcceptedBody;
pub use transport::limits::ServerLimits;
pub use transport::listener::{Listener, ListenerAuth, Secret, ServedApi};
pub use transport::serve::{Error, HttpServerConfig, serve};
pub use transport::tls::{TlsConfigSource, TlsListener, TlsReach};

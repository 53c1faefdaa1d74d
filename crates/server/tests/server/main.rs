//! Tests of the server as a client uses it: a real listener over a real kernel, with panes in
//! memory.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

use std::sync::Arc;

use paned_server::ServedApi;
use paned_server::compat_api::CompatApi;

mod access_control;
mod actions;
mod auth;
mod client;
mod documents;
mod events;
mod limits;
mod page;
mod shutdown;
mod sign_in;
mod test_server;
mod tls;
mod ws;

/// The compat APIs of the servers under test, and the listeners of their own: none. The tests of
/// the compat APIs use these files with others.
fn compat_setup() -> (Vec<Arc<dyn CompatApi>>, Vec<ServedApi>) {
    (Vec::new(), Vec::new())
}

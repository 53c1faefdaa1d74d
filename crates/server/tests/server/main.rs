//! Tests of the server as a client uses it: a real listener over a real kernel, with panes in
//! memory.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

use std::sync::Arc;
use std::time::Duration;

use paned_server::compat_api::CompatApi;
use paned_server::{AgentmuxConfig, CompatApis, CompatProtocol, ListenerAuth, Secret, ServedApi};

mod access_control;
mod actions;
mod auth;
mod client;
mod compat;
mod documents;
mod events;
mod limits;
mod shutdown;
mod test_server;
mod ws;

/// The secret of agentmux's clients.
const SECRET: &str = "s3cret";

fn compat_setup() -> (Vec<Arc<dyn CompatApi>>, Vec<ServedApi>) {
    let ready_timeout = Duration::from_millis(50);
    let apis = CompatApis::new(AgentmuxConfig { ready_timeout, ..AgentmuxConfig::default() });
    let served = |protocol, auth| ServedApi::Compat { api: apis.get(protocol), auth, pane: None };
    let secret = ListenerAuth::Secret(Secret(SECRET.to_owned()));
    let listeners = vec![
        served(CompatProtocol::OpencodePty, ListenerAuth::Anyone),
        served(CompatProtocol::OpencodePty, ListenerAuth::Grants),
        served(CompatProtocol::Agentmux, ListenerAuth::Anyone),
        served(CompatProtocol::Agentmux, secret),
    ];
    (apis.all(), listeners)
}

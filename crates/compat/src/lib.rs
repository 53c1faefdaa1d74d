//! Compat APIs: the protocols of other tools, each a small layer over the kernel's actions. They
//! store nothing: what they show is computed from panes.
//!
//! Each implements the server's [`CompatApi`]; [`CompatApis`] is what a server is started with.
#![forbid(unsafe_code)]

mod address;
mod agentapi;
mod agentmux;
mod client;
mod opencode_pty;
mod poly;
mod routes;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use paned_server::compat_api::CompatApi;

pub use address::CompatAddress;
pub use agentmux::{AgentmuxConfig, AgentmuxPermissions, REQUEST_LOG};

use agentapi::Agentapi;
use agentmux::Agentmux;
use opencode_pty::OpencodePty;
use poly::Poly;

/// A protocol of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompatProtocol {
    /// HTTP and SSE of agentapi.
    Agentapi,
    /// HTTP of agentmux.
    Agentmux,
    /// REST and WebSocket of opencode-pty.
    OpencodePty,
    /// HTTP and SSE of Poly.
    Poly,
}

impl CompatProtocol {
    /// All compat protocols.
    pub const ALL: [Self; 4] = [Self::Agentapi, Self::Agentmux, Self::OpencodePty, Self::Poly];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agentapi => agentapi::NAME,
            Self::Agentmux => agentmux::NAME,
            Self::OpencodePty => opencode_pty::NAME,
            Self::Poly => poly::NAME,
        }
    }
}

impl fmt::Display for CompatProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CompatProtocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no compatible protocol `{}`; the protocols are {names}", text.escape_debug())
        })
    }
}

/// The APIs of one server, one per protocol.
pub struct CompatApis {
    agentapi: Arc<Agentapi>,
    agentmux: Arc<Agentmux>,
    opencode_pty: Arc<OpencodePty>,
    poly: Arc<Poly>,
}

impl CompatApis {
    /// All of them; agentmux's with these settings.
    #[must_use]
    pub fn new(agentmux: AgentmuxConfig) -> Self {
        Self {
            agentapi: Arc::default(),
            agentmux: Arc::new(Agentmux::new(agentmux)),
            opencode_pty: Arc::default(),
            poly: Arc::default(),
        }
    }

    /// The API of a protocol.
    #[must_use]
    pub fn get(&self, protocol: CompatProtocol) -> Arc<dyn CompatApi> {
        match protocol {
            CompatProtocol::Agentapi => self.agentapi.clone(),
            CompatProtocol::Agentmux => self.agentmux.clone(),
            CompatProtocol::OpencodePty => self.opencode_pty.clone(),
            CompatProtocol::Poly => self.poly.clone(),
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<dyn CompatApi>> {
        CompatProtocol::ALL.map(|protocol| self.get(protocol)).into()
    }
}

#[cfg(test)]
mod tests {
    use paned_server::ParamLocation;

    use super::*;

    #[test]
    fn every_route_is_below_its_prefix_and_names_what_varies() {
        let apis = CompatApis::new(AgentmuxConfig::default());
        let routes = CompatProtocol::ALL.map(|protocol| (protocol, apis.get(protocol).routes()));
        let rows = routes.iter().flat_map(|(name, rows)| rows.iter().map(move |row| (name, row)));
        for (name, route) in rows {
            assert!(route.path.starts_with(&format!("/compat/{name}/")), "{}", route.path);
            let inputs = route.params.iter().filter(|input| input.location == ParamLocation::Path);
            let names: Vec<_> = inputs.map(|input| format!("{{{}}}", input.name)).collect();
            assert_eq!(names.len(), route.path.matches('{').count(), "{}", route.path);
            assert!(names.iter().all(|name| route.path.contains(name)), "{}", route.path);
        }
    }
}

//! A protocol at a port of its own, as users write it: `agentmux=127.0.0.1:8765,open`.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use paned_model::PaneId;
use paned_server::{ListenerAuth, Secret, ServedApi};

use crate::{CompatApis, CompatProtocol};

/// The syntax, for error messages.
const FORM: &str = "write it as `opencode-pty=127.0.0.1:0`, with `,open` where clients show no token and \
                    `,pane=NAME` for agentapi";

/// A protocol at an address of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatAddress {
    /// The protocol.
    pub protocol: CompatProtocol,
    /// The address.
    pub address: SocketAddr,
    /// Whether clients without a token are accepted.
    open: bool,
    /// The pane that it serves.
    pane: Option<PaneId>,
}

impl CompatAddress {
    /// Whether clients without a token are accepted, unless there is a secret.
    #[must_use]
    pub const fn accepts_clients_without_token(&self) -> bool {
        self.open
    }

    /// What its listener serves, and how clients authenticate. A secret for agentmux takes
    /// precedence over `,open`.
    #[must_use]
    pub fn served_api(&self, apis: &CompatApis, secret: Option<&Secret>) -> ServedApi {
        let secret = secret.filter(|_| self.protocol == CompatProtocol::Agentmux);
        let auth = match (secret, self.open) {
            (Some(secret), _) => ListenerAuth::Secret(secret.clone()),
            (None, true) => ListenerAuth::Anyone,
            (None, false) => ListenerAuth::Grants,
        };
        ServedApi::Compat { api: apis.get(self.protocol), auth, pane: self.pane.clone() }
    }
}

impl FromStr for CompatAddress {
    type Err = String;

    /// Reads `opencode-pty=127.0.0.1:0`, perhaps with `,open` or `,pane=NAME`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let (protocol, address) =
            parts.next().and_then(|at| at.split_once('=')).ok_or_else(|| FORM.to_owned())?;
        let is_loopback = |address: &SocketAddr| address.ip().is_loopback();
        let found = address.parse().ok().filter(is_loopback).ok_or_else(|| {
            format!(
                "invalid address `{}`: pass a loopback address and a port, as in \
                    `127.0.0.1:3284`",
                address.escape_debug()
            )
        })?;
        let mut at = Self { protocol: protocol.parse()?, address: found, open: false, pane: None };
        for part in parts {
            match (part, part.strip_prefix("pane=")) {
                ("open", _) => at.open = true,
                (_, Some(pane)) if at.protocol == CompatProtocol::Agentapi => {
                    at.pane = Some(pane.parse().map_err(|error| format!("{error}"))?);
                }
                (_, Some(_) | None) => return Err(FORM.to_owned()),
            }
        }
        Ok(at)
    }
}

impl fmt::Display for CompatAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.open { ",open" } else { "" };
        write!(f, "{}={}{open}", self.protocol, self.address)?;
        self.pane.iter().try_for_each(|pane| write!(f, ",pane={pane}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentmuxConfig;

    #[test]
    fn a_listener_reads_as_it_is_written() {
        for text in [
            "opencode-pty=127.0.0.1:0",
            "opencode-pty=[::1]:7264",
            "opencode-pty=127.0.0.1:1,open",
            "agentmux=127.0.0.1:8765",
            "agentapi=127.0.0.1:3284,open,pane=p-1",
            "poly=127.0.0.1:4096,open",
        ] {
            assert_eq!(text.parse::<CompatAddress>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn others_must_not_reach_it() {
        for text in [
            "opencode-pty",
            "opencode-pty=",
            "opencode-pty=0.0.0.0:1",
            "opencode-pty=192.168.1.2:1,open",
            "opencode-pty=127.0.0.1",
            "opencode-pty=127.0.0.1:1,shut",
            "opencode-pty=127.0.0.1:1,pane=p-1",
            "agentapi=127.0.0.1:1,pane=a b",
            "other=127.0.0.1:1",
        ] {
            assert!(text.parse::<CompatAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_agreed_on_beats_an_open_listener_of_agentmux_alone() {
        let apis = CompatApis::new(AgentmuxConfig::default());
        let secret = Secret("s".to_owned());
        let admits = |text: &str, secret: Option<&Secret>| match text
            .parse::<CompatAddress>()
            .unwrap()
            .served_api(&apis, secret)
        {
            ServedApi::Compat { auth: admits, .. } => admits,
            ServedApi::Main => unreachable!(),
        };
        let (mux, pty) = ("agentmux=127.0.0.1:1,open", "opencode-pty=127.0.0.1:1,open");
        assert!(matches!(admits(mux, Some(&secret)), ListenerAuth::Secret(_)));
        assert_eq!(admits(pty, Some(&secret)), ListenerAuth::Anyone);
        assert_eq!(admits(mux, None), ListenerAuth::Anyone);
        assert_eq!(admits("agentmux=127.0.0.1:1", None), ListenerAuth::Grants);
    }
}

//! `--door`: another tool's protocol at a port of its own.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use paned_compat::{CompatApis, CompatProtocol};
use paned_model::PaneId;
use paned_server::{ListenerAuth, ServedApi};

use crate::settings::CompatSettings;

/// The syntax, for error messages.
const FORM: &str = "write it as `opencode-pty=127.0.0.1:0`, with `,open` where clients show no token and \
                    `,pane=NAME` for agentapi";

/// The value of `--door`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CompatFlag {
    At(CompatAddress),
    /// At the address that the tool's own variables name.
    Named(CompatProtocol),
}

impl CompatFlag {
    pub(super) fn at(&self) -> Option<CompatAddress> {
        match self {
            Self::At(at) => Some(at.clone()),
            Self::Named(_) => None,
        }
    }

    /// The setting that switches it on.
    pub(super) fn key(&self) -> Option<&'static str> {
        match self {
            Self::Named(CompatProtocol::OpencodePty) => Some("doors.opencode_pty_serve"),
            Self::Named(CompatProtocol::Agentmux) => Some("doors.agentmux_serve"),
            Self::Named(CompatProtocol::Agentapi) | Self::At(_) => None,
        }
    }
}

impl FromStr for CompatFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return text.parse().map(Self::At);
        }
        match text.parse()? {
            CompatProtocol::Agentapi => Err(FORM.to_owned()),
            protocol => Ok(Self::Named(protocol)),
        }
    }
}

impl fmt::Display for CompatFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => at.fmt(f),
            Self::Named(protocol) => protocol.fmt(f),
        }
    }
}

/// A protocol at an address of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CompatAddress {
    pub(super) compat: CompatProtocol,
    pub(super) address: SocketAddr,
    /// Whether clients without a token are accepted.
    open: bool,
    /// The pane that it serves.
    pane: Option<PaneId>,
}

impl CompatAddress {
    /// What its listener serves, and how clients authenticate. A secret for agentmux takes
    /// precedence over `,open`.
    pub(super) fn served_api(&self, apis: &CompatApis, settings: &CompatSettings) -> ServedApi {
        let secret = settings.secret.clone().filter(|_| self.compat == CompatProtocol::Agentmux);
        let auth = match (secret, self.open) {
            (Some(secret), _) => ListenerAuth::Secret(secret),
            (None, true) => ListenerAuth::Anyone,
            (None, false) => ListenerAuth::Grants,
        };
        ServedApi::Compat { api: apis.get(self.compat), auth, pane: self.pane.clone() }
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
            format!("`{}` is no address and port of this machine alone", address.escape_debug())
        })?;
        let mut at = Self { compat: protocol.parse()?, address: found, open: false, pane: None };
        for part in parts {
            match (part, part.strip_prefix("pane=")) {
                ("open", _) => at.open = true,
                (_, Some(pane)) if at.compat == CompatProtocol::Agentapi => {
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
        write!(f, "{}={}{open}", self.compat, self.address)?;
        self.pane.iter().try_for_each(|pane| write!(f, ",pane={pane}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_reads_as_it_is_written() {
        for text in [
            "opencode-pty=127.0.0.1:0",
            "opencode-pty=[::1]:7264",
            "opencode-pty=127.0.0.1:1,open",
            "agentmux=127.0.0.1:8765",
            "agentapi=127.0.0.1:3284,open,pane=p-1",
        ] {
            assert_eq!(text.parse::<CompatAddress>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_door_without_an_address_is_switched_on() {
        for (text, key) in [
            ("opencode-pty", Some("doors.opencode_pty_serve")),
            ("agentmux", Some("doors.agentmux_serve")),
            ("agentmux=127.0.0.1:1", None),
        ] {
            let flag: CompatFlag = text.parse().unwrap();
            assert_eq!((flag.key(), flag.to_string().as_str()), (key, text));
        }
        assert!("agentapi".parse::<CompatFlag>().is_err());
        assert!("other".parse::<CompatFlag>().is_err());
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
    fn what_was_agreed_on_beats_an_open_door_of_agentmux_alone() {
        let secret = Some(paned_server::Secret("s".to_owned()));
        let doors = CompatSettings { secret, ..CompatSettings::default() };
        let apis = CompatApis::new(doors.agentmux.clone());
        let admits = |text: &str, doors: &CompatSettings| match text
            .parse::<CompatAddress>()
            .unwrap()
            .served_api(&apis, doors)
        {
            ServedApi::Compat { auth: admits, .. } => admits,
            ServedApi::Main => unreachable!(),
        };
        let (mux, pty) = ("agentmux=127.0.0.1:1,open", "opencode-pty=127.0.0.1:1,open");
        assert!(matches!(admits(mux, &doors), ListenerAuth::Secret(_)));
        assert_eq!(admits(pty, &doors), ListenerAuth::Anyone);
        assert_eq!(admits(mux, &CompatSettings::default()), ListenerAuth::Anyone);
        assert_eq!(
            admits("agentmux=127.0.0.1:1", &CompatSettings::default()),
            ListenerAuth::Grants
        );
    }
}

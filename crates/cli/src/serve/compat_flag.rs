//! `--compat`: another tool's protocol at a port of its own.

use std::fmt;
use std::str::FromStr;

use paned_compat::{CompatAddress, CompatProtocol};

/// The value of `--compat`.
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

    /// The setting that it sets, with its value.
    pub(super) fn setting(&self) -> Option<(&'static str, String)> {
        let key = match self {
            Self::Named(CompatProtocol::OpencodePty) => "compat.opencode_pty_serve",
            Self::Named(CompatProtocol::Agentmux) => "compat.agentmux_serve",
            Self::Named(CompatProtocol::Poly) => "compat.poly_serve",
            // Other settings depend on it.
            Self::At(at) if at.protocol == CompatProtocol::Poly => {
                let text = at.to_string();
                let address = text.strip_prefix("poly=").unwrap_or(&text);
                return Some(("compat.poly", address.to_owned()));
            }
            Self::Named(CompatProtocol::Agentapi) | Self::At(_) => return None,
        };
        Some((key, true.to_string()))
    }
}

impl FromStr for CompatFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return text.parse().map(Self::At);
        }
        match text.parse()? {
            // It has no default address; this returns the error that says so.
            CompatProtocol::Agentapi => text.parse().map(Self::At),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_without_an_address_is_switched_on() {
        for (text, setting) in [
            ("opencode-pty", Some(("compat.opencode_pty_serve", "true"))),
            ("agentmux", Some(("compat.agentmux_serve", "true"))),
            ("poly", Some(("compat.poly_serve", "true"))),
            ("poly=127.0.0.1:4096,open", Some(("compat.poly", "127.0.0.1:4096,open"))),
            ("agentmux=127.0.0.1:1", None),
        ] {
            let flag: CompatFlag = text.parse().unwrap();
            let setting = setting.map(|(key, value)| (key, value.to_owned()));
            assert_eq!((flag.setting(), flag.to_string().as_str()), (setting, text));
        }
        assert!("agentapi".parse::<CompatFlag>().is_err());
        assert!("other".parse::<CompatFlag>().is_err());
    }
}

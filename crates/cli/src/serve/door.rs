//! `--door`: a door of another tool at a port of its own.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use paned_face::{Admits, Door, Face};
use paned_model::PaneId;

use crate::settings::Doors;

/// How it is written.
const FORM: &str = "write it as `opencode-pty=127.0.0.1:0`, with `,open` where clients show no token and \
                    `,pane=NAME` for agentapi";

/// What is said after `--door`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DoorFlag {
    At(DoorAt),
    /// Where the variables of its own clients say.
    Named(Door),
}

impl DoorFlag {
    pub(super) fn at(&self) -> Option<DoorAt> {
        match self {
            Self::At(at) => Some(at.clone()),
            Self::Named(_) => None,
        }
    }

    /// The setting that switches it on.
    pub(super) fn key(&self) -> Option<&'static str> {
        match self {
            Self::Named(Door::OpencodePty) => Some("doors.opencode_pty_serve"),
            Self::Named(Door::Agentmux) => Some("doors.agentmux_serve"),
            Self::Named(Door::Agentapi) | Self::At(_) => None,
        }
    }
}

impl FromStr for DoorFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return text.parse().map(Self::At);
        }
        match text.parse()? {
            Door::Agentapi => Err(FORM.to_owned()),
            door => Ok(Self::Named(door)),
        }
    }
}

impl fmt::Display for DoorFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => at.fmt(f),
            Self::Named(door) => door.fmt(f),
        }
    }
}

/// A door at an address of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DoorAt {
    pub(super) door: Door,
    pub(super) address: SocketAddr,
    /// Whether clients without a token are let in.
    open: bool,
    /// The pane that it is about.
    pane: Option<PaneId>,
}

impl DoorAt {
    /// What its listener shows. What was agreed on with the clients of agentmux beats an open door.
    pub(super) fn face(&self, doors: &Doors) -> Face {
        let secret = doors.secret.clone().filter(|_| self.door == Door::Agentmux);
        let admits = match (secret, self.open) {
            (Some(secret), _) => Admits::Secret(secret),
            (None, true) => Admits::Anyone,
            (None, false) => Admits::Grants,
        };
        Face::Door { door: self.door, admits, pane: self.pane.clone() }
    }
}

impl FromStr for DoorAt {
    type Err = String;

    /// Reads `opencode-pty=127.0.0.1:0`, perhaps with `,open` or `,pane=NAME`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let (door, address) =
            parts.next().and_then(|at| at.split_once('=')).ok_or_else(|| FORM.to_owned())?;
        let own = |address: &SocketAddr| address.ip().is_loopback();
        let found = address.parse().ok().filter(own).ok_or_else(|| {
            format!("`{}` is no address and port of this machine alone", address.escape_debug())
        })?;
        let mut at = Self { door: door.parse()?, address: found, open: false, pane: None };
        for part in parts {
            match (part, part.strip_prefix("pane=")) {
                ("open", _) => at.open = true,
                (_, Some(pane)) if at.door == Door::Agentapi => {
                    at.pane = Some(pane.parse().map_err(|error| format!("{error}"))?);
                }
                (_, Some(_) | None) => return Err(FORM.to_owned()),
            }
        }
        Ok(at)
    }
}

impl fmt::Display for DoorAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.open { ",open" } else { "" };
        write!(f, "{}={}{open}", self.door, self.address)?;
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
            assert_eq!(text.parse::<DoorAt>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_door_without_an_address_is_switched_on() {
        for (text, key) in [
            ("opencode-pty", Some("doors.opencode_pty_serve")),
            ("agentmux", Some("doors.agentmux_serve")),
            ("agentmux=127.0.0.1:1", None),
        ] {
            let flag: DoorFlag = text.parse().unwrap();
            assert_eq!((flag.key(), flag.to_string().as_str()), (key, text));
        }
        assert!("agentapi".parse::<DoorFlag>().is_err());
        assert!("other".parse::<DoorFlag>().is_err());
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
            assert!(text.parse::<DoorAt>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_agreed_on_beats_an_open_door_of_agentmux_alone() {
        let secret = Some(paned_face::Secret("s".to_owned()));
        let doors = Doors { secret, ..Doors::default() };
        let admits = |text: &str, doors: &Doors| match text.parse::<DoorAt>().unwrap().face(doors) {
            Face::Door { admits, .. } => admits,
            Face::Main => unreachable!(),
        };
        let (mux, pty) = ("agentmux=127.0.0.1:1,open", "opencode-pty=127.0.0.1:1,open");
        assert!(matches!(admits(mux, &doors), Admits::Secret(_)));
        assert_eq!(admits(pty, &doors), Admits::Anyone);
        assert_eq!(admits(mux, &Doors::default()), Admits::Anyone);
        assert_eq!(admits("agentmux=127.0.0.1:1", &Doors::default()), Admits::Grants);
    }
}

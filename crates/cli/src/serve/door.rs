//! `--door`: a door of another tool at a port of its own.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use paned_face::{Door, Face};

/// A door at an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoorAt {
    pub(super) door: Door,
    pub(super) address: SocketAddr,
    /// Whether clients without a token are let in.
    open: bool,
}

impl DoorAt {
    /// What its listener shows.
    pub(super) fn face(self) -> Face {
        Face::Door { door: self.door, open: self.open }
    }
}

impl FromStr for DoorAt {
    type Err = String;

    /// Reads `opencode-pty=127.0.0.1:0`, perhaps with `,open`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (at, open) = match text.strip_suffix(",open") {
            Some(at) => (at, true),
            None => (text, false),
        };
        let (door, address) = at
            .split_once('=')
            .ok_or_else(|| "write it as `opencode-pty=127.0.0.1:0` or with `,open`".to_owned())?;
        let own = |address: &SocketAddr| address.ip().is_loopback();
        let found = address.parse().ok().filter(own).ok_or_else(|| {
            format!("`{}` is no address and port of this machine alone", address.escape_debug())
        })?;
        Ok(Self { door: door.parse()?, address: found, open })
    }
}

impl fmt::Display for DoorAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.open { ",open" } else { "" };
        write!(f, "{}={}{open}", self.door, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_reads_as_it_is_written() {
        for text in
            ["opencode-pty=127.0.0.1:0", "opencode-pty=[::1]:7264", "opencode-pty=127.0.0.1:1,open"]
        {
            assert_eq!(text.parse::<DoorAt>().unwrap().to_string(), text);
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
            "other=127.0.0.1:1",
        ] {
            assert!(text.parse::<DoorAt>().is_err(), "{text}");
        }
    }
}

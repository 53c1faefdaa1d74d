//! Where other machines reach the server: the address of the listener with TLS, and the names by
//! which clients may call the server.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The port of the listener with TLS, unless another is named.
const DEFAULT_PORT: u16 = 7443;
/// The local network.
const LAN: &str = "lan";

/// Where the listener with TLS listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    /// The address; all of them for the local network.
    pub(crate) address: SocketAddr,
    /// Whether only clients of the local network are accepted.
    pub(crate) is_lan: bool,
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!(
                "`{}` is not an address to listen on; write `lan`, 192.168.1.2, 192.168.1.2:7443 or \
                 [fd00::1]:7443",
                text.escape_debug()
            )
        };
        if let Some(rest) = text.strip_prefix(LAN) {
            let port = match rest.strip_prefix(':') {
                Some(port) => port.parse().map_err(|_| refuse())?,
                None if rest.is_empty() => DEFAULT_PORT,
                None => return Err(refuse()),
            };
            let address = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port);
            return Ok(Self { address, is_lan: true });
        }
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let alone = || bare.parse().map(|ip: IpAddr| SocketAddr::new(ip, DEFAULT_PORT));
        let address = text.parse().or_else(|_| alone()).map_err(|_| refuse())?;
        Ok(Self { address, is_lan: false })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_lan {
            true => write!(f, "{LAN}:{}", self.address.port()),
            false => self.address.fmt(f),
        }
    }
}

/// Checks a list of names, one in a line: `HOST` or `HOST:PORT`.
pub(super) fn check_names(text: &str) -> bool {
    text.lines().all(is_name)
}

fn is_name(name: &str) -> bool {
    let is_address = |host: &str| {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        bare.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
    };
    let is_host = |host: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        !host.is_empty() && host.len() <= 253 && host.chars().all(fits)
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| 0 < port);
    match name.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            is_port(port) && (is_host(host) || is_address(host))
        }
        Some(_) | None => is_host(name) || is_address(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_of_its_own() {
        for (text, expect) in [
            ("lan", "lan:7443"),
            ("lan:0", "lan:0"),
            ("10.0.0.2", "10.0.0.2:7443"),
            ("10.0.0.2:80", "10.0.0.2:80"),
            ("fd00::1", "[fd00::1]:7443"),
            ("[fd00::1]", "[fd00::1]:7443"),
            ("[fd00::1]:80", "[fd00::1]:80"),
        ] {
            let read: ListenAddress = text.parse().unwrap();
            assert_eq!(read.to_string(), expect);
            assert_eq!(expect.parse(), Ok(read));
        }
        for text in ["", "lan7443", "lan:", "lan:x", "box", "box:1", "10.0.0.2:x", "[fd00::1"] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_is_a_host_with_or_without_a_port() {
        assert!(
            check_names("") && check_names("box.example\nbox.example:8443\n[fd00::1]:1\n10.0.0.2")
        );
        for name in ["https://box", "box/", "box:", "box:0", "a b", "*", "[box]", "user@box"] {
            assert!(!check_names(name), "{name}");
        }
    }
}

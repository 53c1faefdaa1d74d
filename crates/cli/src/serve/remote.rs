//! How other machines reach a server: what `server.json` and the ready line say of it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use serde::{Deserialize, Serialize};

/// An address of the documentation: no packet is sent there.
const ELSEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);

/// The listener that other machines reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteInfo {
    /// Its URL when the server started.
    pub(crate) url: String,
    /// The SHA-256 hash of its certificate, as browsers show it.
    pub(crate) fingerprint: String,
    /// The port, if it serves the whole local network: the address may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lan_port: Option<u16>,
}

impl RemoteInfo {
    /// What is said of a listener at this address. A name that the user gave is preferred.
    pub(crate) fn new(
        address: SocketAddr,
        is_lan: bool,
        names: &[String],
        fingerprint: String,
    ) -> Self {
        let port = address.port();
        let url = match names.first() {
            Some(name) if has_port(name) => format!("https://{name}"),
            Some(name) => format!("https://{name}:{port}"),
            None if is_lan => url_of(lan_address().unwrap_or(Ipv4Addr::LOCALHOST.into()), port),
            None => url_of(address.ip(), port),
        };
        let lan_port = (is_lan && names.is_empty()).then_some(port);
        Self { url, fingerprint, lan_port }
    }

    /// Its URL now.
    pub(crate) fn url_now(&self) -> String {
        let found = self.lan_port.and_then(|port| Some(url_of(lan_address()?, port)));
        found.unwrap_or_else(|| self.url.clone())
    }
}

fn has_port(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'))
}

fn url_of(address: IpAddr, port: u16) -> String {
    format!("https://{}", SocketAddr::new(address, port))
}

/// The address of this machine in its network: the one from which it would send to another one.
pub(super) fn lan_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // This only chooses a route.
    socket.connect(ELSEWHERE).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_user_gave_is_preferred() {
        let url = |address: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            RemoteInfo::new(address.parse().unwrap(), false, &names, String::new()).url_now()
        };
        assert_eq!(url("10.0.0.2:7443", &[]), "https://10.0.0.2:7443");
        assert_eq!(url("[fd00::1]:7443", &[]), "https://[fd00::1]:7443");
        assert_eq!(url("10.0.0.2:7443", &["box", "other"]), "https://box:7443");
        assert_eq!(url("10.0.0.2:7443", &["box:8443"]), "https://box:8443");
        assert_eq!(url("10.0.0.2:7443", &["[fd00::1]"]), "https://[fd00::1]:7443");
    }
}

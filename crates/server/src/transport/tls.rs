//! TLS: the listener that other machines can reach, and the opening of its connections.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::transport::listener::ConnStream;

/// The first byte of every TLS connection: a handshake record.
const HANDSHAKE: u8 = 0x16;

/// A port that other machines can reach.
#[derive(Debug)]
pub struct TlsListener {
    /// The port.
    pub listener: TcpListener,
    /// The certificate.
    pub config: TlsConfigSource,
    /// Which clients are accepted.
    pub reach: TlsReach,
    /// Names of this machine in its network, by which clients may call the server, too.
    pub names: Vec<String>,
}

/// The certificate for the next connection. It is asked for each, so that a renewed certificate is
/// used without a restart, and must answer at once.
#[derive(Clone)]
pub struct TlsConfigSource(pub Arc<dyn Fn() -> Arc<ServerConfig> + Send + Sync>);

impl fmt::Debug for TlsConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsConfigSource(…)")
    }
}

/// Which clients a [`TlsListener`] accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsReach {
    /// Those of the local network: both ends have a private address.
    PrivateAddresses,
    /// All that reach its address.
    Any,
}

/// A connection to a listener with TLS, before its handshake.
pub(crate) struct TlsStream {
    stream: TcpStream,
    config: Arc<ServerConfig>,
}

/// How a connection to a listener with TLS begins.
pub(crate) enum TlsOpening {
    /// With a handshake, which succeeded.
    Open(Box<dyn ConnStream>),
    /// Without TLS.
    PlainHttp(TcpStream),
}

impl TlsListener {
    /// Waits for the next connection that may come in. Returns it with its address on this machine.
    pub(crate) async fn accept(&self) -> io::Result<(TlsStream, SocketAddr)> {
        loop {
            let (stream, peer) = self.listener.accept().await?;
            // The client may be gone already.
            let Ok(local) = stream.local_addr() else { continue };
            if !self.reach.includes(local.ip()) || !self.reach.includes(peer.ip()) {
                tracing::debug!(%peer, %local, "refused a connection from outside the local network");
                continue;
            }
            let _ = stream.set_nodelay(true);
            let local = SocketAddr::new(local.ip().to_canonical(), local.port());
            return Ok((TlsStream { stream, config: (self.config.0)() }, local));
        }
    }
}

impl TlsStream {
    /// Does the handshake.
    ///
    /// # Errors
    /// If it fails.
    pub(crate) async fn open(self) -> io::Result<TlsOpening> {
        let mut first = [0];
        if self.stream.peek(&mut first).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if first != [HANDSHAKE] {
            return Ok(TlsOpening::PlainHttp(self.stream));
        }
        let stream = TlsAcceptor::from(self.config).accept(self.stream).await?;
        Ok(TlsOpening::Open(Box::new(stream)))
    }
}

impl TlsReach {
    fn includes(self, address: IpAddr) -> bool {
        match self {
            Self::PrivateAddresses => is_private(address),
            Self::Any => true,
        }
    }
}

/// Whether an address is not routed on the Internet: of this machine, a local network, or an
/// overlay network such as Tailscale.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let is_shared = address.octets()[0] == 100 && address.octets()[1] & 0xc0 == 64;
            address.is_loopback() || address.is_private() || address.is_link_local() || is_shared
        }
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_network_is_what_has_private_addresses() {
        for (address, expect) in [
            ("127.0.0.1", true),
            ("192.168.1.2", true),
            ("10.1.2.3", true),
            ("172.31.0.1", true),
            ("169.254.1.1", true),
            ("100.101.102.103", true),
            ("::ffff:192.168.1.2", true),
            ("fe80::1", true),
            ("fd00::1", true),
            ("::1", true),
            ("8.8.8.8", false),
            ("172.32.0.1", false),
            ("100.128.0.1", false),
            ("2001:db8::1", false),
            ("::ffff:8.8.8.8", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(TlsReach::PrivateAddresses.includes(address), expect, "{address}");
            assert!(TlsReach::Any.includes(address));
        }
    }
}

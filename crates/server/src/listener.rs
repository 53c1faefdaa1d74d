//! Where connections come from, and what is known of each before it says a word.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use paned_kernel::UnixSocket;
use paned_model::{Code, PaneId, Refusal};
use paned_policy::guard::{Authorities, RequestTransport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};

use crate::Error;
use crate::compat::CompatProtocol;

/// Where connections come from.
#[derive(Debug)]
pub enum Listener {
    /// A port of this machine's own address; whoever connects needs a token.
    Tcp(TcpListener),
    /// A socket in a folder of the owner's; whoever connects is the owner.
    Unix(UnixListener),
}

/// What a listener shows to whoever connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedApi {
    /// Everything: the whole table of routes.
    Main,
    /// One door, at the root.
    Compat {
        /// Which.
        door: CompatProtocol,
        /// Whom it lets in. They still need the right `Host` and `Origin`.
        auth: ListenerAuth,
        /// The pane that is meant when none is named, for a door that is about one.
        pane: Option<PaneId>,
    },
}

/// Whom a listener lets in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenerAuth {
    /// Whoever shows a token of ours.
    Grants,
    /// Anyone.
    Anyone,
    /// Whoever shows this, which is no token of ours but what the door's own clients were told.
    Secret(Secret),
}

/// Something that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What is known of everybody who comes by one listener.
pub(crate) struct Ingress {
    pub(crate) transport: RequestTransport,
    /// Where it listens over TCP.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) door: Option<CompatProtocol>,
    pub(crate) auth: ListenerAuth,
    pub(crate) pane: Option<PaneId>,
}

impl Ingress {
    /// # Errors
    /// When the listener listens where others could hear.
    pub(crate) fn new(listener: &Listener, face: &ServedApi) -> Result<Self, Error> {
        let way = listener.transport()?;
        let (door, admits, pane) = match face.clone() {
            ServedApi::Main => (None, ListenerAuth::Grants, None),
            ServedApi::Compat { door, auth: admits, pane } => (Some(door), admits, pane),
        };
        if let (RequestTransport::Tcp(names), ListenerAuth::Anyone) = (&way, &admits) {
            tracing::warn!(%names, "an open door: every program on this machine may use it");
        }
        let address = match listener {
            Listener::Tcp(listener) => Some(listener.local_addr().map_err(Error::Listener)?),
            Listener::Unix(_) => None,
        };
        Ok(Self { transport: way, address, door, auth: admits, pane })
    }
}

/// Bytes both ways.
pub(crate) trait ConnStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ConnStream for S {}

/// Somebody who connected.
pub(crate) struct AcceptedConn {
    pub(crate) stream: Box<dyn ConnStream>,
    /// Why they may not come in, where that is known already.
    pub(crate) refusal: Option<Refusal>,
}

impl Listener {
    /// The way by which its connections come.
    ///
    /// # Errors
    /// When it listens where others could hear.
    fn transport(&self) -> Result<RequestTransport, Error> {
        match self {
            Self::Tcp(listener) => {
                loopback_authorities(listener.local_addr().map_err(Error::Listener)?)
                    .map(RequestTransport::Tcp)
            }
            Self::Unix(_) => Ok(RequestTransport::Unix),
        }
    }

    /// Has the system keep a longer queue of those who knock: it drops whoever finds the usual one full, and
    /// they knock again only after a second.
    pub(crate) fn set_backlog(&self, queue: i32) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => rustix::net::listen(listener, queue)?,
            Self::Unix(listener) => rustix::net::listen(listener, queue)?,
        }
        Ok(())
    }

    /// Waits for somebody to connect.
    pub(crate) async fn accept(&self) -> io::Result<AcceptedConn> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(AcceptedConn { stream: Box::new(stream), refusal: None })
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let refusal = check_user(&stream).err();
                Ok(AcceptedConn { stream: Box::new(UnixSocket::from_stream(stream)?), refusal })
            }
        }
    }
}

/// Without TLS a token would be there to read for everybody on the way.
fn loopback_authorities(address: SocketAddr) -> Result<Authorities, Error> {
    if !address.ip().is_loopback() {
        return Err(Error::NotLoopback(address));
    }
    let host = match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    };
    Ok(Authorities::loopback(address.port()).with(&host, address.port()))
}

/// The socket's folder keeps others out already; this holds even where somebody opened it.
fn check_user(stream: &UnixStream) -> Result<(), Refusal> {
    let theirs = stream.peer_cred().map_err(Refusal::internal)?.uid();
    let ours = rustix::process::geteuid().as_raw();
    if theirs == ours || theirs == 0 {
        return Ok(());
    }
    Err(Refusal::new(Code::Unauthorized, "this socket is for its owner and root only"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, names: Option<&str>) {
        let found = loopback_authorities(address.parse().unwrap()).ok();
        assert_eq!(found.map(|names| names.to_string()).as_deref(), names, "{address}");
    }

    #[test]
    fn only_addresses_that_stay_on_this_machine_are_served() {
        let usual = "localhost:1, 127.0.0.1:1, [::1]:1";
        check("127.0.0.1:1", Some(usual));
        check("[::1]:1", Some(usual));
        check("127.0.0.2:1", Some("localhost:1, 127.0.0.1:1, [::1]:1, 127.0.0.2:1"));
        for open in ["0.0.0.0:1", "[::]:1", "192.168.1.2:1", "[fe80::1]:1"] {
            check(open, None);
        }
    }
}

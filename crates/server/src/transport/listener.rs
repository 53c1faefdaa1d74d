//! Listeners, and what is known of a connection before its first request.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use paned_kernel::UnixSocket;
use paned_model::{Code, PaneId, Refusal};
use paned_policy::guard::{Authorities, RequestTransport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};

use crate::Error;
use crate::compat_api::CompatApi;
use crate::transport::peer_user::LoopbackConn;
use crate::transport::tls::{TlsListener, TlsStream};

/// A listening socket.
#[derive(Debug)]
pub enum Listener {
    /// A port on a loopback address; clients need a token, unless [`ListenerAuth`] says otherwise.
    Tcp(TcpListener),
    /// A port on any address, with TLS; clients need a token.
    Tls(TlsListener),
    /// A Unix socket in the owner's folder; its clients act as the owner.
    Unix(UnixListener),
}

/// Which API a listener serves.
#[derive(Clone, Debug)]
pub enum ServedApi {
    /// paned's own API: the whole table of routes.
    Main,
    /// One compat API, at the root.
    Compat {
        /// Which compat API.
        api: Arc<dyn CompatApi>,
        /// How clients authenticate. `Host` and `Origin` are checked in any case.
        auth: ListenerAuth,
        /// The pane to use when a request names none, for an API that serves a single pane.
        pane: Option<PaneId>,
    },
}

/// How clients of a listener authenticate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenerAuth {
    /// By the token of a grant.
    Grants,
    /// Not at all: any client is accepted.
    Anyone,
    /// By this secret. It is not the token of a grant, but one that the compat API's own clients
    /// were given.
    Secret(Secret),
}

/// A string that `Debug` never prints.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What all connections of one listener have in common.
pub(crate) struct Ingress {
    pub(crate) transport: RequestTransport,
    /// The address of a TCP listener.
    pub(crate) address: Option<SocketAddr>,
    /// Whether its clients may be on other machines.
    pub(crate) is_remote: bool,
    /// The names that the user gave the server.
    names: Arc<[String]>,
    /// The compat API that it serves, if not the main API.
    pub(crate) compat: Option<Arc<dyn CompatApi>>,
    pub(crate) auth: ListenerAuth,
    pub(crate) pane: Option<PaneId>,
}

impl Ingress {
    /// # Errors
    /// If the listener is not on a loopback address, and has no TLS.
    pub(crate) fn new(
        listener: &Listener,
        api: &ServedApi,
        names: &Arc<[String]>,
    ) -> Result<Self, Error> {
        let names = match listener {
            Listener::Tls(tls) => names.iter().chain(&tls.names).cloned().collect(),
            Listener::Tcp(_) | Listener::Unix(_) => names.clone(),
        };
        let transport = listener.transport(&names)?;
        let (compat, auth, pane) = match api.clone() {
            ServedApi::Main => (None, ListenerAuth::Grants, None),
            ServedApi::Compat { api, auth, pane } => (Some(api), auth, pane),
        };
        if let (RequestTransport::Tcp(names), ListenerAuth::Anyone) = (&transport, &auth) {
            tracing::warn!(%names, "this listener requires no token: every program on this \
                                   machine can use it");
        }
        let address = match listener {
            Listener::Tcp(listener) | Listener::Tls(TlsListener { listener, .. }) => {
                Some(listener.local_addr().map_err(Error::Listener)?)
            }
            Listener::Unix(_) => None,
        };
        let is_remote = matches!(listener, Listener::Tls(_));
        if is_remote && auth == ListenerAuth::Anyone {
            return Err(Error::OpenToOthers);
        }
        Ok(Self { transport, address, is_remote, names, compat, auth, pane })
    }

    /// The same for a connection to this address of the machine, which counts as its name, too.
    pub(crate) fn at(&self, local: SocketAddr) -> Self {
        Self {
            transport: RequestTransport::Tcp(tls_authorities(local, &self.names)),
            address: Some(local),
            is_remote: self.is_remote,
            names: self.names.clone(),
            compat: self.compat.clone(),
            auth: self.auth.clone(),
            pane: self.pane.clone(),
        }
    }
}

/// A bidirectional byte stream.
pub trait ConnStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ConnStream for S {}

/// An accepted connection.
pub(crate) struct AcceptedConn {
    pub(crate) stream: AcceptedStream,
    /// The address at which it came in, if that differs from connection to connection.
    pub(crate) local: Option<SocketAddr>,
    /// Both ends, where both are on this machine.
    pub(crate) loopback: Option<LoopbackConn>,
    /// Why it is refused, if that is known already. Boxed, because that is rare.
    pub(crate) refusal: Option<Box<Refusal>>,
}

/// The stream of an accepted connection.
pub(crate) enum AcceptedStream {
    /// Ready for requests.
    Plain(Box<dyn ConnStream>),
    /// Before its handshake.
    Tls(TlsStream),
}

impl Listener {
    /// The transport of its connections.
    ///
    /// # Errors
    /// If it is not on a loopback address, and has no TLS.
    fn transport(&self, names: &[String]) -> Result<RequestTransport, Error> {
        match self {
            Self::Tcp(listener) => {
                loopback_authorities(listener.local_addr().map_err(Error::Listener)?, names)
                    .map(RequestTransport::Tcp)
            }
            Self::Tls(TlsListener { listener, .. }) => {
                let local = listener.local_addr().map_err(Error::Listener)?;
                Ok(RequestTransport::Tcp(tls_authorities(local, names)))
            }
            Self::Unix(_) => Ok(RequestTransport::Unix),
        }
    }

    /// Sets a longer accept queue than the default one: the system drops a connection attempt that
    /// finds the queue full, and the client retries only after a second.
    pub(crate) fn set_backlog(&self, backlog: i32) -> io::Result<()> {
        match self {
            Self::Tcp(listener) | Self::Tls(TlsListener { listener, .. }) => {
                rustix::net::listen(listener, backlog)?;
            }
            Self::Unix(listener) => rustix::net::listen(listener, backlog)?,
        }
        Ok(())
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&self) -> io::Result<AcceptedConn> {
        match self {
            Self::Tcp(listener) => {
                let (stream, client) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let server = stream.local_addr()?;
                let loopback = Some(LoopbackConn { server, client });
                let stream = AcceptedStream::Plain(Box::new(stream));
                Ok(AcceptedConn { stream, local: None, loopback, refusal: None })
            }
            Self::Tls(listener) => {
                let (stream, local) = listener.accept().await?;
                let stream = AcceptedStream::Tls(stream);
                Ok(AcceptedConn { stream, local: Some(local), loopback: None, refusal: None })
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let refusal = check_user(&stream).err().map(Box::new);
                let stream = AcceptedStream::Plain(Box::new(UnixSocket::from_stream(stream)?));
                Ok(AcceptedConn { stream, local: None, loopback: None, refusal })
            }
        }
    }
}

/// Loopback only: without TLS, tokens could be read on the network.
fn loopback_authorities(address: SocketAddr, names: &[String]) -> Result<Authorities, Error> {
    if !address.ip().is_loopback() {
        return Err(Error::NotLoopback(address));
    }
    let port = address.port();
    let ours = Authorities::loopback(port).with(&host(address), port);
    Ok(names.iter().fold(ours, |ours, name| ours.with_given(name, port)))
}

/// The address, and the names that the user gave.
fn tls_authorities(local: SocketAddr, names: &[String]) -> Authorities {
    let port = local.port();
    let mut ours = Authorities::tls().with(&host(local), port);
    if local.ip().is_loopback() {
        ours = ours.with("localhost", port);
    }
    names.iter().fold(ours, |ours, name| ours.with_given(name, port))
}

/// The address as `Host` spells it.
fn host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

/// The permissions of the socket's folder keep other users out; this check holds even if they were
/// changed.
fn check_user(stream: &UnixStream) -> Result<(), Refusal> {
    let theirs = stream.peer_cred().map_err(Refusal::internal)?.uid();
    let ours = rustix::process::geteuid().as_raw();
    if theirs == ours || theirs == 0 {
        return Ok(());
    }
    Err(Refusal::new(Code::Unauthorized, "only its owner and root can use this socket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, names: Option<&str>) {
        let found = loopback_authorities(address.parse().unwrap(), &[]).ok();
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

//! What is kept through an upgrade: the lock, the places where we listen, and the limit that we raised.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;

use paned_face::Listener;
use paned_model::Refusal;

use super::listeners;
use super::lock::Lock;
use crate::machine::headroom;
use crate::settings::Settings;
use crate::state::State;

/// What is kept through an upgrade, so that no connection is ever refused and the folder is always ours.
pub(super) struct Kept {
    pub(super) lock: Lock,
    pub(super) tcp: Vec<TcpListener>,
    pub(super) unix: UnixListener,
    /// How many open files programs may have, which is what we had before we raised it for ourselves.
    pub(super) files: Option<u64>,
    /// Whether this came from the program before us.
    pub(super) is_inherited: bool,
}

impl Kept {
    /// Takes the folder's lock, then its socket and the port.
    ///
    /// # Errors
    /// When somebody else has one of them.
    pub(super) fn new(settings: &Settings, state: &State) -> Result<Self, Refusal> {
        let addresses = listeners::addresses(settings.host.as_deref())?;
        state.make()?;
        let lock = Lock::take(state)?;
        let tcp = listeners::tcp(&addresses, settings.port)?;
        state.make_socket_folder()?;
        let unix = listeners::unix(&state.socket())?;
        Ok(Self { lock, tcp, unix, files: headroom::raise_files(), is_inherited: false })
    }

    /// Where we listen over TCP; the first is the one to tell people.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        let first = self.tcp.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        first.local_addr()
    }

    /// The same listeners for the face to serve, which closes only its own hold of them.
    pub(super) fn listeners(&self) -> io::Result<Vec<Listener>> {
        let mut listeners = Vec::new();
        for tcp in &self.tcp {
            listeners.push(Listener::Tcp(tokio::net::TcpListener::from_std(tcp.try_clone()?)?));
        }
        let unix = tokio::net::UnixListener::from_std(self.unix.try_clone()?)?;
        listeners.push(Listener::Unix(unix));
        Ok(listeners)
    }
}

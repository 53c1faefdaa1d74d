//! What is kept through an upgrade: the lock, the places where we listen, and the limit that we raised.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;

use paned_model::Refusal;
use paned_server::{Listener, ServedApi};

use super::ServeOptions;
use super::listeners;
use super::lock::Lock;
use super::path_lock::PathLock;
use crate::machine::headroom;
use crate::state_folder::StateFolder;

/// What is kept through an upgrade, so that no connection is ever refused and the folder is always ours.
pub(super) struct ServerFds {
    pub(super) lock: Lock,
    /// The path of the folder; not handed over to the program after us, which claims it anew.
    pub(super) _path_lock: Option<PathLock>,
    pub(super) tcp: Vec<TcpListener>,
    pub(super) unix: UnixListener,
    /// Those of the doors, in the order of the command line.
    pub(super) compat: Vec<TcpListener>,
    /// How many open files programs may have, which is what we had before we raised it for ourselves.
    pub(super) files: Option<u64>,
    /// Whether this came from the program before us.
    pub(super) is_inherited: bool,
}

impl ServerFds {
    /// Takes the folder's lock, then its socket and the port.
    ///
    /// # Errors
    /// When somebody else has one of them.
    pub(super) fn new(plan: &ServeOptions) -> Result<Self, Refusal> {
        let (settings, state) = (&plan.settings, &plan.state);
        let addresses = listeners::addresses(settings.host.as_deref())?;
        state.make()?;
        let lock = Lock::take(state)?;
        let claim = Some(PathLock::take(state)?);
        let tcp = listeners::tcp(&addresses, settings.port)?;
        let doors = plan.compat.iter().map(|at| listeners::tcp_at(at.address));
        let doors = doors.collect::<Result<_, _>>()?;
        state.make_socket_folder()?;
        let unix = listeners::unix(&state.socket())?;
        let files = headroom::raise_files();
        Ok(Self { lock, _path_lock: claim, tcp, unix, compat: doors, files, is_inherited: false })
    }

    /// Claims the path of the folder for what came from the program before us.
    pub(super) fn lock_path(self, state: &StateFolder) -> Self {
        let claim = PathLock::take(state).inspect_err(|refusal| tracing::error!(%refusal));
        Self { _path_lock: claim.ok(), ..self }
    }

    /// Where we listen over TCP; the first is the one to tell people.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        let first = self.tcp.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        first.local_addr()
    }

    /// The same listeners for the face to serve, which closes only its own hold of them.
    pub(super) fn listeners(&self, plan: &ServeOptions) -> io::Result<Vec<(Listener, ServedApi)>> {
        let mut listeners = Vec::new();
        for tcp in &self.tcp {
            listeners.push((server_listener(tcp)?, ServedApi::Main));
        }
        let unix = tokio::net::UnixListener::from_std(self.unix.try_clone()?)?;
        listeners.push((Listener::Unix(unix), ServedApi::Main));
        for (at, door) in plan.compat.iter().zip(&self.compat) {
            listeners.push((server_listener(door)?, at.exposure(&plan.settings.compat)));
        }
        Ok(listeners)
    }

    /// Where the doors are that have a port of their own.
    pub(super) fn compat_urls(&self, plan: &ServeOptions) -> io::Result<BTreeMap<String, String>> {
        let doors = plan.compat.iter().zip(&self.compat);
        let url =
            |door: &TcpListener| Ok(format!("http://{}", door.local_addr()?)) as io::Result<_>;
        doors.map(|(at, door)| Ok((at.compat.to_string(), url(door)?))).collect()
    }
}

fn server_listener(tcp: &TcpListener) -> io::Result<Listener> {
    Ok(Listener::Tcp(tokio::net::TcpListener::from_std(tcp.try_clone()?)?))
}

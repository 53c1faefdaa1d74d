//! What survives an upgrade: the lock, the listeners, and the limit of open files from before we
//! raised it.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use paned_compat::{CompatAddress, CompatApis};
use paned_model::Refusal;
use paned_server::{Listener, ServedApi, TlsListener, TlsReach};

use super::ServeOptions;
use super::listeners;
use super::lock::Lock;
use super::path_lock::PathLock;
use super::ports::{MAIN, RememberedPorts};
use super::remote::RemoteInfo;
use super::tls::{self, TlsIdentity};
use crate::machine::headroom;
use crate::settings::ListenAddress;
use crate::state_folder::StateFolder;

/// Survives an upgrade, so that no connection is ever refused and the folder stays locked.
pub(super) struct ServerFds {
    pub(super) lock: Lock,
    /// The lock on the folder's path; not handed over: the next program takes it again.
    pub(super) _path_lock: Option<PathLock>,
    pub(super) tcp: Vec<TcpListener>,
    pub(super) unix: UnixListener,
    /// The listeners for other tools' protocols, in the order of `ServeOptions::compat`.
    pub(super) compat: Vec<TcpListener>,
    /// The listener with TLS that other machines reach.
    pub(super) remote: Option<TcpListener>,
    /// The limit of open files for programs: ours from before we raised it.
    pub(super) files: Option<u64>,
    /// Whether the previous program handed this over.
    pub(super) is_inherited: bool,
    /// What the user must know of the ports.
    pub(super) notes: Vec<String>,
}

impl ServerFds {
    /// Takes the folder's lock, then its socket and the port.
    ///
    /// # Errors
    /// When another process holds one of them.
    pub(super) fn new(plan: &ServeOptions) -> Result<Self, Refusal> {
        let settings = &plan.settings;
        let state = &plan.state;
        let addresses = listeners::addresses(settings.host.as_deref())?;
        state.make()?;
        let lock = Lock::take(state)?;
        let path_lock = Some(PathLock::take(state)?);
        let mut ports = RememberedPorts::read(state);
        let tcp = |port| listeners::tcp(&addresses, port);
        let tcp = ports.listen(MAIN, settings.port, tcp)?;
        let mut compat = Vec::new();
        for CompatAddress { protocol, address, .. } in &plan.compat {
            let at = |port| listeners::tcp_at(SocketAddr::new(address.ip(), port));
            let at = |port| at(port).map(|listener| vec![listener]);
            compat.extend(ports.listen(protocol.name(), address.port(), at)?);
        }
        let mut remote = None;
        if let Some(ListenAddress { address, .. }) = settings.listen {
            let at = |port| listeners::remote(SocketAddr::new(address.ip(), port));
            let at = |port| at(port).map(|listener| vec![listener]);
            remote = ports.listen("listen", address.port(), at)?.pop();
        }
        ports.save();
        state.make_socket_folder()?;
        let unix = listeners::unix(&state.socket())?;
        let files = headroom::raise_files();
        let notes = ports.notes;
        let is_inherited = false;
        Ok(Self {
            lock,
            _path_lock: path_lock,
            tcp,
            unix,
            compat,
            remote,
            files,
            is_inherited,
            notes,
        })
    }

    /// Takes the lock on the folder's path, after an upgrade. Without it the server goes on.
    pub(super) fn lock_path(self, state: &StateFolder) -> Self {
        let path_lock = PathLock::take(state).inspect_err(|refusal| tracing::error!(%refusal));
        Self { _path_lock: path_lock.ok(), ..self }
    }

    /// The TCP address to advertise, which is that of the first listener.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        let first = self.tcp.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        first.local_addr()
    }

    /// Duplicates of the listeners for the HTTP server, which closes only its own.
    pub(super) fn listeners(
        &self,
        plan: &ServeOptions,
        apis: &CompatApis,
        identity: Option<Arc<TlsIdentity>>,
    ) -> io::Result<Vec<(Listener, ServedApi)>> {
        let mut listeners = Vec::new();
        for tcp in &self.tcp {
            listeners.push((server_listener(tcp)?, ServedApi::Main));
        }
        let unix = tokio::net::UnixListener::from_std(self.unix.try_clone()?)?;
        listeners.push((Listener::Unix(unix), ServedApi::Main));
        if let (Some(tcp), Some(listen), Some(identity)) =
            (&self.remote, plan.settings.listen, identity)
        {
            let listener = tokio::net::TcpListener::from_std(tcp.try_clone()?)?;
            let reach = if listen.is_lan { TlsReach::PrivateAddresses } else { TlsReach::Any };
            let config = identity.config_source();
            let names = tls::host_names();
            let listener = TlsListener { listener, config, reach, names };
            listeners.push((Listener::Tls(listener), ServedApi::Main));
        }
        for (at, tcp) in plan.compat.iter().zip(&self.compat) {
            listeners.push((
                server_listener(tcp)?,
                at.served_api(apis, plan.settings.compat.secret.as_ref()),
            ));
        }
        Ok(listeners)
    }

    /// How other machines reach the server.
    pub(super) fn remote_info(
        &self,
        plan: &ServeOptions,
        identity: &TlsIdentity,
    ) -> io::Result<Option<RemoteInfo>> {
        let (Some(tcp), Some(listen)) = (&self.remote, plan.settings.listen) else {
            return Ok(None);
        };
        let names = &plan.settings.names;
        let fingerprint = identity.fingerprint();
        Ok(Some(RemoteInfo::new(tcp.local_addr()?, listen.is_lan, names, fingerprint)))
    }

    /// The URLs of the listeners for other tools' protocols.
    pub(super) fn compat_urls(&self, plan: &ServeOptions) -> io::Result<BTreeMap<String, String>> {
        let listeners = plan.compat.iter().zip(&self.compat);
        let url = |listener: &TcpListener| {
            Ok(format!("http://{}", listener.local_addr()?)) as io::Result<_>
        };
        listeners.map(|(at, listener)| Ok((at.protocol.to_string(), url(listener)?))).collect()
    }
}

fn server_listener(tcp: &TcpListener) -> io::Result<Listener> {
    Ok(Listener::Tcp(tokio::net::TcpListener::from_std(tcp.try_clone()?)?))
}

//! The listeners: loopback addresses, a unix socket, and, if the user asks for it, an address with
//! TLS that other machines reach.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use paned_backend::port_listener::PortUse;
use paned_model::{Code, Refusal};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
/// What to do when the port for other machines is taken.
const LISTEN_PORT_HINT: &str = "choose another with `--listen ADDRESS:PORT`";
/// How many times to look for a port that is free on both addresses.
const TRIES: usize = 20;
/// What to do when the server's own port is taken.
const SERVER_PORT_HINT: &str = "choose another with `--port`";
/// What to do when the port of another tool's protocol is taken.
const COMPAT_PORT_HINT: &str = "choose another for that protocol with `--compat NAME=ADDRESS:PORT`";

/// Listens on a port of each address that the machine has.
///
/// # Errors
/// When the port is taken.
pub(super) fn tcp(addresses: &[IpAddr], port: u16) -> Result<Vec<TcpListener>, Refusal> {
    for _ in 1..TRIES {
        match bind_all(addresses, port) {
            // Free on one address and taken on the other: let the system choose again.
            Err((_, error)) if port == 0 && error.kind() == ErrorKind::AddrInUse => {}
            other => {
                return other
                    .map_err(|(address, error)| refused(address, &error, SERVER_PORT_HINT));
            }
        }
    }
    bind_all(addresses, port).map_err(|(address, error)| refused(address, &error, SERVER_PORT_HINT))
}

/// Listens on the one address of another tool's protocol.
///
/// # Errors
/// When the port is taken.
pub(super) fn tcp_at(address: SocketAddr) -> Result<TcpListener, Refusal> {
    bind(address).map_err(|error| refused(address, &error, COMPAT_PORT_HINT))
}

/// Listens on the address that other machines reach. Where the machine has no IPv6, all addresses
/// are those of IPv4.
///
/// # Errors
/// When the port is taken.
pub(super) fn remote(address: SocketAddr) -> Result<TcpListener, Refusal> {
    let bound = match bind(address) {
        Err(error) if is_missing(&error) && address.ip() == Ipv6Addr::UNSPECIFIED => {
            bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), address.port()))
        }
        bound => bound,
    };
    bound.map_err(|error| refused(address, &error, LISTEN_PORT_HINT))
}

/// Listens on a socket that only its user can open. Call it with the lock held: an existing socket
/// is stale then.
///
/// # Errors
/// When the path cannot be used.
pub(super) fn unix(path: &Path) -> Result<UnixListener, Refusal> {
    let _ = fs::remove_file(path);
    let listen = || {
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    let failed = |error: io::Error| {
        Refusal::internal(format!("cannot listen at {}: {error}", path.display()))
    };
    listen().map_err(failed)
}

/// The addresses of a host name. Without one, both loopback addresses.
///
/// # Errors
/// When other machines could reach it.
pub(super) fn addresses(host: Option<&str>) -> Result<Vec<IpAddr>, Refusal> {
    let Some(host) = host.filter(|host| *host != "localhost") else { return Ok(vec![V4, V6]) };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_loopback = |address: &IpAddr| address.is_loopback();
    let address = bare.parse().ok().filter(is_loopback).ok_or_else(|| {
        Refusal::invalid(format!(
            "`{}` is not a loopback address; without TLS, paned listens on 127.0.0.1, ::1 and \
            localhost only (`--listen {0}` serves other machines with TLS; docs/remote.md)",
            host.escape_debug()
        ))
    })?;
    Ok(vec![address])
}

/// Listens on every address, on the same port. An address that the machine does not have is skipped
/// while there is another.
fn bind_all(addresses: &[IpAddr], port: u16) -> Result<Vec<TcpListener>, (SocketAddr, io::Error)> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    for ip in addresses {
        let port = listeners
            .first()
            .and_then(|first| first.local_addr().ok())
            .map_or(port, |it| it.port());
        let address = SocketAddr::new(*ip, port);
        match bind(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) if is_missing(&error) && 1 < addresses.len() => {}
            Err(error) => return Err((address, error)),
        }
    }
    let none = || (SocketAddr::new(V4, port), ErrorKind::AddrNotAvailable.into());
    if listeners.is_empty() { Err(none()) } else { Ok(listeners) }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Whether the machine has no such address, as where IPv6 is off.
fn is_missing(error: &io::Error) -> bool {
    let unsupported = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    error.kind() == ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(unsupported)
}

fn refused(address: SocketAddr, error: &io::Error, advice: &str) -> Refusal {
    if error.kind() != ErrorKind::AddrInUse {
        return Refusal::new(Code::Unavailable, format!("cannot listen on {address}: {error}"));
    }
    let port = address.port();
    let holder = match PortUse::of(port) {
        PortUse::By(owner) => owner.to_string(),
        PortUse::ByOtherUser => "a process of another user".to_owned(),
        PortUse::Free => "another program".to_owned(),
    };
    let sentence = format!("port {port} is taken by {holder}; {advice}; 0 picks a free one");
    Refusal::new(Code::Unavailable, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_addresses_are_served() {
        assert_eq!(addresses(None).unwrap(), [V4, V6]);
        assert_eq!(addresses(Some("localhost")).unwrap(), [V4, V6]);
        assert_eq!(addresses(Some("[::1]")).unwrap(), [V6]);
        assert_eq!(addresses(Some("127.0.0.1")).unwrap(), [V4]);
        for open in ["0.0.0.0", "::", "192.168.1.2", "example.org", "", "127.0.0.1:80"] {
            assert_eq!(addresses(Some(open)).unwrap_err().code, Code::Invalid, "{open}");
        }
    }

    #[test]
    fn all_listeners_have_the_same_port() {
        let listeners = tcp(&[V4, V6], 0).unwrap();
        let ports: Vec<_> = listeners.iter().map(|it| it.local_addr().unwrap().port()).collect();
        assert!(ports.iter().all(|port| *port == ports[0] && *port != 0), "{ports:?}");
    }

    #[test]
    fn a_taken_port_is_refused_with_its_holder() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let refusal = tcp(&[V4], port).unwrap_err();
        assert_eq!(refusal.code, Code::Unavailable);
        assert!(refusal.sentence.starts_with(&format!("port {port} is taken by ")), "{refusal}");
        assert!(refusal.sentence.contains("`--port`"), "{refusal}");
        let refusal = tcp_at(taken.local_addr().unwrap()).unwrap_err();
        assert!(refusal.sentence.contains("`--compat ") && !refusal.sentence.contains("--port"));
    }
}

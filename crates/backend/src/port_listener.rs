//! Which process listens on a TCP port of this machine: `/proc/net/tcp` lists the socket,
//! `/proc/PID/fd` its owner. Linux only; elsewhere nothing is known.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::time::Duration;

use paned_keeper::process::identity::{Process, ProcessTree};
use tokio::time::timeout;

/// How long the search may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// A process that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOwner {
    /// Its process id.
    pub pid: i32,
    /// Its name.
    pub command: String,
}

impl fmt::Display for PortOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {})", self.command, self.pid)
    }
}

impl From<Process> for PortOwner {
    fn from(process: Process) -> Self {
        // Our own processes say after a colon what they are.
        let command = process.command.split(':').next().unwrap_or_default().trim().to_owned();
        Self { pid: process.pid, command }
    }
}

/// Whether a port is in use, as far as it can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortUse {
    /// No process listens on it.
    Free,
    /// This process does.
    By(PortOwner),
    /// A process does whose files we cannot see: it belongs to another user.
    ByOtherUser,
}

impl PortUse {
    /// Who uses a port of the loopback addresses.
    #[must_use]
    pub fn of(port: u16) -> Self {
        let sockets = listening_sockets(port);
        if sockets.is_empty() {
            return Self::Free;
        }
        let owner = Process::all().find(|process| has_socket(process, &sockets));
        owner.map_or(Self::ByOtherUser, |process| Self::By(process.into()))
    }
}

/// Who listens on a port, seen from one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortListener {
    /// The program, or a process that it has started.
    Program,
    /// A process that is older than the program, and none of its own.
    Older(PortOwner),
    /// A younger process, and none of its own: a proxy that the program had another server start,
    /// as for a container, or another program that was faster.
    Younger(PortOwner),
    /// The program has exited.
    NoProgram,
    /// It is not known.
    Unknown,
}

/// A program whose listening sockets are looked for.
#[derive(Clone, Copy, Debug)]
pub struct ListeningProgram {
    /// Its process.
    pub pid: u32,
    /// Whether its parent is a keeper: then every descendant of the parent belongs to it, also one
    /// whose own parent has exited.
    pub has_keeper: bool,
}

impl ListeningProgram {
    /// Who listens on this port of the loopback addresses.
    pub async fn listener_on(self, port: u16) -> PortListener {
        let search = tokio::task::spawn_blocking(move || self.find(port));
        let found = timeout(TIMEOUT, search).await;
        found.ok().and_then(Result::ok).flatten().unwrap_or(PortListener::Unknown)
    }

    fn find(self, port: u16) -> Option<PortListener> {
        let sockets = listening_sockets(port);
        if sockets.is_empty() {
            return None;
        }
        let Some(program) = Process::find(i32::try_from(self.pid).ok()?) else {
            return Some(PortListener::NoProgram);
        };
        let root = if self.has_keeper { program.parent } else { program.pid };
        let mut own = ProcessTree::of(root).living();
        own.push(program.clone());
        if own.iter().any(|process| has_socket(process, &sockets)) {
            return Some(PortListener::Program);
        }
        let own: HashSet<i32> = own.iter().map(|process| process.pid).collect();
        let other = Process::all()
            .filter(|other| !own.contains(&other.pid))
            .find(|other| has_socket(other, &sockets))?;
        Some(match other.start < program.start {
            true => PortListener::Older(other.into()),
            false => PortListener::Younger(other.into()),
        })
    }
}

/// The sockets that listen on this port and can be reached over a loopback address, as the links
/// in `/proc/PID/fd` name them.
fn listening_sockets(port: u16) -> HashSet<String> {
    let mut sockets = HashSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = fs::read_to_string(table).unwrap_or_default();
        let rows = text.lines().skip(1).filter_map(|row| listening_socket(row, port));
        sockets.extend(rows.map(|inode| format!("socket:[{inode}]")));
    }
    sockets
}

/// The inode of a row of `/proc/net/tcp`, if it is a socket that listens on this port.
fn listening_socket(row: &str, port: u16) -> Option<&str> {
    let fields: Vec<&str> = row.split_ascii_whitespace().collect();
    let (address, found) = fields.get(1)?.split_once(':')?;
    let is_meant = u16::from_str_radix(found, 16) == Ok(port) && fields.get(3) == Some(&LISTEN);
    (is_meant && is_on_loopback(address)).then(|| fields.get(9).copied()).flatten()
}

/// Whether an address is a loopback address, or stands for all addresses. Every four bytes are in
/// the order of the processor.
fn is_on_loopback(address: &str) -> bool {
    let last = address.len().saturating_sub(8)..;
    let is_mapped = address.starts_with("0000000000000000FFFF0000") && address.ends_with("7F");
    let is_v4 = address.len() == 8 && address.ends_with("7F");
    let is_v6 = address.len() == 32
        && address.get(..24).is_some_and(|start| start.bytes().all(|byte| byte == b'0'))
        && address.get(last) == Some("01000000");
    is_mapped || is_v4 || is_v6 || address.bytes().all(|byte| byte == b'0')
}

fn has_socket(process: &Process, sockets: &HashSet<String>) -> bool {
    let files = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
    let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_row_is_a_listener_of_a_port_that_loopback_reaches() {
        let row = |address: &str, state: &str| {
            format!(" 0: {address} 00000000:0000 {state} 0:0 00:0 0 1000 0 4711 1 0")
        };
        for (address, state, expect) in [
            ("0100007F:1F90", "0A", Some("4711")),
            ("00000000:1F90", "0A", Some("4711")),
            ("0200A8C0:1F90", "0A", None),
            ("0100007F:1F91", "0A", None),
            ("0100007F:1F90", "01", None),
            ("00000000000000000000000001000000:1F90", "0A", Some("4711")),
            ("00000000000000000000000000000000:1F90", "0A", Some("4711")),
            ("0000000000000000FFFF00000100007F:1F90", "0A", Some("4711")),
            ("000080FE00000000FF005450B6AD1DFE:1F90", "0A", None),
        ] {
            assert_eq!(listening_socket(&row(address, state), 8080), expect, "{address}");
        }
        assert_eq!(listening_socket("", 8080), None);
    }

    /// A program whose child listens on a port; it prints the port.
    fn server() -> (Child, u16) {
        let listen = "import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 0)); \
                      s.listen(); print(s.getsockname()[1], flush=True); time.sleep(1000)";
        let script = format!("python3 -c \"{listen}\" & echo; wait");
        let mut shell = Command::new("/bin/sh");
        let mut shell = shell.args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        let port = lines.filter_map(|line| line.unwrap().parse().ok()).next().unwrap();
        (shell, port)
    }

    /// Kills a program and its children.
    fn end(child: &mut Child) {
        let root = i32::try_from(child.id()).unwrap();
        paned_keeper::process::identity::kill_all(|| ProcessTree::of(root).living());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_listener_is_the_programs_own_an_older_or_a_younger_one_or_unknown() {
        let older = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = older.local_addr().unwrap().port();
        // not a wait: a start is known to a hundredth of a second, and ours must be before.
        std::thread::sleep(Duration::from_millis(30));
        let (mut child, port) = server();
        let program = ListeningProgram { pid: child.id(), has_keeper: false };
        assert_eq!(program.listener_on(port).await, PortListener::Program);
        let found = program.listener_on(taken).await;
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(matches!(&found, PortListener::Older(owner) if owner.pid == own), "{found:?}");
        assert!(matches!(PortUse::of(taken), PortUse::By(owner) if owner.pid == own));
        let ours = ListeningProgram { pid: std::process::id(), has_keeper: false };
        assert_eq!(ours.listener_on(port).await, PortListener::Program);
        let mut before = Command::new("sleep").arg("1000").spawn().unwrap();
        // not a wait: the next program must be younger by more than a hundredth of a second.
        std::thread::sleep(Duration::from_millis(30));
        let (mut later, other) = server();
        let program_before = ListeningProgram { pid: before.id(), has_keeper: false };
        let found = program_before.listener_on(other).await;
        assert!(matches!(&found, PortListener::Younger(_)), "{found:?}");
        end(&mut later);
        end(&mut before);
        assert_eq!(program_before.listener_on(taken).await, PortListener::NoProgram);
        drop(older);
        assert_eq!(program.listener_on(taken).await, PortListener::Unknown);
        assert_eq!(PortUse::of(taken), PortUse::Free);
        end(&mut child);
    }
}

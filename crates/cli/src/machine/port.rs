//! Which process listens on a port: `/proc/net/tcp` lists the socket, `/proc/<pid>/fd` its owner.

use std::fmt;
use std::fs;
use std::path::Path;

/// The process that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortOwner {
    pub(crate) pid: u32,
    command: String,
}

impl fmt::Display for PortOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {})", self.command, self.pid)
    }
}

/// The process that listens on a port, where we can find it: we cannot see the files of other
/// users' processes, and not every system has `/proc`.
pub(crate) fn owner(port: u16) -> Option<PortOwner> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let sockets = tables.iter().filter_map(|table| fs::read_to_string(table).ok());
    let inodes: Vec<_> = sockets.flat_map(|table| listening(&table, port)).collect();
    let links: Vec<_> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let pids = fs::read_dir("/proc").ok()?.flatten();
    let pid = pids
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .find(|pid| has_socket(*pid, &links))?;
    let command = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    // Our own processes say after a colon what they are.
    let command = command.split(':').next().unwrap_or_default().trim().to_owned();
    Some(PortOwner { pid, command })
}

fn has_socket(pid: u32, links: &[String]) -> bool {
    let Ok(files) = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")) else {
        return false;
    };
    let mut targets = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    targets.any(|target| links.iter().any(|link| target.as_os_str() == link.as_str()))
}

/// The sockets of a table that listen on a port.
fn listening(table: &str, port: u16) -> Vec<u64> {
    const LISTEN: &str = "0A";
    let row = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let local = fields.get(1)?;
        let state = fields.get(3)?;
        let inode = fields.get(9)?;
        let local_port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        (local_port == port && *state == LISTEN).then(|| inode.parse().ok())?
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1C5F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0
   1: 0100007F:1C5F 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0
";

    #[test]
    fn only_those_that_listen_on_the_port_count() {
        assert_eq!(listening(TABLE, 7263), [4711]);
        assert_eq!(listening(TABLE, 22), [99]);
        assert_eq!(listening(TABLE, 80), [0; 0]);
        assert_eq!(listening("", 80), [0; 0]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn we_find_ourselves() {
        let ours = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = owner(ours.local_addr().unwrap().port()).unwrap();
        assert_eq!(found.pid, std::process::id());
    }
}

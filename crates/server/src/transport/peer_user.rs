//! Which user a client on this machine belongs to, by `/proc/net/tcp`. Linux only; elsewhere it is
//! not known.
//!
//! A program that opens a link in a browser gets it as an argument, which other users of the
//! machine can read. So a sign-in code counts only for programs of the server's own user.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Both ends of a connection of this machine with itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopbackConn {
    pub(crate) server: SocketAddr,
    pub(crate) client: SocketAddr,
}

impl LoopbackConn {
    /// Whether the client is known to belong to another user than the server and root.
    pub(crate) fn is_of_other_user(self) -> bool {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
        let user = tables.iter().flatten().find_map(|table| self.user_in(table));
        let ours = rustix::process::geteuid().as_raw();
        user.is_some_and(|user| user != ours && user != 0)
    }

    /// The user of the client's socket.
    fn user_in(self, table: &str) -> Option<u32> {
        table.lines().find_map(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let ends = (address(fields.next()?)?, address(fields.next()?)?);
            let user = fields.nth(4)?.parse().ok()?;
            (ends == (self.client, self.server)).then_some(user)
        })
    }
}

/// An address as the kernel prints it: words of the machine's own byte order, in hexadecimal.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    const TABLE: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100007F:1C5F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0
   1: 0100007F:1C5F 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0
   2: 0100007F:D431 0100007F:1C5F 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0
";
    const TABLE6: &str = "\
   2: 00000000000000000000000001000000:D431 00000000000000000000000001000000:1C5F 01 0:0 00:0 0 7 0
   3: 0000000000000000FFFF00000100007F:D432 0000000000000000FFFF00000100007F:1C5F 01 0:0 00:0 0 8 0
";

    #[track_caller]
    fn check(table: &str, client: &str, server: &str, user: Option<u32>) {
        let conn =
            LoopbackConn { server: server.parse().unwrap(), client: client.parse().unwrap() };
        assert_eq!(conn.user_in(table), user);
    }

    #[test]
    fn the_user_is_that_of_the_clients_end() {
        check(TABLE, "127.0.0.1:54321", "127.0.0.1:7263", Some(1001));
        check(TABLE, "127.0.0.1:54322", "127.0.0.1:7263", None);
        check(TABLE6, "[::1]:54321", "[::1]:7263", Some(7));
        check(TABLE6, "127.0.0.1:54322", "127.0.0.1:7263", Some(8));
        check("", "127.0.0.1:54321", "127.0.0.1:7263", None);
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in ["", "local_address", "0100007F", "0100007F:x", "01:1C5F", "€100007:1C5F"] {
            assert_eq!(address(text), None, "{text}");
        }
    }
}

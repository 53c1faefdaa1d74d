//! What the kernel knows of a program's terminal: line editing and echo, and who is in front.

use std::fs::{self, File};

use rustix::termios::{LocalModes, tcgetattr};

/// As in `tty raw noecho fg=leader`; nothing when it cannot be told.
pub(super) fn look(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may hold any byte: state, parent, group, session, terminal, foreground
    // group.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let group = fields.nth(2)?.to_owned();
    let front = fields.nth(2)?.to_owned();
    let terminal = File::open(format!("/proc/{pid}/fd/0")).ok()?;
    let modes = tcgetattr(&terminal).ok()?.local_modes;
    let editing = if modes.contains(LocalModes::ICANON) { "canonical" } else { "raw" };
    let echo = if modes.contains(LocalModes::ECHO) { "echo" } else { "noecho" };
    let who = if group == front { "leader" } else { "other" };
    Some(format!("tty {editing} {echo} fg={who}"))
}

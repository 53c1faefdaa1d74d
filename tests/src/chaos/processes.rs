//! Finds processes by their environment, so that none of ours hides behind a fork or a new session.

use std::fs;
use std::path::Path;

use crate::is_alive;

/// The living processes whose environment holds this text, but not this process.
pub(super) fn with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let own = std::process::id();
    pids.filter(|pid| *pid != own && holds(*pid, text) && is_alive(*pid)).collect()
}

fn holds(pid: u32, text: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Whether a process runs this binary: its number may be another's by now.
pub(super) fn runs(pid: u32, binary: &Path) -> bool {
    let same = |link: &str| fs::read_link(format!("/proc/{pid}/{link}")).ok();
    same("exe").is_some_and(|exe| exe == binary) && is_alive(pid)
}

/// A process in words, for a failure.
pub(super) fn words(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = rest.split_ascii_whitespace();
    let (state, parent) = (fields.next().unwrap_or("?"), fields.next().unwrap_or("?"));
    format!("{pid} ({state}, child of {parent}): {line}")
}

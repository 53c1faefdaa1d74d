//! What the machine has left: ptys, processes, open files, disk.

use anyhow::Result;

use super::Check;
use crate::context::CliContext;
use crate::machine::headroom::{self, Headroom};
use crate::out::units;

/// A pane needs one pty, two processes and a few files; these are enough for a hundred.
const PTYS: u64 = 100;
const PROCESSES: u64 = 1000;
const FILES: u64 = 4096;
const DISK: u64 = 1 << 30;

pub(super) fn checks(context: &CliContext) -> Result<Vec<Check>> {
    let state = context.state()?;
    let (current, maximum) = headroom::files();
    Ok(vec![
        of_machine(
            "ptys",
            headroom::ptys(),
            PTYS,
            "raise the limit with `sysctl \
            kernel.pty.max=4096`",
        ),
        of_machine(
            "processes",
            headroom::processes(),
            PROCESSES,
            "raise the limit with `sysctl kernel.pid_max=4194304`",
        ),
        files(current, maximum),
        disk(headroom::disk(state.folder())),
    ])
}

/// A limit that this system does not report counts as passed.
fn unknown(name: &'static str) -> Check {
    Check::good(name, "unknown on this system")
}

fn of_machine(name: &'static str, found: Option<Headroom>, needed: u64, hint: &str) -> Check {
    let Some(found) = found else { return unknown(name) };
    let detail = format!("{} of {} in use", found.used, found.limit);
    if found.left() < needed { Check::bad(name, detail, hint) } else { Check::good(name, detail) }
}

fn files(current: Option<u64>, maximum: Option<u64>) -> Check {
    let text =
        |limit: Option<u64>| limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    let detail = format!("limit {} (hard limit {})", text(current), text(maximum));
    match maximum {
        Some(limit) if limit < FILES => Check::bad(
            "open files",
            detail,
            format!("raise the hard limit (`ulimit -Hn`) to {FILES} or more"),
        ),
        Some(_) | None => Check::good("open files", detail),
    }
}

fn disk(found: Option<Headroom>) -> Check {
    let Some(found) = found else { return unknown("disk") };
    let detail = format!("{} free", units::bytes(found.left()));
    if found.left() < DISK {
        return Check::bad(
            "disk",
            detail,
            "free some space, or choose another folder with `--state-dir`",
        );
    }
    Check::good("disk", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_bad_and_comes_with_a_hint() {
        let check = |used| of_machine("ptys", Some(Headroom { used, limit: 4096 }), PTYS, "hint");
        assert!(check(10).ok);
        assert_eq!(check(4000), Check::bad("ptys", "4000 of 4096 in use", "hint"));
        assert!(of_machine("ptys", None, PTYS, "hint").ok);
        assert!(!files(Some(256), Some(1024)).ok);
        assert!(files(Some(1024), None).ok);
    }
}

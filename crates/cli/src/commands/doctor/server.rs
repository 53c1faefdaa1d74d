//! The server and its folder: permissions, versions, port, journal, keepers.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use paned_backend::port_listener::PortUse;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Check, in_home, user};
use crate::client;
use crate::commands::version::VERSION;
use crate::context::CliContext;
use crate::out::units;
use crate::settings::SettingFlags;
use crate::state_folder::{self, ServerInfo, StateFolder};

/// How long a server may take to report its status.
const STATUS_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) fn checks(context: &CliContext) -> Result<Vec<Check>> {
    let state = context.state()?;
    if let Some(check) = owned_by_other(state.folder()) {
        // Nothing else about a server of another user can be seen from here.
        return Ok(vec![check].into_iter().chain(user::checks(None, None)).collect());
    }
    let status = ask(context, "server:status", &());
    let mut checks = vec![folder(&state), token(&state)];
    checks.extend(server(&status));
    checks.push(port(context, &state, status.is_ok())?);
    checks.extend(state.server_info().filter(|_| status.is_ok()).and_then(|info| remote(&info)));
    checks.push(journal(&state, status.as_ref().ok()));
    checks.push(keepers(&state, status.is_ok()));
    let mut profiles = None;
    if status.is_ok() {
        checks.extend(ask(context, "pane:list", &()).ok().map(|listed| tapes(&listed)));
        checks.extend(ask(context, "agent:list", &()).ok().map(|listed| agents(context, &listed)));
        profiles = ask(context, "agent:profiles", &()).ok();
    }
    checks.extend(user::checks(status.as_ref().ok(), profiles.as_ref()));
    Ok(checks)
}

/// The state folder, if another user owns it or keeps it from us: then no server of ours is there.
fn owned_by_other(folder: &Path) -> Option<Check> {
    let us = rustix::process::getuid().as_raw();
    let shown = in_home(folder);
    let hint = "run this as that user, or choose a state folder of yours with `--state-dir`";
    match fs::metadata(folder) {
        Ok(found) if found.uid() != us => {
            let detail = format!("{shown} belongs to another user (uid {})", found.uid());
            Some(Check::bad("state folder", detail, hint))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let detail = format!("{shown} is in a folder of another user");
            Some(Check::bad("state folder", detail, hint))
        }
        Ok(_) | Err(_) => None,
    }
}

fn ask(context: &CliContext, action: &str, args: &impl Serialize) -> Result<Value> {
    let client = context.client()?;
    client::block_on(async { timeout(STATUS_TIMEOUT, client.call(action, args)).await? })?
}

/// Whether running agents are judged by profiles that fit them.
fn agents(context: &CliContext, listed: &Value) -> Check {
    let runs = |agent: &&Value| agent.get("endedAt").is_none_or(Value::is_null);
    let listed: Vec<&Value> = listed.as_array().into_iter().flatten().filter(runs).collect();
    let panes = listed.iter().filter_map(|agent| agent.get("id")?.as_str());
    let warned = panes.filter_map(|pane| {
        let explained = ask(context, "agent:explain", &json!({ "paneId": pane })).ok()?;
        let warnings = explained.get("warnings")?.as_array()?.iter().filter_map(Value::as_str);
        Some(format!("{pane}: {}", warnings.collect::<Vec<_>>().join("; ")))
    });
    let warned: Vec<String> = warned.collect();
    if warned.is_empty() {
        let count = units::count(listed.len(), "agent");
        return Check::good("profiles", format!("{count} running, none newer than its profile"));
    }
    let hint = "`paned agent explain PANE` shows the evidence; docs/add-an-agent.md describes \
               how to update a profile";
    Check::bad("profiles", warned.join("; "), hint)
}

/// The tapes, which hold the output of panes.
fn tapes(listed: &Value) -> Check {
    let panes = listed.as_array().into_iter().flatten();
    let damaged = panes.filter_map(|pane| {
        let damage = pane.get("damage")?.as_str()?;
        Some(format!("{}: {damage}", pane.get("id")?.as_str()?))
    });
    let damaged: Vec<String> = damaged.collect();
    if damaged.is_empty() {
        return Check::good("output", "the output of all panes is intact");
    }
    let hint = "their programs keep running and new output is saved; find out which program \
               writes to the state folder";
    Check::bad("output", damaged.join("; "), hint)
}

fn folder(state: &StateFolder) -> Check {
    let shown = in_home(state.folder());
    if !state.folder().exists() {
        return Check::good(
            "state folder",
            format!("{shown} does not exist yet; the server creates it"),
        );
    }
    match state_folder::check_private(state.folder()) {
        Ok(()) => Check::good("state folder", format!("{shown} is private")),
        Err(refusal) => Check::refused("state folder", &refusal.sentence),
    }
}

fn token(state: &StateFolder) -> Check {
    let path = state.token();
    let shown = in_home(&path);
    match fs::metadata(&path) {
        Ok(file) if file.mode() & 0o077 == 0 => Check::good("token", format!("{shown} is private")),
        Ok(_) => {
            let detail = format!("other users can read {shown}");
            Check::bad("token", detail, format!("rm {shown} && paned server restart"))
        }
        Err(_) => {
            Check::good("token", format!("{shown} does not exist yet; the server creates it"))
        }
    }
}

fn server(status: &Result<Value>) -> Vec<Check> {
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            return vec![Check::refused("server", &format!("{error:#}"))];
        }
    };
    let pid = status.get("pid").and_then(Value::as_u64).unwrap_or_default();
    let version = status.get("version").and_then(Value::as_str).unwrap_or("unknown");
    let same = if version == VERSION {
        Check::good("versions", format!("server and command line are both {VERSION}"))
    } else {
        let detail = format!("the server is {version}, the command line {VERSION}");
        Check::bad("versions", detail, "paned server upgrade")
    };
    vec![Check::good("server", format!("running, pid {pid}")), same]
}

/// The port that the server listens on, or would listen on.
fn port(context: &CliContext, state: &StateFolder, is_running: bool) -> Result<Check> {
    let info = state.server_info().filter(|_| is_running);
    let wanted = context.settings(SettingFlags::new())?.port;
    let of_url = |url: &str| url.rsplit(':').next()?.parse().ok();
    let port = info.as_ref().and_then(|info| of_url(&info.url)).unwrap_or(wanted);
    Ok(match (PortUse::of(port), info) {
        (PortUse::By(owner), Some(info)) if u32::try_from(owner.pid) == Ok(info.pid) => {
            Check::good("port", format!("{port} is used by the server"))
        }
        (PortUse::By(owner), _) => {
            let hint = "stop it, or choose another port with `paned server start --port N`";
            Check::bad("port", format!("{port} is taken by {owner}"), hint)
        }
        (PortUse::Free | PortUse::ByOtherUser, Some(_)) => {
            Check::good("port", format!("{port}; its owner is unknown"))
        }
        (PortUse::ByOtherUser, None) => {
            let hint = "choose another port with `paned server start --port N`";
            Check::bad("port", format!("{port} is taken by a process of another user"), hint)
        }
        (PortUse::Free, None) if port == 0 => Check::good("port", "the system chooses one"),
        (PortUse::Free, None) => Check::good("port", format!("{port} is free")),
    })
}

/// How other machines reach the server, if they can.
fn remote(info: &ServerInfo) -> Option<Check> {
    let remote = info.remote.as_ref()?;
    let detail =
        format!("other machines reach the server at {}, with TLS and a token", remote.url_now());
    let hint = "`paned token ls` shows which devices are signed in";
    Some(Check::notice("remote", detail, hint))
}

fn journal(state: &StateFolder, status: Option<&Value>) -> Check {
    let path = state.journal();
    let trouble = status.and_then(|status| status.get("trouble")).and_then(Value::as_str);
    if let Some(trouble) = trouble.filter(|trouble| trouble.contains("was deleted or replaced")) {
        return Check::bad("journal", trouble, "stop the server and start it again");
    }
    if let Some(trouble) = trouble {
        return Check::bad(
            "journal",
            trouble,
            "free some disk space; the server retries automatically",
        );
    }
    let mut head = [0; 16];
    match fs::File::open(&path).and_then(|mut file| file.read_exact(&mut head)) {
        Ok(()) if head.starts_with(b"SQLite format 3\0") => {
            let size = fs::metadata(&path).map_or(0, |file| file.len());
            Check::good("journal", format!("healthy, {}", units::bytes(size)))
        }
        Ok(()) => {
            let detail = format!("{} is damaged", in_home(&path));
            Check::bad("journal", detail, "`paned server restart` recovers its readable events")
        }
        Err(_) => Check::good("journal", "empty"),
    }
}

fn keepers(state: &StateFolder, is_running: bool) -> Check {
    let Ok(sockets) = fs::read_to_string("/proc/net/unix") else {
        return Check::good("keepers", "unknown on this system");
    };
    let alive = listening(&sockets, |path| state.has_keeper_at(path));
    let detail = units::count(alive, "running pane");
    if 0 < alive && !is_running {
        return Check::bad("keepers", format!("{detail} without a server"), "paned server start");
    }
    Check::good("keepers", detail)
}

/// How many sockets of `/proc/net/unix` listen at such a path.
fn listening(sockets: &str, is_wanted: impl Fn(&Path) -> bool) -> usize {
    const ACCEPTS: &str = "00010000";
    let is_one = |line: &&str| {
        let mut fields = line.split_whitespace();
        let accepts = fields.nth(3) == Some(ACCEPTS);
        accepts && fields.nth(3).is_some_and(|path| is_wanted(Path::new(path)))
    };
    sockets.lines().filter(is_one).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_that_listen_at_such_a_path_count() {
        let sockets = "\
Num       RefCount Protocol Flags    Type St Inode Path
0000: 00000002 00000000 00010000 0001 01 111 /s/panes/a/keeper.sock
0000: 00000003 00000000 00000000 0001 03 112 /s/panes/a/keeper.sock
0000: 00000002 00000000 00010000 0001 01 113 /s/panes-else/b
0000: 00000002 00000000 00010000 0001 01 114
";
        assert_eq!(listening(sockets, |path| path.starts_with("/s/panes")), 1);
    }

    #[test]
    fn a_damaged_tape_is_bad() {
        assert!(tapes(&json!([{ "id": "a" }])).ok);
        let check = tapes(&json!([{ "id": "a", "damage": "it was truncated to 0 bytes" }]));
        assert!(!check.ok && check.detail.contains("a: it was truncated to 0 bytes"));
    }

    #[test]
    fn another_version_is_bad() {
        let checks = |version| server(&Ok(json!({ "pid": 1, "version": version })));
        assert!(checks(VERSION).iter().all(|check| check.ok));
        assert!(!checks("0.0.0")[1].ok);
    }
}

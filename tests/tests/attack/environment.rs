//! Environment variables, umask, inherited descriptors, core dumps: what leaks into and out of the
//! server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use paned_e2e::{
    OTHER_UID, Request, Server, Tmux, as_user, binary, can_switch_users, children_of, script,
    wait_for,
};
use paned_model::Size;
use rustix::fs::Mode;
use rustix::process::umask;
use serde_json::json;

#[test]
fn variables_left_over_from_another_tool_open_no_port() {
    let env = [("PTY_WEB_PORT", "0"), ("AGENTMUX_PORT", "0"), ("AGENTMUX_HOST", "127.0.0.1")];
    let server = Server::start_set("", &env);
    let compat = &server.ready()["compat"];
    assert!(compat.as_object().is_none_or(serde_json::Map::is_empty), "{compat}");
    for said in ["PTY_WEB_PORT", "`--compat opencode-pty`"] {
        wait_for(said, || server.log().contains(said).then_some(()));
    }
    let on = "[compat]\nopencode_pty_serve = true\nagentmux_serve = true";
    let server = Server::start_set(on, &env);
    for listener in ["opencode-pty", "agentmux"] {
        assert!(server.ready()["compat"][listener].is_string(), "{}", server.ready());
    }
    assert!(!server.log().contains("opens no port by itself"), "{}", server.log());
}

/// Every file below a folder.
fn all_files(folder: &Path, found: &mut dyn FnMut(&Path, u32)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        found(&path, meta.mode());
        if meta.is_dir() {
            all_files(&path, found);
        }
    }
}

#[test]
fn files_are_private_whatever_the_umask_and_programs_get_the_umask_that_was_set() {
    let mut server = Server::start();
    server.kill();
    fs::remove_dir_all(server.state()).unwrap();
    umask(Mode::empty());
    server.start_again();
    server.act("pane:new", script("a", "umask; echo $?; exec cat"));
    server.act("session:start", json!({ "name": "main", "argv": ["cat"] }));
    server.act("layout:save", json!({ "name": "mine" }));
    wait_for("the umask", || server.text("a").contains('\n').then_some(()));
    assert!(server.text("a").starts_with("0000"), "{:?}", server.text("a"));
    let mut seen = Vec::new();
    all_files(&server.state(), &mut |path, mode| {
        seen.push(path.file_name().unwrap().to_string_lossy().into_owned());
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    });
    for name in ["journal.db", "journal.db-wal", "keeper.log", "pane.json", "tape", "tmux.conf"] {
        assert!(seen.iter().any(|file| file == name), "{name}: {seen:?}");
    }
}

/// Every process that another one has started, and those that they have started.
fn descendants(pid: u32) -> Vec<u32> {
    let mut all = children_of(pid);
    for child in all.clone() {
        all.extend(descendants(child));
    }
    all
}

#[test]
fn secrets_of_the_server_are_in_no_other_environment() {
    let env = [("AGENTMUX_TOKEN", "hunter2-mux"), ("PANED_TOKEN", "hunter2-own")];
    let server = Server::start_set("", &env);
    let file = server.state().join("env");
    server.act("pane:new", script("a", "env; exec cat"));
    server.act("session:start", json!({ "name": "main", "argv": ["cat"] }));
    let command = format!("env > {0}.new && mv {0}.new {0}", file.display());
    server.act("shell:run", json!({ "command": command }));
    let run = wait_for("what a command was given", || fs::read_to_string(&file).ok());
    assert!(run.contains("PATH=") && !run.contains("hunter2"), "{run}");
    let tmux = Tmux::of(&server);
    let told = tmux.run(&["show-environment", "-g"]);
    assert!(told.contains("PATH=") && !told.contains("hunter2"), "{told}");
    let mut seen = descendants(server.pid());
    seen.extend(server.keepers());
    seen.extend(tmux.pid());
    assert!(3 < seen.len(), "{seen:?}");
    for pid in seen {
        let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let shown = String::from_utf8_lossy(&env).into_owned();
        assert!(!shown.contains("hunter2"), "{}", String::from_utf8_lossy(&command));
    }
}

#[test]
fn descriptors_that_the_server_inherits_reach_no_program() {
    // Without CLOEXEC, as a careless program that starts us leaves them.
    let (_read, write) = rustix::pipe::pipe().unwrap();
    let inode = rustix::fs::fstat(&write).unwrap().st_ino;
    let server = Server::start();
    drop(write);
    let file = server.state().join("fds");
    let command = format!(
        "ls -l /proc/self/fd > {0}.new; ls -l /proc/$PPID/fd >> {0}.new; mv {0}.new {0}",
        file.display()
    );
    server.act("shell:run", json!({ "command": command }));
    let open = wait_for("the list of descriptors", || fs::read_to_string(&file).ok());
    let pipe = format!("pipe:[{inode}]");
    assert!(!open.contains(&pipe), "{open}");
    for entry in fs::read_dir(format!("/proc/{}/fd", server.pid())).into_iter().flatten().flatten()
    {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        assert_ne!(target.to_string_lossy(), pipe);
    }
}

#[test]
fn a_user_without_rights_finds_their_panes_again_although_the_server_cannot_be_dumped() {
    if !can_switch_users() {
        return;
    }
    if !as_user(OTHER_UID, || fs::File::open(binary()).is_ok()) {
        return;
    }
    let mut server = as_user(OTHER_UID, Server::start);
    let owner = |pid: u32| fs::metadata(format!("/proc/{pid}/fd")).unwrap().uid();
    assert_eq!(owner(server.pid()), 0, "the server can be dumped");
    server.act("pane:new", script("a", "ulimit -c; exec cat"));
    let keepers = server.keepers();
    assert_eq!(keepers.len(), 1);
    let limits = fs::read_to_string(format!("/proc/{}/limits", keepers[0])).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    // A tmux server of theirs is reached through the folder that the server has open.
    let tmux = as_user(OTHER_UID, || Tmux::start_foreign(Size { cols: 200, rows: 50 }));
    server.act("layout:get", json!({ "beside": "%0", "tmux": tmux.path() }));
    server.kill();
    as_user(OTHER_UID, || server.start_again());
    assert_eq!(server.pane("a")["status"], "running");
    server.act("pane:write", json!({ "paneId": "a", "text": "hello\r" }));
    wait_for("the echo", || server.text("a").contains("hello").then_some(()));
    // The server finds out that a keeper has exited from the files that processes have open.
    server.kill();
    paned_e2e::kill9(keepers[0]);
    assert!(paned_e2e::gone(keepers[0], paned_e2e::WAIT_TIMEOUT));
    as_user(OTHER_UID, || server.start_again());
    wait_for("the pane is lost", || (server.pane("a")["status"] == "lost").then_some(()));
}

#[test]
fn a_page_of_another_site_gets_no_answer_from_any_route() {
    let server = Server::start();
    let bearer = format!("Bearer {}", server.token());
    let ask = |method: &str, path: &str, site: &str| {
        let request = Request::new(method, path).header("host", &server.authority());
        let request = request.header("authorization", &bearer).header("sec-fetch-site", site);
        request.over_tcp(&server.authority()).status
    };
    let paths = ["/health", "/actions", "/openapi.json", "/metrics", "/events", "/none", "/ws"];
    for path in paths {
        for site in ["cross-site", "same-site", "other"] {
            assert_eq!(ask("GET", path, site), 403, "{path} {site}");
        }
    }
    assert_eq!(ask("POST", "/action/pane:list", "cross-site"), 403);
    for site in ["same-origin", "none"] {
        assert_eq!(ask("GET", "/health", site), 200);
    }
}

//! Sessions in tmux, with the person's own names, socket and configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output};

use paned_e2e::{Server, UserShell, decode_output, wait_for};
use paned_model::Size;
use serde_json::{Value, json};
use tempfile::TempDir;

#[test]
fn vim_is_shown_where_one_attaches_and_ends_with_the_session() {
    let size = Size { cols: 120, rows: 40 };
    let shell = UserShell::start(&["bash", "--norc", "-i"], size, &[("PS1", "$ ")]);
    let run = |line: &str| {
        let (out, err, code) = decode_output(&shell.paned(&line.split(' ').collect::<Vec<_>>()));
        assert_eq!(code, 0, "{line}: {err}");
        out
    };
    run("session start --size 120x40");
    run("action pane:new --id vim --argv vim --argv -u --argv NONE --argv -N --argv -n");
    shell.write("paned session attach\n");
    let attached = || {
        let list: Value = serde_json::from_str(&run("--json session list")).unwrap();
        (list[0]["attached"] == 1).then_some(())
    };
    wait_for("an attached terminal", attached);
    run("action pane:activate --paneId vim");
    // The keys go to the pane that has the focus, and the text shows where one attached.
    shell.write("ityped into vim");
    wait_for("the text in vim", || run("screen vim").contains("typed into vim").then_some(()));
    wait_for("the text in the terminal", || {
        shell.screen().contains("typed into vim").then_some(())
    });
    let stopped: Value = serde_json::from_str(&run("--json session stop")).unwrap();
    assert_eq!(stopped["kept"], json!([]));
    assert!(stopped["closed"].as_array().unwrap().contains(&json!("vim")), "{stopped}");
    assert_eq!(run("ls --json").trim(), "[]");
    let socket = shell.home().join("state/tmux/tmux.sock");
    wait_for("the end of tmux", || UnixStream::connect(&socket).is_err().then_some(()));
}

/// A server with the variables of a Poly user, and a folder for the sockets of `tmux -L`.
struct PolyUser {
    server: Server,
    folder: TempDir,
}

const SOCKET: &str = "polytest";

impl PolyUser {
    /// With this as the user's own configuration of tmux.
    fn start(config: &str) -> Self {
        let folder = TempDir::with_prefix("paned-polyuser-").unwrap();
        let file = folder.path().join("my tmux.conf");
        fs::write(&file, config).unwrap();
        let path = folder.path().to_str().unwrap();
        let server = Server::start_set(
            "",
            &[
                ("POLY_SESSION_NAME", "work"),
                ("POLY_TMUX_SOCKET", SOCKET),
                ("POLY_TMUX_CONFIG", file.to_str().unwrap()),
                ("TMUX_TMPDIR", path),
            ],
        );
        Self { server, folder }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("my tmux.conf")
    }

    /// Runs plain tmux, as the user does.
    fn tmux(&self, args: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", SOCKET]).args(args).env("TMUX_TMPDIR", self.folder.path());
        tmux.env_remove("TMUX").env_remove("TMUX_PANE").output().unwrap()
    }

    /// The same for a command that must go well.
    fn run(&self, args: &[&str]) -> String {
        let (out, err, code) = decode_output(&self.tmux(args));
        assert_eq!(code, 0, "{args:?}: {err}");
        out.trim().to_owned()
    }
}

impl Drop for PolyUser {
    fn drop(&mut self) {
        // It would start tmux again.
        self.server.kill();
        let _ = self.tmux(&["kill-server"]);
    }
}

#[test]
fn the_names_the_socket_and_the_keys_of_a_poly_user_are_honoured() {
    let user = PolyUser::start("set -g prefix C-a\nset -g exit-empty on\nset -g mouse on\n");
    let server = &user.server;
    let started = server.ok(&["session", "start"]);
    assert!(started.starts_with("started session work, "), "{started}");
    server.ok(&["action", "pane:new", "--id", "vim", "--argv", "vim", "--argv=-n"]);
    assert_eq!(server.pane("vim")["view"]["session"], "work");
    let sessions = user.run(&["list-sessions", "-F", "#{session_name}"]);
    assert!(sessions.lines().any(|name| name == "work"), "{sessions}");
    assert_eq!(user.run(&["show-options", "-gv", "prefix"]), "C-a");
    assert_eq!(user.run(&["show-options", "-gv", "mouse"]), "on");
    assert_eq!(user.run(&["show-options", "-sv", "exit-empty"]), "off", "what we need stays");
    let list = server.act("session:list", json!({}));
    assert_eq!(list[0]["default"], true);
    assert_eq!(list[0].get("configErrors"), None);
    // Without a name, also where the variable is not set.
    server.act("layout:get", json!({}));
    assert!(server.ok(&["session", "stop"]).starts_with("stopped session work\n"));
    wait_for("the end of our tmux server", || {
        (!user.tmux(&["list-sessions"]).status.success()).then_some(())
    });
    // And by the variable of the command line.
    let named = server.command(&["session", "start"]).env("POLY_SESSION_NAME", "other").output();
    assert!(decode_output(&named.unwrap()).0.starts_with("started session other, "));
    server.act("session:stop", json!({ "name": "other" }));
}

#[test]
fn mistakes_in_the_configuration_are_shown() {
    let user = PolyUser::start("set -g mouse on\nset -g nosuch 1\n");
    let (out, err, code) = decode_output(&user.server.cli(&["session", "start"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("started session work"), "{out}");
    assert!(err.contains("my tmux.conf: invalid option: nosuch"), "{err}");
    assert_eq!(user.run(&["show-options", "-gv", "mouse"]), "on", "the rest counts");
    assert!(user.server.log().contains("invalid option: nosuch"));
    user.server.ok(&["session", "stop"]);

    let user = PolyUser::start("set -g mouse on\nno-such-command\n");
    let answer = user.server.act("session:start", json!({}));
    let error = answer["configErrors"][0].as_str().unwrap();
    assert!(error.ends_with("my tmux.conf:2: unknown command: no-such-command"), "{error}");
}

#[test]
fn a_configuration_that_others_can_change_is_not_used() {
    let user = PolyUser::start("set -g mouse on\n");
    fs::set_permissions(user.config(), fs::Permissions::from_mode(0o666)).unwrap();
    let (_, err, code) = decode_output(&user.server.cli(&["session", "start"]));
    assert!(
        code == 2 && err.contains("other users can change it; run `chmod go-w"),
        "{code} {err}"
    );
    assert!(!user.tmux(&["list-sessions"]).status.success(), "no tmux server was started");
    fs::remove_file(user.config()).unwrap();
    let (_, err, code) = decode_output(&user.server.cli(&["session", "start"]));
    assert!(code == 2 && err.contains("cannot read the tmux configuration"), "{code} {err}");
    // A pane that need not be seen is started anyway.
    user.server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
}

#[test]
fn a_tmux_server_of_another_program_is_left_alone() {
    let user = PolyUser::start("");
    user.run(&["-f", "/dev/null", "new-session", "-d", "-s", "mine", "cat"]);
    let (_, err, code) = decode_output(&user.server.cli(&["session", "start"]));
    assert!(code != 0 && err.contains("was started by another program"), "{code} {err}");
    assert!(err.contains("`tmux.socket`"), "{err}");
    assert_eq!(user.run(&["list-sessions", "-F", "#{session_name}"]), "mine");
}

//! `paned up` and `paned down`.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use paned_e2e::{Server, decode_output};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A project: a folder in the server's home, with this file.
struct TestProject<'a> {
    server: &'a Server,
    folder: PathBuf,
}

impl<'a> TestProject<'a> {
    fn new(server: &'a Server, name: &str, text: &str) -> Self {
        let folder = server.home().join(name);
        fs::create_dir_all(&folder).unwrap();
        let project = Self { server, folder };
        project.write(text);
        project
    }

    fn write(&self, text: &str) {
        fs::write(self.folder.join("paned.toml"), text).unwrap();
    }

    /// Output, errors and exit code.
    fn run(&self, args: &[&str]) -> (String, String, i32) {
        let output = self.server.command(args).current_dir(&self.folder).output();
        decode_output(&output.unwrap())
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let (out, err, code) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {out}{err}");
        out
    }
}

/// The panes by their ids, with their instances.
fn instances(server: &Server) -> Vec<(String, String)> {
    let panes = server.act("pane:list", json!({}));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let panes = panes.as_array().unwrap().iter();
    let mut panes: Vec<_> = panes.map(|it| (text(&it["id"]), text(&it["instance"]))).collect();
    panes.sort();
    panes
}

fn ids(server: &Server) -> Vec<String> {
    instances(server).into_iter().map(|(id, _)| id).collect()
}

const SHOP: &str = r#"
[panes.db]
command = "sleep 0.3; echo up > db.ready; echo db is ready; cat"
wait = { pattern = "is ready" }

[panes.web]
command = ["sh", "-c", "cat db.ready; echo $COLOUR $NAME; pwd; cat"]
cwd = "."
env = { COLOUR = "red" }
env_file = "vars"
depends_on = ["db"]
wait = { pattern = "^red ann$" }
tags = ["front"]

[panes.setup]
command = "echo done"
wait = { exit = true }
"#;

#[test]
fn a_file_that_does_not_exist_is_not_found_by_up_and_down() {
    let server = Server::start();
    let project = TestProject::new(&server, "shop", "");
    for verb in ["up", "down"] {
        let (_, err, code) = project.run(&[verb, "--file", "nope"]);
        assert!(code == 3 && err.starts_with("paned: no file nope"), "{verb}: {err}");
        assert!(!err.contains("os error"), "{err}");
    }
}

#[test]
fn what_up_stores_of_variables_depends_on_a_key_that_only_the_user_has() {
    let server = Server::start();
    let text = "[panes.web]\ncommand = \"exec cat\"\nenv = { PIN = 1234 }\n";
    let project = TestProject::new(&server, "shop", text);
    project.ok(&["up"]);
    let hash = server.pane("web")["meta"]["up.hash"].as_str().unwrap().to_owned();
    assert!(project.ok(&["up"]).contains("unchanged"));
    project.ok(&["down"]);
    fs::remove_file(server.state().join("up.key")).unwrap();
    project.ok(&["up"]);
    assert_ne!(server.pane("web")["meta"]["up.hash"], hash.as_str());
}

#[test]
fn dependencies_are_ready_first_and_a_second_run_changes_nothing() {
    let server = Server::start();
    let project = TestProject::new(&server, "shop", SHOP);
    fs::write(project.folder.join("vars"), "NAME=ann\nCOLOUR=blue\n").unwrap();
    let said = project.ok(&["up"]);
    assert!(said.contains("db     started; waiting for a line that matches `is ready`"), "{said}");
    assert!(said.contains("db     ready\n") && said.contains("web    ready\n"), "{said}");
    assert!(server.ok(&["logs", "web"]).starts_with("up\nred ann\n"));
    assert_eq!(server.pane("web")["tags"], json!(["front"]));
    let before = instances(&server);
    let said = project.ok(&["up"]);
    assert_eq!(said.matches("unchanged").count(), 3, "{said}");
    assert_eq!(instances(&server), before);
    let told: Value = serde_json::from_str(&project.ok(&["up", "--json"])).unwrap();
    assert_eq!(told["panes"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&told["panes"][0]["state"], &told["panes"][0]["started"]),
        (&json!("ready"), &json!(false))
    );
    // A changed pane is started anew, and no other.
    project.write(&SHOP.replace("red", "green"));
    let said = project.ok(&["up"]);
    assert!(said.contains("web    restarted: its definition has changed"), "{said}");
    let after = instances(&server);
    let changed: Vec<_> =
        before.iter().zip(&after).filter(|(a, b)| a != b).map(|(a, _)| a.0.as_str()).collect();
    assert_eq!(changed, ["web"]);
    assert_eq!(ids(&server), ["db", "setup", "web"]);
}

#[test]
fn down_ends_only_what_up_has_started_here() {
    let server = Server::start();
    let text = |name: &str| format!("[panes.{name}]\ncommand = \"cat\"\n");
    let one = TestProject::new(&server, "one", &text("a"));
    let two = TestProject::new(&server, "two", &text("b"));
    server.act("pane:new", json!({ "id": "mine", "argv": ["cat"] }));
    one.ok(&["up"]);
    two.ok(&["up"]);
    server.ok(&["restart", "a"]);
    assert_eq!(ids(&server), ["a", "a.previous", "b", "mine"]);
    // The names of others are not taken.
    one.write(&format!("{}{}", text("a"), text("mine")));
    let (_, err, code) = one.run(&["up"]);
    assert!(
        code == 8 && err.contains("pane `mine` already exists and was not started by `paned up`"),
        "{err}"
    );
    two.write(&text("a"));
    let (_, err, code) = two.run(&["up"]);
    assert!(code == 8 && err.contains("belongs to the project in"), "{err}");
    two.ok(&["up", "--prefix", "two-"]);
    assert_eq!(ids(&server), ["a", "a.previous", "b", "mine", "two-a"]);
    one.ok(&["down"]);
    assert_eq!(ids(&server), ["b", "mine", "two-a"]);
    let (_, err, code) = one.run(&["down"]);
    assert!(code == 0 && err.contains("no panes were started by `paned up`"), "{err}");
    two.ok(&["down"]);
    assert_eq!(ids(&server), ["mine"]);
}

#[test]
fn down_goes_from_dependents_to_dependencies() {
    let server = Server::start();
    let text = "[panes.a]\ncommand='cat'\n[panes.b]\ncommand='cat'\ndepends_on=['a']\n\
        [panes.c]\ncommand='cat'\ndepends_on=['b']\n[panes.d]\ncommand='cat'";
    let project = TestProject::new(&server, "p", text);
    project.ok(&["up", "c"]);
    assert_eq!(ids(&server), ["a", "b", "c"]);
    assert_eq!(project.ok(&["down", "c"]), "closed c\n");
    assert_eq!(project.ok(&["down"]), "closed b\nclosed a\n");
    project.ok(&["up", "b"]);
    assert_eq!(project.ok(&["down", "--json"]), "{\"closed\":[\"b\",\"a\"]}\n");
}

#[test]
fn a_dependency_that_fails_stops_what_depends_on_it() {
    let server = Server::start();
    let text = "[panes.db]\ncommand='echo no disk; exit 7'\nwait={pattern='ready'}\n\
        [panes.slow]\ncommand='cat'\nwait={pattern='ready', timeout='300ms'}\n\
        [panes.web]\ncommand='cat'\ndepends_on=['db']\n[panes.free]\ncommand='cat'";
    let project = TestProject::new(&server, "p", text);
    let (out, err, code) = project.run(&["up", "web", "free"]);
    assert_eq!(code, 10, "{out}{err}");
    assert!(
        err.contains("db    exited before it was ready (exited 7)") && err.contains("no disk"),
        "{err}"
    );
    assert!(!err.contains("the program has exited"), "it is said once: {err}");
    assert!(err.contains("web   not started: db is not ready"), "{err}");
    assert!(out.contains("free  started"), "{out}");
    assert_eq!(ids(&server), ["db", "free"]);
    let (_, err, code) = project.run(&["up", "slow"]);
    assert!(code == 12 && err.contains("not ready after"), "{err}");
}

#[test]
fn a_folder_that_is_not_there_is_named_in_plain_words() {
    let server = Server::start();
    let text = "[panes.a]\ncommand='cat'\ncwd='/no/such'";
    let project = TestProject::new(&server, "p", text);
    let (_, err, code) = project.run(&["up"]);
    assert_eq!(err, "a  cannot use `cwd` `/no/such`: No such file or directory\n");
    assert_eq!(code, 2);
}

#[test]
fn a_port_that_another_program_has_does_not_make_a_pane_ready() {
    let server = Server::start();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let text = format!(
        "[panes.api]\ncommand = \"sleep 0.3; echo in use; exit 1\"\nwait = {{ port = {port} }}\n\
         [panes.web]\ncommand = \"cat\"\ndepends_on = [\"api\"]\n"
    );
    let project = TestProject::new(&server, "taken", &text);
    let (out, err, code) = project.run(&["up"]);
    assert_eq!(code, 10, "{out}{err}");
    let why = format!("exited before it was ready (exited 1); port {port} is in use by ");
    assert!(err.contains(&why) && err.contains("| in use"), "{err}");
    assert_eq!(ids(&server), ["api"]);
    // Nor is a program that goes on ready: it may have taken another port.
    let waits = format!("wait = {{ port = {port}, timeout = '500ms' }}");
    let text = text.replace("sleep 0.3; echo in use; exit 1", "cat");
    project.write(&text.replace(&format!("wait = {{ port = {port} }}"), &waits));
    project.ok(&["down"]);
    let (_, err, code) = project.run(&["up"]);
    assert!(code == 12 && err.contains("it keeps running; port"), "{err}");
}

#[test]
fn a_wrong_file_is_refused_before_anything_is_started() {
    let server = Server::start();
    let project = TestProject::new(&server, "p", "[panes.a]\ncommand='cat'\ndepend_on=['b']");
    let (_, err, code) = project.run(&["up"]);
    assert_eq!(
        err,
        "paned: paned.toml line 3: unknown key `depend_on`; did you mean `depends_on`?\n"
    );
    assert_eq!(code, 2);
    project.write(
        "[panes.a]\ncommand='cat'\ndepends_on=['b']\n[panes.b]\ncommand='x'\ndepends_on=['a']",
    );
    let (_, err, _) = project.run(&["up"]);
    assert!(err.contains("circular dependency: a → b → a"), "{err}");
    fs::remove_file(project.folder.join("paned.toml")).unwrap();
    let (_, err, code) = project.run(&["up"]);
    assert!(code == 3 && err.contains("no paned.toml or Procfile"), "{err}");
    assert!(ids(&server).is_empty());
}

#[test]
fn a_procfile_is_read_where_there_is_no_other_file() {
    let server = Server::start();
    let folder = server.home().join("p");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("Procfile"), "web: echo port $PORT; cat\n# no\nworker: cat\n").unwrap();
    let project = TestProject { server: &server, folder };
    project.ok(&["up", "./Procfile", "worker"]);
    assert_eq!(ids(&server), ["worker"]);
    project.ok(&["up"]);
    let wait = json!({ "paneId": "web", "pattern": "^port 5000$", "since": 0 });
    assert_eq!(server.act("pane:wait", wait)["met"], "pattern");
    project.ok(&["down"]);
    assert!(ids(&server).is_empty());
}

#[test]
fn following_shows_lines_behind_names_and_leaves_the_panes_running() {
    let server = Server::start();
    let text = "[panes.a]\ncommand='echo one; cat'\n[panes.long]\ncommand='echo two; exec cat'";
    let project = TestProject::new(&server, "p", text);
    let mut command = server.command(&["up", "--follow"]);
    let command =
        command.current_dir(&project.folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut shown = Vec::new();
    while shown.len() < 4 {
        shown.push(lines.next().expect("it follows").unwrap());
    }
    shown.sort();
    assert_eq!(shown, ["a     started", "a    | one", "long  started", "long | two"]);
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && err.contains("the panes keep running"), "{err}");
    assert_eq!(server.pane("a")["status"], "running");
}

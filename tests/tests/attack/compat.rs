//! Listeners for other tools' clients, and git in an agent's worktree.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use paned_e2e::{FakeAgent, Reply, Request, Server, WAIT_TIMEOUT, wait_for};
use serde_json::{Value, json};

/// Types into a pane through a listener for agentapi that asks for no token.
fn type_raw(server: &Server, path: &str, content: &str) -> Reply {
    let url = server.ready()["compat"]["agentapi"].as_str().unwrap();
    let authority = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let request = Request::new("POST", path).header("host", &authority);
    request.json(&json!({ "type": "raw", "content": content })).over_tcp(&authority)
}

/// Asserts that a text never came to a pane that echoes what is typed.
#[track_caller]
fn assert_not_typed(server: &Server, pane: &str, text: &str) {
    server.act("pane:write", json!({ "paneId": pane, "text": "the end\r" }));
    wait_for("the echo of what the owner types", || {
        server.text(pane).contains("the end").then_some(())
    });
    let printed = server.text(pane);
    assert!(!printed.contains(text), "{printed:?}");
}

#[test]
fn the_listener_of_one_agent_types_into_no_other_pane() {
    let server = Server::start_with(&["--compat", "agentapi=127.0.0.1:0,open,pane=ag"]);
    server.act("pane:new", json!({ "id": "private", "argv": ["cat"] }));
    let reply = type_raw(&server, "/private/message", "evil\r");
    assert_eq!(reply.status, 403, "{reply:?}");
    // Its own name, given to a plain shell, is no agent either.
    server.act("pane:new", json!({ "id": "ag", "argv": ["cat"] }));
    for path in ["/ag/message", "/message"] {
        let reply = type_raw(&server, path, "evil\r");
        assert!(400 <= reply.status, "{path}: {reply:?}");
    }
    assert_not_typed(&server, "private", "evil");
    assert_not_typed(&server, "ag", "evil");
}

#[test]
fn a_listener_for_agents_types_into_no_pane_without_one() {
    let server = Server::start_with(&["--compat", "agentapi=127.0.0.1:0,open"]);
    server.act("pane:new", json!({ "id": "private", "argv": ["cat"] }));
    let reply = type_raw(&server, "/private/message", "evil\r");
    assert!(400 <= reply.status, "{reply:?}");
    assert_not_typed(&server, "private", "evil");
}

#[test]
fn a_body_whose_length_is_no_number_is_not_the_next_request() {
    let config = "[compat]\nagentmux_serve = true\nagentmux_port = 0";
    let server = Server::start_set(config, &[]);
    let url = server.ready()["compat"]["agentmux"].as_str().unwrap();
    let authority = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let hidden = format!("GET /health HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let head = format!("POST /run HTTP/1.1\r\nHost: {authority}\r\nContent-Length: abc\r\n\r\n");
    stream.write_all(format!("{head}{hidden}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
}

/// A server with a repository, and a program that must never run.
struct Repository {
    server: Server,
    agent: FakeAgent,
    folder: PathBuf,
    trap: PathBuf,
    sprung: PathBuf,
}

impl Repository {
    fn new() -> Self {
        let server = Server::start_set("", &[]);
        let home = server.state().parent().unwrap().to_owned();
        let profiles = home.join(".config/paned/profiles");
        fs::create_dir_all(&profiles).unwrap();
        fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
        let folder = home.join("repository");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("file"), "one\n").unwrap();
        git(&folder, &["init", "--quiet", "--initial-branch=main"]);
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "--quiet", "--message=Begin"]);
        let sprung = home.join("sprung");
        let trap = home.join("trap");
        write_program(&trap, &format!("touch {}; cat", sprung.display()));
        Self { server, agent: FakeAgent::new(&[]), folder, trap, sprung }
    }

    /// Starts an agent in a worktree of its own; answers where that is.
    fn start(&self, id: &str) -> PathBuf {
        let mut params = self.agent.params(id);
        params["profile"] = json!("fake-agent");
        params["cwd"] = json!(self.folder);
        params["worktree"] = json!(true);
        PathBuf::from(self.server.act("agent:create", params)["cwd"].as_str().unwrap())
    }

    /// Ends an agent; answers what became of its worktree.
    fn end(&self, id: &str) -> Value {
        let mut events = self.server.events("agent:worktree-*", None);
        self.server.act("pane:kill", json!({ "paneId": id, "graceMs": 0 }));
        let told = events.next();
        json!({ "name": told.name, "why": told.data["why"] })
    }

    #[track_caller]
    fn assert_not_sprung(&self, by: &str) {
        assert!(!self.sprung.exists(), "a program that the agent named was run: {by}");
    }

    /// Asserts that git as everybody runs it springs the trap, so that the test tests something.
    #[track_caller]
    fn assert_springs(&self, folder: &Path) {
        let _ = Command::new("git").arg("-C").arg(folder).args(["status"]).output().unwrap();
        assert!(self.sprung.exists(), "the trap does not work");
        fs::remove_file(&self.sprung).unwrap();
    }

    fn trap(&self) -> &str {
        self.trap.to_str().unwrap()
    }
}

fn write_program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn another_repository_in_a_worktree_runs_nothing() {
    let repository = Repository::new();
    let tree = repository.start("a");
    fs::remove_file(tree.join(".git")).unwrap();
    git(&tree, &["init", "--quiet"]);
    git(&tree, &["config", "core.fsmonitor", repository.trap()]);
    repository.assert_springs(&tree);
    let left = repository.end("a");
    repository.assert_not_sprung("core.fsmonitor");
    assert_eq!(left["name"], "agent:worktree-kept");
    assert_eq!(left["why"], "its `.git` file was changed");
}

#[test]
fn programs_that_the_repository_names_are_not_run_at_an_agents_end() {
    let repository = Repository::new();
    let tree = repository.start("a");
    git(&repository.folder, &["config", "core.fsmonitor", repository.trap()]);
    // It is in an included file, which a check of the repository's own file does not find. Its name
    // holds a `=`, at which `-c` splits.
    let included = repository.folder.join("included");
    fs::write(&included, format!("[filter \"evil=x\"]\n\tclean = {}\n", repository.trap()))
        .unwrap();
    git(&repository.folder, &["config", "include.path", included.to_str().unwrap()]);
    fs::write(tree.join(".gitattributes"), "* filter=evil=x\n").unwrap();
    fs::write(tree.join("file"), "two\n").unwrap();
    repository.assert_springs(&tree);
    let left = repository.end("a");
    repository.assert_not_sprung("the filter");
    assert_eq!(left["name"], "agent:worktree-kept");
    assert_eq!(left["why"], "it has 2 changed or new files");
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let repository = Repository::new();
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let file = repository.folder.join(".git/hooks").join(hook);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        write_program(&file, &format!("touch {}", repository.sprung.display()));
    }
    repository.start("a");
    repository.assert_not_sprung("at the start");
    let left = repository.end("a");
    repository.assert_not_sprung("at the end");
    assert_eq!(left["name"], "agent:worktree-removed");
    git(&repository.folder, &["checkout", "--quiet", "-b", "other"]);
    assert!(repository.sprung.exists(), "the trap does not work");
}

#[test]
fn filters_that_hold_only_in_a_worktree_are_not_run() {
    for condition in ["onbranch:paned/**", "gitdir:**/worktrees/**"] {
        let repository = Repository::new();
        let program = repository.folder.join("trap");
        write_program(&program, &format!("touch {}; cat", repository.sprung.display()));
        let config = repository.folder.join(".git/config");
        let include = format!("[includeIf \"{condition}\"]\n\tpath = trap.inc\n");
        fs::write(&config, fs::read_to_string(&config).unwrap() + &include).unwrap();
        let filter = format!("[filter \"trap\"]\n\tsmudge = {}\n", program.display());
        fs::write(repository.folder.join(".git/trap.inc"), filter).unwrap();
        fs::write(repository.folder.join(".gitattributes"), "*.txt filter=trap\n").unwrap();
        fs::write(repository.folder.join("a.txt"), "a\n").unwrap();
        git(&repository.folder, &["add", ".gitattributes", "a.txt"]);
        git(&repository.folder, &["commit", "--quiet", "-m", "attributes"]);
        repository.start("a");
        repository.assert_not_sprung(condition);
    }
}

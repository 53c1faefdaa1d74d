//! Our plugin in the real OpenCode: its server is driven over HTTP as its own screen would, and the
//! fake model asks for the tools.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use paned_e2e::{Cli, RealAgent, Request, Server, binary, wait_within};
use paned_fake_model::{FakeModel, ModelEventKind};
use serde_json::{Value, json};

/// How long anything may take. A machine that builds something else is slow.
const LONG: Duration = Duration::from_secs(240);
/// What a program does that runs until the file `go` is there.
const UNTIL_GO: &str = "until [ -e go ]; do sleep 0.1; done; echo the end; exit 4";

/// The plugin as it is published.
fn plugin() -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let file = file.join("../integrations/opencode/dist/index.js");
    assert!(file.is_file(), "the plugin is not built; run `scripts/opencode-plugin` first");
    format!("file://{}", file.canonicalize().expect("it is there").display())
}

/// Says that OpenCode's package for writing plugins is there. It would fetch that before it loads
/// any plugin, and a minute passes where it cannot; ours does not use it.
fn pretend_installed(real: &RealAgent) {
    let program = Cli::Opencode.folder().expect("RealAgent found it");
    let installed = program.ancestors().nth(2).expect("it is in node_modules/.bin");
    let installed =
        fs::read_to_string(installed.join("installed")).expect("scripts/agents made it");
    let version = installed.split(' ').nth(1).expect("package, version and more").to_owned();
    let package = json!({ "dependencies": { "@opencode-ai/plugin": version } });
    let lock = json!({ "lockfileVersion": 3, "requires": true, "packages": { "": package } });
    let folder = real.home().join(".config/opencode");
    fs::create_dir_all(folder.join("node_modules")).expect("its home can be written");
    for (name, content) in [("package.json", package), ("package-lock.json", lock)] {
        fs::write(folder.join(name), content.to_string()).expect("its home can be written");
    }
}

/// OpenCode with the plugin, the model it talks to, and a paned server.
struct PluginStory {
    model: FakeModel,
    real: RealAgent,
    server: Server,
    opencode: Option<Child>,
    authority: String,
}

impl Drop for PluginStory {
    fn drop(&mut self) {
        self.end();
        // Also one that the plugin has started.
        let _ = self.server.cli(&["server", "stop"]);
    }
}

impl PluginStory {
    /// With these permissions in OpenCode's configuration; null for none.
    #[track_caller]
    fn start(permission: &Value) -> Self {
        let mut story = Self::prepare(permission, &json!({}));
        story.launch();
        story
    }

    /// The same with more options of the plugin; OpenCode is not started.
    #[track_caller]
    fn prepare(permission: &Value, options: &Value) -> Self {
        let (server, model) = (Server::start_bare(), FakeModel::start());
        let mut real = RealAgent::new(Cli::Opencode, &model);
        real.set("PANED_STATE_DIR", &server.state().display().to_string());
        let file = real.home().join(".config/opencode/opencode.json");
        let config = fs::read_to_string(&file).expect("RealAgent has written it");
        let mut config: Value = serde_json::from_str(&config).expect("it is JSON");
        let mut plugin_options = json!({ "program": binary() });
        for (name, value) in options.as_object().into_iter().flatten() {
            plugin_options[name] = value.clone();
        }
        config["plugin"] = json!([[plugin(), plugin_options]]);
        config["permission"] = permission.clone();
        if permission.is_null() {
            config.as_object_mut().expect("it is an object").remove("permission");
        }
        fs::write(&file, config.to_string()).expect("its home can be written");
        pretend_installed(&real);
        Self { model, real, server, opencode: None, authority: String::new() }
    }

    /// Starts OpenCode's server, and waits until it listens.
    #[track_caller]
    fn launch(&mut self) {
        let program = Cli::Opencode.folder().expect("RealAgent found it").join("opencode");
        let mut command = Command::new(program);
        command.args(["serve", "--hostname", "127.0.0.1", "--port", &free_port().to_string()]);
        command.current_dir(self.real.cwd()).env_clear().envs(self.real.env());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("opencode can be started");
        let output = child.stdout.take().expect("it is piped");
        self.opencode = Some(child);
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let authority = lines.find_map(|line| listening(&line));
        self.authority = authority.expect("opencode says where it listens");
        // It must not be stopped by a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
    }

    /// Kills OpenCode the hard way.
    fn end(&mut self) {
        if let Some(mut child) = self.opencode.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    #[track_caller]
    fn api(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        api(&self.authority, method, path, body)
    }

    /// A new session's id.
    #[track_caller]
    fn session(&self) -> String {
        text(&self.api("POST", "/session", Some(&json!({})))["id"])
    }

    /// Says something in a session, and waits until the turn is over.
    #[track_caller]
    fn says(&self, session: &str, prompt: &str) {
        says(&self.authority, session, prompt);
    }

    /// Has the model call a tool; answers what the tool gave.
    #[track_caller]
    fn calls(&self, session: &str, tool: &str, args: &Value) -> String {
        let mark = self.model.mark();
        self.says(session, &format!("FAKE call {tool} {args}"));
        self.result(mark)
    }

    /// What a tool gave since a mark.
    #[track_caller]
    fn result(&self, mark: usize) -> String {
        self.model.wait_within(LONG, "the tool's result", mark, |facts| {
            facts.iter().find_map(|fact| match &fact.kind {
                ModelEventKind::ToolResult(text) => Some(text.clone()),
                _ => None,
            })
        })
    }

    /// Waits until the model is told that a program has ended; answers the notice.
    #[track_caller]
    fn notice(&self, mark: usize) -> String {
        self.model.wait_within(LONG, "the exit notice", mark, |facts| {
            facts.iter().find_map(|fact| match &fact.kind {
                ModelEventKind::Asked { prompt: Some(prompt), .. } => {
                    prompt.text.contains("<pty_exited>").then(|| prompt.text.clone())
                }
                _ => None,
            })
        })
    }

    /// The texts in a session's chat that are exit notices.
    #[track_caller]
    fn notices_in_chat(&self, session: &str) -> Vec<String> {
        let messages = self.api("GET", &format!("/session/{session}/message"), None);
        let messages = messages.as_array().cloned().unwrap_or_default();
        let parts = messages.iter().flat_map(|message| message["parts"].as_array()).flatten();
        let texts = parts.filter_map(|part| part["text"].as_str());
        texts.filter(|text| text.contains("<pty_exited>")).map(str::to_owned).collect()
    }

    /// The panes of the plugin.
    #[track_caller]
    fn panes(&self) -> Vec<Value> {
        let panes = self.server.act("pane:list", json!({ "tag": "opencode-pty" }));
        panes.as_array().cloned().unwrap_or_default()
    }

    fn touch(&self, name: &str) {
        fs::write(self.real.cwd().join(name), "").expect("its folder can be written");
    }
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Host and port, if this line says where OpenCode listens.
fn listening(line: &str) -> Option<String> {
    let (_, url) = line.split_once("listening on http://")?;
    Some(url.split_whitespace().next()?.to_owned())
}

/// A port that was free a moment ago: OpenCode takes 4096 when it is given none.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
    listener.local_addr().expect("it is bound").port()
}

/// Asks OpenCode's server.
#[track_caller]
fn api(authority: &str, method: &str, path: &str, body: Option<&Value>) -> Value {
    let request = Request::new(method, path).header("host", authority);
    let request = request.header("connection", "close");
    let reply = match body {
        Some(body) => request.json(body).over_tcp_within(authority, LONG),
        None => request.over_tcp_within(authority, LONG),
    };
    assert_eq!(reply.status, 200, "{method} {path}: {reply:?}");
    reply.json()
}

#[track_caller]
fn says(authority: &str, session: &str, prompt: &str) {
    let body = json!({ "parts": [{ "type": "text", "text": prompt }] });
    api(authority, "POST", &format!("/session/{session}/message"), Some(&body));
}

fn spawn(script: &str, more: &Value) -> Value {
    let mut args = json!({ "command": "sh", "args": ["-c", script], "description": "a test" });
    for (name, value) in more.as_object().into_iter().flatten() {
        args[name] = value.clone();
    }
    args
}

/// The id in a `<pty_spawned>` block.
#[track_caller]
fn id(spawned: &str) -> String {
    let line = spawned.lines().find_map(|line| line.strip_prefix("ID: "));
    line.unwrap_or_else(|| panic!("no id: {spawned}")).to_owned()
}

#[test]
#[ignore = "make test-agents installs what it needs"]
fn a_model_starts_a_program_types_into_it_and_hears_of_its_end() {
    let mut story = PluginStory::prepare(&Value::Null, &json!({}));
    // The plugin starts the server.
    story.server.kill();
    story.launch();
    let session = story.session();
    let script = "echo ready; read line; echo got $line; exit 3";
    let notify = json!({ "notifyOnExit": true });
    let spawned = story.calls(&session, "pty_spawn", &spawn(script, &notify));
    assert!(spawned.contains("NotifyOnExit: true"), "{spawned}");
    assert!(spawned.contains("<system_reminder>"), "{spawned}");
    let id = id(&spawned);
    let wait = json!({ "id": id, "pattern": "^ready$", "timeoutSeconds": 20 });
    let waited = story.calls(&session, "pty_wait", &wait);
    assert!(waited.contains("Matched: 00001| ready"), "{waited}");
    let mark = story.model.mark();
    let typed = json!({ "id": id, "data": "a word\\n" });
    let written = story.calls(&session, "pty_write", &typed);
    assert!(written.starts_with(&format!("Sent 8 bytes to {id}: \"a word")), "{written}");
    let notice = story.notice(mark);
    assert!(notice.contains(&format!("ID: {id}\nDescription: a test\nExit Code: 3")), "{notice}");
    assert!(notice.contains("Last Line: got a word"), "{notice}");
    let read = json!({ "id": id, "pattern": "got" });
    let found = story.calls(&session, "pty_read", &read);
    assert!(found.contains("| got a word"), "{found}");
    assert!(found.contains("(1 match from "), "{found}");
    let listed = story.calls(&session, "pty_list", &json!({}));
    assert!(listed.contains("Status: exited | exit: 3"), "{listed}");
    let killed = story.calls(&session, "pty_kill", &json!({ "id": id, "cleanup": true }));
    assert!(killed.contains("(session removed)"), "{killed}");
    let gone = story.calls(&session, "pty_read", &json!({ "id": id }));
    assert!(gone.contains("not found. Use pty_list"), "{gone}");
    assert_eq!(story.notices_in_chat(&session).len(), 1);
}

#[test]
#[ignore = "make test-agents installs what it needs"]
fn a_command_that_the_rules_deny_is_not_started() {
    let story = PluginStory::start(&json!({ "bash": { "*": "allow", "touch *": "deny" } }));
    let session = story.session();
    let args = json!({ "command": "touch", "args": ["made.txt"], "description": "a test" });
    let refused = story.calls(&session, "pty_spawn", &args);
    assert!(refused.contains("den") || refused.contains("prevents"), "{refused}");
    assert!(!story.real.cwd().join("made.txt").exists());
    assert_eq!(story.panes(), Vec::<Value>::new());
}

#[test]
#[ignore = "make test-agents installs what it needs"]
fn a_command_that_needs_permission_runs_when_the_person_allows_it() {
    let story = PluginStory::start(&json!({ "bash": "ask" }));
    let session = story.session();
    for (file, reply) in [("no.txt", "reject"), ("yes.txt", "once")] {
        let args = json!({ "command": "touch", "args": [file], "description": "a test" });
        let (authority, in_session) = (story.authority.clone(), session.clone());
        let prompt = format!("FAKE call pty_spawn {args}");
        let turn = std::thread::spawn(move || says(&authority, &in_session, &prompt));
        let asked = wait_within(LONG, "OpenCode's own question", || {
            story.api("GET", "/permission", None).as_array()?.first().cloned()
        });
        assert_eq!(asked["patterns"], json!([format!("touch {file}")]), "{asked:#}");
        assert!(!story.real.cwd().join(file).exists());
        let path = format!("/permission/{}/reply", text(&asked["id"]));
        story.api("POST", &path, Some(&json!({ "reply": reply })));
        turn.join().expect("the turn ends");
    }
    wait_within(LONG, "what was allowed", || {
        story.real.cwd().join("yes.txt").exists().then_some(())
    });
    assert!(!story.real.cwd().join("no.txt").exists(), "it ran what was refused");
}

#[test]
#[ignore = "make test-agents installs what it needs"]
fn a_deleted_session_takes_its_terminals_with_it() {
    let story = PluginStory::start(&Value::Null);
    let (kept, deleted) = (story.session(), story.session());
    let sleep = spawn("sleep 600", &json!({}));
    let kept_id = id(&story.calls(&kept, "pty_spawn", &sleep));
    story.calls(&deleted, "pty_spawn", &sleep);
    assert_eq!(story.panes().len(), 2);
    story.api("DELETE", &format!("/session/{deleted}"), None);
    let left = wait_within(LONG, "one terminal less", || {
        let panes = story.panes();
        (panes.len() == 1).then_some(panes)
    });
    assert_eq!(left[0]["id"], json!(kept_id));
    assert_eq!(left[0]["status"], "running");
}

#[test]
#[ignore = "make test-agents installs what it needs"]
fn a_notice_survives_a_crash_of_the_server_and_one_of_opencode() {
    let mut story = PluginStory::start(&Value::Null);
    let session = story.session();
    let notify = json!({ "notifyOnExit": true });
    story.calls(&session, "pty_spawn", &spawn(UNTIL_GO, &notify));
    let mark = story.model.mark();
    story.server.kill();
    story.touch("go");
    story.server.start_again();
    let notice = story.notice(mark);
    assert!(notice.contains("Exit Code: 4"), "{notice}");
    let script = "until [ -e on ]; do sleep 0.1; done; exit 5";
    let second = id(&story.calls(&session, "pty_spawn", &spawn(script, &notify)));
    story.end();
    story.touch("on");
    let exit = json!({ "paneId": second, "exit": true, "timeoutMs": 20_000 });
    story.server.act("pane:wait", exit);
    let mark = story.model.mark();
    story.launch();
    let notices = wait_within(LONG, "the second notice", || {
        let notices = story.notices_in_chat(&session);
        (notices.len() == 2).then_some(notices)
    });
    assert!(notices[1].contains(&format!("ID: {second}")), "{notices:?}");
    let noticed = json!({ "tag": "opencode-pty" });
    wait_within(LONG, "the mark that both are in the chat", || {
        let panes = story.server.act("pane:list", noticed.clone());
        let panes = panes.as_array()?;
        panes.iter().all(|pane| pane["meta"]["opencode.noticed"].is_u64()).then_some(())
    });
    // A third start finds nothing to do, and the second has started no turn.
    story.end();
    story.launch();
    story.calls(&session, "pty_list", &json!({}));
    assert_eq!(story.notices_in_chat(&session).len(), 2);
    let prompts = story.model.events();
    let turns = prompts[mark..].iter().filter(|fact| match &fact.kind {
        ModelEventKind::Asked { prompt: Some(prompt), aside: false, .. } => {
            !prompt.text.contains("FAKE call")
        }
        _ => false,
    });
    assert_eq!(turns.count(), 0, "a notice of an earlier run started a turn");
}

#[test]
#[ignore = "make test-agents installs what it needs"]
fn in_a_pane_it_reports_its_state() {
    let mut story = PluginStory::prepare(&Value::Null, &json!({ "subagents": false }));
    let program = Cli::Opencode.folder().expect("RealAgent found it").join("opencode");
    let port = free_port().to_string();
    let argv = json!([program, "serve", "--hostname", "127.0.0.1", "--port", port]);
    story.server.act(
        "pane:new",
        json!({ "id": "oc", "argv": argv, "cwd": story.real.cwd(), "env": story.real.env(),
            "can": ["spawn"] }),
    );
    let listens = json!({ "paneId": "oc", "pattern": "listening on", "since": 0,
        "timeoutMs": 10_000 });
    wait_within(LONG, "that OpenCode listens", || {
        let waited = story.server.act("pane:wait", listens.clone());
        (waited["met"] == "pattern").then_some(())
    });
    story.authority = format!("127.0.0.1:{port}");
    let session = story.session();
    story.says(&session, "FAKE say words=3");
    let meta = wait_within(LONG, "what the plugin reports", || {
        let meta = story.server.pane("oc")["meta"].clone();
        meta["agent.sessionId"].is_string().then_some(meta)
    });
    assert_eq!(meta["agent.runtime"], "opencode", "{meta:#}");
    assert_eq!(meta["agent.sessionId"], json!(session), "{meta:#}");
    assert!(meta["agent.lastEventAt"].is_string(), "{meta:#}");
}

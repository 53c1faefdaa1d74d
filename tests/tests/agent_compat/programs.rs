//! What agentmux's sessions run: real agents as agentmux started them, and any other program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use paned_e2e::{Reply, Request, Server, wait_for};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server with agentmux's listener, in the words of agentmux's own variables.
struct AgentmuxServer {
    server: Server,
    _programs: TempDir,
}

/// A program with a prompt that agentmux takes for that of an idle agent.
const CHEVRON: &str = "import sys\nprint('my repl 1.0')\nwhile True:\n    line = input('\u{276f} ')\n    \
    print('you said', line.upper())\n    print('ctx:42%')\n";

impl AgentmuxServer {
    fn new(config: &str, env: &[(&str, &str)]) -> Self {
        let programs = TempDir::with_prefix("paned-agentmux-").expect("a folder");
        fs::write(programs.path().join("chevron.py"), CHEVRON).expect("the folder is ours");
        for name in ["codex", "claude"] {
            // It says how it was started, and has a prompt.
            let script = "#!/bin/sh\necho \"args: $*\"\nPS1='$ ' exec sh -i\n";
            let file = programs.path().join(name);
            fs::write(&file, script).expect("the folder is ours");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", programs.path().display());
        let usual = [("AGENTMUX_PORT", "0"), ("PATH", path.as_str())];
        let env: Vec<_> = usual.iter().chain(env).copied().collect();
        let env: Vec<_> = env
            .iter()
            .map(|(name, value)| {
                (*name, value.replace("PROGRAMS", &programs.path().to_string_lossy()))
            })
            .collect();
        let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let config = format!("[compat]\nagentmux_serve = true\n{config}");
        Self { server: Server::start_set(&config, &env), _programs: programs }
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let url =
            self.server.ready()["compat"]["agentmux"].as_str().expect("the listener is there");
        let authority = url.trim_start_matches("http://");
        let request = Request::new(method, path).header("host", authority);
        let request = match body {
            Some(body) => request.body(body.to_string()),
            None => request,
        };
        request.over_tcp(authority)
    }

    fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path, None);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    /// What the active session shows.
    fn content(&self) -> String {
        self.get("/capture?lines=500")["content"].as_str().unwrap_or_default().to_owned()
    }
}

/// Runs a text in a program of the user's own, and waits for its answer and the next prompt.
#[track_caller]
fn check_repl(command: &str, text: &str, answer: &str) {
    let mux = AgentmuxServer::new("", &[("AGENTMUX_REPL_CMD", command)]);
    let ran = mux.ask("POST", "/run", Some(json!({ "text": text })));
    assert_eq!(ran.status, 200, "{command}: {ran:?}");
    wait_for(answer, || mux.content().contains(answer).then_some(()));
    wait_for("idle", || (mux.get("/idle")["idle"] == true).then_some(()));
}

#[test]
fn any_program_with_a_prompt_takes_one() {
    check_repl("python3 -q", "6 * 7", "42");
    check_repl("bash --norc", "echo $((6 * 7))", "42");
    check_repl("node", "6 * 7", "42");
}

#[test]
fn a_program_with_agentmuxs_own_prompt_takes_one_and_shows_its_context() {
    let env = [("AGENTMUX_REPL_CMD", "python3 PROGRAMS/chevron.py")];
    let mux = AgentmuxServer::new("", &env);
    let ran = mux.ask("POST", "/run", Some(json!({ "text": "hello there" })));
    assert_eq!(ran.status, 200, "{ran:?}");
    wait_for("its answer", || mux.content().contains("you said HELLO THERE").then_some(()));
    let idle = wait_for("idle", || Some(mux.get("/idle")).filter(|it| it["idle"] == true));
    assert_eq!(idle["ctx_percent"], 42);
}

/// A program whose cursor is hidden, and not in its prompt: the rules for any program find none.
const DRAWN: &str = "import sys, tty\ntty.setcbreak(0)\ntext = ''\nsys.stdout.write('\\x1b[?25l')\n\
    while True:\n    sys.stdout.write('\\x1b[H\\x1b[J\u{276f} ' + text + '\\r\\n\\r\\n  ctx:7%\\r\\n')\n    \
    sys.stdout.flush()\n    c = sys.stdin.read(1)\n    if c in '\\r\\n':\n        \
    open(sys.argv[1], 'w').write(text)\n        text = ''\n    else:\n        text += c\n";

#[test]
fn a_prompt_that_agentmux_takes_for_idle_is_enough_where_the_cursor_is_elsewhere() {
    let folder = TempDir::with_prefix("paned-drawn-").expect("a folder");
    let (program, taken) = (folder.path().join("drawn.py"), folder.path().join("taken"));
    fs::write(&program, DRAWN).expect("the folder is ours");
    let command = format!("python3 {} {}", program.display(), taken.display());
    let mux = AgentmuxServer::new("", &[("AGENTMUX_REPL_CMD", &command)]);
    let ran = mux.ask("POST", "/run", Some(json!({ "text": "hello there" })));
    assert_eq!(ran.status, 200, "{ran:?}");
    let read = || fs::read_to_string(&taken).unwrap_or_default();
    wait_for("the text", || (read() == "hello there").then_some(()));
    let idle = wait_for("idle", || Some(mux.get("/idle")).filter(|it| it["idle"] == true));
    assert_eq!(idle["ctx_percent"], 7);
    let sent = mux.ask("POST", "/send", Some(json!({ "text": "more" })));
    assert_eq!(sent.status, 200, "{sent:?}");
    wait_for("the second text", || (read() == "more").then_some(()));
}

/// How an agent is started, by its arguments.
#[track_caller]
fn check_arguments(agent: &str, config: &str, arguments: &str) {
    let mux = AgentmuxServer::new(config, &[("AGENTMUX_AGENT", agent)]);
    let server = &mux.server;
    // The program is not the agent, so it is never ready; how it was started shows before that.
    std::thread::scope(|scope| {
        scope.spawn(|| mux.ask("POST", "/run", Some(json!({ "text": "hello" }))));
        let argv = wait_for("a session", || {
            let panes = server.act("pane:list", json!({ "tag": "agentmux" }));
            (panes[0]["status"] == "running")
                .then(|| (panes[0]["id"].clone(), panes[0]["argv"].clone()))
        });
        let words: Vec<&str> =
            argv.1.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(words.join(" "), format!("{agent} {arguments}").trim_end());
        server.act("pane:close", json!({ "paneId": argv.0 }));
    });
}

#[test]
fn codex_runs_in_its_workspace_sandbox_and_asks_unless_auto_is_named() {
    let asks = "--no-alt-screen --sandbox workspace-write --ask-for-approval on-request";
    check_arguments("codex", "", asks);
    check_arguments(
        "codex",
        "agentmux_permissions = 'auto'",
        "--dangerously-bypass-approvals-and-sandbox",
    );
}

#[test]
fn claude_keeps_the_users_own_permission_mode() {
    check_arguments("claude", "", "");
    check_arguments("claude", "agentmux_permissions = 'ask'", "--permission-mode default");
}

#[test]
fn the_log_file_of_agentmux_has_each_request_and_the_log_of_the_server() {
    let home = TempDir::with_prefix("paned-agentmux-log-").expect("a folder");
    let file = home.path().join("logs/agentmux.log");
    let named = file.display().to_string();
    let mux = AgentmuxServer::new("", &[("AGENTMUX_LOG_FILE", &named)]);
    mux.get("/health");
    mux.ask("POST", "/kill", Some(json!({ "session": "s3cret-session" })));
    let log = || fs::read_to_string(&file).unwrap_or_default();
    wait_for("both requests", || (log().contains("POST /kill 404")).then_some(()));
    assert!(log().contains("GET /health 200"), "{}", log());
    assert!(log().contains("this listener requires no token"), "{}", log());
    assert!(!log().contains("s3cret-session") && !log().contains('\u{1b}'), "{}", log());
    assert!(!mux.server.log().contains("/health"), "{}", mux.server.log());
    let mode = fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_log_file_left_over_from_agentmux_opens_nothing() {
    let home = TempDir::with_prefix("paned-agentmux-log-").expect("a folder");
    let named = home.path().join("agentmux.log").display().to_string();
    let server = Server::start_set("", &[("AGENTMUX_LOG_FILE", &named)]);
    assert!(!Path::new(&named).exists());
    assert!(server.log().contains("AGENTMUX_LOG_FILE is set"), "{}", server.log());
}

//! Notifications: what a person hears about, through every channel, and exactly once.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use paned_e2e::{FakeAgent, Server, WAIT_TIMEOUT, wait_for};
use serde_json::{Value, json};

/// A request that a webhook received.
struct WebhookRequest {
    headers: Vec<String>,
    body: String,
}

impl WebhookRequest {
    fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        self.headers.iter().find_map(|line| line.strip_prefix(&start)).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A webhook on loopback, which answers the first requests with these statuses and the rest with
/// 204.
struct Webhook {
    url: String,
    requests: mpsc::Receiver<WebhookRequest>,
}

impl Webhook {
    fn answering(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        let mut statuses = statuses.iter().copied();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let status = statuses.next().unwrap_or(204);
                if sender.send(answer(&stream, status)).is_err() {
                    return;
                }
            }
        });
        Self { url, requests }
    }

    #[track_caller]
    fn next(&self) -> WebhookRequest {
        self.requests.recv_timeout(WAIT_TIMEOUT).expect("a request to the webhook")
    }

    #[track_caller]
    fn expect_no_more(&self) {
        assert!(self.requests.try_recv().is_err(), "the webhook got a request too many");
    }
}

fn answer(stream: &TcpStream, status: u16) -> WebhookRequest {
    let mut reader = BufReader::new(stream);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        headers.push(line.trim().to_owned());
    }
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n").unwrap();
    WebhookRequest { headers, body: String::from_utf8(body).unwrap() }
}

/// The HMAC, computed by a program that is not ours.
fn hmac(secret: &str, text: &str) -> String {
    let script = "import hmac, hashlib, sys; \
        print(hmac.new(sys.argv[1].encode(), sys.stdin.buffer.read(), hashlib.sha256).hexdigest())";
    let mut python = Command::new("python3")
        .args(["-c", script, secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Runs a program in a pane to its end.
fn run(server: &Server, id: &str, script: &str) {
    server.act("pane:new", json!({ "id": id, "argv": ["sh", "-c", script] }));
    server.act("pane:wait", json!({ "paneId": id, "exit": true }));
}

/// The events of one name so far.
fn events(server: &Server, name: &str) -> Vec<Value> {
    let of_name = server.history().into_iter().filter(|event| event.name == name);
    of_name.map(|event| event.data).collect()
}

/// Waits for this many events of one name.
fn wait_for_events(server: &Server, name: &str, count: usize) -> Vec<Value> {
    wait_for(name, || Some(events(server, name)).filter(|found| count <= found.len()))
}

/// A program that appends its arguments and its input to a file, in its own folder.
fn recorder(folder: &Path, name: &str) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let program = folder.join(name);
    let record = folder.join("record");
    let script = format!(
        "#!/bin/sh\n{{ printf '%s|' \"$@\"; echo \"$PANED_NOTIFY_PANE\"; cat; echo; }} >> {}\n",
        record.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn recorded(folder: &Path) -> String {
    fs::read_to_string(folder.join("record")).unwrap_or_default()
}

#[test]
fn a_failed_program_reaches_a_webhook_signed_and_once() {
    let webhook = Webhook::answering(&[]);
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "hush\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let config = format!(
        "[notify.ci]\non = \"exit\"\nto = \"webhook\"\nwebhook = \"{}\"\nsecret_file = \"{}\"\n",
        webhook.url,
        secret.display()
    );
    let server = Server::start_set(&config, &[]);
    run(&server, "good", "exit 0");
    run(&server, "bad", "exit 3");
    let request = webhook.next();
    let body = request.json();
    assert_eq!(body["text"], "bad exited with code 3");
    assert_eq!((&body["pane"]["id"], &body["trigger"]), (&json!("bad"), &json!("exit")));
    let signed = format!("{}.{}", request.header("paned-timestamp"), request.body);
    assert_eq!(request.header("paned-signature"), format!("v1={}", hmac("hush", &signed)));
    assert_eq!(request.header("paned-delivery"), body["delivery"].as_str().unwrap());
    let sent = wait_for_events(&server, "notify:sent", 1);
    assert_eq!(sent[0]["paneId"], "bad");
    server.act("pane:new", json!({ "id": "k", "argv": ["sleep", "60"] }));
    server.act("pane:kill", json!({ "paneId": "k" }));
    run(&server, "worse", "kill -9 $$");
    assert_eq!(webhook.next().json()["text"], "worse exited by SIGKILL");
    webhook.expect_no_more();
}

#[test]
fn what_could_not_be_sent_before_a_crash_is_sent_once_after_it() {
    let webhook = Webhook::answering(&[503, 204, 204]);
    let config =
        format!("[notify.ci]\non = \"exit\"\nto = \"webhook\"\nwebhook = \"{}\"\n", webhook.url);
    let mut server = Server::start_set(&config, &[]);
    run(&server, "a", "exit 1");
    let first = webhook.next().header("paned-delivery").to_owned();
    server.kill();
    server.start_again();
    let again = webhook.next();
    assert_eq!(again.header("paned-delivery"), first);
    wait_for_events(&server, "notify:sent", 1);
    server.kill();
    server.start_again();
    run(&server, "b", "exit 1");
    assert_eq!(webhook.next().json()["pane"]["id"], "b");
    webhook.expect_no_more();
    assert_eq!(wait_for_events(&server, "notify:sent", 2).len(), 2);
}

#[test]
fn what_happened_while_no_server_ran_is_told_when_it_comes_back() {
    let webhook = Webhook::answering(&[]);
    let config =
        format!("[notify.ci]\non = \"exit\"\nto = \"webhook\"\nwebhook = \"{}\"\n", webhook.url);
    let mut server = Server::start_set(&config, &[]);
    let go = server.home().join("go");
    let script = format!("while [ ! -e {} ]; do sleep 0.1; done; exit 7", go.display());
    server.act("pane:new", json!({ "id": "a", "argv": ["sh", "-c", script] }));
    let pid = u32::try_from(server.pane("a")["pid"].as_u64().unwrap()).unwrap();
    server.kill();
    fs::write(&go, "").unwrap();
    assert!(paned_e2e::gone(pid, WAIT_TIMEOUT));
    server.start_again();
    assert_eq!(webhook.next().json()["text"], "a exited with code 7");
}

#[test]
fn a_command_gets_lines_that_match_and_how_many_were_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let program = recorder(folder.path(), "tell");
    let config = format!(
        "[notify.errors]\non = \"pattern\"\npattern = \"^error: \"\nto = \"command\"\n\
         command = [\"{}\", \"a b\"]\nevery = \"1h\"\ntags = \"build\"\n",
        program.display()
    );
    let server = Server::start_set(&config, &[]);
    let script = server.home().join("script");
    fs::write(&script, "echo 'error: one'; sleep 2; echo 'error: two'; sleep 60").unwrap();
    let argv = json!(["sh", script]);
    server.act("pane:new", json!({ "id": "other", "argv": argv }));
    server.act("pane:new", json!({ "id": "make", "argv": argv, "tags": ["build"] }));
    let found = wait_for("the command", || {
        Some(recorded(folder.path())).filter(|text| text.contains("error: "))
    });
    assert!(found.starts_with("a b|make\n"), "{found}");
    assert!(found.contains("\"text\":\"make printed: error: one\""), "{found}");
    server.act("pane:wait", json!({ "paneId": "make", "pattern": "two", "since": "start" }));
    // Another pane's line comes after it, so the second one would have been sent by now.
    let config_pane = json!({ "id": "late", "argv": ["sh", "-c", "sleep 1; echo 'error: x'; sleep 60"],
        "tags": ["build"] });
    server.act("pane:new", config_pane);
    wait_for_events(&server, "notify:sent", 2);
    let text = recorded(folder.path());
    assert!(!text.contains("two") && !text.contains("other"), "{text}");
    let sent = events(&server, "notify:sent");
    assert_eq!(sent[0]["about"], "printed a line that matches", "nothing of the terminal");
}

#[test]
fn an_agent_that_is_done_or_asks_is_told_but_not_while_it_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let program = recorder(folder.path(), "tell");
    let config = format!(
        "[notify.me]\non = [\"done\", \"blocked\"]\nto = \"command\"\ncommand = [\"{}\"]\n\
         every = \"0s\"\n",
        program.display()
    );
    let server = Server::start_set(&config, &[]);
    let profiles = server.home().join(".config/paned/profiles");
    fs::create_dir_all(&profiles).unwrap();
    fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
    let agent = FakeAgent::new(&["--work", "150"]);
    let mut params = agent.params("a");
    params["profile"] = json!("fake-agent");
    server.act("agent:create", params);
    server.act("agent:wait", json!({ "paneId": "a", "state": "ready" }));
    let send = |text: &str, wait: &str| {
        server.act("agent:message", json!({ "paneId": "a", "text": text, "wait": wait }))
    };
    let count = |text: &str| recorded(folder.path()).matches(text).count();
    send("hello", "done");
    wait_for("done", || (count("\"text\":\"a is done after ") == 1).then_some(()));
    let mut events = server.events("pane:size-held", Some(0));
    server.act(
        "pane:new",
        json!({ "id": "viewer", "argv": [paned_e2e::binary(), "--state-dir", server.state(),
            "attach", "a"] }),
    );
    while events.next().data["paneId"] != "a" {}
    send("hello again", "done");
    server.act("pane:kill", json!({ "paneId": "viewer" }));
    wait_for("its size to be free", || server.pane("a")["sizeHeldBy"].is_null().then_some(()));
    send("FAKE tool cmd=touch+made.txt", "none");
    wait_for("a question", || (count("\"text\":\"a asks: ") == 1).then_some(()));
    assert_eq!(count("a is done after "), 1, "{}", recorded(folder.path()));
    let sent = wait_for_events(&server, "notify:sent", 2);
    assert_eq!(sent[1]["about"], "asks a question", "no text of the terminal");
}

#[test]
fn an_attached_terminal_rings_for_other_panes() {
    let config = "[notify.me]\non = \"exit\"\nto = \"terminal\"\n";
    let server = Server::start_set(config, &[]);
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let mut streams = server.events("pane:size-held", Some(0));
    server.act(
        "pane:new",
        json!({ "id": "viewer", "argv": [paned_e2e::binary(), "--state-dir", server.state(),
            "attach", "a"] }),
    );
    while streams.next().data["paneId"] != "a" {}
    let mut count = 0;
    wait_for("the bell", || {
        count += 1;
        run(&server, &format!("bad{count}"), "exit 2");
        let printed = String::from_utf8_lossy(&server.printed("viewer")).into_owned();
        printed.contains("\u{7}\u{1b}]9;bad").then_some(())
    });
}

#[test]
fn the_desktop_gets_text_and_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    recorder(folder.path(), "notify-send");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let config = "[notify.me]\non = \"pattern\"\npattern = \"look\"\nto = \"desktop\"\n";
    let server = Server::start_set(config, &[("PATH", &path)]);
    server.act("pane:new", json!({ "id": "a", "argv": ["sh", "-c", "echo '<b>look</b>'; cat"] }));
    let got = wait_for("notify-send", || {
        Some(recorded(folder.path())).filter(|text| text.contains("look"))
    });
    let expect = "--app-name=paned|--|paned: a|a printed: &lt;b&gt;look&lt;/b&gt;|";
    assert!(got.starts_with(expect), "{got}");
}

#[test]
fn a_test_says_for_each_channel_whether_it_works() {
    let webhook = Webhook::answering(&[204, 404]);
    let config = format!(
        "[notify.a]\non = \"exit\"\nto = \"webhook\"\nwebhook = \"{}\"\n\
         [notify.b]\non = \"exit\"\nto = \"command\"\ncommand = \"/nowhere/tell\"\n",
        webhook.url
    );
    let server = Server::start_set(&config, &[]);
    let output = server.cli(&["notify", "test"]);
    let (said, _, code) = paned_e2e::decode_output(&output);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.starts_with("a: webhook: sent\nb: command: failed: there is no program"),
        "{said}"
    );
    assert_eq!(webhook.next().json()["text"], "Notifications work.");
    let said = paned_e2e::decode_output(&server.cli(&["notify", "test", "a"])).0;
    assert!(said.contains("404"), "{said}");
    let listed = server.ok(&["notify", "list"]);
    assert!(listed.contains("/nowhere/tell"), "{listed}");
    let refused = server.try_act("notify:test", json!({ "rule": "c" })).unwrap_err();
    assert!(refused.sentence.contains("there are: a, b"), "{refused:?}");
}

#[test]
fn a_rule_that_cannot_work_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "port = 0\n\n[notify.me]\non = \"sometimes\"\nto = \"desktop\"\n").unwrap();
    let mut command = Command::new(paned_e2e::binary());
    command.args(["config", "check"]).env("PANED_CONFIG", &config);
    command.env("PANED_STATE_DIR", folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(":3"), "{said}");
    assert!(said.contains("notify.me") && said.contains("sometimes"), "{said}");
}

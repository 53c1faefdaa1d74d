//! `paned wait`: output since the last input, several panes, ports and addresses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use paned_e2e::{Server, decode_output};
use serde_json::json;

use crate::{script, start, until_exit};

/// Waits for a pattern; answers the line that met it.
#[track_caller]
fn met(server: &Server, id: &str, pattern: &str) -> String {
    server.ok(&["wait", id, "--pattern", pattern]).trim_end().to_owned()
}

/// What a wait for a pattern that does not come says, and its exit code.
#[track_caller]
fn missed(server: &Server, id: &str, pattern: &str) -> (String, i32) {
    let wait = ["wait", id, "--pattern", pattern, "--timeout", "300ms"];
    let (_, err, code) = decode_output(&server.cli(&wait));
    (err, code)
}

fn start_shell(server: &Server, id: &str) {
    let env = json!({ "PS1": "$ ", "HISTFILE": "" });
    let argv = ["/bin/bash", "--norc", "-i"];
    server.act("pane:new", json!({ "id": id, "argv": argv, "env": env }));
    met(server, id, r"^\$ $");
}

#[test]
fn a_line_that_was_printed_before_the_wait_meets_it() {
    let server = Server::start();
    script(&server, "dev", "echo listening on 3000; exec cat");
    server.ok(&["wait", "dev", "--quiet", "100ms"]);
    assert_eq!(met(&server, "dev", "listening"), "listening on 3000");
    server.ok(&["send", "dev", "x"]);
    let (err, code) = missed(&server, "dev", "listening");
    assert!(code == 12 && err.contains("since the last input"), "{err}");
    assert!(err.contains("pass --since 0 to count line 0"), "{err}");
    let start = ["wait", "dev", "--pattern", "listening", "--since", "start"];
    assert_eq!(server.ok(&start), "listening on 3000\n");
}

#[test]
fn the_reaction_to_an_input_meets_a_wait_and_its_echo_does_not() {
    let server = Server::start();
    start_shell(&server, "sh");
    let long = format!("echo {} end", "x".repeat(200));
    for (typed, pattern, expect) in [
        ("echo hello", "hello", "hello"),
        ("echo hello again", "hello", "hello again"),
        (&long, "end", &long["echo ".len()..]),
        ("echo one\necho two", "two|one", "one"),
        ("printf 'no%s\\n' newline", "newline", "nonewline"),
    ] {
        server.ok(&["send", "sh", typed]);
        assert_eq!(met(&server, "sh", pattern), expect, "{typed}");
        met(&server, "sh", r"^\$ $");
    }
    server.ok(&["send", "sh", "sleep 0.3"]);
    server.ok(&["send", "sh", "echo typed ahead"]);
    assert_eq!(met(&server, "sh", "typed"), "typed ahead");
    server.ok(&["send", "sh", "true unseen"]);
    let (err, code) = missed(&server, "sh", "unseen");
    assert!(code == 12 && err.contains("is the echo of what was typed"), "{err}");
    start(&server, "cat", &["cat"]);
    server.ok(&["send", "cat", "hello"]);
    let both = server.answer(&["wait", "cat", "--pattern", "hello"]);
    assert_eq!(both["evidence"][0]["n"], 1, "{both}");
}

#[test]
fn where_the_last_input_was_is_known_after_a_kill_and_after_the_end() {
    let mut server = Server::start();
    script(&server, "a", "echo early; read x; echo early no more; read x; echo late; exit 3");
    assert_eq!(met(&server, "a", "early"), "early");
    server.ok(&["send", "a", "x"]);
    met(&server, "a", "no more");
    server.kill();
    server.start_again();
    assert!(missed(&server, "a", "^early$").0.contains("since the last input"));
    assert_eq!(met(&server, "a", "early"), "early no more");
    server.ok(&["send", "a", "late"]);
    until_exit(&server, "a");
    for _ in 0..2 {
        let (err, code) = missed(&server, "a", "early");
        assert!(code == 10 && err.contains("exited first"), "{err}");
        assert_eq!(server.answer(&["wait", "a", "--pattern", "late"])["evidence"][0]["n"], 4);
        server.kill();
        server.start_again();
    }
}

#[test]
fn several_panes_are_waited_for() {
    let server = Server::start();
    script(&server, "db", "echo db ready; exec cat");
    script(&server, "web", "read x; echo web ready; read x; exit 2");
    let any = ["wait", "db", "web", "--pattern", "ready", "--any"];
    assert_eq!(server.ok(&any), "db   db ready\n");
    server.ok(&["send", "web", "x"]);
    let all = ["wait", "db", "web", "--pattern", "ready"];
    assert_eq!(server.ok(&all), "db   db ready\nweb  web ready\n");
    let never = ["wait", "db", "web", "--pattern", "never", "--timeout", "50ms"];
    let (_, err, code) = decode_output(&server.cli(&never));
    assert!(code == 12 && err.contains("timed out after 50ms") && err.contains("web: "), "{err}");
    server.ok(&["send", "web", "x"]);
    let (_, err, code) = decode_output(&server.cli(&["wait", "db", "web", "--pattern", "never"]));
    assert!(code == 10 && err.contains("the program of web exited first"), "{err}");
    server.ok(&["kill", "db"]);
    assert_eq!(server.ok(&["wait", "db", "web"]).lines().count(), 2);
}

#[test]
fn a_port_is_waited_for_and_the_programs_end_is_reported() {
    let server = Server::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let open = server.ok(&["wait", "--port", &port]);
    assert_eq!(open, format!("port {port} accepts connections\n"));
    drop(listener);
    let closed = server.cli(&["wait", "--port", &port, "--timeout", "200ms"]);
    let (_, err, code) = decode_output(&closed);
    assert!(code == 12 && err.contains("accepts connections on port"), "{err}");
    script(&server, "a", "exit 1");
    let (_, err, code) = decode_output(&server.cli(&["wait", "a", "--port", &port]));
    assert!(code == 10 && err.contains("exited first"), "{err}");
    let serve = "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); print('port', s.server_port, flush=True); s.serve_forever()";
    start(&server, "web", &["python3", "-c", serve]);
    let port = met(&server, "web", r"^port \d+$").replace("port ", "");
    let url = format!("http://localhost:{port}/");
    assert_eq!(server.ok(&["wait", "web", "--http", &url]), format!("{url} answers\n"));
    let missing = format!("{url}missing");
    let wait = ["wait", "web", "--http", &missing, "--timeout", "200ms"];
    let (_, err, code) = decode_output(&server.cli(&wait));
    assert!(code == 12 && err.contains("it answered with status 404"), "{err}");
    let nothing = decode_output(&server.cli(&["wait"]));
    assert!(nothing.2 == 2 && nothing.1.contains("<PANE>"), "{}", nothing.1);
}

#[test]
fn a_port_that_another_program_had_before_does_not_count_for_a_pane() {
    let server = Server::start();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    script(&server, "web", "sleep 0.2; echo address in use; exit 98");
    let (_, err, code) = decode_output(&server.cli(&["wait", "web", "--port", &port]));
    assert!(code == 10 && err.contains("exited first (exited 98)"), "{err}");
    assert!(err.contains(&format!("port {port} is in use by ")), "{err}");
    script(&server, "idle", "exec cat");
    let url = format!("http://127.0.0.1:{port}/");
    let _answers = std::thread::spawn(move || {
        for stream in other.incoming() {
            let _ = stream.unwrap().write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        }
    });
    let wait = ["wait", "idle", "--http", &url, "--timeout", "500ms"];
    let (_, err, code) = decode_output(&server.cli(&wait));
    assert!(code == 12 && err.contains("which ran before the program"), "{err}");
    // Without a pane, any program counts.
    assert_eq!(server.ok(&["wait", "--http", &url]), format!("{url} answers\n"));
    // A child whose own parent has exited is the pane's still.
    let listen = "import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); \
                  print('port', s.getsockname()[1], flush=True); time.sleep(1000)";
    script(&server, "api", &format!("(python3 -c \"{listen}\" &); exec sleep 1000"));
    let port = met(&server, "api", r"^port \d+$").replace("port ", "");
    let (out, err, code) = decode_output(&server.cli(&["wait", "api", "--port", &port]));
    assert_eq!((out, code), (format!("port {port} accepts connections\n"), 0), "{err}");
    assert_eq!(err, "");
}

#[test]
fn a_port_that_another_program_opens_later_counts_only_if_the_pane_keeps_running() {
    let server = Server::start();
    // Another program that takes the port while the pane's own is still starting.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    drop(taken);
    script(&server, "web", "read go; echo address in use; exit 98");
    script(&server, "idle", "exec cat");
    let listen = format!(
        "import socket, time; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, \
         socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', {port})); s.listen(64); \
         print('open', flush=True); s.accept(); print('tried', flush=True); time.sleep(1000)"
    );
    start(&server, "other", &["python3", "-c", &listen]);
    met(&server, "other", "^open$");
    let mut wait = server.command(&["wait", "web", "--port", &port]);
    let wait = wait.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    met(&server, "other", "^tried$");
    server.ok(&["send", "web", "go"]);
    let (_, err, code) = decode_output(&wait.wait_with_output().unwrap());
    assert!(code == 10 && err.contains("exited first (exited 98)"), "{err}");
    assert!(!err.contains("no program accepts connections"), "{err}");
    // A container's proxy is such a program: it counts, with a note.
    let (out, err, code) = decode_output(&server.cli(&["wait", "idle", "--port", &port]));
    assert_eq!((out, code), (format!("port {port} accepts connections\n"), 0), "{err}");
    assert!(err.contains(&format!("port {port} was opened by python")), "{err}");
}

#[test]
fn a_wait_goes_on_when_the_server_is_killed_and_started_again() {
    let mut server = Server::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut wait = server.command(&["wait", "--http", &url]);
    let wait = wait.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The server waits for the answer to its GET.
    let _unanswered = listener.accept().unwrap();
    server.kill();
    server.start_again();
    let (mut get, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(&get).lines();
    assert!(lines.any(|line| line.unwrap().is_empty()), "the request ends with an empty line");
    get.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    let (out, err, code) = decode_output(&wait.wait_with_output().unwrap());
    assert_eq!((out, code), (format!("{url} answers\n"), 0), "{err}");
    assert!(err.contains("the server is away"), "{err}");
}

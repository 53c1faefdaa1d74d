//! `kill -9` of everything, in turn.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use paned_e2e::{
    KeeperClient, Request, Server, WAIT_TIMEOUT, gone, is_alive, kill9, script, signal, wait_for,
};
use paned_model::Code;
use paned_model::frame::{ClientRole, FrameMessage as _, Hello, ToKeeper, VERSION};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn fifty_panes_are_found_again_as_they_were() {
    let mut server = Server::start();
    let mut events = server.events("pane:title", None);
    for n in 0..50 {
        let text = format!("echo hello {n}; printf '\\033]0;title {n}\\007'; exec cat");
        let mut params = script(&format!("p{n}"), &text);
        params["meta"] = json!({ "n": n });
        params["tags"] = json!(["survivor"]);
        params["size"] = json!({ "cols": 100 + n, "rows": 30 });
        server.act("pane:new", params);
    }
    for _ in 0..50 {
        events.next();
    }
    server.act("pane:set-meta", json!({ "paneId": "p7", "key": "later", "value": true }));
    server.act("pane:resize", json!({ "paneId": "p7", "size": { "cols": 61, "rows": 17 } }));
    let before = server.act("pane:list", json!({}));
    server.kill();
    let start = Instant::now();
    server.start_again();
    let took = start.elapsed();
    assert_eq!(server.act("pane:list", json!({})), before);
    // No bar for speed, which belongs to the bench: only that nothing waits for a time-out.
    assert!(took < Duration::from_secs(5), "{took:?}");
    server.act("pane:write", json!({ "paneId": "p7", "text": "after\n\u{4}" }));
    server.events("pane:exited", Some(0)).until_exit("p7");
    assert!(server.text("p7").ends_with("after\r\nafter\r\n"));
    for n in 0..50 {
        let printed = server.text(&format!("p{n}"));
        assert!(printed.contains(&format!("hello {n}\r\n")), "{printed}");
    }
}

#[test]
fn an_end_while_no_server_runs_is_known_when_it_comes_back() {
    let mut server = Server::start();
    let mut events = server.events("pane:title", None);
    let wait = |code: u8| {
        format!(
            "printf '\\033]0;ready\\007'; read go; seq 3000; printf '\\033]0;over\\007'; exit {code}"
        )
    };
    for (id, code) in [("a", 0), ("b", 42)] {
        server.act("pane:new", script(id, &wait(code)));
        events.until(|told| told.data["paneId"] == id);
    }
    server.act("pane:new", script("c", "kill -STOP $$; exit 1"));
    let keepers = server.keepers();
    // The keepers have the bytes before the server is gone; the programs end after.
    for id in ["a", "b"] {
        server.act("pane:write", json!({ "paneId": id, "text": "go\n" }));
    }
    server.kill();
    let stopped = server.tape("c").pid().unwrap();
    for keeper in keepers.iter().filter(|keeper| **keeper != server.tape("c").keeper()) {
        assert!(gone(*keeper, WAIT_TIMEOUT), "a keeper whose pane is over ends by itself");
    }
    kill9(stopped);
    assert!(gone(server.tape("c").keeper(), WAIT_TIMEOUT));
    server.start_again();
    for (id, code, signal) in [
        ("a", json!(0), json!(null)),
        ("b", json!(42), json!(null)),
        ("c", json!(null), json!("SIGKILL")),
    ] {
        let pane = server.pane(id);
        assert_eq!(
            (&pane["status"], &pane["exitCode"], &pane["exitSignal"]),
            (&json!("exited"), &code, &signal)
        );
    }
    assert_eq!(server.pane("a")["lines"], 3001);
    let exits: Vec<_> =
        server.history().into_iter().filter(|told| told.name == "pane:exited").collect();
    assert_eq!(exits.len(), 3);
}

#[test]
fn a_question_is_answered_once_also_by_a_server_that_comes_after() {
    let mut server = Server::start();
    let ask = "stty raw -echo; printf '\\033[6n'; head -c 7 | od -An -c | tr -d ' \\n'; \
               printf '\\033]0;ready\\007'; head -c 1 | od -An -c | tr -d ' \\n'";
    server.act("pane:new", script("a", ask));
    let tape = server.tape("a");
    wait_for("told that the question was taken", || (4 <= tape.taken()).then_some(()));
    server.kill();
    server.start_again();
    let mut events = server.events("pane:title,pane:exited", Some(0));
    server.act("pane:write", json!({ "paneId": "a", "text": "y" }));
    // Whoever tells of this has looked at all that was printed before, and answered it.
    events.until(|told| told.data["title"] == "ready");
    server.act("pane:write", json!({ "paneId": "a", "text": "z" }));
    events.until_exit("a");
    let text = server.text("a");
    assert!(text.contains("033[1;1Ry") && text.ends_with('z'), "{text:?}");
}

#[test]
fn a_mode_is_switched_once_also_by_a_server_that_comes_after() {
    let server = Server::start();
    // What is remembered has it already, so that whoever comes after must not look at it again.
    for (id, bytes) in [("a", "\\033[>1u"), ("b", "\\0337\\033(0")] {
        server.act("pane:new", script(id, &format!("printf '{bytes}'; exec cat")));
        let tape = server.tape(id);
        wait_for("told that the mode was taken", || (5 <= tape.taken()).then_some(()));
    }
}

#[test]
fn a_bell_is_told_once_also_by_a_server_that_comes_after() {
    let mut server = Server::start();
    let mut events = server.events("pane:bell", None);
    server.act("pane:new", script("a", "printf '\\007'; exec cat"));
    events.next();
    let tape = server.tape("a");
    wait_for("told that the bell was taken", || (1 <= tape.taken()).then_some(()));
    server.kill();
    server.start_again();
    server.act("pane:write", json!({ "paneId": "a", "text": "\u{4}" }));
    server.events("pane:exited", Some(0)).until_exit("a");
    let bells = server.history().into_iter().filter(|told| told.name == "pane:bell").count();
    assert_eq!(bells, 1);
}

#[test]
fn a_killed_keeper_costs_its_own_pane_and_no_false_code() {
    let mut server = Server::start();
    let mut events = server.events("pane:*", None);
    for id in ["a", "b"] {
        server.act("pane:new", script(id, "echo before; printf '\\033]0;ready\\007'; exec cat"));
        events.until(|told| told.data["paneId"] == id && told.name == "pane:title");
    }
    kill9(server.tape("a").keeper());
    let told = events.until(|told| told.data["paneId"] == "a");
    assert_eq!(told.name, "pane:lost");
    let check = |server: &Server| {
        let lost = server.pane("a");
        assert_eq!(lost["status"], "lost");
        assert_eq!((lost.get("exitCode"), lost.get("exitSignal")), (None, None));
        assert!(server.printed("a").starts_with(b"before\r\n"));
        assert_eq!(server.pane("b")["status"], "running");
    };
    check(&server);
    server.kill();
    server.start_again();
    check(&server);
    let lost = server.history().into_iter().filter(|told| told.name == "pane:lost").count();
    assert_eq!(lost, 1);
    server.act("pane:remove", json!({ "paneId": "a" }));
}

/// Waits until a pane can be typed into.
fn until_heard(server: &Server, id: &str) {
    let write = || server.try_act("pane:write", json!({ "paneId": id, "text": "x" }));
    wait_for("its keeper answers", || write().ok());
}

#[test]
fn a_keeper_that_is_stopped_keeps_its_pane() {
    let mut server = Server::start();
    let mut events = server.events("pane:title", None);
    let ready = "echo before; printf '\\033]0;ready\\007'; exec cat";
    let pane = server.act("pane:new", script("a", ready));
    let program = u32::try_from(pane["pid"].as_u64().unwrap()).unwrap();
    events.next();
    let keeper = server.tape("a").keeper();
    signal(keeper, Signal::STOP);
    server.kill();
    server.start_again();
    let found = server.pane("a");
    assert_eq!((&found["status"], &found["pid"]), (&json!("running"), &pane["pid"]));
    assert!(server.printed("a").starts_with(b"before\r\n"));
    for name in ["pane:close", "pane:kill"] {
        let refused = server.try_act(name, json!({ "paneId": "a" })).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable, "{name}: {}", refused.sentence);
        assert!(refused.sentence.contains(&keeper.to_string()), "{}", refused.sentence);
    }
    assert!(is_alive(program) && server.state().join("panes/a/tape").exists());
    signal(keeper, Signal::CONT);
    until_heard(&server, "a");
    assert!(!server.history().iter().any(|told| told.name == "pane:lost"));
    server.act("pane:close", json!({ "paneId": "a" }));
    assert!(gone(program, WAIT_TIMEOUT) && gone(keeper, WAIT_TIMEOUT));
}

#[test]
fn a_server_finds_a_pane_that_many_look_at() {
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    server.kill();
    let socket = server.state().join("panes/a/keeper.sock");
    let viewers: Vec<_> = (0..64).map(|_| KeeperClient::connect(&server, "a")).collect();
    let strangers: Vec<_> = (0..64).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    server.start_again();
    assert_eq!(server.pane("a")["status"], "running");
    until_heard(&server, "a");
    drop((viewers, strangers));
}

#[test]
fn somebody_who_calls_themselves_the_server_costs_no_pane() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let mut thief = UnixStream::connect(server.state().join("panes/a/keeper.sock")).unwrap();
    thief.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let mut hello = Vec::new();
    ToKeeper::Hello(Hello { version: VERSION, role: ClientRole::Server }).encode(&mut hello);
    thief.write_all(&hello).unwrap();
    // The keeper has one server at a time: the thief is let go when ours is back.
    thief.read_to_end(&mut Vec::new()).unwrap();
    until_heard(&server, "a");
    assert!(!server.history().iter().any(|told| told.name == "pane:lost"));
    assert_eq!(server.pane("a")["status"], "running");
}

#[test]
fn a_killed_nursery_is_replaced_and_its_panes_live() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let nurseries = paned_e2e::children_of(server.pid());
    assert_eq!(nurseries.len(), 1, "the server has one child");
    kill9(nurseries[0]);
    server.act("pane:new", json!({ "id": "b", "argv": ["cat"] }));
    assert_eq!(
        (&server.pane("a")["status"], &server.pane("b")["status"]),
        (&json!("running"), &json!("running"))
    );
}

#[test]
fn the_nursery_ends_with_its_server_and_the_panes_do_not() {
    let mut server = Server::start();
    let pane = server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let nurseries = paned_e2e::children_of(server.pid());
    server.kill();
    assert!(gone(nurseries[0], WAIT_TIMEOUT));
    assert!(is_alive(u32::try_from(pane["pid"].as_u64().unwrap()).unwrap()));
}

#[test]
fn a_second_server_on_the_same_folder_says_so_and_stops() {
    let server = Server::start();
    let second = server.cli(&["serve", "--port", "0"]);
    assert_eq!(second.status.code(), Some(8));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains(&server.pid().to_string()), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(server.act("pane:list", json!({})), json!([]));
}

#[test]
fn an_upgrade_keeps_panes_connections_and_the_process() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"], "meta": { "k": 1 } }));
    let before = server.act("server:status", json!({}));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // New connections are made all through it, and none is refused.
        let asking = scope.spawn(|| {
            let mut asked = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let health = Request::new("GET", "/health").header("host", "paned");
                if let Err(error) = health.over_unix(&server.socket()) {
                    assert_ne!(error.kind(), ErrorKind::ConnectionRefused, "after {asked}");
                    assert_ne!(error.kind(), ErrorKind::NotFound, "after {asked}");
                }
                let tcp = std::net::TcpStream::connect(server.authority());
                assert!(tcp.is_ok(), "refused after {asked}: {tcp:?}");
                asked += 1;
            }
            asked
        });
        let upgraded = server.cli(&["server", "upgrade"]);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(upgraded.status.success(), "{}", String::from_utf8_lossy(&upgraded.stderr));
        assert!(0 < asking.join().unwrap());
    });
    let after = server.act("server:status", json!({}));
    assert_eq!((&before["pid"], &before["url"]), (&after["pid"], &after["url"]));
    assert_ne!(before["startedAt"], after["startedAt"]);
    assert_eq!(server.pane("a")["meta"], json!({ "k": 1 }));
    server.act("pane:write", json!({ "paneId": "a", "text": "hi\n\u{4}" }));
    server.events("pane:exited", Some(0)).until_exit("a");
    assert_eq!(server.printed("a"), b"hi\r\nhi\r\n");
}

#[test]
fn a_server_that_is_stopped_says_goodbye_and_leaves_the_panes() {
    let mut server = Server::start();
    let pane = server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let stopped = server.cli(&["server", "stop"]);
    assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert!(server.child().wait().unwrap().success());
    assert!(!server.socket().exists() && !server.state().join("server.json").exists());
    assert!(is_alive(u32::try_from(pane["pid"].as_u64().unwrap()).unwrap()));
    server.start_again();
    let names: Vec<_> = server.history().into_iter().map(|told| told.name).collect();
    assert!(names.contains(&"server:shutdown".to_owned()));
    assert_eq!(server.pane("a")["status"], "running");
}

#[test]
fn what_others_left_in_the_folder_of_panes_does_no_harm() {
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let panes = server.state().join("panes");
    server.kill();
    std::fs::create_dir(panes.join("half-made")).unwrap();
    std::fs::create_dir(panes.join("no tape")).unwrap();
    std::fs::write(panes.join("file"), "x").unwrap();
    std::fs::create_dir(panes.join("broken")).unwrap();
    std::fs::write(panes.join("broken/pane.json"), "{").unwrap();
    std::fs::write(panes.join("broken/tape"), "no tape").unwrap();
    server.start_again();
    let panes = server.act("pane:list", json!({}));
    assert_eq!(panes.as_array().unwrap().len(), 1);
    assert_eq!(panes[0]["id"], "a");
}

#[test]
fn the_modes_of_a_terminal_are_known_though_what_set_them_is_gone() {
    let mut server = Server::start();
    let text = "printf '\\033[?2004h\\033[?1h'; seq -f 'line %.0f of many' 0 1199999; exec cat";
    server.act("pane:new", script("a", text));
    let wait = json!({ "paneId": "a", "pattern": "^line 1199999 ", "since": 0 });
    assert_eq!(server.act("pane:wait", wait)["met"], "pattern");
    assert!(0 < server.pane("a")["dropped"].as_u64().unwrap());
    for _ in 0..2 {
        let modes = server.act("pane:screen", json!({ "paneId": "a" }))["modes"].clone();
        assert_eq!(
            (&modes["bracketedPaste"], &modes["applicationCursor"]),
            (&json!(true), &json!(true))
        );
        server.kill();
        server.start_again();
    }
}

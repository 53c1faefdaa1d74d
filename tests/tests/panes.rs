//! Real programs in real panes.
#![forbid(unsafe_code)]

use paned_e2e::{Server, script};
use paned_model::Code;
use serde_json::json;

#[test]
fn exit_codes_and_signals_are_the_real_ones() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    for code in [0, 1, 7, 127, 255] {
        let id = format!("code-{code}");
        server.act("pane:new", script(&id, &format!("exit {code}")));
        let told = events.until_exit(&id);
        assert_eq!(told.data["exitCode"], code);
        assert_eq!(server.pane(&id)["exitCode"], code);
    }
    for (signal, name) in [(9, "SIGKILL"), (15, "SIGTERM"), (11, "SIGSEGV"), (10, "SIGUSR1")] {
        let id = format!("signal-{signal}");
        server.act("pane:new", script(&id, &format!("ulimit -c 0; kill -{signal} $$")));
        let told = events.until_exit(&id);
        assert_eq!(
            (&told.data["exitCode"], &told.data["exitSignal"]),
            (&json!(null), &json!(name))
        );
        let pane = server.pane(&id);
        assert_eq!((&pane["status"], &pane["exitSignal"]), (&json!("exited"), &json!(name)));
    }
}

#[test]
fn a_pane_is_a_terminal_of_its_size_with_its_environment() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    server.act("pane:new", json!({
        "id": "a", "cwd": "/usr", "size": { "cols": 123, "rows": 45 }, "env": { "MINE": "yes" },
        "argv": ["/bin/sh", "-c", "stty size; pwd; tty; echo $MINE $TERM $COLORTERM $PANED_PANE $POLY_PANE; ps -o pid=,sid=,tpgid= -p $$"],
    }));
    events.until_exit("a");
    let printed = server.text("a");
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[..2], ["45 123", "/usr"]);
    assert!(lines[2].starts_with("/dev/pts/"), "{printed}");
    assert_eq!(lines[3], "yes xterm-256color truecolor a a");
    let numbers: Vec<_> = lines[4].split_whitespace().collect();
    assert_eq!(
        (numbers[0], numbers[0]),
        (numbers[1], numbers[2]),
        "leads its session and terminal"
    );
}

#[test]
fn programs_start_with_fresh_signals_and_no_stray_descriptors() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    let argv = json!(["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]);
    server.act("pane:new", json!({ "id": "a", "argv": argv }));
    events.until_exit("a");
    for line in server.text("a").lines() {
        let mask = u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap();
        // 32 and 33 belong to the C library, which lets nobody change them.
        assert_eq!(mask & !(0b11 << 31), 0, "{line}");
    }
    server.act("pane:new", json!({ "id": "b", "argv": ["ls", "-l", "/proc/self/fd"] }));
    events.until_exit("b");
    let descriptors: Vec<String> = server.text("b").lines().skip(1).map(str::to_owned).collect();
    // Three for the terminal, one for the folder that `ls` itself has open.
    assert_eq!(descriptors.len(), 4, "{descriptors:?}");
}

#[test]
fn what_is_typed_arrives_byte_for_byte() {
    let server = Server::start();
    let mut events = server.events("pane:*", None);
    let wait = "stty raw -echo; printf '\\033]0;ready\\007'; head -c 256 | od -An -v -tu1 -w256 | tr -s ' '";
    server.act("pane:new", script("a", wait));
    events.until(|told| told.data["title"] == "ready");
    let all: Vec<u8> = (0..=255).collect();
    use_base64(&server, "a", &all);
    events.until_exit("a");
    let printed = server.text("a");
    let expect: Vec<String> = all.iter().map(u8::to_string).collect();
    assert!(printed.contains(&expect.join(" ")), "{printed}");
}

#[track_caller]
fn use_base64(server: &Server, pane: &str, bytes: &[u8]) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |piece: &[u8]| {
        let number = piece.iter().fold(0_u32, |n, byte| n << 8 | u32::from(*byte))
            << (8 * (3 - piece.len()));
        (0..4)
            .map(|n| {
                if piece.len() < n {
                    '='
                } else {
                    char::from(LETTERS[(number >> (18 - 6 * n) & 63) as usize])
                }
            })
            .collect::<String>()
    };
    let text: String = bytes.chunks(3).map(group).collect();
    let answer = server.act("pane:write", json!({ "paneId": pane, "base64": text }));
    assert_eq!(answer["bytes"], bytes.len());
}

#[test]
fn writers_at_the_same_time_never_mix() {
    let server = Server::start();
    let mut events = server.events("pane:*", None);
    let read = "stty -echo; printf '\\033]0;ready\\007\\n'; head -n 400";
    server.act("pane:new", script("a", read));
    events.until(|told| told.data["title"] == "ready");
    std::thread::scope(|scope| {
        for letter in ["a", "b", "c", "d"] {
            let server = &server;
            scope.spawn(move || {
                for _ in 0..100 {
                    let text = format!("{}\n", letter.repeat(200));
                    server.act("pane:write", json!({ "paneId": "a", "text": text }));
                }
            });
        }
    });
    events.until_exit("a");
    let printed = server.text("a");
    let lines: Vec<_> = printed.lines().filter(|line| line.len() == 200).collect();
    assert_eq!(lines.len(), 400);
    assert!(lines.iter().all(|line| line.chars().all(|c| line.starts_with(c))));
}

#[test]
fn a_program_that_does_not_read_fills_its_queue_and_nobody_elses() {
    let server = Server::start();
    server.act("pane:new", script("deaf", "stty raw -echo; sleep 1000"));
    server.act("pane:new", json!({ "id": "cat", "argv": ["cat"] }));
    let much = "x".repeat(600_000);
    let write = || server.try_act("pane:write", json!({ "paneId": "deaf", "text": much }));
    write().unwrap();
    let refused = write().unwrap_err();
    assert_eq!(refused.code, Code::Limit, "{refused}");
    server.act("pane:write", json!({ "paneId": "cat", "text": "still here\n\u{4}" }));
    server.events("pane:exited", Some(0)).until_exit("cat");
    assert!(server.text("cat").contains("still here"));
}

#[test]
fn a_resize_reaches_the_program() {
    let server = Server::start();
    let mut events = server.events("pane:*", None);
    let wait =
        "trap 'stty size; exit 0' WINCH; printf '\\033]0;ready\\007'; while :; do sleep 0.05; done";
    server.act("pane:new", script("a", wait));
    events.until(|told| told.data["title"] == "ready");
    server.act("pane:resize", json!({ "paneId": "a", "size": { "cols": 99, "rows": 11 } }));
    events.until_exit("a");
    assert!(server.text("a").contains("11 99"));
}

#[test]
fn refusals_leave_nothing_behind() {
    let server = Server::start();
    let not_a_program = server.state().join("text");
    std::fs::write(&not_a_program, "hello").unwrap();
    std::fs::set_permissions(&not_a_program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    for (params, code) in [
        (json!({ "id": "a", "argv": ["no-such-program"] }), Code::Invalid),
        (json!({ "id": "a", "argv": ["/etc"] }), Code::Invalid),
        (json!({ "id": "a", "argv": [not_a_program] }), Code::Invalid),
        (json!({ "id": "a", "argv": ["sh"], "cwd": "/no/such" }), Code::Invalid),
        (json!({ "id": "../a", "argv": ["sh"] }), Code::Invalid),
        (json!({ "id": "a", "argv": ["sh", "x".repeat(200_000)] }), Code::Invalid),
    ] {
        let refusal = server.try_act("pane:new", params).unwrap_err();
        assert_eq!(refusal.code, code, "{refusal}");
    }
    assert_eq!(server.act("pane:list", json!({})), json!([]));
    assert_eq!(std::fs::read_dir(server.state().join("panes")).unwrap().count(), 0);
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let taken = server.try_act("pane:new", json!({ "id": "a", "argv": ["cat"] })).unwrap_err();
    assert_eq!(taken.code, Code::Conflict);
}

#[test]
fn the_last_word_of_a_program_that_ends_at_once_is_never_lost() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    for round in 0..20 {
        server.act("pane:new", script(&format!("p{round}"), "seq 20000"));
    }
    let mut left = 20;
    while 0 < left {
        assert_eq!(events.next().data["exitCode"], 0);
        left -= 1;
    }
    let expect: String = (1..=20_000).map(|n| format!("{n}\r\n")).collect();
    for round in 0..20 {
        let printed = server.printed(&format!("p{round}"));
        assert_eq!(printed.len(), expect.len(), "round {round}");
        assert!(printed == expect.as_bytes(), "round {round}");
        assert_eq!(server.pane(&format!("p{round}"))["lines"], 20_000);
    }
}

#[test]
fn old_output_is_dropped_and_counted_and_the_rest_is_true() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    server.act("pane:new", script("a", "seq 4000000"));
    events.until_exit("a");
    let pane = server.pane("a");
    let (bytes, dropped) = (pane["bytes"].as_u64().unwrap(), pane["dropped"].as_u64().unwrap());
    let all: String = (1..=4_000_000).map(|n| format!("{n}\r\n")).collect();
    assert_eq!((bytes, &pane["lines"]), (all.len() as u64, &json!(4_000_000)));
    assert!((16 << 20) <= bytes - dropped && bytes - dropped < (17 << 20), "{pane}");
    assert!(server.printed("a") == all.as_bytes()[usize::try_from(dropped).unwrap()..]);
}

#[test]
fn closing_forgets_everything_and_the_name_is_free() {
    let server = Server::start();
    for _ in 0..3 {
        server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
        assert_eq!(server.act("pane:close", json!({ "paneId": "a" })), json!({}));
        assert_eq!(std::fs::read_dir(server.state().join("panes")).unwrap().count(), 0);
    }
    assert!(server.keepers().is_empty());
}

#[test]
fn a_program_that_closes_its_terminal_lives_on_and_costs_nothing() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    server.act("pane:new", script("a", "echo first; exec 3</dev/tty; exec 0<&- 1>&- 2>&- 3<&-; sleep 1.5; echo last >/dev/tty; exit 5"));
    let told = events.until_exit("a");
    assert_eq!(told.data["exitCode"], 5);
    assert_eq!(server.printed("a"), b"first\r\nlast\r\n");
}

#[test]
fn shell_run_runs_in_the_background() {
    let server = Server::start();
    let file = server.state().join("ran");
    let command = format!("pwd > {0}.new && mv {0}.new {0} && paned() {{ :; }}", file.display());
    assert_eq!(server.act("shell:run", json!({ "command": command, "cwd": "/usr" })), json!({}));
    let mut events = server.events("pane:exited", None);
    let wait = format!("until [ -e {} ]; do sleep 0.02; done; cat {0}", file.display());
    server.act("pane:new", script("w", &wait));
    events.until_exit("w");
    assert_eq!(server.printed("w"), b"/usr\r\n");
    assert_eq!(
        server.try_act("shell:run", json!({ "command": " " })).unwrap_err().code,
        Code::Invalid
    );
}

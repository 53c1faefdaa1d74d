//! The ledger: twenty panes at full speed, the server killed ten times, every byte accounted for.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};

use paned_e2e::{ReceivedEvent, SeededRng, Server, WAIT_TIMEOUT, gone};
use serde_json::json;

const PANES: usize = 20;
const KILLS: u32 = 10;
const RECORDS: u64 = 60_000;

/// Prints numbered records, each with its own checksum; exits with the number of its pane.
const WRITER: &str = r#"
import os, sys, zlib
pane, records = int(sys.argv[1]), int(sys.argv[2])
out, block = sys.stdout.buffer, []
for n in range(records):
    text = b"%d %d %s" % (pane, n, b"x" * (n * 7 % 180))
    block.append(b"%s %08x\n" % (text, zlib.crc32(text)))
    if len(block) == 200 or n == records - 1:
        out.write(b"".join(block)); out.flush(); block = []
os._exit(pane)
"#;

#[test]
fn ledger_every_byte_exit_and_event_is_accounted_for() {
    let mut dice = SeededRng::new();
    let mut server = Server::start();
    for pane in 0..PANES {
        let argv = json!(["python3", "-c", WRITER, pane.to_string(), RECORDS.to_string()]);
        server.act("pane:new", json!({ "id": format!("p{pane}"), "argv": argv }));
    }
    let keepers: BTreeSet<u32> = server.keepers().into_iter().collect();
    for _ in 0..KILLS {
        wait_for_progress(&server, &mut dice);
        server.kill();
        server.start_again();
    }
    let mut events = server.events("pane:exited", Some(0));
    let mut exits = BTreeMap::new();
    while exits.len() < PANES {
        let told = events.next();
        exits.insert(
            told.data["paneId"].as_str().unwrap().to_owned(),
            told.data["exitCode"].clone(),
        );
    }
    for pane in 0..PANES {
        check_pane(&server, pane);
        assert_eq!(exits[&format!("p{pane}")], pane);
    }
    check_events(&server.history());
    for keeper in keepers {
        assert!(gone(keeper, WAIT_TIMEOUT), "the keeper {keeper} is left behind");
    }
    check_folder(&server);
}

/// A random moment: until some pane has printed a random amount more, or has ended.
fn wait_for_progress(server: &Server, dice: &mut SeededRng) {
    let pane = format!("p{}", dice.below(PANES as u64));
    let tape = server.tape(&pane);
    let goal = tape.end() + dice.below(400_000);
    while tape.end() < goal && tape.ending().is_none() {
        std::thread::yield_now();
    }
}

/// What is kept must be the end of what was printed, record by record.
fn check_pane(server: &Server, pane: usize) {
    let id = format!("p{pane}");
    let tape = server.tape(&id);
    let printed = server.text(&id);
    assert_eq!(tape.lines(), RECORDS, "{id}");
    let mut whole = printed.as_str();
    if 0 < tape.first() {
        // The oldest record that is kept may be cut; that is what `dropped` says.
        whole = &whole[whole.find('\n').unwrap() + 1..];
        assert_eq!(server.pane(&id)["dropped"], tape.first());
    }
    let records: Vec<&str> = whole.lines().collect();
    let first = RECORDS - records.len() as u64;
    assert!(first == 0 || 0 < tape.first(), "{id} lost {first} records without saying so");
    for (n, record) in (first..).zip(&records) {
        let (text, sum) = record.rsplit_once(' ').unwrap();
        assert!(text.starts_with(&format!("{pane} {n} ")), "{id}: {record} is not record {n}");
        assert_eq!(format!("{:08x}", crc32(text.as_bytes())), *sum, "{id}: record {n}");
    }
}

fn check_events(history: &[ReceivedEvent]) {
    let ids: Vec<u64> = history.iter().filter_map(|told| told.id).collect();
    let expect: Vec<u64> = (1..=ids.len() as u64).collect();
    assert!(ids == expect, "event ids are not dense");
    for pane in 0..PANES {
        let about = |told: &&ReceivedEvent| told.data["paneId"] == format!("p{pane}");
        let names: Vec<_> = history.iter().filter(about).map(|told| told.name.as_str()).collect();
        assert_eq!(names, ["pane:created", "pane:exited"], "p{pane}");
    }
    let started = history.iter().filter(|told| told.name == "server:started").count();
    assert_eq!(started, 1 + KILLS as usize);
}

/// No socket, no half-made folder.
fn check_folder(server: &Server) {
    for pane in std::fs::read_dir(server.state().join("panes")).unwrap() {
        let files = std::fs::read_dir(pane.unwrap().path()).unwrap();
        let names: BTreeSet<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, ["launch.json".into(), "pane.json".into(), "tape".into()].into());
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}

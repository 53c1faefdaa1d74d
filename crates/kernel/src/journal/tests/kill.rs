//! A real process that is killed: what it had printed is in the journal afterwards.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;

const FOLDER: &str = "PANED_TEST_JOURNAL";

/// The victim, which the test below starts as a process of its own: records without end and prints
/// what a live reader gets.
#[test]
fn victim() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let path = Path::new(&folder).join("journal.db");
    let (journal, _) = Journal::open(&path, options(JournalRetention::ALL)).unwrap();
    block_on(async {
        let mut reader = journal.read(None, EventFilter::all());
        for n in 0_u64.. {
            journal.record(numbered(n * 10, 10), vec![put("n", &n.to_string())]);
            if let JournalRead::Entries(entries) = next(&mut reader, 10).await {
                let last = entries.last().unwrap();
                println!("seen {} {}", last.id, last.payload);
            }
        }
    });
}

fn start_victim(place: &TestJournal) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "journal::tests::kill::victim", "--nocapture"]);
    command.env(FOLDER, place.folder.path()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Waits for this many batches, kills it, and returns the last event it had printed: id and
/// payload.
fn kill_after(place: &TestJournal, batches: usize) -> (u64, String) {
    let mut victim = start_victim(place);
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut seen = lines.filter(|line| line.starts_with("seen "));
    let shown = seen.by_ref().nth(batches).expect("the victim shows what it saw");
    victim.kill().unwrap();
    victim.wait().unwrap();
    // What was still in the pipe had been printed as well.
    let last = seen.filter(|line| line.split(' ').count() == 3).last().unwrap_or(shown);
    let mut words = last.split(' ').skip(1);
    (words.next().unwrap().parse().unwrap(), words.next().unwrap().to_owned())
}

#[tokio::test]
async fn what_was_seen_before_a_kill_is_there_after_it() {
    let place = TestJournal::new();
    for batches in [1, 50, 700] {
        let (id, payload) = kill_after(&place, batches);
        let (journal, opened) = place.open();
        assert_eq!(opened.recovery, None);
        assert!(opened.last.0 >= id);
        let mut reader = journal.read(Some(EventId(id - 1)), EventFilter::all());
        let JournalRead::Entries(entries) = next(&mut reader, 1).await else {
            panic!("no entries")
        };
        // A line may have been cut by the kill, never changed.
        assert!(entries[0].payload.starts_with(&payload), "{payload} became {:?}", entries[0]);
        assert_eq!(write(&journal, numbered(0, 1), vec![]).await, opened.last.next());
    }
}

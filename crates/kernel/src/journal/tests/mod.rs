//! What the journal guarantees, through its public functions.

mod damage;
mod kill;
mod properties;

use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

const KEEP: u64 = 100_000;

/// A journal in a folder of its own.
struct TestJournal {
    folder: TempDir,
}

impl TestJournal {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    #[track_caller]
    fn open(&self) -> (Journal, OpenedJournal) {
        self.open_keeping(KEEP)
    }

    #[track_caller]
    fn open_keeping(&self, keep: u64) -> (Journal, OpenedJournal) {
        self.open_with(JournalRetention { events: keep, ..JournalRetention::ALL })
    }

    #[track_caller]
    fn open_with(&self, keep: JournalRetention) -> (Journal, OpenedJournal) {
        Journal::open(&self.path(), options(keep)).unwrap()
    }

    /// The files as a kill would leave them now.
    fn snapshot(&self) -> Self {
        let copy = Self::new();
        for file in fs::read_dir(&self.folder).unwrap().map(Result::unwrap) {
            // Shared memory does not outlive its processes.
            if !file.file_name().to_string_lossy().ends_with("-shm") {
                fs::copy(file.path(), copy.folder.path().join(file.file_name())).unwrap();
            }
        }
        copy
    }
}

fn options(keep: JournalRetention) -> JournalOptions {
    JournalOptions { retention: keep, must_exist: false, now: wall_clock }
}

fn draft(name: &str, payload: impl ToString) -> EventDraft {
    EventDraft { name: name.to_owned(), payload: payload.to_string() }
}

/// `count` events, each with its own number as payload.
fn numbered(from: u64, count: u64) -> Vec<EventDraft> {
    (from..from + count).map(|n| draft("n", n)).collect()
}

fn put(key: &str, value: &str) -> RecordChange {
    RecordChange::Put { kind: "pane", key: key.to_owned(), value: value.to_owned() }
}

fn delete(key: &str) -> RecordChange {
    RecordChange::Delete { kind: "pane", key: key.to_owned() }
}

/// Records and waits until it is committed.
async fn write(journal: &Journal, drafts: Vec<EventDraft>, changes: Vec<RecordChange>) -> EventId {
    let ticket = journal.record(drafts, changes);
    journal.committed(ticket).await.unwrap();
    ticket.last
}

async fn next(reader: &mut JournalReader, max: usize) -> JournalRead {
    let batch = timeout(Duration::from_secs(20), reader.next(max)).await;
    batch.unwrap_or_else(|_| panic!("no batch after {}", reader.seen()))
}

/// Everything up to the present end: ids as numbers, a gap as `first..last`.
async fn ids(journal: &Journal, after: u64) -> Vec<String> {
    let mut reader = journal.read(Some(EventId(after)), EventFilter::all());
    let mut seen = Vec::new();
    while seen.is_empty() || reader.seen() < journal.last() {
        match next(&mut reader, 64).await {
            JournalRead::Entries(entries) => {
                seen.extend(entries.iter().map(|entry| entry.id.to_string()))
            }
            JournalRead::Gap { first, last } => seen.push(format!("{first}..{last}")),
            JournalRead::Closed => break,
        }
    }
    seen
}

/// Writes ten events keeping four (so 6 or 7 is the first), then reads after an id.
#[track_caller]
fn check_resume(after: u64, expect: &[&str]) {
    block_on(async {
        let place = TestJournal::new();
        let (journal, _) = place.open_keeping(4);
        for n in 1..=10 {
            write(&journal, numbered(n, 1), vec![]).await;
        }
        // A restart empties the memory, so this is the store's answer.
        drop(journal);
        let (journal, _) = place.open_keeping(4);
        assert_eq!(ids(&journal, after).await, expect, "after {after}");
    });
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn resuming_is_exact_or_says_what_is_missing() {
    check_resume(9, &["10"]);
    check_resume(6, &["7", "8", "9", "10"]);
    check_resume(5, &["7..10", "7", "8", "9", "10"]);
    check_resume(0, &["7..10", "7", "8", "9", "10"]);
    check_resume(11, &["11..10"]);
    check_resume(u64::MAX, &["11..10"]);
}

#[tokio::test]
async fn ids_rise_by_one_across_restarts_even_when_nothing_is_kept() {
    let place = TestJournal::new();
    for expect in 1..=5 {
        let (journal, opened) = place.open_keeping(0);
        assert_eq!(opened.last, EventId(expect - 1));
        assert_eq!(opened.recovery, None);
        assert_eq!(write(&journal, numbered(0, 1), vec![]).await, EventId(expect));
        journal.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_call_without_events_answers_the_last_id_and_is_committed_too() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    write(&journal, numbered(0, 3), vec![]).await;
    assert_eq!(write(&journal, vec![], vec![put("a", "1")]).await, EventId(3));
    drop(journal);
    assert_eq!(place.open().1.records.len(), 1);
}

#[tokio::test]
async fn records_are_what_the_last_change_made_them() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    journal.record(vec![], vec![put("a", "1"), put("b", "1"), delete("a")]);
    journal.record(vec![], vec![put("b", "2"), delete("none"), put("c", "3")]);
    journal.close().await.unwrap();
    let found = place.open().1.records.into_iter();
    let found: Vec<_> =
        found.map(|record| record.kind + record.key.as_str() + &record.value).collect();
    assert_eq!(found, ["paneb2", "panec3"]);
}

#[tokio::test]
async fn what_a_live_reader_has_seen_is_in_the_file() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let mut reader = journal.read(None, EventFilter::all());
    for n in 0..20 {
        journal.record(numbered(n, 3), vec![]);
        let JournalRead::Entries(seen) = next(&mut reader, 2).await else { panic!("no entries") };
        let (_, found) = place.snapshot().open();
        assert!(found.last >= seen.last().unwrap().id, "{found:?}");
        assert_eq!(found.recovery, None);
    }
}

#[tokio::test]
async fn a_reader_is_given_only_what_it_asked_for_and_is_counted_while_it_lives() {
    for journal in [Journal::memory(), TestJournal::new().open().0] {
        let mut reader = journal.read(None, "pane:*".parse().unwrap());
        let other = journal.read(None, "pane:*".parse().unwrap());
        drop(other);
        assert!(journal.wants("pane:created") && !journal.wants("agent:state"));
        journal.record(vec![draft("agent:state", 1), draft("pane:created", 2)], vec![]);
        let JournalRead::Entries(seen) = next(&mut reader, 1).await else { panic!("no entries") };
        assert_eq!((seen[0].id, seen[0].payload.as_str()), (EventId(2), "2"));
        drop(reader);
        assert!(!journal.wants("pane:created"));
    }
}

#[tokio::test]
async fn a_reader_far_behind_the_memory_is_served_from_the_store() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let mut reader = journal.read(Some(EventId(0)), EventFilter::all());
    write(&journal, numbered(1, 20_000), vec![]).await;
    let mut expect = 1;
    while expect <= 20_000 {
        let JournalRead::Entries(entries) = next(&mut reader, 700).await else {
            panic!("at {expect}")
        };
        for entry in entries.iter() {
            assert_eq!((entry.id.0, entry.payload.clone()), (expect, expect.to_string()));
            expect += 1;
        }
    }
}

#[tokio::test]
async fn readers_who_stand_together_share_one_portion() {
    for journal in [Journal::memory(), TestJournal::new().open().0] {
        let portion = async |include: &str, max| {
            let mut reader = journal.read(Some(EventId(0)), include.parse().unwrap());
            let JournalRead::Entries(portion) = next(&mut reader, max).await else {
                panic!("no entries")
            };
            portion
        };
        write(&journal, numbered(1, 10), vec![]).await;
        let first = portion("*", 20).await;
        assert!(Arc::ptr_eq(&first, &portion("*", 20).await));
        assert_eq!((portion("*", 5).await.len(), portion("n", 20).await.len()), (5, 10));
        write(&journal, numbered(11, 2), vec![]).await;
        assert_eq!((first.len(), portion("*", 20).await.len()), (10, 12));
        // Beyond what is in memory: what was read from the store is shared, too.
        write(&journal, numbered(13, 20_000), vec![]).await;
        let old = portion("*", 30).await;
        assert!(Arc::ptr_eq(&old, &portion("*", 30).await));
        assert_eq!(old.len(), 30);
    }
}

#[tokio::test]
async fn long_events_are_given_a_few_at_once() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let long =
        |n: u64| EventDraft { name: "n".to_owned(), payload: "x".repeat(30_000 + n as usize) };
    write(&journal, (1..=300).map(long).collect(), vec![]).await;
    let mut reader = journal.read(Some(EventId(0)), EventFilter::all());
    let mut lengths = Vec::new();
    while lengths.len() < 300 {
        let JournalRead::Entries(entries) = next(&mut reader, 512).await else {
            panic!("no entries")
        };
        assert!(entries.len() <= 3, "{} at once", entries.len());
        lengths.extend(entries.iter().map(|entry| entry.payload.len()));
    }
    assert_eq!(lengths, (30_001..=30_300).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_id_that_is_assigned_but_not_committed_is_no_future() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let ticket = journal.record(numbered(1, 1), vec![]);
    let mut reader = journal.read(Some(ticket.last), EventFilter::all());
    journal.record(numbered(2, 1), vec![]);
    let JournalRead::Entries(seen) = next(&mut reader, 9).await else { panic!("no entries") };
    assert_eq!(seen[0].id, EventId(2));
}

#[tokio::test]
async fn the_newest_events_are_kept() {
    let place = TestJournal::new();
    let (journal, _) = place.open_keeping(500);
    for n in 0..50 {
        write(&journal, numbered(n * 100, 100), vec![]).await;
    }
    drop(journal);
    let first = place.open().1.first.unwrap();
    assert!((4438..=4501).contains(&first.0), "{first}");
}

#[tokio::test]
async fn closing_gives_readers_the_rest_and_then_the_end() {
    for journal in [Journal::memory(), TestJournal::new().open().0] {
        let mut reader = journal.read(None, EventFilter::all());
        journal.record(numbered(1, 3), vec![]);
        journal.close().await.unwrap();
        let JournalRead::Entries(rest) = next(&mut reader, 9).await else { panic!("no entries") };
        assert_eq!(rest.len(), 3);
        assert_eq!(next(&mut reader, 9).await, JournalRead::Closed);
        let late = journal.record(numbered(4, 1), vec![]);
        assert!(matches!(journal.committed(late).await, Err(Error::Closed)));
    }
}

#[tokio::test]
async fn closing_leaves_one_file_and_its_mark() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    journal.record(numbered(1, 3), vec![]);
    journal.close().await.unwrap();
    let files = fs::read_dir(&place.folder).unwrap().map(|file| file.unwrap().file_name());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert_eq!(files, ["journal.db", "journal.db.high"]);
}

#[tokio::test]
async fn a_power_cut_may_lose_events_but_gives_no_id_twice() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    write(&journal, numbered(1, 3), vec![]).await;
    let after = place.snapshot();
    let mark = after.path().with_extension("db.high");
    // The mark was on the disk when it was reserved; the log may not have been.
    fs::write(&mark, fs::read_to_string(&mark).unwrap().replace('-', "x")).unwrap();
    let (journal, opened) = after.open();
    assert_eq!(
        (opened.first, opened.last, opened.recovery),
        (Some(EventId(1)), EventId(4099), None)
    );
    assert_eq!(ids(&journal, 2).await, ["3", "4100..4099"]);
}

#[tokio::test]
async fn a_disk_that_refuses_is_told_and_tried_again() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let blocker = rusqlite::Connection::open(place.path()).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ticket = journal.record(numbered(1, 1), vec![]);
    assert!(matches!(journal.committed(ticket).await, Err(Error::Unwritten(_))));
    assert!(journal.write_error().unwrap().to_string().contains("locked"));
    blocker.execute_batch("ROLLBACK").unwrap();
    let mut reader = journal.read(Some(EventId(0)), EventFilter::all());
    assert!(matches!(next(&mut reader, 1).await, JournalRead::Entries(_)));
    journal.committed(ticket).await.unwrap();
    assert!(journal.write_error().is_none());
}

#[tokio::test]
async fn events_are_kept_by_bytes_as_well_as_by_count() {
    let place = TestJournal::new();
    let keep = JournalRetention { events: KEEP, bytes: 4 << 20 };
    let (journal, _) = place.open_with(keep);
    for _ in 0..40 {
        let long = (0..10).map(|_| draft("n", "x".repeat(100_000))).collect();
        write(&journal, long, vec![]).await;
    }
    journal.close().await.unwrap();
    let size = fs::metadata(place.path()).unwrap().len();
    assert!(size < 8 << 20, "40 MB of events take {size} bytes");
    let (_, opened) = place.open_with(keep);
    let kept = opened.last.0 - opened.first.unwrap().0 + 1;
    assert!((20..=42).contains(&kept), "{kept}");
}

#[tokio::test]
async fn one_event_larger_than_the_limit_is_kept_and_the_next_one_is_written() {
    let place = TestJournal::new();
    let keep = JournalRetention { events: KEEP, bytes: 64 << 10 };
    let (journal, _) = place.open_with(keep);
    write(&journal, vec![draft("n", "x".repeat(1 << 20))], vec![]).await;
    write(&journal, vec![draft("n", "{}")], vec![]).await;
    assert!(journal.write_error().is_none());
    assert_eq!(journal.last(), EventId(2));
}

/// Whether any file of the journal holds this text.
fn is_on_disk(place: &TestJournal, text: &str) -> bool {
    let mut files = fs::read_dir(&place.folder).unwrap().map(|file| file.unwrap().path());
    files.any(|file| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(text.len()).any(|found| found == text.as_bytes())
    })
}

#[tokio::test]
async fn what_a_forgotten_pane_printed_is_in_no_event_and_no_free_page() {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let notice = |pane: &str, text: &str| {
        draft("pane:notice", format!(r#"{{"paneId":"{pane}","text":"{text}"}}"#))
    };
    let events = vec![notice("a", "last-line-of-a"), notice("b", "last-line-of-b")];
    write(&journal, events, vec![put("a", "secret-record")]).await;
    assert!(is_on_disk(&place, "last-line-of-a") && is_on_disk(&place, "secret-record"));
    let redact = RecordChange::Redact { pane: "a".to_owned() };
    write(&journal, vec![], vec![delete("a"), redact]).await;
    journal.close().await.unwrap();
    assert!(!is_on_disk(&place, "last-line-of-a") && !is_on_disk(&place, "secret-record"));
    assert!(is_on_disk(&place, "last-line-of-b"));
    let (journal, opened) = place.open();
    assert_eq!(opened.recovery, None);
    let mut reader = journal.read(Some(EventId(0)), EventFilter::all());
    let JournalRead::Entries(seen) = next(&mut reader, 9).await else { panic!("no entries") };
    let texts: Vec<_> = seen.iter().map(|entry| entry.payload.as_str()).collect();
    assert_eq!(texts, [r#"{"paneId":"a"}"#, r#"{"paneId":"b","text":"last-line-of-b"}"#]);
}

/// A store with a bug.
struct PanickingStore;

impl store::Store for PanickingStore {
    fn is_instant(&self) -> bool {
        false
    }

    fn append(&self, _: &store::CommitGroup) -> Result<(), Error> {
        panic!("on purpose")
    }

    fn read(&self, _: store::EventRange) -> Result<Vec<Arc<JournalEntry>>, Error> {
        Ok(Vec::new())
    }

    fn trim(&self, _: JournalRetention) -> Result<(), Error> {
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[tokio::test]
async fn a_writer_that_panics_leaves_no_caller_waiting() {
    let setup = JournalSetup {
        store: Box::new(PanickingStore),
        last: EventId(0),
        retention: JournalRetention::ALL,
        now: wall_clock,
    };
    let shared = Arc::new(JournalShared::new(setup));
    let writer = writer::spawn(Arc::clone(&shared)).unwrap();
    let journal = Journal::with(shared, Some(writer));
    for _ in 0..2 {
        let draft = EventDraft { name: "test:n".into(), payload: "{}".into() };
        let ticket = journal.record(vec![draft], Vec::new());
        let committed = timeout(Duration::from_secs(5), journal.committed(ticket)).await;
        let sentence = committed.unwrap().unwrap_err().to_string();
        assert!(sentence.contains("restart the server"), "{sentence}");
    }
    assert!(journal.write_error().is_some());
    timeout(Duration::from_secs(5), journal.close()).await.unwrap().unwrap_err();
}

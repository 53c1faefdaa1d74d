//! However the files are damaged, the journal opens, reports it, and returns what can be read.

use super::*;
use crate::journal::high_water::HighWaterMark;

const EVENTS: u64 = 3000;
const RECORDS: u64 = 50;

fn payload(id: u64) -> String {
    format!("{{\"id\":{id},\"text\":\"{}\"}}", "abcdefgh".repeat(usize::try_from(id % 20).unwrap()))
}

/// The files of a journal that was closed, or killed with its last tenth still in the log.
fn filled(with_log: bool) -> TestJournal {
    block_on(async {
        let place = TestJournal::new();
        let (journal, _) = place.open();
        let records = (0..RECORDS).map(|n| put(&n.to_string(), &payload(n))).collect();
        write(&journal, vec![], records).await;
        fill(&journal, 1, EVENTS / 10 * 9).await;
        journal.close().await.unwrap();
        let (journal, _) = place.open();
        fill(&journal, EVENTS / 10 * 9 + 1, EVENTS).await;
        if !with_log {
            journal.close().await.unwrap();
        }
        place.snapshot()
    })
}

async fn fill(journal: &Journal, first: u64, last: u64) {
    for from in (first..=last).step_by(100) {
        let drafts = (from..from + 100).map(|id| draft("n", payload(id))).collect();
        write(journal, drafts, vec![]).await;
    }
}

/// Damages a copy, opens it, and checks what must always hold. Returns how many events are left.
#[track_caller]
fn check(place: &TestJournal, what: &str, spoil: impl FnOnce(&Path)) -> usize {
    let place = place.snapshot();
    spoil(&place.path());
    block_on(async {
        let (journal, opened) = place.open();
        assert!(opened.records.len() as u64 <= RECORDS, "{what}");
        for record in &opened.records {
            assert_eq!(record.value, payload(record.key.parse().unwrap()), "{what}");
        }
        let left = read_all(&journal, what).await;
        let lost = left < usize::try_from(EVENTS).unwrap();
        let fresh = write(&journal, numbered(0, 1), vec![]).await;
        assert!(fresh > EventId(EVENTS), "{what}: {fresh} was given before");
        journal.close().await.unwrap();
        let (_, again) = place.open();
        assert_eq!(again.last, fresh, "{what}");
        assert_eq!(again.recovery, None, "{what}");
        assert!(opened.recovery.is_none_or(|found| !lost || found.kept <= left as u64), "{what}");
        left
    })
}

/// Reads everything; checks content and order, and that every gap is reported. Returns the number
/// of events.
async fn read_all(journal: &Journal, what: &str) -> usize {
    let mut reader = journal.read(Some(EventId(0)), EventFilter::all());
    let (mut expect, mut count) = (1, 0);
    while expect <= journal.last().0 {
        match next(&mut reader, 100).await {
            JournalRead::Entries(entries) => {
                for entry in entries.iter() {
                    assert_eq!(entry.id.0, expect, "{what}");
                    assert_eq!(entry.payload, payload(expect), "{what}");
                    expect += 1;
                    count += 1;
                }
            }
            JournalRead::Gap { first, .. } => expect = first.0,
            JournalRead::Closed => panic!("{what}: closed"),
        }
    }
    count
}

fn cut(path: &Path, len: u64) {
    fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

fn flip(path: &Path, at: u64, len: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = usize::try_from(at).unwrap();
    let end = bytes.len().min(at + len);
    bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0xA5);
    fs::write(path, bytes).unwrap();
}

fn log_of(path: &Path) -> PathBuf {
    check::with_suffix(path, "-wal")
}

fn len(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[test]
fn a_cut_file_keeps_what_came_before_the_cut() {
    for with_log in [false, true] {
        let place = filled(with_log);
        let whole = len(&place.path());
        let places = (0..20).map(|part| whole * part / 20);
        for at in places.chain([1, 15, 16, 50, 99, 100, 101, 4095, 4096, 4097, whole - 1]) {
            check(&place, &format!("cut at {at} of {whole}, log {with_log}"), |path| cut(path, at));
        }
    }
}

#[test]
fn a_cut_loses_no_more_than_it_must() {
    let place = filled(false);
    let whole = len(&place.path());
    let left = check(&place, "cut at 3/4", |path| cut(path, whole * 3 / 4));
    assert!(left > 1000, "{left}");
}

#[test]
fn a_spoilt_log_is_noticed() {
    let place = filled(true);
    let whole = len(&log_of(&place.path()));
    assert!(whole > 0);
    for part in 0..20 {
        let at = whole * part / 20;
        check(&place, &format!("log cut at {at}"), |path| cut(&log_of(path), at));
        check(&place, &format!("log flipped at {at}"), |path| flip(&log_of(path), at, 8));
    }
    check(&place, "log removed", |path| fs::remove_file(log_of(path)).unwrap());
}

#[test]
fn a_changed_letter_costs_one_event() {
    let place = filled(false);
    let bytes = fs::read(place.path()).unwrap();
    let text = payload(1719);
    let at = bytes.windows(text.len()).position(|bytes| bytes == text.as_bytes()).unwrap();
    let left = check(&place, "one letter", |path| flip(path, at as u64 + 20, 1));
    assert_eq!(left as u64, EVENTS - 1);
}

#[test]
fn flipped_bytes_anywhere_are_survived() {
    for with_log in [false, true] {
        let place = filled(with_log);
        let whole = len(&place.path());
        // A prime stride, so that all parts of a page are met.
        let places = (0..whole).step_by(19_997).flat_map(|at| [(at, 1), (at, 5000)]);
        for (at, size) in places.chain((0..100).step_by(3).map(|at| (at, 1))) {
            let what = format!("{size} flipped at {at} of {whole}, log {with_log}");
            check(&place, &what, |path| flip(path, at, size));
        }
    }
}

#[test]
fn an_empty_missing_or_foreign_file_starts_anew_beyond_every_old_id() {
    let place = filled(false);
    let foreign = |path: &Path| fs::write(path, "no database\n".repeat(1000)).unwrap();
    assert_eq!(check(&place, "empty", |path| cut(path, 0)), 0);
    assert_eq!(check(&place, "missing", |path| fs::remove_file(path).unwrap()), 0);
    assert_eq!(check(&place, "foreign", foreign), 0);
}

/// A journal that was killed with everything still in its log, as after a short run of a server.
fn young() -> TestJournal {
    block_on(async {
        let place = TestJournal::new();
        let (journal, _) = place.open();
        let records = (0..RECORDS).map(|n| put(&n.to_string(), &payload(n))).collect();
        write(&journal, vec![], records).await;
        fill(&journal, 1, 300).await;
        // Longer than a page, so that it has overflow pages.
        write(&journal, vec![draft("n", "y".repeat(20_000))], vec![]).await;
        place.snapshot()
    })
}

/// Damages a copy of a young journal; returns how many of its 301 events and of its records are
/// left.
#[track_caller]
fn check_young(what: &str, spoil: impl FnOnce(&Path)) -> (usize, usize) {
    let place = young();
    spoil(&place.path());
    block_on(async {
        let (journal, opened) = place.open();
        let recovery = opened.recovery.unwrap_or_else(|| panic!("{what}: nothing is said"));
        let found = ids(&journal, 0).await.into_iter().filter(|id| !id.contains('.')).count();
        assert_eq!(recovery.kept, found as u64, "{what}");
        let fresh = write(&journal, numbered(0, 1), vec![]).await;
        assert!(fresh > EventId(301), "{what}: {fresh} was given before");
        (found, opened.records.len())
    })
}

#[test]
fn a_lost_file_costs_nothing_that_is_in_its_log() {
    let all = (301, usize::try_from(RECORDS).unwrap());
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    assert_eq!(check_young("file removed", remove), all);
    assert_eq!(check_young("file emptied", |path| cut(path, 0)), all);
    let remove_both = |path: &Path| {
        remove(path);
        remove(&check::with_suffix(path, ".high"));
    };
    assert_eq!(check_young("file and mark removed", remove_both), all);
}

#[test]
fn a_garbled_log_costs_what_is_garbled() {
    // The log's own header.
    let (events, records) = check_young("header garbled", |path| flip(&log_of(path), 0, 32));
    assert!(events > 295 && records as u64 == RECORDS, "{events} {records}");
    for part in 1..10 {
        let garble = |path: &Path| {
            let log = log_of(path);
            flip(&log, len(&log) * part / 10, 5000);
        };
        let (events, records) = check_young(&format!("garbled at {part}/10"), garble);
        assert!(events > 150, "{part}: {events} of 301");
        assert!(records as u64 <= RECORDS, "{part}: {records}");
    }
}

#[test]
fn a_revoked_grant_does_not_come_back_with_an_old_page() {
    block_on(async {
        let place = TestJournal::new();
        let grant = |key: &str| (GRANT, key.to_owned());
        let (journal, _) = place.open();
        for key in ["a", "b"] {
            let (kind, key) = grant(key);
            let put = RecordChange::Put { kind, key, value: "{}".to_owned() };
            write(&journal, vec![], vec![put]).await;
        }
        let (kind, key) = grant("a");
        let revoked = draft("grant:revoked", r#"{"id":"a"}"#);
        write(&journal, vec![revoked], vec![RecordChange::Delete { kind, key }]).await;
        for _ in 0..20 {
            write(&journal, numbered(0, 50), vec![]).await;
        }
        let place = place.snapshot();
        fs::remove_file(place.path()).unwrap();
        let (_, opened) = place.open();
        let keys: Vec<_> = opened.records.iter().map(|record| record.key.as_str()).collect();
        assert_eq!(keys, ["b"]);
    });
}

const GRANT: &str = "grant";

#[test]
fn a_folder_that_was_used_never_begins_at_one_again() {
    let place = TestJournal::new();
    let (_, opened) = place.open();
    assert_eq!((opened.last, opened.recovery), (EventId(0), None));
    let place = TestJournal::new();
    let used = JournalOptions { must_exist: true, ..options(JournalRetention::ALL) };
    let (journal, opened) = Journal::open(&place.path(), used).unwrap();
    assert!(opened.last > EventId(1 << 40), "{}", opened.last);
    assert!(opened.recovery.unwrap().cause.contains("missing"));
    let first = block_on(write(&journal, numbered(0, 1), vec![]));
    drop(journal);
    let (_, again) = Journal::open(&place.path(), used).unwrap();
    assert_eq!((again.last, again.recovery), (first, None));
}

#[test]
fn files_that_are_removed_while_it_runs_are_made_again_whole() {
    for with_log in [false, true] {
        let place = filled(false);
        block_on(async {
            let (journal, _) = place.open();
            fs::remove_file(place.path()).unwrap();
            if with_log {
                let _ = fs::remove_file(log_of(&place.path()));
            }
            write(&journal, vec![draft("n", payload(EVENTS + 1))], vec![put("0", &payload(0))])
                .await;
            let place = place.snapshot();
            let (journal, opened) = place.open();
            assert_eq!((opened.first, opened.last), (Some(EventId(1)), EventId(EVENTS + 1)));
            assert_eq!(opened.records.len() as u64, RECORDS);
            assert_eq!(read_all(&journal, "removed").await as u64, EVENTS + 1);
        });
    }
}

#[test]
fn a_lost_mark_alone_costs_nothing_and_a_lost_mark_too_is_leapt_over() {
    let place = filled(false);
    let remove = |path: &Path| fs::remove_file(check::with_suffix(path, ".high")).unwrap();
    assert_eq!(check(&place, "mark removed", remove) as u64, EVENTS);
    check(&place, "mark and half of the file removed", |path| {
        remove(path);
        cut(path, len(path) / 2);
    });
}

#[test]
fn damaged_files_are_kept_under_names_of_their_own() {
    let place = filled(false);
    for n in 1..=3 {
        cut(&place.path(), 5000);
        let (_, opened) = place.open();
        let expect = check::with_suffix(&place.path(), &format!(".damaged-{n}"));
        assert_eq!(len(&expect), 5000);
        assert!(opened.recovery.unwrap().damaged_files.contains(&expect));
    }
}

#[test]
fn a_rebuild_that_was_cut_short_is_taken_up() {
    let place = filled(false);
    fs::rename(place.path(), salvage::rebuilt_file(&place.path(), 1)).unwrap();
    let (_, opened) = place.open();
    assert_eq!((opened.last, opened.recovery), (EventId(EVENTS), None));
}

#[test]
fn a_rebuild_that_was_cut_short_before_the_file_was_moved_is_taken_up() {
    let place = filled(true);
    let path = place.path();
    cut(&path, len(&path) / 2);
    salvage::build(&path, None, HighWaterMark::load(&path).as_ref()).unwrap();
    // The log is moved before the file: here it was killed between the two.
    fs::rename(log_of(&path), check::with_suffix(&path, ".damaged-1-wal")).unwrap();
    let left = check(&place, "killed between two renames", |_| {});
    // What was only in the log is there.
    assert!(left as u64 > EVENTS / 10, "{left}");
    let (journal, opened) = place.open();
    assert_eq!(opened.recovery, None);
    assert!(check::with_suffix(&path, ".damaged-1").exists());
    block_on(async { assert!(ids(&journal, EVENTS - 1).await.contains(&EVENTS.to_string())) });
}

#[test]
fn a_rebuild_that_was_cut_short_while_copying_is_begun_again() {
    let place = filled(false);
    let half = fs::read(place.path()).unwrap();
    fs::write(check::with_suffix(&place.path(), ".new"), &half[..half.len() / 2]).unwrap();
    assert_eq!(check(&place, "half a copy", |_| {}) as u64, EVENTS);
}

#[test]
fn damage_met_while_running_is_repaired_by_the_writer() {
    let place = filled(false);
    block_on(check_repair(&place));
}

async fn check_repair(place: &TestJournal) {
    let (journal, _) = place.open_keeping(100);
    // A page of old events, which trimming must read.
    let bytes = fs::read(place.path()).unwrap();
    let text = payload(1719);
    let at = bytes.windows(text.len()).position(|bytes| bytes == text.as_bytes()).unwrap();
    flip(&place.path(), at as u64 / 4096 * 4096, 16);
    assert_eq!(write(&journal, numbered(1, 1), vec![]).await, EventId(EVENTS + 1));
    assert_eq!(write(&journal, numbered(1, 1), vec![]).await, EventId(EVENTS + 2));
    assert!(check::with_suffix(&place.path(), ".damaged-1").exists());
    journal.close().await.unwrap();
    let (_, opened) = place.open();
    assert_eq!((opened.last, opened.recovery), (EventId(EVENTS + 2), None));
}

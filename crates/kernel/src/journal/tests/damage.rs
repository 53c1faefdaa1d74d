//! However the files are spoilt, the journal opens, says so, and gives back what can be read.

use super::*;

const EVENTS: u64 = 3000;
const RECORDS: u64 = 50;

fn payload(id: u64) -> String {
    format!("{{\"id\":{id},\"text\":\"{}\"}}", "abcdefgh".repeat(usize::try_from(id % 20).unwrap()))
}

/// The files of a journal that was closed, or killed with its last tenth still in the log.
fn filled(with_log: bool) -> Place {
    block_on(async {
        let place = Place::new();
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

/// Spoils a copy, opens it, and checks what holds whatever was done. Answers how many events are left.
#[track_caller]
fn check(place: &Place, what: &str, spoil: impl FnOnce(&Path)) -> usize {
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

/// Reads all there is; checks content and order, and that every hole is told. Answers how many there are.
async fn read_all(journal: &Journal, what: &str) -> usize {
    let mut reader = journal.read(Some(EventId(0)), Include::all());
    let (mut expect, mut count) = (1, 0);
    while expect <= journal.last().0 {
        match next(&mut reader, 100).await {
            Batch::Entries(entries) => {
                for entry in entries.iter() {
                    assert_eq!(entry.id.0, expect, "{what}");
                    assert_eq!(entry.payload, payload(expect), "{what}");
                    expect += 1;
                    count += 1;
                }
            }
            Batch::Gap { first, .. } => expect = first.0,
            Batch::Closed => panic!("{what}: closed"),
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
    check::beside(path, "-wal")
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

#[test]
fn a_lost_mark_alone_costs_nothing_and_a_lost_mark_too_is_leapt_over() {
    let place = filled(false);
    let remove = |path: &Path| fs::remove_file(check::beside(path, ".high")).unwrap();
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
        let expect = check::beside(&place.path(), &format!(".damaged-{n}"));
        assert_eq!(len(&expect), 5000);
        assert!(opened.recovery.unwrap().aside.contains(&expect));
    }
}

#[test]
fn a_rebuild_that_was_cut_short_is_taken_up() {
    let place = filled(false);
    fs::rename(place.path(), check::beside(&place.path(), ".new")).unwrap();
    let (_, opened) = place.open();
    assert_eq!((opened.last, opened.recovery), (EventId(EVENTS), None));
}

#[test]
fn damage_met_while_running_is_repaired_by_the_writer() {
    let place = filled(false);
    block_on(check_repair(&place));
}

async fn check_repair(place: &Place) {
    let (journal, _) = place.open_keeping(100);
    // A page of old events, which trimming must go through.
    let bytes = fs::read(place.path()).unwrap();
    let text = payload(1719);
    let at = bytes.windows(text.len()).position(|bytes| bytes == text.as_bytes()).unwrap();
    flip(&place.path(), at as u64 / 4096 * 4096, 16);
    assert_eq!(write(&journal, numbered(1, 1), vec![]).await, EventId(EVENTS + 1));
    assert_eq!(write(&journal, numbered(1, 1), vec![]).await, EventId(EVENTS + 2));
    assert!(check::beside(&place.path(), ".damaged-1").exists());
    journal.close().await.unwrap();
    let (_, opened) = place.open();
    assert_eq!((opened.last, opened.recovery), (EventId(EVENTS + 2), None));
}

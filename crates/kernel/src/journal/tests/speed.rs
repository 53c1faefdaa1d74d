//! Measures, and prints. Run with `--release --ignored --nocapture`.

use std::time::Instant;

use super::*;

const EVENTS: u64 = 100_000;

fn payload() -> String {
    format!("{{\"text\":\"{}\"}}", "x".repeat(250))
}

/// Records one event per call, with so many readers, and waits for the last.
fn rate(readers: usize) {
    block_on(async {
        let place = Place::new();
        let (journal, _) = place.open_keeping(EVENTS / 2);
        let reading = (0..readers).map(|_| {
            let mut reader = journal.read(None, Include::all());
            tokio::spawn(async move { while !matches!(reader.next(256).await, Batch::Closed) {} })
        });
        let reading: Vec<_> = reading.collect();
        let start = Instant::now();
        for _ in 1..EVENTS {
            journal.record(vec![draft("n", payload())], vec![]);
        }
        let last = journal.record(vec![draft("n", payload())], vec![]);
        let queued = start.elapsed();
        journal.committed(last).await.unwrap();
        let total = start.elapsed();
        println!("{readers} readers: record {queued:?}, committed {total:?} for {EVENTS}");
        journal.close().await.unwrap();
        for reader in reading {
            reader.await.unwrap();
        }
    });
}

#[test]
#[ignore = "a measurement"]
fn speed_of_recording() {
    for readers in [0, 1, 100, 1000] {
        rate(readers);
    }
}

#[test]
#[ignore = "a measurement"]
fn speed_of_one_awaited_event() {
    block_on(async {
        let (journal, _) = Place::new().open();
        let start = Instant::now();
        for _ in 0..10_000 {
            write(&journal, vec![draft("n", payload())], vec![]).await;
        }
        println!("one at a time: {:?} each", start.elapsed() / 10_000);
    });
}

#[test]
#[ignore = "a measurement"]
fn speed_of_opening_after_a_kill() {
    block_on(async {
        let place = Place::new();
        let (journal, _) = place.open();
        for n in 0..EVENTS / 100 {
            let drafts = (0..100).map(|_| draft("n", payload())).collect();
            write(&journal, drafts, vec![put(&n.to_string(), &payload())]).await;
        }
        let killed = place.snapshot();
        let start = Instant::now();
        let (journal, opened) = killed.open();
        println!("open {EVENTS} events, {} records: {:?}", opened.records.len(), start.elapsed());
        let start = Instant::now();
        assert_eq!(ids(&journal, 0).await.len() as u64, EVENTS);
        println!("read all of them in batches of 64: {:?}", start.elapsed());
    });
}

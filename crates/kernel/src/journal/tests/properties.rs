//! Properties: the journal is a durable list, and all readers see the same list.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum JournalOp {
    Record(u64),
    Change(u8, Option<u8>),
    Read(u64, usize),
    Close,
    Kill,
}

fn step() -> impl Strategy<Value = JournalOp> {
    prop_oneof![
        4 => (0..40_u64).prop_map(JournalOp::Record),
        2 => (0..4_u8, any::<Option<u8>>()).prop_map(|(key, value)| JournalOp::Change(key, value)),
        3 => (0..200_u64, 1..50_usize).prop_map(|(back, max)| JournalOp::Read(back, max)),
        1 => Just(JournalOp::Close),
        1 => Just(JournalOp::Kill),
    ]
}

/// What the journal should be.
#[derive(Default)]
struct JournalModel {
    payloads: Vec<String>,
    records: std::collections::BTreeMap<String, String>,
}

impl JournalModel {
    fn check(&self, opened: &OpenedJournal) {
        assert_eq!(opened.last.0, self.payloads.len() as u64);
        assert_eq!(opened.recovery, None);
        let found = opened.records.iter().map(|record| (record.key.clone(), record.value.clone()));
        assert_eq!(found.collect::<std::collections::BTreeMap<_, _>>(), self.records);
    }

    async fn run(&mut self, mut place: TestJournal, steps: Vec<JournalOp>) {
        let (mut journal, _) = place.open();
        for step in steps {
            match step {
                JournalOp::Record(count) => self.record(&journal, count).await,
                JournalOp::Change(key, value) => self.change(&journal, key, value).await,
                JournalOp::Read(back, max) => self.read(&journal, back, max).await,
                JournalOp::Close => journal.close().await.unwrap(),
                JournalOp::Kill => place = place.snapshot(),
            }
            if matches!(step, JournalOp::Close | JournalOp::Kill) {
                let (again, opened) = place.open();
                self.check(&opened);
                journal = again;
            }
        }
    }

    async fn record(&mut self, journal: &Journal, count: u64) {
        let drafts = numbered(self.payloads.len() as u64, count);
        self.payloads.extend(drafts.iter().map(|draft| draft.payload.clone()));
        let last = write(journal, drafts, vec![]).await;
        assert_eq!(last.0, self.payloads.len() as u64);
    }

    async fn change(&mut self, journal: &Journal, key: u8, value: Option<u8>) {
        let key = key.to_string();
        let change = match value {
            Some(value) => put(&key, &value.to_string()),
            None => delete(&key),
        };
        match value {
            Some(value) => self.records.insert(key, value.to_string()),
            None => self.records.remove(&key),
        };
        write(journal, vec![], vec![change]).await;
    }

    async fn read(&self, journal: &Journal, back: u64, max: usize) {
        let after = journal.last().0.saturating_sub(back);
        let mut reader = journal.read(Some(EventId(after)), EventFilter::all());
        let mut expect =
            self.payloads.iter().zip(1..).skip(usize::try_from(after).unwrap()).peekable();
        while expect.peek().is_some() {
            let JournalRead::Entries(entries) = next(&mut reader, max).await else {
                panic!("no entries")
            };
            assert!(entries.len() <= max);
            for entry in entries.iter() {
                assert_eq!(expect.next(), Some((&entry.payload, entry.id.0)));
            }
        }
    }
}

/// Reads until the journal is closed, in batches of these sizes.
async fn read_to_end(mut reader: JournalReader, sizes: Vec<usize>) -> Vec<u64> {
    let mut seen = Vec::new();
    for size in sizes.into_iter().cycle() {
        match next(&mut reader, size).await {
            JournalRead::Entries(entries) => seen.extend(entries.iter().map(|entry| entry.id.0)),
            JournalRead::Gap { first, last } => panic!("a gap: {first}..{last}"),
            JournalRead::Closed => break,
        }
    }
    seen
}

async fn check_readers(calls: Vec<u64>, readers: Vec<Vec<usize>>) {
    let place = TestJournal::new();
    let (journal, _) = place.open();
    let reading = readers.into_iter().map(|sizes| {
        let reader = journal.read(Some(EventId(0)), EventFilter::all());
        tokio::spawn(read_to_end(reader, sizes))
    });
    let reading: Vec<_> = reading.collect();
    let total: u64 = calls.iter().sum();
    let writing = calls.into_iter().map(|count| {
        let journal = journal.clone();
        tokio::task::spawn_blocking(move || journal.record(numbered(0, count), vec![]))
    });
    for call in writing.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    journal.close().await.unwrap();
    for seen in reading {
        assert_eq!(seen.await.unwrap(), (1..=total).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() })]

    #[test]
    fn it_is_a_list_that_survives_closing_and_killing(steps in prop::collection::vec(step(), 1..40)) {
        block_on(JournalModel::default().run(TestJournal::new(), steps));
    }

    #[test]
    fn all_readers_see_the_same_dense_list(
        calls in prop::collection::vec(0..60_u64, 1..40),
        readers in prop::collection::vec(prop::collection::vec(1..40_usize, 1..5), 1..6),
    ) {
        block_on(check_readers(calls, readers));
    }
}

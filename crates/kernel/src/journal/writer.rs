//! The writer thread: takes the whole queue, commits it as one transaction, publishes it.
//!
//! It sleeps while the queue is empty, and retries a group until the journal ends.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Error;
use super::shared::JournalShared;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause: how soon free space on the disk is noticed.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Starts the writer.
pub(super) fn spawn(shared: Arc<JournalShared>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("journal".to_owned()).spawn(move || run(&shared))
}

fn run(shared: &JournalShared) {
    // A panic must not leave callers waiting for a commit that never comes.
    let ended = catch_unwind(AssertUnwindSafe(|| drain(shared).and(shared.store.close())));
    let error = ended.unwrap_or(Err(Error::WriterPanicked)).err();
    if let Some(error) = &error {
        tracing::error!(%error, "the journal was not closed cleanly");
    }
    shared.set_ended(error);
}

/// Commits the queue until the journal ends. While the store refuses writes, everything stays in
/// the queue, where it can be withdrawn; at the end there is time for one last attempt only.
fn drain(shared: &JournalShared) -> Result<(), Error> {
    let mut pause = FIRST_PAUSE;
    while let Some(group) = shared.take() {
        let Err(error) = shared.commit(&group) else {
            shared.finish();
            pause = FIRST_PAUSE;
            continue;
        };
        if pause == FIRST_PAUSE {
            let events = group.entries.len();
            tracing::error!(%error, events, "the journal cannot be written; retrying");
        }
        shared.requeue(group, &error);
        if shared.pause(pause) {
            return shared.take().map_or(Ok(()), |group| shared.commit(&group));
        }
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    Ok(())
}

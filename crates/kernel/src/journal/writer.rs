//! The one thread that writes: takes all that is queued, commits it as one transaction, publishes it.
//!
//! It sleeps while there is nothing to do, and never gives up on a group before the end.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Error;
use super::shared::Shared;
use super::store::Group;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Starts the writer.
pub(super) fn spawn(shared: Arc<Shared>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("journal".to_owned()).spawn(move || run(&shared))
}

fn run(shared: &Shared) {
    let written = drain(shared);
    let closed = shared.store.close();
    let error = written.and(closed).err();
    if let Some(error) = &error {
        tracing::error!(%error, "the journal did not end cleanly");
    }
    shared.ended(error);
}

fn drain(shared: &Shared) -> Result<(), Error> {
    while let Some(group) = shared.take() {
        write(shared, &group)?;
    }
    Ok(())
}

/// Tries until it is written. At the end one last attempt is all there is time for.
fn write(shared: &Shared, group: &Group) -> Result<(), Error> {
    let mut pause = FIRST_PAUSE;
    while let Err(error) = shared.commit(group) {
        tracing::error!(%error, events = group.entries.len(), "the journal cannot be written; trying again");
        shared.fail(&error);
        if shared.pause(pause) {
            return shared.commit(group);
        }
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    Ok(())
}

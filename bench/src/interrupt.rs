//! Being asked to stop: the row that runs is given up, and everything it started is ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, thread};

use tokio::signal::unix::{SignalKind, signal};

use crate::error::Error;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens for `SIGINT` and `SIGTERM` from now on, which no longer end this process by themselves.
///
/// # Errors
/// When the system has no thread or descriptor left.
pub(crate) fn listen() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let wait = move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        ASKED.store(true, Ordering::Relaxed);
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Refuses to go on once we were asked to stop.
///
/// # Errors
/// When we were.
pub(crate) fn check() -> Result<(), Error> {
    if ASKED.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
}

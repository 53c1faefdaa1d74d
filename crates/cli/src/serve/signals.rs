//! Signals: the first one requests a graceful stop, a ^C after it exits at once.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// The exit status that a shell reports for a program ended by ^C.
const INTERRUPTED: i32 = 130;

/// Resolves when a signal asks us to stop.
///
/// # Errors
/// When a signal handler cannot be installed.
pub(super) fn listen() -> io::Result<oneshot::Receiver<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (ask, asked) = oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        tracing::info!("received a signal, shutting down");
        let _ = ask.send(());
        interrupt.recv().await;
        std::process::exit(INTERRUPTED);
    });
    Ok(asked)
}

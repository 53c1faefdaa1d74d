//! Signals: the first asks for a graceful stop, a second ^C is not asked twice.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// What a shell reports of a program that ^C ended.
const INTERRUPTED: i32 = 130;

/// Resolves when somebody asks us to stop.
///
/// # Errors
/// When the system refuses.
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
        tracing::info!("asked to stop");
        let _ = ask.send(());
        interrupt.recv().await;
        std::process::exit(INTERRUPTED);
    });
    Ok(asked)
}

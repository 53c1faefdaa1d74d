//! Printing on a thread of its own: whoever reads our output may be slow, and we have other things to do meanwhile.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, Result};
use tokio::sync::mpsc;

use super::super::output_writer::OutputWriter;

/// What is to be printed.
pub(super) enum WriterJob {
    Bytes(Vec<u8>),
    /// So many bytes are missing here.
    Missed(u64),
    /// Nothing follows but this, for the terminal.
    Finish(Vec<u8>),
}

/// Prints one thing after the other. Dropping it leaves what nobody takes.
pub(super) struct WriterThread {
    jobs: SyncSender<WriterJob>,
    done: mpsc::Receiver<Result<()>>,
    /// How many bytes are being printed; nothing when nothing is.
    busy: Option<usize>,
}

impl WriterThread {
    pub(super) fn new(mut printer: OutputWriter) -> Self {
        let (jobs, inbox) = sync_channel::<WriterJob>(1);
        let (outbox, done) = mpsc::channel(1);
        thread::spawn(move || {
            while let Ok(job) = inbox.recv() {
                let printed = match job {
                    WriterJob::Bytes(bytes) => printer.print(&bytes),
                    WriterJob::Missed(bytes) => printer.missed(bytes),
                    WriterJob::Finish(last) => {
                        printer.finish().and_then(|()| printer.restore_terminal(&last))
                    }
                };
                if outbox.blocking_send(printed).is_err() {
                    return;
                }
            }
        });
        Self { jobs, done, busy: None }
    }

    /// How much is being printed, if anything is.
    pub(super) fn busy(&self) -> Option<usize> {
        self.busy
    }

    /// Prints this. Only while nothing is printed.
    pub(super) fn print(&mut self, job: WriterJob) {
        self.busy = Some(match &job {
            WriterJob::Bytes(bytes) => bytes.len(),
            WriterJob::Missed(_) | WriterJob::Finish(_) => 0,
        });
        // One that is gone says so when it is asked what it did.
        let _ = self.jobs.send(job);
    }

    /// Waits until it is printed. May be dropped and called again.
    ///
    /// # Errors
    /// When whoever reads our output has gone.
    pub(super) async fn printed(&mut self) -> Result<()> {
        let printed = self.done.recv().await.context("printing broke off")?;
        self.busy = None;
        printed
    }
}

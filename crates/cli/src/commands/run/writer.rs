//! Prints on a thread of its own: the reader of our output may be slow, and must not block the
//! event loop.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, Result};
use tokio::sync::mpsc;

use super::super::support::output_writer::OutputWriter;

/// One thing to print.
pub(super) enum WriterJob {
    Bytes(Vec<u8>),
    /// This many bytes are missing here.
    Missed(u64),
    /// The end of the output, with bytes that restore the terminal.
    Finish(Vec<u8>),
}

/// Prints one job after the other. Dropping it abandons a job that the reader does not take.
pub(super) struct WriterThread {
    jobs: SyncSender<WriterJob>,
    done: mpsc::Receiver<Result<()>>,
    /// How many bytes are being printed; `None` when idle.
    busy: Option<usize>,
}

impl WriterThread {
    pub(super) fn new(mut writer: OutputWriter) -> Self {
        let (jobs, inbox) = sync_channel::<WriterJob>(1);
        let (outbox, done) = mpsc::channel(1);
        thread::spawn(move || {
            while let Ok(job) = inbox.recv() {
                let printed = match job {
                    WriterJob::Bytes(bytes) => writer.print(&bytes),
                    WriterJob::Missed(bytes) => writer.missed(bytes),
                    WriterJob::Finish(last) => {
                        writer.finish().and_then(|()| writer.restore_terminal(&last))
                    }
                };
                if outbox.blocking_send(printed).is_err() {
                    return;
                }
            }
        });
        Self { jobs, done, busy: None }
    }

    /// How many bytes are being printed; `None` when idle.
    pub(super) fn busy(&self) -> Option<usize> {
        self.busy
    }

    /// Starts a job. Call it only while idle.
    pub(super) fn print(&mut self, job: WriterJob) {
        self.busy = Some(match &job {
            WriterJob::Bytes(bytes) => bytes.len(),
            WriterJob::Missed(_) | WriterJob::Finish(_) => 0,
        });
        // A thread that has ended is noticed by `printed`.
        let _ = self.jobs.send(job);
    }

    /// Waits until the job is done. Cancel-safe.
    ///
    /// # Errors
    /// When the output cannot be written, as when its reader has closed it.
    pub(super) async fn printed(&mut self) -> Result<()> {
        let printed = self.done.recv().await.context("printing was interrupted")?;
        self.busy = None;
        printed
    }
}

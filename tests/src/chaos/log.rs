//! The log of all operations of a run, for the person who reads a failure.

use std::fs::File;
use std::io::{self, LineWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use super::ledger::lock;

/// A file to which every thread adds lines, each with the time since the start.
pub(super) struct Log {
    file: Mutex<LineWriter<File>>,
    start: Instant,
}

impl Log {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = Mutex::new(LineWriter::new(File::create(path)?));
        Ok(Self { file, start: Instant::now() })
    }

    pub(super) fn line(&self, text: &str) {
        let seconds = self.start.elapsed().as_secs_f64();
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("-");
        // A log that cannot be written must not end the run.
        let _ = writeln!(lock(&self.file), "{seconds:9.3} {name}: {text}");
    }

    pub(super) fn flush(&self) {
        let _ = lock(&self.file).flush();
    }
}

//! The log of an extension: what it writes to standard error, and notes of ours. Of bounded size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A log of this size becomes the old log. Both together are at most twice that.
const MAX_BYTES: u64 = 1 << 20;

/// The log of one extension. Blocks for as long as a write to a file does.
pub(crate) struct ExtensionLog {
    path: PathBuf,
    old: PathBuf,
    open: Mutex<Option<OpenLog>>,
}

struct OpenLog {
    file: File,
    bytes: u64,
}

impl ExtensionLog {
    /// The log in these files.
    pub(crate) fn new(path: PathBuf, old: PathBuf) -> Self {
        Self { path, old, open: Mutex::new(None) }
    }

    /// Adds a line of ours.
    pub(crate) fn note(&self, text: &str) {
        self.write(format!("paned: {text}\n").as_bytes());
    }

    /// Adds these bytes, which are whole lines or parts of one. A disk that refuses them does not
    /// stop the extension.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.try_write(&mut open, bytes) {
            tracing::debug!(%error, log = %self.path.display(), "cannot write a log");
            *open = None;
        }
    }

    fn try_write(&self, open: &mut Option<OpenLog>, bytes: &[u8]) -> io::Result<()> {
        let is_full = |log: &OpenLog| MAX_BYTES < log.bytes + bytes.len() as u64;
        if open.is_none() {
            *open = Some(self.open()?);
        }
        if open.as_ref().is_some_and(is_full) {
            fs::rename(&self.path, &self.old)?;
            *open = Some(self.open()?);
        }
        if let Some(log) = open {
            log.file.write_all(bytes)?;
            log.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    fn open(&self) -> io::Result<OpenLog> {
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).mode(0o600).open(&self.path)?;
        let bytes = file.metadata()?.len();
        Ok(OpenLog { file, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_continued_and_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let old = dir.path().join("log.1");
        ExtensionLog::new(path.clone(), old.clone()).note("started");
        let log = ExtensionLog::new(path.clone(), old.clone());
        log.write(b"hello\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "paned: started\nhello\n");
        let line = [b'x'; 1000];
        for _ in 0..5000 {
            log.write(&line);
        }
        let size = |path| fs::metadata(path).unwrap().len();
        assert!(size(&path) <= MAX_BYTES && size(&old) <= MAX_BYTES);
        assert!(1_000_000 < size(&path) + size(&old));
    }
}

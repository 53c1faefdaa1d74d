//! What really happened, for tests to compare with.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// A file of JSON lines, or nothing.
pub(crate) struct Log(Option<File>);

impl Log {
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path| File::options().create(true).append(true).open(path);
        path.map(open).transpose().map(Self)
    }

    /// Appends one line, in one write.
    pub(crate) fn write(&mut self, event: &str, mut fields: Value) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        fields["event"] = json!(event);
        fields["at"] = json!(u64::try_from(at).unwrap_or(u64::MAX));
        file.write_all(format!("{fields}\n").as_bytes())
    }
}

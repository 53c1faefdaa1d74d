//! Why something could not be measured.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("no paned at {}; build it with `cargo build --release -p paned`", .0.display())]
    NoPaned(PathBuf),
    #[error("cannot {what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{what} took longer than {} s", limit.as_secs())]
    Timeout { what: String, limit: Duration },
    #[error("{what} was refused: {answer}")]
    Refused { what: String, answer: String },
    #[error("we were asked to stop")]
    Stopped,
    #[error("{what} is not what was expected: {found}")]
    Unexpected { what: &'static str, found: String },
}

/// Adds to an I/O error what was being done.
pub(crate) trait IoContext<T> {
    fn doing(self, what: &str) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> IoContext<T> for Result<T, E> {
    fn doing(self, what: &str) -> Result<T, Error> {
        self.map_err(|source| Error::Io { what: what.to_owned(), source: source.into() })
    }
}

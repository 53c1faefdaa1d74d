//! What can go wrong with the journal.

use std::io;

use rusqlite::ffi::{
    Error as SqliteError, SQLITE_CANTOPEN, SQLITE_ERROR, SQLITE_IOERR_SHMOPEN,
    SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE,
};
use rusqlite::{Error as Sql, ErrorCode};

const NO_SPACE: &str = "no space left on device";
/// Codes that SQLite returns on a full disk, besides `SQLITE_FULL`, when it opens a database.
const FULL: [i32; 5] = [
    SQLITE_CANTOPEN,
    SQLITE_IOERR_SHMOPEN,
    SQLITE_IOERR_SHMSIZE,
    SQLITE_IOERR_TRUNCATE,
    SQLITE_IOERR_WRITE,
];

/// Why something is not in the journal, or could not be read from it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("journal file error: {0}")]
    File(#[from] io::Error),
    /// SQLite refused.
    #[error("journal database error: {0}")]
    Database(#[from] Sql),
    /// The content contradicts itself.
    #[error("the journal is damaged: {0}")]
    Damaged(&'static str),
    /// The database is no longer where it was opened.
    #[error("the journal's database was removed or replaced while it was in use")]
    Removed,
    /// The store refuses to write at present; the write is retried.
    #[error("the journal cannot be written: {0}")]
    Unwritten(String),
    /// A bug ended the writer thread; only a restart of the server helps.
    #[error("the journal's writer stopped working; restart the server")]
    WriterPanicked,
    /// The journal was closed first.
    #[error("the journal is closed")]
    Closed,
}

impl Error {
    /// The system's message: the reason why something cannot be written.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Database(Sql::SqliteFailure(error, _))
                if error.code == ErrorCode::DiskFull
                    || error.extended_code == SQLITE_IOERR_SHMSIZE =>
            {
                NO_SPACE.to_owned()
            }
            Self::File(error) if is_out_of_room(error) => NO_SPACE.to_owned(),
            Self::Unwritten(reason) => reason.clone(),
            other => other.to_string(),
        }
    }

    /// Whether the disk is full: not damage, and it can pass by itself.
    pub(super) fn is_disk_full(&self) -> bool {
        match self {
            Self::File(error) => is_out_of_room(error),
            Self::Database(Sql::SqliteFailure(error, _)) => {
                error.code == ErrorCode::DiskFull || FULL.contains(&error.extended_code)
            }
            _ => false,
        }
    }

    /// Whether the files are damaged, so that a retry is useless. A full or failing disk is not
    /// damage: a good file must not be replaced because of it. A schema or a value that does not
    /// fit our statements is damage: the statements are right.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) | Self::Removed => true,
            Self::Database(Sql::SqliteFailure(error, _)) => is_damage(*error),
            Self::Database(
                Sql::SqlInputError { .. }
                | Sql::QueryReturnedNoRows
                | Sql::InvalidColumnType(..)
                | Sql::FromSqlConversionFailure(..)
                | Sql::IntegralValueOutOfRange(..)
                | Sql::Utf8Error(..),
            ) => true,
            Self::Database(_)
            | Self::File(_)
            | Self::Unwritten(_)
            | Self::WriterPanicked
            | Self::Closed => false,
        }
    }
}

fn is_out_of_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn is_damage(error: SqliteError) -> bool {
    match error.code {
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => true,
        // A damaged length requests an absurd amount of memory.
        ErrorCode::OutOfMemory | ErrorCode::TooBig => true,
        _ => error.extended_code == SQLITE_ERROR,
    }
}

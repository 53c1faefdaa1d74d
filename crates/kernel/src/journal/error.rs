//! What can go wrong with the journal.

use std::io;

use rusqlite::ffi::{Error as SqliteError, SQLITE_ERROR};
use rusqlite::{Error as Sql, ErrorCode};

/// Why something is not in the journal, or could not be read from it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("a file of the journal: {0}")]
    File(#[from] io::Error),
    /// SQLite refused.
    #[error("the journal's database: {0}")]
    Database(#[from] Sql),
    /// The content contradicts itself.
    #[error("the journal is damaged: {0}")]
    Damaged(&'static str),
    /// Not durable yet: it is kept in memory, and tried again.
    #[error("not in the journal yet, will be tried again: {0}")]
    Unwritten(String),
    /// The journal was closed first.
    #[error("the journal is closed")]
    Closed,
}

impl Error {
    /// Whether the files are bad, so that trying again is no use. A full or failing disk is not damage:
    /// a good file must not be replaced because of it. A schema or a value that does not fit our
    /// statements is: the statements are right.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Database(Sql::SqliteFailure(error, _)) => is_damage(*error),
            Self::Database(
                Sql::SqlInputError { .. }
                | Sql::QueryReturnedNoRows
                | Sql::InvalidColumnType(..)
                | Sql::FromSqlConversionFailure(..)
                | Sql::IntegralValueOutOfRange(..)
                | Sql::Utf8Error(..),
            ) => true,
            Self::Database(_) | Self::File(_) | Self::Unwritten(_) | Self::Closed => false,
        }
    }
}

fn is_damage(error: SqliteError) -> bool {
    match error.code {
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => true,
        // A broken length asks for absurd memory.
        ErrorCode::OutOfMemory | ErrorCode::TooBig => true,
        _ => error.extended_code == SQLITE_ERROR,
    }
}

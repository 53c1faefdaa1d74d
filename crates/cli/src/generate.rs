//! `paned generate`: writes what is made from the program's own tables, for `make` and packages.
//!
//! `configuration` prints `docs/configuration.md`, `man FOLDER` writes the man pages.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::settings::page;

pub(crate) fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let result = match args.next().as_deref().and_then(|what| what.to_str()) {
        Some("configuration") => io::stdout().write_all(page::configuration_page().as_bytes()),
        _ => Err(io::Error::other("usage: paned generate configuration")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "paned: {error}");
            ExitCode::FAILURE
        }
    }
}

//! `paned generate`: writes what is made from the program's own tables, for `make` and packages.
//!
//! `configuration` prints `docs/configuration.md`, `typescript` the types of the actions for
//! extensions, `web-types` those for the web page, `man FOLDER` writes the man pages.

mod man;
mod typescript;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use crate::settings::page;

const USAGE: &str = "usage: paned generate configuration | typescript | web-types | man FOLDER";

pub(crate) fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let what = args.next().unwrap_or_default();
    let result = match (what.to_str(), args.next()) {
        (Some("configuration"), None) => {
            io::stdout().write_all(page::configuration_page().as_bytes())
        }
        (Some("typescript"), None) => io::stdout().write_all(typescript::action_types().as_bytes()),
        (Some("web-types"), None) => io::stdout().write_all(typescript::web_types().as_bytes()),
        (Some("man"), Some(folder)) => write_man_pages(Path::new(&folder)),
        _ => Err(io::Error::other(USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "paned: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_man_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    man::pages().iter().try_for_each(|page| fs::write(folder.join(&page.file), &page.text))
}

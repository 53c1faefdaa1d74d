//! `picture FILE`: records the picture of the README; see `paned_recorder::picture`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "it talks to the person who runs it")]

use std::process::ExitCode;

use paned_recorder::picture::picture;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: picture FILE");
        return ExitCode::from(2);
    };
    let svg = picture();
    let size = svg.len() / 1024;
    match std::fs::write(&file, svg) {
        Ok(()) => {
            eprintln!("picture: {file}, {size} KiB");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("picture: cannot write {file}: {error}");
            ExitCode::FAILURE
        }
    }
}

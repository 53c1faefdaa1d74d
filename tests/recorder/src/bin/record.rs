//! `record CLI CASE COLSxROWS FOLDER`: records a real agent program against the fake model; see
//! `paned_recorder::record`.
//!
//! `all` stands for every case. A case that cannot be recorded is reported, and the others are
//! recorded.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "it talks to the person who runs it")]

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;

use paned_e2e::Cli;
use paned_model::Size;
use paned_recorder::record::{cases, record};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((cli, cases, size, folder)) = read(&args) else {
        eprintln!("usage: record CLI CASE[,CASE…]|all COLSxROWS FOLDER");
        return ExitCode::from(2);
    };
    let mut failed = 0;
    for case in cases {
        eprintln!("{} {case} {}x{}", cli.name(), size.cols, size.rows);
        let outcome = catch_unwind(|| record(cli, &case, size, &folder));
        match &outcome {
            Ok(Ok(())) => {}
            Ok(Err(sentence)) => eprintln!("record: {sentence}"),
            Err(_) => eprintln!("record: {case} could not be recorded"),
        }
        failed += u8::from(!matches!(outcome, Ok(Ok(()))));
    }
    ExitCode::from(failed)
}

fn read(args: &[String]) -> Option<(Cli, Vec<String>, Size, PathBuf)> {
    let [cli, which, size, folder] = args else { return None };
    let (cols, rows) = size.split_once('x')?;
    let size = Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? };
    let cases = match which.as_str() {
        "all" => cases().into_iter().map(str::to_owned).collect(),
        some => some.split(',').map(str::to_owned).collect(),
    };
    Some((Cli::named(cli)?, cases, size, folder.into()))
}

//! House-keeping that is part of the repository and not of the program. It reads files and
//! reports; it never changes any.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use crate::tree::Tree;

mod manifest;
mod paths;
mod rules;
mod source;
mod tree;

const USAGE: &str = "usage: cargo xtask tidy";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        _ => Err(anyhow!(USAGE)),
    };
    done.unwrap_or_else(|error| {
        // Nobody is left to tell if standard error is closed.
        let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
        ExitCode::FAILURE
    })
}

/// Checks the rules of the house, prints a line for each finding and fails when there is one.
fn tidy() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent")?;
    let tree = Tree::read(root)?;
    let findings = rules::run(&tree);
    let mut out = std::io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "tidy: {} files, findings: {}", tree.files().len(), findings.len())?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

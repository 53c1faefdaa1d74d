//! House-keeping that is part of the repository and not of the program. It reads files and
//! reports; it never changes any.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use crate::tree::Tree;

mod deny;
mod manifest;
mod paths;
mod rules;
mod source;
mod tree;

const USAGE: &str = "usage: cargo xtask tidy | deny";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        ["deny"] => deny(),
        _ => Err(anyhow!(USAGE)),
    };
    done.unwrap_or_else(|error| {
        // Nobody is left to tell if standard error is closed.
        let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
        ExitCode::FAILURE
    })
}

/// The folder of the workspace.
fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent")
}

/// Checks the rules of the house, prints a line for each finding and fails when there is one.
fn tidy() -> Result<ExitCode> {
    let tree = Tree::read(root()?)?;
    let findings = rules::run(&tree);
    let mut out = std::io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "tidy: {} files, findings: {}", tree.files().len(), findings.len())?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks what the program is made of, prints a line for each finding and fails when there is one.
fn deny() -> Result<ExitCode> {
    let report = deny::run(root()?)?;
    let mut out = std::io::stdout().lock();
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    if !report.duplicates.is_empty() {
        writeln!(out, "deny: in more than one version: {}", report.duplicates.join(", "))?;
    }
    writeln!(out, "deny: {} packages, findings: {}", report.packages, report.findings.len())?;
    Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

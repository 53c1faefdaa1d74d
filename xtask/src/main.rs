//! Checks that are part of the repository and not of the program. They read files and report, and
//! change none; `docs` alone writes the pages that are generated from the program.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow};

use crate::tree::Tree;

mod deny;
mod manifest;
mod paths;
mod rules;
mod source;
mod tree;

const USAGE: &str = "usage: cargo xtask tidy | deny | docs";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        ["deny"] => deny(),
        ["docs"] => docs(),
        _ => Err(anyhow!(USAGE)),
    };
    result.unwrap_or_else(|error| {
        // If standard error is closed, the message is lost.
        let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
        ExitCode::FAILURE
    })
}

/// The folder of the workspace.
fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent")
}

/// Checks the rules of the repository, prints a line for each finding and fails when there is one.
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

/// What `paned generate` writes, and where. A test fails when one of these files is stale.
const GENERATED: &[(&str, &str)] = &[
    ("configuration", "docs/configuration.md"),
    ("typescript", "extensions/sdk/src/actions.d.ts"),
    ("web-types", "web/src/api/generated.ts"),
];

/// Writes the files that are made from the program's tables.
fn docs() -> Result<ExitCode> {
    for (what, path) in GENERATED {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["run", "--quiet", "--package", "paned", "--", "generate", what]);
        let output = cargo.current_dir(root()?).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(anyhow!("`paned generate {what}` failed"));
        }
        std::fs::write(root()?.join(path), output.stdout)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the dependencies, prints a line for each finding and fails when there is one.
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

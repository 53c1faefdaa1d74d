//! `paned config check`: every mistake in the file and in variables.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::commands::support::exit_status::exit_code;
use crate::config::ConfigFile;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};
use crate::settings::{
    AgentmuxConfigFile, SettingOrigin, Sources, TABLE, UnusedVariable, process_env,
    process_variables, unused_variables,
};

pub(super) fn run(context: &CliContext) -> Result<ExitCode> {
    let file = context.load_config()?;
    let flags = context.flags();
    let legacy = &AgentmuxConfigFile::read(&process_env);
    let sources = Sources { flags: &flags, env: &process_env, file: &file, legacy };
    let mut errors = value_errors(&sources);
    let settings = sources.resolve();
    // What concerns several settings.
    if let (true, true, Err(refusal)) = (file.mistakes.is_empty(), errors.is_empty(), &settings) {
        errors.push(refusal.sentence.clone());
    }
    let compat = settings.map(|settings| settings.compat).unwrap_or_default();
    let unused = unused_variables(process_variables(), &compat);
    let (path, _) = context.config_path()?;
    let report =
        Report { is_there: path.exists(), path: path.display().to_string(), errors, unused };
    print(context, &file, &report)?;
    let is_valid = file.mistakes.is_empty() && report.errors.is_empty();
    Ok(exit_code((!is_valid).then_some(paned_model::Code::Invalid)))
}

struct Report {
    path: String,
    is_there: bool,
    /// What is wrong outside the file.
    errors: Vec<String>,
    unused: Vec<UnusedVariable>,
}

/// Invalid values of variables and of agentmux's own file.
fn value_errors(sources: &Sources<'_>) -> Vec<String> {
    let error = |row: &crate::settings::SettingRow| {
        let (text, origin) = sources.pick(row.key).ok()?;
        let is_elsewhere = matches!(origin, SettingOrigin::Env(_) | SettingOrigin::Legacy(_));
        let why = row.kind.check(&text).err().filter(|_| is_elsewhere)?;
        Some(format!("{origin}: invalid `{}`: {why}", row.key))
    };
    TABLE.iter().filter_map(error).collect()
}

fn print(context: &CliContext, file: &ConfigFile, report: &Report) -> Result<()> {
    let out = context.out;
    let is_valid = file.mistakes.is_empty() && report.errors.is_empty();
    if out.is_json() {
        return Ok(out.json(&json!({
            "ok": is_valid,
            "path": report.path,
            "exists": report.is_there,
            "mistakes": file.mistakes,
            "errors": report.errors,
            "unusedVariables": report.unused,
        }))?);
    }
    for mistake in &file.mistakes {
        let place = format!("{}:{}: ", report.path, mistake.line);
        out.line(
            StyledLine::new(TextStyle::Bad, &place).then(TextStyle::Plain, &mistake.sentence),
        )?;
    }
    report.errors.iter().try_for_each(|error| out.line(error.as_str()))?;
    for UnusedVariable { name, reason } in &report.unused {
        out.line(format!("{name} is set, but has no effect: {reason}"))?;
    }
    if is_readable_by_others(file) {
        let path = &report.path;
        out.line(format!(
            "{path} contains a token and other users can read it; run `chmod 600 {path}`"
        ))?;
    }
    match (is_valid, report.is_there) {
        (true, true) => out.line(format!("{} is valid", report.path))?,
        (true, false) => out.line(format!(
            "no file {}; the defaults apply (`paned config init` writes one)",
            report.path
        ))?,
        (false, _) => {}
    }
    Ok(())
}

fn is_readable_by_others(file: &ConfigFile) -> bool {
    let holds_secret = TABLE.iter().any(|row| row.is_secret && file.get(row.key).is_some());
    let mode = fs::metadata(&file.path).map_or(0, |it| it.permissions().mode());
    holds_secret && mode & 0o077 != 0
}

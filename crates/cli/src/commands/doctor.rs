//! `paned doctor`: checks everything that a server needs, with a hint for each failed check.

mod configuration;
mod machine;
mod server;
mod user;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use crate::commands::support::shell_words::with_tilde;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, in_commands};
use crate::settings::process_env;

/// The columns before details and hints.
const INDENT: usize = 15;

/// Diagnose problems and suggest fixes
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned doctor
  paned doctor --json | jq '.checks[] | select(.ok | not)'

✓ is fine, ! is worth knowing, ✗ is wrong. The exit code is 1 if anything is wrong.")]
pub(crate) struct Args {}

/// A path as the user would type it.
fn in_home(path: &Path) -> String {
    with_tilde(&path.to_string_lossy(), process_env("HOME").as_deref())
}

/// The result of one check, and what to do about it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    /// A check that passed.
    fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, detail: detail.into(), hint: None }
    }

    /// A check that passed, with something worth knowing.
    fn notice(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::good(name, detail) }
    }

    /// A check that failed for the reason of a refusal, whose sentence says after `;` what to do.
    fn refused(name: &'static str, sentence: &str) -> Self {
        let sentence = in_commands(sentence);
        let (detail, hint) = match sentence.split_once("; ") {
            Some((detail, hint)) => (detail, Some(hint.to_owned())),
            None => (sentence.as_str(), None),
        };
        Self { name, ok: false, detail: detail.to_owned(), hint }
    }

    /// A check that failed, with what to do about it.
    fn bad(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, ok: false, detail: detail.into(), hint: Some(hint.into()) }
    }
}

pub(crate) fn run(context: &CliContext) -> Result<ExitCode> {
    let checks = checks(context)?;
    let is_well = checks.iter().all(|check| check.ok);
    if context.out.is_json() {
        context.out.json(&json!({ "ok": is_well, "checks": checks }))?;
    } else {
        checks.iter().try_for_each(|check| show(context.out, check))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn checks(context: &CliContext) -> Result<Vec<Check>> {
    let mut checks = vec![configuration::check(context)];
    // Without settings it is not known which server this is about.
    if checks.iter().all(|check| check.ok) {
        checks.extend(server::checks(context)?);
        checks.extend(machine::checks(context)?);
    }
    Ok(checks)
}

fn show(out: Out, check: &Check) -> Result<()> {
    let (style, mark) = match (check.ok, &check.hint) {
        (true, None) => (TextStyle::Good, "✓"),
        (true, Some(_)) => (TextStyle::Warn, "!"),
        (false, _) => (TextStyle::Bad, "✗"),
    };
    let indent = " ".repeat(INDENT);
    let details = check.detail.lines().flat_map(|line| out.wrap(line, INDENT));
    let mut details = details.collect::<Vec<_>>().into_iter();
    let line = StyledLine::new(style, mark)
        .then(TextStyle::Strong, &format!(" {:13}", check.name))
        .then(TextStyle::Plain, &details.next().unwrap_or_default());
    out.line(line)?;
    details.try_for_each(|line| out.line(format!("{indent}{line}")))?;
    let hint = check.hint.iter().flat_map(|hint| out.wrap(&format!("→ {hint}"), INDENT));
    for line in hint {
        out.line(StyledLine::new(TextStyle::Faint, &format!("{indent}{line}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_said_once() {
        let check = Check::refused("server", "no paned server is running; start one with `x`");
        assert_eq!(check.detail, "no paned server is running");
        assert_eq!(check.hint.as_deref(), Some("start one with `x`"));
        assert_eq!(Check::refused("server", "no").hint, None);
    }
}

//! `paned get`: shows one pane.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::PaneInfo;
use serde_json::json;

use super::{ls, read};
use crate::context::CliContext;
use crate::out::{StyledLine, units};

const EXAMPLES: &str = "\
Examples:
  paned get web
  paned get web --json";

/// Show one pane
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let answer = context.action("pane:get", &json!({ "paneId": args.pane }))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.fields(&fields(&read(answer)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn fields(pane: &PaneInfo) -> Vec<(&'static str, StyledLine)> {
    let now = paned_keeper::time::now();
    let age = units::age(now.since(pane.created_at));
    let mut fields: Vec<(&str, StyledLine)> = vec![
        ("id", pane.id.as_str().into()),
        ("title", pane.title.as_str().into()),
        ("status", ls::status(pane)),
        ("argv", shell_words(&pane.argv).into()),
        ("cwd", pane.cwd.as_str().into()),
        ("size", pane.size.to_string().into()),
        ("created", format!("{} ({age} ago)", pane.created_at).into()),
        ("output", output(pane).into()),
    ];
    let mut put = |name, value: Option<String>| fields.extend(value.map(|it| (name, it.into())));
    put("pid", pane.pid.map(|pid| pid.to_string()));
    put("ended", pane.ended_at.map(|time| time.to_string()));
    put("parent", pane.parent.as_ref().map(ToString::to_string));
    put("tags", (!pane.tags.is_empty()).then(|| pane.tags.join(", ")));
    for (key, value) in &pane.meta {
        fields.push(("meta", format!("{key} = {value}").into()));
    }
    fields
}

fn output(pane: &PaneInfo) -> String {
    let dropped = match pane.dropped {
        0 => String::new(),
        dropped => format!(", the first {} no longer kept", units::bytes(dropped)),
    };
    format!("{} lines, {}{dropped}", pane.lines, units::bytes(pane.bytes))
}

/// The arguments, quoted for a shell.
fn shell_words(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let word = |word: &String| match word.is_empty() || !word.chars().all(plain) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => word.clone(),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        let argv = ["sh", "-c", "echo 'a b'", ""].map(str::to_owned);
        assert_eq!(shell_words(&argv), "sh -c 'echo '\\''a b'\\''' ''");
    }
}

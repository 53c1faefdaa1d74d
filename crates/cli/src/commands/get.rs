//! `paned get`: shows the details of a pane.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::PaneInfo;
use serde::Serialize;

use super::agent::state_text;
use super::ls::status;
use super::support::shell_words::{shell_words, with_tilde};
use super::support::{restart_note, view_note};
use crate::context::CliContext;
use crate::out::{Clock, StyledLine, units};
use crate::settings::process_env;

/// Show the details of a pane
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned get web
  paned get web --json

Times are in your zone (TZ); with --json they are in UTC.")]
pub(crate) struct GetArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
}

pub(crate) fn get(context: &CliContext, args: &GetArgs) -> Result<ExitCode> {
    let show = |pane: PaneInfo| context.out.fields(&fields(&pane, &Clock::local()));
    context.show("pane:get", args, show)
}

fn fields(pane: &PaneInfo, clock: &Clock) -> Vec<(&'static str, StyledLine)> {
    let home = process_env("HOME");
    let command = shell_words(&pane.argv);
    let mut fields: Vec<(&str, StyledLine)> = vec![
        ("id", pane.id.as_str().into()),
        ("status", status(pane)),
        ("command", command.as_str().into()),
        ("folder", with_tilde(&pane.cwd, home.as_deref()).into()),
        ("size", pane.size.to_string().into()),
        ("created", clock.moment_ago(pane.created_at).into()),
        ("output", output(pane).into()),
    ];
    if pane.title != command && pane.title != pane.argv.join(" ") {
        fields.insert(1, ("title", pane.title.as_str().into()));
    }
    let mut put = |name, value: Option<String>| fields.extend(value.map(|it| (name, it.into())));
    put("ended", pane.ended_at.map(|time| clock.moment_ago(time)));
    put("pid", pane.pid.filter(|_| pane.status.is_live()).map(|pid| pid.to_string()));
    let now = paned_keeper::time::now();
    put("restart", pane.restart.as_ref().map(|restart| restart_note::summary(restart, now)));
    put("previous run of", pane.previous_of.as_ref().map(ToString::to_string));
    put("tmux", pane.view.as_ref().and_then(view_note::summary));
    put("parent", pane.parent.as_ref().map(ToString::to_string));
    put("tags", (!pane.tags.is_empty()).then(|| pane.tags.join(", ")));
    if let Some(agent) = &pane.agent {
        let profile = format!("{}, ", agent.profile);
        let since = format!(" since {}", clock.moment_ago(agent.since));
        fields
            .push(("agent", StyledLine::from(profile).with(state_text(agent)).with(since.into())));
    }
    for (key, value) in &pane.meta {
        fields.push(("meta", format!("{key} = {value}").into()));
    }
    fields
}

fn output(pane: &PaneInfo) -> String {
    let dropped = match pane.dropped {
        0 => String::new(),
        dropped => format!(", the first {} no longer retained", units::bytes(dropped)),
    };
    let lines = usize::try_from(pane.lines).unwrap_or(usize::MAX);
    format!("{}, {}{dropped}", units::count(lines, "line"), units::bytes(pane.bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::commands::ls::tests::pane;

    #[track_caller]
    fn check(more: Value, name: &str, expect: Option<&str>) {
        let fields = fields(&pane(more), &Clock::local());
        let found = fields.iter().find(|(it, _)| *it == name);
        assert_eq!(found.map(|(_, value)| value.render(false)).as_deref(), expect, "{name}");
    }

    #[test]
    fn only_what_there_is_to_say_is_shown() {
        check(json!({ "lines": 1 }), "output", Some("1 line, 100 B"));
        check(json!({ "title": "npm" }), "title", None);
        check(json!({ "title": "my site" }), "title", Some("my site"));
        check(json!({ "status": "exited", "exitCode": 3 }), "pid", None);
        check(json!({ "meta": { "n": 1 } }), "meta", Some("n = 1"));
        check(json!({}), "restart", None);
        let again = json!({ "restart": { "policy": "on-failure", "count": 3, "gaveUp": true } });
        check(again, "restart", Some("on-failure, restarts: 3, gave up"));
    }
}

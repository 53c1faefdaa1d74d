//! `paned server status`: prints the server's status.

use std::collections::BTreeMap;

use anyhow::Result;
use paned_model::Time;
use serde::Deserialize;
use serde_json::json;

use crate::commands::read;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, units};

/// What `server:status` answers, as far as it is shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerStatusReply {
    version: String,
    pid: u32,
    url: Option<String>,
    socket: Option<String>,
    started_at: Time,
    uptime_ms: u64,
    panes: BTreeMap<String, usize>,
    last_event: u64,
    trouble: Option<String>,
}

pub(super) fn show(context: &CliContext) -> Result<()> {
    let answer = context.action("server:status", &json!({}))?;
    if context.out.is_json() {
        return Ok(context.out.json(&answer)?);
    }
    Ok(context.out.fields(&fields(&read(answer)?))?)
}

fn fields(status: &ServerStatusReply) -> Vec<(&'static str, StyledLine)> {
    let up = units::age(status.uptime_ms);
    let panes: Vec<_> =
        status.panes.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let panes = if panes.is_empty() { "none".to_owned() } else { panes.join(", ") };
    let journal = match &status.trouble {
        Some(trouble) => StyledLine::new(TextStyle::Bad, trouble),
        None => format!("in order, last event #{}", status.last_event).into(),
    };
    let text = |text: &Option<String>| StyledLine::from(text.as_deref().unwrap_or("-"));
    vec![
        (
            "server",
            StyledLine::new(TextStyle::Good, "running")
                .then(TextStyle::Plain, &format!(" for {up}")),
        ),
        ("version", status.version.as_str().into()),
        ("pid", status.pid.to_string().into()),
        ("address", text(&status.url)),
        ("socket", text(&status.socket)),
        ("started", status.started_at.to_string().into()),
        ("panes", panes.into()),
        ("journal", journal),
    ]
}

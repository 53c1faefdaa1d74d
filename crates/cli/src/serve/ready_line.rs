//! What a server prints once it is ready: where it listens.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use paned_kernel::StartSummary;
use serde::{Deserialize, Serialize};

use super::remote::RemoteInfo;
use crate::commands::version::VERSION;
use crate::out::{Out, StyledLine, TextStyle, units};
use crate::state_folder::ServerInfo;

/// What a program needs to know about a server that is ready: the only line of JSON it prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadyLine {
    pub(crate) url: String,
    pub(crate) socket: PathBuf,
    pub(crate) pid: u32,
    pub(crate) token_file: PathBuf,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) compat: BTreeMap<String, String>,
    /// How other machines reach it, if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<RemoteInfo>,
    /// What is not as the user may expect, such as another port than before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

impl From<&ServerInfo> for ReadyLine {
    fn from(info: &ServerInfo) -> Self {
        Self {
            url: info.url.clone(),
            socket: info.socket.clone(),
            pid: info.pid,
            token_file: info.token_file.clone(),
            compat: info.compat.clone(),
            remote: info.remote.clone(),
            notes: Vec::new(),
        }
    }
}

impl ReadyLine {
    /// Prints what is not as the user may expect.
    pub(crate) fn print_notes(&self, out: Out) -> io::Result<()> {
        self.notes.iter().try_for_each(|note| out.note(format!("paned: {note}")))
    }
}

/// Prints that the server is ready.
pub(super) fn print(
    out: Out,
    ready: &ReadyLine,
    started: StartSummary,
    link: Option<&str>,
) -> io::Result<()> {
    if out.is_json() {
        return out.json(ready);
    }
    ready.print_notes(out)?;
    let name = format!("paned {VERSION}");
    out.line(
        StyledLine::new(TextStyle::Strong, &name)
            .then(TextStyle::Plain, &format!(" is running at {}", ready.url)),
    )?;
    let ended = started.panes - started.live;
    let mut fields: Vec<(&str, StyledLine)> = vec![
        ("  socket", ready.socket.to_string_lossy().as_ref().into()),
        ("  token", ready.token_file.to_string_lossy().as_ref().into()),
        ("  panes", format!("{} running, {ended} ended", started.live).into()),
    ];
    let compat = ready.compat.iter();
    fields.extend(compat.map(|(name, url)| ("  listener", format!("{name} at {url}").into())));
    if let Some(remote) = &ready.remote {
        fields.push(("  others", format!("{}, with TLS and a token", remote.url).into()));
        fields.push(("  SHA-256", remote.fingerprint.as_str().into()));
    }
    out.fields(&fields)?;
    if let Some(link) = link {
        out.line("")?;
        out.line("The web page, for one browser within 5 minutes:")?;
        out.line(StyledLine::new(TextStyle::Strong, &format!("  {link}")))?;
    }
    out.line("")?;
    out.line("In another terminal:")?;
    out.fields(&[
        ("  paned new -- top", "start a program in a new pane".into()),
        ("  paned ls", "show all panes".into()),
        ("  paned web", "open the web page".into()),
        ("  paned events", "stream events".into()),
    ])?;
    out.line(format!("Ctrl+C stops the server; {} running.", live_panes_text(started.live)))
}

/// The same in agentmux's format: one line of JSON.
pub(super) fn print_agentmux(out: Out, ready: &ReadyLine) -> io::Result<()> {
    let url = ready.compat.get("agentmux").map_or("", String::as_str);
    let authority = url.trim_start_matches("http://");
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    let port: u16 = port.parse().unwrap_or(0);
    let host = host.trim_matches(['[', ']']);
    let message = format!("paned serves agentmux at {url}");
    out.json(&serde_json::json!({ "ok": true, "message": message, "host": host, "port": port }))
}

fn live_panes_text(live: usize) -> String {
    match live {
        0 => "panes keep".to_owned(),
        1 => format!("its {} keeps", units::count(1, "pane")),
        more => format!("its {} keep", units::count(more, "pane")),
    }
}

//! `paned ext info`

use std::io;

use paned_kernel::extensions::{ExtensionInfo, ExtensionKind};

use super::notes;
use crate::out::{Out, StyledLine, in_commands, units};

pub(super) fn print(out: Out, extension: &ExtensionInfo) -> io::Result<()> {
    let mut rows = Rows { out, rows: Vec::new() };
    let version = extension.version.as_ref().map_or_else(String::new, |it| format!(" {it}"));
    rows.add("name", format!("{}{version}", extension.name));
    rows.add_text("description", extension.description.as_deref());
    rows.rows.push(("status", status(extension)));
    rows.add_text("reason", extension.reason.as_deref().map(in_commands).as_deref());
    rows.add("kind", kind(extension).to_owned());
    rows.add("folder", extension.folder.display().to_string());
    rows.add_some("link to", extension.link.as_ref().map(|link| link.display().to_string()));
    rows.add_text("scopes", Some(&scopes(extension)));
    rows.add_list("actions", &extension.actions);
    rows.add_list("events", &extension.events);
    rows.add_list("may veto", &extension.veto);
    if extension.required {
        let sentence = "while it does not answer, the actions that it may veto are refused";
        rows.add_text("required", Some(sentence));
    }
    rows.add_some("time limit", extension.timeout_ms.map(|millis| format!("{millis} ms")));
    rows.add_list("missing", &extension.missing);
    rows.add_some("install with", extension.install_command.clone());
    rows.add_some("log", extension.log.as_ref().map(|log| log.display().to_string()));
    out.fields(&rows.rows)
}

/// The width of the names and the gap after them.
const INDENT: usize = 14;

struct Rows {
    out: Out,
    rows: Vec<(&'static str, StyledLine)>,
}

impl Rows {
    fn add(&mut self, name: &'static str, value: String) {
        self.rows.push((name, value.as_str().into()));
    }

    fn add_some(&mut self, name: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    /// A text that is wrapped in a terminal.
    fn add_text(&mut self, name: &'static str, text: Option<&str>) {
        let Some(text) = text else { return };
        for (index, line) in self.out.wrap(text, INDENT).iter().enumerate() {
            self.add(if index == 0 { name } else { "" }, line.clone());
        }
    }

    fn add_list(&mut self, name: &'static str, items: &[String]) {
        let text = items.join(", ");
        self.add_text(name, Some(text.as_str()).filter(|text| !text.is_empty()));
    }
}

fn status(extension: &ExtensionInfo) -> StyledLine {
    let status = notes::status(extension);
    let pid = extension.pid.map(|pid| format!("pid {pid}"));
    let restarts = (0 < extension.restarts)
        .then(|| format!("restarted {}", units::count(extension.restarts as usize, "time")));
    let more: Vec<_> = pid.into_iter().chain(restarts).collect();
    match more.is_empty() {
        true => status,
        false => status.then(crate::out::TextStyle::Plain, &format!(" ({})", more.join(", "))),
    }
}

fn kind(extension: &ExtensionInfo) -> &'static str {
    match extension.kind {
        Some(ExtensionKind::Node) => "Node package",
        Some(ExtensionKind::Program) => "program",
        None => "unknown",
    }
}

/// What it may do, and what it asks for where that differs.
fn scopes(extension: &ExtensionInfo) -> String {
    let granted = notes::scopes(&extension.scopes);
    if extension.scopes == extension.scopes_asked {
        return granted;
    }
    let asked = notes::scopes(&extension.scopes_asked);
    let name = &extension.name;
    format!("{granted}; it asks for {asked} (`paned ext set {name} --reset-scopes` grants that)")
}

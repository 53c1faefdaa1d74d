//! Answers of actions, as far as tools read them, and sessions as their text shows them.

use paned_model::{PaneInfo, PaneStatus, Size};
use serde::Deserialize;

use super::text::TextBlock;

/// A line of output.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LineReply {
    pub(super) n: u64,
    pub(super) text: String,
    #[serde(default)]
    pub(super) cut: bool,
}

/// The answer of `pane:read`.
#[derive(Debug, Deserialize)]
pub(super) struct ReadReply {
    pub(super) lines: Vec<LineReply>,
    pub(super) next: u64,
    pub(super) total: u64,
    #[serde(default)]
    pub(super) dropped: Option<u64>,
    pub(super) truncated: bool,
}

/// The answer of `pane:screen`.
#[derive(Debug, Deserialize)]
pub(crate) struct ScreenReply {
    pub(super) size: Size,
    pub(super) rows: Vec<String>,
    pub(super) cursor: CursorReply,
    pub(super) title: String,
    revision: u64,
    #[serde(default)]
    pub(super) png: Option<String>,
}

/// The cursor of a screen.
#[derive(Debug, Deserialize)]
pub(super) struct CursorReply {
    pub(super) row: u16,
    pub(super) col: u16,
    pub(super) visible: bool,
}

impl ScreenReply {
    /// The rows, without the empty ones below the last that is not.
    pub(crate) fn text(&self) -> String {
        self.rows().join("\n")
    }

    pub(super) fn rows(&self) -> &[String] {
        let used = self.rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        &self.rows[..used]
    }

    /// Changes with the screen.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
}

/// A session's command line.
pub(super) fn command(pane: &PaneInfo) -> String {
    pane.argv.join(" ")
}

/// A session's status in one word.
pub(super) fn status(pane: &PaneInfo) -> &'static str {
    match pane.status {
        _ if pane.killing => "killing",
        PaneStatus::Starting | PaneStatus::Running => "running",
        PaneStatus::Exited => "exited",
        PaneStatus::Killed => "killed",
        PaneStatus::Lost => "lost",
    }
}

/// How a session's program ended: nothing while it runs.
pub(super) fn exit(pane: &PaneInfo) -> Option<String> {
    if pane.status.is_live() {
        return None;
    }
    let signal = pane.exit_signal.as_ref().map(|signal| format!("signal: {signal}"));
    let code = pane.exit_code.map(|code| code.to_string());
    let parts: Vec<String> = [code, signal].into_iter().flatten().collect();
    Some(if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") })
}

/// The lines that every block about a session begins with.
pub(super) fn head(block: &mut TextBlock, pane: &PaneInfo) {
    block.field("ID", pane.id.as_str());
    block.field("Title", &pane.title);
    block.field("Command", command(pane));
}

//! A session as opencode-pty's clients see it: computed from its pane, stored nowhere.

use paned_model::{PaneInfo, PaneStatus, Time};
use serde::Serialize;
use serde_json::Value;

/// Meta key of the description. These keys are for opencode-pty only.
pub(super) const DESCRIPTION: &str = "opencode.description";
/// Meta key: whether the client wants to be notified of the exit.
pub(super) const NOTIFY: &str = "opencode.notifyOnExit";
/// Meta key: the session of opencode that a session was started for.
pub(super) const PARENT: &str = "opencode.parentSessionId";
/// Meta key: the agent of that session.
pub(super) const PARENT_AGENT: &str = "opencode.parentAgent";
/// Meta key: the time-out in seconds.
pub(super) const TIMEOUT: &str = "opencode.timeoutSeconds";

/// A session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PtyCompatInfo {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    command: String,
    args: Vec<String>,
    workdir: String,
    status: &'static str,
    notify_on_exit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<u64>,
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    created_at: Time,
    line_count: u64,
}

impl PtyCompatInfo {
    /// Its id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Whether its program may still be running.
    pub(super) fn is_active(&self) -> bool {
        matches!(self.status, "running" | "killing")
    }

    /// A session. With `is_inside_line`, its last line has no end yet and is counted too.
    pub(super) fn new(pane: PaneInfo, is_inside_line: bool) -> Self {
        let meta = |key: &str| pane.meta.get(key);
        let description = meta(DESCRIPTION).and_then(Value::as_str).map(str::to_owned);
        let notify_on_exit = meta(NOTIFY).and_then(Value::as_bool).unwrap_or(false);
        let timeout_seconds = meta(TIMEOUT).and_then(Value::as_u64);
        let mut argv = pane.argv.into_iter();
        Self {
            id: pane.id.to_string(),
            title: pane.title,
            description,
            command: argv.next().unwrap_or_default(),
            args: argv.collect(),
            workdir: pane.cwd,
            status: if pane.killing { "killing" } else { status_word(pane.status) },
            notify_on_exit,
            timeout_seconds,
            timed_out: pane.timed_out,
            exit_code: pane.exit_code,
            exit_signal: pane.exit_signal,
            pid: pane.pid,
            created_at: pane.created_at,
            line_count: (pane.lines + u64::from(is_inside_line))
                .min(pane.max_lines.unwrap_or(u64::MAX)),
        }
    }
}

fn status_word(status: PaneStatus) -> &'static str {
    match status {
        PaneStatus::Starting | PaneStatus::Running => "running",
        // How a lost pane's program ended is unknown, so no exit code is reported.
        PaneStatus::Exited | PaneStatus::Lost => "exited",
        PaneStatus::Killed => "killed",
    }
}

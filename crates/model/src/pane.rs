//! A pane, as the API shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentInfo, Instance, PaneId, PaneRestartInfo, Time};

/// Free key–value data of a pane. Keys are sorted, so that equal meta is written equally.
pub type Meta = BTreeMap<String, Value>;

/// The size of a terminal in character cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Columns, 2 to 1000.
    #[schemars(range(min = 2, max = 1000))]
    pub cols: u16,
    /// Rows, 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub rows: u16,
}

impl Size {
    /// The widest and the tallest a pane can be.
    pub const MAX: u16 = 1000;

    /// Validates the size; the error is a sentence for the user. One column is too few for a wide
    /// character.
    ///
    /// # Errors
    /// When a side is out of range.
    pub fn check(self) -> Result<Self, String> {
        let fits = (2..=Self::MAX).contains(&self.cols) && (1..=Self::MAX).contains(&self.rows);
        if fits {
            return Ok(self);
        }
        Err(out_of_range(&self.to_string()))
    }
}

fn out_of_range(size: &str) -> String {
    format!("a pane cannot be {size}: columns must be from 2 to 1000, rows from 1 to 1000")
}

impl Default for Size {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.cols, self.rows)
    }
}

/// A number of columns or rows. One that is too large for the type is too large for a pane, too.
fn side(digits: &str) -> Option<u16> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u16::MAX))
}

impl FromStr for Size {
    type Err = String;

    /// Reads `120x40`.
    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text
            .split_once('x')
            .and_then(|(cols, rows)| Some(Self { cols: side(cols)?, rows: side(rows)? }));
        let shown = text.escape_debug();
        let size = sides.ok_or_else(|| format!("invalid size `{shown}`: write it as 120x40"))?;
        size.check().map_err(|_| out_of_range(text))
    }
}

/// The life cycle of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaneStatus {
    /// The program is being started.
    Starting,
    /// The program runs.
    Running,
    /// The program exited by itself.
    Exited,
    /// paned killed it and all its processes.
    Killed,
    /// Its keeper died, so its exit status is unknown.
    Lost,
}

impl PaneStatus {
    /// Whether the program may still run.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }

    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Killed => "killed",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for PaneStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a pane runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// A native pty behind a keeper.
    #[default]
    Pty,
    /// The same, shown in tmux; or an adopted tmux pane, as its `guarantee` shows.
    Tmux,
}

/// Where tmux shows a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaneView {
    /// The session of paned that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The socket of the user's tmux server that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// The tmux pane there that it is placed beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Whether it is shown.
    pub state: ViewState,
    /// The number of the tmux window that it has to itself, if it is not beside others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Why it is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The user's tmux pane that was adopted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TmuxOrigin {
    /// The socket of the tmux server that it is on.
    pub socket: String,
    /// Its tmux id, as in `%3`.
    pub pane: String,
}

/// Whether tmux shows a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ViewState {
    /// It is shown.
    Shown,
    /// It waits for space.
    Waiting,
    /// It is not shown, and does not wait for space.
    Hidden,
}

/// How reliable the record of a pane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// Every byte and the real exit status.
    Exact,
    /// As far as a pane of another tmux server can be observed.
    BestEffort,
}

/// How a program ended, as the kernel reported it to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    /// It exited with this code.
    Code(u8),
    /// It was terminated by this signal.
    Signal(u8),
}

impl Exit {
    /// The code, where it returned one.
    #[must_use]
    pub fn code(self) -> Option<u8> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    /// The signal's name, where one ended it.
    #[must_use]
    pub fn signal(self) -> Option<String> {
        match self {
            Self::Code(_) => None,
            Self::Signal(number) => Some(signal_name(number)),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => f.write_str(&signal_name(*number)),
        }
    }
}

/// `SIGTERM` for 15; `SIG<n>` for those whose number differs between systems.
fn signal_name(number: u8) -> String {
    let name = match number {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        5 => "TRAP",
        6 => "ABRT",
        8 => "FPE",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        other => {
            return platform_signal(other)
                .map_or_else(|| format!("SIG{other}"), |n| format!("SIG{n}"));
        }
    };
    format!("SIG{name}")
}

#[cfg(target_os = "linux")]
fn platform_signal(number: u8) -> Option<&'static str> {
    Some(match number {
        7 => "BUS",
        10 => "USR1",
        12 => "USR2",
        24 => "XCPU",
        25 => "XFSZ",
        31 => "SYS",
        _ => return None,
    })
}

#[cfg(not(target_os = "linux"))]
fn platform_signal(number: u8) -> Option<&'static str> {
    Some(match number {
        10 => "BUS",
        12 => "SYS",
        24 => "XCPU",
        25 => "XFSZ",
        30 => "USR1",
        31 => "USR2",
        _ => return None,
    })
}

/// A pane, as the API shows it: the answer of `pane:new`, `pane:get` and each entry of `pane:list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaneInfo {
    /// Its name.
    pub id: PaneId,
    /// Distinguishes it from earlier and later panes of its name.
    #[serde(default)]
    pub instance: Instance,
    /// Its title: given by a client, set by the program, or the command.
    pub title: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its initial working directory.
    pub cwd: String,
    /// The program's process id, once it has started. After the program has exited, the id may be
    /// reused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The size of its terminal.
    pub size: Size,
    /// The client that holds that size: only this one can change it, unless another takes the size
    /// by force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_held_by: Option<String>,
    /// Its status.
    pub status: PaneStatus,
    /// Whether it is being killed right now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub killing: bool,
    /// Its exit code, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// The signal that terminated it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<String>,
    /// Whether it was stopped because of `timeoutSeconds`.
    pub timed_out: bool,
    /// When it was started.
    pub created_at: Time,
    /// When it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// What it runs on.
    pub substrate: BackendKind,
    /// Where tmux shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<PaneView>,
    /// The tmux pane it was adopted from, if paned did not start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<TmuxOrigin>,
    /// How reliable this record is.
    pub guarantee: Guarantee,
    /// Custom data.
    pub meta: Meta,
    /// Custom labels.
    pub tags: Vec<String>,
    /// Whether it is excluded from automatic clean-up.
    pub persist: bool,
    /// The pane it was started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<PaneId>,
    /// Its restart policy, if it has one, and its restarts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<PaneRestartInfo>,
    /// The pane whose previous run this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_of: Option<PaneId>,
    /// The number of lines of output so far.
    pub lines: u64,
    /// The number of bytes of output so far.
    pub bytes: u64,
    /// How many of these bytes are no longer retained.
    pub dropped: u64,
    /// When it printed last. Only in answers of `pane:list` and `pane:get`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed_at: Option<Time>,
    /// The last line of its output that has any text, cut at 200 characters, without control
    /// characters. None for a program that draws the whole screen. Only in answers of `pane:list`
    /// and `pane:get`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// How many of its last lines are retained, if that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u64>,
    /// What is wrong with its output file, if that was damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// The agent's state, if its program is an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentInfo>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_refuse() {
        assert_eq!("120x40".parse(), Ok(Size { cols: 120, rows: 40 }));
        for text in ["", "80", "80x", "x24", "1x24", "80x0", "80x1001", "-1x5", "80x24x3"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        let large = "999999x1".parse::<Size>().unwrap_err();
        assert!(large.starts_with("a pane cannot be 999999x1: columns must"), "{large}");
    }

    #[test]
    fn a_signal_has_a_name_and_no_code() {
        assert_eq!(Exit::Signal(15).signal().as_deref(), Some("SIGTERM"));
        assert_eq!(Exit::Signal(15).code(), None);
        assert_eq!(Exit::Signal(60).signal().as_deref(), Some("SIG60"));
        assert_eq!(Exit::Code(7).code(), Some(7));
    }
}

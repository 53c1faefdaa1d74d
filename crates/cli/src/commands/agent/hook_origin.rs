//! Whether a hook is run by the program of a pane, or by another one that inherited the pane's
//! environment: an agent that an agent runs as a tool, a daemon, a window of a tmux that was
//! started in the pane.

use std::process::{Command, Stdio};

/// A process, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    /// Its controlling terminal, if it has one.
    terminal: Option<String>,
    name: String,
}

/// Programs that agents run hooks with.
const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh", "busybox"];
/// More ancestors than this are not searched.
const MOST: usize = 64;

/// Whether the agent that runs this hook uses the terminal of a pane. Where this cannot be found
/// out, it is taken for granted.
pub(super) fn is_on_terminal_of_pane() -> bool {
    is_pane(std::os::unix::process::parent_id(), process)
}

/// Follows the ancestors from this one on: the first that is no shell is the agent, and the parent
/// of the first process on its terminal has opened that terminal, which in a pane is a keeper.
fn is_pane(first: u32, find: impl Fn(u32) -> Option<Process>) -> bool {
    let mut next = first;
    let mut ancestors = std::iter::from_fn(|| {
        let found = find(next)?;
        next = found.parent;
        Some(found)
    })
    .take(MOST);
    let is_shell = |name: &str| SHELLS.contains(&name.trim_start_matches('-'));
    let Some(agent) = ancestors.find(|it| !is_shell(&it.name)) else { return true };
    if agent.terminal.is_none() {
        return false;
    }
    let opener = ancestors.find(|it| it.terminal != agent.terminal);
    opener.is_none_or(|opener| opener.name.starts_with("paned"))
}

#[cfg(target_os = "linux")]
fn process(pid: u32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may contain any character.
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let parent = fields.get(1)?.parse().ok()?;
    let terminal = fields.get(4).filter(|terminal| **terminal != "0");
    Some(Process { parent, terminal: terminal.map(|it| (*it).to_owned()), name: name.to_owned() })
}

#[cfg(not(target_os = "linux"))]
fn process(pid: u32) -> Option<Process> {
    read_ps(pid)
}

/// The same by `ps`, where there is no `/proc`.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "for systems without /proc"))]
fn read_ps(pid: u32) -> Option<Process> {
    let mut ps = Command::new("ps");
    ps.args(["-o", "ppid=,tty=,comm=", "-p", &pid.to_string()]);
    let output = ps.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let mut fields = line.split_whitespace();
    let parent = fields.next()?.parse().ok()?;
    let terminal = fields.next().filter(|terminal| !terminal.starts_with('?'));
    let path = fields.collect::<Vec<_>>().join(" ");
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    Some(Process { parent, terminal: terminal.map(str::to_owned), name })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it is a pane for a hook with these ancestors, nearest first: name and terminal.
    fn is_pane_of(ancestors: &[(&str, &str)]) -> bool {
        is_pane(0, |pid| {
            let (name, terminal) = ancestors.get(pid as usize)?;
            let terminal = Some((*terminal).to_owned()).filter(|it| !it.is_empty());
            Some(Process { parent: pid + 1, terminal, name: (*name).to_owned() })
        })
    }

    #[test]
    fn an_agent_on_the_terminal_of_a_keeper_is_in_a_pane() {
        assert!(is_pane_of(&[("codex", "7"), ("paned", ""), ("systemd", "")]));
        assert!(is_pane_of(&[("sh", "7"), ("node", "7"), ("-bash", "7"), ("paned", "1")]));
        // An agent may run its hooks in a session of their own.
        assert!(is_pane_of(&[("sh", ""), ("claude", "7"), ("paned", "")]));
    }

    #[test]
    fn an_agent_that_an_agent_runs_as_a_tool_is_not() {
        let inner = [("sh", ""), ("codex", ""), ("bash", ""), ("claude", "7"), ("paned", "")];
        assert!(!is_pane_of(&inner));
        // On a terminal that the outer agent has opened.
        let inner = [("codex", "9"), ("bash", "9"), ("gemini", "7"), ("paned", "")];
        assert!(!is_pane_of(&inner));
    }

    #[test]
    fn neither_is_a_window_of_a_tmux_that_was_started_in_the_pane() {
        assert!(!is_pane_of(&[
            ("codex", "9"),
            ("zsh", "9"),
            ("tmux: server", ""),
            ("systemd", "")
        ]));
    }
}

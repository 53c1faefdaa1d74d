//! What to type instead of a command that does not exist.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use paned_model::near::{did_you_mean, nearest};

use crate::args::Cli;

/// Commands of other tools, and words that users try first.
const SYNONYMS: &[(&[&str], &str)] = &[
    (&["start"], "`paned server start` starts the server, `paned new` a program"),
    (&["stop"], "`paned server stop` stops the server, `paned kill PANE` a program"),
    (&["status", "health"], "`paned server status` shows the server, `paned ls` the panes"),
    (&["upgrade", "update"], "`paned server upgrade` changes to the newly installed version"),
    (&["shutdown", "kill-server"], "`paned server stop --all` ends all programs and the server"),
    (&["daemon"], "`paned serve` runs the server, `paned server start` in the background"),
    (&["top", "ui", "dashboard", "watch"], "`paned agent ls --watch` shows agents as they work"),
    (&["open", "join", "connect", "enter", "exec"], "`paned attach PANE` uses a pane"),
    (&["detach"], "ctrl+] leaves an attached pane"),
    (&["cat", "history", "output"], "`paned logs PANE` prints what a pane has printed"),
    (&["capture", "capture-pane", "screenshot"], "`paned screen PANE` shows a pane's screen"),
    (
        &["send-keys", "type", "input", "press"],
        "`paned send PANE TEXT` types, `paned keys` presses",
    ),
    (&["new-session", "sessions"], "`paned session start` starts a session in tmux"),
    (&["new-window", "split-window", "create", "spawn", "launch"], "`paned new` starts a program"),
    (&["kill-pane", "delete", "remove", "destroy"], "`paned close PANE` ends and deletes a pane"),
    (&["clean", "cleanup", "clear", "gc"], "`paned prune` deletes the panes that have ended"),
    (&["inspect", "info", "show", "describe"], "`paned get PANE` shows a pane"),
    (&["find", "grep"], "`paned search PATTERN` searches the output of all panes"),
    (&["login", "auth", "grant", "grants", "tokens"], "`paned token create` makes a token"),
    (&["actions", "api"], "`paned list` shows the API's actions"),
    (&["agents", "codex", "claude", "gemini"], "`paned agent new codex` starts an agent"),
    (&["layouts"], "`paned layout get` shows the layout of a tmux window"),
];

/// The sentence for an unknown command, if that is what is wrong with the command line: for those
/// that have others below them the parser suggests one.
pub(crate) fn unknown_command(error: &clap::Error, args: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let command = Cli::whole_command();
    let names: Vec<&str> = command
        .get_subcommands()
        .flat_map(|inner| std::iter::once(inner.get_name()).chain(inner.get_visible_aliases()))
        .collect();
    let is_below = args.iter().skip(1).take_while(|arg| *arg != typed.as_str());
    if is_below.filter_map(|arg| arg.to_str()).any(|arg| names.contains(&arg)) {
        return None;
    }
    let hint = SYNONYMS.iter().find(|(words, _)| words.contains(&typed.as_str()));
    let hint = hint.map(|(_, hint)| (*hint).to_owned());
    let near = || {
        let near: Vec<String> =
            nearest(typed, names).iter().map(|name| format!("paned {name}")).collect();
        did_you_mean(&near)
    };
    let all = || "`paned --help` lists all commands".to_owned();
    let hint = hint.or_else(near).unwrap_or_else(all);
    Some(format!("there is no command `{}`; {hint}", typed.escape_debug()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<&str>) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Cli::command().try_get_matches_from(&args).unwrap_err();
        let sentence = unknown_command(&error, &args);
        let hint = sentence.as_deref().and_then(|it| Some(it.split_once("; ")?.1));
        assert_eq!(hint, expect, "{line}");
    }

    #[test]
    fn a_misspelled_command_gets_the_nearest_one() {
        check("paned attahc web", Some("did you mean `paned attach`?"));
        check("paned sesion", Some("did you mean `paned session`?"));
        check("paned --json zzz", Some("`paned --help` lists all commands"));
    }

    #[test]
    fn a_word_of_another_tool_gets_the_command_that_does_it() {
        check(
            "paned stop",
            Some("`paned server stop` stops the server, `paned kill PANE` a program"),
        );
        check("paned open web", Some("`paned attach PANE` uses a pane"));
    }

    #[test]
    fn the_parser_speaks_of_commands_below_others() {
        check("paned server stpo", None);
        check("paned ls --foo", None);
    }

    #[test]
    fn no_synonym_is_a_command() {
        let command = Cli::whole_command();
        for word in SYNONYMS.iter().flat_map(|(words, _)| *words) {
            assert!(command.find_subcommand(word).is_none(), "{word}");
        }
    }
}

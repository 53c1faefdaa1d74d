//! The help of `paned` itself: every command in one group, by task.
//!
//! clap lists subcommands in one flat list, so the groups are written here as one table. A test
//! checks that the table and the parser name the same commands.

use std::fmt::Write as _;

use clap::Command;

use crate::args::Cli;

/// Commands that belong to one task.
struct CommandGroup {
    title: &'static str,
    /// Shown by `-h` and by `paned` alone; the other groups by `--help` only.
    is_common: bool,
    commands: &'static [&'static str],
}

const fn group(
    title: &'static str,
    is_common: bool,
    commands: &'static [&'static str],
) -> CommandGroup {
    CommandGroup { title, is_common, commands }
}

/// Every command, in the order of a user's first day.
const GROUPS: &[CommandGroup] = &[
    group("Start programs", true, &["new", "run", "restart", "attach"]),
    group("Projects", true, &["up", "down"]),
    group(
        "View panes",
        true,
        &["ls", "get", "logs", "tail", "screen", "search", "wait", "events", "read", "record"],
    ),
    group("Type into panes", true, &["send", "keys", "paste", "write"]),
    group("Stop panes and clean up", true, &["kill", "close", "rm", "prune"]),
    group("Coding agents", true, &["agent", "hooks", "mcp"]),
    group("Describe panes", false, &["rename", "resize", "tag", "meta"]),
    group("Show panes in tmux", false, &["session", "layout", "activate", "tmux", "adopt"]),
    group("The server", true, &["server", "serve", "service", "doctor", "config", "token"]),
    group("Extensions", true, &["ext"]),
    group(
        "Scripts and other tools",
        false,
        &["action", "list", "emit", "completions", "agentmux", "version"],
    ),
];

const EXAMPLES: &str = "\
Examples:
  paned new --id web -- npm run dev     start a program that keeps running
  paned wait web --pattern listening    wait for a line of its output
  paned attach web                      use it as your terminal
  paned run -- make test                run a program to its end
  paned agent new codex                 start a coding agent
  paned agent ls --watch                see which agent needs you";

const GLOBAL_OPTIONS: &str = "\
Options of every command:
      --json             Print JSON on standard output, also for errors
      --color WHEN       Use colour: auto, always or never [env: NO_COLOR]
      --state-dir DIR    State folder [env: PANED_STATE_DIR]
      --config FILE      Configuration file [env: PANED_CONFIG]
      --socket PATH      Socket of the server [env: PANED_SOCKET]
      --url URL          Address of the server [env: PANED_URL]
      --token TOKEN      Token for --url; prefer PANED_TOKEN, because other
                         users of this machine can see command lines
  -h, --help             Print help; --help prints more than -h
  -V, --version          Print the version";

/// Below the help of each command.
const FOOTER: &str = "`paned --help` lists the options of every command, such as --json.";

const DETAILS: &str = "\
Exit codes: 0 success, 1 internal error, 2 invalid arguments, 3 not found,
4 unauthorized, 5 forbidden, 6 vetoed, 7 denied, 8 conflict, 9 busy, 10 the
pane has ended, 11 limit reached, 12 timed out, 13 unavailable (no server is
running).

Times are written as 500ms, 30s, 5m or 2h; a number without a unit is seconds.

With --json, standard output carries JSON and nothing else: the answer, or the
error as {\"error\",\"code\",\"details\"}.";

/// The command line's parser, with the grouped help.
pub(crate) fn command() -> Command {
    let command = Cli::whole_command();
    let short = short_help(&command);
    let long = long_help(&command);
    let names: Vec<_> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command =
        names.iter().fold(command, |command, name| command.mut_subcommand(name, with_footer));
    command
        .help_template("{about}\n\n{usage-heading} {usage}{after-help}")
        .after_help(short)
        .after_long_help(long)
}

/// What `paned --help` prints below its usage.
pub(crate) fn long_text() -> String {
    long_help(&Cli::whole_command())
}

/// Adds where the options of every command are explained, also to the commands below this one.
fn with_footer(command: Command) -> Command {
    let names: Vec<_> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command =
        names.iter().fold(command, |command, name| command.mut_subcommand(name, with_footer));
    let text = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    command.after_help(format!("{text}{FOOTER}"))
}

fn short_help(command: &Command) -> String {
    let groups = GROUPS.iter().filter(|group| group.is_common);
    let list = list(command, groups);
    format!(
        "{list}{EXAMPLES}\n\n`paned COMMAND -h` explains a command; `paned --help` lists everything."
    )
}

fn long_help(command: &Command) -> String {
    let list = list(command, GROUPS.iter());
    format!("{list}{EXAMPLES}\n\n{GLOBAL_OPTIONS}\n\n{DETAILS}")
}

/// The groups with a line for each command.
fn list<'a>(command: &Command, groups: impl Iterator<Item = &'a CommandGroup>) -> String {
    let mut text = String::new();
    for group in groups {
        let _ = writeln!(text, "{}:", group.title);
        for name in group.commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let command = Cli::whole_command();
        let mut listed: Vec<_> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        let mut known: Vec<_> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help")
            .map(Command::get_name)
            .collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }

    #[test]
    fn no_line_is_wider_than_eighty_columns() {
        let command = Cli::whole_command();
        for line in short_help(&command).lines().chain(long_help(&command).lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

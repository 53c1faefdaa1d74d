//! The help of `paned` itself: every command in one group, by task.
//!
//! clap lists subcommands in one flat list, so the groups are written here as one table. A test
//! checks that the table and the parser name the same commands.

use std::ffi::OsString;
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
    group("Coding agents", true, &["agent", "approvals", "hooks", "mcp", "notify"]),
    group("Describe panes", false, &["rename", "resize", "tag", "meta"]),
    group("Show panes in tmux", false, &["session", "layout", "activate", "tmux", "adopt"]),
    group(
        "The server",
        true,
        &["server", "serve", "web", "service", "doctor", "config", "token", "permit", "audit"],
    ),
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

/// Text below the examples that is shorter than this is shown by `-h`, too.
const SHORT_NOTES: usize = 240;

/// The examples of commands that only hold others, which have their own.
const GROUP_EXAMPLES: &[(&str, &str)] = &[
    (
        "agent",
        "\
Examples:
  paned agent new codex --id fix-42            start one
  paned agent send fix-42 'run the tests' -w   prompt it and print its answer
  paned agent ls --watch                       see which agent needs you
  paned agent answer fix-42 yes                answer its question",
    ),
    (
        "agentmux",
        "\
Examples:
  paned agentmux serve             a server with agentmux's protocol
  paned agentmux status            its sessions",
    ),
    (
        "completions",
        "\
Examples:
  paned completions install zsh",
    ),
    (
        "config",
        "\
Examples:
  paned config init                write a sample file
  paned config edit                change it, then check it
  paned config show                every setting and where it comes from",
    ),
    (
        "ext",
        "\
Examples:
  paned ext new guard              write one to start from
  paned ext install ./guard        install it
  paned ext list                   see whether it runs",
    ),
    (
        "layout",
        "\
Examples:
  paned layout place tests         show a pane in the session `main`
  paned layout hide tests          hide it; its program keeps running
  paned layout save wide           save the layout, for `paned layout apply wide`",
    ),
    (
        "server",
        "\
Examples:
  paned server start
  paned server status              its address, and how many panes run
  paned server stop                panes keep running",
    ),
    (
        "service",
        "\
Examples:
  paned service install
  paned service status",
    ),
    (
        "session",
        "\
Examples:
  paned session start              a session `main` that shows new panes
  paned session attach             attach this terminal to it",
    ),
    (
        "tmux",
        "\
Examples:
  paned tmux ls                    the panes that `paned adopt` can take",
    ),
    (
        "token",
        "\
Examples:
  paned token create --scope read --label dashboard
  paned token list
  paned token revoke dashboard",
    ),
];

const DETAILS: &str = "\
Exit codes: 0 success, 1 internal error, 2 invalid arguments, 3 not found,
4 unauthorized, 5 forbidden, 6 vetoed, 7 denied, 8 conflict, 9 busy, 10 the
pane has ended, 11 limit reached, 12 timed out, 13 unavailable (no server is
running).

Times are written as 500ms, 30s, 5m or 2h; a number without a unit is seconds.

With --json, standard output carries JSON and nothing else: the answer, or the
error as {\"error\",\"code\",\"details\"}.";

/// How much the help of a command says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HelpLength {
    /// `-h`: options and examples.
    Short,
    /// `--help`: everything.
    Long,
}

/// The command line's parser, with the grouped help.
pub(crate) fn command() -> Command {
    build(HelpLength::Short)
}

/// The same, with the help that these words ask for. clap's own long help has every option on lines
/// of its own, so both lengths are the short help to it.
pub(crate) fn command_for(args: &[OsString]) -> Command {
    let mut words = args.iter().skip(1).take_while(|word| *word != "--");
    let is_long = words.any(|word| word == "--help" || word == "help");
    build(if is_long { HelpLength::Long } else { HelpLength::Short })
}

fn build(length: HelpLength) -> Command {
    let command = Cli::whole_command();
    let short = short_help(&command);
    let long = long_help(&command);
    let names: Vec<_> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = with_footers(command, &names, "paned", length);
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
fn with_footer(command: Command, path: &str, length: HelpLength) -> Command {
    let names: Vec<_> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = with_footers(command, &names, path, length);
    let group = path.strip_prefix("paned ").unwrap_or(path);
    let examples = GROUP_EXAMPLES.iter().find(|(name, _)| *name == group);
    let examples = examples.map(|(_, examples)| (*examples).to_owned());
    let Some(text) = command.get_after_help().map(ToString::to_string).or(examples) else {
        return command.after_help(FOOTER);
    };
    match short_notes(&text).filter(|_| length == HelpLength::Short) {
        Some(short) => command.after_help(format!(
            "{short}\n\n`{path} --help` explains more, and `paned --help` the options of every command."
        )),
        None => command.after_help(format!("{text}\n\n{FOOTER}")),
    }
}

fn with_footers(command: Command, names: &[String], path: &str, length: HelpLength) -> Command {
    names.iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |inner| with_footer(inner, &path, length))
    })
}

/// The examples alone, if the text below them is long.
fn short_notes(text: &str) -> Option<&str> {
    let start = text.find("Examples:\n")?;
    let end = start + text[start..].find("\n\n")?;
    (SHORT_NOTES < text.len() - end).then(|| &text[..end])
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

    /// The help of a command that is asked for with these words.
    fn help_of(words: &[&str]) -> String {
        let args: Vec<OsString> = ["paned"].iter().chain(words).map(OsString::from).collect();
        command_for(&args).try_get_matches_from(args).unwrap_err().render().to_string()
    }

    #[test]
    fn the_short_help_ends_after_the_examples_and_says_where_more_is() {
        let short = help_of(&["run", "-h"]);
        assert!(short.contains("paned run -- cargo test"), "{short}");
        assert!(short.contains("`paned run --help` explains more"), "{short}");
        assert!(!short.contains("The exit code is the program's own"), "{short}");
        for words in [&["run", "--help"][..], &["help", "run"]] {
            let long = help_of(words);
            assert!(long.contains("The exit code is the program's own"), "{long}");
            assert!(long.ends_with(&format!("{FOOTER}\n")), "{long}");
        }
        assert_eq!(help_of(&["prune", "-h"]), help_of(&["prune", "--help"]), "there is no more");
    }

    #[test]
    fn every_group_of_commands_has_examples() {
        let command = Cli::whole_command();
        for group in command.get_subcommands().filter(|command| command.has_subcommands()) {
            let name = group.get_name();
            let help = help_of(&[name, "-h"]);
            assert!(help.contains("Examples:\n"), "{help}");
        }
        let mut lines = GROUP_EXAMPLES.iter().flat_map(|(_, examples)| examples.lines());
        assert_eq!(lines.find(|line| 80 < line.chars().count()), None);
    }

    #[test]
    fn no_line_is_wider_than_eighty_columns() {
        let command = Cli::whole_command();
        for line in short_help(&command).lines().chain(long_help(&command).lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

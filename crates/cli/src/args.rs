//! The command line: the global flags and the list of commands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::commands::{
    action, agent, agentmux, attach, completions, doctor, events, input, layout, logs, ls, new,
    pane, read, run, screen, search, server, session, token, version, wait,
};
use crate::serve;

const EXAMPLES: &str = "\
Examples:
  paned server start            start a server in the background
  paned new -- htop             start a program in a new pane
  paned ls                      show all panes
  paned attach p-4x7k2m         use one as your terminal
  paned keys p-4x7k2m q         press a key in one
  paned run -- make test        run something to its end in one
  paned agent new codex         start a coding agent
  paned events                  follow what happens
  paned doctor                  check this machine

Exit codes: 0 done, 1 internal, 2 invalid, 3 not found, 4 unauthorized, 5 forbidden, 6 vetoed, \
7 denied, 8 conflict, 9 busy, 10 gone, 11 limit, 12 timeout, 13 unavailable (as when no server runs).

Times are written as 500ms, 30s, 5m or 2h; a number alone is seconds.

With --json, standard output carries JSON and nothing else: the answer, or the refusal as \
{\"error\",\"code\",\"details\"}. Sentences about what went wrong go to standard error in both cases.";

/// The terminal daemon for AI agents and the people who watch them.
#[derive(Parser)]
#[command(name = "paned", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Flags that every command takes.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Global {
    /// Answer in JSON, one document per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The state folder [env: PANED_STATE_DIR] [default: ~/.local/state/paned]
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Where")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The configuration [env: PANED_CONFIG] [default: ~/.config/paned/config.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Where")]
    pub(crate) config: Option<PathBuf>,
    /// Talk to the server at this unix socket [env: PANED_SOCKET]
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        conflicts_with = "url",
        help_heading = "Where"
    )]
    pub(crate) socket: Option<PathBuf>,
    /// Talk to the server at this address over TCP [env: PANED_URL]
    #[arg(long, global = true, value_name = "URL", help_heading = "Where")]
    pub(crate) url: Option<String>,
    /// The token to show over TCP; others can see flags, so prefer the variable [env: PANED_TOKEN]
    #[arg(long, global = true, value_name = "TOKEN", help_heading = "Where")]
    pub(crate) token: Option<String>,
}

/// Every command.
#[derive(Subcommand)]
pub(crate) enum CliCommand {
    Serve(serve::Args),
    #[command(subcommand)]
    Server(server::ServerSubcommand),
    New(new::Args),
    Run(run::Args),
    Attach(attach::Args),
    Ls(ls::LsArgs),
    Get(ls::GetArgs),
    Read(read::Args),
    Logs(logs::LogsArgs),
    Tail(logs::TailArgs),
    Search(search::Args),
    Screen(screen::Args),
    Wait(wait::Args),
    Send(input::SendArgs),
    Keys(input::KeysArgs),
    Paste(input::PasteArgs),
    Write(input::WriteArgs),
    Resize(pane::ResizeArgs),
    Rename(pane::RenameArgs),
    Kill(pane::KillArgs),
    Close(pane::CloseArgs),
    Rm(pane::RmArgs),
    #[command(subcommand)]
    Agent(agent::AgentSubcommand),
    #[command(subcommand)]
    Session(session::SessionSubcommand),
    #[command(subcommand)]
    Layout(layout::LayoutSubcommand),
    Activate(pane::ActivateArgs),
    Events(events::Args),
    Action(action::Args),
    Emit(action::EmitArgs),
    List(action::ListArgs),
    #[command(subcommand)]
    Token(token::TokenSubcommand),
    /// Do what agentmux's own commands do
    Agentmux(agentmux::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Version(version::Args),
}

/// `paned serve` alone.
#[derive(Parser)]
#[command(name = "paned")]
struct ServeOnlyCli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: ServeOnlyCommand,
}

#[derive(Subcommand)]
enum ServeOnlyCommand {
    Serve(serve::Args),
}

impl Cli {
    /// Reads the command line of this process.
    ///
    /// # Errors
    /// What is wrong with it, or the help that was asked for.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Self::of(&std::env::args_os().collect::<Vec<_>>())
    }

    /// `paned serve` has a parser of its own: the parser of all commands would cost a long-lived
    /// server a megabyte or two. When that one fails, the whole parser reports the error.
    fn of(args: &[OsString]) -> Result<Self, clap::Error> {
        if args.get(1).is_some_and(|command| command == "serve")
            && let Ok(ServeOnlyCli { global, command: ServeOnlyCommand::Serve(args) }) =
                ServeOnlyCli::try_parse_from(args)
        {
            return Ok(Self { global, command: CliCommand::Serve(args) });
        }
        Self::try_parse_from(args)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// What both parsers say of a command line: that it serves and how, or what is wrong with it.
    #[track_caller]
    fn check(line: &str) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let say = |read: Result<Cli, clap::Error>| match read {
            Ok(Cli { global, command: CliCommand::Serve(args) }) => format!("{global:?} {args:?}"),
            Ok(_) => "something else".to_owned(),
            Err(error) => error.render().to_string(),
        };
        assert_eq!(say(Cli::of(&args)), say(Cli::try_parse_from(&args)), "{line}");
    }

    #[test]
    fn a_server_is_started_as_the_whole_command_line_would_have_it() {
        for line in [
            "paned serve",
            "paned serve --port 0 --json --state-dir /tmp/x --detached",
            "paned serve --door agentmux=127.0.0.1:1,open --token t --url u --host localhost",
            "paned serve --port 70000",
            "paned serve --socket a --url b",
            "paned serve --help",
            "paned serve extra",
            "paned serve --version",
            "paned --json serve",
            "paned ls",
        ] {
            check(line);
        }
    }

    /// What is said of this command line: the program that it runs, or the first lines of what is
    /// wrong with it.
    fn program(line: &str) -> String {
        match Cli::try_parse_from(line.split(' ')) {
            Ok(Cli { command: CliCommand::New(args), .. }) => args.argv.join(" "),
            Ok(Cli { command: CliCommand::Run(args), .. }) => args.argv.join(" "),
            Ok(_) => "something else".to_owned(),
            Err(error) => error.render().to_string(),
        }
    }

    #[test]
    fn a_flag_that_does_not_exist_is_no_program() {
        for command in ["run", "new", "agent new codex", "session start main"] {
            let said = program(&format!("paned {command} --jsn -- true"));
            assert!(said.contains("unexpected argument '--jsn' found"), "{command}: {said}");
            assert!(said.contains("a similar argument exists: '--json'"), "{command}: {said}");
            assert!(
                program(&format!("paned {command} -x true")).contains("'-x' found"),
                "{command}"
            );
        }
        let said = program("paned run --tiemout 60 -- true");
        assert!(said.contains("a similar argument exists: '--timeout'"), "{said}");
    }

    #[test]
    fn what_stands_after_a_program_or_two_dashes_belongs_to_it() {
        for command in ["run", "new"] {
            for (line, argv) in [
                ("ls -la", "ls -la"),
                ("echo --timeout 3", "echo --timeout 3"),
                ("--timeout 3 ls -- x", "ls -- x"),
                ("-- ls -la -- --json", "ls -la -- --json"),
                ("-- --tiemout 60", "--tiemout 60"),
                ("-- -x", "-x"),
            ] {
                assert_eq!(program(&format!("paned {command} {line}")), argv, "{command} {line}");
            }
        }
    }

    /// Every command that does something, also of those that have others below them.
    fn leaves(command: &clap::Command) -> Vec<&clap::Command> {
        let inner: Vec<_> = command.get_subcommands().flat_map(leaves).collect();
        if inner.is_empty() { vec![command] } else { inner }
    }

    #[test]
    fn every_flag_that_takes_a_time_says_what_a_number_alone_is() {
        let command = Cli::command();
        let flags = leaves(&command).into_iter().flat_map(clap::Command::get_opts);
        let times: Vec<_> = flags
            .filter(|flag| {
                flag.get_value_names().is_some_and(|names| names.iter().any(|name| name == "TIME"))
            })
            .collect();
        assert!(10 < times.len(), "{times:?}");
        for flag in times {
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            let is_millis = flag.get_id().as_str().ends_with("_ms");
            let unit = if is_millis { "milliseconds" } else { "seconds" };
            assert!(
                help.contains(&format!("a number alone is {unit}")),
                "{}: {help}",
                flag.get_id()
            );
        }
    }

    #[test]
    fn every_command_has_help_with_examples() {
        let command = Cli::command();
        for leaf in leaves(&command) {
            assert!(leaf.get_about().is_some(), "{} says nothing", leaf.get_name());
            assert!(leaf.get_after_help().is_some(), "{} has no examples", leaf.get_name());
        }
    }
}

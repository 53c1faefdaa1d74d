//! The command line: the global flags and the list of commands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    action, adopt, agent, agentmux, approvals, attach, audit, completions, config, doctor, events,
    ext, get, hooks, input, layout, logs, ls, mcp, meta, new, notify, pane, permit, read, record,
    restart, run, screen, search, server, service, session, token, up, version, wait, web,
};
use crate::out::ColourChoice;
use crate::{help, serve};

/// The terminal daemon for AI agents and the people who watch them
#[derive(Parser)]
#[command(name = "paned", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Flags that every command takes. They are hidden, because the help of `paned` lists them once for
/// all commands.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Global {
    /// Print JSON
    #[arg(long, global = true, hide = true)]
    pub(crate) json: bool,
    /// When to use colour
    #[arg(long, global = true, hide = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColourChoice,
    /// State folder [env: PANED_STATE_DIR]
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Configuration file [env: PANED_CONFIG]
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Connect to the server at this unix socket [env: PANED_SOCKET]
    #[arg(long, global = true, hide = true, value_name = "PATH", conflicts_with = "url")]
    pub(crate) socket: Option<PathBuf>,
    /// Connect to the server at this address [env: PANED_URL]
    #[arg(long, global = true, hide = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Token for `--url` [env: PANED_TOKEN]
    #[arg(long, global = true, hide = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

/// Defines [`CliCommand`] from one table: `kind Variant(Arguments) = "name", aliases`.
///
/// clap's derive would build every command for each run, and copy the global flags into each of
/// them: a megabyte of heap, and more time than a request to the server takes. See [`Cli::of`].
macro_rules! commands {
    ($($kind:ident $variant:ident($args:ty) = $name:literal $(, $alias:literal)*;)*) => {
        /// Every command.
        pub(crate) enum CliCommand {
            $($variant($args),)*
        }

        impl FromArgMatches for CliCommand {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, matches)) => {
                        <$args as FromArgMatches>::from_arg_matches(matches).map(Self::$variant)
                    })*
                    _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Subcommand for CliCommand {
            fn augment_subcommands(command: Command) -> Command {
                add_commands(command, |_| true)
            }

            fn augment_subcommands_for_update(command: Command) -> Command {
                Self::augment_subcommands(command)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        /// Adds the commands of which a name or an alias is wanted.
        fn add_commands(command: Command, is_wanted: impl Fn(&str) -> bool) -> Command {
            let mut command = command.subcommand_required(true).arg_required_else_help(true);
            $(if is_wanted($name) $(|| is_wanted($alias))* {
                let build: fn(Command) -> Command = commands!($kind $args);
                command = command.subcommand(build(Command::new($name)$(.visible_alias($alias))*));
            })*
            command
        }
    };
    (one $args:ty) => {
        <$args as clap::Args>::augment_args
    };
    (group $args:ty) => {
        |command| {
            let command = <$args as Subcommand>::augment_subcommands(command);
            command.subcommand_required(true).arg_required_else_help(true)
        }
    };
}

commands! {
    one Serve(serve::Args) = "serve";
    group Server(server::ServerSubcommand) = "server";
    one Web(web::Args) = "web";
    one New(new::Args) = "new";
    one Run(run::Args) = "run";
    one Attach(attach::Args) = "attach", "a";
    one Ls(ls::LsArgs) = "ls", "ps";
    one Get(get::GetArgs) = "get";
    one Read(read::Args) = "read";
    one Logs(logs::LogsArgs) = "logs";
    one Tail(logs::TailArgs) = "tail";
    one Search(search::Args) = "search";
    one Screen(screen::Args) = "screen";
    one Record(record::Args) = "record";
    one Wait(wait::Args) = "wait";
    one Send(input::SendArgs) = "send";
    one Keys(input::KeysArgs) = "keys";
    one Paste(input::PasteArgs) = "paste";
    one Write(input::WriteArgs) = "write";
    one Resize(pane::ResizeArgs) = "resize";
    one Rename(pane::RenameArgs) = "rename";
    one Meta(meta::MetaArgs) = "meta";
    one Tag(meta::TagArgs) = "tag";
    one Up(up::UpArgs) = "up";
    one Down(up::DownArgs) = "down";
    one Restart(restart::Args) = "restart";
    one Kill(pane::KillArgs) = "kill";
    one Close(pane::CloseArgs) = "close";
    one Rm(pane::RmArgs) = "rm";
    one Prune(pane::PruneArgs) = "prune";
    group Agent(agent::AgentSubcommand) = "agent";
    group Hooks(hooks::HooksSubcommand) = "hooks";
    one Mcp(mcp::Args) = "mcp";
    group Session(session::SessionSubcommand) = "session";
    one Adopt(adopt::AdoptArgs) = "adopt";
    group Tmux(adopt::TmuxSubcommand) = "tmux";
    group Notify(notify::NotifySubcommand) = "notify";
    group Layout(layout::LayoutSubcommand) = "layout";
    one Activate(pane::ActivateArgs) = "activate";
    one Events(events::Args) = "events";
    one Approvals(approvals::ApprovalsArgs) = "approvals";
    one Audit(audit::Args) = "audit";
    one Action(action::Args) = "action";
    one Emit(action::EmitArgs) = "emit";
    one List(action::ListArgs) = "list";
    group Token(token::TokenSubcommand) = "token";
    group Permit(permit::PermitSubcommand) = "permit";
    group Ext(ext::ExtSubcommand) = "ext";
    one Agentmux(agentmux::Args) = "agentmux";
    one Doctor(doctor::Args) = "doctor";
    group Service(service::ServiceSubcommand) = "service";
    group Config(config::ConfigSubcommand) = "config";
    group Completions(completions::CompletionsSubcommand) = "completions";
    one Version(version::Args) = "version";
}

impl CliCommand {
    /// Whether `--json` stands among words that this command parses itself.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Action(args) => args.wants_json(),
            Self::Emit(args) => args.wants_json(),
            _ => false,
        }
    }
}

impl Cli {
    /// The parser with the arguments of every command, for help, completions and tests.
    pub(crate) fn whole_command() -> Command {
        Self::command()
    }

    /// Reads the command line of this process.
    ///
    /// # Errors
    /// What is wrong with it, or the help that was asked for.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Self::of(&std::env::args_os().collect::<Vec<_>>())
    }

    /// Parses the words with only those commands that are among them. If that fails, the parser
    /// with all commands says why: it can suggest one, and help lists them.
    fn of(args: &[OsString]) -> Result<Self, clap::Error> {
        let root = <Global as clap::Args>::augment_args(Command::new("paned"));
        let root = root.version(env!("CARGO_PKG_VERSION")).max_term_width(100);
        let parser = add_commands(root, |name| args.iter().any(|word| word.as_os_str() == name));
        let matches = parser.try_get_matches_from(args);
        match matches.and_then(|matches| Self::from_arg_matches(&matches)) {
            Err(error) if error.kind() != ErrorKind::DisplayVersion => Self::of_all(args),
            parsed => parsed,
        }
    }

    fn of_all(args: &[OsString]) -> Result<Self, clap::Error> {
        Self::try_parse_from(args).map_err(|error| match error.kind() {
            // Only now, because the grouped help takes time to build.
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingSubcommand => {
                help::command_for(args).try_get_matches_from(args).err().unwrap_or(error)
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::whole_command().debug_assert();
        Cli::command().debug_assert();
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
    fn the_commands_that_are_named_parse_a_line_as_all_commands_do() {
        for line in [
            "paned",
            "paned --version",
            "paned help",
            "paned help send",
            "paned ps --json",
            "paned --socket ls send web x",
            "paned send web ls --no-enter",
            "paned agent new codex --json",
            "paned agent nwe",
            "paned snd web x",
            "paned send",
            "paned send --help",
            "paned --color sometimes ls",
            "paned ls --sta",
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let shown = |parsed: Result<Cli, clap::Error>| match parsed {
                Ok(Cli { command, .. }) => format!("{:?}", std::mem::discriminant(&command)),
                Err(error) => error.to_string(),
            };
            assert_eq!(shown(Cli::of(&args)), shown(Cli::of_all(&args)), "{line}");
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
        let command = Cli::whole_command();
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
    fn no_example_wraps_in_a_terminal_of_eighty_columns() {
        let command = Cli::whole_command();
        for leaf in leaves(&command) {
            let help = leaf.get_after_help().map(ToString::to_string).unwrap_or_default();
            for example in help.lines().filter(|line| line.starts_with("  ")) {
                assert!(example.chars().count() <= 80, "{example}");
            }
        }
    }

    #[test]
    fn every_command_has_help_with_examples() {
        let command = Cli::whole_command();
        for leaf in leaves(&command) {
            assert!(leaf.get_about().is_some(), "{} says nothing", leaf.get_name());
            assert!(leaf.get_after_help().is_some(), "{} has no examples", leaf.get_name());
        }
    }
}

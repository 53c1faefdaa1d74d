//! `paned serve`: builds the house and serves it until somebody wants otherwise.
//!
//! Order matters here. The lock comes first, so that everything after it is ours alone; then the places where
//! we listen, the journal, the panes; `server.json` and the first word come last, when all of it is true. What
//! is [`server_fds::ServerFds`] outlives an upgrade; everything else is built anew.

mod assemble;
mod compat_flag;
mod handover;
mod listeners;
pub(crate) mod lock;
mod logs;
mod path_lock;
pub(crate) mod ready_line;
mod server_fds;
mod signals;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_keeper::fds::close_inherited;
use paned_keeper::memory;
use paned_kernel::ServerCommand;
use paned_model::Refusal;

use crate::context::CliContext;
use crate::out::Out;
use crate::settings::{SettingFlags, Settings};
use crate::state_folder::StateFolder;
use compat_flag::{CompatAddress, CompatFlag};
use handover::Upgrade;
use server_fds::ServerFds;

const EXAMPLES: &str = "\
Examples:
  paned serve                          on 127.0.0.1 and ::1, port 7263
  paned serve --port 0 --json          on a free port; one JSON line says where
  paned serve --state-dir /tmp/try     apart from your other panes
  paned serve --door opencode-pty=127.0.0.1:7264,open
                                       also for clients of opencode-pty, which send no token

Settings come from flags, then PANED_* variables, then those of the tools paned replaces \
(POLY_PORT, POLY_HOSTNAME, PTY_WEB_PORT, PTY_WEB_HOSTNAME, PTY_MAX_BUFFER_SIZE, AGENTMUX_*), then config.toml, then defaults. PANED_LOG sets what is logged to \
standard error (error, warn, info, debug, trace). ^C stops the server; panes live on, and the next server finds them.";

/// Run a server in the foreground
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: ListenArgs,
    /// Run away from the terminal, for `paned server start`
    #[arg(long, hide = true)]
    detached: bool,
}

/// Where to listen.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct ListenArgs {
    /// The port; 0 picks a free one [env: PANED_PORT] [default: 7263]
    #[arg(long)]
    port: Option<u16>,
    /// The address: 127.0.0.1, ::1 or localhost [env: PANED_HOST] [default: both]
    #[arg(long)]
    host: Option<String>,
    /// Another tool's protocol (agentapi, agentmux, opencode-pty) at a port of its own; `,open` lets in
    /// clients without a token, `,pane=NAME` says which agent agentapi is about. Without an address it is taken from the
    /// tool's own variables, such as PTY_WEB_PORT and AGENTMUX_PORT
    #[arg(long, value_name = "NAME[=ADDRESS[,open]]")]
    door: Vec<CompatFlag>,
}

impl ListenArgs {
    fn flags(&self) -> SettingFlags {
        let port = self.port.map(|port| ("port", port.to_string()));
        let host = self.host.clone().map(|host| ("host", host));
        let named = self.door.iter().filter_map(CompatFlag::key);
        let named = named.map(|key| (key, true.to_string()));
        port.into_iter().chain(host).chain(named).collect()
    }

    /// The doors with a port of their own: those of the command line, then those of the settings.
    fn compat_addresses(&self, settings: &Settings) -> Result<Vec<CompatAddress>, Refusal> {
        let mut doors: Vec<CompatAddress> = self.door.iter().filter_map(CompatFlag::at).collect();
        for said in &settings.compat.listeners {
            let at: CompatAddress = said.parse().map_err(Refusal::invalid)?;
            if doors.iter().all(|door| door.compat != at.compat) {
                doors.push(at);
            }
        }
        Ok(doors)
    }

    /// The same on a command line.
    pub(crate) fn to_args(&self) -> Vec<String> {
        let flags = self.flags().into_iter().filter(|(key, _)| !key.starts_with("doors."));
        let doors = self.door.iter().map(|door| ("door", door.to_string()));
        flags.chain(doors).flat_map(|(flag, value)| [format!("--{flag}"), value]).collect()
    }
}

/// What a server is built from, each time it is built.
struct ServeOptions {
    out: Out,
    settings: Settings,
    state: StateFolder,
    /// What was said on the command line about where to listen.
    listen_args: Vec<String>,
    compat: Vec<CompatAddress>,
    ready_format: ReadyFormat,
}

/// In whose words a server says that it is ready.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadyFormat {
    Paned,
    Agentmux,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let inherited = handover::take()?;
    if args.detached {
        detach()?;
    }
    serve(context, &args.listen, ReadyFormat::Paned, inherited)
}

/// The same with the door of agentmux, as whoever started agentmux expects it.
pub(crate) fn run_agentmux(context: &CliContext) -> Result<ExitCode> {
    let inherited = handover::take()?;
    serve(context, &ListenArgs::default(), ReadyFormat::Agentmux, inherited)
}

fn serve(
    context: &CliContext,
    listen: &ListenArgs,
    greeting: ReadyFormat,
    inherited: Option<ServerFds>,
) -> Result<ExitCode> {
    memory::configure_malloc();
    logs::start()?;
    close_inherited().context("cannot see which files are open")?;
    protect_memory();
    let mut flags = listen.flags();
    if greeting == ReadyFormat::Agentmux {
        flags.insert("doors.agentmux_serve", true.to_string());
    }
    let settings = context.settings(flags)?;
    let state = StateFolder::at(settings.state_dir.clone());
    let (words, doors) = (listen.to_args(), listen.compat_addresses(&settings)?);
    for (variable, door) in &settings.compat.unused_variables {
        if doors.iter().all(|at| at.compat != *door) {
            tracing::warn!(
                "{variable} is set, but opens no port by itself: to serve clients of {door}, add `--door {door}` or \
                 `{}_serve = true` under `[doors]` in config.toml",
                door.to_string().replace('-', "_")
            );
        }
    }
    let plan = ServeOptions {
        out: context.out,
        settings,
        state,
        listen_args: words,
        compat: doors,
        ready_format: greeting,
    };
    let upgrade = Upgrade::new()?;
    let kept = match inherited {
        Some(kept) => kept.lock_path(&plan.state),
        None => ServerFds::new(&plan)?,
    };
    serve_until_stopped(&plan, &kept, &upgrade)?;
    plan.state.remove_server_info();
    let _ = fs::remove_file(plan.state.socket());
    Ok(ExitCode::SUCCESS)
}

/// Serves until somebody wants it to stop. An upgrade that works does not come back from here; after one that
/// does not, the house is built again as it was.
fn serve_until_stopped(plan: &ServeOptions, kept: &ServerFds, upgrade: &Upgrade) -> Result<()> {
    let mut failed = None;
    loop {
        match assemble::run_server(plan, kept, failed)? {
            ServerCommand::Stop => return Ok(()),
            ServerCommand::Upgrade => {
                let error = upgrade.exec(kept);
                tracing::error!(%error, "the upgrade did not happen; going on as before");
                failed = Some(error.to_string());
            }
        }
    }
}

/// Other processes of the same user may neither read our memory nor trace us, and there is no core dump with tokens in it.
/// Keepers stay as they are: the server finds one that lives by the files it has open, which the system shows only of
/// processes that can be dumped.
fn protect_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "cannot protect the memory of this process");
        }
    }
}

/// Away from the terminal and the folder this was started with. After an upgrade we are away already.
fn detach() -> Result<()> {
    let _ = rustix::process::setsid();
    std::env::set_current_dir("/").context("cannot enter /")
}

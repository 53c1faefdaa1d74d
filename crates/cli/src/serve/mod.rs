//! `paned serve`: assembles a server and runs it until it is asked to stop.
//!
//! Order matters here. The lock comes first, so that no other server touches the rest; then the
//! listeners, the journal, the panes; `server.json` and the ready line come last, when what they
//! say is true. [`server_fds::ServerFds`] survives an upgrade; everything else is assembled again.

mod assemble;
mod compat_flag;
mod extensions;
mod handover;
mod listeners;
pub(crate) mod lock;
mod logs;
mod path_lock;
mod ports;
pub(crate) mod ready_line;
pub(crate) mod remote;
mod server_fds;
mod sign_in;
mod signals;
mod tls;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_compat::{CompatAddress, CompatProtocol};
use paned_keeper::fds::close_inherited;
use paned_keeper::memory;
use paned_keeper::process_title;
use paned_kernel::ServerCommand;
use paned_model::Refusal;

use crate::context::CliContext;
use crate::out::Out;
use crate::settings::{
    self, SettingFlags, Settings, UnusedVariable, process_env, process_variables, unused_variables,
};
use crate::state_folder::StateFolder;
use compat_flag::CompatFlag;
use handover::Upgrade;
use server_fds::ServerFds;

const EXAMPLES: &str = "\
Examples:
  paned serve                          on 127.0.0.1 and ::1, port 7263
  paned serve --port 0 --json          on a free port, printed as JSON
  paned serve --state-dir /tmp/try     separate from your other panes
  paned serve --listen lan             also for other devices, with TLS
  paned serve --compat opencode-pty=127.0.0.1:7264,open
                                       for clients of opencode-pty

Settings come from flags, then PANED_* variables, then those of the tools paned replaces \
(POLY_PORT, POLY_HOSTNAME, PTY_WEB_PORT, PTY_WEB_HOSTNAME, PTY_MAX_BUFFER_SIZE, AGENTMUX_*), then config.toml, then defaults. PANED_LOG sets what is logged to \
standard error (error, warn, info, debug, trace). Ctrl+C stops the server; panes keep running, and the next server recovers them.";

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
    #[arg(long, visible_alias = "hostname")]
    host: Option<String>,
    /// Another tool's protocol (agentapi, agentmux, opencode-pty, poly) at a port of its own;
    /// `,open` accepts clients without a token, `,pane=NAME` selects the agent of agentapi. The
    /// default address comes from the tool's own variables, such as PTY_WEB_PORT and POLY_PORT
    #[arg(long, alias = "door", value_name = "NAME[=ADDRESS[,open]]")]
    compat: Vec<CompatFlag>,
    /// Also serve other machines, with TLS: `lan` or ADDRESS[:PORT]; the default port is 7443.
    /// Every client needs a token; `paned web --qr` signs a phone in [env: PANED_LISTEN]
    #[arg(long, value_name = "lan|ADDRESS")]
    listen: Option<String>,
    /// A name by which clients call this server, as HOST or HOST:PORT; repeatable
    #[arg(long, value_name = "HOST")]
    name: Vec<String>,
    /// Your own certificate for `--listen`, as PEM [default: one that paned makes]
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The key of your own certificate, as PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// The folder with extensions [env: PANED_EXTENSIONS_DIR]
    /// [default: ~/.local/share/paned/extensions]
    #[arg(long, value_name = "DIR")]
    extensions_dir: Option<PathBuf>,
}

impl ListenArgs {
    fn flags(&self) -> SettingFlags {
        let port = self.port.map(|port| ("port", port.to_string()));
        let host = self.host.clone().map(|host| ("host", host));
        let extensions = self.extensions_dir.as_ref();
        let extensions =
            extensions.map(|folder| ("extensions_dir", folder.to_string_lossy().into_owned()));
        let listen = self.listen.clone().map(|listen| ("server.listen", listen));
        let names = (!self.name.is_empty()).then(|| ("server.names", self.name.join("\n")));
        // A server in the background runs in another folder.
        let file = |key, path: &Option<PathBuf>| {
            let path =
                path.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone()))?;
            Some((key, path.to_string_lossy().into_owned()))
        };
        let cert = file("server.tls_cert", &self.tls_cert);
        let key = file("server.tls_key", &self.tls_key);
        let compat = self.compat.iter().filter_map(CompatFlag::setting);
        let own = [port, host, extensions, listen, names, cert, key];
        own.into_iter().flatten().chain(compat).collect()
    }

    /// The protocols with a port of their own: those of the command line, then those of the
    /// settings.
    fn compat_addresses(&self, settings: &Settings) -> Result<Vec<CompatAddress>, Refusal> {
        let mut found: Vec<CompatAddress> = self.compat.iter().filter_map(CompatFlag::at).collect();
        for listener in &settings.compat.listeners {
            let at: CompatAddress = listener.parse().map_err(Refusal::invalid)?;
            if found.iter().all(|other| other.protocol != at.protocol) {
                found.push(at);
            }
        }
        Ok(found)
    }

    /// The same as arguments of a command line.
    pub(crate) fn to_args(&self) -> Vec<String> {
        let flags = self.flags().into_iter().filter(|(key, _)| !key.starts_with("compat."));
        let compat = self.compat.iter().map(|flag| ("compat", flag.to_string()));
        let flag_of = |key: &str| {
            settings::find(key).and_then(|row| row.flag).map_or(format!("--{key}"), str::to_owned)
        };
        let to_args = |(key, value): (&str, String)| {
            let flag = flag_of(key);
            let values: Vec<String> = value.lines().map(str::to_owned).collect();
            values.into_iter().flat_map(move |value| [flag.clone(), value])
        };
        flags.chain(compat).flat_map(to_args).collect()
    }
}

/// What a server is assembled from, also after an upgrade that failed.
struct ServeOptions {
    out: Out,
    settings: Settings,
    state: StateFolder,
    /// The flags of the command line that say where to listen.
    listen_args: Vec<String>,
    compat: Vec<CompatAddress>,
    ready_format: ReadyFormat,
}

/// The format in which a server reports that it is ready.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadyFormat {
    Paned,
    Agentmux,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let inherited = handover::take()?;
    handover::original_args();
    process_title::set("paned: server");
    if args.detached {
        detach()?;
    }
    serve(context, &args.listen, ReadyFormat::Paned, inherited)
}

/// The same with the protocol of agentmux, for callers that used to start agentmux's own server.
pub(crate) fn run_agentmux(context: &CliContext) -> Result<ExitCode> {
    let inherited = handover::take()?;
    serve(context, &ListenArgs::default(), ReadyFormat::Agentmux, inherited)
}

fn serve(
    context: &CliContext,
    listen: &ListenArgs,
    ready_format: ReadyFormat,
    inherited: Option<ServerFds>,
) -> Result<ExitCode> {
    memory::configure_malloc();
    close_inherited().context("cannot list the open files")?;
    protect_memory();
    let mut flags = listen.flags();
    if ready_format == ReadyFormat::Agentmux {
        flags.insert("compat.agentmux_serve", true.to_string());
    }
    let settings = context.settings(flags)?;
    let compat = listen.compat_addresses(&settings)?;
    logs::start(log_file(&settings, &compat))?;
    let state = StateFolder::at(settings.state_dir.clone());
    let listen_args = listen.to_args();
    refuse_ignored_password(&compat)?;
    warn_of_unused_variables(&settings, &compat);
    let plan =
        ServeOptions { out: context.out, settings, state, listen_args, compat, ready_format };
    let upgrade = Upgrade::new()?;
    let fds = match inherited {
        Some(fds) => fds.lock_path(&plan.state),
        None => ServerFds::new(&plan)?,
    };
    serve_until_stopped(&plan, &fds, &upgrade)?;
    plan.state.remove_server_info();
    let _ = fs::remove_file(plan.state.socket());
    Ok(ExitCode::SUCCESS)
}

/// The file of agentmux's log: only while its protocol has a port of its own, because the variable
/// may be left over.
fn log_file<'a>(settings: &'a Settings, compat: &[CompatAddress]) -> Option<&'a Path> {
    let is_served = compat.iter().any(|at| at.protocol == CompatProtocol::Agentmux);
    settings.compat.log_file.as_deref().filter(|_| is_served)
}

/// opencode-pty asks for a password where these variables are set, and paned does not: an open
/// listener would be open to every program of this machine against the user's intention.
fn refuse_ignored_password(compat: &[CompatAddress]) -> Result<(), Refusal> {
    let is_open = |at: &CompatAddress| {
        at.protocol == CompatProtocol::OpencodePty && at.accepts_clients_without_token()
    };
    if process_env("PTY_WEB_PASSWORD").is_none() || !compat.iter().any(is_open) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "PTY_WEB_PASSWORD is set, but paned asks clients of opencode-pty for no password: unset it, \
         or listen with `--compat opencode-pty=127.0.0.1:PORT`, where clients need a token",
    ))
}

/// One left over from another tool opens no port by itself, and some have no effect at all.
fn warn_of_unused_variables(settings: &Settings, compat: &[CompatAddress]) {
    let mut known = settings.compat.clone();
    known.unused_variables.retain(|(_, tool)| compat.iter().all(|at| at.protocol != *tool));
    for UnusedVariable { name, reason } in unused_variables(process_variables(), &known) {
        tracing::warn!("{name} is set, but has no effect: {reason}");
    }
}

/// Serves until a client or a signal asks for a stop. An upgrade that succeeds does not return from
/// here; after one that fails, the server is assembled again from the same options.
fn serve_until_stopped(plan: &ServeOptions, fds: &ServerFds, upgrade: &Upgrade) -> Result<()> {
    let mut failed = None;
    loop {
        match assemble::run_server(plan, fds, failed)? {
            ServerCommand::Stop => return Ok(()),
            ServerCommand::Upgrade => {
                let error = upgrade.exec(fds);
                tracing::error!(%error, "the upgrade failed; the server keeps running unchanged");
                failed = Some(error.to_string());
            }
        }
    }
}

/// Other processes of the same user can neither read our memory nor trace us, and there is no core
/// dump with tokens in it. Keepers stay dumpable: the server finds a live keeper by its open files,
/// which the system shows only of dumpable processes.
fn protect_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "cannot protect the memory of this process");
        }
    }
}

/// Leaves the terminal and the folder this was started in. After an upgrade `setsid` fails, because
/// we lead a session already.
fn detach() -> Result<()> {
    let _ = rustix::process::setsid();
    std::env::set_current_dir("/").context("cannot enter /")
}

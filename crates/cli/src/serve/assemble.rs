//! Assembles one server and runs it: journal, panes, kernel, listeners. The only module that knows
//! them all.

use std::io::{self, ErrorKind};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_backend::SECRET_VARIABLES;
use paned_backend::adopted::AdoptedPanes;
use paned_backend::native::{ForkServer, NativeBackend};
use paned_backend::tmux::TmuxServerAddr;
use paned_compat::{CompatApis, CompatProtocol};
use paned_keeper::time;
use paned_kernel::journal::{Journal, JournalOptions, JournalRetention, OpenedJournal};
use paned_kernel::{
    AdvertisedAddress, ApprovalSetup, Kernel, KernelLimits, KernelSetup, ServerCommand,
    StartSummary, TmuxViewSetup,
};
use paned_mcp::McpApi;
use paned_model::EventId;
use paned_notify::{NotifyService, NotifySetup};
use paned_server::{HttpServerConfig, ServerLimits};
use tokio::runtime::Builder;

use super::extensions::ServerExtensions;
use super::ready_line::{self, ReadyLine};
use super::server_fds::ServerFds;
use super::sign_in;
use super::signals;
use super::tls::TlsIdentity;
use super::{ReadyFormat, ServeOptions};
use crate::commands::version::VERSION;
use crate::machine::headroom;
use crate::settings::Settings;
use crate::state_folder::{ServerInfo, StateFolder};
use crate::web_page::PAGE;

/// How long blocking tasks may still run at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How often to retry writing server.json while the disk is full.
const DISK_RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Assembles a server and runs it until a client or a signal asks for a stop or an upgrade.
/// `failed` is the error of an upgrade that has just failed. When this returns, the runtime has
/// ended; a blocking task that takes longer than [`SHUTDOWN_TIMEOUT`] may leave its thread behind.
///
/// # Errors
/// When a part of the server cannot be started.
pub(super) fn run_server(
    plan: &ServeOptions,
    fds: &ServerFds,
    failed: Option<String>,
) -> Result<ServerCommand> {
    let path = plan.state.journal();
    let retention =
        JournalRetention { events: plan.settings.events_kept, bytes: plan.settings.journal_bytes };
    let options = JournalOptions { retention, must_exist: plan.state.is_used(), now: time::now };
    let journal = Journal::open(&path, options);
    let journal = journal.with_context(|| format!("cannot open {}", path.display()))?;
    let mut threads = Builder::new_multi_thread();
    let runtime = threads.worker_threads(workers()).thread_name("paned").enable_all().build()?;
    let command = runtime.block_on(serve(plan, fds, journal, failed));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    command
}

/// Two threads, so that one task under a flood of output does not hold up the rest; on one core
/// they would only wake each other.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2))
}

async fn serve(
    plan: &ServeOptions,
    fds: &ServerFds,
    journal: (Journal, OpenedJournal),
    failed: Option<String>,
) -> Result<ServerCommand> {
    let (journal, opened) = journal;
    let mut signals = signals::listen()?;
    let url = format!("http://{}", fds.address()?);
    let native = Arc::new(native(plan, fds)?);
    let (kernel, started) = Kernel::start(setup(plan, fds, &url)?, journal, opened, native).await?;
    let extensions = ServerExtensions::start(plan, &kernel, started.started).await;
    let notifications = notifications(plan, &kernel, started.started);
    let identity = fds.remote.as_ref().map(|_| TlsIdentity::open(&plan.state, &plan.settings));
    let identity = identity.transpose()?;
    let link = sign_in_link(plan, &kernel, &url).await;
    let info = ServerInfo {
        remote: identity
            .as_deref()
            .map(|identity| fds.remote_info(plan, identity))
            .transpose()?
            .flatten(),
        ..server_info(plan, fds, url, failed)?
    };
    announce(plan, fds, info, Announcement { started, link })?;
    let mut command = ServerCommand::Stop;
    let shutdown = async {
        command = tokio::select! {
            requested = kernel.next_command() => requested,
            _ = &mut signals => ServerCommand::Stop,
        };
    };
    let apis = CompatApis::new(plan.settings.compat.agentmux.clone());
    let limits = ServerLimits::default().with_files(headroom::files().0);
    let mut served_apis = apis.all();
    served_apis.push(Arc::new(McpApi::default()));
    let config = HttpServerConfig {
        limits,
        compat: served_apis,
        page: PAGE,
        names: plan.settings.names.clone(),
    };
    let listeners = fds.listeners(plan, &apis, identity)?;
    let served = paned_server::serve(kernel.clone(), listeners, config, shutdown).await;
    extensions.stop().await;
    if let Some(notifications) = notifications {
        notifications.stop().await;
    }
    served?;
    if command == ServerCommand::Upgrade {
        // A stop that was answered meanwhile must not get lost.
        command = kernel.next_command().await;
    }
    kernel.stop().await;
    Ok(command)
}

/// Starts what notifies people, if there are rules for it.
fn notifications(
    plan: &ServeOptions,
    kernel: &Kernel,
    first_event: EventId,
) -> Option<NotifyService> {
    NotifyService::start(NotifySetup {
        kernel: kernel.clone(),
        rules: plan.settings.notify.clone(),
        place: plan.state.folder().join("notify.json"),
        first_event,
        env: environment().collect(),
    })
}

/// The environment of this process without secrets.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !SECRET_VARIABLES.contains(&name.as_str()))
}

/// How long the title of a keeper can be: its role and the longest id of a pane.
const TITLE_BYTES: usize = 80;

fn program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot determine the path of this program")
}

fn native(plan: &ServeOptions, fds: &ServerFds) -> Result<NativeBackend> {
    let program = program()?;
    let mut args = vec!["fork-server".into()];
    if let Some(files) = fds.files {
        args.extend(["--files".into(), files.to_string().into()]);
    }
    // Room for the titles of keepers, which are written over this command line.
    args.push(".".repeat(TITLE_BYTES).into());
    let fork_server = ForkServer::new(program, args, plan.state.keeper_log());
    Ok(NativeBackend::new(plan.state.folder().to_owned(), fork_server))
}

fn setup(plan: &ServeOptions, fds: &ServerFds, url: &str) -> Result<KernelSetup> {
    Ok(KernelSetup {
        version: VERSION,
        address: AdvertisedAddress {
            url: Some(url.to_owned()),
            socket: Some(plan.state.socket().to_string_lossy().into_owned()),
            poly_url: fds.compat_urls(plan)?.remove(CompatProtocol::Poly.name()),
        },
        env: environment().collect(),
        program_folder: program()?.parent().map(Path::to_owned),
        token_file: Some(plan.state.token()),
        limits: limits(&plan.settings)?,
        approvals: approvals(&plan.settings),
        permissions: plan.settings.permissions.clone(),
        tmux_view: plan.settings.tmux_enabled.then(|| tmux_view(plan)).transpose()?,
        adopted_tmux: Some(AdoptedPanes::new(plan.state.folder(), program()?)),
        profiles: Some(plan.settings.profiles_dir.clone()),
        worktrees: Some(plan.state.folder().join("worktrees")),
        now: time::now,
    })
}

/// How panes are shown in tmux. Whether tmux is installed is checked when a client asks to show
/// one.
fn tmux_view(plan: &ServeOptions) -> Result<TmuxViewSetup> {
    let program = program()?;
    let folder = plan.state.folder().to_string_lossy().into_owned();
    let args = ["--state-dir", &folder, "attach", "--detach-key", "none"].map(str::to_owned);
    let program = program.to_string_lossy().into_owned();
    let mut server = TmuxServerAddr::own(&plan.state.tmux_dir());
    if let Some(socket) = &plan.settings.tmux_socket {
        server = server.with_socket(socket);
    }
    if let Some(config) = &plan.settings.tmux_config {
        server = server.with_user_config(config);
    }
    Ok(TmuxViewSetup {
        server,
        session: plan.settings.session.clone(),
        attach: [program].into_iter().chain(args).collect(),
        limits: plan.settings.layout.clone(),
        max_waiting: plan.settings.queue_limit.try_into()?,
        wait_timeout: Duration::from_secs(plan.settings.queue_timeout_seconds),
        quiet_after: NonZeroU64::new(plan.settings.quiet_seconds)
            .map(|seconds| Duration::from_secs(seconds.get())),
        rules: plan.settings.rules.clone(),
        subagent_command: plan.settings.subagent.clone(),
        layouts: plan.state.folder().join("layouts"),
    })
}

fn approvals(settings: &Settings) -> ApprovalSetup {
    ApprovalSetup {
        actions: settings.approval_actions.clone(),
        expires_after: Duration::from_secs(settings.approval_expire_seconds),
        wait_limit: Duration::from_secs(settings.approval_wait_seconds),
    }
}

fn limits(settings: &Settings) -> Result<KernelLimits> {
    Ok(KernelLimits {
        panes: settings.panes.try_into()?,
        agents: settings.agents.try_into()?,
        agent_depth: settings.agent_depth.try_into()?,
        agents_per_agent: settings.agents_per_agent.try_into()?,
        tape_bytes: settings.tape_bytes,
        lines: NonZeroU64::new(settings.lines),
        meta: settings.meta_bytes.try_into()?,
        events_per_second: settings.events_per_second,
        streams_per_grant: settings.streams_per_grant.try_into()?,
        kill_grace: Duration::from_millis(settings.grace_ms),
        hook_timeout: Duration::from_millis(settings.hook_ms),
        ..KernelLimits::default()
    })
}

fn server_info(
    plan: &ServeOptions,
    fds: &ServerFds,
    url: String,
    upgrade_failed: Option<String>,
) -> Result<ServerInfo> {
    Ok(ServerInfo {
        pid: std::process::id(),
        url,
        socket: plan.state.socket(),
        version: VERSION.to_owned(),
        started_at: time::now(),
        token_file: plan.state.token(),
        args: plan.listen_args.clone(),
        upgrade_failed,
        compat: fds.compat_urls(plan)?,
        remote: None,
    })
}

fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Writes server.json once the disk has space. The task ends with the runtime, so it never writes
/// after the server has exited.
async fn retry_write_server_info(state: StateFolder, info: ServerInfo) {
    while state.write_server_info(&info).is_err() {
        tokio::time::sleep(DISK_RETRY_INTERVAL).await;
    }
    tracing::info!("server.json is written");
}

/// What is printed besides addresses.
struct Announcement {
    started: StartSummary,
    /// The link that signs a browser in.
    link: Option<String>,
}

/// A link to the web page, for a person in front of a terminal: elsewhere it would end in a log.
async fn sign_in_link(plan: &ServeOptions, kernel: &Kernel, url: &str) -> Option<String> {
    if plan.out.is_json() || !plan.out.is_terminal() || PAGE.files.is_empty() {
        return None;
    }
    let link = sign_in::link_for_owner(kernel, url).await;
    link.inspect_err(|refusal| tracing::warn!(%refusal, "cannot make a sign-in link")).ok()
}

/// Everything is ready: writes server.json, and prints the ready line.
fn announce(
    plan: &ServeOptions,
    fds: &ServerFds,
    info: ServerInfo,
    Announcement { started, link }: Announcement,
) -> Result<()> {
    let is_first = !fds.is_inherited && info.upgrade_failed.is_none();
    match plan.state.write_server_info(&info) {
        // Clients find the server by its socket, which needs no disk space.
        Err(error) if is_disk_full(&error) => {
            plan.state.remove_server_info();
            tracing::error!(%error, "cannot write server.json; retrying until the disk has room");
            tokio::spawn(retry_write_server_info(plan.state.clone(), info.clone()));
        }
        written => {
            let folder = plan.state.folder().display();
            written.with_context(|| format!("cannot write to {folder}"))?;
        }
    }
    if is_first {
        // The parent may have closed our standard output; that is no reason not to serve.
        let ready = ReadyLine { notes: fds.notes.clone(), ..ReadyLine::from(&info) };
        let _ = match plan.ready_format {
            ReadyFormat::Paned => ready_line::print(plan.out, &ready, started, link.as_deref()),
            ReadyFormat::Agentmux => ready_line::print_agentmux(plan.out, &ready),
        };
    }
    fds.notes
        .iter()
        .filter(|_| is_first && plan.out.is_json())
        .for_each(|it| tracing::warn!("{it}"));
    // Otherwise the ready line has just told the user.
    if plan.out.is_json() || !is_first {
        let living = started.live;
        let panes = started.panes;
        tracing::info!(url = info.url, version = info.version, living, panes, "serving");
    }
    Ok(())
}

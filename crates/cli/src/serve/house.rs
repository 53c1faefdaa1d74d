//! The house, built and lived in once: journal, panes, kernel, faces. The only place that knows them all.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_face::Rules;
use paned_keeper::clock;
use paned_kernel::journal::{Journal, Keep, Opened, Options};
use paned_kernel::{Address, Kernel, Limits, Setup, Stage, Started, Wish};
use paned_substrate::SECRET_VARIABLES;
use paned_substrate::foreign::Foreign;
use paned_substrate::native::{Native, Nursery};
use paned_substrate::tmux::Place;
use tokio::runtime::Builder;

use super::kept::Kept;
use super::ready::{self, Ready};
use super::signals;
use super::{Greeting, Plan};
use crate::commands::version::VERSION;
use crate::machine::headroom;
use crate::settings::Settings;
use crate::state::{Served, State};

/// How long what still runs on threads may take when everything else is over.
const FAREWELL: Duration = Duration::from_secs(2);
/// How often to see whether a full disk has room for server.json.
const ROOM_CHECK: Duration = Duration::from_millis(200);

/// Builds the house and lives in it until somebody wants otherwise. `failed` says why an upgrade just did not
/// happen. When this returns, no thread of it is left.
///
/// # Errors
/// When it cannot be built.
pub(super) fn live(plan: &Plan, kept: &Kept, failed: Option<String>) -> Result<Wish> {
    let path = plan.state.journal();
    let keep = Keep { events: plan.settings.events_kept, bytes: plan.settings.journal_bytes };
    let options = Options { keep, is_used: plan.state.is_used(), now: clock::now };
    let journal = Journal::open(&path, options);
    let journal = journal.with_context(|| format!("cannot open {}", path.display()))?;
    let mut threads = Builder::new_multi_thread();
    let runtime = threads.worker_threads(workers()).thread_name("paned").enable_all().build()?;
    let wish = runtime.block_on(serve(plan, kept, journal, failed));
    runtime.shutdown_timeout(FAREWELL);
    wish
}

/// Two threads, so that a flood in one place does not hold up the rest; on one core they would only wake each
/// other.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2))
}

async fn serve(
    plan: &Plan,
    kept: &Kept,
    (journal, opened): (Journal, Opened),
    failed: Option<String>,
) -> Result<Wish> {
    let mut signals = signals::listen()?;
    let url = format!("http://{}", kept.address()?);
    let native = Arc::new(native(plan, kept)?);
    let (kernel, started) =
        Kernel::start(setup(plan, kept, &url)?, journal, opened, native).await?;
    let is_first = !kept.is_inherited && failed.is_none();
    announce(plan, served(plan, kept, url, failed)?, started, is_first)?;
    let mut wish = Wish::Stop;
    let wished = async {
        wish = tokio::select! {
            wish = kernel.wished() => wish,
            _ = &mut signals => Wish::Stop,
        };
    };
    let agentmux = plan.settings.doors.agentmux.clone();
    let limits = paned_face::Limits::default().with_files(headroom::files().0);
    let rules = Rules { agentmux, limits };
    paned_face::serve(kernel.clone(), kept.listeners(plan)?, rules, wished).await?;
    kernel.stop().await;
    Ok(wish)
}

fn program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot tell which program this is")
}

fn native(plan: &Plan, kept: &Kept) -> Result<Native> {
    let program = program()?;
    let mut args = vec!["nursery".into()];
    if let Some(files) = kept.files {
        args.extend(["--files".into(), files.to_string().into()]);
    }
    let nursery = Nursery::new(program, args, plan.state.keeper_log());
    Ok(Native::new(plan.state.folder().to_owned(), nursery))
}

fn setup(plan: &Plan, kept: &Kept, url: &str) -> Result<Setup> {
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Setup {
        version: VERSION,
        address: Address {
            url: Some(url.to_owned()),
            port: Some(kept.address()?.port()),
            socket: Some(plan.state.socket().to_string_lossy().into_owned()),
        },
        env: env.filter(|(name, _)| !SECRET_VARIABLES.contains(&name.as_str())).collect(),
        token_file: Some(plan.state.token()),
        limits: limits(&plan.settings)?,
        stage: Some(stage(plan)?),
        foreign: Some(Foreign::new(plan.state.folder(), program()?)),
        profiles: Some(plan.settings.profiles_dir.clone()),
        worktrees: Some(plan.state.folder().join("worktrees")),
        now: clock::now,
    })
}

/// Where panes are shown in tmux. Whether there is one is found out when somebody wants that.
fn stage(plan: &Plan) -> Result<Stage> {
    let program = program()?;
    let folder = plan.state.folder().to_string_lossy().into_owned();
    let words = ["--state-dir", &folder, "attach", "--detach-key", "none"].map(str::to_owned);
    let program = program.to_string_lossy().into_owned();
    Ok(Stage {
        place: Place::own(&plan.state.stage()),
        attach: [program].into_iter().chain(words).collect(),
        limits: plan.settings.layout.clone(),
        waiting: plan.settings.waiting.try_into()?,
        patience: Duration::from_secs(plan.settings.patience_seconds),
        rules: plan.settings.rules.clone(),
        subagent: plan.settings.subagent.clone(),
        layouts: plan.state.folder().join("layouts"),
    })
}

fn limits(settings: &Settings) -> Result<Limits> {
    Ok(Limits {
        panes: settings.panes.try_into()?,
        agents: settings.agents.try_into()?,
        tape: settings.tape_bytes,
        meta: settings.meta_bytes.try_into()?,
        events_per_second: settings.events_per_second,
        streams: settings.streams_per_grant.try_into()?,
        grace: Duration::from_millis(settings.grace_ms),
        hook: Duration::from_millis(settings.hook_ms),
        ..Limits::default()
    })
}

fn served(plan: &Plan, kept: &Kept, url: String, upgrade_failed: Option<String>) -> Result<Served> {
    Ok(Served {
        pid: std::process::id(),
        url,
        socket: plan.state.socket(),
        version: VERSION.to_owned(),
        started_at: clock::now(),
        token_file: plan.state.token(),
        args: plan.words.clone(),
        upgrade_failed,
        doors: kept.door_urls(plan)?,
    })
}

fn is_out_of_room(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Writes server.json once the disk has room. It ends with the runtime, so never after the server has left.
async fn write_served_later(state: State, served: Served) {
    while state.write_served(&served).is_err() {
        tokio::time::sleep(ROOM_CHECK).await;
    }
    tracing::info!("server.json is written");
}

/// Everything is there: write down where, and say so to whoever started us.
fn announce(plan: &Plan, served: Served, started: Started, is_first: bool) -> Result<()> {
    match plan.state.write_served(&served) {
        // Clients find the server by its socket, which takes no room.
        Err(error) if is_out_of_room(&error) => {
            plan.state.forget_served();
            tracing::error!(%error, "cannot write server.json; trying again until the disk has room");
            tokio::spawn(write_served_later(plan.state.clone(), served.clone()));
        }
        written => {
            let folder = plan.state.folder().display();
            written.with_context(|| format!("cannot write into {folder}"))?;
        }
    }
    if is_first {
        // Whoever started us may not care to hear it; that is no reason not to serve.
        let ready = Ready::from(&served);
        let _ = match plan.greeting {
            Greeting::Ours => ready::say(plan.out, &ready, started),
            Greeting::Agentmux => ready::say_agentmux(plan.out, &ready),
        };
    }
    // A person has just read it.
    if plan.out.is_json() || !is_first {
        let (living, panes) = (started.living, started.panes);
        tracing::info!(url = served.url, version = served.version, living, panes, "serving");
    }
    Ok(())
}

//! `paned service`: has systemd or launchd start the server when the user logs in.

mod unit;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result};
use clap::Subcommand;
use paned_model::{Code, Refusal};
use serde_json::{Value, json};

use crate::context::CliContext;
use crate::out::StyledLine;
use crate::settings::process_env;
use unit::{LABEL, ServiceManager, ServiceSpec, clean_path};

const INSTALL: &str = "\
Examples:
  paned service install
  paned service install --dry-run      print the service file and change nothing

The service uses the current PATH of your shell, so that it finds your agents. Install it again after your \
PATH changes. Panes keep running when the service is stopped.";

const UNINSTALL: &str = "\
Examples:
  paned service uninstall

Panes keep running.";

const STATUS: &str = "\
Examples:
  paned service status
  paned service status --json";

/// Start the server when you log in
#[derive(Subcommand)]
pub(crate) enum ServiceSubcommand {
    /// Install the service for your user and start it
    #[command(after_help = INSTALL)]
    Install {
        /// Print the service file and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        manager: ManagerArg,
    },
    /// Stop the service and remove it
    #[command(after_help = UNINSTALL)]
    Uninstall {
        #[command(flatten)]
        manager: ManagerArg,
    },
    /// Show whether the service is installed and running
    #[command(after_help = STATUS)]
    Status {
        #[command(flatten)]
        manager: ManagerArg,
    },
}

#[derive(clap::Args)]
pub(crate) struct ManagerArg {
    /// The service manager [default: that of this system]
    #[arg(long, value_name = "NAME")]
    manager: Option<ServiceManager>,
}

impl ManagerArg {
    fn get(&self) -> ServiceManager {
        self.manager.unwrap_or_else(ServiceManager::here)
    }
}

pub(crate) fn run(context: &CliContext, command: &ServiceSubcommand) -> Result<ExitCode> {
    match command {
        ServiceSubcommand::Install { dry_run: true, manager } => {
            context.out.bytes(spec(context)?.render(manager.get()).as_bytes())?;
        }
        ServiceSubcommand::Install { manager, .. } => install(context, manager.get())?,
        ServiceSubcommand::Uninstall { manager } => uninstall(context, manager.get())?,
        ServiceSubcommand::Status { manager } => status(context, manager.get())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// This binary with the folders that the command line names.
fn spec(context: &CliContext) -> Result<ServiceSpec> {
    let binary = std::env::current_exe().context("cannot determine the path of this program")?;
    let mut args = Vec::new();
    let global = &context.global;
    for (flag, path) in [("--state-dir", &global.state_dir), ("--config", &global.config)] {
        if let Some(path) = path {
            args.extend([
                flag.to_owned(),
                std::path::absolute(path)?.to_string_lossy().into_owned(),
            ]);
        }
    }
    let path = clean_path(&process_env("PATH").unwrap_or_default());
    Ok(ServiceSpec { binary, args, path })
}

fn install(context: &CliContext, manager: ServiceManager) -> Result<()> {
    let path = manager.path()?;
    let text = spec(context)?.render(manager);
    require(manager)?;
    let before = fs::read_to_string(&path).ok();
    let failed = || format!("cannot write {}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(&path)).with_context(failed)?;
    keep_changes(context, &path, before.as_deref().filter(|before| *before != text))?;
    fs::write(&path, text).with_context(failed)?;
    // A second server for the same state folder would fail to start.
    let is_running = context.call::<Value>("server:status", &()).is_ok();
    if let Err(error) = enable(manager, &path, is_running) {
        // A file that is not in effect would look installed.
        let _ = before.map_or_else(|| fs::remove_file(&path), |text| fs::write(&path, text));
        return Err(error);
    }
    if context.out.is_json() {
        let answer = json!({ "path": path, "started": !is_running });
        return Ok(context.out.json(&answer)?);
    }
    context.out.line(format!("wrote {}", path.display()))?;
    let next = if is_running {
        "a server is already running; the service takes over at your next login"
    } else {
        "started the service; it starts again whenever you log in"
    };
    context.out.line(next)?;
    if manager == ServiceManager::Systemd {
        context
            .out
            .note("`loginctl enable-linger` keeps it running while you are not logged in")?;
    }
    Ok(())
}

/// A service file that is replaced may have been edited by hand.
fn keep_changes(context: &CliContext, path: &Path, before: Option<&str>) -> Result<()> {
    let Some(before) = before else { return Ok(()) };
    let copy = path.with_extension("bak");
    fs::write(&copy, before).with_context(|| format!("cannot write {}", copy.display()))?;
    Ok(context.out.note(format!("saved the old service file as {}", copy.display()))?)
}

/// Has the service manager read the file, and start the server unless one runs.
fn enable(manager: ServiceManager, path: &Path, is_running: bool) -> Result<()> {
    match manager {
        ServiceManager::Systemd => {
            control(&["systemctl", "--user", "daemon-reload"])?;
            let now: &[&str] = if is_running { &[] } else { &["--now"] };
            control(&[&["systemctl", "--user", "enable"], now, &["paned"]].concat())
        }
        ServiceManager::Launchd if is_running => Ok(()),
        ServiceManager::Launchd => {
            // It fails where the agent is not loaded yet.
            let _ = control(&["launchctl", "bootout", &target()]);
            control(&["launchctl", "bootstrap", &domain(), &path.to_string_lossy()])
        }
    }
}

fn uninstall(context: &CliContext, manager: ServiceManager) -> Result<()> {
    let path = manager.path()?;
    if !path.exists() {
        let sentence = format!("the service is not installed: no file {}", path.display());
        return Err(Refusal::not_found(sentence).into());
    }
    match manager {
        ServiceManager::Systemd => control(&["systemctl", "--user", "disable", "--now", "paned"])?,
        // It fails where the agent is not loaded.
        ServiceManager::Launchd => drop(control(&["launchctl", "bootout", &target()])),
    }
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    if manager == ServiceManager::Systemd {
        control(&["systemctl", "--user", "daemon-reload"])?;
    }
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "path": path }))?);
    }
    Ok(context.out.line(format!("removed {}; panes keep running", path.display()))?)
}

fn status(context: &CliContext, manager: ServiceManager) -> Result<()> {
    let path = manager.path()?;
    let is_installed = path.exists();
    let words = match manager {
        ServiceManager::Systemd => {
            ["systemctl", "--user", "is-active", "paned"].map(str::to_owned).to_vec()
        }
        ServiceManager::Launchd => ["launchctl".to_owned(), "print".to_owned(), target()].to_vec(),
    };
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let is_active = is_installed && control(&words).is_ok();
    let is_running = context.call::<Value>("server:status", &()).is_ok();
    if context.out.is_json() {
        return Ok(context.out.json(&json!({
            "installed": is_installed,
            "path": path,
            "active": is_active,
            "serverRunning": is_running,
        }))?);
    }
    let installed = match is_installed {
        true => path.display().to_string(),
        false => "not installed; `paned service install` installs it".to_owned(),
    };
    let word = |yes: bool, on: &'static str, off: &'static str| if yes { on } else { off };
    Ok(context.out.fields(&[
        ("file", StyledLine::from(installed)),
        ("service", word(is_active, "active", "not active").into()),
        ("server", word(is_running, "running", "not running").into()),
    ])?)
}

/// Refuses before anything is written where the service manager is missing.
fn require(manager: ServiceManager) -> Result<(), Refusal> {
    let program = match manager {
        ServiceManager::Systemd => "systemctl",
        ServiceManager::Launchd => "launchctl",
    };
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let sentence = format!(
                "`{program}` is not on your PATH; start the server with `paned server start` from \
                 your shell's profile, or print the service file with `--dry-run`"
            );
            Err(Refusal::new(Code::Unavailable, sentence))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Runs a command of the service manager.
fn control(words: &[&str]) -> Result<()> {
    let (program, args) = words.split_first().context("no command")?;
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().escape_debug().to_string();
    let sentence = format!(
        "`{}` failed: {said}; is this a login session of your user? `paned server start` needs none",
        words.join(" ")
    );
    Err(Refusal::new(Code::Unavailable, sentence).into())
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}

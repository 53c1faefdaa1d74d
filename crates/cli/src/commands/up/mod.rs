//! `paned up` and `paned down`: start and end the panes of a project, which a file defines.
//!
//! Thin over actions: the file is the caller's, so the plan is made here, and carried out with
//! `pane:new`, `pane:wait` and `pane:close`.

mod definition;
mod file;
mod follow;
mod key;
mod plan;
mod procfile;
mod start;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{PaneInfo, Refusal};
use serde_json::{Value, json};

use self::definition::Project;
use self::start::{PaneOutcome, Starter, UpProgress};
use super::for_each;
use super::support::exit_status::exit_code;
use crate::client;
use crate::context::CliContext;

/// The files that are looked for, in this order.
const FILES: [&str; 2] = ["paned.toml", "Procfile"];

/// Start the panes of a project
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned up                       the panes in paned.toml or the Procfile here
  paned up web                   only web and its dependencies
  paned up --follow              show their output until ctrl+c
  paned up dev.toml              another file

A file paned.toml:
  [panes.db]
  command = \"postgres -D data\"
  wait = { pattern = \"ready to accept connections\" }

  [panes.web]
  command = \"npm run dev\"
  env = { PORT = 3000 }
  restart = \"on-failure\"
  depends_on = [\"db\"]

The command returns when every pane is ready. Running panes are left alone unless their definition has \
changed; then they are restarted. `paned down` stops them. docs/up.md describes all keys.")]
pub(crate) struct UpArgs {
    /// The project file [default: paned.toml or Procfile here], and panes to start with their
    /// dependencies [default: all]
    #[arg(value_name = "FILE|NAME")]
    name: Vec<String>,
    /// The project file, with any name
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A prefix for the ids of all panes, as in `shop-`
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Show the output of the panes until ctrl+c; the panes keep running
    #[arg(short, long)]
    follow: bool,
}

/// Stop and delete the panes of a project
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned down                     all panes that `paned up` started here
  paned down web                 only web and its dependents
  paned down ../shop/paned.toml  the project in the folder of that file

Panes are stopped in reverse order of their dependencies, and deleted with their output. Panes that \
were not started by `paned up` in this folder are left alone. The file itself is not read.")]
pub(crate) struct DownArgs {
    /// A file in the folder of the project [default: the current folder], and panes to stop with
    /// their dependents [default: all]
    #[arg(value_name = "FILE|NAME")]
    name: Vec<String>,
    /// A file in the folder of the project, with any name
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(crate) fn up(context: &CliContext, args: &UpArgs) -> Result<ExitCode> {
    let (file, names) = file_and_names(args.file.as_deref(), &args.name);
    let mut project = read(file.as_deref())?;
    if let Some(prefix) = &args.prefix {
        project.prefix.clone_from(prefix);
    }
    // Before a server is started.
    project.in_order(names)?;
    let client = context.client_or_start()?;
    let panes: Vec<PaneInfo> = client::block_on(client.call("pane:list", &()))??;
    let key = key::read_or_make(&context.state()?)?;
    let steps = plan::plan_up(&project, names, &panes, &key)?;
    let progress = UpProgress::start(context.out);
    let starter = Starter { out: context.out, client: client.clone(), project, progress };
    let outcomes = client::block_on(starter.run(steps))??;
    let failed = outcomes.iter().find_map(PaneOutcome::failure);
    if context.out.is_json() && !args.follow {
        let panes: Vec<Value> = outcomes.iter().map(PaneOutcome::json).collect();
        context.out.json(&json!({ "panes": panes }))?;
    }
    if failed.is_none() && args.follow {
        follow::follow(context, &client, &outcomes)?;
    }
    Ok(exit_code(failed))
}

pub(crate) fn down(context: &CliContext, args: &DownArgs) -> Result<ExitCode> {
    let (file, names) = file_and_names(args.file.as_deref(), &args.name);
    let folder = match &file {
        Some(file) if !file.exists() => return Err(no_file(file).into()),
        Some(file) => folder_of(file)?,
        None => here()?,
    };
    let panes: Vec<PaneInfo> = context.call("pane:list", &())?;
    let ids = plan::plan_down(&folder.to_string_lossy(), names, &panes);
    if ids.is_empty() {
        let what = match names.is_empty() {
            true => "no panes were started by `paned up`".to_owned(),
            false => format!("`paned up` did not start {}", names.join(", ")),
        };
        context.out.note(format!("{what} in {}", folder.display()))?;
    }
    let mut closed = Vec::new();
    let exit = for_each(context, &ids, |id| {
        let _: Value = context.call("pane:close", &json!({ "paneId": id }))?;
        closed.push(id.to_owned());
        let is_previous = panes.iter().any(|it| it.id.as_str() == id && it.previous_of.is_some());
        if !context.out.is_json() && !is_previous {
            context.out.line(format!("closed {id}"))?;
        }
        Ok(ExitCode::SUCCESS)
    })?;
    if context.out.is_json() {
        context.out.json(&json!({ "closed": closed }))?;
    }
    Ok(exit)
}

/// The refusal of a file that does not exist. What it names may still run.
fn no_file(file: &Path) -> Refusal {
    let sentence = format!(
        "no file {}; if it was deleted, run `paned down` in the folder that it was in",
        file.display()
    );
    Refusal::not_found(sentence)
}

/// The file and the names of panes: a first word that looks like a file is the file.
fn file_and_names<'a>(file: Option<&Path>, words: &'a [String]) -> (Option<PathBuf>, &'a [String]) {
    match words {
        [first, names @ ..] if file.is_none() && is_file_name(first) => (Some(first.into()), names),
        names => (file.map(Path::to_owned), names),
    }
}

fn is_file_name(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    word.contains('/') || word.ends_with(".toml") || name.starts_with("Procfile")
}

/// Reads the file that was named, or the one in this folder.
fn read(file: Option<&Path>) -> Result<Project, Refusal> {
    if let Some(file) = file {
        let text = fs::read_to_string(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Refusal::not_found(format!("no file {}", file.display())),
            kind => Refusal::invalid(format!("cannot read {}: {kind}", file.display())),
        })?;
        return parse(file, &folder_of(file)?, &text);
    }
    for name in FILES {
        match fs::read_to_string(name) {
            Ok(text) => return parse(Path::new(name), &here()?, &text),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Refusal::invalid(format!("cannot read {name}: {}", error.kind())));
            }
        }
    }
    let sentence = "no paned.toml or Procfile in this folder; `paned up --help` shows an example";
    Err(Refusal::not_found(sentence))
}

fn parse(file: &Path, folder: &Path, text: &str) -> Result<Project, Refusal> {
    let is_procfile =
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("Procfile"));
    match is_procfile {
        true => procfile::parse(file, folder, text),
        false => file::parse(file, folder, text),
    }
}

/// The folder that a file is in, without symbolic links: the same for every way to name it.
fn folder_of(file: &Path) -> Result<PathBuf, Refusal> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    canonical(parent.unwrap_or(Path::new(".")))
}

fn here() -> Result<PathBuf, Refusal> {
    canonical(Path::new("."))
}

fn canonical(folder: &Path) -> Result<PathBuf, Refusal> {
    folder.canonicalize().map_err(|error| {
        Refusal::invalid(format!("cannot find the folder {}: {error}", folder.display()))
    })
}

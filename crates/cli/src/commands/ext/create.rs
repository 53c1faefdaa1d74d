//! `paned ext new`

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_kernel::extensions::StarterFiles;
use serde_json::json;

use super::notes;
use crate::commands::ensure_running;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle};

/// What to write.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned ext new counter --ts              in the extensions folder, and started
  paned ext new counter --python --dir .  in ./counter

It has an action, a handler of an event, and a test that runs without paned.")]
pub(crate) struct NewArgs {
    /// Its name: a-z, 0-9 and `-`
    name: String,
    #[command(flatten)]
    language: Language,
    /// The folder in which its folder is made [default: the extensions folder]
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// The language it is written in.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Language {
    /// Write it in TypeScript
    #[arg(long)]
    ts: bool,
    /// Write it in JavaScript
    #[arg(long)]
    js: bool,
    /// Write it in Python
    #[arg(long)]
    python: bool,
}

impl Language {
    fn name(&self) -> &'static str {
        match self {
            Self { ts: true, .. } => "ts",
            Self { js: true, .. } => "js",
            _ => "python",
        }
    }
}

pub(super) fn run(context: &CliContext, args: &NewArgs) -> Result<ExitCode> {
    ensure_running(context)?;
    let cwd = env::current_dir().context("cannot determine the current folder")?;
    // Collected from its components, a path has no `/./`, which would be printed below.
    let dir = args.dir.as_ref().map(|dir| cwd.join(dir).components().collect::<PathBuf>());
    let params = json!({ "name": args.name, "language": args.language.name(), "dir": dir });
    context.show("ext:new", &params, |starter| print(context.out, &starter))
}

fn print(out: Out, starter: &StarterFiles) -> io::Result<()> {
    let name = &starter.name;
    let files: Vec<_> = starter.files.iter().map(|file| file.display().to_string()).collect();
    out.line(
        StyledLine::from("wrote ").then(TextStyle::Strong, &starter.folder.display().to_string()),
    )?;
    out.line(format!("  {}", files.join(", ")))?;
    if let Some(extension) = &starter.extension {
        out.line(notes::state(extension))?;
        notes::print(out, extension)?;
    }
    let folder = notes::path_word(&starter.folder);
    let mut next = vec![format!("cd {folder} && {}", starter.test_command)];
    match starter.extension {
        Some(_) => next.extend([
            format!("paned action {name}:hello --who you"),
            format!("paned ext reload {name}"),
            format!("paned ext logs {name} -f"),
        ]),
        None => next.push(format!("paned ext install {folder}")),
    }
    out.line("next:")?;
    next.iter().try_for_each(|line| out.line(format!("  {line}")))
}

//! `paned ext install`

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_kernel::extensions::ExtensionInfo;
use paned_model::{Refusal, Scope};
use serde_json::json;

use super::notes;
use crate::commands::ensure_running;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle};

/// What to install.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned ext install https://git.example/me/guard.git
  paned ext install git@git.example:me/guard.git#v1.2
  paned ext install ./guard                  a folder, which is copied
  paned ext install ./guard --replace        the same again, after changes

An extension is a folder with `paned.toml`, or with a `package.json` that has a \
`main`. Nothing in it is run while it is installed: no install scripts, no hooks. \
Afterwards it runs as you, so install only what you trust.

To work on an extension, link its folder into the extensions folder instead.")]
pub(crate) struct InstallArgs {
    /// The git address, with `#branch` or `#tag` if needed, or the folder
    source: String,
    /// The name that it must have
    #[arg(long)]
    name: Option<String>,
    /// The branch, tag or commit [default: the default branch]
    #[arg(long)]
    rev: Option<String>,
    /// Replace an installed extension of the same name; its data is kept
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(context: &CliContext, args: &InstallArgs) -> Result<ExitCode> {
    ensure_running(context)?;
    let cwd = env::current_dir().context("cannot determine the current folder")?;
    let source = source(&args.source, &cwd);
    if source.starts_with('/') && !context.client()?.is_on_this_machine() {
        let sentence = "the server is on another machine, where this folder does not exist; \
                        install from a git address";
        return Err(Refusal::invalid(sentence).into());
    }
    let params = json!({
        "source": source, "name": args.name, "rev": args.rev, "replace": args.replace,
    });
    context.show("ext:install", &params, |extension| print(context.out, &extension))
}

/// The source with a folder as an absolute path. What is not a folder is for the server to judge.
fn source(typed: &str, cwd: &Path) -> String {
    let is_address = typed.contains("://") || typed.contains("::") || typed.starts_with('-');
    let path: PathBuf = cwd.join(typed);
    let is_scp = || {
        let colon = typed.find(':');
        colon.is_some_and(|at| !typed[..at].contains('/'))
    };
    match is_address || (!path.exists() && is_scp()) {
        true => typed.to_owned(),
        false => path.to_string_lossy().into_owned(),
    }
}

fn print(out: Out, extension: &ExtensionInfo) -> io::Result<()> {
    let version = extension.version.as_ref().map_or_else(String::new, |it| format!(" {it}"));
    let installed = StyledLine::new(TextStyle::Plain, "installed ")
        .then(TextStyle::Strong, &extension.name)
        .then(TextStyle::Plain, &version);
    out.line(installed)?;
    out.line(format!("  in {}", extension.folder.display()))?;
    let scopes = notes::scopes(&extension.scopes);
    let all = extension.scopes.contains(&Scope::Admin).then_some(" (everything)");
    out.line(format!("  it may: {scopes}{}", all.unwrap_or_default()))?;
    for left_out in &extension.left_out {
        for line in out.wrap(&format!("left out {left_out}"), 2) {
            out.line(format!("  {line}"))?;
        }
    }
    out.line(notes::state(extension))?;
    notes::print(out, extension)?;
    if out.has_reader() && extension.missing.is_empty() && !notes::has_failed(extension) {
        let next = format!("`paned ext info {}` shows what it does", extension.name);
        out.note(StyledLine::new(TextStyle::Faint, &next))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_absolute_and_addresses_stay() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a:b")).unwrap();
        let absolute = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        for name in ["guard", "./guard", "../guard", "a:b", "x/y:z"] {
            assert_eq!(source(name, dir.path()), absolute(name));
        }
        assert_eq!(source("/srv/guard", dir.path()), "/srv/guard");
        for address in ["https://h/a", "git@h:a", "h:a", "ext::sh -c x", "--upload-pack=x"] {
            assert_eq!(source(address, dir.path()), address);
        }
    }
}

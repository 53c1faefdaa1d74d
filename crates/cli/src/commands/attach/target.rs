//! Which pane `paned attach` is for.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use paned_model::near::alternatives;
use paned_model::{Code, PaneId, PaneInfo, Refusal};
use serde_json::json;

use super::picker;
use crate::commands::is_unavailable;
use crate::commands::new::start_login_shell;
use crate::commands::pane::is_ours_and_live;
use crate::commands::support::selection::list;
use crate::context::CliContext;

/// The pane that a name means, or the only one that runs, or the one that the user picks; None if
/// the user picks none.
///
/// # Errors
/// When there is no such pane.
pub(super) fn choose(context: &CliContext, typed: Option<&str>) -> Result<Option<PaneId>> {
    match typed {
        Some("-") => last(context).map(Some),
        Some(typed) => named(context, typed).map(Some),
        None => any(context),
    }
}

/// Remembers the pane for `paned attach -`.
pub(super) fn remember(context: &CliContext, pane: &PaneId) {
    // A convenience: attaching works without it.
    let _ = file(context).map(|file| fs::write(file, format!("{pane}\n")));
}

fn file(context: &CliContext) -> Result<PathBuf> {
    Ok(context.state()?.folder().join("last-attached"))
}

fn last(context: &CliContext) -> Result<PaneId> {
    let text = fs::read_to_string(file(context)?).unwrap_or_default();
    let id = text.trim().parse::<PaneId>().map_err(|_| {
        Refusal::not_found("no pane was attached before; `paned ls` lists the panes")
    })?;
    if context.state()?.pane(&id).exists() {
        return Ok(id);
    }
    let sentence =
        format!("the last attached pane, `{id}`, no longer exists; `paned ls` lists the panes");
    Err(Refusal::not_found(sentence).into())
}

/// The pane that a name means. An exact id needs no server.
fn named(context: &CliContext, typed: &str) -> Result<PaneId> {
    if let Ok(id) = typed.parse::<PaneId>()
        && context.state()?.pane(&id).exists()
    {
        return Ok(id);
    }
    let found: Result<PaneInfo> = context.call("pane:get", &json!({ "paneId": typed }));
    match found {
        Ok(pane) => Ok(pane.id),
        Err(error) if is_unavailable(&error) => in_folder(context, typed),
        Err(error) => Err(error),
    }
}

/// The pane whose id begins with a name, where no server can tell.
fn in_folder(context: &CliContext, typed: &str) -> Result<PaneId> {
    let folder = context.state()?.folder().join("panes");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut matches: Vec<String> = names.filter(|name| name.starts_with(typed)).collect();
    matches.sort();
    if let [id] = matches.as_slice() {
        return Ok(id.parse().map_err(|_| missing(typed))?);
    }
    match alternatives(&matches) {
        None => Err(missing(typed).into()),
        Some(names) => {
            let sentence = format!("`{typed}` is ambiguous: {names}; type more of the name");
            Err(Refusal::new(Code::Conflict, sentence).into())
        }
    }
}

fn missing(typed: &str) -> Refusal {
    let typed = typed.escape_debug();
    Refusal::not_found(format!("no pane `{typed}`; `paned ls` lists all panes"))
}

/// The only running pane, or the one that the user picks; a new login shell where none runs.
fn any(context: &CliContext) -> Result<Option<PaneId>> {
    let client = context.client_or_start()?;
    let own = client.own_pane();
    let mut panes = list(context, None)?;
    panes.retain(|pane| is_ours_and_live(pane) && Some(pane.id.as_str()) != own);
    match panes.as_slice() {
        [] if own.is_some() => {
            let sentence = "no other pane is running; `paned new` starts one";
            Err(Refusal::not_found(sentence).into())
        }
        [] => {
            let pane = start_login_shell(context)?;
            context.out.note(format!("paned: started a login shell in pane {}", pane.id))?;
            Ok(Some(pane.id))
        }
        [pane] => Ok(Some(pane.id.clone())),
        several => picker::pick(several, last(context).ok().as_ref()),
    }
}

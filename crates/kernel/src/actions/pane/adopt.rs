//! `pane:adopt`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paned_backend::adopted::{AdoptSpec, AdoptedLocation, AdoptedPanes};
use paned_backend::tmux::TmuxPane;
use paned_backend::tmux::adopted::{TmuxPaneIdentity, TmuxPaneSnapshot};
use paned_model::{Code, Grant, GrantId, Meta, PaneId, PaneInfo, PaneRef, PaneSet, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use super::new::{
    LONGEST_TITLE, ancestors, check_new_id, check_title, fresh_id, fresh_instance, register,
};
use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{MetaEntries, Title, TmuxPaneName, TmuxServer};
use crate::actions::support::{meta, visibility};
use crate::agents::{AgentOrigin, AgentRecord};
use crate::grants::{StoredGrant, random_name};
use crate::panes::adopted_from::AdoptedOrigin;
use crate::panes::exit_notice::ExitNoticeFormat;
use crate::panes::pane::KeeperConnection;
use crate::panes::record::PaneTitle;
use crate::panes::{Pane, PaneRecord};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneAdopt;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The tmux server: `$TMUX`, or the path of its socket. `tmux:list` lists the servers.
    #[schemars(with = "TmuxServer")]
    tmux: String,
    /// The tmux pane: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "TmuxPaneName")]
    pane: String,
    /// Its id in paned; generated when omitted.
    id: Option<PaneId>,
    /// Its title; defaults to the title that the program sets, or its command.
    #[schemars(with = "Option<Title>")]
    title: Option<String>,
    /// The agent profile, if its program is an agent that is not recognized by its command.
    profile: Option<String>,
    /// Custom data.
    #[serde(default)]
    #[schemars(with = "MetaEntries")]
    meta: Meta,
    /// Custom labels.
    #[serde(default)]
    tags: Vec<String>,
}

impl Action for PaneAdopt {
    const NAME: &'static str = "pane:adopt";
    const DOC: &'static str = "Adopt a pane of an existing tmux server: record its output and \
                              type into it. `pane:close` releases it without stopping its \
                              program.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["agent.dialog", "lastLine"];
    type Params = Params;
    type Answer = PaneInfo;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::nothing().with_tmux_server(Some(&params.tmux))
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let adopted_panes = adopted_tmux(kernel)?;
        let socket = socket(&params.tmux)?;
        let pane = TmuxPane::parse(params.pane.as_bytes())
            .ok_or_else(|| Refusal::invalid("`pane` must be a tmux pane id such as `%3`"))?;
        check_new_id(params.id.as_ref())?;
        meta::check_new_meta(&params.meta, kernel.limits().meta)?;
        meta::check_tags(&params.tags, kernel.limits().meta)?;
        let title = params.title.clone().map(check_title).transpose()?;
        if let Some(profile) = &params.profile {
            kernel.agents().profile(profile)?;
        }
        let server = adopted_panes.server(&socket).await?;
        let snapshot = server.client().snapshot_pane(pane).await?;
        let snapshot = snapshot.ok_or_else(|| {
            let socket = socket.display();
            Refusal::not_found(format!(
                "no tmux pane `{pane}` on the server at {socket}; `tmux:list` lists all of them"
            ))
        })?;
        let identity = check(kernel, pane, &snapshot)?;
        let location = AdoptedLocation { socket, identity };
        let record = record(&context, params, title, &snapshot, &location);
        let adopted = Arc::new(Pane::new(record, snapshot.size, KeeperConnection::Starting));
        kernel.panes().insert(adopted.clone(), kernel.limits().panes)?;
        take_over(kernel, adopted_panes, &adopted, location).await?;
        Ok(adopted.info())
    }
}

/// The backend of adopted panes.
pub(in crate::actions) fn adopted_tmux(kernel: &Kernel) -> Result<&AdoptedPanes, Refusal> {
    kernel
        .setup()
        .adopted_tmux
        .as_ref()
        .ok_or_else(|| Refusal::new(Code::Unavailable, "this server runs without tmux"))
}

/// The canonical path of a socket.
pub(in crate::actions) fn socket(tmux: &str) -> Result<PathBuf, Refusal> {
    let socket = Path::new(visibility::socket(tmux)?);
    Ok(socket.canonicalize().unwrap_or_else(|_| socket.to_owned()))
}

/// The pane that this tmux pane is adopted as, if it is.
pub(in crate::actions) fn adopted_as(
    kernel: &Kernel,
    server: u32,
    pane: TmuxPane,
) -> Option<PaneId> {
    let is_adopted = |adopted: &Arc<Pane>| {
        let state = adopted.lock();
        let origin = state.record.origin.as_ref();
        state.status().is_live() && origin.is_some_and(|origin| origin.is(server, pane))
    };
    kernel.panes().list().iter().find(|it| is_adopted(it)).map(|it| it.id.clone())
}

/// Checks that a tmux pane can be adopted.
fn check(
    kernel: &Kernel,
    pane: TmuxPane,
    snapshot: &TmuxPaneSnapshot,
) -> Result<TmuxPaneIdentity, Refusal> {
    let conflict = |sentence: String| Err(Refusal::new(Code::Conflict, sentence));
    let Some(identity) = snapshot.identity.filter(|_| snapshot.ended.is_none()) else {
        let sentence = format!("the program in tmux pane `{pane}` has exited");
        return Err(Refusal::new(Code::Gone, sentence));
    };
    if let Some(shows) = &snapshot.shows {
        return conflict(format!("tmux pane `{pane}` already shows pane `{shows}`; use that pane"));
    }
    if let Some(id) = adopted_as(kernel, identity.server, pane) {
        return conflict(format!("tmux pane `{pane}` is already adopted as pane `{id}`"));
    }
    if snapshot.piped {
        return conflict(format!(
            "tmux pane `{pane}` already has a `pipe-pane`, and tmux supports only one per pane; \
            stop it with `tmux pipe-pane -t {pane}`"
        ));
    }
    Ok(identity)
}

fn record(
    context: &ActionContext,
    params: Params,
    title: Option<String>,
    snapshot: &TmuxPaneSnapshot,
    location: &AdoptedLocation,
) -> PaneRecord {
    let kernel = &context.kernel;
    let id = params.id.unwrap_or_else(|| fresh_id(kernel));
    let this = PaneRef { id, instance: fresh_instance() };
    let known = [&snapshot.started, &snapshot.command].into_iter().find(|text| !text.is_empty());
    let command = known.map_or("", |text| unquoted(text)).to_owned();
    let line = command.replace(char::is_control, " ").chars().take(LONGEST_TITLE).collect();
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    PaneRecord {
        agents_above: kernel.agents_above(&context.caller),
        earlier: Vec::new(),
        restart: None,
        previous_run: None,
        agent: match &params.profile {
            Some(profile) => Some(AgentRecord::recovered(profile, kernel.now())),
            None => kernel.agents().recognise(kernel, &words, &params.meta, AgentOrigin::Recovered),
        },
        title: title.map_or(PaneTitle::Command(line), PaneTitle::Given),
        grant: no_grant(kernel, &this),
        id: this.id,
        instance: this.instance,
        argv: vec![command],
        cwd: snapshot.cwd.to_string_lossy().into_owned(),
        meta: params.meta,
        tags: params.tags,
        persist: false,
        notify_on_exit: false,
        max_lines: kernel.limits().lines,
        notice: ExitNoticeFormat::default(),
        timeout_seconds: None,
        ancestors: ancestors(kernel, &context.caller),
        modes: String::new(),
        pid: Some(location.identity.pid),
        view: None,
        origin: Some(AdoptedOrigin::new(location.clone())),
        created_at: kernel.now(),
        end: None,
    }
}

/// tmux quotes a command of several words.
fn unquoted(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.filter(|inner| !inner.contains(['"', '\\'])).unwrap_or(text)
}

/// A program that paned did not start gets no rights: an empty grant, whose token is discarded.
fn no_grant(kernel: &Kernel, pane: &PaneRef) -> StoredGrant {
    let (stored, _token) = StoredGrant::new(Grant {
        id: GrantId(random_name(10)),
        label: format!("pane {}", pane.id),
        scopes: BTreeSet::new(),
        panes: PaneSet::Only(BTreeSet::new()),
        pane: Some(pane.clone()),
        device: false,
        created_with: Vec::new(),
        created_at: kernel.now(),
        expires_at: None,
    });
    stored
}

/// Adopts the pane, or leaves it as it was.
async fn take_over(
    kernel: &Kernel,
    adopted_panes: &AdoptedPanes,
    pane: &Arc<Pane>,
    location: AdoptedLocation,
) -> Result<(), Refusal> {
    let record = pane.lock().record.json();
    let id = pane.id.clone();
    let capacity = kernel.limits().tape_bytes;
    let max_lines = kernel.limits().lines;
    match adopted_panes.adopt(AdoptSpec { id, location, capacity, max_lines, record }).await {
        Ok(handle) => {
            let size = handle.output.size();
            pane.lock().size = size;
            register(kernel, pane, handle, AgentOrigin::Recovered, Vec::new());
            Ok(())
        }
        Err(refusal) => {
            kernel.panes().remove(pane);
            Err(refusal)
        }
    }
}

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

use super::pane_new::{LONGEST_TITLE, ancestors, check_title, fresh_id, fresh_instance, register};
use super::{meta, visibility};
use crate::Kernel;
use crate::access::AccessRequest;
use crate::agents::{AgentOrigin, AgentRecord};
use crate::grants::{StoredGrant, random_name};
use crate::panes::adopted_from::AdoptedOrigin;
use crate::panes::exit_notice::ExitNoticeFormat;
use crate::panes::pane::KeeperConnection;
use crate::panes::record::PaneTitle;
use crate::panes::{Pane, PaneRecord};
use crate::registry::{Action, ActionContext, ActionKind};

pub(super) struct PaneAdopt;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The tmux server: `$TMUX`, or the path of its socket. `tmux:list` shows them.
    tmux: String,
    /// The pane there: `$TMUX_PANE`, as in `%3`.
    pane: String,
    /// Its name with us; one is made up when left out.
    id: Option<PaneId>,
    /// What to call it; the program's own title, or its command, when left out.
    title: Option<String>,
    /// What its screens are read by, when its program is an agent that is not known by its command.
    profile: Option<String>,
    /// Free data.
    #[serde(default)]
    meta: Meta,
    /// Free labels.
    #[serde(default)]
    tags: Vec<String>,
}

impl Action for PaneAdopt {
    const NAME: &'static str = "pane:adopt";
    const DOC: &'static str = "Watch and drive a pane of somebody's tmux, as well as that can be done. `pane:close` lets it go again, \
         and leaves its program alone.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["agent.dialog"];
    type Params = Params;
    type Answer = PaneInfo;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::nothing().with_tmux_server(Some(&params.tmux))
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let foreign = adopted_tmux(kernel)?;
        let socket = socket(&params.tmux)?;
        let pane = TmuxPane::parse(params.pane.as_bytes())
            .ok_or_else(|| Refusal::invalid("`pane` is the name of a tmux pane, as in `%3`"))?;
        meta::check_new_meta(&params.meta, kernel.limits().meta)?;
        meta::check_tags(&params.tags, kernel.limits().meta)?;
        let title = params.title.clone().map(check_title).transpose()?;
        if let Some(profile) = &params.profile {
            kernel.agents().profile(profile)?;
        }
        let server = foreign.server(&socket).await?;
        let glimpse = server.client().snapshot_pane(pane).await?;
        let glimpse = glimpse.ok_or_else(|| {
            let socket = socket.display();
            Refusal::not_found(format!(
                "no pane `{pane}` on the tmux at {socket}; `tmux:list` shows them"
            ))
        })?;
        let known = check(kernel, pane, &glimpse)?;
        let spot = AdoptedLocation { socket, identity: known };
        let record = record(&context, params, title, &glimpse, &spot);
        let adopted = Arc::new(Pane::new(record, glimpse.size, KeeperConnection::Starting));
        kernel.panes().insert(adopted.clone(), kernel.limits().panes)?;
        take_over(kernel, foreign, &adopted, spot).await?;
        Ok(adopted.info())
    }
}

/// The way to other people's panes.
pub(super) fn adopted_tmux(kernel: &Kernel) -> Result<&AdoptedPanes, Refusal> {
    kernel.setup().adopted_tmux.as_ref().ok_or_else(|| {
        Refusal::new(Code::Unavailable, "this server was set up without a way to tmux")
    })
}

/// The one path of a socket, however it was said.
pub(super) fn socket(tmux: &str) -> Result<PathBuf, Refusal> {
    let socket = Path::new(visibility::socket(tmux)?);
    Ok(socket.canonicalize().unwrap_or_else(|_| socket.to_owned()))
}

/// The pane of ours that is this pane of somebody's, if one is.
pub(super) fn adopted_as(kernel: &Kernel, server: u32, pane: TmuxPane) -> Option<PaneId> {
    let is = |ours: &Arc<Pane>| {
        let state = ours.lock();
        let origin = state.record.origin.as_ref();
        state.status().is_live() && origin.is_some_and(|origin| origin.is(server, pane))
    };
    kernel.panes().list().iter().find(|ours| is(ours)).map(|ours| ours.id.clone())
}

/// Whether it can be adopted.
fn check(
    kernel: &Kernel,
    pane: TmuxPane,
    glimpse: &TmuxPaneSnapshot,
) -> Result<TmuxPaneIdentity, Refusal> {
    let conflict = |sentence: String| Err(Refusal::new(Code::Conflict, sentence));
    let Some(known) = glimpse.identity.filter(|_| glimpse.ended.is_none()) else {
        let sentence = format!("the program in tmux pane `{pane}` has ended");
        return Err(Refusal::new(Code::Gone, sentence));
    };
    if let Some(shows) = &glimpse.shows {
        return conflict(format!("the tmux pane `{pane}` shows the pane `{shows}`; use that"));
    }
    if let Some(id) = adopted_as(kernel, known.server, pane) {
        return conflict(format!("the tmux pane `{pane}` is adopted already, as `{id}`"));
    }
    if glimpse.piped {
        return conflict(format!(
            "the output of tmux pane `{pane}` goes to somebody's `pipe-pane` already, and a pane has only one; \
             `tmux pipe-pane -t {pane}` ends it"
        ));
    }
    Ok(known)
}

fn record(
    context: &ActionContext,
    params: Params,
    title: Option<String>,
    glimpse: &TmuxPaneSnapshot,
    spot: &AdoptedLocation,
) -> PaneRecord {
    let kernel = &context.kernel;
    let id = params.id.unwrap_or_else(|| fresh_id(kernel));
    let this = PaneRef { id, instance: fresh_instance() };
    let told = [&glimpse.started, &glimpse.command].into_iter().find(|text| !text.is_empty());
    let command = told.map_or("", |text| unquoted(text)).to_owned();
    let line = command.replace(char::is_control, " ").chars().take(LONGEST_TITLE).collect();
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    PaneRecord {
        agent: match &params.profile {
            Some(profile) => Some(AgentRecord::recovered(profile, kernel.now())),
            None => kernel.agents().recognise(kernel, &words, &params.meta, AgentOrigin::Recovered),
        },
        title: title.map_or(PaneTitle::Command(line), PaneTitle::Given),
        grant: no_grant(kernel, &this),
        id: this.id,
        instance: this.instance,
        argv: vec![command],
        cwd: glimpse.cwd.to_string_lossy().into_owned(),
        meta: params.meta,
        tags: params.tags,
        persist: false,
        notify_on_exit: false,
        notice: ExitNoticeFormat::default(),
        timeout_seconds: None,
        ancestors: ancestors(kernel, &context.caller),
        modes: String::new(),
        pid: Some(spot.identity.pid),
        view: None,
        origin: Some(AdoptedOrigin::new(spot.clone())),
        created_at: kernel.now(),
        end: None,
    }
}

/// tmux quotes a command of several words.
fn unquoted(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.filter(|inner| !inner.contains(['"', '\\'])).unwrap_or(text)
}

/// A program that we did not start is given nothing: a grant for nothing, whose token nobody has.
fn no_grant(kernel: &Kernel, pane: &PaneRef) -> StoredGrant {
    let (stored, _token) = StoredGrant::new(Grant {
        id: GrantId(random_name(10)),
        label: format!("pane {}", pane.id),
        scopes: BTreeSet::new(),
        panes: PaneSet::Only(BTreeSet::new()),
        pane: Some(pane.clone()),
        created_at: kernel.now(),
        expires_at: None,
    });
    stored
}

/// Takes it over, or leaves it as it was.
async fn take_over(
    kernel: &Kernel,
    foreign: &AdoptedPanes,
    pane: &Arc<Pane>,
    spot: AdoptedLocation,
) -> Result<(), Refusal> {
    let record = pane.lock().record.json();
    let (id, capacity) = (pane.id.clone(), kernel.limits().tape_bytes);
    match foreign.adopt(AdoptSpec { id, location: spot, capacity, record }).await {
        Ok(link) => {
            let size = link.output.size();
            pane.lock().size = size;
            register(kernel, pane, link, AgentOrigin::Recovered);
            Ok(())
        }
        Err(refusal) => {
            kernel.panes().remove(pane);
            Err(refusal)
        }
    }
}

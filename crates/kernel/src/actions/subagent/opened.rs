//! `subagent:opened`

use std::sync::Arc;
use std::time::Duration;

use paned_model::{PaneId, Refusal, Scope, ViewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::timeout;

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::pane::new;
use crate::actions::pane::new::{check_argv, check_title};
use crate::actions::support::param_rules::{
    Argv, Folder, SessionNameText, SubagentId, Title, TmuxPaneName, TmuxServer, tmux_location,
};
use crate::actions::support::visibility::{LocationParams, Visibility};
use crate::panes::Pane;
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{ViewLocation, ViewRequest};

/// How long a program that shows a sub-agent may take until it shows anything.
const READY_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum length of an id; it goes into a command line and the pane's meta.
const LONGEST: usize = 200;
/// What such panes are tagged with.
pub(in crate::actions) const TAG: &str = "subagent";

pub(in crate::actions) struct SubagentOpened;

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
pub(in crate::actions) struct Params {
    /// The sub-agent's session id.
    #[schemars(with = "SubagentId")]
    id: String,
    /// The session that it was opened from; without it, this is not a sub-agent, and nothing is
    /// done.
    #[serde(alias = "parentID")]
    parent_id: Option<String>,
    /// Its title.
    #[schemars(with = "Option<Title>")]
    title: Option<String>,
    /// The URL of the agent's server, for `{url}` in the command; defaults to
    /// `http://localhost:4096`.
    url: Option<String>,
    /// The command that shows it; defaults to the configured one. `{id}`, `{url}` and `{parent}`
    /// are substituted.
    #[schemars(with = "Option<Argv>")]
    argv: Option<Vec<String>>,
    /// The absolute path of its working directory.
    #[schemars(with = "Option<Folder>")]
    cwd: Option<String>,
    /// The session on paned's own tmux server to show it in; defaults to the one that follows new
    /// panes, or `main`.
    #[schemars(with = "Option<SessionNameText>")]
    session: Option<String>,
    /// An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct SubagentOpenedOutput {
    /// The pane that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pane_id: Option<PaneId>,
    /// Whether it is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<ViewState>,
    /// Whether its program has produced output.
    ready: bool,
    /// Why it is not visible, or why there is no pane.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Action for SubagentOpened {
    const NAME: &'static str = "subagent:opened";
    const DOC: &'static str = "Show a sub-agent's new session in tmux.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = SubagentOpenedOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::reachable().with_tmux_server(params.tmux.as_deref())
    }

    fn commands(context: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        vec![request(&context.kernel, params.clone()).command(&context.kernel)]
    }

    async fn run(context: ActionContext, params: Params) -> Result<SubagentOpenedOutput, Refusal> {
        check(&params.id)?;
        let location = check_params(&context.kernel, &params)?;
        if params.parent_id.is_none() {
            return Ok(SubagentOpenedOutput::without_pane(
                "without a `parentId` it is not a sub-agent",
            ));
        }
        let kernel = &context.kernel;
        if let Some(pane) = find(&context, &params.id) {
            return Ok(SubagentOpenedOutput::of(&pane, has_printed(&pane)));
        }
        if let Err(refusal) =
            kernel.tmux_views().ask_at(kernel, &location, ViewRequest::Ready).await
        {
            return Ok(SubagentOpenedOutput::without_pane(&refusal.sentence));
        }
        let pane = new::create(&context, request(kernel, params)).await?;
        let _ = timeout(READY_TIMEOUT, wait_first_output(&pane)).await;
        Ok(SubagentOpenedOutput::of(&pane, has_printed(&pane)))
    }
}

impl SubagentOpenedOutput {
    fn of(pane: &Pane, ready: bool) -> Self {
        let view = pane.lock().record.view.clone();
        let state = view.as_ref().map(|view| view.state);
        let reason = view.and_then(|view| view.reason);
        Self { pane_id: Some(pane.id.clone()), state, ready, reason }
    }

    fn without_pane(reason: &str) -> Self {
        Self { pane_id: None, state: None, ready: false, reason: Some(reason.to_owned()) }
    }
}

/// Refuses parameters that would be refused later on, also where no pane is needed. Returns where
/// it is shown.
fn check_params(kernel: &Kernel, params: &Params) -> Result<ViewLocation, Refusal> {
    params.title.clone().map(check_title).transpose()?;
    if let Some(argv) = params.argv.clone() {
        check_argv(&argv)?;
    }
    paned_backend::find_folder(params.cwd.as_deref(), None)?;
    let Params { session, beside, tmux, .. } = params;
    LocationParams { session: session.clone(), beside: beside.clone(), tmux: tmux.clone() }
        .resolve(kernel)
}

/// Refuses what cannot be an id; it is filled into a command.
pub(in crate::actions) fn check(id: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    let is_good = (1..=LONGEST).contains(&id.len()) && id.chars().all(plain);
    if is_good && !id.starts_with('-') {
        return Ok(());
    }
    Err(Refusal::invalid("invalid `id`: use letters, digits, `_`, `-`, `.` and `:`"))
}

/// The living pane that shows a sub-agent, of those that the caller reaches.
pub(in crate::actions) fn find(
    ActionContext { kernel, caller, .. }: &ActionContext,
    id: &str,
) -> Option<Arc<Pane>> {
    let mut reached =
        kernel.panes().list().into_iter().filter(|pane| kernel.reaches(&pane.id, caller));
    reached.find(|pane| {
        let state = pane.lock();
        let is_it = state.meta().get("subagent.id").and_then(|it| it.as_str()) == Some(id);
        is_it && state.status().is_live()
    })
}

fn request(kernel: &Kernel, params: Params) -> new::Params {
    let setup = kernel.setup().tmux_view.as_ref();
    let usual = || setup.map(|view| view.subagent_command.clone()).unwrap_or_default();
    let url = params.url.as_deref().unwrap_or("http://localhost:4096");
    let parent = params.parent_id.as_deref().unwrap_or_default();
    let fill = |word: String| {
        word.replace("{id}", &params.id).replace("{url}", url).replace("{parent}", parent)
    };
    let argv = params.argv.clone().unwrap_or_else(usual).into_iter().map(fill).collect();
    let title = params.title.as_deref().filter(|title| !title.trim().is_empty());
    let title: String = title.unwrap_or("Subagent").chars().filter(|c| !c.is_control()).collect();
    new::Params {
        argv: Some(argv),
        cwd: params.cwd,
        title: Some(title.chars().take(200).collect()),
        meta: [
            ("subagent.id".to_owned(), json!(params.id)),
            ("subagent.parent".to_owned(), json!(params.parent_id)),
        ]
        .into_iter()
        .collect(),
        tags: vec![TAG.to_owned()],
        is_trusted: params.argv.is_none(),
        visible: Some(Visibility::Always),
        wait: Some(true),
        session: params.session,
        beside: params.beside,
        tmux: params.tmux,
        ..new::Params::default()
    }
}

fn has_printed(pane: &Pane) -> bool {
    pane.output().is_some_and(|output| 0 < output.end())
}

/// Waits until a program has printed anything, or has exited.
async fn wait_first_output(pane: &Pane) {
    let mut changes = pane.watch();
    loop {
        if has_printed(pane) || !pane.lock().status().is_live() || changes.changed().await.is_err()
        {
            return;
        }
    }
}

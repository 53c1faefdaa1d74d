//! `layout:get`

use paned_model::{PaneId, Refusal, Scope, Size};
use paned_policy::layout::{PaneOwner, TmuxPaneId, capacity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    SessionNameText, TmuxPaneName, TmuxServer, tmux_location,
};
use crate::actions::support::visibility::LocationParams;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{ViewRequest, WindowSnapshot};

pub(in crate::actions) struct LayoutGet;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
pub(in crate::actions) struct Params {
    /// The session on paned's own tmux server; defaults to `main`.
    #[schemars(with = "Option<SessionNameText>")]
    session: Option<String>,
    /// An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
}

/// A tmux window.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct LayoutGetOutput {
    /// Its size in character cells.
    size: Size,
    /// Whether it is zoomed: one pane covers the others.
    zoomed: bool,
    /// How many agent panes it can hold.
    capacity: usize,
    /// Its layout in tmux's format; only for tokens that cover all panes.
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<String>,
    /// Its panes, of those that the token covers.
    panes: Vec<LayoutGetPane>,
}

/// One pane of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct LayoutGetPane {
    /// Its tmux id, as in `%3`.
    tmux_pane: String,
    /// Its owner: `main` is the user's main pane, `ours` is a pane of paned, `foreign` is any
    /// other.
    owner: &'static str,
    /// The pane that it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pane: Option<PaneId>,
    /// Whether it has the focus within the window.
    active: bool,
    left: u16,
    top: u16,
    width: u16,
    height: u16,
}

impl Action for LayoutGet {
    const NAME: &'static str = "layout:get";
    const DOC: &'static str = "Show a tmux window: the positions and owners of its panes.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = LayoutGetOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::reachable().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: ActionContext, params: Params) -> Result<LayoutGetOutput, Refusal> {
        let Params { session, beside, tmux } = params;
        let ActionContext { kernel, caller, .. } = &context;
        let location = LocationParams { session, beside, tmux }.resolve(kernel)?;
        let ask = |answer| ViewRequest::Snapshot(location.clone(), answer);
        let snapshot = kernel.tmux_views().ask_at(kernel, &location, ask).await;
        if caller.reaches_all() {
            return Ok(window(kernel, &snapshot?));
        }
        reachable_window(&context, snapshot)
    }
}

/// A window as seen by a caller whose grant reaches some panes only. Unless the window shows one of
/// them, the refusal is the same as for a window that does not exist.
fn reachable_window(
    ActionContext { kernel, caller, .. }: &ActionContext,
    snapshot: Result<WindowSnapshot, Refusal>,
) -> Result<LayoutGetOutput, Refusal> {
    let mut window =
        snapshot.map(|snapshot| window(kernel, &snapshot)).map_err(|_| no_reachable_pane())?;
    let is_reached = |pane: &PaneId| kernel.reaches(pane, caller);
    window.panes.retain(|tile| tile.pane.as_ref().is_some_and(is_reached));
    window.layout = None;
    if window.panes.is_empty() { Err(no_reachable_pane()) } else { Ok(window) }
}

fn no_reachable_pane() -> Refusal {
    Refusal::not_found("no such session shows a pane that this token covers")
}

/// A window as the answer describes it.
pub(in crate::actions) fn window(kernel: &Kernel, snapshot: &WindowSnapshot) -> LayoutGetOutput {
    let limits = kernel.setup().tmux_view.as_ref().map(|view| view.limits.clone());
    let cols = snapshot.window.cols();
    let rows = snapshot.window.rows();
    let tile = |tile: paned_policy::layout::LayoutTile| {
        let id: TmuxPaneId = tile.pane?;
        let view = snapshot.views.iter().find(|view| view.id.0 == id.0);
        let owner = match snapshot.owners.of(id) {
            PaneOwner::Main => "main",
            PaneOwner::Managed(_) => "ours",
            PaneOwner::Foreign => "foreign",
        };
        Some(LayoutGetPane {
            tmux_pane: id.to_string(),
            owner,
            pane: view.and_then(|view| view.shows.clone()),
            active: snapshot.window.active == Some(id),
            left: tile.left,
            top: tile.top,
            width: tile.width,
            height: tile.height,
        })
    };
    LayoutGetOutput {
        size: Size { cols, rows },
        zoomed: snapshot.window.zoomed,
        capacity: capacity(cols, rows, &limits.unwrap_or_default()).total(),
        layout: Some(snapshot.window.layout().to_string()),
        panes: snapshot.window.tiles().into_iter().filter_map(tile).collect(),
    }
}

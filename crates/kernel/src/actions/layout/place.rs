//! `layout:place`

use paned_model::{Code, PaneId, Refusal, Scope, ViewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    SessionNameText, TmuxPaneName, TmuxServer, tmux_location,
};
use crate::actions::support::visibility::{LocationParams, no_room};
use crate::panes::Pane;
use crate::panes::pane::pane_gone;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{
    DEFAULT_SIZE, OnViewClosed, ShowOutcome, ShowRequest, ViewRequest, ViewSpec,
};

pub(in crate::actions) struct LayoutPlace;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
pub(in crate::actions) struct Params {
    /// The pane to show.
    pane_id: PaneId,
    /// The session on paned's own tmux server; defaults to `main`. It is started if it does not
    /// exist.
    #[schemars(with = "Option<SessionNameText>")]
    session: Option<String>,
    /// An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
    /// What happens when a user closes the tmux pane. By default the pane keeps running hidden,
    /// unless it was created for that session.
    on_view_closed: Option<OnViewClosed>,
    /// Whether it may replace a pane that has finished.
    #[serde(default)]
    replace: bool,
    /// Whether it waits when the window has no room for it; with `false` it stays hidden. By
    /// default it waits if the request comes from an agent, and gets its own tmux window otherwise.
    wait: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct LayoutPlaceOutput {
    /// The pane.
    id: PaneId,
    /// Whether it is visible.
    state: ViewState,
    /// The session on paned's own tmux server that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The tmux pane that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tmux_pane: Option<String>,
    /// The number of its own tmux window, if it is not beside other panes.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u32>,
    /// Why it is not visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Action for LayoutPlace {
    const NAME: &'static str = "layout:place";
    const DOC: &'static str =
        "Show a pane in tmux: in a paned session, or beside an existing tmux pane.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = LayoutPlaceOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: ActionContext, params: Params) -> Result<LayoutPlaceOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let Params { session, beside, tmux, .. } = params;
        let location = LocationParams { session, beside, tmux }.resolve(kernel)?;
        kernel.tmux_views().ask_at(kernel, &location, ViewRequest::Ready).await?;
        let no_room = no_room(&context, params.wait);
        let on_closed = params.on_view_closed.unwrap_or(OnViewClosed::Detach);
        let spec = ViewSpec::new(location.clone(), on_closed, false, no_room);
        set_view_spec(&pane, spec, params.on_view_closed)?;
        let request = ShowRequest {
            pane: params.pane_id.clone(),
            location: location.clone(),
            size: DEFAULT_SIZE,
            must_be_new: false,
            replace_ok: params.replace,
            no_room,
            grant: context.caller.grant.clone(),
        };
        let placed = kernel
            .tmux_views()
            .ask_at(kernel, &location, |answer| ViewRequest::Show(request, answer))
            .await;
        if !matches!(placed, Ok(ShowOutcome::Shown(_) | ShowOutcome::Waiting(_))) {
            pane.lock().record.view = None;
        }
        kernel.journal().record(Vec::new(), vec![pane.lock().record.put()]);
        let session = location.session().map(str::to_owned);
        Ok(LayoutPlaceOutput { session, ..LayoutPlaceOutput::new(&pane, placed?) })
    }
}

/// Sets where a pane is to be shown, if it is not shown elsewhere.
fn set_view_spec(
    pane: &Pane,
    mut spec: ViewSpec,
    on_closed: Option<OnViewClosed>,
) -> Result<(), Refusal> {
    let mut state = pane.lock();
    let status = state.status();
    if !status.is_live() {
        return Err(pane_gone(&pane.id, status));
    }
    let elsewhere = state.record.view.as_ref().filter(|old| {
        old.location != spec.location && matches!(old.state, ViewState::Shown | ViewState::Waiting)
    });
    if elsewhere.is_some() {
        let sentence = format!(
            "pane `{0}` is already shown elsewhere; hide it with `layout:hide` first",
            pane.id
        );
        return Err(Refusal::new(Code::Conflict, sentence));
    }
    // What was made for the session still is when it is placed there again.
    if let Some(old) = state.record.view.as_ref().filter(|old| old.location == spec.location) {
        spec.is_made_for = old.is_made_for;
        spec.on_closed = on_closed.unwrap_or(old.on_closed);
        spec.window = old.window;
    }
    state.record.view = Some(spec);
    Ok(())
}

impl LayoutPlaceOutput {
    fn new(pane: &Pane, placed: ShowOutcome) -> Self {
        let id = pane.id.clone();
        let window = pane.lock().record.view.as_ref().and_then(|view| view.window);
        let state = placed.state();
        let (tmux_pane, reason) = match placed {
            ShowOutcome::Shown(view) => (Some(view.to_string()), None),
            ShowOutcome::Waiting(reason) | ShowOutcome::Skipped(reason) => (None, Some(reason)),
        };
        Self { id, state, session: None, tmux_pane, window, reason }
    }
}

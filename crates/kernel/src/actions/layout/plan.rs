//! `layout:plan`

use paned_model::{PaneId, Refusal, Scope};
use paned_policy::layout::LayoutRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    SessionNameText, TmuxPaneName, TmuxServer, tmux_location,
};
use crate::actions::support::visibility::{LocationParams, no_room};
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::ViewRequest;

/// The maximum number of panes in one plan.
const MOST: usize = 64;

pub(in crate::actions) struct LayoutPlanAction;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
pub(in crate::actions) struct Params {
    /// The ids of the panes to place, one after the other; they need not exist yet.
    #[schemars(length(min = 1, max = 64))]
    panes: Vec<PaneId>,
    /// The session on paned's own tmux server; defaults to `main`.
    #[schemars(with = "Option<SessionNameText>")]
    session: Option<String>,
    /// An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
    /// Whether panes that have finished may be replaced.
    #[serde(default)]
    replace: bool,
    /// Whether they wait when the window has no room for them, as for `layout:place`.
    wait: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct LayoutPlanOutput {
    /// The decision for each pane, in order: `spawn`, `replace`, `window`, `defer` or `skip`, with
    /// the target or the reason.
    decisions: Vec<LayoutPlanDecision>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct LayoutPlanDecision {
    /// The pane.
    pane: PaneId,
    /// What would be done, and why.
    #[serde(flatten)]
    decision: Value,
}

impl Action for LayoutPlanAction {
    const NAME: &'static str = "layout:plan";
    const DOC: &'static str = "Show where panes would be placed in tmux and why, without placing \
                              them.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = LayoutPlanOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::all_panes().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: ActionContext, params: Params) -> Result<LayoutPlanOutput, Refusal> {
        let Params { panes, session, beside, tmux, replace, wait } = params;
        if !(1..=MOST).contains(&panes.len()) {
            return Err(Refusal::invalid(format!("`panes` must have 1 to {MOST} ids")));
        }
        let kernel = &context.kernel;
        let location = LocationParams { session, beside, tmux }.resolve(kernel)?;
        let no_room = no_room(&context, wait);
        let request =
            |pane: &PaneId| LayoutRequest { pane: pane.clone(), replace_ok: replace, no_room };
        let requests = panes.iter().map(request).collect();
        let ask = |answer| ViewRequest::Plan(location.clone(), requests, answer);
        let decisions = kernel.tmux_views().ask_at(kernel, &location, ask).await?;
        let decided = |(pane, decision)| {
            let decision = serde_json::to_value(decision).map_err(Refusal::internal)?;
            Ok(LayoutPlanDecision { pane, decision })
        };
        let decisions = panes.into_iter().zip(decisions).map(decided);
        Ok(LayoutPlanOutput { decisions: decisions.collect::<Result<_, Refusal>>()? })
    }
}

//! `layout:place`

use paned_model::{Code, PaneId, Refusal, Scope, ViewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::visible::Where;
use crate::panes::Pane;
use crate::panes::pane::gone;
use crate::registry::{Action, Context, Kind};
use crate::stage::{Ask, OnViewClosed, Placed, Showing, USUAL, Wish};
use crate::touches::Touches;

pub(super) struct LayoutPlace;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane to show.
    pane_id: PaneId,
    /// The session of ours; `main` when nothing is said. It is started if there is none.
    session: Option<String>,
    /// A tmux pane of somebody's to show it beside: `$TMUX_PANE`, as in `%3`.
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    tmux: Option<String>,
    /// What happens to it when a person closes the tmux pane; it goes on unseen when left out.
    #[serde(default = "detach")]
    on_view_closed: OnViewClosed,
    /// Whether a pane that is done may make room for it.
    #[serde(default)]
    replace: bool,
    /// Whether it may wait for room.
    #[serde(default = "yes")]
    wait: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    /// The pane.
    id: PaneId,
    /// Whether it can be seen.
    state: ViewState,
    /// The tmux pane that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tmux_pane: Option<String>,
    /// Why it cannot be seen now.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn detach() -> OnViewClosed {
    OnViewClosed::Detach
}

fn yes() -> bool {
    true
}

impl Action for LayoutPlace {
    const NAME: &'static str = "layout:place";
    const DOC: &'static str =
        "Show a pane in tmux, in a session of ours or beside somebody's pane.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: Kind = Kind::Change;
    type Params = Params;
    type Answer = Answer;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id).with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: Context, params: Params) -> Result<Answer, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let Params { session, beside, tmux, .. } = params;
        let spot = Where { session, beside, tmux }.spot()?;
        kernel.stages().at(kernel, &spot, Ask::Ready).await?;
        wish(&pane, Wish::new(spot.clone(), params.on_view_closed))?;
        let showing = Showing {
            pane: params.pane_id.clone(),
            spot: spot.clone(),
            size: USUAL,
            is_first: false,
            replace_ok: params.replace,
            wait_ok: params.wait,
            grant: context.caller.grant.clone(),
        };
        let placed = kernel.stages().at(kernel, &spot, |answer| Ask::Show(showing, answer)).await;
        if !matches!(placed, Ok(Placed::Shown(_) | Placed::Waits(_))) {
            pane.lock().record.wish = None;
        }
        kernel.journal().record(Vec::new(), vec![pane.lock().record.put()]);
        Ok(Answer::new(params.pane_id, placed?))
    }
}

/// Wishes a pane to be shown, if it is not shown elsewhere.
fn wish(pane: &Pane, wish: Wish) -> Result<(), Refusal> {
    let mut state = pane.lock();
    let status = state.status();
    if !status.is_live() {
        return Err(gone(&pane.id, status));
    }
    let elsewhere = state.record.wish.as_ref().filter(|had| {
        had.spot != wish.spot && matches!(had.state, ViewState::Shown | ViewState::Waiting)
    });
    if elsewhere.is_some() {
        let sentence =
            format!("the pane `{}` is shown elsewhere; `layout:hide` ends that", pane.id);
        return Err(Refusal::new(Code::Conflict, sentence));
    }
    state.record.wish = Some(wish);
    Ok(())
}

impl Answer {
    fn new(id: PaneId, placed: Placed) -> Self {
        let state = placed.state();
        let (tmux_pane, reason) = match placed {
            Placed::Shown(view) => (Some(view.to_string()), None),
            Placed::Waits(reason) | Placed::Skipped(reason) => (None, Some(reason)),
        };
        Self { id, state, tmux_pane, reason }
    }
}

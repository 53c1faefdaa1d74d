//! What is to be done in a window so that it shows what it should.
//!
//! The caller queries the window, applies the plan and queries it again, until nothing is left to
//! do. Each plan is small: what follows from it is decided for the window as tmux reports it next.

use std::collections::BTreeSet;

use paned_model::PaneId;

use super::cell::TmuxPaneId;
use super::decide::{Decision, LayoutRequest, decide, rebalance};
use super::limits::LayoutLimits;
use super::owners::{PaneOwner, PaneOwners};
use super::window::{LayoutStep, LayoutWindow};

/// What a window is to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesiredView {
    /// Panes that are not to be shown any more. Foreign ones are left alone.
    pub closed: BTreeSet<TmuxPaneId>,
    /// Whether the managed panes are to be even.
    pub balance: BalanceRule,
    /// The panes to be shown, first come, first served.
    pub panes: Vec<DesiredPane>,
}

/// When the managed panes of a window are made even.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BalanceRule {
    /// Never: sizes that the user has set are kept.
    #[default]
    Keep,
    /// When one of them, or the main pane, is smaller than it may be.
    IfTight,
    /// In any case, because one was closed.
    Even,
}

/// A pane to be shown in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredPane {
    /// How it may be shown.
    pub request: LayoutRequest,
    /// Panes that it must not replace, whatever they do.
    pub spared: BTreeSet<PaneId>,
}

/// What is to be done in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewPlan {
    /// The tmux commands, in order. At most one of them splits a pane.
    pub steps: Vec<LayoutStep>,
    /// The pane that is shown in the new tmux pane.
    pub opens: Option<PaneId>,
    /// Whether that tmux pane is in a new window of the session; then there are no other commands.
    pub in_new_window: bool,
    /// The panes that need no command, because they are shown, have to wait, or are not shown.
    pub settled: Vec<(PaneId, Decision)>,
}

/// Plans the next commands for a window. There are none when it shows what it should, and the panes
/// that it does not show have to wait.
#[must_use]
pub fn reconcile(
    window: &LayoutWindow,
    owners: &PaneOwners,
    desired: &DesiredView,
    limits: &LayoutLimits,
) -> ViewPlan {
    let mut plan = ViewPlan::default();
    let is_ours = |pane: &TmuxPaneId| {
        window.root().find(*pane).is_some() && !matches!(owners.of(*pane), PaneOwner::Foreign)
    };
    plan.steps = desired.closed.iter().copied().filter(is_ours).map(LayoutStep::Close).collect();
    let is_uneven = match desired.balance {
        BalanceRule::Keep => false,
        BalanceRule::IfTight => is_tight(window, owners, limits),
        BalanceRule::Even => true,
    };
    if plan.steps.is_empty() && is_uneven {
        plan.steps = rebalance(window, owners, limits);
    }
    if !plan.steps.is_empty() {
        return plan;
    }
    for pane in &desired.panes {
        let owners = owners.with_persistent(&pane.spared);
        let decision = decide(window, &owners, &pane.request, limits);
        plan.steps = decision.steps();
        if !plan.steps.is_empty() {
            plan.opens = Some(pane.request.pane.clone());
            return plan;
        }
        if matches!(decision, Decision::Window { .. }) {
            plan.opens = Some(pane.request.pane.clone());
            plan.in_new_window = true;
            return plan;
        }
        plan.settled.push((pane.request.pane.clone(), decision));
    }
    plan
}

/// Whether any pane is smaller than it may be.
fn is_tight(window: &LayoutWindow, owners: &PaneOwners, limits: &LayoutLimits) -> bool {
    window.tiles().iter().filter_map(|tile| Some((tile.pane?, tile))).any(|(id, tile)| {
        let least = match owners.of(id) {
            PaneOwner::Main => limits.main_floor(window.cols()),
            PaneOwner::Managed(_) => limits.agent_pane_min_width,
            PaneOwner::Foreign => return false,
        };
        tile.width < least || tile.height < limits.min_height
    })
}
